//! What just happened, told in a sentence or two that follow the events and not the clock.

use super::names::{capital, consumer_name, consumer_names, node_name, span_words};
use super::place::rules_label;
use crate::cast::Cast;
use crate::error::{CommitError, HeartbeatError, JoinError};
use crate::id::{BrokerId, ConsumerId, MemberId, NodeId, RecordId};
use crate::map::Map;
use crate::message::{Message, MessageKind, Offsets, Request, Response};
use crate::offsets::Verdict;
use crate::rules::Rules;
use crate::scenario::Heartbeats;
use crate::time::{Span, Time};
use crate::trace::{Callback, Cause, ChannelEnd, CoordinatorFailure, Fact, RebalanceReason, Record, Trace};
use crate::view::{NodeState, Process, View, partitions_words};

/// The captions of a trace, in order of time.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Captions(Vec<Caption>);

/// A sentence or two on what just happened.
#[derive(Clone, PartialEq, Debug)]
pub struct Caption {
    /// When it happened.
    pub at: Time,
    /// The record that it tells of.
    pub id: RecordId,
    /// The rule that was carried out, `EC1`, if the protocol speaks of it.
    pub rule: Option<String>,
    /// The words.
    pub words: Vec<Segment>,
}

/// A part of a caption.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Segment {
    /// Words.
    Text(String),
    /// A name from the code, to be set in a monospaced face.
    Code(String),
}

impl Caption {
    /// The words without marks.
    #[must_use]
    pub fn text(&self) -> String {
        let word = |segment: &Segment| match segment {
            Segment::Text(text) | Segment::Code(text) => text.clone(),
        };
        self.words.iter().map(word).collect()
    }
}

impl Captions {
    /// The captions of a trace. Heartbeats that change nothing are told one by one or, folded, once for each quiet
    /// stretch.
    #[must_use]
    pub fn of(trace: &Trace, heartbeats: Heartbeats) -> Self {
        let mut teller = Teller::new(trace, heartbeats);
        for (id, record) in trace.iter() {
            teller.read(id, record);
        }
        teller.captions
    }

    /// The caption that stands at a time; `None` before the first.
    #[must_use]
    pub fn at(&self, time: Time) -> Option<&Caption> {
        self.0.partition_point(|caption| caption.at <= time).checked_sub(1).map(|last| &self.0[last])
    }

    /// All of them, in order.
    pub fn iter(&self) -> impl Iterator<Item = &Caption> {
        self.0.iter()
    }
}

/// Heartbeats are news only when nothing else has been told for this long.
const QUIET_AFTER: Span = Span::from_millis(500);

struct Teller<'a> {
    trace: &'a Trace,
    view: View,
    heartbeats: Heartbeats,
    captions: Captions,
    /// How much the last caption matters.
    news: News,
    /// Answers with the code "rebalance" that are on their way.
    codes: Map<RecordId, ConsumerId>,
    /// Why each consumer last stopped fetching, in words that go before a colon.
    stopped: Map<ConsumerId, String>,
    /// How long the member that was removed last had not been heard from.
    silence: Span,
}

impl<'a> Teller<'a> {
    fn new(trace: &'a Trace, heartbeats: Heartbeats) -> Self {
        Self {
            trace,
            view: View::new(trace.cast()),
            heartbeats,
            captions: Captions::default(),
            news: News::Small,
            codes: Map::new(),
            stopped: Map::new(),
            silence: Span::ZERO,
        }
    }

