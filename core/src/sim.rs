//! The deterministic simulation of a plan: it drives the state machines through virtual time and writes the trace.
//!
//! The law of the core, stated once: a node is given one input with its time; it changes its state and pushes effects;
//! the simulation carries out all of them, in order, before any node is given another input. Nothing else moves.
//!
//! At one instant, arrivals and closings come first, in the order in which they were sent, then commands, then timers
//! in the order in which they were set (decision 15). The same plan always gives the same trace, byte for byte.

mod faults;
mod network;
mod queue;
mod role;

use std::sync::Arc;

use crate::broker::Broker;
use crate::cluster::Cluster;
use crate::consumer::{CommitOrder, Consumer, ConsumerContext, ConsumerEffect, ConsumerInput, ConsumerTimer};
use crate::coordinator::{CoordinatorContext, CoordinatorEffect, CoordinatorTimer, Written};
use crate::id::{BrokerId, ConnectionId, ConsumerId, Generation, MemberId, NodeId, NodeKind, RecordId};
use crate::map::Map;
use crate::message::{Message, Topics};
use crate::offsets::OffsetLog;
use crate::rules::Rules;
use crate::scenario::{CommitPlan, Order, Plan, limits};
use crate::time::{Span, Time};
use crate::trace::{Cause, Fact, Record, Trace};

use network::{Network, Packet};
use queue::{Event, Queue, Slot, What};
use role::Role;

/// A run of a plan, at some moment of its virtual time.
///
/// It can be run in any number of pieces; a clone goes on independently, and sharing what has been recorded makes the
/// clone cheap.
#[derive(Clone, Debug)]
pub struct Simulation {
    plan: Arc<Plan>,
    now: Time,
    queue: Queue,
    /// One for each broker, then one for each consumer.
    processes: Vec<Process>,
    brokers: Vec<Broker>,
    consumers: Vec<Consumer>,
    /// What each consumer's application subscribes to when it starts (again).
    topics: Vec<Topics>,
    network: Network,
    cluster: Cluster,
    offsets: OffsetLog,
    /// What a crashed coordinator had written of the group.
    written: Option<Written>,
    role: Role,
    trace: Trace,
    /// What the trace counts towards its limit.
    weight: usize,
    is_stopped: bool,
    /// The record that brings about what is being recorded.
    cause: Option<Cause>,
    /// The record that began the busy stretch that is being set up.
    busy_cause: Option<Cause>,
    consumer_effects: Vec<ConsumerEffect>,
    coordinator_effects: Vec<CoordinatorEffect>,
}

/// A process: whether it runs, what it has not taken yet, and its timers.
#[derive(Clone, Debug, Default)]
struct Process {
    state: ProcessState,
    /// Whether it has run before.
    has_run: bool,
    busy: Option<Busy>,
    /// Inputs that wait until it is neither paused nor busy.
    waiting: std::collections::VecDeque<Waiting>,
    /// Timers that came due meanwhile, in the order in which they did.
    overdue: Vec<u32>,
    timers: Vec<Slot>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
enum ProcessState {
    #[default]
    Down,
    Up,
    Paused {
        since: Time,
    },
}

/// A thread that is kept by a callback or by slow processing.
#[derive(Clone, Copy, Debug)]
struct Busy {
    /// Which of the process's busy stretches this is, to tell late wake-ups.
    turn: u64,
    until: Time,
    /// What began it.
    cause: Option<Cause>,
}

/// An input that waits for its process.
#[derive(Clone, Debug)]
enum Waiting {
    Packet(ConnectionId, Packet),
    Order(u32),
    News(BrokerId),
}

impl Simulation {
    /// A run at time zero: nothing has happened yet.
    #[must_use]
    pub fn new(plan: Arc<Plan>) -> Self {
        let cast = Arc::clone(&plan.cast);
        let producers = plan.producers.iter().map(|p| (p.partitions, p.produced_per_second));
        let mut queue = Queue::default();
        for (i, (at, _)) in plan.orders.iter().enumerate() {
            queue.push(*at, What::Order(i as u32));
        }
        let brokers = (0..cast.brokers).map(|b| Broker::new(BrokerId(b), cast.consumers.len() as u32, &plan.settings));
        let nodes = usize::from(cast.brokers) + cast.consumers.len();
        let mut simulation = Self {
            now: Time::ZERO,
            queue,
            processes: vec![Process::default(); nodes],
            brokers: brokers.collect(),
            consumers: plan.consumers.iter().map(|c| Consumer::new(Arc::clone(c), Arc::clone(&c.topics))).collect(),
            topics: plan.consumers.iter().map(|c| Arc::clone(&c.topics)).collect(),
            network: Network::new(&plan),
            cluster: Cluster::new(cast.brokers, producers),
            offsets: OffsetLog::default(),
            written: None,
            role: Role::new(cast.coordinator),
            trace: Trace::new(cast),
            weight: 0,
            is_stopped: false,
            cause: None,
            busy_cause: None,
            consumer_effects: Vec::new(),
            coordinator_effects: Vec::new(),
            plan,
        };
        for broker in 0..simulation.plan.cast.brokers {
            simulation.start_process(BrokerId(broker).into());
            simulation.cause = None;
        }
        simulation.take_first_roles();
        simulation
    }

