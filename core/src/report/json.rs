//! A trace as JSON lines: one object an event, for programs.

use std::borrow::Cow;
use std::fmt::{self, Write as _};

use serde::Serialize;

use crate::cast::{Cast, broker_name};
use crate::error::CommitError;
use crate::id::{Generation, MemberId, NodeId, Offset, Partition, RecordId, TopicId};
use crate::message::{Message, NamedStrategy, Request, Response};
use crate::offsets::Verdict;
use crate::scenario::AssignmentStrategy;
use crate::time::Time;
use crate::trace::{
    ChannelEnd, CoordinatorFailure, DropReason, Fact, Formed, RebalanceReason, Record, RemovalReason, Trace,
};

/// The name of a member.
type Name<'a> = Cow<'a, str>;

/// A trace as JSON, one object a line, each ended by a newline. See [`json_line`] for the object.
#[derive(Clone, Copy, Debug)]
pub struct JsonLines<'a> {
    trace: &'a Trace,
}

impl<'a> JsonLines<'a> {
    /// The JSON lines of a trace.
    #[must_use]
    pub const fn of(trace: &'a Trace) -> Self {
        Self { trace }
    }
}

impl fmt::Display for JsonLines<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (id, record) in self.trace.iter() {
            f.write_str(&line(self.trace, id, record))?;
            f.write_char('\n')?;
        }
        Ok(())
    }
}

/// The JSON lines of a trace as one string.
#[must_use]
pub fn json_lines(trace: &Trace) -> String {
    JsonLines::of(trace).to_string()
}

/// One event as a JSON object without its newline; empty if the trace has not come to `id`.
///
/// Every object has `id` (its place in the trace, from 0), `at` (microseconds), `node` (a name such as `C1` or `B1`,
/// or null where the event is the run's), `rules` (rule ids), `cause` (the id of the event that brought it about, or
/// null) and `fact` (a word such as `sent`, `received`, `callback-started`), and then what belongs to that fact.
/// Times and spans are whole microseconds; nodes, members and topics go by name, errors by Kafka's name; a partition
/// is `{"topic", "partition"}`, with an `offset` where it has one. A message received or dropped is named by the id
/// of the event that sent it, `sent`.
#[must_use]
pub fn json_line(trace: &Trace, id: RecordId) -> String {
    trace.get(id).map_or_else(String::new, |record| line(trace, id, record))
}

fn line(trace: &Trace, id: RecordId, record: &Record) -> String {
    let names = Names { cast: trace.cast() };
    let line = Line {
        id,
        at: record.at.as_micros(),
        node: record.fact.node().map(|node| names.node(node)),
        rules: record.rules.iter().map(|rule| rule.id()).collect(),
        cause: record.cause.map(|cause| cause.id()),
        fact: names.fact(&record.fact),
    };
    // Plain structs with text for keys: nothing in them can fail to serialise.
    serde_json::to_string(&line).unwrap_or_default()
}

#[derive(Serialize)]
struct Line<'a> {
    id: RecordId,
    at: u64,
    node: Option<String>,
    rules: Vec<&'static str>,
    cause: Option<RecordId>,
    #[serde(flatten)]
    fact: FactLine<'a>,
}

