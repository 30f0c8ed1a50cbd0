//! The `groupscope` command: runs lessons and scenarios of Kafka's consumer-group rebalance, and draws them.
//!
//! Exit status: 0 if all is well, also where the reader of its output goes away; 2 for bad input, with one error on
//! standard error that says where it is and what would be right; 1 if the output cannot be written.

mod commands;
mod failure;
mod source;

use std::io::{self, BufWriter, Write};
use std::process::ExitCode;

use clap::{Parser, Subcommand};

use commands::{lessons, render, run, schema};
use failure::Failure;

/// Kafka's consumer-group rebalance, message by message.
#[derive(Parser, Debug)]
#[command(name = "groupscope", version)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand, Debug)]
enum Command {
    /// List the built-in lessons
    Lessons,
    /// Run a lesson or a scenario and print its trace
    Run(run::Arguments),
    /// Draw a lesson or a scenario as a sequence diagram
    Render(render::Arguments),
    /// Print the JSON Schema of scenarios
    Schema,
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let mut out = BufWriter::new(io::stdout().lock());
    let result = dispatch(&arguments.command, &mut out).and_then(|()| out.flush().map_err(Failure::from));
    // What a full or closed output did not take is not worth another try when the buffer goes away.
    let _ = out.into_parts();
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => failure.report(),
    }
}

fn dispatch(command: &Command, out: &mut impl Write) -> Result<(), Failure> {
    match command {
        Command::Lessons => lessons::write(out),
        Command::Run(arguments) => run::write(arguments, out),
        Command::Render(arguments) => render::write(arguments, out),
        Command::Schema => schema::write(out),
    }
}
