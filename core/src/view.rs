//! The state of everything at a cursor, folded from the trace's records alone: it never looks into nodes.

use std::sync::Arc;

use crate::cast::Cast;
use crate::error::{CommitError, HeartbeatError, JoinError};
use crate::id::{
    BrokerId, ConnectionId, ConsumerId, Generation, MemberId, NodeId, NodeKind, Offset, Partition, RecordId, TopicId,
};
use crate::map::{Map, Set};
use crate::message::{Message, Offsets, Request, Response, Topics};
use crate::time::{Span, Time};
use crate::trace::{Callback, Cause, ChannelEnd, Fact, Formed, RebalanceReason, Record, Trace};

/// The state of a run at a moment, as its records tell it.
#[derive(Clone, Debug)]
pub struct View {
    cast: Arc<Cast>,
    applied: usize,
    /// The moment of the last record applied.
    pub at: Time,
    /// The broker that holds the role of coordinator.
    pub coordinator: BrokerId,
    /// Brokers that held the role and have not been told that it moved (decision 10).
    pub former: Set<BrokerId>,
    /// The group as its coordinator knows it.
    pub group: GroupView,
    /// Each consumer, in the order of the cast.
    pub consumers: Vec<ConsumerView>,
    /// Each broker's process, in the order of the cast.
    pub brokers: Vec<Process>,
    /// Links that are cut.
    pub cut: Set<(ConsumerId, BrokerId)>,
    /// The committed offset of each partition that has one.
    pub committed: Map<Partition, Offset>,
    /// The number of partitions of each topic, as far as an assignment or a change has told it.
    pub counts: Map<TopicId, u32>,
}

/// A process.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Process {
    /// It has not started yet.
    NotStarted,
    /// It runs.
    Up {
        /// When it started.
        since: Time,
    },
    /// It stands still, and nothing is closed.
    Paused {
        /// From when on.
        since: Time,
    },
    /// It has ended.
    Down {
        /// When it ended.
        since: Time,
        /// How it ended.
        how: Ending,
    },
}

/// How a process ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Ending {
    /// Without warning.
    Crashed,
    /// The application closed it.
    Closed,
    /// A consumer threw a fatal error to the application (EC6).
    Threw(JoinError),
}

/// Where the coordinator stands with the group.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum GroupState {
    /// It knows no such group.
    Unknown,
    /// Every member has its assignment.
    Stable {
        /// When the generation was formed.
        since: Time,
    },
    /// A rebalance is open.
    Preparing {
        /// When it began, or began again (EC4).
        since: Time,
        /// Why it began; `None` where the group was only just created.
        why: Option<RebalanceReason>,
    },
}

/// The group as its coordinator knows it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct GroupView {
    /// Where it stands.
    pub state: GroupState,
    /// The generation in force, as it was formed.
    pub formed: Option<Arc<Formed>>,
    /// The members.
    pub members: Map<MemberId, MemberView>,
}

/// A member as the coordinator knows it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct MemberView {
    /// Its join, if it is held (EC2).
    pub held: Option<Held>,
    /// When a request of it was last received, or its session timer restarted otherwise (decisions 2, 4 and 5).
    pub last_heard: Time,
    /// After how long a silence it is removed (HB3); zero until one of its joins was received.
    pub session_timeout: Span,
    /// Its partitions in the generation in force.
    pub assignment: Arc<[Partition]>,
}

/// A join that the coordinator holds (EC2).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Held {
    /// When it was received.
    pub since: Time,
    /// The record that sent it.
    pub join: RecordId,
}

/// A consumer as its records tell it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ConsumerView {
    /// Its process.
    pub process: Process,
    /// Its subscription.
    pub subscription: Topics,
    /// The broker it takes for the coordinator.
    pub coordinator: Option<BrokerId>,
    /// The generation it recorded.
    pub generation: Option<Generation>,
    /// The partitions it holds: from its join's answer to its next `onPartitionDeassigned()`.
    pub assignment: Arc<[Partition]>,
    /// Fetching since when.
    pub fetching: Option<Time>,
    /// Where it stood in its partitions when it last started or stopped fetching.
    pub positions: Offsets,
    /// Its join that is not answered yet: the record that sent it, and when.
    pub joining: Option<(RecordId, Time)>,
    /// Its metadata request that is not answered yet.
    pub asking: Option<RecordId>,
    /// The channel it is opening.
    pub connecting: Option<(ConnectionId, BrokerId)>,
    /// The callback that runs, and until when.
    pub callback: Option<(Callback, Time)>,
    /// Until when the application keeps its thread (AR2).
    pub busy_until: Option<Time>,
    /// When it last sent a heartbeat (HB1).
    pub last_heartbeat: Option<Time>,
    /// From when the interval to its next heartbeat counts; `None` while it sends none.
    pub heartbeat_since: Option<Time>,
    /// The oldest heartbeat that is not answered, from which HB4 counts.
    pub unanswered_since: Option<Time>,
    /// The session timeout of its last join; zero before the first.
    pub session_timeout: Span,
}