    fn cast(&self) -> &'a Cast {
        self.trace.cast()
    }

    fn read(&mut self, id: RecordId, record: &Record) {
        self.remember_silence(record);
        let before = record.fact.node().map(|node| self.view.state(node));
        self.view.apply(self.trace, id, record);
        self.follow_codes(id, &record.fact);
        let told = self.tell(record, before);
        let Some(words) = told else { return };
        let news = news(&record.fact);
        if news == News::Quiet && self.heartbeats == Heartbeats::Fold && !self.is_quiet_since(record.at) {
            return;
        }
        let mut caption = Caption { at: record.at, id, rule: rule(record.rules), words: segments(&words) };
        // Of what happens at one moment that is told which matters most, and of that the last.
        match self.captions.0.last_mut() {
            Some(last) if last.at == record.at => {
                if news < self.news {
                    return;
                }
                if words.starts_with(&last.text()) {
                    caption.rule = last.rule.take();
                }
                *last = caption;
            }
            Some(_) | None => self.captions.0.push(caption),
        }
        self.news = news;
    }

    /// Whether heartbeats that change nothing are news at `at`: something else was told before, but not just now.
    fn is_quiet_since(&self, at: Time) -> bool {
        let last = self.captions.0.last();
        self.news != News::Quiet && last.is_none_or(|last| at.since(last.at) >= QUIET_AFTER)
    }

    fn remember_silence(&mut self, record: &Record) {
        let heard = if let Fact::MemberRemoved { member, .. } = &record.fact {
            self.view.group.members.get(member).map(|member| member.last_heard)
        } else if let Fact::CoordinatorFailed { consumer, .. } = &record.fact {
            self.view.consumer(*consumer).unanswered_since
        } else {
            return;
        };
        self.silence = heard.map_or(Span::ZERO, |heard| record.at.since(heard));
    }

    fn follow_codes(&mut self, id: RecordId, fact: &Fact) {
        if let Fact::Sent { to, arrives, message, .. } = fact
            && let Message::Response(Response::Heartbeat(Err(HeartbeatError::RebalanceInProgress))) = message
            && *arrives < Time::MAX
        {
            self.codes.extend(to.consumer().map(|consumer| (id, consumer)));
        } else if let Fact::Received { sent, .. } | Fact::Dropped { sent, .. } = fact {
            self.codes.remove(sent);
        }
    }

    fn name(&self, consumer: ConsumerId) -> String {
        consumer_name(self.cast(), consumer)
    }

    /// At the beginning of a sentence.
    fn capital(&self, node: impl Into<NodeId>) -> String {
        capital(&node_name(self.cast(), node.into()))
    }

    fn member(&self, member: MemberId) -> String {
        self.name(self.cast().member(member))
    }

    /// The words for a fact, with code between backticks; `None` for what is not worth a caption of its own.
    fn tell(&mut self, record: &Record, before: Option<NodeState>) -> Option<String> {
        match &record.fact {
            Fact::Sent { from, to, message, arrives: Time::MAX, .. } => Some(self.lost(*from, *to, message)),
            Fact::Sent { from, to, message, .. } => self.sent(record, *from, *to, message),
            Fact::ProcessStarted { node } => before
                .is_some_and(|before| before != NodeState::NotStarted)
                .then(|| format!("{} starts again.", self.capital(*node))),
            Fact::ProcessCrashed { node } => Some(self.crashed(*node)),
            Fact::ProcessClosed { consumer } => before
                .is_some_and(|before| before != NodeState::Down)
                .then(|| format!("{} is closed, and tells nobody.", self.capital(*consumer))),
            Fact::ProcessPaused { node } => {
                Some(format!("{} stands still. Nothing is closed: only its silence can tell.", self.capital(*node)))
            }
            Fact::ProcessResumed { node } => Some(self.resumed(*node)),
            Fact::LinkCut { consumer, broker } => {
                let broker = node_name(self.cast(), (*broker).into());
                Some(format!("Between {} and {broker} nothing arrives any more.", self.name(*consumer)))
            }
            Fact::LinkHealed { consumer, broker } => {
                let broker = node_name(self.cast(), (*broker).into());
                Some(format!("The link between {} and {broker} works again.", self.name(*consumer)))
            }
            Fact::PartitionsAdded { topic, count } => {
                Some(format!("Topic {} now has {count} partitions.", self.cast().topic(*topic)))
            }
            Fact::LimitReached => Some("The run has reached its limit of records and stops here.".to_owned()),
            Fact::ChannelClosed { node, why: ChannelEnd::ByThisEnd, .. } if node.broker().is_some() => {
                self.closes(record)
            }
            Fact::Subscribed { consumer, topics } => {
                let topics: Vec<&str> = topics.iter().map(|topic| self.cast().topic(*topic)).collect();
                let (who, topics) = (self.capital(*consumer), topics.join(", "));
                let starts = matches!(self.view.consumer(*consumer).process,
                    Process::Up { since } if since == record.at);
                Some(if starts {
                    format!("{who} starts, and subscribes to {topics}.")
                } else {
                    self.stopped.insert(*consumer, "changed its subscription".to_owned());
                    format!("{who} changes its subscription to {topics}.")
                })
            }
            Fact::CoordinatorFailed { consumer, why, .. } => Some(self.coordinator_failed(*consumer, *why)),
            Fact::TopicChangeSeen { consumer, topic, count } => {
                let (who, topic) = (self.capital(*consumer), self.cast().topic(*topic));
                self.stopped.insert(*consumer, format!("saw that {topic} has {count} partitions"));
                Some(format!("{who} sees in its metadata that {topic} has {count} partitions."))
            }
            Fact::CallbackStarted { consumer, callback, partitions, .. } => {
                let partitions = partitions_words(self.cast(), partitions);
                match callback {
                    Callback::Assigned => {
                        let generation = self.view.consumer(*consumer).generation.unwrap_or_default().number;
                        let who = self.capital(*consumer);
                        Some(format!(
                            "{who} records generation {generation} and calls `onPartitionAssigned()` for {partitions}."
                        ))
                    }
                    Callback::Deassigned => self.gives_up(record, *consumer),
                }
            }
            Fact::FetchStarted { consumer, from } => Some(self.fetch_started(*consumer, from)),
            Fact::FetchStopped { consumer, .. } => self.gives_up(record, *consumer),
            Fact::ProcessingStarted { consumer, takes } => Some(format!(
                "{} is busy for {}. It has one thread: meanwhile it sends no ping and reads no answer.",
                self.capital(*consumer),
                span_words(*takes)
            )),
            Fact::ProcessingEnded { consumer } => Some(format!("{} is done processing.", self.capital(*consumer))),
            Fact::ResumeExpired { consumer } => {
                self.stopped.insert(*consumer, "found no coordinator for a whole session timeout".to_owned());
                None
            }
            Fact::ConsumerThrew { consumer, error } => Some(format!(
                "The error `{}` is fatal: {} throws it to the application and stops.",
                error.name(),
                self.name(*consumer)
            )),
            Fact::OffsetsDropped { consumer, offsets, .. } => Some(format!(
                "{} drops the offsets of {} and tells the application.",
                self.capital(*consumer),
                self.partitions(offsets)
            )),
            Fact::RebalanceStarted { why, .. } => Some(self.rebalance(*why)),
            Fact::JoinHeld { member, .. } => Some(self.held(record, *member)),
            Fact::RebalanceRetried { missing, .. } => Some(format!(
                "The join of {} has not come in time: the coordinator removes it and tells the others to join once more.",
                self.member(*missing)
            )),
            Fact::AssignmentComputed { formed, .. } => {
                Some(self.formed(formed.generation.number, formed.assignment.len()))
            }
            Fact::GroupForgotten { .. } => Some("The group has lost its last member and is forgotten.".to_owned()),
            Fact::GroupRecovered { generation, .. } => Some(self.after_move(
                record,
                &format!("takes the group up as it was written: generation {} is in force.", generation.number),
            )),
            Fact::CoordinatorMoved { broker, from, .. } => Some(format!(
                "The role of coordinator moves from {} to {}.",
                node_name(self.cast(), (*from).into()),
                node_name(self.cast(), (*broker).into())
            )),
            Fact::CoordinatorResigned { broker, .. } => {
                Some(format!("{} finds that it is not the coordinator any more.", self.capital(*broker)))
            }
            Fact::GroupStateLost { .. } => Some(self.after_move(record, "knows nothing of the group any more.")),
            Fact::CommitChecked { verdict, .. } => self.refused(verdict),
            Fact::OffsetsAppended { member, offsets, .. } => Some(format!(
                "The commit of {} is accepted: its offsets of {} are appended to the log.",
                member.map_or_else(|| "no member".to_owned(), |member| self.member(member)),
                self.partitions(offsets)
            )),
            Fact::CommandIgnored { .. }
            | Fact::CoordinatorLearned { .. }
            | Fact::ChannelOpening { .. }
            | Fact::ChannelOpened { .. }
            | Fact::ChannelClosed { .. }
            | Fact::Received { .. }
            | Fact::Dropped { .. }
            | Fact::CoordinatorFound { .. }
            | Fact::GenerationRecorded { .. }
            | Fact::CallbackReturned { .. }
            | Fact::MemberAdded { .. }
            | Fact::MemberRemoved { .. } => None,
        }
    }

    fn partitions(&self, offsets: &Offsets) -> String {
        let partitions: Vec<_> = offsets.iter().map(|(partition, _)| *partition).collect();
        partitions_words(self.cast(), &partitions)
    }

    fn sent(&mut self, record: &Record, from: NodeId, to: NodeId, message: &Message) -> Option<String> {
        let sender = self.capital(from);
        match message {
            Message::Request(request) => self.requested(record, &sender, from.consumer()?, to.broker()?, request),
            Message::Response(response) => self.answered(&sender, to.consumer()?, response),
        }
    }

    fn lost(&self, from: NodeId, to: NodeId, message: &Message) -> String {
        let what = match message.kind() {
            MessageKind::Metadata => "metadata request",
            MessageKind::Join => "join",
            MessageKind::Heartbeat => "ping",
            MessageKind::Commit => "commit",
            MessageKind::Leave => "farewell",
        };
        match message {
            Message::Request(_) => format!("The {what} of {} is lost on its way.", node_name(self.cast(), from)),
            Message::Response(_) => {
                format!("The answer to the {what} of {} is lost on its way.", node_name(self.cast(), to))
            }
        }
    }

    fn requested(
        &mut self,
        record: &Record,
        sender: &str,
        consumer: ConsumerId,
        broker: BrokerId,
        request: &Request,
    ) -> Option<String> {
        Some(match request {
            Request::Metadata { .. } => {
                let broker = node_name(self.cast(), broker.into());
                format!("{sender} asks {broker} for the cluster, the leaders of its partitions and the coordinator.")
            }
            Request::Heartbeat { generation, .. } if self.heartbeats == Heartbeats::Show => {
                format!("{sender} sends a ping with its generation, {}.", generation.number)
            }
            Request::Heartbeat { .. } => return None,
            Request::Commit(commit) => {
                let partitions = self.partitions(&commit.offsets);
                format!("{sender} commits {partitions} with generation {}.", commit.generation.number)
            }
            Request::SimpleCommit { offsets } => {
                let partitions = self.partitions(offsets);
                format!("{sender} commits {partitions} as no member of the group.")
            }
            Request::Leave { .. } => format!("{sender} says that it leaves the group."),
            Request::Join(join) => {
                let retried = self
                    .causing_answer(record)
                    .is_some_and(|answer| matches!(answer, Response::Join(Err(JoinError::RebalanceInProgress))));
                if retried {
                    return Some(format!("{sender} was told to retry, and joins once more."));
                }
                if let Some(why) = self.stopped.remove(&consumer) {
                    let next = self.next_told(consumer);
                    return Some(format!(
                        "{sender} {why}: it stopped fetching, called `onPartitionDeassigned()` and sent a join.{next}"
                    ));
                }
                let topics: Vec<&str> = join.topics.iter().map(|topic| self.cast().topic(*topic)).collect();
                format!("{sender} asks to join with its subscription, {}, and waits for the answer.", topics.join(", "))
            }
        })
    }

    fn answered(&mut self, sender: &str, consumer: ConsumerId, response: &Response) -> Option<String> {
        let name = self.name(consumer);
        Some(match response {
            Response::Metadata(metadata) => match metadata.coordinator {
                Some(coordinator) => {
                    let coordinator = node_name(self.cast(), coordinator.into());
                    format!("{sender} answers with the cluster, the leaders, and the coordinator: {coordinator}.")
                }
                None => format!("{sender} knows of no coordinator at the moment."),
            },
            Response::Heartbeat(Ok(())) if self.heartbeats == Heartbeats::Show => {
                format!("The generation is the current one: the coordinator answers {name} at once.")
            }
            Response::Heartbeat(Ok(())) => "The consumers send their pings, and each is answered at once.".to_owned(),
            Response::Heartbeat(Err(HeartbeatError::RebalanceInProgress)) => {
                format!("The answer to {name}'s ping carries the code “rebalance”.")
            }
            Response::Heartbeat(Err(HeartbeatError::IllegalGeneration)) => {
                format!("{}'s ping is refused: it carries another generation than the one in force.", capital(&name))
            }
            Response::Heartbeat(Err(HeartbeatError::UnknownMember)) => {
                format!("{}'s ping is refused: the coordinator knows no such member.", capital(&name))
            }
            Response::Heartbeat(Err(HeartbeatError::NotCoordinator))
            | Response::Join(Err(JoinError::NotCoordinator))
            | Response::Leave(Err(HeartbeatError::NotCoordinator))
            | Response::Commit(Err(CommitError::NotCoordinator)) => {
                format!("{sender} answers {name} that it is not the coordinator.")
            }
            Response::Join(Err(
                error @ (JoinError::InvalidSessionTimeout
                | JoinError::GroupMaxSizeReached
                | JoinError::UnknownMember
                | JoinError::UnknownStrategy
                | JoinError::InconsistentStrategy),
            )) => {
                format!("The coordinator refuses the join of {name}: `{}`.", error.name())
            }
            Response::Join(Ok(_) | Err(JoinError::RebalanceInProgress))
            | Response::Leave(
                Ok(())
                | Err(
                    HeartbeatError::UnknownMember
                    | HeartbeatError::IllegalGeneration
                    | HeartbeatError::RebalanceInProgress,
                ),
            ) => return None,
            Response::Commit(
                Ok(())
                | Err(CommitError::UnknownMember | CommitError::IllegalGeneration | CommitError::PartitionNotOwned),
            ) => return None,
        })
    }

    /// A consumer stops fetching.
    fn gives_up(&mut self, record: &Record, consumer: ConsumerId) -> Option<String> {
        if let Some(why) = self.why_stopped(record) {
            self.stopped.insert(consumer, why);
        }
        let who = self.capital(consumer);
        let next = self.next_told(consumer);
        let acts = "it stops fetching and calls `onPartitionDeassigned()`";
        Some(match self.stopped.get(&consumer) {
            Some(why) => format!("{who} {why}: {acts}.{next}"),
            None => format!("{who} stops fetching and calls `onPartitionDeassigned()`.{next}"),
        })
    }

    /// What the answer said for which a consumer stops fetching.
    fn why_stopped(&self, record: &Record) -> Option<String> {
        let Response::Heartbeat(Err(error)) = self.causing_answer(record)? else { return None };
        Some(match error {
            HeartbeatError::RebalanceInProgress => "got the code “rebalance”".to_owned(),
            HeartbeatError::IllegalGeneration | HeartbeatError::UnknownMember | HeartbeatError::NotCoordinator => {
                format!("got the code `{}`", error.name())
            }
        })
    }

    /// The answer whose receipt brought a record about.
    fn causing_answer(&self, record: &Record) -> Option<&'a Response> {
        let Fact::Received { sent, .. } = self.trace.get(record.cause.map(Cause::id)?)?.fact else { return None };
        let Fact::Sent { message: Message::Response(answer), .. } = &self.trace.get(sent)?.fact else { return None };
        Some(answer)
    }

    /// Who is about to be told of the rebalance as well.
    fn next_told(&self, but: ConsumerId) -> String {
        let next: Vec<ConsumerId> = self.codes.values().copied().filter(|consumer| *consumer != but).collect();
        match next.as_slice() {
            [] => String::new(),
            [one] => format!(" {} is about to get the same answer.", self.capital(*one)),
            several => format!(" {} are about to get the same answer.", capital(&consumer_names(self.cast(), several))),
        }
    }

    fn fetch_started(&mut self, consumer: ConsumerId, from: &Offsets) -> String {
        let (who, partitions) = (self.capital(consumer), self.partitions(from));
        let generation = self.view.consumer(consumer).generation.unwrap_or_default().number;
        format!(
            "{who} recorded generation {generation}, called `onPartitionAssigned()` and starts fetching {partitions}."
        )
    }

    fn crashed(&self, node: NodeId) -> String {
        let who = self.capital(node);
        match node.broker() {
            Some(broker) if broker == self.view.coordinator => {
                format!("{who}, the coordinator, crashes. Its channels will be found closed.")
            }
            Some(_) => format!("{who} crashes."),
            None => format!("{who} crashes. The coordinator will notice only its silence."),
        }
    }

    /// The coordinator closes channels (SC0): told once, with the rebalance that begins at that moment.
    fn closes(&self, record: &Record) -> Option<String> {
        let told = self.captions.0.last().filter(|last| last.at == record.at).map(Caption::text);
        match told {
            Some(told) => {
                let starts = told.strip_suffix("starts a rebalance.")?;
                Some(format!("{starts}starts a rebalance and closes the others' channels."))
            }
            None => Some("The coordinator closes the members' channels.".to_owned()),
        }
    }

    fn resumed(&self, node: NodeId) -> String {
        let who = self.capital(node);
        if self.view.state(node) == NodeState::Zombie && node.broker().is_some() {
            return format!("{who} runs on. The role of coordinator has moved meanwhile, and it does not know it yet.");
        }
        if self.view.state(node) == NodeState::Zombie {
            return format!(
                "{who} runs on. It has lost its place in the group and does not know it yet: it goes on fetching."
            );
        }
        format!("{who} runs on.")
    }

    fn coordinator_failed(&mut self, consumer: ConsumerId, why: CoordinatorFailure) -> String {
        let found = match why {
            CoordinatorFailure::NoAnswer => format!("has had no answer for {}", span_words(self.silence)),
            CoordinatorFailure::ChannelClosed => "finds its channel closed".to_owned(),
            CoordinatorFailure::JoinTimeout => "has had no answer to its join in time".to_owned(),
            CoordinatorFailure::RequestTimeout => "has had no answer in time".to_owned(),
            CoordinatorFailure::NotCoordinator => "is told that this is not the coordinator".to_owned(),
        };
        let stops = match why {
            CoordinatorFailure::ChannelClosed => "found its channel closed",
            CoordinatorFailure::NoAnswer
            | CoordinatorFailure::JoinTimeout
            | CoordinatorFailure::RequestTimeout
            | CoordinatorFailure::NotCoordinator => "took the coordinator for failed",
        };
        self.stopped.insert(consumer, stops.to_owned());
        format!("{} {found}: it treats the coordinator as failed.", self.capital(consumer))
    }

    fn rebalance(&self, why: RebalanceReason) -> String {
        let starts = "the coordinator starts a rebalance";
        match why {
            RebalanceReason::NewMember(member) => format!("{} is new: {starts}.", capital(&self.member(member))),
            RebalanceReason::SubscriptionChanged(member) => {
                format!("The subscription of {} has changed: {starts}.", self.member(member))
            }
            RebalanceReason::Rejoined(member) => format!("{} joins again: {starts}.", capital(&self.member(member))),
            RebalanceReason::MemberFailed(member) => format!(
                "Nothing heard from {} for {}: the coordinator removes it and starts a rebalance.",
                self.member(member),
                span_words(self.silence)
            ),
            RebalanceReason::MemberLeft(member) => format!("{} leaves: {starts}.", capital(&self.member(member))),
            RebalanceReason::PartitionsChanged(topic) => {
                format!("Topic {} has more partitions than before: {starts}.", self.cast().topic(topic))
            }
            RebalanceReason::Reopened => "The new coordinator takes the open rebalance up again.".to_owned(),
        }
    }

    /// A join is held. At the moment at which the rebalance begins both are told together.
    fn held(&self, record: &Record, member: MemberId) -> String {
        let cast = self.cast();
        let awaited: Vec<ConsumerId> = self.view.group.awaited().map(|member| cast.member(member)).collect();
        let (names, have) = (consumer_names(cast, &awaited), if awaited.len() == 1 { "has" } else { "have" });
        let begun = self.captions.0.last().filter(|last| last.at == record.at);
        match begun {
            Some(begun) if !awaited.is_empty() => {
                let why = begun.text();
                format!("{} It holds the join until {names} {have} joined.", why.trim_end())
            }
            Some(_) | None if awaited.is_empty() => format!("The join of {} is held.", self.member(member)),
            Some(_) | None => {
                let is = if awaited.len() == 1 { "is" } else { "are" };
                format!("The join of {} is held: {names} {is} still awaited.", self.member(member))
            }
        }
    }

    /// What the coordinator finds of the group; if it has taken over at this moment, after the words that say so.
    fn after_move(&self, record: &Record, finds: &str) -> String {
        let moved =
            self.captions.0.last().filter(|last| {
                last.at == record.at && matches!(self.trace[last.id].fact, Fact::CoordinatorMoved { .. })
            });
        match moved {
            Some(moved) => format!("{} It {finds}", moved.text()),
            None => format!("The coordinator {finds}"),
        }
    }

    fn formed(&self, generation: u32, members: usize) -> String {
        if members == 1 {
            return format!("Nobody else is to be waited for: the coordinator forms generation {generation} at once.");
        }
        format!(
            "All have joined: the coordinator calculates the assignment of generation {generation} and sends it in the answers."
        )
    }

    /// A commit that is refused; one that is accepted is told when it is appended.
    fn refused(&self, verdict: &Verdict) -> Option<String> {
        let who = self.member(verdict.commit.member);
        let why = match verdict.outcome.err()? {
            CommitError::NotCoordinator => "this broker is not the coordinator".to_owned(),
            CommitError::UnknownMember => format!("{who} is not a member of the group"),
            CommitError::IllegalGeneration => format!(
                "it carries generation {}, and {} is in force",
                verdict.commit.generation.number,
                verdict.current.unwrap_or_default().number
            ),
            CommitError::PartitionNotOwned => format!("{who} does not own every partition it names"),
        };
        Some(format!("The commit of {who} is refused: {why}."))
    }
}

