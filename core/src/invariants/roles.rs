//! Decision 10: the role of coordinator moves with the next epoch, only its holder writes to the group, in its own
//! epoch, and who takes the group up finds it as it was written.

use super::model::Model;
use super::{Event, Findings, Invariant};
use crate::id::{BrokerId, Generation};
use crate::trace::Fact;

/// Keeps nothing of its own: the model says who holds the role.
#[derive(Clone, Default, Debug)]
pub(super) struct Roles;

impl Roles {
    pub(super) fn observe(&mut self, event: &Event<'_>, model: &Model, findings: &mut Findings) {
        let wrongs = [wrong_move(event, model), wrong_write(event, model), wrong_recovery(event, model)];
        for wrong in wrongs.into_iter().flatten() {
            findings.add(Invariant::SoundTrace, event, wrong);
        }
    }
}

fn wrong_move(event: &Event<'_>, model: &Model) -> Option<String> {
    let Fact::CoordinatorMoved { broker, from, epoch } = event.fact() else { return None };
    let role = model.role;
    if *from != role.holder || *broker == role.holder {
        Some(format!("the role moves from {}, but {} holds it", event.name(*from), event.name(role.holder)))
    } else if *epoch <= role.epoch {
        Some(format!("the role moves with epoch {}, after epoch {}", epoch.0, role.epoch.0))
    } else {
        None
    }
}

/// The broker that a fact has write to the group or to the offset log.
fn writer(fact: &Fact) -> Option<BrokerId> {
    if let Fact::MemberAdded { broker, .. }
    | Fact::MemberRemoved { broker, .. }
    | Fact::RebalanceStarted { broker, .. }
    | Fact::JoinHeld { broker, .. }
    | Fact::RebalanceRetried { broker, .. }
    | Fact::AssignmentComputed { broker, .. }
    | Fact::GroupForgotten { broker }
    | Fact::OffsetsAppended { broker, .. } = fact
    {
        Some(*broker)
    } else {
        None
    }
}

fn wrong_write(event: &Event<'_>, model: &Model) -> Option<String> {
    let broker = writer(event.fact())?;
    let role = model.role;
    if broker != role.holder {
        let (broker, holder) = (event.name(broker), event.name(role.holder));
        return Some(format!("{broker} writes to the group, but {holder} is its coordinator"));
    }
    let Fact::AssignmentComputed { formed, .. } = event.fact() else { return None };
    let epoch = formed.generation.epoch;
    (epoch != role.epoch).then(|| format!("a generation of epoch {} is formed in epoch {}", epoch.0, role.epoch.0))
}

fn wrong_recovery(event: &Event<'_>, model: &Model) -> Option<String> {
    let Fact::GroupRecovered { generation, members, .. } = event.fact() else { return None };
    let group = model.group();
    let written = (group.current().unwrap_or_default(), group.members.len());
    let found: (Generation, usize) = (*generation, *members as usize);
    (found != written).then(|| format!("the group is taken up as {found:?}, but was written as {written:?}"))
}

#[cfg(test)]
mod tests {
    use crate::id::Epoch;
    use crate::invariants::Invariant::SoundTrace;
    use crate::invariants::tests::{expect_broken, expect_sound};
    use crate::script::{self, B1, B2, C1, C2, ORDERS, Script};
    use crate::trace::{Fact, RebalanceReason};

    /// The role has moved to the second broker, which takes up the group of two.
    fn moved() -> Script {
        let mut script = Script::two_members();
        script.fact(Fact::CoordinatorMoved { broker: B2, from: B1, epoch: Epoch(1) });
        script
    }

    fn taken_up(members: u32, number: u32) -> Script {
        let mut script = moved();
        script.fact(Fact::GroupRecovered { broker: B2, generation: script::generation(number), members });
        script
    }

    #[test]
    fn a_group_is_taken_up_as_it_was_written() {
        expect_sound(&taken_up(2, 2));
        expect_broken(&taken_up(1, 2), SoundTrace, "but was written as");
        expect_broken(&taken_up(2, 1), SoundTrace, "but was written as");
    }

    #[test]
    fn the_role_moves_from_its_holder_and_with_the_next_epoch() {
        let mut script = moved();
        script.fact(Fact::CoordinatorMoved { broker: B1, from: B2, epoch: Epoch(1) });
        expect_broken(&script, SoundTrace, "with epoch 1, after epoch 1");
        let mut script = moved();
        script.fact(Fact::CoordinatorMoved { broker: B2, from: B1, epoch: Epoch(2) });
        expect_broken(&script, SoundTrace, "the role moves from B1, but B2 holds it");
    }

    #[test]
    fn a_write_of_one_that_lost_the_role_is_found() {
        let mut script = taken_up(2, 2);
        script.rebalance(RebalanceReason::Rejoined(script::member(C1)));
        expect_broken(&script, SoundTrace, "B1 writes to the group, but B2 is its coordinator");
    }

    #[test]
    fn a_generation_of_an_older_epoch_is_found() {
        let mut script = taken_up(2, 2);
        for (consumer, indices) in [(C1, [0, 1]), (C2, [2, 3])] {
            script.give_up(consumer, &indices);
            script.rejoin(consumer, &[ORDERS]);
        }
        let formed = script::shares(3, 4, &[(C1, &[0, 1]), (C2, &[2, 3])]);
        script.fact(Fact::AssignmentComputed { broker: B2, formed: formed.into() });
        expect_broken(&script, SoundTrace, "a generation of epoch 0 is formed in epoch 1");
    }
}
