//! `groupscope run`.

use std::io::{BufWriter, Write};

use clap::{Args, ValueEnum};
use groupscope_core::report;
use groupscope_core::sim::Simulation;
use groupscope_core::time::Time;

use crate::failure::Failure;
use crate::input;

/// Arguments of `groupscope run`.
#[derive(Args)]
pub(crate) struct Arguments {
    /// A lesson's name, or a scenario's file; `-` reads standard input.
    #[arg(value_name = "LESSON|FILE")]
    what: String,
    /// Where to end, instead of where the scenario says: for instance 60s.
    #[arg(long, value_name = "TIME", value_parser = input::moment)]
    until: Option<Time>,
    /// How to print the trace.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
}

/// How a trace is printed.
#[derive(Clone, Copy, ValueEnum)]
enum Format {
    /// One line an event, to be read.
    Text,
    /// One JSON object a line, with at least `at` (microseconds), `fact`, `node`, `rules` and `cause`.
    Json,
}

/// Runs, and prints the trace.
pub(crate) fn print(arguments: &Arguments, out: &mut impl Write) -> Result<(), Failure> {
    let plan = input::load(&arguments.what)?.plan;
    let mut simulation = Simulation::new(plan.clone());
    simulation.run_until(arguments.until.unwrap_or(plan.until));
    let trace = simulation.trace();
    let mut out = BufWriter::new(out);
    for (id, _) in trace.iter() {
        match arguments.format {
            Format::Text => writeln!(out, "{}", report::text_line(trace, id).trim_end_matches('\n'))?,
            Format::Json => writeln!(out, "{}", report::json_line(trace, id).trim_end_matches('\n'))?,
        }
    }
    Ok(out.flush()?)
}
