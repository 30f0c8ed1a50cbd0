//! What a trace has to tell, before anything is placed: messages, notes, callbacks, states and held joins in order.

mod notes;

use std::sync::Arc;

use crate::cast::Cast;
use crate::error::{HeartbeatError, JoinError};
use crate::id::{BrokerId, ConnectionId, ConsumerId, MemberId, NodeId, NodeKind, Partition, RecordId, TopicId};
use crate::map::{Map, Set};
use crate::message::{Message, MessageKind, Request, Response};
use crate::rules::{Rule, Rules};
use crate::scenario::Trigger;
use crate::time::Time;
use crate::trace::{Callback, Cause, ChannelEnd, Fact, Record, Trace};
use crate::view::{NodeState, View, partition_numbers, partitions_words};

/// What a trace has to tell. Made once for a trace, in one pass; layouts of any width are made from it.
#[derive(Clone, Debug)]
pub struct Story {
    pub(crate) cast: Arc<Cast>,
    /// In order of record ids.
    pub(crate) entries: Vec<Entry>,
    /// Changes of the nodes' states, in order.
    pub(crate) changes: Vec<Change>,
    pub(crate) holds: Vec<Hold>,
    /// The end of what is known.
    pub(crate) end: Time,
    pub(crate) coordinator: BrokerId,
}

/// Something that gets a row, or a part of one.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    /// The record that it tells of; where it tells of several, the last one.
    pub(crate) id: RecordId,
    pub(crate) at: Time,
    pub(crate) rules: Rules,
    /// Of each record told the rule that matters most; of a commit's conditions all three.
    pub(crate) marks: Rules,
    /// The steps of a picture that it may begin.
    pub(crate) begins: Vec<Trigger>,
    pub(crate) told: Told,
}

#[derive(Clone, Debug)]
pub(crate) enum Told {
    Message(Sending),
    Close(Closing),
    Note(Note),
}

/// A message.
#[derive(Clone, Debug)]
pub(crate) struct Sending {
    pub(crate) kind: MessageKind,
    pub(crate) direction: Direction,
    pub(crate) consumer: ConsumerId,
    pub(crate) broker: BrokerId,
    /// When it arrives; `None` if it is lost on its way, or arrives where nobody takes it.
    pub(crate) arrives: Option<Time>,
    /// When it arrives at the other end and finds nobody there.
    pub(crate) dropped: Option<Time>,
    pub(crate) words: Words,
    /// For a heartbeat, the entry of its exchange's other half, if the exchange changed nothing.
    pub(crate) quiet_with: Option<usize>,
}

/// Which way a message goes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Direction {
    /// From a consumer.
    Request,
    /// To a consumer.
    Response,
}

impl Direction {
    /// The word for it in markup, `data-kind`.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Request => "request",
            Self::Response => "response",
        }
    }
}

/// A message's label, each part in its wordings from long to short.
#[derive(Clone, Debug)]
pub(crate) struct Words {
    pub(crate) style: LabelStyle,
    pub(crate) strong: Vec<String>,
    pub(crate) detail: Vec<String>,
}

/// How a message's label is drawn.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LabelStyle {
    /// Words above the line.
    Plain,
    /// An error code that is part of the protocol's normal course, outlined.
    Code,
    /// An error code that refuses: outlined in red with a cross.
    Refused,
}

/// A channel that the coordinator closes (SC0).
#[derive(Clone, Debug)]
pub(crate) struct Closing {
    pub(crate) connection: ConnectionId,
    pub(crate) consumer: ConsumerId,
    pub(crate) broker: BrokerId,
    pub(crate) arrives: Option<Time>,
}

/// Words at a lifeline.
#[derive(Clone, Debug)]
pub(crate) struct Note {
    pub(crate) node: NodeId,
    pub(crate) kind: NoteKind,
    /// Wordings from long to short; the last is for where there is little room.
    pub(crate) words: Vec<String>,
}

