//! Set-up: installs what is missing, and says what it can't install.

use crate::browser;
use crate::run::{command, output, run};
use crate::tools::Toolbox;
use anyhow::{Context, Result, bail};
use std::path::Path;

const TARGET: &str = "wasm32-unknown-unknown";

/// What to have ready.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Page {
    /// The page for work on it, quick to build.
    Draft,
    /// The page as published, small.
    Released,
}

/// Everything that any command needs.
pub(crate) fn all() -> Result<Toolbox> {
    let tools = test()?;
    println!("everything is there: `cargo xtask serve` shows the page, `cargo xtask test` runs all checks");
    Ok(tools)
}

/// What it takes to build the page.
pub(crate) fn page(page: Page) -> Result<Toolbox> {
    let mut tools = Toolbox::default();
    add_target()?;
    tools.add_trunk()?;
    tools.add_wasm_bindgen()?;
    if page == Page::Released {
        tools.add_wasm_opt()?;
    }
    Ok(tools)
}

/// What it takes to build the page and to test it in a browser.
pub(crate) fn test() -> Result<Toolbox> {
    let mut tools = page(Page::Released)?;
    browser::add(&mut tools)?;
    Ok(tools)
}

fn add_target() -> Result<()> {
    let sysroot = output(command("rustc").args(["--print", "sysroot"])).context("cannot run rustc")?;
    if Path::new(sysroot.trim()).join("lib/rustlib").join(TARGET).is_dir() {
        return Ok(());
    }
    if which::which("rustup").is_err() {
        bail!("Rust's {TARGET} target is missing, and so is rustup, which would install it (https://rustup.rs)");
    }
    println!("installing Rust's {TARGET} target (1 min, once) ...");
    run(command("rustup").args(["target", "add", TARGET]))
}
