//! Pictures of the page.

use crate::run::{root, run};
use crate::setup;
use anyhow::Result;

/// What to take pictures of.
#[derive(clap::Args)]
#[command(disable_help_flag = true)]
pub(crate) struct Options {
    /// Take them of the released page in dist/ as it is, instead of building the page anew
    #[arg(long)]
    released: bool,
    /// Filters: --lesson NAME, --width PIXELS, --theme NAME, --at TIME; and --help
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    filters: Vec<String>,
}

/// Writes pictures of the page into `target/shots/`.
pub(crate) fn shots(options: &Options) -> Result<()> {
    let tools = setup::test()?;
    let site = if options.released { root().join("dist") } else { root().join("target/draft") };
    if !options.released && !options.filters.iter().any(|filter| filter == "--help") {
        run(tools.command("trunk", "build --dist")?.arg(&site))?;
    }
    let mut shots = tools.cargo("run --quiet --package groupscope-tests --bin shots -- --out target/shots --site")?;
    run(shots.arg(&site).args(&options.filters))
}
