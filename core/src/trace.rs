//! What happened in a run: an append-only list of records, each a fact with its time, its cause and the rules that it
//! carries out. Everything that is shown or measured is a query on it.

use std::sync::Arc;

use crate::cast::Cast;
use crate::error::JoinError;
use crate::id::{
    BrokerId, ConnectionId, ConsumerId, Epoch, Generation, MemberId, NodeId, Partition, RecordId, TopicId,
};
use crate::message::{Message, Offsets, PartitionCounts, Topics};
use crate::offsets::Verdict;
use crate::rules::Rules;
use crate::time::{Span, Time};

/// One record of a trace.
#[derive(Clone, PartialEq, Debug)]
pub struct Record {
    /// When it happened.
    pub at: Time,
    /// What happened.
    pub fact: Fact,
    /// The record that brought it about: for a message received the one that sent it, for what a node did the input
    /// it was handling, for what a timer did the record during which the timer was set. `None` at the roots.
    pub cause: Option<Cause>,
    /// The rules that it carries out.
    pub rules: Rules,
}

/// The id of a causing record, in four bytes with room for "none".
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Cause(std::num::NonZeroU32);

impl std::fmt::Debug for Cause {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "#{}", self.id().0)
    }
}

impl Cause {
    /// The record with this id.
    #[must_use]
    pub const fn new(id: RecordId) -> Self {
        Self(std::num::NonZeroU32::MIN.saturating_add(id.0))
    }

    /// Its id.
    #[must_use]
    pub const fn id(self) -> RecordId {
        RecordId(self.0.get() - 1)
    }
}

/// What happened.
#[derive(Clone, PartialEq, Debug)]
pub enum Fact {
    // --- processes and the network ---
    /// A process started, or started again.
    ProcessStarted {
        /// Whose.
        node: NodeId,
    },
    /// A process ended without warning; its channels close one latency later.
    ProcessCrashed {
        /// Whose.
        node: NodeId,
    },
    /// The application closed its consumer: the process ended in good order, and told nobody (decision 17, silent).
    ProcessClosed {
        /// Whose.
        consumer: ConsumerId,
    },
    /// A process stands still: it neither receives nor acts until it resumes. Nothing is closed.
    ProcessPaused {
        /// Whose.
        node: NodeId,
    },
    /// A paused process goes on: first with the messages that waited, then with the timers that are overdue.
    ProcessResumed {
        /// Whose.
        node: NodeId,
    },
    /// What this consumer and this broker send to each other from now on is lost; nothing is closed. What is on its way
    /// already arrives.
    LinkCut {
        /// One end.
        consumer: ConsumerId,
        /// The other.
        broker: BrokerId,
    },
    /// The link works again.
    LinkHealed {
        /// One end.
        consumer: ConsumerId,
        /// The other.
        broker: BrokerId,
    },
    /// Partitions were added to a topic.
    PartitionsAdded {
        /// The topic.
        topic: TopicId,
        /// How many it has now.
        count: u32,
    },
    /// A command did not apply to the state that it met, and did nothing.
    CommandIgnored {
        /// Whom it was for.
        node: NodeId,
        /// Why.
        reason: &'static str,
    },
    /// The run reached its limit of records and stopped here.
    LimitReached,
    /// A consumer opens a channel.
    ChannelOpening {
        /// Its identity.
        connection: ConnectionId,
        /// Who opens it.
        consumer: ConsumerId,
        /// To whom.
        broker: BrokerId,
    },
    /// The consumer learns that its channel is open.
    ChannelOpened {
        /// Which.
        connection: ConnectionId,
        /// Whose.
        consumer: ConsumerId,
        /// To whom.
        broker: BrokerId,
    },
    /// One end of a channel learns that it is closed, or that it could not be opened.
    ChannelClosed {
        /// Which.
        connection: ConnectionId,
        /// The end that learns it.
        node: NodeId,
        /// The other end.
        peer: NodeId,
        /// How it comes to be closed.
        why: ChannelEnd,
    },
    /// A message was sent; it will arrive, or is lost on its way.
    Sent {
        /// By whom.
        from: NodeId,
        /// To whom.
        to: NodeId,
        /// On which channel.
        connection: ConnectionId,
        /// When it arrives at the other end; [`Time::MAX`] if it is lost.
        arrives: Time,
        /// For an answer, the record of the request that it answers.
        answers: Option<Cause>,
        /// What it says.
        message: Message,
    },
    /// A message was taken by the process it was sent to. (A paused or busy process takes it after it arrived.)
    Received {
        /// By whom.
        node: NodeId,
        /// The record that sent it.
        sent: RecordId,
    },
    /// A message arrived on a channel that is closed, or for a process that is gone, and was dropped.
    Dropped {
        /// For whom it was.
        node: NodeId,
        /// The record that sent it.
        sent: RecordId,
    },

