//! Traces written by hand, for tests of what reads a trace: one line a fact, whether or not a run could bring it about.

use std::sync::Arc;

use crate::cast::Cast;
use crate::error::HeartbeatError;
use crate::id::{
    BrokerId, ConnectionId, ConsumerId, Epoch, Generation, MemberId, Offset, Partition, RecordId, TopicId,
};
use crate::message::{Commit, Join, Joined, Message, Metadata, Offsets, Request, Response, Topics};
use crate::rules::{Rule, Rules};
use crate::time::{Span, Time};
use crate::trace::{Callback, Cause, Fact, Formed, RebalanceReason, Record, Trace};

/// How long a message of a script travels.
const LATENCY: Span = Span::from_millis(10);

pub(crate) const B1: BrokerId = BrokerId(0);
pub(crate) const B2: BrokerId = BrokerId(1);
pub(crate) const C1: ConsumerId = ConsumerId(0);
pub(crate) const C2: ConsumerId = ConsumerId(1);
pub(crate) const C3: ConsumerId = ConsumerId(2);
pub(crate) const ORDERS: TopicId = TopicId(0);
pub(crate) const PAYMENTS: TopicId = TopicId(1);

/// A trace under the pen: two brokers of which the first does all, three consumers, and the topics `orders` and `payments`.
#[derive(Clone)]
pub(crate) struct Script {
    pub(crate) trace: Trace,
    now: Time,
}

impl Script {
    pub(crate) fn new() -> Self {
        let cast = Cast {
            group: "billing".to_owned(),
            brokers: 2,
            coordinator: B1,
            consumers: ["C1", "C2", "C3"].map(str::to_owned).to_vec(),
            topics: ["orders", "payments"].map(str::to_owned).to_vec(),
            members: vec![C1, C2, C3],
            member_ids: vec![MemberId(0), MemberId(1), MemberId(2)],
        };
        Self { trace: Trace::new(Arc::new(cast)), now: Time::ZERO }
    }

    /// What follows happens this long after the start.
    pub(crate) fn at(&mut self, millis: u64) -> &mut Self {
        self.now = Time::ZERO + Span::from_millis(millis);
        self
    }

    /// What follows happens this much later.
    pub(crate) fn wait(&mut self, millis: u64) -> &mut Self {
        self.now += Span::from_millis(millis);
        self
    }

    pub(crate) fn now(&self) -> Time {
        self.now
    }

    pub(crate) fn fact(&mut self, fact: Fact) -> RecordId {
        self.because(None, fact)
    }

    pub(crate) fn because(&mut self, cause: Option<RecordId>, fact: Fact) -> RecordId {
        let rules = Rules::NONE;
        self.trace.push(Record { at: self.now, fact, cause: cause.map(Cause::new), rules })
    }

    pub(crate) fn ruled(&mut self, rules: &[Rule], fact: Fact) -> RecordId {
        self.trace.push(Record { at: self.now, fact, cause: None, rules: Rules::of(rules) })
    }

    /// A consumer's message to the broker, on the consumer's own channel.
    pub(crate) fn ask(&mut self, consumer: ConsumerId, request: Request) -> RecordId {
        self.fact(Fact::Sent {
            from: consumer.into(),
            to: B1.into(),
            connection: ConnectionId(consumer.0),
            arrives: self.now + LATENCY,
            answers: None,
            message: Message::Request(request),
        })
    }

    /// A message that has not been taken is: at its arrival, or now if that is later.
    pub(crate) fn take(&mut self, sent: RecordId) -> RecordId {
        let Fact::Sent { to, arrives, .. } = self.trace[sent].fact else { panic!("{sent:?} sent nothing") };
        self.now = self.now.max(arrives);
        self.because(Some(sent), Fact::Received { node: to, sent })
    }

    /// A message to the broker, taken by it.
    pub(crate) fn deliver(&mut self, consumer: ConsumerId, request: Request) -> RecordId {
        let sent = self.ask(consumer, request);
        self.take(sent);
        sent
    }

