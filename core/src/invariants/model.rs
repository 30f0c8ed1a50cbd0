//! The state of the group and of every process, worked out from the facts alone and shared by the checks.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::Event;
use crate::id::{BrokerId, ConsumerId, Epoch, Generation, MemberId, NodeId, NodeKind, Partition};
use crate::scenario::Plan;
use crate::trace::{Fact, Formed};

/// What all that has been observed so far comes to.
#[derive(Clone, Debug)]
pub(super) struct Model {
    brokers: Vec<Process>,
    consumers: Vec<Process>,
    /// The broker that holds the role of coordinator, and since which epoch.
    pub(super) role: Role,
    /// The group as each broker that takes itself for the coordinator has it. A broker that lost the role unknowingly
    /// has an old one.
    views: Vec<Group>,
    written: Group,
}

/// Who is coordinator (decision 10).
#[derive(Clone, Copy, Debug)]
pub(super) struct Role {
    pub(super) holder: BrokerId,
    pub(super) epoch: Epoch,
}

/// How a process is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Process {
    Down,
    Running,
    Paused,
}

/// The group as facts of a coordinator have it.
#[derive(Clone, Default, Debug)]
pub(super) struct Group {
    pub(super) members: BTreeSet<MemberId>,
    /// The generation in force; `None` where there is no group, or none formed yet.
    pub(super) formed: Option<Arc<Formed>>,
    /// Its owners, without members removed since.
    owners: Arc<BTreeMap<Partition, MemberId>>,
    /// Whether a rebalance is open.
    pub(super) phase: Phase,
}

/// Whether a rebalance is open.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(super) enum Phase {
    #[default]
    Stable,
    Rebalancing,
}

impl Group {
    pub(super) fn owner(&self, partition: Partition) -> Option<MemberId> {
        self.owners.get(&partition).copied()
    }

    /// The generation in force.
    pub(super) fn current(&self) -> Option<Generation> {
        self.formed.as_ref().map(|formed| formed.generation)
    }

    fn observe(&mut self, fact: &Fact) {
        if let Fact::MemberAdded { member, .. } = fact {
            self.members.insert(*member);
        } else if let Fact::MemberRemoved { member, .. } = fact {
            self.members.remove(member);
            Arc::make_mut(&mut self.owners).retain(|_, owner| owner != member);
        } else if let Fact::RebalanceStarted { .. } = fact {
            self.phase = Phase::Rebalancing;
        } else if let Fact::AssignmentComputed { formed, .. } = fact {
            self.phase = Phase::Stable;
            self.owners = Arc::new(owners(formed));
            self.formed = Some(Arc::clone(formed));
        } else if let Fact::GroupRecovered { .. } = fact {
            // An open rebalance is opened again, which is on record.
            self.phase = Phase::Stable;
        } else if let Fact::GroupForgotten { .. } | Fact::GroupStateLost { .. } = fact {
            *self = Self::default();
        }
    }
}

fn owners(formed: &Formed) -> BTreeMap<Partition, MemberId> {
    let each = formed.assignment.iter();
    each.flat_map(|(member, partitions)| partitions.iter().map(|partition| (*partition, *member))).collect()
}

impl Model {
    pub(super) fn new(plan: &Plan) -> Self {
        Self {
            brokers: vec![Process::Down; usize::from(plan.cast.brokers)],
            consumers: vec![Process::Down; plan.cast.consumers.len()],
            role: Role { holder: plan.cast.coordinator, epoch: Epoch::default() },
            views: vec![Group::default(); usize::from(plan.cast.brokers)],
            written: Group::default(),
        }
    }

    /// The group as it is written (decision 2): every change is written at once, so that a crash of the coordinator
    /// takes nothing away unless it is on record that the state is lost.
    pub(super) fn group(&self) -> &Group {
        &self.written
    }

    /// The group as a broker has it.
    pub(super) fn view(&self, broker: BrokerId) -> &Group {
        self.views.get(broker.index()).unwrap_or(&self.written)
    }

    pub(super) fn process(&self, node: NodeId) -> Process {
        match node.kind() {
            NodeKind::Broker(broker) => self.broker(broker),
            NodeKind::Consumer(consumer) => self.consumer(consumer),
        }
    }

    pub(super) fn brokers(&self) -> impl Iterator<Item = Process> + '_ {
        self.brokers.iter().copied()
    }

    pub(super) fn broker(&self, broker: BrokerId) -> Process {
        self.brokers.get(broker.index()).copied().unwrap_or(Process::Down)
    }

    pub(super) fn consumer(&self, consumer: ConsumerId) -> Process {
        self.consumers.get(consumer.index()).copied().unwrap_or(Process::Down)
    }

    pub(super) fn observe(&mut self, event: &Event<'_>) {
        if let Some((node, process)) = change_of_process(event.fact()) {
            let slot = match node.kind() {
                NodeKind::Broker(broker) => self.brokers.get_mut(broker.index()),
                NodeKind::Consumer(consumer) => self.consumers.get_mut(consumer.index()),
            };
            if let Some(slot) = slot {
                *slot = process;
            }
        }
        if let Some(broker) = event.fact().node().and_then(NodeId::broker) {
            self.observe_coordinator(event.fact(), broker);
        }
    }

    fn observe_coordinator(&mut self, fact: &Fact, broker: BrokerId) {
        let Some(view) = self.views.get_mut(broker.index()) else { return };
        if let Fact::CoordinatorMoved { epoch, .. } = fact {
            self.role = Role { holder: broker, epoch: *epoch };
            *view = Group::default();
        } else if let Fact::CoordinatorResigned { .. } | Fact::ProcessCrashed { .. } = fact {
            *view = Group::default();
        } else {
            if let Fact::GroupRecovered { .. } = fact {
                *view = self.written.clone();
            }
            view.observe(fact);
            if self.role.holder == broker {
                self.written.observe(fact);
            }
        }
    }
}

/// What a fact makes of a process.
pub(super) fn change_of_process(fact: &Fact) -> Option<(NodeId, Process)> {
    if let Fact::ProcessStarted { node } | Fact::ProcessResumed { node } = fact {
        Some((*node, Process::Running))
    } else if let Fact::ProcessPaused { node } = fact {
        Some((*node, Process::Paused))
    } else if let Fact::ProcessCrashed { node } = fact {
        Some((*node, Process::Down))
    } else if let Fact::ProcessClosed { consumer } = fact {
        Some(((*consumer).into(), Process::Down))
    } else {
        None
    }
}

/// The consumer whose process begins a life, if a fact says so.
pub(super) fn born(fact: &Fact) -> Option<ConsumerId> {
    if let Fact::ProcessStarted { node } = fact { node.consumer() } else { None }
}

/// The consumer that has ended, if a fact says so: by a crash, in good order, or with a fatal error (EC6).
pub(super) fn ended(fact: &Fact) -> Option<ConsumerId> {
    if let Fact::ConsumerThrew { consumer, .. } | Fact::ProcessClosed { consumer } = fact {
        Some(*consumer)
    } else if let Fact::ProcessCrashed { node } = fact {
        node.consumer()
    } else {
        None
    }
}