/// How much a fact matters among those of its moment.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum News {
    /// Heartbeats that change nothing.
    Quiet,
    /// A step on the way to something else.
    Small,
    /// Something that a node does or learns.
    Plain,
    /// What the rest follows from, or leads to.
    Turn,
}

fn news(fact: &Fact) -> News {
    if let Fact::Sent { arrives: Time::MAX, .. } = fact {
        return News::Plain;
    }
    if let Fact::Sent { message, .. } = fact {
        return match message {
            Message::Request(Request::Heartbeat { .. }) | Message::Response(Response::Heartbeat(Ok(()))) => News::Quiet,
            Message::Request(Request::Join(_)) => News::Plain,
            Message::Request(_) | Message::Response(_) => News::Small,
        };
    }
    let is_turn = matches!(
        fact,
        Fact::ProcessCrashed { .. }
            | Fact::ProcessPaused { .. }
            | Fact::ProcessResumed { .. }
            | Fact::CoordinatorMoved { .. }
            | Fact::CoordinatorResigned { .. }
            | Fact::GroupRecovered { .. }
            | Fact::GroupStateLost { .. }
            | Fact::RebalanceStarted { .. }
            | Fact::ChannelClosed { .. }
            | Fact::JoinHeld { .. }
            | Fact::RebalanceRetried { .. }
            | Fact::AssignmentComputed { .. }
            | Fact::FetchStarted { .. }
            | Fact::FetchStopped { .. }
            | Fact::CallbackStarted { .. }
            | Fact::CommitChecked { .. }
            | Fact::ConsumerThrew { .. }
    );
    if is_turn { News::Turn } else { News::Plain }
}