/// A [`Fact`] with names for ids, without the node that it is counted to.
#[derive(Serialize)]
#[serde(tag = "fact", rename_all = "kebab-case")]
enum FactLine<'a> {
    ProcessStarted,
    ProcessCrashed,
    ProcessClosed,
    ProcessPaused,
    ProcessResumed,
    LinkCut {
        broker: String,
    },
    LinkHealed {
        broker: String,
    },
    PartitionsAdded {
        topic: &'a str,
        count: u32,
    },
    CommandIgnored {
        reason: &'static str,
    },
    LimitReached,
    ChannelOpening {
        connection: u32,
        broker: String,
    },
    ChannelOpened {
        connection: u32,
        broker: String,
    },
    ChannelClosed {
        connection: u32,
        peer: String,
        why: &'static str,
    },
    Sent(Sent<'a>),
    Received {
        sent: RecordId,
    },
    Dropped {
        sent: RecordId,
    },
    Subscribed {
        topics: Vec<&'a str>,
    },
    CoordinatorFound {
        broker: String,
    },
    CoordinatorFailed {
        broker: String,
        why: &'static str,
    },
    TopicChangeSeen {
        topic: &'a str,
        count: u32,
    },
    GenerationRecorded {
        generation: Generation,
    },
    CallbackStarted {
        callback: &'static str,
        partitions: Vec<PartitionName<'a>>,
        takes: u64,
    },
    CallbackReturned {
        callback: &'static str,
    },
    FetchStarted {
        partitions: Vec<PartitionOffset<'a>>,
    },
    FetchStopped {
        partitions: Vec<PartitionOffset<'a>>,
    },
    ProcessingStarted {
        takes: u64,
    },
    ProcessingEnded,
    ResumeExpired,
    ConsumerThrew {
        error: &'static str,
    },
    OffsetsDropped {
        partitions: Vec<PartitionOffset<'a>>,
        why: &'static str,
    },
    MemberAdded {
        member: Name<'a>,
    },
    MemberRemoved {
        member: Name<'a>,
        why: &'static str,
    },
    RebalanceStarted(Rebalance<'a>),
    JoinHeld {
        member: Name<'a>,
        awaited: u32,
    },
    RebalanceRetried {
        missing: Name<'a>,
    },
    AssignmentComputed {
        generation: Generation,
        members: Vec<MemberLine<'a>>,
        counts: Vec<TopicCount<'a>>,
    },
    GroupForgotten,
    GroupRecovered {
        generation: Generation,
        members: u32,
    },
    GroupStateLost,
    CoordinatorMoved {
        from: String,
        epoch: u16,
    },
    CoordinatorResigned {
        epoch: u16,
    },
    CoordinatorLearned {
        coordinator: String,
    },
    CommitChecked(Checked<'a>),
    OffsetsAppended {
        #[serde(skip_serializing_if = "Option::is_none")]
        member: Option<Name<'a>>,
        partitions: Vec<PartitionOffset<'a>>,
        backwards: u32,
    },
}

#[derive(Serialize)]
struct Sent<'a> {
    from: String,
    to: String,
    connection: u32,
    /// When it arrives; null if it is lost.
    arrives: Option<u64>,
    lost: bool,
    /// For an answer, the event of the request that it answers.
    answers: Option<RecordId>,
    message: &'static str,
    kind: &'static str,
    #[serde(flatten)]
    body: Body<'a>,
}

/// What a message says. An answer always has an `error`, null where it is good.
#[derive(Serialize)]
#[serde(untagged)]
enum Body<'a> {
    MetadataRequest {
        topics: Vec<&'a str>,
    },
    JoinRequest {
        member: Name<'a>,
        session_timeout: u64,
        topics: Vec<&'a str>,
        #[serde(skip_serializing_if = "Option::is_none")]
        strategy: Option<&'static str>,
    },
    HeartbeatRequest {
        member: Name<'a>,
        generation: Generation,
    },
    CommitRequest {
        #[serde(skip_serializing_if = "Option::is_none")]
        member: Option<Name<'a>>,
        #[serde(skip_serializing_if = "Option::is_none")]
        generation: Option<Generation>,
        partitions: Vec<PartitionOffset<'a>>,
    },
    MetadataAnswer {
        error: Option<&'static str>,
        brokers: Vec<String>,
        counts: Vec<TopicCount<'a>>,
        coordinator: Option<String>,
    },
    JoinAnswer {
        error: Option<&'static str>,
        /// The id by which the group knows the consumer from now on, where the coordinator gives out ids.
        #[serde(skip_serializing_if = "Option::is_none")]
        given: Option<Name<'a>>,
        generation: Generation,
        partitions: Vec<PartitionOffset<'a>>,
        counts: Vec<TopicCount<'a>>,
    },
    LeaveRequest {
        member: Name<'a>,
    },
    Answer {
        error: Option<&'static str>,
    },
}

#[derive(Serialize)]
struct PartitionName<'a> {
    topic: &'a str,
    partition: u32,
}

#[derive(Serialize)]
struct PartitionOffset<'a> {
    topic: &'a str,
    partition: u32,
    offset: u64,
}

#[derive(Serialize)]
struct PartitionOwner<'a> {
    topic: &'a str,
    partition: u32,
    owner: Option<Name<'a>>,
}

#[derive(Serialize)]
struct TopicCount<'a> {
    topic: &'a str,
    count: u32,
}

/// A member of a generation as it was formed.
#[derive(Serialize)]
struct MemberLine<'a> {
    member: Name<'a>,
    topics: Vec<&'a str>,
    partitions: Vec<PartitionName<'a>>,
}

