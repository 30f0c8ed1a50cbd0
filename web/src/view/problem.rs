//! What is wrong with the address, and the way to the start page.

use yew::prelude::*;

/// The message: what is wrong, in a sentence.
pub fn problem(message: &AttrValue) -> Html {
    html! {
        <section class="problem" role="alert">
            <h2>{ "This link leads nowhere" }</h2>
            <p>{ message }</p>
            <p><a href="#">{ "Go to the start page" }</a></p>
        </section>
    }
}
