//! Invariant 6: two consumers fetch one partition at the same time only if one of them is a zombie: it does not hold
//! the current generation and has not been told yet (decision 7).

use std::collections::BTreeMap;

use super::model::{Model, born, ended};
use super::{Event, Findings, Invariant};
use crate::error::HeartbeatError;
use crate::id::{BrokerId, ConsumerId, Generation, Partition};
use crate::message::{Message, Request, Response};
use crate::scenario::{Plan, RebalanceBy};
use crate::time::Time;
use crate::trace::Fact;

/// Who fetches what, in which generation.
#[derive(Clone, Debug)]
pub(super) struct Fetching {
    held: Vec<Generation>,
    partitions: Vec<Vec<Partition>>,
    fetchers: BTreeMap<Partition, Vec<ConsumerId>>,
    /// Fetching consumers that were told that their generation is over, and when: they stop at once (EC1, SC1).
    told: BTreeMap<ConsumerId, Time>,
    /// The coordinator that each consumer has found.
    coordinators: Vec<Option<BrokerId>>,
    rebalance: RebalanceBy,
}

impl Fetching {
    pub(super) fn new(plan: &Plan) -> Self {
        let consumers = plan.cast.consumers.len();
        Self {
            held: vec![Generation::default(); consumers],
            partitions: vec![Vec::new(); consumers],
            fetchers: BTreeMap::new(),
            told: BTreeMap::new(),
            coordinators: vec![None; consumers],
            rebalance: plan.settings.rebalance,
        }
    }

    pub(super) fn observe(&mut self, event: &Event<'_>, model: &Model, findings: &mut Findings) {
        self.time_passes(event, findings);
        if let Some(consumer) = born(event.fact()).or(ended(event.fact())) {
            self.stop(consumer);
        } else if let Fact::GenerationRecorded { consumer, generation } = event.fact() {
            if let Some(held) = self.held.get_mut(consumer.index()) {
                *held = *generation;
            }
        } else if let Fact::FetchStarted { consumer, from } = event.fact() {
            self.stop(*consumer);
            for (partition, _) in from.iter() {
                self.start(event, *consumer, *partition, model, findings);
            }
        } else if let Fact::FetchStopped { consumer, .. } = event.fact() {
            self.stop(*consumer);
        } else if let Fact::CoordinatorFound { consumer, broker } = event.fact() {
            if let Some(coordinator) = self.coordinators.get_mut(consumer.index()) {
                *coordinator = Some(*broker);
            }
        } else if let Some(consumer) = self.told_by_answer(event).or(self.told_by_closing(event))
            && self.partitions.get(consumer.index()).is_some_and(|partitions| !partitions.is_empty())
        {
            self.told.entry(consumer).or_insert(event.at());
        }
    }

    /// Whoever was told at an earlier instant must have stopped at that instant.
    fn time_passes(&mut self, event: &Event<'_>, findings: &mut Findings) {
        let late: Vec<_> = self.told.iter().filter(|(_, at)| **at < event.at()).map(|(id, _)| *id).collect();
        for consumer in late {
            self.told.remove(&consumer);
            let message = format!("{} was told that its generation is over, and fetches on", event.name(consumer));
            findings.add(Invariant::OnlyZombiesOverlap, event, message);
        }
    }

    fn start(
        &mut self,
        event: &Event<'_>,
        consumer: ConsumerId,
        partition: Partition,
        model: &Model,
        findings: &mut Findings,
    ) {
        let others = self.fetchers.entry(partition).or_default().clone();
        let overlaps = |other: &ConsumerId| !self.is_zombie(consumer, model) && !self.is_zombie(*other, model);
        if let Some(other) = others.into_iter().find(overlaps) {
            let (name, other) = (event.name(consumer), event.name(other));
            let partition = event.trace.cast().partition(partition);
            let message = format!("{name} and {other} both fetch {partition}, and neither is a zombie");
            findings.add(Invariant::OnlyZombiesOverlap, event, message);
        }
        self.fetchers.entry(partition).or_default().push(consumer);
        if let Some(partitions) = self.partitions.get_mut(consumer.index()) {
            partitions.push(partition);
        }
    }

    fn is_zombie(&self, consumer: ConsumerId, model: &Model) -> bool {
        self.held.get(consumer.index()).copied() != model.group().current() && !self.told.contains_key(&consumer)
    }

    fn stop(&mut self, consumer: ConsumerId) {
        self.told.remove(&consumer);
        for partition in self.partitions.get_mut(consumer.index()).map(std::mem::take).unwrap_or_default() {
            if let Some(fetchers) = self.fetchers.get_mut(&partition) {
                fetchers.retain(|fetcher| *fetcher != consumer);
                if fetchers.is_empty() {
                    self.fetchers.remove(&partition);
                }
            }
        }
    }

