//! Checks on a trace, apart from the code that they check: they read only the facts on record and a plan's settings,
//! and work out for themselves who is a member, which generation is in force and who owns what.
//!
//! [`check`] takes a whole trace; a [`Checker`] is shown one record after the other, as the page does while it runs.
//! What the document is known to allow (two consumers fetching one partition while one of them is a zombie, settings
//! with which a group need not settle) is a finding for whoever reads the trace, not a violation.

mod answers;
mod callbacks;
mod delivery;
mod fetching;
mod generations;
mod model;
mod offsets;
mod ownership;
mod roles;
mod settling;

use std::fmt;
use std::sync::Arc;

use crate::cast::Cast;
use crate::id::{ConnectionId, NodeId, RecordId};
use crate::message::Message;
use crate::scenario::Plan;
use crate::time::Time;
use crate::trace::{Cause, Fact, Record, Trace};

pub use settling::{Bound, Unsettled, settling_bound};

/// What must hold of every trace: the invariants of the protocol by their numbers, and one of the trace itself.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Invariant {
    /// 1: in each generation no partition has two owners; every partition of a subscribed topic has one as long as a
    /// member subscribes to it; nobody owns what it did not subscribe to.
    OneOwner,
    /// 2: in each process life the two callbacks alternate; a consumer fetches only between them.
    CallbacksAlternate,
    /// 3: the coordinator sends nothing but answers, at most one per request (AR1).
    OnlyAnswers,
    /// 4: the offset log holds only commits that passed OC1 to OC3 at the moment of appending, and no committed offset
    /// goes back while consumers commit their own positions (but for a commit on a channel that its consumer has given
    /// up, which may be taken late).
    OnlyCheckedCommits,
    /// 5: generations only grow, in the order (epoch, life of the group, number).
    GenerationsGrow,
    /// 6: two consumers fetch one partition only while one of them is a zombie: it does not hold the current
    /// generation and has not been told yet.
    OnlyZombiesOverlap,
    /// 7: once faults and losses stop, the group is stable within the bound, with every partition owned by a live
    /// consumer, where the settings allow the claim.
    Settles,
    /// The trace holds together: messages are taken once, in order, after they were sent and by processes that can; a
    /// process that is down or stands still does nothing; a consumer has one thread (AR2); only who holds the role of
    /// coordinator writes to the group, and who takes it over finds what was written (decision 10).
    SoundTrace,
}

impl Invariant {
    /// Every invariant, in order.
    pub const ALL: &[Self] = &[
        Self::OneOwner,
        Self::CallbacksAlternate,
        Self::OnlyAnswers,
        Self::OnlyCheckedCommits,
        Self::GenerationsGrow,
        Self::OnlyZombiesOverlap,
        Self::Settles,
        Self::SoundTrace,
    ];

    /// What must hold, in a few words.
    #[must_use]
    pub const fn title(self) -> &'static str {
        match self {
            Self::OneOwner => "1: one owner for each partition",
            Self::CallbacksAlternate => "2: callbacks alternate",
            Self::OnlyAnswers => "3: the coordinator only answers",
            Self::OnlyCheckedCommits => "4: only checked commits are logged",
            Self::GenerationsGrow => "5: generations only grow",
            Self::OnlyZombiesOverlap => "6: only zombies overlap",
            Self::Settles => "7: the group settles",
            Self::SoundTrace => "the trace is sound",
        }
    }
}

/// A broken invariant.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Violation {
    /// Which.
    pub invariant: Invariant,
    /// When.
    pub at: Time,
    /// The record that breaks it; `None` where something did not happen in time.
    pub record: Option<RecordId>,
    /// What is wrong, in a sentence without a full stop.
    pub message: String,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}s, invariant {}: {}", self.at, self.invariant.title(), self.message)?;
        self.record.map_or(Ok(()), |record| write!(f, " (record {})", record.0))
    }
}

/// The most violations that a [`Checker`] keeps: a broken run is broken at every step.
pub const MOST_VIOLATIONS: usize = 100;

/// Checks a trace record by record. Cloning it makes a checkpoint.
#[derive(Clone, Debug)]
pub struct Checker {
    cast: Arc<Cast>,
    findings: Findings,
    model: model::Model,
    ownership: ownership::Ownership,
    callbacks: callbacks::Callbacks,
    answers: answers::Answers,
    offsets: offsets::OffsetLog,
    generations: generations::Generations,
    fetching: fetching::Fetching,
    roles: roles::Roles,
    settling: settling::Settling,
    delivery: delivery::Delivery,
}

