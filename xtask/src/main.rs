//! `cargo xtask`: everything a person types to work on groupscope.
//!
//! Each command first installs what it needs and does not find (see [`setup`]), so a fresh clone needs nothing but
//! Rust and, for the released page, Node's `npm`.

mod bench;
mod browser;
mod build;
mod run;
mod serve;
mod setup;
mod shots;
mod size;
mod test;
mod tools;

use clap::{Parser, Subcommand};
use std::process::ExitCode;

#[derive(Parser)]
#[command(name = "cargo xtask", about = "Set up, serve, build, test and measure groupscope")]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Install what the other commands need and this machine lacks
    Setup,
    /// Serve the page, rebuilt and reloaded at every change
    Serve(serve::Options),
    /// Build the released page into dist/
    Build,
    /// Run every check: format, lints, docs, native and browser tests, size of the page
    Test(test::Options),
    /// Measure the simulation, and the page against Mermaid
    Bench,
    /// Take pictures of the page into target/shots/
    Shots(shots::Options),
    /// Print how much the page loads, and fail if it is more than the budget
    Size,
}

fn main() -> ExitCode {
    let result = match Cli::parse().command {
        Command::Setup => setup::all().map(drop),
        Command::Serve(options) => serve::serve(&options),
        Command::Build => build::build(),
        Command::Test(options) => test::test(&options),
        Command::Bench => bench::bench(),
        Command::Shots(options) => shots::shots(&options),
        Command::Size => size::size(),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}