/// Why a rebalance begins, with the member or topic that it is about.
#[derive(Serialize)]
#[serde(tag = "why", rename_all = "kebab-case")]
enum Rebalance<'a> {
    NewMember { member: Name<'a> },
    SubscriptionChanged { member: Name<'a> },
    Rejoined { member: Name<'a> },
    MemberFailed { member: Name<'a> },
    PartitionsChanged { topic: &'a str },
    MemberLeft { member: Name<'a> },
    Reopened,
}

/// A commit against the three conditions, with the values compared.
#[derive(Serialize)]
struct Checked<'a> {
    member: Name<'a>,
    error: Option<&'static str>,
    /// OC1.
    is_member: bool,
    /// OC2.
    owns_all: bool,
    partitions: Vec<PartitionOwner<'a>>,
    /// OC3.
    is_current: bool,
    generation: Generation,
    current: Option<Generation>,
}

/// Gives ids their names.
#[derive(Clone, Copy)]
struct Names<'a> {
    cast: &'a Cast,
}

impl<'a> Names<'a> {
    /// The one table from facts to lines.
    fn fact(self, fact: &'a Fact) -> FactLine<'a> {
        match fact {
            Fact::ProcessStarted { .. } => FactLine::ProcessStarted,
            Fact::ProcessCrashed { .. } => FactLine::ProcessCrashed,
            Fact::ProcessClosed { .. } => FactLine::ProcessClosed,
            Fact::ProcessPaused { .. } => FactLine::ProcessPaused,
            Fact::ProcessResumed { .. } => FactLine::ProcessResumed,
            Fact::LinkCut { broker, .. } => FactLine::LinkCut { broker: broker_name(*broker) },
            Fact::LinkHealed { broker, .. } => FactLine::LinkHealed { broker: broker_name(*broker) },
            Fact::PartitionsAdded { topic, count } => {
                FactLine::PartitionsAdded { topic: self.topic(*topic), count: *count }
            }
            Fact::CommandIgnored { reason, .. } => FactLine::CommandIgnored { reason },
            Fact::LimitReached => FactLine::LimitReached,
            Fact::ChannelOpening { connection, broker, .. } => {
                FactLine::ChannelOpening { connection: connection.0, broker: broker_name(*broker) }
            }
            Fact::ChannelOpened { connection, broker, .. } => {
                FactLine::ChannelOpened { connection: connection.0, broker: broker_name(*broker) }
            }
            Fact::ChannelClosed { connection, peer, why, .. } => {
                FactLine::ChannelClosed { connection: connection.0, peer: self.node(*peer), why: channel_end(*why) }
            }
            Fact::Sent { from, to, connection, arrives, answers, message } => FactLine::Sent(Sent {
                from: self.node(*from),
                to: self.node(*to),
                connection: connection.0,
                arrives: (*arrives != Time::MAX).then_some(arrives.as_micros()),
                lost: *arrives == Time::MAX,
                answers: answers.map(|request| request.id()),
                message: message.kind().word(),
                kind: direction(message),
                body: self.body(message),
            }),
            Fact::Received { sent, .. } => FactLine::Received { sent: *sent },
            Fact::Dropped { sent, .. } => FactLine::Dropped { sent: *sent },
            Fact::Subscribed { topics, .. } => FactLine::Subscribed { topics: self.topics(topics) },
            Fact::CoordinatorFound { broker, .. } => FactLine::CoordinatorFound { broker: broker_name(*broker) },
            Fact::CoordinatorFailed { broker, why, .. } => {
                FactLine::CoordinatorFailed { broker: broker_name(*broker), why: coordinator_failure(*why) }
            }
            Fact::TopicChangeSeen { topic, count, .. } => {
                FactLine::TopicChangeSeen { topic: self.topic(*topic), count: *count }
            }
            Fact::GenerationRecorded { generation, .. } => FactLine::GenerationRecorded { generation: *generation },
            Fact::CallbackStarted { callback, partitions, takes, .. } => FactLine::CallbackStarted {
                callback: callback.name(),
                partitions: self.partitions(partitions),
                takes: takes.as_micros(),
            },
            Fact::CallbackReturned { callback, .. } => FactLine::CallbackReturned { callback: callback.name() },
            Fact::FetchStarted { from, .. } => FactLine::FetchStarted { partitions: self.offsets(from) },
            Fact::FetchStopped { at, .. } => FactLine::FetchStopped { partitions: self.offsets(at) },
            Fact::ProcessingStarted { takes, .. } => FactLine::ProcessingStarted { takes: takes.as_micros() },
            Fact::ProcessingEnded { .. } => FactLine::ProcessingEnded,
            Fact::ResumeExpired { .. } => FactLine::ResumeExpired,
            Fact::ConsumerThrew { error, .. } => FactLine::ConsumerThrew { error: error.name() },
            Fact::OffsetsDropped { offsets, why, .. } => {
                FactLine::OffsetsDropped { partitions: self.offsets(offsets), why: drop_reason(*why) }
            }
            Fact::MemberAdded { member, .. } => FactLine::MemberAdded { member: self.member(*member) },
            Fact::MemberRemoved { member, why, .. } => {
                FactLine::MemberRemoved { member: self.member(*member), why: removal(*why) }
            }
            Fact::RebalanceStarted { why, .. } => FactLine::RebalanceStarted(self.rebalance(*why)),
            Fact::JoinHeld { member, awaited, .. } => {
                FactLine::JoinHeld { member: self.member(*member), awaited: *awaited }
            }
            Fact::RebalanceRetried { missing, .. } => FactLine::RebalanceRetried { missing: self.member(*missing) },
            Fact::AssignmentComputed { formed, .. } => FactLine::AssignmentComputed {
                generation: formed.generation,
                members: self.members(formed),
                counts: self.counts(&formed.counts),
            },
            Fact::GroupForgotten { .. } => FactLine::GroupForgotten,
            Fact::GroupRecovered { generation, members, .. } => {
                FactLine::GroupRecovered { generation: *generation, members: *members }
            }
            Fact::GroupStateLost { .. } => FactLine::GroupStateLost,
            Fact::CoordinatorMoved { from, epoch, .. } => {
                FactLine::CoordinatorMoved { from: broker_name(*from), epoch: epoch.0 }
            }
            Fact::CoordinatorResigned { epoch, .. } => FactLine::CoordinatorResigned { epoch: epoch.0 },
            Fact::CoordinatorLearned { coordinator, .. } => {
                FactLine::CoordinatorLearned { coordinator: broker_name(*coordinator) }
            }
            Fact::CommitChecked { verdict, .. } => FactLine::CommitChecked(self.checked(verdict)),
            Fact::OffsetsAppended { member, offsets, backwards, .. } => FactLine::OffsetsAppended {
                member: member.map(|member| self.member(member)),
                partitions: self.offsets(offsets),
                backwards: *backwards,
            },
        }
    }

    fn body(self, message: &'a Message) -> Body<'a> {
        match message {
            Message::Request(request) => self.request(request),
            Message::Response(response) => self.response(response),
        }
    }

    fn request(self, request: &'a Request) -> Body<'a> {
        match request {
            Request::Metadata { topics } => Body::MetadataRequest { topics: self.topics(topics) },
            Request::Join(join) => Body::JoinRequest {
                member: self.member(join.member),
                session_timeout: join.session_timeout.as_micros(),
                topics: self.topics(&join.topics),
                strategy: join.strategy.map(strategy),
            },
            Request::Heartbeat { member, generation } => {
                Body::HeartbeatRequest { member: self.member(*member), generation: *generation }
            }
            Request::Commit(commit) => Body::CommitRequest {
                member: Some(self.member(commit.member)),
                generation: Some(commit.generation),
                partitions: self.offsets(&commit.offsets),
            },
            Request::SimpleCommit { offsets } => {
                Body::CommitRequest { member: None, generation: None, partitions: self.offsets(offsets) }
            }
            Request::Leave { member } => Body::LeaveRequest { member: self.member(*member) },
        }
    }

    fn response(self, response: &'a Response) -> Body<'a> {
        match response {
            Response::Metadata(metadata) => Body::MetadataAnswer {
                error: metadata.coordinator.is_none().then_some("CoordinatorNotAvailable"),
                brokers: metadata.brokers.iter().copied().map(broker_name).collect(),
                counts: self.counts(&metadata.topics),
                coordinator: metadata.coordinator.map(broker_name),
            },
            Response::Join(Ok(joined)) => Body::JoinAnswer {
                error: None,
                given: joined.given.map(|member| self.member(member)),
                generation: joined.generation,
                partitions: self.offsets(&joined.assignment),
                counts: self.counts(&joined.counts),
            },
            Response::Join(Err(error)) => Body::Answer { error: Some(error.name()) },
            Response::Heartbeat(outcome) => Body::Answer { error: outcome.err().map(|error| error.name()) },
            Response::Commit(outcome) => Body::Answer { error: outcome.err().map(|error| error.name()) },
            Response::Leave(outcome) => Body::Answer { error: outcome.err().map(|error| error.name()) },
        }
    }

    fn members(self, formed: &'a Formed) -> Vec<MemberLine<'a>> {
        let each = formed.assignment.iter().zip(&formed.subscriptions);
        each.map(|((member, partitions), (_, topics))| MemberLine {
            member: self.member(*member),
            topics: self.topics(topics),
            partitions: self.partitions(partitions),
        })
        .collect()
    }

    fn rebalance(self, why: RebalanceReason) -> Rebalance<'a> {
        match why {
            RebalanceReason::NewMember(member) => Rebalance::NewMember { member: self.member(member) },
            RebalanceReason::SubscriptionChanged(member) => {
                Rebalance::SubscriptionChanged { member: self.member(member) }
            }
            RebalanceReason::Rejoined(member) => Rebalance::Rejoined { member: self.member(member) },
            RebalanceReason::MemberFailed(member) => Rebalance::MemberFailed { member: self.member(member) },
            RebalanceReason::MemberLeft(member) => Rebalance::MemberLeft { member: self.member(member) },
            RebalanceReason::PartitionsChanged(topic) => Rebalance::PartitionsChanged { topic: self.topic(topic) },
            RebalanceReason::Reopened => Rebalance::Reopened,
        }
    }

    fn checked(self, verdict: &'a Verdict) -> Checked<'a> {
        let owners = verdict.partitions.iter().map(|(partition, owner)| PartitionOwner {
            topic: self.topic(partition.topic),
            partition: partition.index,
            owner: owner.map(|member| self.member(member)),
        });
        Checked {
            member: self.member(verdict.commit.member),
            error: verdict.outcome.err().map(CommitError::name),
            is_member: verdict.is_member,
            owns_all: verdict.owns_all(),
            partitions: owners.collect(),
            is_current: verdict.is_current(),
            generation: verdict.commit.generation,
            current: verdict.current,
        }
    }

    fn node(self, node: NodeId) -> String {
        self.cast.node(node)
    }

    fn member(self, member: MemberId) -> Name<'a> {
        self.cast.member_name(member)
    }

    fn topic(self, topic: TopicId) -> &'a str {
        self.cast.topic(topic)
    }

    fn topics(self, topics: &[TopicId]) -> Vec<&'a str> {
        topics.iter().map(|topic| self.topic(*topic)).collect()
    }

    fn counts(self, counts: &[(TopicId, u32)]) -> Vec<TopicCount<'a>> {
        counts.iter().map(|(topic, count)| TopicCount { topic: self.topic(*topic), count: *count }).collect()
    }

    fn partitions(self, partitions: &[Partition]) -> Vec<PartitionName<'a>> {
        let named = partitions
            .iter()
            .map(|partition| PartitionName { topic: self.topic(partition.topic), partition: partition.index });
        named.collect()
    }

    fn offsets(self, offsets: &[(Partition, Offset)]) -> Vec<PartitionOffset<'a>> {
        let named = offsets.iter().map(|(partition, offset)| PartitionOffset {
            topic: self.topic(partition.topic),
            partition: partition.index,
            offset: offset.0,
        });
        named.collect()
    }
}

const fn direction(message: &Message) -> &'static str {
    match message {
        Message::Request(_) => "request",
        Message::Response(_) => "response",
    }
}

/// A strategy as Kafka names it.
const fn strategy(strategy: NamedStrategy) -> &'static str {
    match strategy {
        NamedStrategy::Known(AssignmentStrategy::Range) => "range",
        NamedStrategy::Known(AssignmentStrategy::RoundRobin) => "roundrobin",
        NamedStrategy::Unknown => "unknown",
    }
}

