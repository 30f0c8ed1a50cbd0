//! One module for each command.

pub(crate) mod lessons;
pub(crate) mod render;
pub(crate) mod run;
pub(crate) mod schema;
