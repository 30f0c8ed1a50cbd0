//! The orders of a plan: processes that start, crash, pause and resume, links that are cut and heal, and what
//! applications do.

use std::sync::Arc;

use super::queue::What;
use super::{ProcessState, Simulation, Waiting, commit_order, order_node};
use crate::broker::Broker;
use crate::consumer::{Consumer, ConsumerInput};
use crate::id::{BrokerId, ConsumerId, NodeId, NodeKind};
use crate::rules::Rules;
use crate::scenario::Order;
use crate::trace::{Cause, Fact};

impl Simulation {
    /// Carries out the order of the plan at a place.
    pub(super) fn order(&mut self, place: u32) {
        let plan = Arc::clone(&self.plan);
        let Some((_, order)) = plan.orders.get(place as usize) else { return };
        match order {
            Order::Start(node) => self.start_process(*node),
            Order::Crash(node) => self.crash(*node),
            Order::Pause(node) => self.pause(*node),
            Order::Resume(node) => self.resume(*node),
            Order::Cut(consumer, broker) => {
                if self.network.set_cut(*consumer, *broker, true) {
                    self.note(Fact::LinkCut { consumer: *consumer, broker: *broker });
                } else {
                    self.ignore((*consumer).into(), "the link is cut already");
                }
            }
            Order::Heal(consumer, broker) => {
                if self.network.set_cut(*consumer, *broker, false) {
                    self.note(Fact::LinkHealed { consumer: *consumer, broker: *broker });
                } else {
                    self.ignore((*consumer).into(), "the link is not cut");
                }
            }
            Order::AddPartitions(topic, more) => {
                let count = self.cluster.add_partitions(*topic, *more, self.now);
                self.note(Fact::PartitionsAdded { topic: *topic, count });
            }
            Order::MoveCoordinator(broker) => self.order_move(*broker),
            Order::Subscribe(..) | Order::Commit(..) | Order::Heartbeat(..) | Order::Process(..) | Order::Close(_) => {
                let Some(node) = order_node(order) else { return };
                if self.process(node).state == ProcessState::Down {
                    self.ignore(node, "it is not running");
                } else {
                    self.deliver(node, Waiting::Order(place));
                }
            }
        }
    }

    /// A consumer takes what its application orders.
    pub(super) fn take_order(&mut self, place: u32) {
        let plan = Arc::clone(&self.plan);
        let Some((_, order)) = plan.orders.get(place as usize) else { return };
        self.cause = None;
        let coordinator = self.role.holder.index();
        let numbered = |number| self.brokers[coordinator].generation_numbered(number);
        let (consumer, input) = match order {
            Order::Subscribe(consumer, topics) => {
                self.topics[consumer.index()] = Arc::clone(topics);
                (*consumer, ConsumerInput::Subscribe(Arc::clone(topics)))
            }
            Order::Commit(consumer, commit) => (*consumer, ConsumerInput::Commit(commit_order(commit, numbered))),
            Order::Heartbeat(consumer, member, number) => {
                let generation = number.and_then(numbered);
                (*consumer, ConsumerInput::Heartbeat { member: *member, generation })
            }
            Order::Process(consumer, takes) => (*consumer, ConsumerInput::Process(*takes)),
            Order::Close(consumer) => (*consumer, ConsumerInput::Close),
            Order::Start(_)
            | Order::Crash(_)
            | Order::Pause(_)
            | Order::Resume(_)
            | Order::Cut(..)
            | Order::Heal(..)
            | Order::AddPartitions(..)
            | Order::MoveCoordinator(_) => return,
        };
        self.give_consumer(consumer, input);
    }

    fn ignore(&mut self, node: NodeId, reason: &'static str) {
        self.note(Fact::CommandIgnored { node, reason });
    }

