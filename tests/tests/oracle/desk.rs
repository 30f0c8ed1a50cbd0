//! A broker on its own, with a clock and timers but no network: for requests that no consumer would send.

use std::collections::BTreeMap;
use std::sync::Arc;

use groupscope_core::broker::Broker;
use groupscope_core::cluster::Cluster;
use groupscope_core::coordinator::{CoordinatorContext, CoordinatorEffect, CoordinatorTimer, ReplyTo};
use groupscope_core::id::{
    BrokerId, ConnectionId, Correlation, Epoch, Generation, MemberId, Offset, Partition, RecordId, TopicId,
};
use groupscope_core::message::{Commit, Join, Joined, NamedStrategy, Offsets, Request, Response};
use groupscope_core::offsets::OffsetLog;
use groupscope_core::scenario::{AssignmentStrategy, GroupPlan};
use groupscope_core::time::{Span, Time};
use groupscope_core::trace::Fact;

/// How many consumers have a name: the ids from here on are the coordinator's to give.
pub(crate) const NAMES: u32 = 8;
/// An id that nobody was ever given.
pub(crate) const MADE_UP: MemberId = MemberId(NAMES * 100);
/// The topic that members subscribe to where nothing else is said.
pub(crate) const TOPIC: TopicId = TopicId(0);
/// The session that they ask for.
pub(crate) const SESSION: Span = Span::from_millis(100);

/// A request, to ask for its answer.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct Ticket(RecordId);

#[derive(Clone)]
pub(crate) struct Desk {
    broker: Broker,
    cluster: Cluster,
    offsets: OffsetLog,
    now: Time,
    requests: u32,
    set_timers: u64,
    timers: BTreeMap<CoordinatorTimer, (Time, u64)>,
    answers: BTreeMap<Ticket, Response>,
    facts: Vec<Fact>,
}

impl Desk {
    /// The coordinator, with topics of so many partitions.
    pub(crate) fn new(settings: &GroupPlan, partitions: &[u32]) -> Self {
        let mut desk = Self::idle(settings, partitions);
        desk.give(|broker, cx| broker.handle_role(Epoch(0), None, cx));
        desk
    }

    /// A broker that knows another for the coordinator.
    pub(crate) fn elsewhere(settings: &GroupPlan) -> Self {
        let mut desk = Self::idle(settings, &[1]);
        desk.give(|broker, cx| broker.handle_learned(BrokerId(1), cx));
        desk
    }

    fn idle(settings: &GroupPlan, partitions: &[u32]) -> Self {
        Self {
            broker: Broker::new(BrokerId(0), NAMES, settings),
            cluster: Cluster::new(2, partitions.iter().map(|count| (*count, 0))),
            offsets: OffsetLog::default(),
            now: Time::ZERO,
            requests: 0,
            set_timers: 0,
            timers: BTreeMap::new(),
            answers: BTreeMap::new(),
            facts: Vec::new(),
        }
    }

    /// The role moves to the next broker and back, with what this one has written.
    pub(crate) fn change_coordinator(&mut self) {
        let written = self.broker.written();
        self.give(|broker, cx| broker.handle_learned(BrokerId(1), cx));
        self.give(|broker, cx| broker.handle_role(Epoch(0), written, cx));
    }

    // --- asking ---

    pub(crate) fn ask(&mut self, request: &Request) -> Ticket {
        let ticket = Ticket(RecordId(self.requests));
        let to = ReplyTo::new(ConnectionId(self.requests), Correlation(self.requests), ticket.0);
        self.requests += 1;
        self.give(|broker, cx| broker.handle_request(to, request, cx));
        ticket
    }

    /// The answer of a request, if it has been given.
    pub(crate) fn answer(&self, ticket: Ticket) -> Option<&Response> {
        self.answers.get(&ticket)
    }

