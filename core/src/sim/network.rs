//! Channels, latency and loss (decision 3).
//!
//! Channels are TCP-like: one per consumer and broker, in order per direction, each with an identity of its own. A
//! message that is lost vanishes alone. A host whose process is gone refuses channels and resets what comes on old ones.

use std::collections::VecDeque;

use std::sync::Arc;

use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg32;

use super::queue::What;
use super::{Links, ProcessState, Simulation, Waiting};
use crate::consumer::ConsumerInput;
use crate::coordinator::ReplyTo;
use crate::id::{BrokerId, ConnectionId, ConsumerId, Correlation, NodeId, NodeKind, RecordId};
use crate::map::Set;
use crate::message::{Message, Response};
use crate::rules::Rules;
use crate::scenario::{HeavyTailedLatency, Latency, Plan};
use crate::time::{Span, Time};
use crate::trace::{Cause, ChannelEnd, Fact};

/// One of the two ends of a connection.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum End {
    Consumer,
    Broker,
}

impl End {
    const fn other(self) -> Self {
        match self {
            Self::Consumer => Self::Broker,
            Self::Broker => Self::Consumer,
        }
    }
}

/// What travels on a connection.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Packet {
    Open,
    Accept,
    Refuse,
    Message { sent: RecordId, correlation: Correlation },
    Close,
    Reset,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum EndState {
    /// The consumer's end, until the broker's host answers; the broker's end, until it hears of the connection.
    Opening,
    Open,
    Closed,
}

#[derive(Clone, Debug)]
struct Connection {
    consumer: ConsumerId,
    broker: BrokerId,
    at_consumer: Side,
    at_broker: Side,
    /// What brought about what its ends learn next: its opening, then its closing.
    cause: Option<Cause>,
}

/// An end of a connection, and what is on its way to it.
#[derive(Clone, Debug)]
struct Side {
    state: EndState,
    arriving: VecDeque<Packet>,
    last_arrival: Time,
}

impl Default for Side {
    fn default() -> Self {
        Self { state: EndState::Opening, arriving: VecDeque::new(), last_arrival: Time::ZERO }
    }
}

impl Connection {
    fn side(&mut self, end: End) -> &mut Side {
        match end {
            End::Consumer => &mut self.at_consumer,
            End::Broker => &mut self.at_broker,
        }
    }

    fn node(&self, end: End) -> NodeId {
        match end {
            End::Consumer => self.consumer.into(),
            End::Broker => self.broker.into(),
        }
    }
}

/// A link between a consumer and a broker: what every connection between them has in common.
#[derive(Clone, Debug)]
pub(super) struct Link {
    is_cut: bool,
    /// Latencies and losses of this link alone, so that what happens on another changes nothing here (decision 15).
    random: Pcg32,
}

#[derive(Clone, Debug)]
pub(super) struct Network {
    plan: Arc<Plan>,
    links: Links,
    connections: Vec<Connection>,
    /// Each consumer's channel to each broker, as the consumer knows it.
    channels: crate::map::Map<(ConsumerId, BrokerId), ConnectionId>,
    /// For each broker the connections that are open at its end.
    accepted: Vec<Set<ConnectionId>>,
}

impl Network {
    pub(super) fn new(plan: &Arc<Plan>) -> Self {
        Self {
            plan: Arc::clone(plan),
            links: Links::new(),
            connections: Vec::new(),
            channels: crate::map::Map::new(),
            accepted: vec![Set::new(); usize::from(plan.cast.brokers)],
        }
    }