    // --- the consumer ---
    /// The subscription is now this (ST1).
    Subscribed {
        /// Whose.
        consumer: ConsumerId,
        /// The topics, in their order.
        topics: Topics,
    },
    /// The consumer has learned which broker is the coordinator (ST2).
    CoordinatorFound {
        /// Who learned it.
        consumer: ConsumerId,
        /// The coordinator.
        broker: BrokerId,
    },
    /// The consumer treats the coordinator as failed (HB4, HB5).
    CoordinatorFailed {
        /// Who does.
        consumer: ConsumerId,
        /// The broker it took for the coordinator.
        broker: BrokerId,
        /// Why.
        why: CoordinatorFailure,
    },
    /// The consumer notices by metadata that a subscribed topic has more partitions than its assignment knew (JG3).
    TopicChangeSeen {
        /// Who notices.
        consumer: ConsumerId,
        /// Which topic.
        topic: TopicId,
        /// How many partitions it has.
        count: u32,
    },
    /// The consumer recorded the generation of its join's answer (EC5).
    GenerationRecorded {
        /// Whose.
        consumer: ConsumerId,
        /// Which.
        generation: Generation,
    },
    /// A callback into the application begins; the consumer's only thread is in it until it returns (AR2).
    CallbackStarted {
        /// Whose.
        consumer: ConsumerId,
        /// Which.
        callback: Callback,
        /// The partitions that it is about.
        partitions: Arc<[Partition]>,
        /// How long it will take.
        takes: Span,
    },
    /// The callback returned.
    CallbackReturned {
        /// Whose.
        consumer: ConsumerId,
        /// Which.
        callback: Callback,
    },
    /// The consumer starts fetching (EC5).
    FetchStarted {
        /// Who.
        consumer: ConsumerId,
        /// From where in which partitions.
        from: Offsets,
    },
    /// The consumer stops fetching (EC1).
    FetchStopped {
        /// Who.
        consumer: ConsumerId,
        /// Where it stands in its partitions.
        at: Offsets,
    },
    /// The application keeps the consumer's only thread: no heartbeat, no answer read (AR2).
    ProcessingStarted {
        /// Whose.
        consumer: ConsumerId,
        /// For how long.
        takes: Span,
    },
    /// The thread is free again.
    ProcessingEnded {
        /// Whose.
        consumer: ConsumerId,
    },
    /// A resuming consumer has not reached a coordinator within its session timeout, and gives its partitions up
    /// (decision 1).
    ResumeExpired {
        /// Who.
        consumer: ConsumerId,
    },
    /// The consumer threw a fatal error to the application and stopped (EC6).
    ConsumerThrew {
        /// Who.
        consumer: ConsumerId,
        /// What.
        error: JoinError,
    },
    /// Offsets that were to be committed again are no longer the consumer's to commit, or were refused twice: dropped,
    /// and reported to the application (OC5).
    OffsetsDropped {
        /// Whose.
        consumer: ConsumerId,
        /// Which.
        offsets: Offsets,
        /// Why.
        why: DropReason,
    },

