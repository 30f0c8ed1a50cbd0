//! The `groupscope` command: runs lessons and scenarios of Kafka's consumer-group rebalance, prints their traces and
//! draws them. A thin layer over `groupscope-core`.
//!
//! It ends with 0, or with 2 for bad input, and then says on standard error where it is bad and what would be right.

mod failure;
mod input;
mod lessons;
mod render;
mod run;

use std::io::Write as _;
use std::process::ExitCode;

use clap::{Parser, Subcommand};

use failure::Failure;

/// Play Kafka's consumer-group rebalance, message by message.
#[derive(Parser)]
#[command(name = "groupscope", version, arg_required_else_help = true)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// List the built-in lessons.
    Lessons,
    /// Run a lesson or a scenario and print its trace.
    Run(run::Arguments),
    /// Draw a lesson or a scenario at a moment.
    Render(render::Arguments),
    /// Print the JSON Schema of scenarios.
    Schema,
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let outcome = match &arguments.command {
        Command::Lessons => lessons::print(&mut std::io::stdout().lock()),
        Command::Run(arguments) => run::print(arguments, &mut std::io::stdout().lock()),
        Command::Render(arguments) => render::print(arguments, &mut std::io::stdout().lock()),
        Command::Schema => print_schema(),
    };
    match outcome {
        Ok(()) | Err(Failure::ReaderGone) => ExitCode::SUCCESS,
        Err(Failure::BadInput(message)) => {
            eprintln!("error: {message}");
            ExitCode::from(2)
        }
    }
}

fn print_schema() -> Result<(), Failure> {
    Ok(writeln!(std::io::stdout().lock(), "{}", groupscope_core::scenario::Scenario::json_schema())?)
}
