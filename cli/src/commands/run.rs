//! `groupscope run`: the trace of a run.

use std::io::Write;

use clap::{Args, ValueEnum};
use groupscope_core::report;
use groupscope_core::sim::Simulation;
use groupscope_core::time::{Span, Time};
use groupscope_core::trace::{Fact, Trace};

use crate::failure::{Failure, say};
use crate::source::Source;

#[derive(Args, Debug)]
pub(crate) struct Arguments {
    /// A lesson (see `groupscope lessons`), or a file with a scenario; `-` reads standard input
    #[arg(value_name = "LESSON|FILE")]
    source: String,
    /// Run until this time, such as 60s, instead of the scenario's own end; at most 24h
    #[arg(long, value_name = "TIME", value_parser = Span::parse, allow_hyphen_values = true)]
    until: Option<Span>,
    /// How to print it
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
}

#[derive(ValueEnum, Clone, Copy, Debug)]
enum Format {
    /// One line an event
    Text,
    /// One JSON object a line
    Json,
}

/// So many records are written at a time: a long run prints as it goes, and ends with its reader.
const RECORDS_AT_A_TIME: usize = 4_096;

pub(crate) fn write(arguments: &Arguments, out: &mut impl Write) -> Result<(), Failure> {
    let Source { plan, .. } = Source::find(&arguments.source)?;
    let until = arguments.until.map_or(plan.until, |until| Time::ZERO + until);
    let mut simulation = Simulation::new(plan);
    let mut written = 0;
    while simulation.next_event_time().is_some_and(|next| next <= until) {
        simulation.step();
        if simulation.trace().len() - written >= RECORDS_AT_A_TIME {
            written = write_from(simulation.trace(), written, arguments.format, out)?;
        }
    }
    write_from(simulation.trace(), written, arguments.format, out)?;
    out.flush()?;
    warn_if_cut_off(simulation.trace());
    Ok(())
}

/// Writes the records from a position on, and returns the next position.
fn write_from(trace: &Trace, from: usize, format: Format, out: &mut impl Write) -> Result<usize, Failure> {
    match format {
        Format::Text => write!(out, "{}", report::Text::of(trace).from(from))?,
        Format::Json => write!(out, "{}", report::JsonLines::of(trace).from(from))?,
    }
    Ok(trace.len())
}

fn warn_if_cut_off(trace: &Trace) {
    let last = trace.from(trace.len().saturating_sub(1)).last();
    if let Some((_, record)) = last
        && record.fact == Fact::LimitReached
    {
        say(&format!("the run reached its limit of records at {}s and stopped there", record.at));
    }
}