/// What stands at a lifeline.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum NoteKind {
    /// Something that the node did, or that was noticed there.
    Plain,
    /// Something that a command of the scenario did to it.
    Intervention,
    /// A callback into the application.
    Callback(Callback),
    /// On a consumer's lifeline: it is no longer a member.
    Removed,
}

/// A node's state changes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Change {
    pub(crate) node: NodeId,
    pub(crate) at: Time,
    pub(crate) id: RecordId,
    pub(crate) state: NodeState,
    /// The record that sent the message whose receipt brought it about.
    pub(crate) sent: Option<RecordId>,
}

/// A join held by the coordinator.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Hold {
    pub(crate) broker: BrokerId,
    pub(crate) consumer: ConsumerId,
    pub(crate) join: RecordId,
    pub(crate) since: Time,
    /// When it ends and by which record, if it has ended.
    pub(crate) until: Option<(Time, RecordId)>,
}

impl Story {
    /// Reads a trace.
    #[must_use]
    pub fn of(trace: &Trace) -> Self {
        let mut reader = Reader::new(trace);
        for (id, record) in trace.iter() {
            reader.read(id, record);
        }
        reader.story
    }
}

struct Reader<'a> {
    trace: &'a Trace,
    view: View,
    story: Story,
    states: Map<NodeId, NodeState>,
    /// The entry of each message that is on its way, by the record that sent it.
    travelling: Map<RecordId, usize>,
    /// The entry of each request that is not answered yet.
    unanswered: Map<RecordId, usize>,
    closing: Map<ConnectionId, usize>,
    /// Consumers that have just learned that the coordinator closed their channel (SC0).
    broken: Set<ConsumerId>,
    holding: Map<MemberId, usize>,
    /// Whether the rebalance that has begun has not held a join yet.
    first_hold: bool,
}

impl<'a> Reader<'a> {
    fn new(trace: &'a Trace) -> Self {
        let cast = Arc::clone(trace.cast());
        let story = Story {
            coordinator: cast.coordinator,
            cast,
            entries: Vec::new(),
            changes: Vec::new(),
            holds: Vec::new(),
            end: trace.end(),
        };
        Self {
            trace,
            view: View::new(trace.cast()),
            story,
            states: Map::new(),
            travelling: Map::new(),
            unanswered: Map::new(),
            closing: Map::new(),
            broken: Set::new(),
            holding: Map::new(),
            first_hold: false,
        }
    }

    fn read(&mut self, id: RecordId, record: &Record) {
        let silence = self.silence(record);
        let coordinator = self.view.coordinator;
        self.view.apply(self.trace, id, record);
        self.message(id, record);
        self.channel(id, record);
        self.note(id, record, silence);
        self.hold(id, record);
        self.watch(id, record);
        if coordinator != self.view.coordinator {
            self.watch_node(coordinator.into(), id, record.at, None);
            self.watch_node(self.view.coordinator.into(), id, record.at, None);
        }
    }

    fn push(&mut self, id: RecordId, record: &Record, told: Told) -> usize {
        let begins = begins(&record.fact).into_iter().collect();
        let (rules, marks) = (record.rules, marks(record.rules));
        self.story.entries.push(Entry { id, at: record.at, rules, marks, begins, told });
        self.story.entries.len() - 1
    }

    fn message(&mut self, id: RecordId, record: &Record) {
        if let Fact::Sent { from, to, arrives, answers, message, .. } = &record.fact {
            let Some((direction, consumer, broker)) = ends(*from, *to) else { return };
            let sending = Sending {
                kind: message.kind(),
                direction,
                consumer,
                broker,
                arrives: (*arrives < Time::MAX).then_some(*arrives),
                dropped: None,
                words: words(&self.story.cast, message),
                quiet_with: None,
            };
            let entry = self.push(id, record, Told::Message(sending));
            self.travelling.insert(id, entry);
            match direction {
                Direction::Request => drop(self.unanswered.insert(id, entry)),
                Direction::Response => self.answered(answers.map(Cause::id), entry, message),
            }
        } else if let Fact::Received { sent, .. } = &record.fact {
            self.travelling.remove(sent);
        } else if let Fact::Dropped { sent, .. } = &record.fact
            && let Some(entry) = self.travelling.remove(sent)
            && let Told::Message(sending) = &mut self.story.entries[entry].told
        {
            sending.dropped = sending.arrives.take();
        }
    }