    // --- the coordinator ---
    /// A consumer became a member of the group.
    MemberAdded {
        /// Where.
        broker: BrokerId,
        /// Who.
        member: MemberId,
    },
    /// A member was removed from the group.
    MemberRemoved {
        /// Where.
        broker: BrokerId,
        /// Who.
        member: MemberId,
        /// Why.
        why: RemovalReason,
    },
    /// A rebalance begins (RB1 to RB3, JG2).
    RebalanceStarted {
        /// Where.
        broker: BrokerId,
        /// Why.
        why: RebalanceReason,
    },
    /// A member's join is held until all have joined (EC2).
    JoinHeld {
        /// Where.
        broker: BrokerId,
        /// Whose.
        member: MemberId,
        /// How many members are still awaited.
        awaited: u32,
    },
    /// A member missed its deadline: the rebalance starts again, and the held joins are answered "retry" (EC4).
    RebalanceRetried {
        /// Where.
        broker: BrokerId,
        /// Who was missing.
        missing: MemberId,
    },
    /// The new generation and its assignment (EC3).
    AssignmentComputed {
        /// Where.
        broker: BrokerId,
        /// What.
        formed: Arc<Formed>,
    },
    /// The group lost its last member and is forgotten (decision 20).
    GroupForgotten {
        /// Where.
        broker: BrokerId,
    },
    /// A broker that returned from a crash took up the group's state as it was written (decision 2).
    GroupRecovered {
        /// Where.
        broker: BrokerId,
        /// The generation in force.
        generation: Generation,
        /// How many members it has.
        members: u32,
    },
    /// A broker that returned from a crash knows nothing of the group any more (decision 2, lost).
    GroupStateLost {
        /// Where.
        broker: BrokerId,
    },
    /// The role of coordinator moved (decision 10).
    CoordinatorMoved {
        /// The broker that holds it now.
        broker: BrokerId,
        /// The broker that held it.
        from: BrokerId,
        /// The epoch that begins.
        epoch: Epoch,
    },
    /// A coordinator of an older epoch found that the role has moved on: a write of its was refused, or it learned of
    /// the move (decision 10).
    CoordinatorResigned {
        /// Where.
        broker: BrokerId,
        /// Its epoch.
        epoch: Epoch,
    },
    /// A broker learned who is coordinator (decision 10).
    CoordinatorLearned {
        /// Who learned it.
        broker: BrokerId,
        /// The coordinator.
        coordinator: BrokerId,
    },
    /// A commit was checked against the three conditions (OC1 to OC3).
    CommitChecked {
        /// Where.
        broker: BrokerId,
        /// The outcome, with the values compared.
        verdict: Arc<Verdict>,
    },
    /// The offsets of an accepted commit were appended to the log (OC4).
    OffsetsAppended {
        /// Where.
        broker: BrokerId,
        /// Whose; `None` for a commit of no member (decision 24).
        member: Option<MemberId>,
        /// What.
        offsets: Offsets,
        /// Partitions whose committed offset went back: possible only for a commit by hand (invariant 4).
        backwards: u32,
    },
}

/// A generation as it was formed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Formed {
    /// Its identity.
    pub generation: Generation,
    /// For each member, in member order, its partitions.
    pub assignment: Vec<(MemberId, Arc<[Partition]>)>,
    /// For each member, in member order, its subscription.
    pub subscriptions: Vec<(MemberId, Topics)>,
    /// The partition counts it was computed from.
    pub counts: PartitionCounts,
}

/// How a channel comes to be closed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ChannelEnd {
    /// This end closed it.
    ByThisEnd,
    /// The other end closed it, in good order or because its process ended.
    ByPeer,
    /// The other end knows no such channel: a message on it was answered by a reset.
    Reset,
    /// Nobody listens at the other end.
    Refused,
}

/// Why a consumer treats the coordinator as failed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CoordinatorFailure {
    /// HB4: no answer for two thirds of the session timeout.
    NoAnswer,
    /// HB5: the channel is closed.
    ChannelClosed,
    /// Decision 6: the answer to a join did not come within the join timeout.
    JoinTimeout,
    /// Decision 10: a commit or metadata request on its channel went unanswered for the request timeout.
    RequestTimeout,
    /// Decision 10: it answered that it is not the coordinator.
    NotCoordinator,
}