/// The state that a lifeline shows.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum NodeState {
    /// Not started yet.
    NotStarted,
    /// A consumer that runs and has neither joined nor is known as a member.
    Starting,
    /// A consumer that fetches.
    Fetching,
    /// A consumer that runs, does not fetch, and waits for no join.
    Stopped,
    /// A consumer that waits for the answer to its join.
    Waiting,
    /// A consumer that fetches what the current generation does not give it, and has not been told (decision 7); a
    /// broker that acts as the coordinator it was, and has not been told (decision 10).
    Zombie,
    /// A coordinator whose group has its assignment.
    Stable,
    /// A coordinator with a rebalance open.
    Preparing,
    /// A coordinator that knows no member.
    Empty,
    /// A broker that is not the coordinator.
    Up,
    /// A process that stands still.
    Paused,
    /// A process that has ended.
    Down,
}

impl NodeState {
    /// The word for it in markup, `data-state`.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::NotStarted => "not-started",
            Self::Fetching => "fetching",
            Self::Starting | Self::Stopped => "stopped",
            Self::Waiting => "waiting",
            Self::Zombie => "zombie",
            Self::Stable => "stable",
            Self::Preparing => "preparing",
            Self::Empty => "empty",
            Self::Up => "up",
            Self::Paused => "paused",
            Self::Down => "down",
        }
    }
}

impl Process {
    /// Whether it runs.
    #[must_use]
    pub const fn is_up(self) -> bool {
        matches!(self, Self::Up { .. })
    }
}

impl MemberView {
    fn new(at: Time) -> Self {
        Self { held: None, last_heard: at, session_timeout: Span::ZERO, assignment: Arc::default() }
    }
}

impl GroupView {
    /// The generation in force.
    #[must_use]
    pub fn generation(&self) -> Option<Generation> {
        self.formed.as_ref().map(|formed| formed.generation)
    }

    /// The members whose joins the open rebalance waits for.
    pub fn awaited(&self) -> impl Iterator<Item = MemberId> + '_ {
        let open = matches!(self.state, GroupState::Preparing { .. });
        self.members.iter().filter(move |(_, member)| open && member.held.is_none()).map(|(id, _)| *id)
    }

    /// When the coordinator gives a member up: after its session timeout of silence (HB3), or earlier if its join is
    /// awaited (EC4, decision 5). `None` while its join is held (decision 4), and for one that is no member.
    #[must_use]
    pub fn deadline(&self, member: MemberId) -> Option<Time> {
        let member = self.members.get(&member)?;
        if member.held.is_some() {
            return None;
        }
        let silence = member.last_heard + member.session_timeout;
        match self.state {
            GroupState::Preparing { since, .. } => Some(silence.min(since + member.session_timeout)),
            GroupState::Unknown | GroupState::Stable { .. } => Some(silence),
        }
    }

    /// Applies what the coordinator did at `at`, and the request whose receipt brought it about.
    fn apply(&mut self, at: Time, fact: &Fact, request: Option<(RecordId, &Request)>) {
        if let Fact::MemberAdded { member, .. } = fact {
            let added = self.member(*member, at);
            added.last_heard = at;
            if let Some((_, Request::Join(join))) = request {
                added.session_timeout = join.session_timeout;
            }
        } else if let Fact::MemberRemoved { member, .. } = fact {
            self.members.remove(member);
        } else if let Fact::RebalanceStarted { why, .. } = fact {
            self.state = GroupState::Preparing { since: at, why: Some(*why) };
        } else if let Fact::JoinHeld { member, .. } = fact {
            self.member(*member, at).held = request.map(|(join, _)| Held { since: at, join });
        } else if let (Fact::RebalanceRetried { .. }, GroupState::Preparing { since, .. }) = (fact, &mut self.state) {
            *since = at;
        } else if let Fact::AssignmentComputed { formed, .. } = fact {
            self.form(at, formed);
        } else if let Fact::GroupRecovered { .. } = fact {
            self.members.values_mut().for_each(|member| member.last_heard = at);
        }
    }

    /// A generation is formed: its members are the group's.
    fn form(&mut self, at: Time, formed: &Arc<Formed>) {
        self.state = GroupState::Stable { since: at };
        self.formed = Some(Arc::clone(formed));
        self.members.retain(|member, _| formed.assignment.iter().any(|(formed, _)| formed == member));
        for (member, partitions) in &formed.assignment {
            self.member(*member, at).assignment = Arc::clone(partitions);
        }
    }

    fn forget(&mut self) {
        *self = Self { state: GroupState::Unknown, formed: None, members: Map::new() };
    }

    fn member(&mut self, member: MemberId, at: Time) -> &mut MemberView {
        self.members.or_insert_with(member, || MemberView::new(at))
    }
}