    pub(super) fn start_process(&mut self, node: NodeId) {
        let process = self.process(node);
        if process.state != ProcessState::Down {
            return self.ignore(node, "it is running already");
        }
        process.state = ProcessState::Up;
        let is_restart = std::mem::replace(&mut process.has_run, true);
        self.cause = self.record(Fact::ProcessStarted { node }, Rules::NONE).map(Cause::new);
        match node.kind() {
            NodeKind::Consumer(consumer) => {
                let slot = consumer.index();
                let (plan, topics) = (Arc::clone(&self.plan.consumers[slot]), Arc::clone(&self.topics[slot]));
                self.consumers[slot] = Consumer::new(plan, topics);
                self.give_consumer(consumer, ConsumerInput::Started);
            }
            NodeKind::Broker(broker) if is_restart => self.restart_broker(broker),
            NodeKind::Broker(_) => {}
        }
    }

    /// The holder of the role takes it up again; another broker learns after a while who holds it.
    fn restart_broker(&mut self, broker: BrokerId) {
        self.broker_back(broker);
        if broker == self.role.holder {
            let (epoch, written) = (self.role.epoch, self.written.take());
            if let Some(written) = written {
                self.give_broker(broker, |broker, cx| broker.handle_role(epoch, Some(written), cx));
            }
        } else {
            self.tell_later(broker);
        }
    }

    fn order_move(&mut self, to: BrokerId) {
        if to == self.role.holder {
            self.ignore(to.into(), "it is the coordinator already");
        } else if self.process(to.into()).state != ProcessState::Up {
            self.ignore(to.into(), "it is not running");
        } else {
            self.move_role(to);
        }
    }

    fn crash(&mut self, node: NodeId) {
        if self.process(node).state == ProcessState::Down {
            return self.ignore(node, "it is not running");
        }
        let cause = self.record(Fact::ProcessCrashed { node }, Rules::NONE).map(Cause::new);
        self.bring_down(node, cause);
        if let Some(broker) = node.broker() {
            let consumers = self.plan.cast.consumers.len() as u32;
            let fresh = Broker::new(broker, consumers, &self.plan.settings);
            let crashed = std::mem::replace(&mut self.brokers[broker.index()], fresh);
            if broker == self.role.holder {
                self.written = crashed.written();
            }
            self.broker_away(broker);
        }
    }

    /// A consumer ended in good order.
    pub(super) fn end_process(&mut self, consumer: ConsumerId) {
        let cause = self.record(Fact::ProcessClosed { consumer }, Rules::NONE).map(Cause::new);
        self.bring_down(consumer.into(), cause);
    }

    fn bring_down(&mut self, node: NodeId, cause: Option<Cause>) {
        let process = self.process(node);
        process.state = ProcessState::Down;
        process.busy = None;
        process.waiting.clear();
        process.overdue.clear();
        process.cancel_timers();
        self.close_all(node, cause);
    }

    fn pause(&mut self, node: NodeId) {
        let now = self.now;
        let process = self.process(node);
        match process.state {
            ProcessState::Up => {
                process.state = ProcessState::Paused { since: now };
                self.note(Fact::ProcessPaused { node });
                if let Some(broker) = node.broker() {
                    self.broker_away(broker);
                }
            }
            ProcessState::Paused { .. } => self.ignore(node, "it is paused already"),
            ProcessState::Down => self.ignore(node, "it is not running"),
        }
    }

    /// A process goes on: a busy thread with what was left of its work, then the messages that waited, then the timers
    /// that came due, each once (decision 15).
    fn resume(&mut self, node: NodeId) {
        let now = self.now;
        let process = self.process(node);
        let ProcessState::Paused { since } = process.state else {
            return self.ignore(node, "it is not paused");
        };
        process.state = ProcessState::Up;
        let busy = process.busy;
        self.cause = self.record(Fact::ProcessResumed { node }, Rules::NONE).map(Cause::new);
        if let Some(broker) = node.broker() {
            self.broker_back(broker);
        }
        if let Some(consumer) = node.consumer() {
            self.give_consumer(consumer, ConsumerInput::Resumed { since });
        }
        if let Some(mut busy) = busy {
            busy.turn = self.queue.next_order();
            busy.until = now + busy.until.since(since);
            self.process(node).busy = Some(busy);
            self.queue.push(busy.until, What::ThreadFree { node, turn: busy.turn });
        }
        self.catch_up(node);
    }
}
