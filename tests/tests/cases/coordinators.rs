//! Group D, and C15: the coordinator fails, or its role moves.

use groupscope_core::message::Request;
use groupscope_core::scenario::{Action, CommitSpec, Limit, Off, OnCoordinatorFailure};
use groupscope_core::time::Span;

use crate::play::{as_the_document, at, case, play, with};

/// B1 stands still from 20 on, and B2 takes the role over at 23 with no group. C1 finds it at 28.93, after HB4 and a
/// request timeout at B1, and its commit arrives before it has joined there.
#[test]
fn case_c15_an_old_generation_at_a_new_coordinator() {
    let run = play(&case("C15"));
    assert_eq!(run.commits()[0], "28.94 C1 IllegalGeneration");
    assert_eq!(run.generations()[2..], ["28.956664 1: C2#2 t 0-1", "32.329997 2: C1#2 t 0, C2#2 t 1"]);

    let document = play(&as_the_document(case("C15")));
    assert_eq!(document.generations()[2..], ["28.936664 3: C1 t 0, C2 t 1"], "its state is kept: members and number");
}

/// Here the broker that loses the role does not know until the news reaches it, and answers heartbeats until then; the
/// one that gets it knows at once. So there is no answer "not the coordinator" for six seconds, and no loop.
#[test]
fn case_d1_the_role_moves_and_the_news_is_slow() {
    let run = play(&case("D1"));
    assert_eq!(run.coordinator_failures(), ["26.786664 C2 B1 NotCoordinator", "26.786664 C1 B1 NotCoordinator"]);
    assert_eq!(run.generations()[2..], ["26.876664 1: C2#2 t 0-3", "30.249997 2: C1#2 t 0-1, C2#2 t 2-3"]);

    // What it writes is refused, and that tells it: from then on it names no coordinator.
    let commits = play(&with(case("D1"), |scenario| {
        let commit = CommitSpec { consumer: "C1".to_owned(), member: None, generation: None, offsets: None };
        scenario.script.push(at(20_500, Action::Commit(commit)));
    }));
    assert_eq!(commits.coordinator_failures(), ["20.52 C1 B1 NotCoordinator", "23.453331 C2 B1 NotCoordinator"]);
    assert_eq!(commits.generations()[2..], ["20.73 1: C1#2 t 0-3", "24.103333 2: C1#2 t 0-1, C2#2 t 2-3"]);
    assert_eq!(
        commits.sent("C1", |request| matches!(request, Request::Metadata { .. })),
        3,
        "at the start, at B1, at B2"
    );

    let document = play(&as_the_document(case("D1")));
    assert_eq!(document.generations().len(), 2, "TR1: a heartbeat at the new coordinator is valid");
}

/// HB4 runs from the heartbeat at 21.10, which is unanswered: 27.10, where a limit from the last answer ends at 24.12.
#[test]
fn case_d3_a_coordinator_looked_up_once() {
    let run = play(&case("D3"));
    assert_eq!(run.coordinator_failures(), ["27.10 C2 B1 NoAnswer", "27.10 C1 B1 NoAnswer"]);
    assert_eq!(run.generations()[2..], ["29.29 1: C2#2 t 0-1", "32.33 2: C1#2 t 0, C2#2 t 1"]);

    // A client without any of its limits never looks again, and none of its commits is ever answered.
    let never = play(&with(case("D3"), |scenario| {
        scenario.defaults.coordinator_timeout = Some(Limit::Off(Off::Off));
        scenario.defaults.request_timeout = Some(Span::from_secs(24 * 60 * 60));
        scenario.defaults.commit_interval = Some(Limit::After(Span::from_secs(5)));
    }));
    assert_eq!(never.coordinator_failures().len(), 0);
    let checked: Vec<_> = never.commits().into_iter().filter(|commit| commit.contains("C1")).collect();
    assert_eq!(checked, ["8.11 C1 OK", "13.11 C1 OK", "18.11 C1 OK"]);
    assert_eq!(never.sent("C1", |request| matches!(request, Request::Commit(_))), 23, "one every 5 s from 8.1 on");

    let document = play(&as_the_document(case("D3")));
    assert_eq!(document.generations()[2..], ["29.27 3: C1 t 0, C2 t 1"]);
}

/// B1 takes the role up again at 90, with the state that was written; 30 s later it gives up the two that could not
/// reach it.
#[test]
fn case_d6_half_of_the_group_misses_the_hand_over() {
    let run = play(&case("D6"));
    assert_eq!(run.removals(), ["120.00 C3 SessionExpired", "120.00 C4 SessionExpired"]);
    assert_eq!(run.generations()[2..], ["120.25 3: C1 t 0-3, C2 t 4-7"]);
    assert_eq!(run.callbacks("C3")[1..], ["120.20 - t 4-5"], "they stop by themselves (decision 1)");
    assert_eq!(run.overlaps().len(), 0);

    let document = play(&as_the_document(case("D6")));
    assert_eq!(document.rebalances()[2..], ["120.00 MemberFailed", "120.00 Retried"]);
    assert_eq!(document.generations()[2..], ["120.25 3: C1 t 0-3, C2 t 4-7"]);
}

/// B2 takes over at 63 with two members on record, who come as two others: the first two have to be given up.
#[test]
fn case_d10_the_id_is_forgotten_with_the_coordinator() {
    let run = play(&case("D10"));
    assert_eq!(run.admissions()[2..], ["63.04 C1#2", "63.04 C2#2"]);
    assert_eq!(run.removals(), ["93.00 C1 SessionExpired", "93.00 C2 SessionExpired"]);
    assert_eq!(run.generations()[2..], ["93.00 3: C1#2 t 0-1, C2#2 t 2-3"]);

    // With its id a member is known: its heartbeat is valid, and so is an unchanged join.
    for choice in [OnCoordinatorFailure::Resume, OnCoordinatorFailure::Rejoin] {
        let keeps = play(&with(case("D10"), |scenario| scenario.defaults.on_coordinator_failure = Some(choice)));
        assert_eq!(keeps.generations().len(), 2, "{choice:?}");
        assert_eq!(keeps.rebalances().len(), 2, "{choice:?}");
    }

    let document = play(&as_the_document(case("D10")));
    assert_eq!(document.removals().len(), 0, "a name cannot be forgotten");
    assert_eq!(document.generations()[2..], ["63.04 3: C1 t 0-1, C2 t 2-3"]);
}