    /// The broker's answer to a request.
    pub(crate) fn answer(&mut self, request: RecordId, response: Response) -> RecordId {
        let Fact::Sent { from, connection, .. } = self.trace[request].fact else { panic!("{request:?} sent nothing") };
        self.fact(Fact::Sent {
            from: B1.into(),
            to: from,
            connection,
            arrives: self.now + LATENCY,
            answers: Some(Cause::new(request)),
            message: Message::Response(response),
        })
    }

    /// The consumer's process, with a channel to the broker, becomes a member with a held join; the join's record.
    pub(crate) fn arrive(&mut self, consumer: ConsumerId, topics: &[TopicId]) -> RecordId {
        self.fact(Fact::ProcessStarted { node: consumer.into() });
        self.fact(Fact::Subscribed { consumer, topics: topics.into() });
        self.open(consumer);
        self.rejoin(consumer, topics)
    }

    pub(crate) fn open(&mut self, consumer: ConsumerId) {
        let connection = ConnectionId(consumer.0);
        self.fact(Fact::ChannelOpening { connection, consumer, broker: B1 });
        self.fact(Fact::ChannelOpened { connection, consumer, broker: B1 });
    }

    /// The consumer joins; the join's record.
    pub(crate) fn rejoin(&mut self, consumer: ConsumerId, topics: &[TopicId]) -> RecordId {
        self.deliver(consumer, join(consumer, topics))
    }

    pub(crate) fn added(&mut self, consumer: ConsumerId) -> RecordId {
        self.fact(Fact::MemberAdded { broker: B1, member: member(consumer) })
    }

    pub(crate) fn rebalance(&mut self, why: RebalanceReason) -> RecordId {
        self.fact(Fact::RebalanceStarted { broker: B1, why })
    }

    pub(crate) fn form(&mut self, formed: Formed) -> RecordId {
        self.fact(Fact::AssignmentComputed { broker: B1, formed: Arc::new(formed) })
    }

    /// A join is answered with a share of `orders`, and its consumer calls back and fetches.
    pub(crate) fn settle(&mut self, request: RecordId, number: u32, indices: &[u32]) {
        let Fact::Sent { from, .. } = self.trace[request].fact else { panic!("{request:?} sent nothing") };
        let consumer = from.consumer().expect("a consumer sent the join");
        let answer = self.answer(request, joined(number, indices));
        self.take(answer);
        self.fact(Fact::GenerationRecorded { consumer, generation: generation(number) });
        self.call(consumer, Callback::Assigned, indices);
        self.fetch(consumer, indices);
    }

    /// A callback from its start to its return, in 20 ms.
    pub(crate) fn call(&mut self, consumer: ConsumerId, callback: Callback, indices: &[u32]) {
        self.call_in(consumer, callback, indices);
        self.wait(20);
        self.fact(Fact::CallbackReturned { consumer, callback });
    }

    pub(crate) fn call_in(&mut self, consumer: ConsumerId, callback: Callback, indices: &[u32]) -> RecordId {
        let takes = Span::from_millis(20);
        self.fact(Fact::CallbackStarted { consumer, callback, partitions: orders(indices).into(), takes })
    }

    pub(crate) fn fetch(&mut self, consumer: ConsumerId, indices: &[u32]) -> RecordId {
        self.fact(Fact::FetchStarted { consumer, from: at_zero(indices) })
    }

    pub(crate) fn stop(&mut self, consumer: ConsumerId, indices: &[u32]) -> RecordId {
        self.fact(Fact::FetchStopped { consumer, at: at_zero(indices) })
    }

    /// A member stops fetching its share of `orders` and is free to join.
    pub(crate) fn give_up(&mut self, consumer: ConsumerId, indices: &[u32]) {
        self.stop(consumer, indices);
        self.call(consumer, Callback::Deassigned, indices);
    }

