//! Which rows a picture has, in which order: folds, dividers, and what stays.

use std::ops::Range;

use super::layout::{Folding, Options};
use super::names::{consumer_names, short_names};
use super::story::{Direction, Entry, Story, Told};
use crate::id::{ConsumerId, RecordId};
use crate::message::MessageKind;
use crate::scenario::{Heartbeats, Picture};
use crate::time::Time;

/// A row before it is placed.
#[derive(Clone, Debug)]
pub(crate) enum Planned {
    /// The entry at this position.
    Entry(usize),
    /// A step of the document begins with the entry that follows.
    Divider(String),
    /// A run of entries in one sentence; where it is open, they follow.
    Fold(Fold),
}

/// A run of entries summed up.
#[derive(Clone, Debug)]
pub(crate) struct Fold {
    /// The record of its first entry.
    pub(crate) id: RecordId,
    pub(crate) entries: Range<usize>,
    pub(crate) from: Time,
    pub(crate) until: Time,
    pub(crate) kind: FoldKind,
    pub(crate) state: FoldState,
    /// What it says, from long to short.
    pub(crate) words: Vec<String>,
}

/// What a fold holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FoldKind {
    /// What comes before the picture.
    StartUp,
    /// Heartbeats that change nothing.
    Heartbeats,
}

/// Whether a fold is open.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FoldState {
    /// Its rows are hidden.
    Closed,
    /// Its rows follow it.
    Open,
}

impl FoldState {
    /// The word for it in markup, `data-state`.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Closed => "closed",
            Self::Open => "open",
        }
    }
}

/// The rows of a story, in order.
pub(crate) fn arrange(story: &Story, picture: Option<&Picture>, options: &Options) -> Vec<Planned> {
    let from = picture.map_or(Time::ZERO, |picture| Time::ZERO + picture.from);
    let start = story.entries.partition_point(|entry| entry.at < from);
    let dividers = dividers(&story.entries, start, picture);
    let folds = match options.folding {
        Folding::Nothing => Vec::new(),
        Folding::AsPictured => folds(story, start, picture, &dividers, options),
    };
    interleave(story.entries.len(), &dividers, folds)
}

/// Where the picture's steps begin: positions of entries with the steps' labels.
fn dividers(entries: &[Entry], start: usize, picture: Option<&Picture>) -> Vec<(usize, String)> {
    let mut dividers = Vec::new();
    let mut next = start;
    for step in picture.iter().flat_map(|picture| &picture.steps) {
        let Some(found) = entries[next..].iter().position(|entry| entry.begins.contains(&step.begins)) else { break };
        dividers.push((next + found, step.label.clone()));
        next += found + 1;
    }
    dividers
}

fn folds(
    story: &Story,
    start: usize,
    picture: Option<&Picture>,
    dividers: &[(usize, String)],
    options: &Options,
) -> Vec<Fold> {
    let mut folds = Vec::new();
    let state = |id: RecordId| if options.opened.contains(&id) { FoldState::Open } else { FoldState::Closed };
    if start > 0 {
        let id = story.entries[0].id;
        folds.push(Fold {
            id,
            entries: 0..start,
            from: Time::ZERO,
            until: picture.map_or(Time::ZERO, |picture| Time::ZERO + picture.from),
            kind: FoldKind::StartUp,
            state: state(id),
            words: start_up_words(story, start),
        });
    }
    if picture.is_none_or(|picture| picture.heartbeats == Heartbeats::Fold) {
        for entries in quiet_runs(&story.entries, start, dividers) {
            let (first, last) = (&story.entries[entries.start], &story.entries[entries.end - 1]);
            folds.push(Fold {
                id: first.id,
                from: first.at,
                until: last.at,
                kind: FoldKind::Heartbeats,
                state: state(first.id),
                words: ping_words(entries.len() / 2),
                entries,
            });
        }
    }
    folds
}

