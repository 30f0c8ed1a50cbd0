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

/// What makes the released page small. The standard library is built along, for size, and a panic becomes a plain trap
/// without a message: that takes a fifth off the page. It needs features of the compiler that are not stable yet, in the
/// one pinned version; a plain `trunk build --release` does without and gives the same page, only larger.
const FOR_SIZE: [(&str, &str); 4] = [
    ("RUSTC_BOOTSTRAP", "1"),
    ("CARGO_UNSTABLE_BUILD_STD", "std,panic_abort"),
    ("CARGO_UNSTABLE_BUILD_STD_FEATURES", "optimize_for_size"),
    (
        "CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_RUSTFLAGS",
        "-Zunstable-options -Cpanic=immediate-abort -Zlocation-detail=none -Zfmt-debug=none",
    ),
];

/// The same, with tools that are there.
pub(crate) fn build_with(tools: &Toolbox) -> Result<()> {
    run(tools.command("trunk", "build --release --minify")?.envs(FOR_SIZE))
}