/// The chip of a caption: the rule that says most.
fn rule(rules: Rules) -> Option<String> {
    let marks = super::story::marks(rules);
    (!marks.is_empty()).then(|| rules_label(marks))
}

/// Splits words at their backticks.
fn segments(words: &str) -> Vec<Segment> {
    let parts = words.split('`').enumerate();
    let segment = |(position, part): (usize, &str)| {
        if position.is_multiple_of(2) { Segment::Text(part.to_owned()) } else { Segment::Code(part.to_owned()) }
    };
    parts.map(segment).filter(|segment| *segment != Segment::Text(String::new())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::Rule;

    #[test]
    fn code_stands_between_backticks() {
        let expected = [
            Segment::Text("it called ".to_owned()),
            Segment::Code("onPartitionAssigned()".to_owned()),
            Segment::Text(" and went on".to_owned()),
        ];
        assert_eq!(segments("it called `onPartitionAssigned()` and went on"), expected);
    }

    #[test]
    fn conditions_of_a_commit_are_one_chip() {
        assert_eq!(rule(Rules::of(&[Rule::OC1, Rule::OC2, Rule::OC3])).as_deref(), Some("OC1–3"));
        assert_eq!(rule(Rules::of(&[Rule::JG1, Rule::EC1])).as_deref(), Some("EC1"));
        assert_eq!(rule(Rules::NONE), None);
    }
}
