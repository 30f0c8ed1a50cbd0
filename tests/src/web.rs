//! The page in a browser: [`Page`] is what tests talk to; below it a [`Browser`] with its driver, and a [`Site`] that
//! serves files.
//!
//! A test can't go on without its browser, so these panic where the browser or its driver fails, with what they said.
//! Dropping a [`Page`] ends the browser, the driver and the server, after a panic too.

mod browser;
mod driver;
mod page;
mod site;

pub use browser::{Browser, Theme, Viewport, keys};
pub use page::{Drawn, Page, lessons};
pub use site::Site;
