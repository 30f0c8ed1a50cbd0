//! A scenario's run, simulated once from start to end: everything that is shown is a query on it.

use groupscope_core::map::Set;
use std::rc::Rc;
use std::sync::Arc;

use groupscope_core::diagram::{Caption, Captions, Content, Fate, Layout, Options, Story};
use groupscope_core::id::RecordId;
use groupscope_core::lessons::{self, Lesson};
use groupscope_core::rules::Rules;
use groupscope_core::scenario::Plan;
use groupscope_core::sim::Simulation;
use groupscope_core::time::{Span, Time};
use groupscope_core::trace::{Fact, Trace};
use yew::AttrValue;

use crate::keys::Direction;

/// The folds that the reader has opened, by the id of their first record.
pub type Opened = Set<RecordId>;

/// A lesson's run.
pub struct Run {
    /// The lesson.
    pub lesson: &'static Lesson,
    /// What was run.
    pub plan: Arc<Plan>,
    /// What happened.
    pub trace: Trace,
    /// What of it there is to draw.
    pub story: Story,
    /// What of it there is to tell.
    pub captions: Captions,
}

impl std::fmt::Debug for Run {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Run").field("lesson", &self.lesson.id).finish_non_exhaustive()
    }
}

/// Runs are the same if they are one.
impl PartialEq for Run {
    fn eq(&self, other: &Self) -> bool {
        std::ptr::eq(self, other)
    }
}

impl Run {
    /// Runs a lesson.
    ///
    /// # Errors
    /// What is wrong, in a sentence for the reader, if there is no such lesson.
    pub fn of_lesson(id: &str) -> Result<Rc<Self>, String> {
        let lesson = lessons::find(id).ok_or_else(|| format!("There is no lesson “{id}”."))?;
        let plan = lesson.plan();
        let mut simulation = Simulation::new(Arc::clone(&plan));
        simulation.run_until(plan.until);
        let trace = simulation.trace().clone();
        let story = Story::of(&trace);
        let heartbeats = plan.picture.as_ref().map(|picture| picture.heartbeats).unwrap_or_default();
        let captions = Captions::of(&trace, heartbeats);
        Ok(Rc::new(Self { lesson, plan, trace, story, captions }))
    }

    /// The picture of the run.
    #[must_use]
    pub fn layout(&self, options: &Options) -> Layout {
        Layout::new(&self.story, self.plan.picture.as_ref(), options)
    }

    /// What just happened at a time; `None` before anything has.
    #[must_use]
    pub fn caption(&self, at: Time) -> Option<&Caption> {
        self.captions.at(at)
    }

    /// The rules that a caption speaks of.
    #[must_use]
    pub fn rules(&self, caption: &Caption) -> Rules {
        self.trace.get(caption.id).map_or(Rules::NONE, |record| record.rules)
    }

    /// Where the cursor can stop, with these folds opened. How wide the picture is makes no difference.
    #[must_use]
    pub fn stops(&self, opened: &Opened) -> Stops {
        const ANY_WIDTH: f64 = 1_000.0;
        let layout = self.layout(&Options { opened: opened.clone(), ..Options::for_width(ANY_WIDTH) });
        let steps: Rc<[Step]> =
            layout.steps.iter().map(|step| Step { label: step.label.clone().into(), at: step.at }).collect();
        let start = self.plan.picture.as_ref().map_or(Time::ZERO, |picture| Time::ZERO + picture.from);
        Stops {
            opening: opening(&layout, steps.first().map_or(start, |step| step.at)),
            start,
            events: layout.event_times,
            steps,
            marks: marks(&self.trace),
            end: self.plan.until,
        }
    }
}

/// Half way of the first message that is sent from `start` on: something is under way, and all is still to come.
fn opening(layout: &Layout, start: Time) -> Time {
    let first = layout.rows.iter().filter(|row| row.at >= start).find_map(|row| match &row.content {
        Content::Message(message) => Some((row.at, message.fate)),
        Content::Close(_) | Content::Notes(_) | Content::Divider(_) | Content::Fold(_) => None,
    });
    match first {
        Some((sent, Fate::Arrives(at) | Fate::Dropped(at))) => sent + Span(at.since(sent).0 / 2),
        Some((sent, Fate::Lost { .. })) => sent,
        None => start,
    }
}