impl ConsumerView {
    fn new(process: Process) -> Self {
        Self {
            process,
            subscription: Arc::default(),
            coordinator: None,
            generation: None,
            assignment: Arc::default(),
            fetching: None,
            positions: Arc::default(),
            joining: None,
            asking: None,
            connecting: None,
            callback: None,
            busy_until: None,
            last_heartbeat: None,
            heartbeat_since: None,
            unanswered_since: None,
            session_timeout: Span::ZERO,
        }
    }

    /// Ends what it was doing.
    fn end(&mut self, since: Time, how: Ending) {
        *self = Self { positions: Arc::clone(&self.positions), ..Self::new(Process::Down { since, how }) };
    }

    fn request_sent(&mut self, at: Time, sent: RecordId, request: &Request) {
        match request {
            Request::Metadata { .. } => self.asking = Some(sent),
            Request::Join(join) => {
                self.joining = Some((sent, at));
                self.session_timeout = join.session_timeout;
                self.unanswered_since = None;
                self.heartbeat_since = None;
            }
            Request::Heartbeat { .. } => {
                self.last_heartbeat = Some(at);
                self.heartbeat_since = Some(at);
                self.unanswered_since.get_or_insert(at);
            }
            Request::Commit(_) | Request::SimpleCommit { .. } | Request::Leave { .. } => {}
        }
    }

    fn response_received(&mut self, answers: Option<RecordId>, response: &Response) {
        match response {
            Response::Metadata(_) if self.asking == answers => self.asking = None,
            Response::Join(result) if self.joining.map(|(join, _)| join) == answers => {
                self.joining = None;
                if let Ok(joined) = result {
                    self.assignment = joined.assignment.iter().map(|(partition, _)| *partition).collect();
                    self.positions = Arc::clone(&joined.assignment);
                }
            }
            Response::Metadata(_)
            | Response::Join(_)
            | Response::Heartbeat(Err(HeartbeatError::NotCoordinator))
            | Response::Commit(Err(CommitError::NotCoordinator))
            | Response::Leave(_) => {}
            Response::Heartbeat(_) | Response::Commit(_) => self.unanswered_since = None,
        }
    }

    /// Applies what the consumer did at `at`.
    fn apply(&mut self, at: Time, fact: &Fact) {
        if let Fact::ChannelOpening { connection, broker, .. } = fact {
            self.connecting = Some((*connection, *broker));
        } else if let Fact::ChannelOpened { connection, .. } | Fact::ChannelClosed { connection, .. } = fact {
            self.connecting = self.connecting.filter(|(opening, _)| opening != connection);
        } else if let Fact::Subscribed { topics, .. } = fact {
            self.subscription = Arc::clone(topics);
        } else if let Fact::CoordinatorFound { broker, .. } = fact {
            self.coordinator = Some(*broker);
            self.asking = None;
        } else if let Fact::CoordinatorFailed { .. } = fact {
            self.coordinator = None;
            self.joining = None;
            self.unanswered_since = None;
            self.heartbeat_since = None;
        } else if let Fact::GenerationRecorded { generation, .. } = fact {
            self.generation = Some(*generation);
            self.heartbeat_since = Some(at);
        } else if let Fact::CallbackStarted { callback, takes, .. } = fact {
            self.callback = Some((*callback, at + *takes));
        } else if let Fact::CallbackReturned { callback, .. } = fact {
            self.callback = None;
            if *callback == Callback::Deassigned {
                self.assignment = Arc::default();
            }
        } else {
            self.apply_to_work(at, fact);
        }
    }

    fn apply_to_work(&mut self, at: Time, fact: &Fact) {
        if let Fact::FetchStarted { from, .. } = fact {
            self.fetching = Some(at);
            self.positions = Arc::clone(from);
        } else if let Fact::FetchStopped { at: positions, .. } = fact {
            self.fetching = None;
            self.heartbeat_since = None;
            self.positions = Arc::clone(positions);
        } else if let Fact::ProcessingStarted { takes, .. } = fact {
            self.busy_until = Some(at + *takes);
        } else if let Fact::ProcessingEnded { .. } = fact {
            self.busy_until = None;
        }
    }
}

impl View {
    /// The state before anything has happened.
    #[must_use]
    pub fn new(cast: &Arc<Cast>) -> Self {
        Self {
            cast: Arc::clone(cast),
            applied: 0,
            at: Time::ZERO,
            coordinator: cast.coordinator,
            former: Set::new(),
            group: GroupView { state: GroupState::Unknown, formed: None, members: Map::new() },
            consumers: vec![ConsumerView::new(Process::NotStarted); cast.consumers.len()],
            brokers: vec![Process::NotStarted; usize::from(cast.brokers)],
            cut: Set::new(),
            committed: Map::new(),
            counts: Map::new(),
        }
    }