    /// An answer goes out: a heartbeat's exchange that changes nothing is marked at both its ends.
    fn answered(&mut self, request: Option<RecordId>, answer: usize, message: &Message) {
        let Some(request) = request.and_then(|id| self.unanswered.remove(&id)) else { return };
        if !matches!(message, Message::Response(Response::Heartbeat(Ok(())))) {
            return;
        }
        for (entry, other) in [(request, answer), (answer, request)] {
            if let Told::Message(sending) = &mut self.story.entries[entry].told {
                sending.quiet_with = Some(other);
            }
        }
    }

    fn channel(&mut self, id: RecordId, record: &Record) {
        let Fact::ChannelClosed { connection, node, peer, why } = &record.fact else { return };
        match (why, node.kind(), peer.kind()) {
            (ChannelEnd::ByThisEnd, NodeKind::Broker(broker), NodeKind::Consumer(consumer)) => {
                let closing = Closing { connection: *connection, consumer, broker, arrives: None };
                let entry = self.push(id, record, Told::Close(closing));
                self.closing.insert(*connection, entry);
            }
            (ChannelEnd::ByPeer, NodeKind::Consumer(consumer), NodeKind::Broker(_)) => {
                if let Some(entry) = self.closing.remove(connection)
                    && let Told::Close(closing) = &mut self.story.entries[entry].told
                {
                    closing.arrives = Some(record.at);
                    self.broken.insert(consumer);
                }
            }
            _ => {}
        }
    }

    /// Joins held and no longer held.
    fn hold(&mut self, id: RecordId, record: &Record) {
        let at = record.at;
        if let Fact::JoinHeld { broker, member, .. } = &record.fact
            && let Some(held) = self.view.group.members.get(member).and_then(|member| member.held)
        {
            let consumer = self.story.cast.member(*member);
            self.end_hold(*member, at, id);
            self.holding.insert(*member, self.story.holds.len());
            self.story.holds.push(Hold { broker: *broker, consumer, join: held.join, since: at, until: None });
        } else if !self.holding.is_empty() && ends_holds(&record.fact) {
            let members = &self.view.group.members;
            let free = |member: &&MemberId| members.get(member).is_none_or(|view| view.held.is_none());
            let ended: Vec<MemberId> = self.holding.keys().filter(free).copied().collect();
            for member in ended {
                self.end_hold(member, at, id);
            }
        }
    }

    fn end_hold(&mut self, member: MemberId, at: Time, id: RecordId) {
        if let Some(hold) = self.holding.remove(&member) {
            self.story.holds[hold].until = Some((at, id));
        }
    }

    /// Notes the states of the nodes that a record may have changed.
    fn watch(&mut self, id: RecordId, record: &Record) {
        let sent = self.sent_behind(record);
        if let Fact::MemberRemoved { member, .. } = &record.fact {
            self.watch_node(self.story.cast.member(*member).into(), id, record.at, sent);
        }
        if changes_all(&record.fact) {
            for consumer in 0..self.story.cast.consumers.len() {
                self.watch_node(ConsumerId(consumer as u32).into(), id, record.at, sent);
            }
        }
        if let Some(node) = record.fact.node() {
            self.watch_node(node, id, record.at, sent);
        }
    }

    fn watch_node(&mut self, node: NodeId, id: RecordId, at: Time, sent: Option<RecordId>) {
        let state = self.view.state(node);
        if self.states.insert(node, state) != Some(state) {
            self.story.changes.push(Change { node, at, id, state, sent });
        }
    }

    /// The record that sent the message that the record's node was handling.
    fn sent_behind(&self, record: &Record) -> Option<RecordId> {
        let received = |record: &Record| {
            let Fact::Received { sent, .. } = record.fact else { return None };
            Some(sent)
        };
        received(record).or_else(|| {
            let cause = self.trace.get(record.cause?.id())?;
            (cause.at == record.at).then(|| received(cause)).flatten()
        })
    }
}

