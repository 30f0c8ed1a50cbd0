//! Decisions 1, 2 and 10: when the coordinator fails, what a new start finds, and who is asked.

use serde_json::json;

use crate::common::{Group, ms, pair, untimed};

const OF_C1: [&str; 7] =
    ["C1 gave up", "C1 stopped", "C1 deassigned", "C1 > B1", "B1 > C1", "C1 fetching", "C1 gave up resuming"];

#[test]
fn decision_01_resume_goes_on_fetching_while_it_finds_the_coordinator() {
    // B1 crashes at 5,000 and is back at 5,500. C1 asks again 100 ms after each refusal: from 5,610 it is connected.
    let run = pair().at(5_000, json!({ "crash": "B1" })).at(5_500, json!({ "restart": "B1" })).run(10_000);
    assert_eq!(
        run.story(4_990, 6_000, &OF_C1),
        [
            "5010 C1 gave up B1 ChannelClosed",
            "5630 C1 > B1 metadata orders",
            "5640 B1 > C1 metadata coordinator B1 of B1 orders:3",
            "5650 C1 > B1 heartbeat 2",
            "5660 B1 > C1 heartbeat ok",
        ]
    );
    assert_eq!(run.count("C1 deassigned"), 1, "that of 1,080");
    assert_eq!(run.count("B1 formed"), 2);
    // The next heartbeat follows the one that asked.
    assert_eq!(run.times("C1 > B1 heartbeat").iter().find(|at| **at > 5_650_000), Some(&6_650_000));
}

#[test]
fn decision_01_resume_ends_a_session_timeout_after_the_last_answer_that_counts() {
    // The last answer is read at 4,220. It then joins when it can.
    let run = pair().at(5_000, json!({ "crash": "B1" })).at(9_000, json!({ "restart": "B1" })).run(9_300);
    assert_eq!(
        run.story(4_990, 9_049, &OF_C1),
        [
            "5010 C1 gave up B1 ChannelClosed",
            "7220 C1 gave up resuming",
            "7220 C1 stopped orders-0@0 orders-1@0",
            "7220 C1 deassigned orders-0 orders-1",
            "9020 C1 > B1 metadata orders",
            "9030 B1 > C1 metadata coordinator B1 of B1 orders:3",
            "9040 C1 > B1 join orders",
        ]
    );
    assert_eq!(run.rules("C1 stopped").last().map(String::as_str), Some("EC1"));
}

#[test]
fn decision_01_any_answer_that_counts_puts_that_end_off() {
    // An answer to a commit, read at 4,900, is later than that to the last heartbeat.
    let run = pair()
        .set("topics.orders.produced_per_second", 1)
        .at(4_880, json!({ "commit": { "consumer": "C1" } }))
        .at(5_000, json!({ "crash": "B1" }))
        .run(9_000);
    assert_eq!(run.times("C1 gave up resuming"), ms([7_900]));
    assert_eq!(run.times("C2 gave up resuming"), ms([7_220]));
}

#[test]
fn decision_01_resume_after_no_answer_goes_on_too() {
    // HB4: heartbeats of 5,200 on are not answered; C1 gives B1 up at 7,200, and its last answer is of 4,220.
    let run = pair().at(5_000, json!({ "pause": "B1" })).at(7_210, json!({ "resume": "B1" })).run(9_000);
    assert_eq!(run.times("C1 gave up B1 NoAnswer"), ms([7_200]));
    assert_eq!(run.times("C1 gave up resuming"), ms([7_220]));
    let at_once = pair().at(5_000, json!({ "pause": "B1" })).set("defaults.coordinator_timeout", "1s");
    let at_once = at_once.at(6_210, json!({ "resume": "B1" })).run(9_000);
    assert_eq!(at_once.times("C1 gave up B1 NoAnswer"), ms([6_200]));
    assert_eq!(at_once.count("C1 gave up resuming") + at_once.count("C2 gave up resuming"), 0);
    assert_eq!(at_once.times("C1 > B1 heartbeat 2").iter().find(|at| **at > 6_200_000), Some(&6_240_000));
}

