//! Group B, and A13: sessions, heartbeats and the consumers' own limits.

use groupscope_core::scenario::OnCoordinatorFailure;
use groupscope_core::time::Span;

use crate::play::{as_the_document, case, play, with};

/// The first heartbeat is due 40 s after the assignment, the session ends after 30: the other one gets everything, and
/// suffers the same.
#[test]
fn case_a13_the_first_heartbeat_comes_too_late() {
    let run = play(&case("A13"));
    assert_eq!(
        run.generations()[..4],
        ["0.05 1: C1 t 0-63", "30.05 2: C2 t 0-63", "60.05 3: C1#2 t 0-63", "90.05 4: C2#2 t 0-63",]
    );
    assert_eq!(run.removals()[..2], ["30.05 C1 SessionExpired", "60.05 C2 SessionExpired"]);

    let mended = play(&with(case("A13"), |scenario| scenario.defaults.first_heartbeat = None));
    assert_eq!(mended.removals().len(), 0);
    assert_eq!(mended.generations()[1..], ["10.09 2: C1 t 0-31, C2 t 32-63"]);

    let document = play(&as_the_document(case("A13")));
    assert_eq!(document.generations()[1..3], ["30.07 2: C2 t 0-63", "60.09 3: C1 t 0-63"]);
}

/// C1's last heartbeat was taken at 18.11, and its session ended at 27.11. Here C2 learns of that rebalance at its
/// heartbeat at 30, when C1 is back: generation 3 has both at once, where the reporter's had two.
#[test]
fn case_b1_processing_takes_longer_than_the_session() {
    let run = play(&case("B1"));
    assert_eq!(run.removals(), ["27.11 C1 SessionExpired"]);
    assert_eq!(run.commits()[0], "30.01 C1 UnknownMember");
    assert_eq!(run.generations()[2..], ["30.13 3: C2 t 0, C1#2 t 1"]);
    assert_eq!(run.committed(0), 0, "what C1 processed is read again from there");

    let document = play(&as_the_document(case("B1")));
    assert_eq!(document.commits()[0], "30.01 C1 UnknownMember");
    assert_eq!(document.generations()[2..], ["30.13 3: C1 t 0, C2 t 1"]);
}

/// Both are healthy, and each is thrown out when its heartbeat is on its way. The limit of HB4 runs from a heartbeat
/// that is unanswered, so nobody takes the coordinator for failed between two of them.
#[test]
fn case_b6_a_heartbeat_interval_as_long_as_the_session() {
    let run = play(&case("B6"));
    assert_eq!(run.generations()[1..4], ["10.05 2: C2 t 0-1", "20.05 3: C1#2 t 0-1", "30.05 4: C2#2 t 0-1"]);
    assert_eq!(run.removals().len(), 7);
    assert_eq!(run.coordinator_failures().len(), 0);

    let third = play(&with(case("B6"), |scenario| scenario.defaults.heartbeat_interval = None));
    assert_eq!(third.removals().len(), 0);
    assert_eq!(third.generations().len(), 2);

    let document = play(&as_the_document(case("B6")));
    assert_eq!(document.generations()[1..3], ["10.07 2: C2 t 0-1", "20.09 3: C1 t 0-1"]);
}

/// C1's session ends at 26.74, and C2's join is answered then. A limit of two thirds of its session on the join, sent at
/// 20.04, would have ended 30 ms earlier.
#[test]
fn case_b9_a_pending_join_and_the_consumers_own_timer() {
    let run = play(&case("B9"));
    assert_eq!(run.coordinator_failures().len(), 0, "HB4 rests while the join is pending");
    assert_eq!(run.generations()[1..], ["26.736665 2: C2 t 0-1"]);

    let hasty = play(&with(case("B9"), |scenario| {
        scenario.consumers[1].settings.join_timeout = Some(Span::from_secs(10).fraction(2, 3));
    }));
    assert_eq!(hasty.coordinator_failures()[0], "26.706666 C2 B1 JoinTimeout");

    let document = play(&as_the_document(case("B9")));
    assert_eq!(document.generations()[1..], ["26.756665 2: C2 t 0-1"]);
}

/// HB4 runs from the heartbeat at 10.10, the oldest unanswered one: 14.10, where a limit from the last answer ends at
/// 12.12. By then its session is over as well.
#[test]
fn case_b12_a_consumer_cut_off_for_ten_minutes_comes_back() {
    let run = play(&case("B12"));
    assert_eq!(run.coordinator_failures(), ["14.10 C2 B1 NoAnswer"]);
    assert_eq!(run.removals(), ["14.11 C2 SessionExpired"]);
    assert_eq!(run.generations()[2..], ["16.13 3: C1 t 0-1", "622.17 4: C1 t 0, C2#2 t 1"]);

    let document = play(&as_the_document(case("B12")));
    assert_eq!(document.generations()[2..], ["16.13 3: C1 t 0-1", "622.17 4: C1 t 0, C2 t 1"]);
}

/// C2's session ends at 26.78; C1 has all partitions from 30.14 on, and C2 reads its two until its heartbeat is
/// refused, once the link is mended.
#[test]
fn case_c1_an_evicted_member_goes_on_processing() {
    let run = play(&case("C1"));
    assert_eq!(run.removals(), ["26.776665 C2 SessionExpired"]);
    assert_eq!(run.generations()[2], "30.129997 3: C1 t 0-3");
    assert_eq!(run.overlaps(), ["30.139997 to 60.06: t 2-3"]);
    assert_eq!(run.commits()[0], "60.01 C2 UnknownMember");

    // With HB4 it knows at 26.77, two thirds of its session after the heartbeat that went unanswered first. It fetches
    // on while it looks for the coordinator, for as long as its session lasts (decision 1), or not at all.
    for choice in [OnCoordinatorFailure::Resume, OnCoordinatorFailure::Rejoin] {
        let stops = play(&with(case("C1"), |scenario| {
            scenario.consumers[1].settings.coordinator_timeout = None;
            scenario.consumers[1].settings.on_coordinator_failure = Some(choice);
        }));
        assert_eq!(stops.coordinator_failures()[0], "26.766664 C2 B1 NoAnswer");
        assert_eq!(stops.overlaps().len(), 0, "{choice:?}");
    }

    let document = play(&as_the_document(case("C1")));
    assert_eq!(document.overlaps(), ["30.139997 to 60.06: t 2-3"], "decision 7: reads overlap");
    assert_eq!(document.commits()[0], "60.01 C2 UnknownMember", "and commits do not");
}