    /// The state after everything that happened at or before `time`.
    #[must_use]
    pub fn at(trace: &Trace, time: Time) -> Self {
        let mut view = Self::new(trace.cast());
        view.advance(trace, time);
        view
    }

    /// Applies the records that it has not seen yet and that happened at or before `time`.
    pub fn advance(&mut self, trace: &Trace, time: Time) {
        let until = trace.count_until(time);
        for (id, record) in trace.from(self.applied).take(until.saturating_sub(self.applied)) {
            self.apply(trace, id, record);
        }
    }

    /// How many records it has seen.
    #[must_use]
    pub const fn applied(&self) -> usize {
        self.applied
    }

    /// The names.
    #[must_use]
    pub const fn cast(&self) -> &Arc<Cast> {
        &self.cast
    }

    /// A consumer.
    ///
    /// # Panics
    /// If the cast has no such consumer.
    #[must_use]
    pub fn consumer(&self, consumer: ConsumerId) -> &ConsumerView {
        &self.consumers[consumer.index()]
    }

    /// The consumer's process, or the broker's.
    ///
    /// # Panics
    /// If the cast has no such node.
    #[must_use]
    pub fn process(&self, node: NodeId) -> Process {
        match node.kind() {
            NodeKind::Broker(broker) => self.brokers[broker.index()],
            NodeKind::Consumer(consumer) => self.consumer(consumer).process,
        }
    }

    /// The state that a node's lifeline shows.
    ///
    /// # Panics
    /// If the cast has no such node.
    #[must_use]
    pub fn state(&self, node: NodeId) -> NodeState {
        match self.process(node) {
            Process::NotStarted => NodeState::NotStarted,
            Process::Paused { .. } => NodeState::Paused,
            Process::Down { .. } => NodeState::Down,
            Process::Up { .. } => match node.kind() {
                NodeKind::Broker(broker) => self.broker_state(broker),
                NodeKind::Consumer(consumer) => self.consumer_state(consumer),
            },
        }
    }

    fn broker_state(&self, broker: BrokerId) -> NodeState {
        if broker != self.coordinator {
            return if self.former.contains(&broker) { NodeState::Zombie } else { NodeState::Up };
        }
        match self.group.state {
            GroupState::Unknown => NodeState::Empty,
            GroupState::Stable { .. } => NodeState::Stable,
            GroupState::Preparing { .. } => NodeState::Preparing,
        }
    }

    fn consumer_state(&self, id: ConsumerId) -> NodeState {
        let consumer = self.consumer(id);
        if consumer.fetching.is_some() {
            if self.is_current(id) { NodeState::Fetching } else { NodeState::Zombie }
        } else if consumer.joining.is_some() {
            NodeState::Waiting
        } else if consumer.session_timeout == Span::ZERO && !self.is_member(id) {
            NodeState::Starting
        } else {
            NodeState::Stopped
        }
    }

    /// Whether a consumer is a member in the coordinator's eyes and holds the generation in force.
    fn is_current(&self, id: ConsumerId) -> bool {
        let generation = self.consumer(id).generation;
        generation.is_some() && generation == self.group.generation() && self.is_member(id)
    }

    /// Whether a consumer is a member in the coordinator's eyes, by its own name or by an id given out to it
    /// (decision 16).
    #[must_use]
    pub fn is_member(&self, id: ConsumerId) -> bool {
        let by_name = self.cast.member_ids.get(id.index());
        let known_by_name = by_name.is_some_and(|member| self.group.members.contains_key(member));
        known_by_name || {
            let mut given = self.group.members.keys().rev().take_while(|member| self.cast.member_turn(**member) > 0);
            given.any(|member| self.cast.member(*member) == id)
        }
    }

