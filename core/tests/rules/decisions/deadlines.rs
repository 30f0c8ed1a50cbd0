//! Decisions 4 to 7: held joins, deadlines, coordinators that hang, and zombies.

use groupscope_core::id::ConnectionId;
use groupscope_core::trace::{Fact, Record};
use serde_json::json;

use crate::common::{Group, Run, ms, pair, untimed};

#[test]
fn decision_04_a_held_join_whose_consumer_vanishes_is_answered_and_the_member_then_fails() {
    // Held from 50 to 1,190; the session runs from the answer, which is lost.
    let run = pair().at(500, json!({ "crash": "C2" })).run(8_000);
    assert_eq!(
        run.story(500, 5_000, &["B1 formed", "B1 > C2", "B1 removed", "B1 retries", "B1 rebalances"]),
        [
            "1190 B1 formed 2 C1[orders-0 orders-1] C2[orders-2]",
            "1190 B1 > C2 joined 2 orders-2@0 lost",
            "4190 B1 removed C2 SessionExpired",
            "4190 B1 rebalances MemberFailed C2",
            "4330 B1 formed 3 C1[orders-0 orders-1 orders-2]",
        ]
    );
}

#[test]
fn decision_04_hb3_rests_while_a_join_is_held() {
    // C1, asked for every 4 s, keeps C2's join waiting from 50 to 4,190: longer than C2's session.
    let run = Group::new().with_own("C1", 0, json!({ "session_timeout": "12s" })).with("C2", 0).run(6_000);
    assert_eq!(run.once("B1 > C2 joined 2"), 4_190_000);
    assert_eq!(run.count("B1 removed"), 0);
}

#[test]
fn decision_04_a_second_join_on_a_newer_channel_replaces_the_first_and_keeps_its_place() {
    let run = pair().with("C3", 100).at(500, json!({ "crash": "C2" })).at(600, json!({ "restart": "C2" })).run(2_000);
    assert_eq!(run.times("B1 holds C2"), ms([50, 650]));
    assert_eq!(
        run.story(1_190, 1_300, &["B1 formed", "B1 > C1 join", "B1 > C2 join", "B1 > C3 join"]),
        [
            "1190 B1 formed 2 C1[orders-0] C2[orders-1] C3[orders-2]",
            "1190 B1 > C2 joined 2 orders-1@0",
            "1190 B1 > C3 joined 2 orders-2@0",
            "1190 B1 > C1 joined 2 orders-0@0",
        ]
    );
    assert_eq!(run.times("C2 recorded 2"), ms([1_200]));
}

#[test]
fn decision_04_a_join_that_comes_late_on_an_older_channel_replaces_nothing() {
    // C2 gives its join up every 300 ms; most messages take a few milliseconds, some take seconds and are overtaken.
    let mut overtaken = 0;
    for seed in 0..20 {
        let run = Group::new()
            .set("seed", seed)
            .with_own("C1", 0, json!({ "session_timeout": "30s" }))
            .with_spec(json!({
                "id": "C2", "topics": ["orders"], "start": "1s",
                "latency": { "heavy-tailed": { "min": "1ms", "max": "5s", "shape": 0.5 } },
                "settings": { "join_timeout": "300ms", "session_timeout": "60s" },
            }))
            .run_unchecked(10_050);
        let held = channels_of_joins(&run, "B1 holds C2");
        assert!(held.is_sorted(), "seed {seed}: {held:?}");
        overtaken += channels_of_joins(&run, "B1 < C2 join").windows(2).filter(|pair| pair[0] > pair[1]).count();
    }
    assert!(overtaken > 5, "{overtaken} joins were overtaken in all");
}

/// The channels on which the joins came that are told of so.
fn channels_of_joins(run: &Run, begins: &str) -> Vec<ConnectionId> {
    let trace = run.sim.trace();
    let channel = |record: &Record| {
        let received = match &record.fact {
            Fact::JoinHeld { .. } => &trace[record.cause?.id()].fact,
            fact => fact,
        };
        let Fact::Received { sent, .. } = received else { return None };
        let Fact::Sent { connection, .. } = trace[*sent].fact else { return None };
        Some(connection)
    };
    run.matching(begins).filter_map(|(record, _)| channel(record)).collect()
}

#[test]
fn decision_05_the_deadline_of_a_join_is_the_end_of_the_session_if_that_is_earlier() {
    // C2 is last heard at 2,210, and the rebalance begins at 2,350.
    let run = pair().with("C3", 2_300).at(2_215, json!({ "crash": "C2" })).run(7_000);
    assert_eq!(run.times("B1 removed C2 SessionExpired"), ms([5_210]));
    assert_eq!(run.rules("B1 removed C2"), ["HB3 EC4"]);
}

#[test]
fn decision_05_it_is_a_session_timeout_after_the_rebalance_began_if_that_is_earlier() {
    // C2 is last heard at 3,210: its session would end at 6,210.
    let run = pair().with("C3", 2_300).at(3_215, json!({ "crash": "C2" })).run(7_000);
    assert_eq!(run.times("B1 removed C2 JoinMissing"), ms([5_350]));
    assert_eq!(run.rules("B1 removed C2"), ["EC4"]);
}

