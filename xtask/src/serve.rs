//! The page for work on it.

use crate::run::run;
use crate::setup::{self, Page};
use anyhow::Result;

/// How to serve the page.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// Serve the page as published: small, and slower to build
    #[arg(long)]
    release: bool,
    /// The port, on this machine only
    #[arg(long, default_value_t = 8080)]
    port: u16,
}

/// Serves the page until interrupted; it is built again, and reloaded, at every change.
pub(crate) fn serve(options: &Options) -> Result<()> {
    let page = if options.release { Page::Released } else { Page::Draft };
    let tools = setup::page(page)?;
    let mut trunk = tools.command("trunk", "serve --port")?;
    trunk.arg(options.port.to_string());
    if options.release {
        trunk.arg("--release");
    }
    run(&mut trunk)
}
