//! How fast it is.

use crate::run::{root, run};
use crate::{build, setup, tools};
use anyhow::Result;

/// Runs the benchmarks of the simulation, then those of the page; fails if the page misses its goal.
pub(crate) fn bench() -> Result<()> {
    let tools = setup::test()?;
    let mermaid = tools::mermaid()?;
    run(tools.cargo("bench --package groupscope-core --bench")?.arg("*"))?;
    build::build_with(&tools)?;
    let against = "run --quiet --package groupscope-tests --bin against_mermaid --";
    run(tools
        .cargo(against)?
        .args(["--out", "target/bench", "--site"])
        .arg(root().join("dist"))
        .arg("--mermaid")
        .arg(mermaid))
}