#[test]
fn decision_05_a_member_that_is_heard_but_does_not_join_is_removed_all_the_same() {
    // C2 never hears that it should join: every answer to it is lost, while its heartbeats come through to the end.
    // (A link loses both ways; so C2 sends by hand in the moments when its link works.)
    let link = json!({ "consumer": "C2" });
    let mut group = pair().set("defaults.coordinator_timeout", "off").with("C3", 2_300);
    for second in [2, 3, 4, 5] {
        group =
            group.at(second * 1_000 + 205, json!({ "cut": link })).at(second * 1_000 + 500, json!({ "heal": link }));
    }
    let run = group.run(5_400);
    assert_eq!(run.times("B1 > C2 heartbeat RebalanceInProgress lost"), ms([3_210, 4_210, 5_210]));
    assert_eq!(run.times("B1 removed C2 JoinMissing"), ms([5_350]));
}

#[test]
fn decision_05_each_member_has_its_own_deadline() {
    let run = Group::new()
        .with("C1", 0)
        .with_own("C2", 0, json!({ "session_timeout": "5s", "heartbeat_interval": "1s" }))
        .with("C3", 2_300)
        .at(3_215, json!({ "crash": "C2" }))
        .run(9_000);
    assert_eq!(run.times("B1 removed C2 JoinMissing"), ms([7_350]));
}

#[test]
fn decision_06_a_join_held_by_a_coordinator_that_hangs_ends_at_the_join_timeout() {
    let run = pair().set("defaults.join_timeout", "5s").at(600, json!({ "pause": "B1" })).run_unchecked(5_100);
    assert_eq!(run.times("C2 gave up B1 JoinTimeout"), ms([5_040]));
    assert_eq!(
        untimed(&run.story(5_040, 5_040, &["C2 "])),
        ["C2 gave up B1 JoinTimeout", "C2 closed B1 ByThisEnd", "C2 opening B1"]
    );
}

#[test]
fn decision_06_hb4_rests_while_a_join_is_pending() {
    // Neither two seconds nor twenty without an answer make C2 give B1 up, whether or not it has a heartbeat out.
    for by_hand in [false, true] {
        let mut group = pair().at(600, json!({ "pause": "B1" }));
        if by_hand {
            group = group.at(700, json!({ "heartbeat": { "consumer": "C2", "generation": 1 } }));
        }
        assert_eq!(group.run_unchecked(20_000).count("C2 gave up"), 0, "by hand: {by_hand}");
    }
}

#[test]
fn decision_06_hb4_counts_again_once_the_join_is_answered() {
    // The heartbeat by hand of 1,195 is lost; the join's answer is read at 1,200.
    let link = json!({ "consumer": "C2" });
    let run = pair()
        .at(1_194, json!({ "cut": link }))
        .at(1_195, json!({ "heartbeat": { "consumer": "C2", "generation": 1 } }))
        .run_unchecked(4_000);
    assert_eq!(run.times("C2 > B1 heartbeat 1 lost"), ms([1_195]));
    assert_eq!(run.times("C2 recorded 2"), ms([1_200]));
    assert_eq!(run.times("C2 gave up B1 NoAnswer"), ms([3_195]));
}

#[test]
fn decision_06_the_default_is_the_longest_session_allowed_and_two_thirds_of_its_own() {
    let run = pair().set("settings.max_session_timeout", "10s").at(600, json!({ "pause": "B1" })).run(12_100);
    assert_eq!(run.times("C2 gave up B1 JoinTimeout"), ms([12_040]));
}

#[test]
fn decision_07_a_removed_member_is_told_and_joins() {
    // C2 stands still from 5,000 to 9,000 and is removed at 7,210.
    let run = pair().at(5_000, json!({ "pause": "C2" })).at(9_000, json!({ "resume": "C2" })).run(12_000);
    assert_eq!(
        run.story(9_000, 9_130, &["C2 > B1", "B1 > C2", "C2 stopped", "C2 deassigned", "B1 rebalances"]),
        [
            "9000 C2 > B1 heartbeat 2",
            "9010 B1 > C2 heartbeat UnknownMember",
            "9020 C2 stopped orders-2@0",
            "9020 C2 deassigned orders-2",
            "9120 C2 > B1 join orders",
            "9130 B1 rebalances NewMember C2",
        ]
    );
    assert_eq!(run.rules("B1 > C2 heartbeat UnknownMember"), ["HB6"]);
}

#[test]
fn decision_07_until_then_reads_can_overlap_but_commits_cannot() {
    let run = pair()
        .set("topics.orders.produced_per_second", 10)
        .at(5_000, json!({ "pause": "C2" }))
        .at(9_000, json!({ "resume": "C2" }))
        .at(9_005, json!({ "commit": { "consumer": "C2" } }))
        .run(12_000);
    // C1 fetches orders-2 from 8,440 on; C2 goes on fetching it from 9,000 to 9,020.
    assert_eq!(run.times("C1 fetching orders-0@0 orders-1@0 orders-2@0"), ms([160, 8_440]));
    assert_eq!(run.times("C2 stopped"), ms([9_020]));
    assert_eq!(run.texts("B1 checked"), ["B1 checked C2 UnknownMember", "B1 checked C2 ok"]);
    // What is accepted is the retry, as an owner in the generation that C2 has joined by then.
    assert_eq!(run.texts("C2 > B1 commit").last().map(String::as_str), Some("C2 > B1 commit 4 orders-2@0"));
}