#[test]
fn decision_01_a_resuming_consumer_that_is_told_to_join_joins() {
    // The group is lost, so the heartbeat that asks is refused.
    let run = pair()
        .set("settings.state", "lost")
        .at(5_000, json!({ "crash": "B1" }))
        .at(5_500, json!({ "restart": "B1" }))
        .run(10_000);
    assert_eq!(
        untimed(&run.story(5_650, 5_800, &OF_C1)),
        [
            "C1 > B1 heartbeat 2",
            "B1 > C1 heartbeat UnknownMember",
            "C1 stopped orders-0@0 orders-1@0",
            "C1 deassigned orders-0 orders-1",
            "C1 > B1 join orders",
            "B1 > C1 joined 2/1 orders-0@0 orders-1@0 orders-2@0",
        ]
    );
}

#[test]
fn decision_01_rejoin_stops_at_once() {
    let rejoin = || pair().set("defaults.on_coordinator_failure", "rejoin");
    let closed = rejoin().at(5_000, json!({ "crash": "B1" })).at(5_500, json!({ "restart": "B1" })).run(10_000);
    assert_eq!(
        untimed(&closed.story(4_990, 5_655, &OF_C1))[..6],
        [
            "C1 gave up B1 ChannelClosed",
            "C1 stopped orders-0@0 orders-1@0",
            "C1 deassigned orders-0 orders-1",
            "C1 > B1 metadata orders",
            "B1 > C1 metadata coordinator B1 of B1 orders:3",
            "C1 > B1 join orders",
        ]
    );
    assert_eq!(closed.times("C1 stopped").last(), Some(&5_010_000));
    assert_eq!(closed.rules("C1 stopped").last().map(String::as_str), Some("HB5 EC1"));
    let unanswered = rejoin().at(5_000, json!({ "pause": "B1" })).run(7_250);
    assert_eq!(unanswered.times("C1 stopped").last(), Some(&7_200_000));
    assert_eq!(unanswered.rules("C1 stopped").last().map(String::as_str), Some("HB4 EC1"));
}

#[test]
fn decision_01_only_a_consumer_that_holds_an_assignment_resumes() {
    // C2's join is held when the coordinator crashes: it joins again and calls nothing.
    let run = pair().at(500, json!({ "crash": "B1" })).at(600, json!({ "restart": "B1" })).run(3_000);
    let story = run.story(500, 800, &["C2 "]);
    assert_eq!(
        untimed(&story).into_iter().filter(|line| !line.contains('<')).collect::<Vec<_>>(),
        [
            "C2 closed B1 ByPeer",
            "C2 gave up B1 ChannelClosed",
            "C2 opening B1",
            "C2 closed B1 Refused",
            "C2 opening B1",
            "C2 opened B1",
            "C2 > B1 metadata orders",
            "C2 found B1",
            "C2 > B1 join orders",
        ]
    );
}

#[test]
fn decision_02_replicated_state_keeps_members_generation_and_assignment() {
    let run = pair()
        .set("topics.orders.produced_per_second", 1)
        .at(5_000, json!({ "crash": "B1" }))
        .at(5_500, json!({ "restart": "B1" }))
        .at(6_000, json!({ "commit": { "consumer": "C2" } }))
        .run(10_000);
    assert_eq!(run.times("B1 recovered 2 2"), ms([5_500]));
    assert_eq!(run.texts("B1 > C2 commit"), ["B1 > C2 commit ok"]);
    assert_eq!(run.count("B1 rebalances"), 2);
}

#[test]
fn decision_02_a_returning_coordinator_restarts_the_session_timers() {
    // C2, last heard at 4,210, is gone for good: its session runs from 5,500.
    let run = pair()
        .at(5_000, json!({ "crash": "B1" }))
        .at(5_001, json!({ "crash": "C2" }))
        .at(5_500, json!({ "restart": "B1" }))
        .run(12_000);
    assert_eq!(run.times("B1 removed C2 SessionExpired"), ms([8_500]));
}

#[test]
fn decision_02_an_open_rebalance_is_opened_again() {
    // C3's join of 2,350 opened it. C1 and C2 are told when they ask at the restarted coordinator.
    let run =
        pair().with("C3", 2_300).at(2_500, json!({ "crash": "B1" })).at(2_700, json!({ "restart": "B1" })).run(5_000);
    assert_eq!(
        run.story(2_500, 5_000, &["B1 recovered", "B1 rebalances", "B1 removed", "B1 retries", "B1 formed"]),
        [
            "2700 B1 recovered 2 3",
            "2700 B1 rebalances Reopened",
            "2920 B1 formed 3 C1[orders-0] C2[orders-1] C3[orders-2]",
        ]
    );
    assert_eq!(run.count("B1 > C1 heartbeat RebalanceInProgress"), 2, "at 1,070 and after the restart");
}

