//! Where a scenario comes from: a built-in lesson, a file, or standard input.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;
use std::sync::Arc;

use groupscope_core::error::InputError;
use groupscope_core::lessons;
use groupscope_core::scenario::{Plan, Scenario, limits};

use crate::failure::Failure;

/// How alike a name must be to one that exists to be taken for a slip of the pen.
const ALIKE: f64 = 0.8;

/// A scenario ready to run.
#[derive(Debug)]
pub(crate) struct Source {
    /// Its title, or where it comes from if it has none.
    pub(crate) title: String,
    /// What it shows; empty if it does not say.
    pub(crate) introduction: String,
    pub(crate) plan: Arc<Plan>,
}

impl Source {
    /// The lesson of this name, or the scenario in this file; `-` is standard input. (`./name` is always a file.)
    pub(crate) fn find(name: &str) -> Result<Self, Failure> {
        if let Some(lesson) = lessons::find(name) {
            let (title, introduction) = (lesson.title().to_owned(), lesson.introduction().to_owned());
            return Ok(Self { title, introduction, plan: lesson.plan() });
        }
        if name == "-" {
            return Self::read(io::stdin().lock(), "standard input");
        }
        match File::open(name) {
            Ok(file) => Self::read(file, name),
            Err(error) if is_path(name) => Err(Failure::Input(format!("cannot read {name}: {error}"))),
            Err(_) => Err(Failure::Input(unknown(name))),
        }
    }

    /// `place` names the input in errors.
    fn read(input: impl Read, place: &str) -> Result<Self, Failure> {
        let text = text_of(input, place)?;
        let scenario = Scenario::from_json(&text).map_err(|error| at(place, &error))?;
        let plan = scenario.plan().map_err(|error| at(place, &error))?;
        let title = if scenario.title.is_empty() { place.to_owned() } else { scenario.title };
        Ok(Self { title, introduction: scenario.introduction, plan })
    }
}

fn at(place: &str, error: &InputError) -> Failure {
    Failure::Input(format!("{place}: {error}"))
}

/// No more of the input is read than a scenario may have.
fn text_of(input: impl Read, place: &str) -> Result<String, Failure> {
    let most = limits::JSON_BYTES;
    let mut bytes = Vec::new();
    let read = input.take(most as u64 + 1).read_to_end(&mut bytes);
    read.map_err(|error| Failure::Input(format!("cannot read {place}: {error}")))?;
    if bytes.len() > most {
        return Err(Failure::Input(format!("{place}: a scenario has at most {most} bytes, this has more")));
    }
    String::from_utf8(bytes).map_err(|error| {
        let offset = error.utf8_error().valid_up_to();
        Failure::Input(format!("{place}: not a JSON file: byte {offset} is no part of UTF-8 text"))
    })
}

fn is_path(name: &str) -> bool {
    name.contains(['/', '\\']) || Path::new(name).extension().is_some()
}

/// No lesson and no file: what may have been meant.
fn unknown(name: &str) -> String {
    let missing = format!("there is no lesson `{name}`, and no file of that name");
    let likeness = |lesson: &lessons::Lesson| {
        let is_part = !name.is_empty() && lesson.id.contains(name);
        strsim::jaro_winkler(lesson.id, name).max(if is_part { ALIKE } else { 0.0 })
    };
    let closest = lessons::all().iter().max_by(|a, b| likeness(a).total_cmp(&likeness(b)));
    match closest.filter(|lesson| likeness(lesson) >= ALIKE) {
        Some(lesson) => format!("{missing}; did you mean `{}`?", lesson.id),
        None => format!("{missing}; `groupscope lessons` lists the lessons"),
    }
}