/// Runs of at least two heartbeat exchanges that changed nothing, with nothing else between them and each whole.
fn quiet_runs(entries: &[Entry], start: usize, dividers: &[(usize, String)]) -> Vec<Range<usize>> {
    let mut quiet: Vec<Option<usize>> = entries.iter().map(quiet_partner).collect();
    quiet[..start].fill(None);
    for (position, _) in dividers {
        quiet[*position] = None;
    }
    loop {
        let mut whole = true;
        let runs = runs(&quiet);
        for run in &runs {
            for position in run.clone() {
                if quiet[position].is_some_and(|partner| !run.contains(&partner)) {
                    quiet[position] = None;
                    whole = false;
                }
            }
        }
        if whole {
            return runs.into_iter().filter(|run| run.len() >= 4).collect();
        }
    }
}

/// For one half of a heartbeat exchange that changed nothing and was lost on neither way, the other half.
fn quiet_partner(entry: &Entry) -> Option<usize> {
    let Told::Message(sending) = &entry.told else { return None };
    sending.arrives.and(sending.quiet_with)
}

fn runs(quiet: &[Option<usize>]) -> Vec<Range<usize>> {
    let mut runs: Vec<Range<usize>> = Vec::new();
    for position in (0..quiet.len()).filter(|position| quiet[*position].is_some()) {
        match runs.last_mut() {
            Some(run) if run.end == position => run.end += 1,
            Some(_) | None => runs.push(position..position + 1),
        }
    }
    runs
}

fn interleave(entries: usize, dividers: &[(usize, String)], folds: Vec<Fold>) -> Vec<Planned> {
    let mut rows = Vec::with_capacity(entries + dividers.len() + folds.len());
    let mut dividers = dividers.iter().peekable();
    let mut folds = folds.into_iter().peekable();
    let mut position = 0;
    while position < entries {
        if let Some((_, label)) = dividers.next_if(|(at, _)| *at == position) {
            rows.push(Planned::Divider(label.clone()));
        }
        if let Some(fold) = folds.next_if(|fold| fold.entries.start == position) {
            let closed_until = fold.entries.end;
            let state = fold.state;
            rows.push(Planned::Fold(fold));
            if state == FoldState::Closed {
                position = closed_until;
                continue;
            }
        }
        rows.push(Planned::Entry(position));
        position += 1;
    }
    rows
}

fn ping_words(pings: usize) -> Vec<String> {
    let plural = if pings == 1 { "" } else { "s" };
    let each = if pings == 1 { "" } else { "each " };
    vec![
        format!("{pings} ping{plural}, {each}answered at once"),
        format!("{pings} ping{plural}, answered"),
        format!("{pings} ping{plural}"),
    ]
}

fn start_up_words(story: &Story, end: usize) -> Vec<String> {
    let mut joiners: Vec<ConsumerId> = Vec::new();
    let mut pings = 0;
    for entry in &story.entries[..end] {
        if let Told::Message(sending) = &entry.told
            && sending.direction == Direction::Request
        {
            match sending.kind {
                MessageKind::Join => joiners.push(sending.consumer),
                MessageKind::Heartbeat => pings += 1,
                MessageKind::Metadata | MessageKind::Commit | MessageKind::Leave => {}
            }
        }
    }
    joiners.sort_unstable();
    joiners.dedup();
    let verb = if joiners.len() == 1 { "joins" } else { "join" };
    let joins = |names: String| match joiners.as_slice() {
        [] => "start-up".to_owned(),
        _ => format!("start-up: {names} {verb}"),
    };
    let (long, short) = (joins(consumer_names(&story.cast, &joiners)), joins(short_names(&story.cast, &joiners)));
    let pings = if pings == 0 { Vec::new() } else { ping_words(pings) };
    let with = |joins: &String| pings.iter().map(|pings| format!("{joins}; {pings}")).collect::<Vec<_>>();
    [with(&long), vec![long.clone()], with(&short), vec![short.clone(), "start-up".to_owned()]].concat()
}