/// A callback into the application.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Callback {
    /// `onPartitionAssigned()`.
    Assigned,
    /// `onPartitionDeassigned()`.
    Deassigned,
}

impl Callback {
    /// Its name as the document writes it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Assigned => "onPartitionAssigned",
            Self::Deassigned => "onPartitionDeassigned",
        }
    }
}

/// Why offsets were dropped instead of committed (OC5).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DropReason {
    /// The consumer no longer owns the partitions.
    NoLongerOwned,
    /// The one retry was refused as well.
    RefusedAgain,
    /// No answer came: the channel closed or the request timed out.
    NoAnswer,
    /// The consumer stopped before the retry.
    Stopped,
}

/// Why a member was removed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RemovalReason {
    /// HB3: not heard from for its session timeout.
    SessionExpired,
    /// EC4: its join did not come within its session timeout.
    JoinMissing,
    /// Decision 17: it said that it leaves.
    Left,
    /// Decision 16: its join was answered "retry" before its consumer had learned the id given to it. The consumer comes
    /// back under another, and nobody goes by this one.
    NeverNamed,
}

/// Why a rebalance begins.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RebalanceReason {
    /// RB2: a join came from a consumer that the group did not know.
    NewMember(MemberId),
    /// RB2: a known member joined with another subscription.
    SubscriptionChanged(MemberId),
    /// RB2: a known member joined again.
    Rejoined(MemberId),
    /// RB1: a member failed.
    MemberFailed(MemberId),
    /// Decision 17: a member left.
    MemberLeft(MemberId),
    /// RB3: a topic has more partitions than the assignment was computed from.
    PartitionsChanged(TopicId),
    /// Decision 2: the coordinator came back with a rebalance open, and opens it again.
    Reopened,
}

impl Fact {
    /// The node at which it happened; for a message sent the sender, for one received the receiver. A link is counted
    /// to its consumer; `None` for what concerns the run or the cluster as a whole.
    #[must_use]
    pub fn node(&self) -> Option<NodeId> {
        match self {
            Self::ProcessStarted { node }
            | Self::ProcessCrashed { node }
            | Self::ProcessPaused { node }
            | Self::ProcessResumed { node }
            | Self::CommandIgnored { node, .. }
            | Self::ChannelClosed { node, .. }
            | Self::Received { node, .. }
            | Self::Dropped { node, .. } => Some(*node),
            Self::Sent { from, .. } => Some(*from),
            Self::ProcessClosed { consumer }
            | Self::LinkCut { consumer, .. }
            | Self::LinkHealed { consumer, .. }
            | Self::ChannelOpening { consumer, .. }
            | Self::ChannelOpened { consumer, .. }
            | Self::Subscribed { consumer, .. }
            | Self::CoordinatorFound { consumer, .. }
            | Self::CoordinatorFailed { consumer, .. }
            | Self::TopicChangeSeen { consumer, .. }
            | Self::GenerationRecorded { consumer, .. }
            | Self::CallbackStarted { consumer, .. }
            | Self::CallbackReturned { consumer, .. }
            | Self::FetchStarted { consumer, .. }
            | Self::FetchStopped { consumer, .. }
            | Self::ProcessingStarted { consumer, .. }
            | Self::ProcessingEnded { consumer }
            | Self::ResumeExpired { consumer }
            | Self::ConsumerThrew { consumer, .. }
            | Self::OffsetsDropped { consumer, .. } => Some((*consumer).into()),
            Self::MemberAdded { broker, .. }
            | Self::MemberRemoved { broker, .. }
            | Self::RebalanceStarted { broker, .. }
            | Self::JoinHeld { broker, .. }
            | Self::RebalanceRetried { broker, .. }
            | Self::AssignmentComputed { broker, .. }
            | Self::GroupForgotten { broker }
            | Self::GroupRecovered { broker, .. }
            | Self::GroupStateLost { broker }
            | Self::CoordinatorMoved { broker, .. }
            | Self::CoordinatorResigned { broker, .. }
            | Self::CoordinatorLearned { broker, .. }
            | Self::CommitChecked { broker, .. }
            | Self::OffsetsAppended { broker, .. } => Some((*broker).into()),
            Self::PartitionsAdded { .. } | Self::LimitReached => None,
        }
    }

