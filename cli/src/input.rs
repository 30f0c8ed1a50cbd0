//! What to run: a lesson by name, or a scenario from a file.

use std::fs::File;
use std::io::{self, Read};
use std::sync::Arc;

use groupscope_core::lessons;
use groupscope_core::scenario::{Plan, Scenario, limits};
use groupscope_core::time::{Span, Time};

use crate::failure::Failure;

/// A checked scenario.
pub(crate) struct Input {
    /// Its title, or the name that it was asked for by.
    pub(crate) title: String,
    /// What it shows; empty if it does not say.
    pub(crate) introduction: String,
    pub(crate) plan: Arc<Plan>,
}

/// Finds a lesson of this name, or reads a scenario from the file of this name; `-` is standard input.
pub(crate) fn load(name: &str) -> Result<Input, Failure> {
    if let Some(lesson) = lessons::find(name) {
        let (title, introduction) = (lesson.title().to_owned(), lesson.introduction().to_owned());
        return Ok(Input { title, introduction, plan: lesson.plan() });
    }
    let (place, text) = read(name)?;
    let scenario = Scenario::from_json(&text).map_err(|error| Failure::BadInput(format!("{place}: {error}")))?;
    let plan = scenario.plan().map_err(|error| Failure::BadInput(format!("{place}: {error}")))?;
    let title = if scenario.title.is_empty() { place } else { scenario.title };
    Ok(Input { title, introduction: scenario.introduction, plan })
}

/// The text of a file, and what to call it in messages.
fn read(name: &str) -> Result<(String, String), Failure> {
    if name == "-" {
        let place = "standard input";
        return Ok((place.to_owned(), bounded(place, io::stdin().lock())?));
    }
    match File::open(name) {
        Ok(file) => Ok((name.to_owned(), bounded(name, file)?)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Err(not_found(name)),
        Err(error) => Err(Failure::BadInput(format!("cannot open {name}: {error}"))),
    }
}

/// Reads no more than a scenario may have.
fn bounded(place: &str, source: impl Read) -> Result<String, Failure> {
    let most = limits::JSON_BYTES as u64;
    let mut bytes = Vec::new();
    let read = source.take(most + 1).read_to_end(&mut bytes);
    read.map_err(|error| Failure::BadInput(format!("cannot read {place}: {error}")))?;
    if bytes.len() as u64 > most {
        return Err(Failure::BadInput(format!("{place}: a scenario has at most {most} bytes")));
    }
    String::from_utf8(bytes).map_err(|error| Failure::BadInput(format!("{place}: not UTF-8 text: {error}")))
}

fn not_found(name: &str) -> Failure {
    let likeness = |id: &str| strsim::jaro_winkler(name, id);
    let nearest = lessons::all().iter().map(|lesson| lesson.id).max_by(|a, b| likeness(a).total_cmp(&likeness(b)));
    let hint = match nearest {
        Some(id) if likeness(id) > 0.75 => format!("did you mean `{id}`?"),
        Some(_) | None => "`groupscope lessons` lists the lessons".to_owned(),
    };
    Failure::BadInput(format!("there is no lesson and no file `{name}`; {hint}"))
}

/// A moment of a run, as the command line names it.
pub(crate) fn moment(text: &str) -> Result<Time, String> {
    let span = Span::parse(text)?;
    if span > limits::RUN {
        return Err(format!("a run lasts at most {}", limits::RUN));
    }
    Ok(Time::ZERO + span)
}
