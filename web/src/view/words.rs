//! Sentences with the names of code in them.

use yew::prelude::*;

/// A sentence as markup: what ends in `()` is set as code.
pub fn words(text: &str) -> Html {
    let mut parts: Vec<Html> = Vec::new();
    let mut rest = text;
    while let Some(end) = rest.find("()") {
        let start = rest[..end].rfind(|c: char| !c.is_ascii_alphanumeric()).map_or(0, |at| at + 1);
        let (before, name) = (&rest[..start], &rest[start..end + 2]);
        parts.push(html! { <>{ before.to_owned() }<code>{ name.to_owned() }</code></> });
        rest = &rest[end + 2..];
    }
    parts.push(html! { { rest.to_owned() } });
    html! { { for parts } }
}