    /// The consumer that this record tells that its generation is over: by the answer to a heartbeat which carried that
    /// generation (a late answer, to an earlier one, changes nothing: decision 19).
    fn told_by_answer(&self, event: &Event<'_>) -> Option<ConsumerId> {
        let answer = event.taken()?;
        let consumer = answer.to.consumer()?;
        let Message::Response(Response::Heartbeat(Err(error))) = answer.message else { return None };
        match error {
            HeartbeatError::RebalanceInProgress | HeartbeatError::IllegalGeneration | HeartbeatError::UnknownMember => {
            }
            HeartbeatError::NotCoordinator => return None,
        }
        let asked = event.packet(answer.answers?)?;
        let Message::Request(Request::Heartbeat { member, generation }) = asked.message else { return None };
        let is_own =
            event.trace.cast().member(*member) == consumer && self.held.get(consumer.index()) == Some(generation);
        is_own.then_some(consumer)
    }

    /// In option 2 a closed channel to the coordinator tells it (SC1).
    fn told_by_closing(&self, event: &Event<'_>) -> Option<ConsumerId> {
        let Fact::ChannelClosed { node, peer, .. } = event.fact() else { return None };
        let consumer = node.consumer()?;
        let coordinator = self.coordinators.get(consumer.index()).copied().flatten();
        (self.rebalance == RebalanceBy::SocketClose && coordinator == peer.broker()).then_some(consumer)
    }
}

#[cfg(test)]
mod tests {
    use crate::error::HeartbeatError;
    use crate::invariants::Invariant::OnlyZombiesOverlap;
    use crate::invariants::tests::{expect_broken, expect_sound};
    use crate::script::{self, B1, C1, C2, ORDERS, Script};
    use crate::trace::{Fact, RebalanceReason, RemovalReason};

    /// C2 is removed while it fetches, and C1 gets all in generation 3.
    fn zombie() -> Script {
        let mut script = Script::two_members();
        let (broker, member) = (B1, script::member(C2));
        script.fact(Fact::MemberRemoved { broker, member, why: RemovalReason::SessionExpired });
        script.rebalance(RebalanceReason::MemberFailed(member));
        script.give_up(C1, &[0, 1]);
        let join = script.rejoin(C1, &[ORDERS]);
        script.form(script::shares(3, 4, &[(C1, &[0, 1, 2, 3])]));
        script.settle(join, 3, &[0, 1, 2, 3]);
        script
    }

    #[test]
    fn a_zombie_may_overlap_until_it_is_told() {
        let mut script = zombie();
        let told = script.beat(C2, 2, Err(HeartbeatError::UnknownMember));
        script.take(told);
        script.stop(C2, &[2, 3]);
        script.wait(1);
        script.beat(C1, 3, Ok(()));
        expect_sound(&script);
    }

    #[test]
    fn a_zombie_that_fetches_on_is_found() {
        let mut script = zombie();
        let told = script.beat(C2, 2, Err(HeartbeatError::UnknownMember));
        script.take(told);
        script.wait(1);
        script.beat(C1, 3, Ok(()));
        expect_broken(&script, OnlyZombiesOverlap, "C2 was told that its generation is over");
    }

    #[test]
    fn an_answer_to_another_generation_tells_nothing() {
        let mut script = Script::two_members();
        let told = script.beat(C2, 1, Err(HeartbeatError::IllegalGeneration));
        script.take(told);
        script.wait(1);
        script.beat(C1, 2, Ok(()));
        expect_sound(&script);
    }

    #[test]
    fn two_that_hold_the_current_generation_are_found() {
        let mut script = Script::two_members();
        script.stop(C1, &[0, 1]);
        script.fetch(C1, &[1, 2]);
        expect_broken(&script, OnlyZombiesOverlap, "C1 and C2 both fetch orders-2");
    }

    #[test]
    fn a_crash_ends_fetching() {
        let mut script = Script::two_members();
        script.fact(Fact::ProcessCrashed { node: C2.into() });
        let (broker, member) = (B1, script::member(C2));
        script.fact(Fact::MemberRemoved { broker, member, why: RemovalReason::SessionExpired });
        script.rebalance(RebalanceReason::MemberFailed(member));
        script.give_up(C1, &[0, 1]);
        let join = script.rejoin(C1, &[ORDERS]);
        script.form(script::shares(3, 4, &[(C1, &[0, 1, 2, 3])]));
        script.settle(join, 3, &[0, 1, 2, 3]);
        expect_sound(&script);
    }
}
