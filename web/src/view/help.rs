//! The help: how to read the diagram, and the keys, from the handler's own table.

use yew::prelude::*;

use crate::keys::{self, Binding};
use crate::state::{Action, Panel};
use crate::view::Dispatch;
use crate::view::icon::{Glyph, Icon};

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
    let close = {
        let dispatch = props.dispatch.clone();
        move || dispatch.dispatch(Action::Close(Panel::Help))
    };
    let (on_button, on_escape) = (close.clone(), close);
    html! {
        <dialog ref={dialog} class="help" aria-labelledby="help-title" onclose={move |_: Event| on_escape()}>
            <div class="help-head">
                <h2 id="help-title">{ "Help" }</h2>
                <button class="icon-button" aria-label="Close the help" onclick={move |_: MouseEvent| on_button()}>
                    <Icon glyph={Glyph::Close} />
                </button>
            </div>
            <div class="help-body">
                <h3>{ "Keys" }</h3>
                <dl class="keys">{ for keys::TABLE.iter().map(line) }</dl>
            </div>
        </dialog>
    }
}

fn line(binding: &Binding) -> Html {
    let key = |name: &&'static str| match *name {
        "to" => html! { <span>{ "to" }</span> },
        name => html! { <kbd>{ name }</kbd> },
    };
    html! { <><dt>{ for binding.keys.iter().map(key) }</dt><dd>{ binding.does }</dd></> }
}