const fn channel_end(why: ChannelEnd) -> &'static str {
    match why {
        ChannelEnd::ByThisEnd => "by-this-end",
        ChannelEnd::ByPeer => "by-peer",
        ChannelEnd::Reset => "reset",
        ChannelEnd::Refused => "refused",
    }
}

const fn coordinator_failure(why: CoordinatorFailure) -> &'static str {
    match why {
        CoordinatorFailure::NoAnswer => "no-answer",
        CoordinatorFailure::ChannelClosed => "channel-closed",
        CoordinatorFailure::JoinTimeout => "join-timeout",
        CoordinatorFailure::RequestTimeout => "request-timeout",
        CoordinatorFailure::NotCoordinator => "not-coordinator",
    }
}

const fn drop_reason(why: DropReason) -> &'static str {
    match why {
        DropReason::NoLongerOwned => "no-longer-owned",
        DropReason::RefusedAgain => "refused-again",
        DropReason::NoAnswer => "no-answer",
        DropReason::Stopped => "stopped",
    }
}

const fn removal(why: RemovalReason) -> &'static str {
    match why {
        RemovalReason::SessionExpired => "session-expired",
        RemovalReason::JoinMissing => "join-missing",
        RemovalReason::Left => "left",
        RemovalReason::NeverNamed => "never-named",
    }
}