#[test]
fn decision_02_a_stable_group_stays_stable() {
    let run = pair().at(2_500, json!({ "crash": "B1" })).at(2_700, json!({ "restart": "B1" })).run(9_000);
    assert_eq!(run.count("B1 rebalances Reopened"), 0);
}

#[test]
fn decision_02_partition_checks_go_on_after_the_return() {
    let run = pair()
        .at(5_000, json!({ "crash": "B1" }))
        .at(5_500, json!({ "restart": "B1" }))
        .at(6_000, json!({ "add-partitions": { "topic": "orders", "count": 1 } }))
        .run(15_000);
    assert_eq!(run.times("B1 rebalances PartitionsChanged orders"), ms([10_500]));
}

#[test]
fn decision_02_lost_state_answers_the_first_joiner_alone_and_the_rest_at_their_heartbeats() {
    // Two generations in all, in a new life of the group.
    let run = pair()
        .set("settings.state", "lost")
        .at(5_000, json!({ "crash": "B1" }))
        .at(5_500, json!({ "restart": "B1" }))
        .run(20_000);
    assert_eq!(run.times("B1 lost the group"), ms([5_500]));
    assert_eq!(
        untimed(&run.story(5_500, 20_000, &["B1 formed", "B1 rebalances"])),
        [
            "B1 rebalances NewMember C1",
            "B1 formed 2/1 C1[orders-0 orders-1 orders-2]",
            "B1 rebalances NewMember C2",
            "B1 formed 2/2 C1[orders-0 orders-1] C2[orders-2]",
        ]
    );
}

#[test]
fn decision_02_committed_offsets_survive_either_way() {
    for state in ["replicated", "lost"] {
        let run = pair()
            .set("settings.state", state)
            .set("topics.orders.produced_per_second", 10)
            .at(4_000, json!({ "commit": { "consumer": "C2" } }))
            .at(5_000, json!({ "crash": "B1" }))
            .at(5_500, json!({ "restart": "B1" }))
            .at(7_000, json!({ "subscribe": { "consumer": "C2", "topics": ["orders"] } }))
            .run(12_000);
        let joined = run.texts("B1 > C2 joined");
        assert_eq!(joined.last().and_then(|line| line.rsplit('@').next()), Some("40"), "{state}: {joined:?}");
    }
}

#[test]
fn decision_10_the_lowest_broker_is_asked_first_and_after_a_back_off_the_next() {
    let group = Group::new().set("brokers", 3).set("coordinator", 3).with("C1", 100);
    let run = group.at(50, json!({ "crash": "B1" })).at(60, json!({ "crash": "B2" })).run(1_000);
    assert_eq!(
        run.story(100, 400, &["C1 opening", "C1 closed", "C1 opened", "C1 found", "C1 > "]),
        [
            "100 C1 opening B1",
            "120 C1 closed B1 Refused",
            "220 C1 opening B2",
            "240 C1 closed B2 Refused",
            "340 C1 opening B3",
            "360 C1 opened B3",
            "360 C1 > B3 metadata orders",
            "380 C1 found B3",
            "380 C1 > B3 join orders",
        ]
    );
}

#[test]
fn decision_10_after_the_last_broker_comes_the_first() {
    let group = Group::new().set("brokers", 2).set("coordinator", 2).with("C1", 100);
    let run = group.at(50, json!({ "crash": "B1" })).at(50, json!({ "crash": "B2" })).run(600);
    assert_eq!(
        untimed(&run.story(0, 600, &["C1 opening"])),
        ["C1 opening B1", "C1 opening B2", "C1 opening B1", "C1 opening B2", "C1 opening B1"]
    );
}

#[test]
fn decision_10_the_request_timeout_bounds_connecting() {
    let link = json!({ "consumer": "C1", "broker": "B1" });
    let run = Group::new().set("brokers", 2).with("C1", 0).at(0, json!({ "cut": link })).run(2_200);
    assert_eq!(
        run.story(0, 2_130, &["C1 opening", "C1 closed", "C1 opened"]),
        ["0 C1 opening B1", "2000 C1 closed B1 ByThisEnd", "2100 C1 opening B2", "2120 C1 opened B2"]
    );
}

