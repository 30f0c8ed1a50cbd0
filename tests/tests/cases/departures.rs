//! Group A: members that go, and who waits for them.

use groupscope_core::scenario::{Action, CompletionCheck};
use groupscope_core::time::Span;

use crate::play::{as_the_document, case, play, with};

/// The others join at their next heartbeats (50.11) and own nothing until the dead member's session ends: its last
/// heartbeat was taken at 30.11.
#[test]
fn case_a1_restarted_member_makes_the_group_wait_a_session() {
    let run = play(&case("A1"));
    assert_eq!(run.admissions(), ["0.05 C1", "0.05 C2", "0.05 C3", "42.05 C3#2"]);
    assert_eq!(run.removals(), ["60.11 C3 SessionExpired"]);
    assert_eq!(run.generations()[2], "60.11 3: C1 t 0, C2 t 1, C3#2 t 2");
    assert_eq!(run.callbacks("C1")[3..], ["50.12 - t 0", "60.12 + t 0"]);

    let leaves = play(&with(case("A1"), |scenario| scenario.script[0].action = Action::Close("C3".to_owned())));
    assert_eq!(leaves.generations()[2], "40.13 3: C1 t 0-1, C2 t 2", "with a leave: at the next heartbeats");
    assert_eq!(leaves.generations()[3], "50.17 4: C1 t 0, C2 t 1, C3#2 t 2", "and its next life joins at 42");

    let document = play(&as_the_document(case("A1")));
    assert_eq!(document.removals().len(), 0, "it is known by its name, and takes its own place");
    assert_eq!(document.generations()[2], "50.13 3: C1 t 0, C2 t 1, C3 t 2");
}

/// A session to find the first departure out, and another for the window: never more than 60 s. Here C2's last
/// heartbeat was taken at 40.11, so that its session ends 30 s after the crash.
#[test]
fn case_a2_two_departures_at_once_stay_within_two_sessions() {
    let run = play(&case("A2"));
    assert_eq!(run.removals(), ["60.11 C3 SessionExpired", "70.11 C2 SessionExpired"]);
    assert_eq!(run.generations()[2], "70.13 3: C1 t 0-3");

    let leaves = play(&with(case("A2"), |scenario| scenario.script[0].action = Action::Close("C3".to_owned())));
    assert_eq!(leaves.removals(), ["40.11 C3 Left", "70.11 C2 SessionExpired"]);
    assert_eq!(leaves.generations()[2..], ["70.11 3: C1 t 0-3"], "a window of 30 s after it left");

    let document = play(&as_the_document(case("A2")));
    assert_eq!(document.rebalances()[2..], ["60.11 MemberFailed", "70.11 Retried"]);
    assert_eq!(document.generations()[2], "70.13 3: C1 t 0-3");
}

#[test]
fn case_a4_leaving_during_a_rebalance_completes_it() {
    let run = play(&case("A4"));
    assert_eq!(run.removals(), ["55.01 C2 Left"]);
    assert_eq!(run.generations()[2], "55.01 3: C1 t 0, C3 t 1");

    let never = play(&with(case("A4"), |scenario| scenario.settings.completion_check = Some(CompletionCheck::Never)));
    assert_eq!(never.removals(), ["55.01 C2 Left"]);
    assert_eq!(never.generations()[2], "70.05 3: C1 t 0, C3 t 1", "the window of 30 s since 40.05");

    let document = play(&as_the_document(case("A4")));
    assert_eq!(document.removals(), ["60.11 C2 SessionExpired"], "nobody leaves; its session ends");
    assert_eq!(document.generations()[2], "60.13 3: C1 t 0, C3 t 1");
}

/// C2 gives each join up after 9.5 s. Its first two memberships are ghosts, and own a partition each that nobody reads
/// until their sessions end, 30 s after their joins were answered.
#[test]
fn case_a6_abandoned_joins_leave_ghosts() {
    let run = play(&case("A6"));
    assert_eq!(run.admissions(), ["0.05 C1", "20.05 C2", "29.59 C2#2", "39.13 C2#3"]);
    assert_eq!(run.removals(), ["40.07 C1 SessionExpired", "70.07 C2 SessionExpired", "70.07 C2#2 SessionExpired"]);
    assert_eq!(run.generations()[1..], ["40.07 2: C2 t 0, C2#2 t 1, C2#3 t 2", "70.11 3: C2#3 t 0-2"]);

    let document = play(&as_the_document(case("A6")));
    assert_eq!(document.admissions(), ["0.05 C1", "20.05 C2"], "a second join takes the first one's place");
    assert_eq!(document.generations()[1..], ["40.09 2: C2 t 0-2"]);
}