    /// The answer of a request that is answered at once, in a word.
    pub(crate) fn outcome(&mut self, request: &Request) -> &'static str {
        let ticket = self.ask(request);
        word(self.answer(ticket))
    }

    pub(crate) fn heartbeat(&mut self, member: MemberId, generation: Generation) -> &'static str {
        self.outcome(&Request::Heartbeat { member, generation })
    }

    pub(crate) fn commit(&mut self, member: MemberId, generation: Generation, offsets: &[(u32, u64)]) -> &'static str {
        let commit = Commit { member, generation, offsets: at(offsets) };
        self.outcome(&Request::Commit(Arc::new(commit)))
    }

    pub(crate) fn leave(&mut self, member: MemberId) -> &'static str {
        self.outcome(&Request::Leave { member })
    }

    /// The answer of a join that was taken in.
    pub(crate) fn joined(&self, ticket: Ticket) -> &Joined {
        match self.answer(ticket) {
            Some(Response::Join(Ok(joined))) => joined,
            other => panic!("no assignment but {other:?}"),
        }
    }

    /// A consumer joins an empty group: its id and its generation.
    pub(crate) fn first_member(&mut self, join: Join) -> (MemberId, Generation) {
        let name = join.member;
        let ticket = self.ask(&Request::Join(Arc::new(join)));
        let joined = self.joined(ticket);
        (joined.given.unwrap_or(name), joined.generation)
    }

    // --- time ---

    /// Lets time pass; timers fire in their order.
    pub(crate) fn wait(&mut self, span: Span) {
        let end = self.now + span;
        while let Some((timer, due)) = self.next_timer().filter(|(_, due)| *due <= end) {
            self.now = due;
            self.timers.remove(&timer);
            self.give(|broker, cx| broker.handle_timer(timer, cx));
        }
        self.now = end;
    }

    fn next_timer(&self) -> Option<(CoordinatorTimer, Time)> {
        let next = self.timers.iter().min_by_key(|(_, at)| **at);
        next.map(|(timer, (due, _))| (*timer, *due))
    }

    pub(crate) fn now(&self) -> Time {
        self.now
    }

    // --- looking ---

    pub(crate) fn facts(&self) -> &[Fact] {
        &self.facts
    }

    pub(crate) fn committed(&self, index: u32) -> u64 {
        self.offsets.committed(Partition { topic: TOPIC, index }).0
    }

    pub(crate) fn add_partitions(&mut self, more: u32) {
        self.cluster.add_partitions(TOPIC, more, self.now);
    }

    // --- carrying out ---

    fn give(&mut self, give: impl FnOnce(&mut Broker, &mut CoordinatorContext<'_>)) {
        let mut effects = Vec::new();
        let mut cx = CoordinatorContext {
            now: self.now,
            cluster: &self.cluster,
            offsets: &mut self.offsets,
            latest_epoch: Epoch(0),
            effects: &mut effects,
        };
        give(&mut self.broker, &mut cx);
        for effect in effects {
            self.carry_out(effect);
        }
    }

    fn carry_out(&mut self, effect: CoordinatorEffect) {
        match effect {
            CoordinatorEffect::Reply { to, response, .. } => {
                let before = self.answers.insert(Ticket(to.request()), response);
                assert_eq!(before, None, "one answer for each request");
            }
            CoordinatorEffect::Close { .. } => {}
            CoordinatorEffect::Set { timer, after } => {
                self.set_timers += 1;
                self.timers.insert(timer, (self.now + after, self.set_timers));
            }
            CoordinatorEffect::Cancel(timer) => drop(self.timers.remove(&timer)),
            CoordinatorEffect::CancelAll => self.timers.clear(),
            CoordinatorEffect::Note { fact, .. } => self.facts.push(fact),
        }
    }
}

/// An answer in a word: `OK`, the name of its error, or `no answer yet`.
pub(crate) fn word(answer: Option<&Response>) -> &'static str {
    match answer {
        None => "no answer yet",
        Some(Response::Join(Err(error))) => error.name(),
        Some(Response::Heartbeat(Err(error)) | Response::Leave(Err(error))) => error.name(),
        Some(Response::Commit(Err(error))) => error.name(),
        Some(
            Response::Metadata(_)
            | Response::Join(Ok(_))
            | Response::Heartbeat(Ok(()))
            | Response::Commit(Ok(()))
            | Response::Leave(Ok(())),
        ) => "OK",
    }
}

/// A join with the subscription and session of this test, that names `range`.
pub(crate) fn join(member: MemberId) -> Join {
    let strategy = Some(NamedStrategy::Known(AssignmentStrategy::Range));
    Join { member, strategy, session_timeout: SESSION, topics: [TOPIC].into() }
}

pub(crate) fn request(join: Join) -> Request {
    Request::Join(Arc::new(join))
}

/// Offsets of partitions of the topic.
pub(crate) fn at(offsets: &[(u32, u64)]) -> Offsets {
    offsets.iter().map(|(index, offset)| (Partition { topic: TOPIC, index: *index }, Offset(*offset))).collect()
}

/// The generation with a number in a group's first life.
pub(crate) fn generation(number: u32) -> Generation {
    Generation { epoch: Epoch(0), life: 1, number }
}