#[test]
fn decision_10_the_request_timeout_bounds_metadata() {
    // The host of a paused broker still accepts the channel.
    let run = Group::new()
        .set("brokers", 2)
        .set("coordinator", 2)
        .with("C1", 100)
        .at(50, json!({ "pause": "B1" }))
        .run(2_500);
    assert_eq!(
        run.story(0, 2_230, &["C1 opened", "C1 > ", "C1 closed", "C1 opening"]),
        [
            "100 C1 opening B1",
            "120 C1 opened B1",
            "120 C1 > B1 metadata orders",
            "2120 C1 closed B1 ByThisEnd",
            "2220 C1 opening B2",
        ]
    );
}

#[test]
fn decision_10_the_request_timeout_bounds_commits() {
    let run = pair()
        .set("topics.orders.produced_per_second", 10)
        .set("defaults.request_timeout", "500ms")
        .at(4_500, json!({ "pause": "B1" }))
        .at(4_600, json!({ "commit": { "consumer": "C1" } }))
        .run(5_150);
    assert_eq!(
        run.story(4_600, 5_150, &["C1 "])[..4],
        [
            "4600 C1 > B1 commit 2 orders-0@46 orders-1@46",
            "5100 C1 closed B1 ByThisEnd",
            "5100 C1 gave up B1 RequestTimeout",
            "5100 C1 reported orders-0@46 orders-1@46 NoAnswer",
        ]
    );
}

#[test]
fn decision_10_the_request_timeout_runs_from_each_request() {
    // Both commits wait; the second is not answered within 500 ms of the first, but of itself it is.
    let run = pair()
        .set("topics.orders.produced_per_second", 10)
        .set("defaults.request_timeout", "500ms")
        .at(4_500, json!({ "commit": { "consumer": "C1" } }))
        .at(4_600, json!({ "pause": "B1" }))
        .at(4_610, json!({ "commit": { "consumer": "C1" } }))
        .at(5_080, json!({ "resume": "B1" }))
        .run(6_000);
    assert_eq!(run.texts("B1 > C1 commit"), ["B1 > C1 commit ok", "B1 > C1 commit ok"]);
    assert_eq!(run.count("C1 gave up"), 0);
}

#[test]
fn decision_10_a_commit_does_not_block_its_consumer() {
    let run = pair()
        .set("topics.orders.produced_per_second", 10)
        .at(5_150, json!({ "pause": "B1" }))
        .at(5_160, json!({ "commit": { "consumer": "C1" } }))
        .at(5_300, json!({ "commit": { "consumer": "C1" } }))
        .run(5_400);
    assert_eq!(
        untimed(&run.messages(5_155, 5_400)),
        [
            "C1 > B1 commit 2 orders-0@51 orders-1@51",
            "C2 > B1 heartbeat 2",
            "C1 > B1 heartbeat 2",
            "C1 > B1 commit 2 orders-0@53 orders-1@53",
        ]
    );
}

#[test]
fn decision_10_a_broker_that_returns_keeps_the_role() {
    let run = Group::new()
        .set("brokers", 2)
        .with("C1", 0)
        .at(2_500, json!({ "crash": "B1" }))
        .at(2_600, json!({ "restart": "B1" }))
        .run(10_000);
    assert_eq!(run.count("C1 found B2"), 0);
    assert_eq!(run.times("C1 gave up B1 ChannelClosed"), ms([2_510]));
    assert_eq!(run.count("C1 > B1 heartbeat"), 10);
    assert_eq!(run.count("B2 rebalances") + run.count("B2 formed"), 0);
}

#[test]
fn decision_10_a_broker_that_is_not_the_coordinator_still_names_it_after_a_restart() {
    let run = Group::new()
        .set("brokers", 2)
        .set("coordinator", 2)
        .with("C1", 500)
        .at(100, json!({ "crash": "B1" }))
        .at(200, json!({ "restart": "B1" }))
        .run(1_000);
    assert_eq!(run.texts("B1 > C1 metadata"), ["B1 > C1 metadata coordinator B2 of B1 B2 orders:3"]);
}
