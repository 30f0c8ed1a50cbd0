//! Groups E and F: partitions, subscriptions and shares.

use groupscope_core::time::Span;

use crate::play::{as_the_document, case, play, with};

const NEVER: Option<Span> = Some(Span::from_secs(24 * 60 * 60));

/// The coordinator sees it at its next look, at 40.05, and the members hear of it at their next heartbeats.
#[test]
fn case_e1_partitions_are_added() {
    for scenario in [case("E1"), as_the_document(case("E1"))] {
        let run = play(&scenario);
        assert_eq!(run.rebalances()[2..], ["40.05 PartitionsChanged"]);
        assert_eq!(run.generations()[2..], ["40.13 3: C1 t 0-3, C2 t 4-7"]);

        // Where nobody looks, the new partitions have no owner.
        let blind = play(&with(scenario, |scenario| {
            scenario.settings.partition_check = NEVER;
            scenario.defaults.metadata_refresh = NEVER;
        }));
        assert_eq!(blind.generations()[1..], ["10.09 2: C1 t 0-2, C2 t 3-5"]);
    }
}

/// Kafka answers an unchanged join of a stable group's member with what it has; the document rebalances at any join.
#[test]
fn case_e3_joining_again_changes_nothing() {
    let run = play(&case("E3"));
    assert_eq!(run.generations(), ["0.05 1: C1 t 0"]);
    assert_eq!(run.last_join("C1"), Some((1, vec![3])));
    assert_eq!(run.callbacks("C1"), ["0.06 + t 0", "41.00 - t 0", "41.02 + t 0"]);

    let document = play(&as_the_document(case("E3")));
    assert_eq!(document.generations()[1..], ["41.01 2: C1 t 0-2"]);
}

#[test]
fn case_e6_two_subscriptions_that_overlap() {
    for scenario in [case("E6"), as_the_document(case("E6"))] {
        let run = play(&scenario);
        assert_eq!(run.generations()[1], "10.09 2: P1 AA 0-1 BB 0, P2 BB 1 CC 0-1 DD 0-1");
    }
}

/// C2's partition is the same before and after, and it gives it up and takes it up all the same.
#[test]
fn case_e7_one_subscription_changes_and_everybody_stops() {
    for scenario in [case("E7"), as_the_document(case("E7"))] {
        let run = play(&scenario);
        assert_eq!(run.rebalances()[2..], ["40.01 SubscriptionChanged"]);
        assert_eq!(run.generations()[2..], ["40.13 3: C1 a 0 b 0-1, C2 a 1"]);
        assert_eq!(run.callbacks("C2")[1..], ["40.12 - a 1", "40.14 + a 1"]);
    }
}

#[test]
fn case_f3_144_partitions_for_four_then_for_five() {
    for scenario in [case("F3"), as_the_document(case("F3"))] {
        let run = play(&scenario);
        assert_eq!(
            run.generations()[1..],
            [
                "10.09 2: C1 t 0-35, C2 t 36-71, C3 t 72-107, C4 t 108-143",
                "60.13 3: C1 t 0-28, C2 t 29-57, C3 t 58-86, C4 t 87-115, C5 t 116-143",
            ]
        );
    }
}
