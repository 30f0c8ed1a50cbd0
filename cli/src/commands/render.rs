//! `groupscope render`: a run as a sequence diagram.

use std::io::Write;

use clap::{Args, ValueEnum};
use groupscope_core::diagram::svg::{Figure, Theme};
use groupscope_core::diagram::text::{Charset, to_text};
use groupscope_core::diagram::{Layout, Options, Story, heads};
use groupscope_core::sim::Simulation;
use groupscope_core::time::{Span, Time};
use groupscope_core::view::View;

use crate::failure::Failure;
use crate::source::Source;

#[derive(Args, Debug)]
pub(crate) struct Arguments {
    /// A lesson (see `groupscope lessons`), or a file with a scenario; `-` reads standard input
    #[arg(value_name = "LESSON|FILE")]
    source: String,
    /// Draw it as it is at this time, such as 12s, instead of at the end of the run; at most 24h
    #[arg(long, value_name = "TIME", value_parser = Span::parse, allow_hyphen_values = true)]
    at: Option<Span>,
    /// What to draw
    #[arg(long, value_enum)]
    format: Format,
}

#[derive(ValueEnum, Clone, Copy, Debug)]
enum Format {
    /// A picture that stands by itself
    Svg,
    /// Characters, for a terminal or a code block
    Text,
}

/// The width of a picture, px: it becomes wider if it has many lifelines.
const WIDTH: f64 = 880.0;

pub(crate) fn write(arguments: &Arguments, out: &mut impl Write) -> Result<(), Failure> {
    let Source { title, introduction, plan } = Source::find(&arguments.source)?;
    let now = arguments.at.map_or(plan.until, |at| Time::ZERO + at);
    let mut simulation = Simulation::new(plan);
    simulation.run_until(now.max(simulation.plan().until));
    let picture = simulation.plan().picture.as_ref();
    let layout = Layout::new(&Story::of(simulation.trace()), picture, &Options::for_width(WIDTH));
    match arguments.format {
        Format::Svg => {
            let heads = heads(&layout, &View::at(simulation.trace(), now), simulation.plan(), now);
            let (title, description, theme) = (title.as_str(), introduction.as_str(), Theme::Auto);
            let prefix = "groupscope-";
            let figure = Figure { layout: &layout, heads: &heads, now, title, description, theme, prefix };
            writeln!(out, "{}", figure.to_svg().trim_end())?;
        }
        Format::Text => write!(out, "{}", to_text(&layout, now, Charset::Unicode))?,
    }
    Ok(())
}