    // --- getters ---

    /// The plan that it runs.
    #[must_use]
    pub fn plan(&self) -> &Arc<Plan> {
        &self.plan
    }

    /// What has happened so far.
    #[must_use]
    pub fn trace(&self) -> &Trace {
        &self.trace
    }

    /// The virtual time.
    #[must_use]
    pub fn now(&self) -> Time {
        self.now
    }

    /// When something happens next; `None` if nothing ever will, or the run's record limit is reached.
    #[must_use]
    pub fn next_event_time(&self) -> Option<Time> {
        if self.is_stopped { None } else { self.queue.next_time() }
    }

    // --- driving ---

    /// Lets everything happen that happens up to and at `time`, and sets the clock to it. The plan's own end does not
    /// bound it. Time does not go back: an earlier `time` does nothing.
    pub fn run_until(&mut self, time: Time) {
        while self.next_event_time().is_some_and(|next| next <= time) {
            self.step();
        }
        self.now = self.now.max(time);
    }

    /// Runs to the end that the plan names.
    pub fn run(&mut self) {
        self.run_until(self.plan.until);
    }

    /// Lets the next thing happen and returns its time; `None` if there is none.
    pub fn step(&mut self) -> Option<Time> {
        if self.is_stopped {
            return None;
        }
        let event = self.queue.pop()?;
        self.now = event.at;
        self.cause = None;
        match event.what {
            What::Arrival { connection, end } => self.arrive(connection, end),
            What::Order(order) => self.order(order),
            What::Timer { node, timer } => self.timer_due(node, timer, &event),
            What::ThreadFree { node, turn } => self.thread_free(node, turn),
            What::Takeover { absence } => self.takeover(absence),
            What::Learned { broker, coordinator } => self.news(broker, coordinator),
        }
        Some(event.at)
    }

    // --- recording ---

    fn record(&mut self, fact: Fact, rules: Rules) -> Option<RecordId> {
        if self.is_stopped {
            return None;
        }
        self.weight += 1 + fact.weight();
        let fact = if self.weight >= limits::RECORDS {
            self.is_stopped = true;
            Fact::LimitReached
        } else {
            fact
        };
        Some(self.trace.push(Record { at: self.now, fact, cause: self.cause, rules }))
    }

    fn note(&mut self, fact: Fact) {
        self.record(fact, Rules::NONE);
    }

    // --- giving inputs to nodes ---

    fn slot(&self, node: NodeId) -> usize {
        match node.kind() {
            NodeKind::Broker(broker) => broker.index(),
            NodeKind::Consumer(consumer) => self.brokers.len() + consumer.index(),
        }
    }

    fn process(&mut self, node: NodeId) -> &mut Process {
        let slot = self.slot(node);
        &mut self.processes[slot]
    }

    /// Gives an input to its process now, or holds it back.
    fn deliver(&mut self, node: NodeId, input: Waiting) {
        let process = self.process(node);
        if process.is_free() {
            self.take(node, input);
        } else if process.state != ProcessState::Down {
            process.waiting.push_back(input);
        }
    }

    /// A process takes what waited, then its overdue timers, each once, for as long as its thread is free.
    fn catch_up(&mut self, node: NodeId) {
        loop {
            let process = self.process(node);
            if !process.is_free() {
                return;
            }
            if let Some(input) = process.waiting.pop_front() {
                self.take(node, input);
            } else if !process.overdue.is_empty() {
                let timer = process.overdue.remove(0);
                self.fire_if_due(node, timer);
            } else {
                return;
            }
        }
    }