    fn link(&mut self, consumer: ConsumerId, broker: BrokerId) -> &mut Link {
        let seed = self.plan.seed;
        self.links.or_insert_with((consumer, broker), || {
            let place = u64::from(consumer.0) << 16 | u64::from(broker.0);
            let mixed = seed ^ (place + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
            Link { is_cut: false, random: Pcg32::seed_from_u64(mixed) }
        })
    }

    /// Cuts or heals a link; whether that changed anything.
    pub(super) fn set_cut(&mut self, consumer: ConsumerId, broker: BrokerId, is_cut: bool) -> bool {
        std::mem::replace(&mut self.link(consumer, broker).is_cut, is_cut) != is_cut
    }

    /// When a packet sent now arrives at an end; `None` if it is lost.
    fn arrival(&mut self, id: ConnectionId, to: End, kind: PacketKind, now: Time) -> Option<Time> {
        let connection = &self.connections[id.index()];
        let (consumer, broker) = (connection.consumer, connection.broker);
        let plan = Arc::clone(&self.plan);
        let lost_per_million = plan.lost_per_million;
        let link = self.link(consumer, broker);
        let is_lost = kind == PacketKind::Message
            && lost_per_million > 0
            && link.random.random_range(0..1_000_000u32) < lost_per_million;
        let travels = draw(&plan.consumers[consumer.index()].latency, &mut link.random);
        if link.is_cut || is_lost {
            return None;
        }
        let side = self.connections[id.index()].side(to);
        side.last_arrival = side.last_arrival.max(now + travels);
        Some(side.last_arrival)
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum PacketKind {
    /// Opening, closing: the transport sees to it that these come through where anything does.
    Control,
    Message,
}

fn draw(latency: &Latency, random: &mut Pcg32) -> Span {
    match latency {
        Latency::Fixed(span) => *span,
        Latency::Uniform(bounds) => Span(random.random_range(bounds.min.0..=bounds.max.0)),
        Latency::HeavyTailed(tail) => pareto(tail, random),
    }
}

/// A Pareto-distributed latency by inversion. The power comes from `libm` in every build: the platforms' own differ in
/// the last digit, and the trace must not.
fn pareto(tail: &HeavyTailedLatency, random: &mut Pcg32) -> Span {
    let steps = random.random_range(1..=1u64 << 53);
    let uniform = steps as f64 / (1u64 << 53) as f64;
    let stretched = tail.min.0 as f64 * libm::pow(uniform, -1.0 / tail.shape);
    if stretched < tail.max.0 as f64 { Span(stretched as u64) } else { tail.max }
}

impl Simulation {
    // --- sending ---

    pub(super) fn open(&mut self, consumer: ConsumerId, broker: BrokerId) {
        let connection = ConnectionId(self.network.connections.len() as u32);
        let (at_consumer, at_broker) = (Side::default(), Side::default());
        let opening = self.record(Fact::ChannelOpening { connection, consumer, broker }, Rules::NONE);
        let cause = opening.map(Cause::new);
        self.network.connections.push(Connection { consumer, broker, at_consumer, at_broker, cause });
        self.network.channels.insert((consumer, broker), connection);
        self.control(connection, End::Broker, Packet::Open);
    }

    /// The consumer closes its channel to a broker.
    pub(super) fn close_from(&mut self, consumer: ConsumerId, broker: BrokerId) {
        let Some(connection) = self.network.channels.remove(&(consumer, broker)) else { return };
        let (node, peer) = (consumer.into(), broker.into());
        let id = self.record(Fact::ChannelClosed { connection, node, peer, why: ChannelEnd::ByThisEnd }, Rules::NONE);
        self.close_end(connection, End::Consumer, id.map(Cause::new));
    }

    /// A broker closes a channel (SC0), unless it is closed at its end already.
    pub(super) fn close_from_broker(&mut self, broker: BrokerId, connection: ConnectionId, rules: Rules) {
        if !self.network.accepted[broker.index()].contains(&connection) {
            return;
        }
        let (node, peer) = (broker.into(), self.network.connections[connection.index()].consumer.into());
        let id = self.record(Fact::ChannelClosed { connection, node, peer, why: ChannelEnd::ByThisEnd }, rules);
        self.close_end(connection, End::Broker, id.map(Cause::new));
    }

    /// Closes an end and tells the other.
    fn close_end(&mut self, id: ConnectionId, end: End, cause: Option<Cause>) {
        let connection = &mut self.network.connections[id.index()];
        let side = connection.side(end);
        if side.state == EndState::Closed {
            return;
        }
        side.state = EndState::Closed;
        connection.cause = cause;
        let broker = connection.broker;
        if end == End::Broker {
            self.network.accepted[broker.index()].remove(&id);
        }
        self.control(id, end.other(), Packet::Close);
    }

    /// The process of a node is gone: its channels close.
    pub(super) fn close_all(&mut self, node: NodeId, cause: Option<Cause>) {
        match node.kind() {
            NodeKind::Consumer(consumer) => {
                for broker in (0..self.plan.cast.brokers).map(BrokerId) {
                    if let Some(connection) = self.network.channels.remove(&(consumer, broker)) {
                        self.close_end(connection, End::Consumer, cause);
                    }
                }
            }
            NodeKind::Broker(broker) => {
                for connection in std::mem::take(&mut self.network.accepted[broker.index()]) {
                    self.close_end(connection, End::Broker, cause);
                }
            }
        }
    }

    fn control(&mut self, connection: ConnectionId, to: End, packet: Packet) {
        if let Some(at) = self.network.arrival(connection, to, PacketKind::Control, self.now) {
            self.dispatch(connection, to, packet, at);
        }
    }

    fn dispatch(&mut self, connection: ConnectionId, end: End, packet: Packet, at: Time) {
        self.network.connections[connection.index()].side(end).arriving.push_back(packet);
        self.queue.push(at, What::Arrival { connection, end });
    }

    pub(super) fn send_request(
        &mut self,
        consumer: ConsumerId,
        broker: BrokerId,
        correlation: Correlation,
        message: Message,
        rules: Rules,
    ) {
        let Some(connection) = self.network.channels.get(&(consumer, broker)).copied() else { return };
        self.send(connection, End::Broker, correlation, message, None, rules);
    }

    pub(super) fn reply(&mut self, to: ReplyTo, response: Response, rules: Rules) {
        let answers = Some(Cause::new(to.request));
        self.send(to.connection, End::Consumer, to.correlation, Message::Response(response), answers, rules);
    }

    /// Sends a message to an end of a connection. On a connection that is closed at the sender's end it is lost.
    fn send(
        &mut self,
        id: ConnectionId,
        end: End,
        correlation: Correlation,
        message: Message,
        answers: Option<Cause>,
        rules: Rules,
    ) {
        let connection = &mut self.network.connections[id.index()];
        let (from, to) = (connection.node(end.other()), connection.node(end));
        let is_open = connection.side(end.other()).state == EndState::Open;
        let arrives = if is_open { self.network.arrival(id, end, PacketKind::Message, self.now) } else { None };
        let fact = Fact::Sent { from, to, connection: id, arrives: arrives.unwrap_or(Time::MAX), answers, message };
        let record = self.record(fact, rules);
        if let (Some(at), Some(sent)) = (arrives, record) {
            self.dispatch(id, end, Packet::Message { sent, correlation }, at);
        }
    }

    // --- arriving ---

    /// The next packet reaches an end: the host takes it, and what concerns the process goes on to it.
    pub(super) fn arrive(&mut self, id: ConnectionId, end: End) {
        let connection = &mut self.network.connections[id.index()];
        let node = connection.node(end);
        let side = connection.side(end);
        let Some(packet) = side.arriving.pop_front() else { return };
        let state = side.state;
        match (packet, state) {
            (Packet::Open, _) => self.accept_or_refuse(id, node),
            (Packet::Accept, EndState::Opening) => {
                side.state = EndState::Open;
                self.deliver(node, Waiting::Packet(id, packet));
            }
            (Packet::Refuse | Packet::Close | Packet::Reset, EndState::Opening | EndState::Open) => {
                side.state = EndState::Closed;
                if let Some(broker) = node.broker() {
                    self.network.accepted[broker.index()].remove(&id);
                }
                self.deliver(node, Waiting::Packet(id, packet));
            }
            (Packet::Message { .. }, EndState::Open) => self.deliver(node, Waiting::Packet(id, packet)),
            (Packet::Message { sent, .. }, EndState::Opening | EndState::Closed) => {
                self.drop_message(node, sent);
                self.control(id, end.other(), Packet::Reset);
            }
            (Packet::Accept, EndState::Open | EndState::Closed)
            | (Packet::Refuse | Packet::Close | Packet::Reset, EndState::Closed) => {}
        }
    }

    /// A host accepts a connection for its process also while that one stands still; nobody listens where it is gone.
    fn accept_or_refuse(&mut self, id: ConnectionId, node: NodeId) {
        let is_down = self.process(node).state == ProcessState::Down;
        let Some(broker) = node.broker() else { return };
        let side = self.network.connections[id.index()].side(End::Broker);
        if is_down {
            side.state = EndState::Closed;
            self.control(id, End::Consumer, Packet::Refuse);
        } else {
            side.state = EndState::Open;
            self.network.accepted[broker.index()].insert(id);
            self.control(id, End::Consumer, Packet::Accept);
        }
    }

    fn drop_message(&mut self, node: NodeId, sent: RecordId) {
        self.cause = Some(Cause::new(sent));
        self.note(Fact::Dropped { node, sent });
    }

    /// A process takes what arrived for it.
    pub(super) fn take_packet(&mut self, node: NodeId, id: ConnectionId, packet: Packet) {
        self.cause = self.network.connections[id.index()].cause;
        match node.kind() {
            NodeKind::Consumer(consumer) => self.take_at_consumer(consumer, id, packet),
            NodeKind::Broker(broker) => self.take_at_broker(broker, id, packet),
        }
    }

    fn take_at_consumer(&mut self, consumer: ConsumerId, id: ConnectionId, packet: Packet) {
        let broker = self.network.connections[id.index()].broker;
        let is_current = self.network.channels.get(&(consumer, broker)) == Some(&id);
        match packet {
            Packet::Message { sent, .. } if !is_current => self.drop_message(consumer.into(), sent),
            Packet::Open | Packet::Accept | Packet::Refuse | Packet::Close | Packet::Reset if !is_current => {}
            Packet::Open => {}
            Packet::Accept => {
                self.cause =
                    self.record(Fact::ChannelOpened { connection: id, consumer, broker }, Rules::NONE).map(Cause::new);
                self.give_consumer(consumer, ConsumerInput::Opened(broker));
            }
            Packet::Refuse => self.lose_channel(consumer, broker, id, ChannelEnd::Refused),
            Packet::Close => self.lose_channel(consumer, broker, id, ChannelEnd::ByPeer),
            Packet::Reset => self.lose_channel(consumer, broker, id, ChannelEnd::Reset),
            Packet::Message { sent, correlation } => {
                let Some(message) = self.receive(consumer.into(), sent) else { return };
                if let Message::Response(response) = message {
                    self.give_consumer(consumer, ConsumerInput::Response { broker, correlation, response });
                }
            }
        }
    }

    fn lose_channel(&mut self, consumer: ConsumerId, broker: BrokerId, connection: ConnectionId, why: ChannelEnd) {
        self.network.channels.remove(&(consumer, broker));
        let (node, peer) = (consumer.into(), broker.into());
        let id = self.record(Fact::ChannelClosed { connection, node, peer, why }, Rules::NONE);
        self.cause = id.map(Cause::new);
        self.give_consumer(consumer, ConsumerInput::Closed(broker));
    }

    fn take_at_broker(&mut self, broker: BrokerId, id: ConnectionId, packet: Packet) {
        let consumer = self.network.connections[id.index()].consumer;
        let (node, peer) = (broker.into(), consumer.into());
        match packet {
            Packet::Open | Packet::Accept | Packet::Refuse => {}
            Packet::Close => self.note(Fact::ChannelClosed { connection: id, node, peer, why: ChannelEnd::ByPeer }),
            Packet::Reset => self.note(Fact::ChannelClosed { connection: id, node, peer, why: ChannelEnd::Reset }),
            Packet::Message { sent, correlation } => {
                let Some(message) = self.receive(node, sent) else { return };
                let to = ReplyTo { connection: id, correlation, request: sent };
                if let Message::Request(request) = message {
                    self.give_broker(broker, |broker, cx| broker.handle_request(to, &request, cx));
                }
            }
        }
    }

    /// Records that a message is taken, which brings about what follows, and returns it.
    fn receive(&mut self, node: NodeId, sent: RecordId) -> Option<Message> {
        self.cause = Some(Cause::new(sent));
        self.cause = self.record(Fact::Received { node, sent }, Rules::NONE).map(Cause::new);
        let Fact::Sent { message, .. } = &self.trace.get(sent)?.fact else { return None };
        Some(message.clone())
    }
}