/// Which way a message between two nodes goes, and which consumer and broker they are.
fn ends(from: NodeId, to: NodeId) -> Option<(Direction, ConsumerId, BrokerId)> {
    match (from.kind(), to.kind()) {
        (NodeKind::Consumer(consumer), NodeKind::Broker(broker)) => Some((Direction::Request, consumer, broker)),
        (NodeKind::Broker(broker), NodeKind::Consumer(consumer)) => Some((Direction::Response, consumer, broker)),
        (NodeKind::Consumer(_), NodeKind::Consumer(_)) | (NodeKind::Broker(_), NodeKind::Broker(_)) => None,
    }
}

/// The rules that the gutter shows for a record.
pub(crate) fn marks(rules: Rules) -> Rules {
    if rules.contains(Rule::OC1) && rules.contains(Rule::OC3) {
        return Rules::of(&[Rule::OC1, Rule::OC2, Rule::OC3]);
    }
    // A join always carries out JG1; that it is told, refused or late says more.
    let says_more = |rule: &Rule| !matches!(rule, Rule::JG1 | Rule::JG2 | Rule::JG3);
    let mark = rules.iter().find(says_more).or_else(|| rules.iter().next());
    mark.map_or(Rules::NONE, |rule| Rules::of(&[rule]))
}

/// The step of a picture that a fact may begin.
fn begins(fact: &Fact) -> Option<Trigger> {
    let trigger = if let Fact::Sent { message: Message::Request(request), .. } = fact {
        match request {
            Request::Metadata { .. } => Trigger::MetadataSent,
            Request::Join(_) => Trigger::JoinSent,
            Request::Heartbeat { .. } => Trigger::HeartbeatSent,
            Request::Commit(_) | Request::SimpleCommit { .. } => Trigger::CommitSent,
            Request::Leave { .. } => return None,
        }
    } else if matches!(fact, Fact::FetchStopped { .. }) {
        Trigger::FetchStopped
    } else if matches!(fact, Fact::Subscribed { .. }) {
        Trigger::SubscriptionChanged
    } else if matches!(fact, Fact::AssignmentComputed { .. }) {
        Trigger::AssignmentComputed
    } else if matches!(fact, Fact::RebalanceRetried { .. }) {
        Trigger::RebalanceRetried
    } else if let Fact::Sent { message: Message::Response(Response::Heartbeat(Err(error))), .. } = fact {
        match error {
            HeartbeatError::IllegalGeneration | HeartbeatError::UnknownMember => Trigger::HeartbeatRefused,
            HeartbeatError::RebalanceInProgress | HeartbeatError::NotCoordinator => return None,
        }
    } else {
        return turning_point(fact);
    };
    Some(trigger)
}

fn turning_point(fact: &Fact) -> Option<Trigger> {
    let points = [
        (matches!(fact, Fact::ProcessCrashed { .. }), Trigger::ProcessCrashed),
        (matches!(fact, Fact::ProcessPaused { .. }), Trigger::ProcessPaused),
        (matches!(fact, Fact::ProcessResumed { .. }), Trigger::ProcessResumed),
        (matches!(fact, Fact::ProcessingStarted { .. }), Trigger::ProcessingStarted),
        (matches!(fact, Fact::CoordinatorFailed { .. }), Trigger::CoordinatorFailed),
        (matches!(fact, Fact::CoordinatorMoved { .. }), Trigger::CoordinatorMoved),
        (matches!(fact, Fact::RebalanceStarted { .. }), Trigger::RebalanceStarted),
        (matches!(fact, Fact::MemberRemoved { .. }), Trigger::MemberRemoved),
        (matches!(fact, Fact::CommitChecked { .. }), Trigger::CommitChecked),
        (matches!(fact, Fact::ConsumerThrew { .. }), Trigger::ConsumerThrew),
        (matches!(fact, Fact::OffsetsDropped { .. }), Trigger::OffsetsDropped),
    ];
    points.into_iter().find(|(is_it, _)| *is_it).map(|(_, trigger)| trigger)
}

