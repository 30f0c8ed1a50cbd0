//! The help: what stands for what in the diagram, and the keys, from the handler's own table.

use yew::prelude::*;

use crate::keys::{self, Binding};
use crate::state::{Action, Panel};
use crate::view::icon::{Glyph, icon_button};
use crate::view::{Dispatch, doing};

/// What the [`Help`] shows.
#[derive(Clone, PartialEq, Properties)]
pub struct HelpProps {
    /// What is open over the page.
    pub panel: Panel,
    /// Where actions go.
    pub dispatch: Dispatch,
}

/// The help, as a dialog.
#[component]
pub fn Help(props: &HelpProps) -> Html {
    let dialog = use_node_ref();
    {
        let dialog = dialog.clone();
        use_effect_with(props.panel, move |panel| {
            if let Some(dialog) = dialog.cast::<web_sys::HtmlDialogElement>() {
                match panel {
                    // It cannot fail for a dialog that is in the page and closed.
                    Panel::Help if !dialog.open() => drop(dialog.show_modal()),
                    Panel::None | Panel::Lessons if dialog.open() => dialog.close(),
                    Panel::Help | Panel::None | Panel::Lessons => {}
                }
            }
        });
    }
    let close = doing(&props.dispatch, Action::Close(Panel::Help));
    let on_escape = {
        let dispatch = props.dispatch.clone();
        move |_: Event| dispatch.dispatch(Action::Close(Panel::Help))
    };
    html! {
        <dialog ref={dialog} class="help" aria-labelledby="help-title" onclose={on_escape}>
            <div class="help-head">
                <h2 id="help-title">{ "Help" }</h2>
                { icon_button("icon-button", "Close the help", Glyph::Close, close) }
            </div>
            <div class="help-body">
                <h3>{ "The diagram" }</h3>
                <ul class="legend">{ for LEGEND.iter().map(entry) }</ul>
                <h3>{ "Keys" }</h3>
                <dl class="keys">{ for keys::TABLE.iter().map(line) }</dl>
            </div>
        </dialog>
    }
}

/// What stands for what: a drawing in a box of 44 by 20, as markup, and words.
const LEGEND: [(&str, &str); 8] = [
    (r#"<path class="request" d="M44 10H9"/><path class="tip" d="M0 10L9 5.8V14.2Z"/>"#, "Request"),
    (r#"<rect class="solid" x="17.5" width="9" height="20" rx="2"/>"#, "Fetching; a stable group"),
    (r#"<path class="response" d="M0 10H43"/><path class="chevron" d="M36 5.4L43.5 10L36 14.6"/>"#, "Response"),
    (r#"<rect class="hollow" x="18.25" y=".75" width="7.5" height="18.5" rx="1.5"/>"#, "Not fetching"),
    (
        r#"<path class="request flying" d="M44 10H24"/><path class="ahead" d="M22 10H2"/><circle class="ring" cx="24" cy="10" r="6"/><circle class="dot" cx="24" cy="10" r="4.6"/>"#,
        "On its way",
    ),
    (
        r#"<rect class="hatched" x="18.25" y=".75" width="7.5" height="18.5" rx="1.5" fill="url(#hatched-c1)"/>"#,
        "Waiting for joins or an answer",
    ),
    (
        r#"<path class="request" d="M44 10H24"/><path class="cross" d="M19 5L29 15M19 15L29 5"/>"#,
        "Lost, failed or removed",
    ),
    (r#"<path class="dashed" d="M22 0V20"/>"#, "Paused or down"),
];

fn entry((drawing, words): &(&'static str, &'static str)) -> Html {
    let markup = format!(r#"<svg class="gs c1" viewBox="0 0 44 20" aria-hidden="true">{drawing}</svg>"#);
    html! { <li>{ Html::from_html_unchecked(markup.into()) }<span>{ *words }</span></li> }
}

fn line(binding: &Binding) -> Html {
    let key = |name: &&'static str| match *name {
        "to" => html! { <span>{ "to" }</span> },
        name => html! { <kbd>{ name }</kbd> },
    };
    html! { <><dt>{ for binding.keys.iter().map(key) }</dt><dd>{ binding.does }</dd></> }
}