/// Rebalances, failures and refused commits.
fn marks(trace: &Trace) -> Vec<Time> {
    let is_mark = |fact: &Fact| {
        matches!(
            fact,
            Fact::RebalanceStarted { .. }
                | Fact::RebalanceRetried { .. }
                | Fact::MemberRemoved { .. }
                | Fact::CoordinatorFailed { .. }
                | Fact::ProcessCrashed { .. }
                | Fact::ConsumerThrew { .. }
        ) || matches!(fact, Fact::CommitChecked { verdict, .. } if verdict.outcome.is_err())
    };
    let mut marks: Vec<Time> =
        trace.iter().filter(|(_, record)| is_mark(&record.fact)).map(|(_, record)| record.at).collect();
    marks.dedup();
    marks
}

/// A divider of the document's picture.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Step {
    /// The document's number, `2/3`.
    pub label: AttrValue,
    /// Where it begins.
    pub at: Time,
}

/// Where the cursor can stop.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Stops {
    /// The times of the events, ascending, each once.
    pub events: Vec<Time>,
    /// The steps of the document, ascending.
    pub steps: Rc<[Step]>,
    /// Rebalances, failures and refused commits, ascending, each once.
    pub marks: Vec<Time>,
    /// Where a reader lands who asks for no time: something is on its way.
    pub opening: Time,
    /// Where the picture begins, and playing starts over.
    pub start: Time,
    /// The end of the run.
    pub end: Time,
}

impl Stops {
    /// The next event from `cursor`, or the start or the end of the run.
    #[must_use]
    pub fn event(&self, cursor: Time, direction: Direction) -> Time {
        self.bounded(nearest(self.events.iter().copied(), cursor, direction), direction)
    }

    /// The next step of the document, or the start or the end of the run.
    #[must_use]
    pub fn step(&self, cursor: Time, direction: Direction) -> Time {
        self.bounded(nearest(self.steps.iter().map(|step| step.at), cursor, direction), direction)
    }

    /// The next mark; `cursor` where there is none that way.
    #[must_use]
    pub fn mark(&self, cursor: Time, direction: Direction) -> Time {
        nearest(self.marks.iter().copied(), cursor, direction).unwrap_or(cursor)
    }

    /// The position in [`steps`](Self::steps) of the one that the cursor is in; `None` before the first.
    #[must_use]
    pub fn current_step(&self, cursor: Time) -> Option<usize> {
        self.steps.partition_point(|step| step.at <= cursor).checked_sub(1)
    }

    fn bounded(&self, found: Option<Time>, direction: Direction) -> Time {
        match direction {
            Direction::Back => found.unwrap_or(Time::ZERO),
            Direction::Forward => found.unwrap_or(self.end).min(self.end),
        }
    }
}

/// The closest of some ascending times that lies in a direction.
fn nearest(mut times: impl DoubleEndedIterator<Item = Time>, cursor: Time, direction: Direction) -> Option<Time> {
    match direction {
        Direction::Back => times.rfind(|time| *time < cursor),
        Direction::Forward => times.find(|time| *time > cursor),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stops() -> Stops {
        let step = |label: &str, at| Step { label: label.to_owned().into(), at: Time(at) };
        Stops {
            events: [100, 200, 200, 350, 500].map(Time).to_vec(),
            steps: [step("1", 100), step("2/3", 350)].into(),
            marks: vec![Time(200)],
            opening: Time(150),
            start: Time(90),
            end: Time(900),
        }
    }

    #[test]
    fn events_and_steps_end_at_the_ends_of_the_run() {
        use Direction::{Back, Forward};
        let stops = stops();
        for (cursor, back, forward) in [(0, 0, 100), (100, 0, 200), (150, 100, 200), (500, 350, 900), (900, 500, 900)] {
            assert_eq!(stops.event(Time(cursor), Back), Time(back), "back from {cursor}");
            assert_eq!(stops.event(Time(cursor), Forward), Time(forward), "forward from {cursor}");
        }
        assert_eq!(stops.step(Time(100), Forward), Time(350));
        assert_eq!(stops.step(Time(350), Forward), Time(900));
        assert_eq!(stops.step(Time(350), Back), Time(100));
        assert_eq!(stops.step(Time(100), Back), Time(0));
    }

    #[test]
    fn without_a_further_mark_the_cursor_stays() {
        assert_eq!(stops().mark(Time(100), Direction::Forward), Time(200));
        assert_eq!(stops().mark(Time(200), Direction::Forward), Time(200));
        assert_eq!(stops().mark(Time(300), Direction::Back), Time(200));
    }

    #[test]
    fn a_step_lasts_to_the_next() {
        let stops = stops();
        assert_eq!(stops.current_step(Time(99)), None);
        assert_eq!(stops.current_step(Time(100)), Some(0));
        assert_eq!(stops.current_step(Time(900)), Some(1));
    }
}