    /// Applies the next record. `record` is the one of `trace` with this id.
    ///
    /// # Panics
    /// If it names a node that the cast has not.
    pub fn apply(&mut self, trace: &Trace, id: RecordId, record: &Record) {
        debug_assert_eq!(id.index(), self.applied, "records are applied in order, each once");
        self.applied = id.index() + 1;
        self.at = record.at;
        let since = record.at;
        match &record.fact {
            Fact::ProcessStarted { node } => self.started(*node),
            Fact::ProcessResumed { node } => self.set_process(*node, Process::Up { since }),
            Fact::ProcessPaused { node } => self.set_process(*node, Process::Paused { since }),
            Fact::ProcessCrashed { node } => self.end(*node, Ending::Crashed),
            Fact::ProcessClosed { consumer } => self.end((*consumer).into(), Ending::Closed),
            Fact::ConsumerThrew { consumer, error } => self.end((*consumer).into(), Ending::Threw(*error)),
            Fact::LinkCut { consumer, broker } => drop(self.cut.insert((*consumer, *broker))),
            Fact::LinkHealed { consumer, broker } => drop(self.cut.remove(&(*consumer, *broker))),
            Fact::PartitionsAdded { topic, count } => drop(self.counts.insert(*topic, *count)),
            Fact::Sent { .. } => self.sent(id, &record.fact),
            Fact::Received { node, sent } => self.received(*node, &trace[*sent].fact),
            Fact::ChannelClosed { node, peer, why: ChannelEnd::ByThisEnd, .. } if node.broker().is_some() => {
                self.socket_closed(*node, *peer);
            }
            Fact::ChannelOpening { consumer, .. }
            | Fact::ChannelOpened { consumer, .. }
            | Fact::Subscribed { consumer, .. }
            | Fact::CoordinatorFound { consumer, .. }
            | Fact::CoordinatorFailed { consumer, .. }
            | Fact::GenerationRecorded { consumer, .. }
            | Fact::CallbackStarted { consumer, .. }
            | Fact::CallbackReturned { consumer, .. }
            | Fact::FetchStarted { consumer, .. }
            | Fact::FetchStopped { consumer, .. }
            | Fact::ProcessingStarted { consumer, .. }
            | Fact::ProcessingEnded { consumer } => self.consumers[consumer.index()].apply(record.at, &record.fact),
            Fact::ChannelClosed { node, .. } => {
                if let Some(consumer) = node.consumer() {
                    self.consumers[consumer.index()].apply(record.at, &record.fact);
                }
            }
            Fact::MemberAdded { broker, .. }
            | Fact::MemberRemoved { broker, .. }
            | Fact::RebalanceStarted { broker, .. }
            | Fact::JoinHeld { broker, .. }
            | Fact::RebalanceRetried { broker, .. }
            | Fact::AssignmentComputed { broker, .. }
            | Fact::GroupRecovered { broker, .. }
                if *broker == self.coordinator =>
            {
                self.group.apply(record.at, &record.fact, request_behind(trace, record));
                if let Fact::AssignmentComputed { formed, .. } = &record.fact {
                    self.counts.extend(formed.counts.iter().copied());
                }
            }
            Fact::GroupForgotten { broker } | Fact::GroupStateLost { broker } if *broker == self.coordinator => {
                self.group.forget();
            }
            Fact::CoordinatorMoved { broker, from, .. } => self.coordinator_moved(*from, *broker),
            Fact::CoordinatorResigned { broker, .. } => drop(self.former.remove(broker)),
            // What a former coordinator does to the group it knew changes nothing.
            Fact::MemberAdded { .. }
            | Fact::MemberRemoved { .. }
            | Fact::RebalanceStarted { .. }
            | Fact::JoinHeld { .. }
            | Fact::RebalanceRetried { .. }
            | Fact::AssignmentComputed { .. }
            | Fact::GroupRecovered { .. }
            | Fact::GroupForgotten { .. }
            | Fact::GroupStateLost { .. } => {}
            Fact::OffsetsAppended { offsets, .. } => self.committed.extend(offsets.iter().copied()),
            Fact::CommandIgnored { .. }
            | Fact::LimitReached
            | Fact::Dropped { .. }
            | Fact::CoordinatorLearned { .. }
            | Fact::TopicChangeSeen { .. }
            | Fact::ResumeExpired { .. }
            | Fact::OffsetsDropped { .. }
            | Fact::CommitChecked { .. } => {}
        }
    }

    fn started(&mut self, node: NodeId) {
        if let Some(consumer) = node.consumer() {
            self.consumers[consumer.index()] = ConsumerView::new(Process::NotStarted);
        }
        self.set_process(node, Process::Up { since: self.at });
    }

    fn set_process(&mut self, node: NodeId, process: Process) {
        match node.kind() {
            NodeKind::Broker(broker) => self.brokers[broker.index()] = process,
            NodeKind::Consumer(consumer) => self.consumers[consumer.index()].process = process,
        }
    }

    fn end(&mut self, node: NodeId, how: Ending) {
        let since = self.at;
        match node.kind() {
            NodeKind::Consumer(consumer) => {
                // One that threw ends in good order afterwards: what it threw is the news.
                if !matches!(self.consumer(consumer).process, Process::Down { .. }) {
                    self.consumers[consumer.index()].end(since, how);
                }
            }
            NodeKind::Broker(broker) => {
                self.brokers[broker.index()] = Process::Down { since, how };
                self.former.remove(&broker);
                if broker == self.coordinator {
                    self.group.members.values_mut().for_each(|member| member.held = None);
                }
            }
        }
    }