    fn take(&mut self, node: NodeId, input: Waiting) {
        match input {
            Waiting::Packet(connection, packet) => self.take_packet(node, connection, packet),
            Waiting::Order(order) => self.take_order(order),
            Waiting::News(coordinator) => self.take_news(node, coordinator),
        }
    }

    fn give_consumer(&mut self, consumer: ConsumerId, input: ConsumerInput) {
        let mut effects = std::mem::take(&mut self.consumer_effects);
        let mut cx = ConsumerContext { now: self.now, cluster: &self.cluster, effects: &mut effects };
        self.consumers[consumer.index()].handle(input, &mut cx);
        for effect in effects.drain(..) {
            self.carry_out(consumer, effect);
        }
        self.consumer_effects = effects;
    }

    fn give_broker(&mut self, broker: BrokerId, give: impl FnOnce(&mut Broker, &mut CoordinatorContext<'_>)) {
        let mut effects = std::mem::take(&mut self.coordinator_effects);
        let mut cx = CoordinatorContext {
            now: self.now,
            cluster: &self.cluster,
            offsets: &mut self.offsets,
            latest_epoch: self.role.epoch,
            effects: &mut effects,
        };
        give(&mut self.brokers[broker.index()], &mut cx);
        for effect in effects.drain(..) {
            match effect {
                CoordinatorEffect::Reply { to, response, rules } => self.reply(to, response, rules),
                CoordinatorEffect::Set { timer, after } => {
                    self.set_timer(broker.into(), coordinator_slot(timer), after)
                }
                CoordinatorEffect::Close { connection, rules } => self.close_from_broker(broker, connection, rules),
                CoordinatorEffect::Cancel(timer) => self.cancel_timer(broker.into(), coordinator_slot(timer)),
                CoordinatorEffect::CancelAll => self.process(broker.into()).cancel_timers(),
                CoordinatorEffect::Note { fact, rules } => {
                    self.record(fact, rules);
                }
            }
        }
        self.coordinator_effects = effects;
    }

    fn carry_out(&mut self, consumer: ConsumerId, effect: ConsumerEffect) {
        let node = NodeId::from(consumer);
        match effect {
            ConsumerEffect::Open(broker) => self.open(consumer, broker),
            ConsumerEffect::Close(broker) => self.close_from(consumer, broker),
            ConsumerEffect::Send { broker, correlation, request, rules } => {
                self.send_request(consumer, broker, correlation, Message::Request(request), rules);
            }
            ConsumerEffect::Set { timer, after } => self.set_timer(node, timer as u32, after),
            ConsumerEffect::Cancel(timer) => self.cancel_timer(node, timer as u32),
            ConsumerEffect::Busy(span) => self.keep_thread(node, span),
            ConsumerEffect::Note { fact, rules } => self.note_of_consumer(fact, rules),
            ConsumerEffect::Ignored(reason) => self.note(Fact::CommandIgnored { node, reason }),
            ConsumerEffect::End => self.end_process(consumer),
        }
    }

    fn note_of_consumer(&mut self, fact: Fact, rules: Rules) {
        let keeps_thread = matches!(fact, Fact::CallbackStarted { .. } | Fact::ProcessingStarted { .. });
        let frees_thread = matches!(fact, Fact::CallbackReturned { .. } | Fact::ProcessingEnded { .. });
        let id = self.record(fact, rules).map(Cause::new);
        if keeps_thread {
            self.busy_cause = id;
        }
        if frees_thread {
            self.cause = id;
        }
    }

    // --- timers and busy threads ---

    fn set_timer(&mut self, node: NodeId, timer: u32, after: Span) {
        let (at, cause) = (self.now + after, self.cause);
        let order = self.queue.next_order();
        let slot = self.process(node).timer(timer);
        slot.due = at;
        slot.order = order;
        slot.cause = cause;
        if slot.queued > at {
            slot.queued = at;
            self.queue.push_ordered(at, order, What::Timer { node, timer });
        }
    }

    fn cancel_timer(&mut self, node: NodeId, timer: u32) {
        self.process(node).timer(timer).due = Time::MAX;
    }

    /// A timer's entry came up in the queue: the timer may have been set anew or cancelled since.
    fn timer_due(&mut self, node: NodeId, timer: u32, event: &Event) {
        let process = self.process(node);
        let slot = process.timer(timer);
        if slot.queued != event.at {
            return;
        }
        slot.queued = Time::MAX;
        let (due, order) = (slot.due, slot.order);
        if due == Time::MAX {
            return;
        }
        if (due, order) > (event.at, event.number()) {
            slot.queued = due;
            return self.queue.push_ordered(due, order, What::Timer { node, timer });
        }
        if process.is_free() {
            self.fire_if_due(node, timer);
        } else if !process.overdue.contains(&timer) {
            process.overdue.push(timer);
        }
    }

    fn fire_if_due(&mut self, node: NodeId, timer: u32) {
        let now = self.now;
        let slot = self.process(node).timer(timer);
        if slot.due > now {
            return;
        }
        slot.due = Time::MAX;
        self.cause = slot.cause;
        match node.kind() {
            NodeKind::Consumer(consumer) => {
                if let Some(timer) = ConsumerTimer::ALL.get(timer as usize) {
                    self.give_consumer(consumer, ConsumerInput::Timer(*timer));
                }
            }
            NodeKind::Broker(broker) => {
                let timer = coordinator_timer(timer);
                self.give_broker(broker, |broker, cx| broker.handle_timer(timer, cx));
            }
        }
    }

    /// AR2: until the thread is free the process takes nothing.
    fn keep_thread(&mut self, node: NodeId, span: Span) {
        let turn = self.queue.next_order();
        let until = self.now + span;
        let cause = self.busy_cause.take();
        self.process(node).busy = Some(Busy { turn, until, cause });
        self.queue.push(until, What::ThreadFree { node, turn });
    }

    fn thread_free(&mut self, node: NodeId, turn: u64) {
        let process = self.process(node);
        let Some(busy) = process.busy.filter(|busy| busy.turn == turn && process.state == ProcessState::Up) else {
            return;
        };
        process.busy = None;
        self.cause = busy.cause;
        if let Some(consumer) = node.consumer() {
            self.give_consumer(consumer, ConsumerInput::ThreadFree);
        }
        self.catch_up(node);
    }
}

impl Process {
    fn is_free(&self) -> bool {
        self.state == ProcessState::Up && self.busy.is_none()
    }