impl Checker {
    /// A checker of runs of `plan` that has seen nothing yet.
    #[must_use]
    pub fn new(plan: &Plan) -> Self {
        Self {
            cast: Arc::clone(&plan.cast),
            findings: Findings::default(),
            model: model::Model::new(plan),
            ownership: ownership::Ownership::default(),
            callbacks: callbacks::Callbacks::new(plan),
            answers: answers::Answers::default(),
            offsets: offsets::OffsetLog::new(plan),
            generations: generations::Generations::new(plan),
            fetching: fetching::Fetching::new(plan),
            roles: roles::Roles,
            settling: settling::Settling::new(plan),
            delivery: delivery::Delivery::default(),
        }
    }

    /// Takes up the next record of a trace. Records come in order, each once.
    pub fn observe(&mut self, trace: &Trace, id: RecordId, record: &Record) {
        let event = Event { trace, id, record };
        let Self { findings, model, .. } = self;
        self.settling.observe(&event, model, findings);
        self.ownership.observe(&event, model, findings);
        self.callbacks.observe(&event, findings);
        self.answers.observe(&event, findings);
        self.offsets.observe(&event, model, findings);
        self.generations.observe(&event, findings);
        self.fetching.observe(&event, model, findings);
        self.roles.observe(&event, model, findings);
        self.delivery.observe(&event, model, findings);
        model.observe(&event);
    }

    /// Takes up that the run has come to `end` with nothing more happening: what should have happened by then is
    /// missing. More records may follow.
    pub fn finish(&mut self, end: Time) {
        let Self { findings, model, .. } = self;
        self.settling.finish(end, &self.cast, model, findings);
        self.offsets.finish(findings);
    }

    /// What has been found so far, in order; at most [`MOST_VIOLATIONS`].
    #[must_use]
    pub fn violations(&self) -> &[Violation] {
        &self.findings.list
    }
}

/// Checks a trace of a run of `plan` up to the time `end` that the run has come to.
#[must_use]
pub fn check(plan: &Plan, trace: &Trace, end: Time) -> Vec<Violation> {
    let mut checker = Checker::new(plan);
    for (id, record) in trace.iter() {
        checker.observe(trace, id, record);
    }
    checker.finish(end);
    checker.findings.list
}

/// Where checks put what they find.
#[derive(Clone, Default, Debug)]
struct Findings {
    list: Vec<Violation>,
}

impl Findings {
    fn add(&mut self, invariant: Invariant, event: &Event<'_>, message: impl Into<String>) {
        self.push(Violation { invariant, at: event.record.at, record: Some(event.id), message: message.into() });
    }

    fn push(&mut self, violation: Violation) {
        if self.list.len() < MOST_VIOLATIONS {
            self.list.push(violation);
        }
    }
}

/// A record with the trace that it stands in.
#[derive(Clone, Copy)]
struct Event<'a> {
    trace: &'a Trace,
    id: RecordId,
    record: &'a Record,
}

/// A message that was sent.
struct Packet<'a> {
    from: NodeId,
    to: NodeId,
    connection: ConnectionId,
    arrives: Time,
    answers: Option<RecordId>,
    message: &'a Message,
}

impl<'a> Event<'a> {
    fn at(&self) -> Time {
        self.record.at
    }

    fn fact(&self) -> &'a Fact {
        &self.record.fact
    }

    /// The message that an earlier record sent.
    fn packet(&self, sent: RecordId) -> Option<Packet<'a>> {
        let earlier = (sent < self.id).then(|| self.trace.get(sent)).flatten();
        earlier.and_then(|record| packet(&record.fact))
    }

    /// The message that this record took, if it took one.
    fn taken(&self) -> Option<Packet<'a>> {
        if let Fact::Received { sent, .. } = self.fact() { self.packet(*sent) } else { None }
    }

    fn name(&self, node: impl Into<NodeId>) -> String {
        self.trace.cast().node(node.into())
    }
}

fn packet(fact: &Fact) -> Option<Packet<'_>> {
    let Fact::Sent { from, to, connection, arrives, answers, message } = fact else { return None };
    let answers = answers.map(Cause::id);
    Some(Packet { from: *from, to: *to, connection: *connection, arrives: *arrives, answers, message })
}

#[cfg(test)]
mod tests;
