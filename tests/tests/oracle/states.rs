//! Kafka's group states and their legal changes, read off a coordinator's facts in random runs.

use std::collections::BTreeSet;

use groupscope_core::id::MemberId;
use groupscope_core::scenario::{GroupPlan, Profile, RebalanceBy};
use groupscope_core::time::Span;
use groupscope_core::trace::Fact;

use crate::desk::{Desk, MADE_UP, NAMES, generation, join, request};
use crate::settings;

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum State {
    Stable,
    PreparingRebalance,
    Rebalancing,
    Dead,
}

use State::{Dead, PreparingRebalance, Rebalancing, Stable};

/// The changes that Kafka allows; every other pair raises there.
const LEGAL: [(State, State); 4] = [
    (PreparingRebalance, Rebalancing),
    (PreparingRebalance, Dead),
    (Rebalancing, Stable),
    (Stable, PreparingRebalance),
];

/// A group as its facts tell it; `None` while there is none.
#[derive(Default)]
struct Group {
    state: Option<State>,
    changes: BTreeSet<(State, State)>,
}

impl Group {
    fn enter(&mut self, next: State) {
        if let Some(state) = self.state {
            self.changes.insert((state, next));
        }
        self.state = Some(next);
    }

    /// A new group is stable, in generation 0. Computing the assignment is Kafka's Rebalancing, and the answers that
    /// go out with it make the group stable. The last member's going is one fact here and two changes there: a
    /// rebalance is prepared, and found to be nobody's.
    fn observe(&mut self, fact: &Fact) {
        if let Fact::MemberAdded { .. } = fact {
            self.state.get_or_insert(Stable);
        } else if let Fact::RebalanceStarted { .. } = fact {
            self.enter(PreparingRebalance);
        } else if let Fact::AssignmentComputed { .. } = fact {
            self.enter(Rebalancing);
            self.enter(Stable);
        } else if let Fact::GroupForgotten { .. } = fact {
            if self.state == Some(Stable) {
                self.enter(PreparingRebalance);
            }
            self.enter(Dead);
            self.state = None;
        }
    }

    fn of(desk: &Desk) -> Self {
        let mut group = Self::default();
        desk.facts().iter().for_each(|fact| group.observe(fact));
        group
    }
}

/// A small generator of random numbers (SplitMix64), so that a seed names a run for good.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        (mixed ^ (mixed >> 31)) % bound
    }
}

/// One random act of a member, a stranger or the clock. Ids are the names, and the first three given to each.
fn act(desk: &mut Desk, random: &mut Random) {
    let name = random.below(3) as u32;
    let member = match random.below(8) {
        0 => MADE_UP,
        1 | 2 => MemberId(name),
        _ => MemberId(name + NAMES * (1 + random.below(3) as u32)),
    };
    let held = generation(random.below(4) as u32);
    match random.below(8) {
        0..=2 => drop(desk.ask(&request(join(member)))),
        3 => drop(desk.heartbeat(member, held)),
        4 => drop(desk.leave(member)),
        5 => drop(desk.commit(member, held, &[(0, 1)])),
        6 => desk.wait(Span::from_millis(random.below(30))),
        _ => desk.wait(Span::from_millis(random.below(120))),
    }
}

fn random_runs(settings: &GroupPlan, mut look: impl FnMut(&Desk)) -> BTreeSet<(State, State)> {
    let mut changes = BTreeSet::new();
    for seed in 0..300 {
        let (mut random, mut desk) = (Random(seed), Desk::new(settings, &[3]));
        for _ in 0..60 {
            act(&mut desk, &mut random);
            look(&desk);
        }
        changes.extend(Group::of(&desk).changes);
    }
    changes
}

/// All four legal changes are seen, and none of the twelve others: no rebalance is opened but in Stable, nothing leaves
/// Dead, and no plan is made but for a rebalance that is being prepared.
#[test]
fn oracle_only_legal_state_changes_occur() {
    let changes = random_runs(&settings(Profile::Kafka2015), |_| {});
    assert_eq!(changes, LEGAL.into());
}

/// The document's own coordinator moves between the same states; a retry is a fact of its own and changes none.
#[test]
fn oracle_the_documents_coordinator_makes_the_same_changes() {
    for profile in [Profile::DocumentOption1, Profile::DocumentOption2] {
        assert_eq!(random_runs(&settings(profile), |_| {}), LEGAL.into(), "{profile:?}");
    }
}

/// What a coordinator answers to a member's heartbeat is what its facts say: `RebalanceInProgress` while a rebalance is
/// being prepared, and only then.
#[test]
fn oracle_the_phase_behind_the_answers_is_the_one_on_record() {
    let kafka = settings(Profile::Kafka2015);
    assert_eq!(kafka.rebalance, RebalanceBy::ErrorCode);
    let mut seen = BTreeSet::new();
    random_runs(&kafka, |desk| {
        let Some(answer) = answer_to_a_member(desk) else { return };
        let expected = match Group::of(desk).state {
            Some(Stable) => "OK",
            Some(PreparingRebalance) => "RebalanceInProgress",
            Some(Rebalancing | Dead) => panic!("no request can come in between"),
            None => panic!("a member of no group"),
        };
        assert_eq!(answer, expected);
        seen.insert(answer);
    });
    assert_eq!(seen, ["OK", "RebalanceInProgress"].into());
}

/// What a member of the generation in force would be answered now; `None` where none of them is left.
fn answer_to_a_member(desk: &Desk) -> Option<&'static str> {
    let mut members = BTreeSet::new();
    let mut current = None;
    for fact in desk.facts() {
        if let Fact::AssignmentComputed { formed, .. } = fact {
            current = Some(formed.generation);
            members = formed.assignment.iter().map(|(member, _)| *member).collect();
        } else if let Fact::MemberRemoved { member, .. } = fact {
            members.remove(member);
        }
    }
    let mut probe = desk.clone();
    Some(probe.heartbeat(*members.first()?, current?))
}