/// Each join throws the other member out, which comes back at its next heartbeat and does the same: two generations an
/// interval, and one member that owns everything in each.
#[test]
fn case_a9_no_window_to_join_in() {
    let run = play(&case("A9"));
    assert_eq!(
        run.generations()[1..5],
        ["20.05 2: C2 t 0-1", "20.089998 3: C1#2 t 0-1", "23.423333 4: C2#2 t 0-1", "23.463331 5: C1#3 t 0-1",]
    );
    assert_eq!(run.generations()[16], "43.703329 17: C1#9 t 0-1");
    assert!(run.removals().iter().all(|removal| removal.ends_with("JoinMissing")), "{:?}", run.removals());

    let mended = play(&with(case("A9"), |scenario| scenario.settings.join_window = None));
    assert_eq!(mended.generations()[1..], ["20.089998 2: C1 t 0, C2 t 1"]);
}

#[test]
fn case_a15_a_member_that_crashes_while_it_waits_counts_as_alive() {
    let run = play(&case("A15"));
    assert_eq!(run.generations()[1..], ["40.07 2: C2 t 0-1"], "C1's session ends, and the dead C2 gets everything");
    assert_eq!(run.removals(), ["40.07 C1 SessionExpired", "70.07 C2 SessionExpired"]);

    let document = play(&as_the_document(case("A15")));
    assert_eq!(document.generations().len(), 1, "its join is answered `retry`, and nobody is there to read that");
    assert_eq!(document.removals(), ["40.07 C1 SessionExpired", "70.07 C2 SessionExpired"]);
}

/// The old members' sessions end at 80.11. New ones that wait 20 s for their joins are there by then; ones that wait 10
/// s have joined twice, and half of the partitions belong to ghosts for another 30 s.
#[test]
fn case_f6_everything_restarts_at_once() {
    let run = play(&case("F6"));
    assert_eq!(run.admissions()[5..].len(), 5);
    assert_eq!(run.generations()[2..], ["80.11 3: N1 t 0-1, N2 t 2-3, N3 t 4-5, N4 t 6-7, N5 t 8-9"]);

    let impatient = play(&with(case("F6"), |scenario| {
        for consumer in &mut scenario.consumers[5..] {
            consumer.settings.join_timeout = Some(Span::from_secs(10));
        }
    }));
    assert_eq!(impatient.admissions()[5..].len(), 10);
    assert_eq!(
        impatient.generations()[2..],
        [
            "80.11 3: N1 t 0, N2 t 1, N3 t 2, N4 t 3, N5 t 4, N1#2 t 5, N2#2 t 6, N3#2 t 7, N4#2 t 8, N5#2 t 9",
            "110.15 4: N1#2 t 0-1, N2#2 t 2-3, N3#2 t 4-5, N4#2 t 6-7, N5#2 t 8-9",
        ]
    );

    let document = play(&as_the_document(case("F6")));
    assert_eq!(document.generations()[2..], ["80.13 3: N1 t 0-1, N2 t 2-3, N3 t 4-5, N4 t 6-7, N5 t 8-9"]);
}

/// The idle member stays in the group by its heartbeats, and takes over.
#[test]
fn case_f1_an_idle_member_stays_a_member() {
    let run = play(&case("F1"));
    assert_eq!(run.generations()[1..], ["10.09 2: C1 t 0, C2 t 1, C3", "60.13 3: C2 t 0, C3 t 1"]);

    let document = play(&with(as_the_document(case("F1")), |scenario| scenario.until = Span::from_secs(110)));
    assert_eq!(document.removals(), ["80.11 C1 SessionExpired"], "it leaves in silence");
    assert_eq!(document.generations()[2..], ["90.13 3: C2 t 0, C3 t 1"]);
}