    fn cancel_timers(&mut self) {
        for timer in &mut self.timers {
            timer.due = Time::MAX;
        }
    }

    fn timer(&mut self, timer: u32) -> &mut Slot {
        let place = timer as usize;
        if self.timers.len() <= place {
            self.timers.resize(place + 1, Slot::default());
        }
        &mut self.timers[place]
    }
}

/// Where a coordinator's timer stands in its process's list.
fn coordinator_slot(timer: CoordinatorTimer) -> u32 {
    match timer {
        CoordinatorTimer::PartitionCheck => 0,
        CoordinatorTimer::Session(member) => 1 + 2 * member.0,
        CoordinatorTimer::JoinDeadline(member) => 2 + 2 * member.0,
    }
}

fn coordinator_timer(slot: u32) -> CoordinatorTimer {
    match (slot, slot % 2) {
        (0, _) => CoordinatorTimer::PartitionCheck,
        (_, 1) => CoordinatorTimer::Session(MemberId((slot - 1) / 2)),
        (_, _) => CoordinatorTimer::JoinDeadline(MemberId((slot - 2) / 2)),
    }
}

/// The offsets that brokers have committed, for those who look at a run from outside.
impl Simulation {
    /// The committed offset of every partition of a topic that has one.
    #[must_use]
    pub fn committed(&self, partition: crate::id::Partition) -> crate::id::Offset {
        self.offsets.committed(partition)
    }
}

type Links = Map<(ConsumerId, BrokerId), network::Link>;

fn commit_order(plan: &CommitPlan, numbered: impl Fn(u32) -> Option<Generation>) -> CommitOrder {
    CommitOrder { member: plan.member, generation: plan.generation.and_then(numbered), offsets: plan.offsets.clone() }
}

fn order_node(order: &Order) -> Option<NodeId> {
    match order {
        Order::Start(node) | Order::Crash(node) | Order::Pause(node) | Order::Resume(node) => Some(*node),
        Order::Subscribe(consumer, _)
        | Order::Commit(consumer, _)
        | Order::Heartbeat(consumer, _, _)
        | Order::Process(consumer, _)
        | Order::Close(consumer)
        | Order::Cut(consumer, _)
        | Order::Heal(consumer, _) => Some((*consumer).into()),
        Order::AddPartitions(..) | Order::MoveCoordinator(_) => None,
    }
}
