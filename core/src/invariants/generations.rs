//! Invariant 5: generations only grow, in the order (epoch, life of the group, number).

use super::{Event, Findings, Invariant};
use crate::id::{ConsumerId, Generation};
use crate::scenario::Plan;
use crate::trace::Fact;

/// The newest generation formed, and the one each consumer recorded last.
#[derive(Clone, Debug)]
pub(super) struct Generations {
    newest: Generation,
    recorded: Vec<Generation>,
}

impl Generations {
    pub(super) fn new(plan: &Plan) -> Self {
        Self { newest: Generation::default(), recorded: vec![Generation::default(); plan.cast.consumers.len()] }
    }

    pub(super) fn observe(&mut self, event: &Event<'_>, findings: &mut Findings) {
        if let Fact::AssignmentComputed { formed, .. } = event.fact() {
            let (newest, formed) = (self.newest, formed.generation);
            if formed <= newest {
                findings.add(Invariant::GenerationsGrow, event, format!("{formed:?} is formed after {newest:?}"));
            }
            self.newest = newest.max(formed);
        } else if let Fact::GenerationRecorded { consumer, generation } = event.fact() {
            self.recorded(event, *consumer, *generation, findings);
        }
    }

    fn recorded(&mut self, event: &Event<'_>, consumer: ConsumerId, generation: Generation, findings: &mut Findings) {
        let name = event.name(consumer);
        if generation > self.newest {
            let message = format!("{name} records {generation:?}, which was never formed");
            findings.add(Invariant::GenerationsGrow, event, message);
        }
        let Some(last) = self.recorded.get_mut(consumer.index()) else { return };
        if generation < *last {
            let message = format!("{name} records {generation:?} after {last:?}");
            findings.add(Invariant::GenerationsGrow, event, message);
        }
        *last = generation;
    }
}

#[cfg(test)]
mod tests {
    use crate::id::Generation;
    use crate::invariants::Invariant::GenerationsGrow;
    use crate::invariants::tests::{expect_broken, expect_sound};
    use crate::script::{self, B1, C1, ORDERS, Script};
    use crate::trace::{Fact, RebalanceReason, RemovalReason};

    #[test]
    fn a_number_formed_twice_is_found() {
        let mut script = Script::two_members();
        script.form(script::shares(2, 4, &[(C1, &[0, 1, 2, 3])]));
        expect_broken(&script, GenerationsGrow, "is formed after");
    }

    #[test]
    fn a_later_life_may_count_from_one() {
        let mut script = Script::two_members();
        for consumer in [script::C1, script::C2] {
            let (member, why) = (script::member(consumer), RemovalReason::SessionExpired);
            script.fact(Fact::MemberRemoved { broker: B1, member, why });
        }
        script.fact(Fact::GroupForgotten { broker: B1 });
        let mut lower_life = script.clone();
        script.arrive(script::C3, &[ORDERS]);
        script.added(script::C3);
        script.rebalance(RebalanceReason::NewMember(script::member(script::C3)));
        let mut formed = script::shares(1, 4, &[(script::C3, &[0, 1, 2, 3])]);
        formed.generation = Generation { life: 2, ..formed.generation };
        script.form(formed);
        expect_sound(&script);
        lower_life.form(script::shares(1, 4, &[(C1, &[0, 1, 2, 3])]));
        expect_broken(&lower_life, GenerationsGrow, "is formed after");
    }

    #[test]
    fn a_consumer_that_goes_back_is_found() {
        let mut script = Script::two_members();
        script.fact(Fact::GenerationRecorded { consumer: C1, generation: script::generation(1) });
        expect_broken(&script, GenerationsGrow, "C1 records");
    }

    #[test]
    fn a_generation_never_formed_is_found() {
        let mut script = Script::two_members();
        script.fact(Fact::GenerationRecorded { consumer: C1, generation: script::generation(3) });
        expect_broken(&script, GenerationsGrow, "never formed");
    }
}
