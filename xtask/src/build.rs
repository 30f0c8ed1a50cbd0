//! The released page.

use crate::run::run;
use crate::setup::{self, Page};
use crate::size;
use crate::tools::Toolbox;
use anyhow::Result;

/// Builds the released page into `dist/`.
pub(crate) fn build() -> Result<()> {
    build_with(&setup::page(Page::Released)?)?;
    size::size()
}

/// The same, with tools that are there.
pub(crate) fn build_with(tools: &Toolbox) -> Result<()> {
    run(&mut tools.command("trunk", "build --release")?)
}
