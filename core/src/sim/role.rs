//! Who is coordinator (decision 10): the role moves when its holder has been down or paused for the takeover delay, or
//! by command, and the brokers learn of it one by one.

use super::queue::What;
use super::{ProcessState, Simulation, Waiting};
use crate::id::{BrokerId, Epoch, NodeId};
use crate::rules::Rules;
use crate::trace::{Cause, Fact};

/// The role of coordinator, as the cluster knows it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Role {
    pub(super) holder: BrokerId,
    pub(super) epoch: Epoch,
    /// Counts absences of the holder and their ends, to tell a takeover that is out of date.
    absence: u32,
    vacancy: Vacancy,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Vacancy {
    Filled,
    /// The holder has been away for the takeover delay, and no broker could take over.
    Open,
}

impl Role {
    pub(super) const fn new(holder: BrokerId) -> Self {
        Self { holder, epoch: Epoch(0), absence: 0, vacancy: Vacancy::Filled }
    }
}

impl Simulation {
    /// At the start of the run every broker knows who is coordinator.
    pub(super) fn take_first_roles(&mut self) {
        let Role { holder, epoch, .. } = self.role;
        for broker in (0..self.plan.cast.brokers).map(BrokerId) {
            if broker == holder {
                self.give_broker(broker, |broker, cx| broker.handle_role(epoch, None, cx));
            } else {
                self.give_broker(broker, |broker, cx| broker.handle_learned(holder, cx));
            }
        }
    }

    /// A broker went down or stands still.
    pub(super) fn broker_away(&mut self, broker: BrokerId) {
        if broker == self.role.holder {
            self.role.absence += 1;
            let absence = self.role.absence;
            self.queue.push(self.now + self.plan.settings.takeover_delay, What::Takeover { absence });
        }
    }

    /// A broker is back: the holder keeps the role, another takes it if it is open.
    pub(super) fn broker_back(&mut self, broker: BrokerId) {
        if broker == self.role.holder {
            self.role.absence += 1;
            self.role.vacancy = Vacancy::Filled;
        } else if self.role.vacancy == Vacancy::Open {
            self.move_role(broker);
        }
    }

    pub(super) fn takeover(&mut self, absence: u32) {
        if absence != self.role.absence {
            return;
        }
        let brokers = self.plan.cast.brokers;
        let others = (1..brokers).map(|step| BrokerId((self.role.holder.0 + step) % brokers));
        let next = others.into_iter().find(|broker| self.processes[broker.index()].state == ProcessState::Up);
        match next {
            Some(broker) => self.move_role(broker),
            None => self.role.vacancy = Vacancy::Open,
        }
    }

    /// Moves the role, with the next epoch and what was written of the group.
    pub(super) fn move_role(&mut self, to: BrokerId) {
        let from = self.role.holder;
        let epoch = Epoch(self.role.epoch.0.saturating_add(1));
        let absence = self.role.absence + 1;
        self.role = Role { holder: to, epoch, absence, vacancy: Vacancy::Filled };
        let written = self.brokers[from.index()].written().or_else(|| self.written.take());
        self.written = None;
        let fact = Fact::CoordinatorMoved { broker: to, from, epoch };
        self.cause = self.record(fact, Rules::NONE).map(Cause::new);
        self.give_broker(to, |broker, cx| broker.handle_role(epoch, written, cx));
        for broker in (0..self.plan.cast.brokers).map(BrokerId).filter(|broker| *broker != to) {
            self.tell_later(broker);
        }
    }

    /// The news of who is coordinator sets out for a broker.
    pub(super) fn tell_later(&mut self, broker: BrokerId) {
        let coordinator = self.role.holder;
        self.queue.push(self.now + self.plan.settings.metadata_propagation, What::Learned { broker, coordinator });
    }

    pub(super) fn news(&mut self, broker: BrokerId, coordinator: BrokerId) {
        self.deliver(broker.into(), Waiting::News(coordinator));
    }

    pub(super) fn take_news(&mut self, node: NodeId, coordinator: BrokerId) {
        let Some(broker) = node.broker() else { return };
        if self.role.holder == broker {
            return;
        }
        self.cause = self.record(Fact::CoordinatorLearned { broker, coordinator }, Rules::NONE).map(Cause::new);
        self.give_broker(broker, |broker, cx| broker.handle_learned(coordinator, cx));
    }
}