/// Whether a fact may end held joins.
fn ends_holds(fact: &Fact) -> bool {
    matches!(
        fact,
        Fact::Sent { message: Message::Response(Response::Join(_)), .. }
            | Fact::MemberRemoved { .. }
            | Fact::CoordinatorMoved { .. }
            | Fact::ProcessCrashed { .. }
            | Fact::GroupForgotten { .. }
            | Fact::GroupStateLost { .. }
            | Fact::GroupRecovered { .. }
    )
}

/// Whether a fact may make zombies, or cure them.
fn changes_all(fact: &Fact) -> bool {
    matches!(fact, Fact::AssignmentComputed { .. } | Fact::GroupForgotten { .. } | Fact::GroupStateLost { .. })
}

/// A message's label.
fn words(cast: &Cast, message: &Message) -> Words {
    match message {
        Message::Request(request) => request_words(cast, request),
        Message::Response(response) => response_words(cast, response),
    }
}

fn plain(strong: &[&str], detail: Vec<String>) -> Words {
    Words { style: LabelStyle::Plain, strong: strong.iter().map(|word| (*word).to_owned()).collect(), detail }
}

fn request_words(cast: &Cast, request: &Request) -> Words {
    let topics = |topics: &[TopicId]| topics.iter().map(|topic| cast.topic(*topic)).collect::<Vec<_>>().join(", ");
    let generation = |number: u32| vec![format!("generation {number}"), format!("gen {number}")];
    match request {
        Request::Metadata { topics: asked } => plain(&["metadata"], vec![topics(asked)]),
        Request::Join(join) => plain(&["join"], vec![topics(&join.topics)]),
        Request::Heartbeat { generation: held, .. } => plain(&["ping"], generation(held.number)),
        Request::Commit(commit) => plain(&["commit"], generation(commit.generation.number)),
        Request::SimpleCommit { .. } => plain(&["commit"], vec!["no generation".to_owned(), "no gen".to_owned()]),
        Request::Leave { .. } => plain(&["leave"], Vec::new()),
    }
}

fn response_words(cast: &Cast, response: &Response) -> Words {
    let error = |style, name: &str| Words { style, strong: vec![name.to_owned()], detail: Vec::new() };
    match response {
        Response::Metadata(metadata) => match metadata.coordinator {
            Some(broker) => {
                let broker = broker.0 + 1;
                plain(&[&format!("coordinator is broker {broker}"), &format!("broker {broker}")], Vec::new())
            }
            None => error(LabelStyle::Refused, "CoordinatorNotAvailable"),
        },
        Response::Join(Ok(joined)) => {
            let partitions: Vec<Partition> = joined.assignment.iter().map(|(partition, _)| *partition).collect();
            let number = joined.generation.number;
            let one_topic = partitions.windows(2).all(|pair| pair[0].topic == pair[1].topic);
            let detail = if one_topic { partition_numbers(&partitions) } else { partitions_words(cast, &partitions) };
            let detail = if partitions.is_empty() { "nothing".to_owned() } else { detail };
            plain(&[&format!("generation {number}"), &format!("gen {number}")], vec![detail])
        }
        Response::Join(Err(JoinError::RebalanceInProgress)) => error(LabelStyle::Code, "retry"),
        Response::Join(Err(refused)) => error(LabelStyle::Refused, refused.name()),
        Response::Heartbeat(Ok(())) => plain(&["ok"], Vec::new()),
        Response::Heartbeat(Err(HeartbeatError::RebalanceInProgress)) => error(LabelStyle::Code, "rebalance"),
        Response::Heartbeat(Err(refused)) => error(LabelStyle::Refused, refused.name()),
        Response::Commit(Ok(())) => plain(&["accepted"], Vec::new()),
        Response::Commit(Err(refused)) => error(LabelStyle::Refused, refused.name()),
        Response::Leave(Ok(())) => plain(&["ok"], Vec::new()),
        Response::Leave(Err(refused)) => error(LabelStyle::Refused, refused.name()),
    }
}