    fn sent(&mut self, id: RecordId, fact: &Fact) {
        let Fact::Sent { from, to, answers, message, .. } = fact else { return };
        match (message, from.kind(), to.kind()) {
            (Message::Request(request), NodeKind::Consumer(consumer), _) => {
                self.consumers[consumer.index()].request_sent(self.at, id, request);
            }
            (Message::Response(response), NodeKind::Broker(broker), NodeKind::Consumer(consumer)) => {
                self.response_sent(broker, consumer, answers.map(Cause::id), response);
            }
            (Message::Request(_), NodeKind::Broker(_), _) | (Message::Response(_), _, _) => {}
        }
    }

    fn received(&mut self, node: NodeId, sent: &Fact) {
        let Fact::Sent { answers, message, .. } = sent else { return };
        match (message, node.kind()) {
            (Message::Request(request), NodeKind::Broker(broker)) => self.request_received(broker, request),
            (Message::Response(response), NodeKind::Consumer(consumer)) => {
                self.consumers[consumer.index()].response_received(answers.map(Cause::id), response);
            }
            (Message::Request(_), NodeKind::Consumer(_)) | (Message::Response(_), NodeKind::Broker(_)) => {}
        }
    }

    /// Decision 5: closing a member's socket counts as having heard from it.
    fn socket_closed(&mut self, node: NodeId, peer: NodeId) {
        if node.broker() == Some(self.coordinator) {
            for (id, member) in &mut self.group.members {
                if Some(self.cast.member(*id)) == peer.consumer() {
                    member.last_heard = self.at;
                }
            }
        }
    }

    fn request_received(&mut self, broker: BrokerId, request: &Request) {
        let member = match request {
            Request::Metadata { .. } | Request::SimpleCommit { .. } => return,
            Request::Join(join) => join.member,
            Request::Heartbeat { member, .. } => *member,
            Request::Commit(commit) => commit.member,
            Request::Leave { member } => *member,
        };
        if broker == self.coordinator
            && let Some(view) = self.group.members.get_mut(&member)
        {
            view.last_heard = self.at;
            if let Request::Join(join) = request {
                view.session_timeout = join.session_timeout;
            }
        }
    }

    /// The answer to a join ends its being held and restarts the member's session timer (decision 4).
    fn response_sent(&mut self, from: BrokerId, to: ConsumerId, answers: Option<RecordId>, response: &Response) {
        if from != self.coordinator || !matches!(response, Response::Join(_)) {
            return;
        }
        for (id, member) in &mut self.group.members {
            let same = member.held.is_none_or(|held| Some(held.join) == answers);
            if same && self.cast.member(*id) == to {
                member.held = None;
                member.last_heard = self.at;
            }
        }
    }

    /// The role of coordinator moves. The new one restarts every session timer (decision 2).
    fn coordinator_moved(&mut self, from: BrokerId, to: BrokerId) {
        self.coordinator = to;
        self.former.remove(&to);
        if !matches!(self.brokers[from.index()], Process::Down { .. }) {
            self.former.insert(from);
        }
        for member in self.group.members.values_mut() {
            member.last_heard = self.at;
            member.held = None;
        }
    }
}

/// The request whose receipt brought a record about, with the id of the record that sent it.
fn request_behind<'a>(trace: &'a Trace, record: &Record) -> Option<(RecordId, &'a Request)> {
    let Fact::Received { sent, .. } = trace.get(record.cause?.id())?.fact else { return None };
    let Fact::Sent { message: Message::Request(request), .. } = &trace.get(sent)?.fact else { return None };
    Some((sent, request))
}

/// How much room there is for words.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Room {
    /// A line of its own.
    Wide,
    /// A word or two, as under a head on a phone.
    Narrow,
}

/// Words for people.
impl View {
    /// What a node is doing, in words: `fetching orders 0, 1, 2`, `preparing a rebalance`; in little room `fetching`,
    /// `2 awaited`.
    ///
    /// # Panics
    /// If the cast has no such node.
    #[must_use]
    pub fn words(&self, node: NodeId, room: Room) -> String {
        match (self.process(node), node.kind()) {
            (Process::NotStarted, _) => "not started".into(),
            (Process::Paused { .. }, _) => "paused".into(),
            (Process::Down { how, .. }, _) => ending_words(how, room),
            (Process::Up { .. }, NodeKind::Broker(broker)) => self.broker_words(broker, room),
            (Process::Up { .. }, NodeKind::Consumer(consumer)) => self.consumer_words(consumer, room),
        }
    }

