//! Every check of the project, in one command.

use crate::run::run;
use crate::tools::Toolbox;
use crate::{build, setup, size};
use anyhow::{Context, Result};
use std::time::{Duration, Instant};

/// Which checks to run.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// The steps to run [default: all, in this order]
    #[arg(value_parser = STEPS.map(|step| step.name))]
    steps: Vec<String>,
}

struct Step {
    name: &'static str,
    about: &'static str,
    run: fn(&Toolbox) -> Result<()>,
}

/// The quick ones first.
const STEPS: [Step; 9] = [
    Step { name: "fmt", about: "format", run: |tools| cargo(tools, "fmt --all --check") },
    Step { name: "clippy", about: "lints", run: clippy },
    Step { name: "clippy-wasm", about: "lints of the page", run: clippy_wasm },
    Step { name: "doc", about: "documentation", run: doc },
    Step { name: "native", about: "tests without a browser", run: |tools| cargo(tools, "test --workspace") },
    Step { name: "wasm", about: "tests of WebAssembly in Chromium", run: wasm },
    Step { name: "build", about: "released page", run: build::build_with },
    Step { name: "size", about: "size of the released page", run: |_| size::size() },
    Step { name: "e2e", about: "released page in Chromium", run: end_to_end },
];

/// Runs the steps until one fails, and prints how long each took.
pub(crate) fn test(options: &Options) -> Result<()> {
    let start = Instant::now();
    let tools = setup::test()?;
    let mut times = vec![("set-up", start.elapsed())];
    for step in STEPS.iter().filter(|step| options.wants(step)) {
        println!("\n=== {}: {} ===", step.name, step.about);
        let start = Instant::now();
        (step.run)(&tools).with_context(|| {
            format!("step `{}` failed after {}; again: `cargo xtask test {0}`", step.name, seconds(start.elapsed()))
        })?;
        println!("=== {}: passed in {} ===", step.name, seconds(start.elapsed()));
        times.push((step.name, start.elapsed()));
    }
    println!("\nall steps passed in {}", seconds(start.elapsed()));
    for (name, time) in times {
        println!("{name:>12} {:>8}", seconds(time));
    }
    Ok(())
}

impl Options {
    fn wants(&self, step: &Step) -> bool {
        self.steps.is_empty() || self.steps.iter().any(|name| name == step.name)
    }
}

fn clippy(tools: &Toolbox) -> Result<()> {
    cargo(tools, "clippy --workspace --all-targets -- --deny warnings")
}

fn clippy_wasm(tools: &Toolbox) -> Result<()> {
    cargo(tools, "clippy --package groupscope-web --all-targets --target wasm32-unknown-unknown -- --deny warnings")
}

fn doc(tools: &Toolbox) -> Result<()> {
    let mut cargo = tools.cargo("doc --workspace --no-deps --document-private-items")?;
    run(cargo.env("RUSTDOCFLAGS", "--deny warnings"))
}

/// The page's own tests, and the core's that promise the same outcome as on the host.
fn wasm(tools: &Toolbox) -> Result<()> {
    let target = "--target wasm32-unknown-unknown";
    cargo(tools, &format!("test {target} --package groupscope-web --tests"))?;
    let mut core = tools.cargo(&format!("test {target} --package groupscope-core --test determinism"))?;
    run(core.env("WASM_BINDGEN_USE_BROWSER", "1"))
}

/// The tests of the page in `dist/`, which other test runs pass over because they need a browser.
fn end_to_end(tools: &Toolbox) -> Result<()> {
    cargo(tools, "test --workspace --test e2e -- --ignored")
}

fn cargo(tools: &Toolbox, words: &str) -> Result<()> {
    run(&mut tools.cargo(words)?)
}

fn seconds(time: Duration) -> String {
    format!("{:.1} s", time.as_secs_f64())
}
