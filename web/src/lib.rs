//! The groupscope page: a run of the simulation as a live sequence diagram, in the browser.
//!
//! - [`state`]: what the page shows, as a pure function of the actions; [`run`], [`catalogue`], [`address`], [`keys`],
//!   [`speed`] and [`format`] serve it and touch no browser either.
//! - [`clock`]: the only timer. [`keyboard`], [`theme`]: the browser's side of keys and colours.
//! - [`view`]: the components.

pub mod address;
pub mod catalogue;
pub mod clock;
pub mod format;
pub mod keyboard;
pub mod keys;
pub mod run;
pub mod speed;
pub mod state;
pub mod theme;
pub mod view;

use wasm_bindgen::prelude::wasm_bindgen;

/// Starts the page in the document's `#app`.
#[wasm_bindgen(start)]
pub fn start() {
    let root =
        web_sys::window().and_then(|window| window.document()).and_then(|document| document.get_element_by_id("app"));
    if let Some(root) = root {
        yew::Renderer::<view::page::Page>::with_root(root).render();
    }
}