    fn broker_words(&self, broker: BrokerId, room: Room) -> String {
        if broker != self.coordinator {
            return match (self.former.contains(&broker), room) {
                (false, _) => "any broker".into(),
                (true, Room::Wide) => "was coordinator, not told yet".into(),
                (true, Room::Narrow) => "not told yet".into(),
            };
        }
        match (self.group.state, room) {
            (GroupState::Unknown, Room::Wide) => "knows no such group".into(),
            (GroupState::Unknown, Room::Narrow) => "no group".into(),
            (GroupState::Stable { .. }, Room::Wide) => {
                format!("stable, generation {}", self.group.generation().unwrap_or_default().number)
            }
            (GroupState::Stable { .. }, Room::Narrow) => "stable".into(),
            (GroupState::Preparing { .. }, Room::Wide) => "preparing a rebalance".into(),
            (GroupState::Preparing { .. }, Room::Narrow) => format!("{} awaited", self.group.awaited().count()),
        }
    }

    fn consumer_words(&self, id: ConsumerId, room: Room) -> String {
        let consumer = self.consumer(id);
        match (self.consumer_state(id), room) {
            (NodeState::Fetching, Room::Wide) if consumer.assignment.is_empty() => "has no partition".into(),
            (NodeState::Fetching, Room::Wide) => {
                format!("fetching {}", partitions_words(&self.cast, &consumer.assignment))
            }
            (NodeState::Zombie, Room::Wide) => {
                format!("zombie, still fetching {}", partitions_words(&self.cast, &consumer.assignment))
            }
            (NodeState::Waiting, Room::Wide) => "waits for its join response".into(),
            (NodeState::Waiting, Room::Narrow) => "waits".into(),
            (state @ (NodeState::Fetching | NodeState::Zombie), Room::Narrow) => state.word().into(),
            (NodeState::Starting | NodeState::Stopped, room) => self.stopped_words(consumer, room),
            (
                state @ (NodeState::NotStarted
                | NodeState::Stable
                | NodeState::Preparing
                | NodeState::Empty
                | NodeState::Up
                | NodeState::Paused
                | NodeState::Down),
                _,
            ) => state.word().into(),
        }
    }

    fn stopped_words(&self, consumer: &ConsumerView, room: Room) -> String {
        match (consumer.callback, room) {
            (Some((callback, _)), Room::Wide) => format!("in {}()", callback.name()),
            (Some(_), Room::Narrow) => "in callback".into(),
            (None, Room::Narrow) if consumer.session_timeout == Span::ZERO => "starts".into(),
            (None, Room::Narrow) => "stopped".into(),
            (None, Room::Wide) if consumer.asking.is_some() => "looks for the coordinator".into(),
            (None, Room::Wide) if consumer.connecting.is_some() => "connects to the coordinator".into(),
            (None, Room::Wide) => "does not fetch".into(),
        }
    }
}

fn ending_words(how: Ending, room: Room) -> String {
    match (how, room) {
        (Ending::Crashed, _) => "crashed".into(),
        (Ending::Closed, _) => "closed".into(),
        (Ending::Threw(error), Room::Wide) => format!("threw {}", error.name()),
        (Ending::Threw(_), Room::Narrow) => "threw".into(),
    }
}

/// Partitions as people read them, in the order given: `orders 0, 1, 2`, from four in a row on `orders 0–3`, several
/// topics as `orders 0, 1; payments 0`. `nothing` for none.
#[must_use]
pub fn partitions_words(cast: &Cast, partitions: &[Partition]) -> String {
    if partitions.is_empty() {
        return "nothing".into();
    }
    let topics = partitions.chunk_by(|a, b| a.topic == b.topic);
    let words = topics.map(|of_topic| format!("{} {}", cast.topic(of_topic[0].topic), partition_numbers(of_topic)));
    words.collect::<Vec<_>>().join("; ")
}

