//! The groupscope page: a run of the simulation as a live sequence diagram, in the browser.
//!
//! - [`state`]: what the page shows, as a pure function of the actions; [`run`], [`catalogue`], [`address`], [`keys`],
//!   [`speed`] and [`mod@format`] serve it and touch no browser either.
//! - [`clock`]: the only timer. [`keyboard`], [`theme`]: the browser's side of keys and colours.
//! - [`view`]: the components. [`mod@bench`]: how fast a large diagram is drawn.

pub mod address;
pub mod bench;
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

use address::Address;
use bench::{Bench, BenchProps};

/// Starts the page in the document's `#app`; at `#bench=1000` the benchmark instead.
#[wasm_bindgen(start)]
pub fn start() {
    let Some(window) = web_sys::window() else { return };
    let Some(root) = window.document().and_then(|document| document.get_element_by_id("app")) else { return };
    let hash = window.location().hash().unwrap_or_default();
    if let Ok(Address::Bench { messages }) = address::parse(&hash) {
        yew::Renderer::<Bench>::with_root_and_props(root, BenchProps { messages }).render();
    } else {
        yew::Renderer::<view::page::Page>::with_root(root).render();
    }
}