    /// C1 and C2 share the four partitions of `orders` in generation 2, after C1 had them alone in generation 1.
    pub(crate) fn two_members() -> Self {
        let mut script = Self::new();
        for broker in [B1, B2] {
            script.fact(Fact::ProcessStarted { node: broker.into() });
        }
        let first = script.arrive(C1, &[ORDERS]);
        script.added(C1);
        script.rebalance(RebalanceReason::NewMember(member(C1)));
        script.form(shares(1, 4, &[(C1, &[0, 1, 2, 3])]));
        script.settle(first, 1, &[0, 1, 2, 3]);
        script.wait(100);
        let second = script.arrive(C2, &[ORDERS]);
        script.added(C2);
        script.rebalance(RebalanceReason::NewMember(member(C2)));
        let told = script.beat(C1, 1, Err(HeartbeatError::RebalanceInProgress));
        script.take(told);
        script.give_up(C1, &[0, 1, 2, 3]);
        let again = script.rejoin(C1, &[ORDERS]);
        script.form(shares(2, 4, &[(C1, &[0, 1]), (C2, &[2, 3])]));
        script.settle(again, 2, &[0, 1]);
        script.settle(second, 2, &[2, 3]);
        script.wait(100);
        script
    }

    /// A heartbeat is sent, taken and answered; the answer's record.
    pub(crate) fn beat(&mut self, consumer: ConsumerId, number: u32, outcome: Result<(), HeartbeatError>) -> RecordId {
        let request = self.deliver(consumer, heartbeat(consumer, number));
        self.answer(request, Response::Heartbeat(outcome))
    }
}

pub(crate) const fn member(consumer: ConsumerId) -> MemberId {
    MemberId(consumer.0)
}

pub(crate) const fn generation(number: u32) -> Generation {
    Generation { epoch: Epoch(0), life: 1, number }
}

pub(crate) fn orders(indices: &[u32]) -> Vec<Partition> {
    indices.iter().map(|index| Partition { topic: ORDERS, index: *index }).collect()
}

/// Partitions of `orders`, each at offset 0.
pub(crate) fn at_zero(indices: &[u32]) -> Offsets {
    orders(indices).into_iter().map(|partition| (partition, Offset(0))).collect()
}

/// One partition of `orders` at an offset.
pub(crate) fn at_offset(index: u32, offset: u64) -> Offsets {
    [(Partition { topic: ORDERS, index }, Offset(offset))].into()
}

pub(crate) fn join(consumer: ConsumerId, topics: &[TopicId]) -> Request {
    let session_timeout = Span::from_secs(10);
    Request::Join(Arc::new(Join { member: member(consumer), strategy: None, session_timeout, topics: topics.into() }))
}

pub(crate) fn heartbeat(consumer: ConsumerId, number: u32) -> Request {
    Request::Heartbeat { member: member(consumer), generation: generation(number) }
}

pub(crate) fn commit(consumer: ConsumerId, number: u32, offsets: &Offsets) -> Arc<Commit> {
    Arc::new(Commit { member: member(consumer), generation: generation(number), offsets: Arc::clone(offsets) })
}

pub(crate) fn joined(number: u32, indices: &[u32]) -> Response {
    let counts = [(ORDERS, 4)].into();
    let assignment = at_zero(indices);
    Response::Join(Ok(Arc::new(Joined { given: None, generation: generation(number), assignment, counts })))
}

pub(crate) fn metadata(coordinator: Option<BrokerId>) -> Response {
    Response::Metadata(Arc::new(Metadata { brokers: [B1].into(), topics: [(ORDERS, 4)].into(), coordinator }))
}

/// A generation whose members all subscribe to `orders` alone.
pub(crate) fn shares(number: u32, count: u32, shares: &[(ConsumerId, &[u32])]) -> Formed {
    let topics: Topics = [ORDERS].into();
    Formed {
        generation: generation(number),
        assignment: shares.iter().map(|(consumer, list)| (member(*consumer), orders(list).into())).collect(),
        subscriptions: shares.iter().map(|(consumer, _)| (member(*consumer), Arc::clone(&topics))).collect(),
        counts: [(ORDERS, count)].into(),
    }
}