/// The numbers of some partitions: `0, 1, 2`, from four in a row on `0–3`.
#[must_use]
pub fn partition_numbers(partitions: &[Partition]) -> String {
    let runs = partitions.chunk_by(|a, b| a.topic == b.topic && a.index + 1 == b.index);
    let words = runs.map(|run| match run {
        [first, _, _, .., last] if run.len() > 3 => format!("{}–{}", first.index, last.index),
        few => few.iter().map(|partition| partition.index.to_string()).collect::<Vec<_>>().join(", "),
    });
    words.collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lessons;
    use crate::scenario::Scenario;
    use crate::sim::Simulation;

    fn trace_of(scenario: &Scenario) -> Trace {
        let plan = scenario.plan().expect("a scenario that can be run");
        let mut simulation = Simulation::new(Arc::clone(&plan));
        simulation.run_until(plan.until);
        simulation.trace().clone()
    }

    fn lesson(id: &str) -> Trace {
        trace_of(&lessons::find(id).expect("a lesson of this name").scenario())
    }

    fn consumer(number: u32) -> ConsumerId {
        ConsumerId(number - 1)
    }

    fn words(view: &View) -> Vec<String> {
        view.cast.nodes().map(|node| view.words(node, Room::Wide)).collect()
    }

    #[test]
    fn nothing_has_started_before_the_first_record() {
        let view = View::new(lesson("heartbeat").cast());
        assert!(view.cast.nodes().all(|node| view.state(node) == NodeState::NotStarted));
        assert_eq!(view.group.state, GroupState::Unknown);
    }

    #[test]
    fn a_rebalance_waits_for_those_who_have_not_joined() {
        let trace = lesson("rebalance-new-consumer");
        // Consumer 1 has just sent its join, consumer 2 is in its callback.
        let view = View::at(&trace, Time(5_750_000));
        let GroupState::Preparing { since, why } = view.group.state else { panic!("{:?}", view.group.state) };
        assert_eq!((since, why), (Time(5_100_000), Some(RebalanceReason::NewMember(MemberId(2)))));
        assert_eq!(view.group.awaited().collect::<Vec<_>>(), [MemberId(0), MemberId(1)]);
        assert_eq!(view.group.deadline(MemberId(2)), None, "its join is held");
        let deadline = since + Span::from_secs(3);
        assert_eq!(view.group.deadline(MemberId(0)), Some(deadline), "a session after the rebalance began");
        let expected = [
            "preparing a rebalance",
            "waits for its join response",
            "in onPartitionDeassigned()",
            "waits for its join response",
        ];
        assert_eq!(words(&view), expected);
        assert_eq!(view.words(view.coordinator.into(), Room::Narrow), "2 awaited");
    }

    #[test]
    fn a_group_is_stable_when_its_generation_is_formed() {
        let trace = lesson("rebalance-new-consumer");
        let view = View::at(&trace, trace.end());
        let expected = ["stable, generation 3", "fetching orders 0, 1", "fetching orders 2, 3", "fetching orders 4, 5"];
        assert_eq!(words(&view), expected);
        assert!(view.group.members.values().all(|member| member.held.is_none() && member.assignment.len() == 2));
        assert!(view.consumers.iter().all(|consumer| consumer.generation == view.group.generation()));
    }

    #[test]
    fn a_member_that_fails_is_removed() {
        let trace = lesson("rebalance-member-fails");
        let view = View::at(&trace, Time(8_300_000));
        assert!(!view.is_member(consumer(2)) && view.is_member(consumer(1)));
        assert_eq!(view.state(consumer(2).into()), NodeState::Down);
        assert_eq!(view.state(view.coordinator.into()), NodeState::Preparing);
    }

    #[test]
    fn one_that_fetches_without_being_a_member_is_a_zombie() {
        let scenario = Scenario::from_json(include_str!("diagram/tests/runs/zombie.json")).expect("a scenario");
        let trace = trace_of(&scenario);
        let state = |at: u64| View::at(&trace, Time(at * 1_000)).state(consumer(2).into());
        assert_eq!(state(4_500), NodeState::Fetching);
        assert_eq!(state(9_000), NodeState::Paused);
        assert_eq!(state(9_550), NodeState::Zombie);
        assert_eq!(
            View::at(&trace, Time(9_550_000)).words(consumer(2).into(), Room::Wide),
            "zombie, still fetching orders 2, 3"
        );
        assert_eq!(state(9_850), NodeState::Stopped, "it has been told");
    }

    #[test]
    fn a_view_goes_forward_in_any_number_of_pieces() {
        for lesson in lessons::all() {
            let trace = trace_of(&lesson.scenario());
            let mut view = View::new(trace.cast());
            for (id, record) in trace.iter() {
                if id.index() == view.applied() {
                    view.apply(&trace, id, record);
                    view.advance(&trace, record.at);
                    let jumped = View::at(&trace, record.at);
                    assert_eq!((view.applied(), words(&view)), (jumped.applied(), words(&jumped)));
                }
            }
            assert_eq!(view.applied(), trace.len());
        }
    }

    #[test]
    fn partitions_read_well() {
        let cast = Arc::clone(lesson("unknown-consumer").cast());
        let partition = |topic, index| Partition { topic: TopicId(topic), index };
        let of = |list: &[(u16, u32)]| -> Vec<Partition> { list.iter().map(|(t, i)| partition(*t, *i)).collect() };
        assert_eq!(partitions_words(&cast, &of(&[(0, 0), (0, 1), (0, 2)])), "orders 0, 1, 2");
        assert_eq!(partitions_words(&cast, &of(&[(0, 0), (0, 1), (0, 2), (0, 3), (1, 5)])), "orders 0–3; payments 5");
        assert_eq!(partitions_words(&cast, &[]), "nothing");
    }
}
