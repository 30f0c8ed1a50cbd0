//! `groupscope render`.

use std::io::Write;

use clap::{Args, ValueEnum};
use groupscope_core::diagram::svg::{Figure, Theme};
use groupscope_core::diagram::text::{Charset, to_text};
use groupscope_core::diagram::{Layout, Options, Story, heads};
use groupscope_core::sim::Simulation;
use groupscope_core::time::Time;
use groupscope_core::view::View;

use crate::failure::Failure;
use crate::input::{self, Input};

/// Arguments of `groupscope render`.
#[derive(Args)]
pub(crate) struct Arguments {
    /// A lesson's name, or a scenario's file; `-` reads standard input.
    #[arg(value_name = "LESSON|FILE")]
    what: String,
    /// The moment to draw, instead of the end: for instance 12s.
    #[arg(long, value_name = "TIME", value_parser = input::moment)]
    at: Option<Time>,
    /// What to draw.
    #[arg(long, value_enum)]
    format: Format,
}

/// What a picture is made of.
#[derive(Clone, Copy, ValueEnum)]
enum Format {
    /// A self-contained SVG, light or dark as its reader prefers.
    Svg,
    /// Characters.
    Text,
}

/// The width of the column that a picture stands in, px.
const WIDTH: f64 = 880.0;

/// Runs, and draws the moment asked for. One after the scenario's own end lets the run go on until then.
pub(crate) fn print(arguments: &Arguments, out: &mut impl Write) -> Result<(), Failure> {
    let input = input::load(&arguments.what)?;
    let now = arguments.at.unwrap_or(input.plan.until);
    let mut simulation = Simulation::new(input.plan.clone());
    simulation.run_until(now.max(input.plan.until));
    let picture = draw(&input, &simulation, now, arguments.format);
    write!(out, "{}{}", picture, if picture.ends_with('\n') { "" } else { "\n" })?;
    Ok(out.flush()?)
}

fn draw(input: &Input, simulation: &Simulation, now: Time, format: Format) -> String {
    let (plan, trace) = (&input.plan, simulation.trace());
    let layout = Layout::new(&Story::of(trace), plan.picture.as_ref(), &Options::for_width(WIDTH));
    match format {
        Format::Text => to_text(&layout, now, Charset::Unicode),
        Format::Svg => {
            let heads = heads(&layout, &View::at(trace, now), plan, now);
            let figure = Figure {
                layout: &layout,
                heads: &heads,
                now,
                title: &input.title,
                description: &input.introduction,
                theme: Theme::Auto,
                prefix: "groupscope-",
            };
            figure.to_svg()
        }
    }
}