    /// Roughly how many list entries it holds: what a run's size limit counts besides the record itself.
    #[expect(clippy::wildcard_enum_match_arm, reason = "facts without lists weigh nothing")]
    pub(crate) fn weight(&self) -> usize {
        match self {
            Self::AssignmentComputed { formed, .. } => {
                formed.counts.len() + formed.assignment.iter().map(|(_, list)| 1 + list.len()).sum::<usize>()
            }
            Self::FetchStarted { from, .. } => from.len(),
            Self::FetchStopped { at, .. } => at.len(),
            Self::CallbackStarted { partitions, .. } => partitions.len(),
            Self::OffsetsAppended { offsets, .. } | Self::OffsetsDropped { offsets, .. } => offsets.len(),
            Self::CommitChecked { verdict, .. } => verdict.partitions.len(),
            _ => 0,
        }
    }
}

const CHUNK: usize = 1024;

/// The records of a run, in the order in which they happened. Cloning is cheap: full chunks are shared.
#[derive(Clone, Debug)]
pub struct Trace {
    cast: Arc<Cast>,
    chunks: Vec<Arc<Vec<Record>>>,
    len: usize,
}

impl Trace {
    /// An empty trace.
    #[must_use]
    pub fn new(cast: Arc<Cast>) -> Self {
        Self { cast, chunks: Vec::new(), len: 0 }
    }

    /// Who takes part.
    #[must_use]
    pub fn cast(&self) -> &Arc<Cast> {
        &self.cast
    }

    /// How many records there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The record with an id, if the trace has come that far.
    #[must_use]
    pub fn get(&self, id: RecordId) -> Option<&Record> {
        self.chunks.get(id.index() / CHUNK)?.get(id.index() % CHUNK)
    }

    /// The records with their ids, in order.
    pub fn iter(&self) -> impl Iterator<Item = (RecordId, &Record)> + Clone {
        self.from(0)
    }

    /// The records from the one at position `start` on, with their ids.
    pub fn from(&self, start: usize) -> impl Iterator<Item = (RecordId, &Record)> + Clone {
        let first = (start / CHUNK).min(self.chunks.len());
        let records = self.chunks[first..].iter().flat_map(|chunk| chunk.iter()).skip(start - first * CHUNK);
        records.zip(start as u32..).map(|(record, id)| (RecordId(id), record))
    }

    /// How many records happened at or before `time`.
    #[must_use]
    pub fn count_until(&self, time: Time) -> usize {
        let chunk = self.chunks.partition_point(|chunk| chunk.last().is_some_and(|last| last.at <= time));
        let within = self.chunks.get(chunk).map_or(0, |chunk| chunk.partition_point(|record| record.at <= time));
        chunk * CHUNK + within
    }

    /// The time of the last record; zero if there is none.
    #[must_use]
    pub fn end(&self) -> Time {
        self.chunks.last().and_then(|chunk| chunk.last()).map_or(Time::ZERO, |record| record.at)
    }

    /// Appends a record and returns its id.
    pub(crate) fn push(&mut self, record: Record) -> RecordId {
        debug_assert!(record.at >= self.end(), "a trace grows forward in time");
        if self.len.is_multiple_of(CHUNK) {
            self.chunks.push(Arc::new(Vec::with_capacity(CHUNK.min(16 + self.len))));
        }
        if let Some(chunk) = self.chunks.last_mut() {
            Arc::make_mut(chunk).push(record);
        }
        self.len += 1;
        RecordId(self.len as u32 - 1)
    }
}

impl std::ops::Index<RecordId> for Trace {
    type Output = Record;
    fn index(&self, id: RecordId) -> &Record {
        &self.chunks[id.index() / CHUNK][id.index() % CHUNK]
    }
}
