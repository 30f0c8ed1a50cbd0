//! From a key pressed in the browser to a command of [`keys`].

use gloo_events::{EventListener, EventListenerOptions};
use wasm_bindgen::JsCast;
use web_sys::{Element, HtmlElement, HtmlInputElement, KeyboardEvent};
use yew::prelude::*;

use crate::keys::{self, Command, Shift};
use crate::state::{Action, Panel};
use crate::view::Dispatch;

/// Listens for the keys of the player as long as the component is there.
#[hook]
pub fn use_keys(dispatch: Dispatch) {
    use_effect_with((), move |()| {
        let document = web_sys::window().and_then(|window| window.document());
        let listener = document.map(|document| {
            let options = EventListenerOptions::enable_prevent_default();
            EventListener::new_with_options(&document, "keydown", options, move |event| {
                let Some(event) = event.dyn_ref::<KeyboardEvent>() else { return };
                if let Some(command) = command(event) {
                    event.prevent_default();
                    carry_out(command, &dispatch);
                }
            })
        });
        move || drop(listener)
    });
}

fn command(event: &KeyboardEvent) -> Option<Command> {
    if event.default_prevented() || event.alt_key() || event.ctrl_key() || event.meta_key() || event.is_composing() {
        return None;
    }
    let target: Option<Element> = event.target().and_then(|target| target.dyn_into().ok());
    let key = event.key();
    if target.is_some_and(|target| takes_itself(&target, &key)) {
        return None;
    }
    keys::command(&key, if event.shift_key() { Shift::Held } else { Shift::Free })
}

/// Whether what has the focus has a use of its own for a key.
fn takes_itself(target: &Element, key: &str) -> bool {
    match target.tag_name().as_str() {
        "TEXTAREA" | "SELECT" => true,
        "INPUT" => {
            let range = target.dyn_ref::<HtmlInputElement>().is_some_and(|input| input.type_() == "range");
            !range || key.starts_with("Arrow") || matches!(key, "Home" | "End")
        }
        "BUTTON" | "A" | "SUMMARY" if key == " " => true,
        // An open dialog closes itself on Escape, and nothing behind it is to be reached.
        _ => {
            target.dyn_ref::<HtmlElement>().is_some_and(HtmlElement::is_content_editable)
                || target.closest("dialog[open]").ok().flatten().is_some()
        }
    }
}

fn carry_out(command: Command, dispatch: &Dispatch) {
    match command {
        Command::TogglePlaying => dispatch.dispatch(Action::TogglePlaying),
        Command::Go(jump) => dispatch.dispatch(Action::Go(jump)),
        Command::Slower => dispatch.dispatch(Action::Slower),
        Command::Faster => dispatch.dispatch(Action::Faster),
        Command::Help => dispatch.dispatch(Action::Open(Panel::Help)),
        Command::Close => dispatch.dispatch(Action::Open(Panel::None)),
        Command::FullScreen => toggle_full_screen(),
    }
}

fn toggle_full_screen() {
    let Some(document) = web_sys::window().and_then(|window| window.document()) else { return };
    if document.fullscreen_element().is_some() {
        document.exit_fullscreen();
    } else if let Some(root) = document.document_element() {
        // A browser that refuses leaves the page as it is.
        let _ = root.request_fullscreen();
    }
}
