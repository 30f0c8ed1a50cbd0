//! RB1 to RB3 and EC0 to EC6: when the coordinator rebalances the group, and how.

use serde_json::json;

use crate::common::{Group, ms, pair, untimed};

#[test]
fn rb1_a_failed_consumer_makes_the_coordinator_rebalance() {
    let run = pair().at(5_000, json!({ "crash": "C2" })).run(12_000);
    assert_eq!(run.times("B1 rebalances MemberFailed C2"), ms([7_210]));
    assert_eq!(run.rules("B1 rebalances MemberFailed C2"), ["RB1"]);
    assert_eq!(run.texts("B1 formed").last().map(String::as_str), Some("B1 formed 3 C1[orders-0 orders-1 orders-2]"));
}

#[test]
fn rb1_the_last_consumer_that_fails_leaves_nobody_to_rebalance() {
    let run = Group::new().with("C1", 0).at(2_000, json!({ "crash": "C1" })).run(10_000);
    assert_eq!(run.times("B1 removed C1 SessionExpired"), ms([4_070]));
    assert_eq!(run.times("B1 forgot the group"), ms([4_070]));
    assert_eq!(run.count("B1 rebalances"), 1);
}

#[test]
fn rb2_a_join_of_an_unknown_consumer_makes_it_rebalance() {
    let run = pair().with("C3", 2_300).run(5_000);
    assert_eq!(run.times("B1 rebalances NewMember C3"), ms([2_350]));
    assert_eq!(run.rules("B1 rebalances NewMember C3"), ["RB2 JG2"]);
}

#[test]
fn rb2_a_join_of_a_known_consumer_makes_it_rebalance_too() {
    // Once with the subscription that it had, once with another, once after a restart within its session.
    let run = pair()
        .set("topics.payments.partitions", 1)
        .at(2_500, json!({ "subscribe": { "consumer": "C1", "topics": ["orders"] } }))
        .at(6_500, json!({ "subscribe": { "consumer": "C1", "topics": ["payments"] } }))
        .at(10_000, json!({ "crash": "C1" }))
        .at(10_100, json!({ "restart": "C1" }))
        .run(20_000);
    assert_eq!(
        run.story(2_000, 20_000, &["B1 rebalances"]),
        [
            "2610 B1 rebalances Rejoined C1",
            "6610 B1 rebalances SubscriptionChanged C1",
            "10150 B1 rebalances Rejoined C1",
        ]
    );
    assert_eq!(run.count("B1 removed"), 0);
}

#[test]
fn rb3_new_partitions_of_a_subscribed_topic_make_it_rebalance_at_its_next_check() {
    // It looks every 5 s from 50 on, when the group was made; no consumer looks in this time.
    let run = pair().at(6_000, json!({ "add-partitions": { "topic": "orders", "count": 1 } })).run(15_000);
    assert_eq!(run.times("B1 rebalances PartitionsChanged orders"), ms([10_050]));
    assert_eq!(run.rules("B1 rebalances PartitionsChanged"), ["RB3"]);
    assert_eq!(
        run.texts("B1 formed").last().map(String::as_str),
        Some("B1 formed 3 C1[orders-0 orders-1] C2[orders-2 orders-3]")
    );
}

#[test]
fn rb3_a_topic_that_nobody_subscribes_to_may_grow() {
    let run = pair()
        .set("topics.payments.partitions", 1)
        .at(6_000, json!({ "add-partitions": { "topic": "payments", "count": 1 } }))
        .run(30_000);
    assert_eq!(run.count("B1 rebalances"), 2);
}

#[test]
fn ec0_members_are_told_in_the_answer_to_their_next_heartbeat() {
    // The rebalance begins at 2,350; both members send heartbeats at 3,200.
    let run = pair().with("C3", 2_300).run(3_250);
    assert_eq!(
        run.messages(2_345, 3_219),
        [
            "3200 C2 > B1 heartbeat 2",
            "3200 C1 > B1 heartbeat 2",
            "3210 B1 > C2 heartbeat RebalanceInProgress",
            "3210 B1 > C1 heartbeat RebalanceInProgress",
        ]
    );
    assert_eq!(run.rules("B1 > C1 heartbeat RebalanceInProgress"), ["EC0", "EC0"]);
    assert_eq!(run.count("B1 closed"), 0);
}

#[test]
fn ec0_a_member_is_told_as_often_as_it_asks() {
    // The first answer that tells C1 is lost: it fetches on and is told again.
    let link = json!({ "consumer": "C1" });
    let run = Group::new()
        .with_own("C1", 0, json!({ "session_timeout": "6s", "heartbeat_interval": "1s" }))
        .with("C2", 500)
        .at(1_065, json!({ "cut": link }))
        .at(1_500, json!({ "heal": link }))
        .run(4_000);
    assert_eq!(run.times("B1 > C1 heartbeat RebalanceInProgress"), ms([1_070, 2_070]));
    assert_eq!(run.times("C1 deassigned"), ms([2_080]));
}

#[test]
fn ec0_the_member_whose_join_is_held_is_not_told() {
    // C2 joined anew at 2,610, which starts the rebalance, and sends a heartbeat by hand while its join is held.
    let run = pair()
        .at(2_500, json!({ "subscribe": { "consumer": "C2", "topics": ["orders"] } }))
        .at(2_700, json!({ "heartbeat": { "consumer": "C2", "generation": 2 } }))
        .run(5_000);
    assert_eq!(run.times("B1 holds C2 awaits 1"), ms([50, 2_610]));
    assert_eq!(untimed(&run.messages(2_700, 2_730)), ["C2 > B1 heartbeat 2", "B1 > C2 heartbeat ok"]);
    assert_eq!(run.count("B1 > C2 heartbeat RebalanceInProgress"), 0);
}

#[test]
fn ec0_only_answers_to_heartbeats_carry_it() {
    // A commit of C1 and a metadata request go their way while the rebalance waits for C1.
    let run = pair()
        .with("C3", 2_300)
        .set("defaults.metadata_refresh", "1200ms")
        .at(2_500, json!({ "commit": { "consumer": "C1" } }))
        .run(3_190);
    assert_eq!(
        untimed(&run.messages(2_400, 2_520)),
        [
            "C2 > B1 metadata orders",
            "C1 > B1 metadata orders",
            "B1 > C2 metadata coordinator B1 of B1 orders:3",
            "B1 > C1 metadata coordinator B1 of B1 orders:3",
            "C1 > B1 commit 2 orders-0@0 orders-1@0",
            "B1 > C1 commit ok",
        ]
    );
}

#[test]
fn ec1_told_a_consumer_stops_fetching_calls_back_and_joins() {
    let run = pair().with("C3", 2_300).run(3_400);
    assert_eq!(
        run.story(3_215, 3_320, &["C1 "]),
        [
            "3220 C1 < B1 heartbeat RebalanceInProgress",
            "3220 C1 stopped orders-0@0 orders-1@0",
            "3220 C1 deassigned orders-0 orders-1",
            "3320 C1 returned from deassigned",
            "3320 C1 > B1 join orders",
        ]
    );
    for (event, rules) in [("C1 stopped", "EC1"), ("C1 deassigned", "EC1"), ("C1 returned from deassigned", "EC1")] {
        assert_eq!(run.rules(event).last().map(String::as_str), Some(rules), "{event}");
    }
    assert_eq!(run.rules("C1 > B1 join").last().map(String::as_str), Some("JG1 EC1"));
}

#[test]
fn ec1_whatever_the_reason_what_is_held_is_given_up_before_a_join() {
    let reasons = [
        json!({ "subscribe": { "consumer": "C1", "topics": ["orders"] } }),
        json!({ "heartbeat": { "consumer": "C1", "generation": 1 } }),
        json!({ "add-partitions": { "topic": "orders", "count": 1 } }),
        json!({ "crash": "B1" }),
    ];
    for reason in reasons {
        let rejoins = json!({ "metadata_refresh": "2s", "on_coordinator_failure": "rejoin" });
        let run = Group::new()
            .with_own("C1", 0, rejoins)
            .with("C2", 0)
            .at(3_000, reason)
            .at(3_500, json!({ "restart": "B1" }))
            .run(9_000);
        let story = run.story(3_000, 9_000, &["C1 stopped", "C1 deassigned", "C1 returned", "C1 > B1 join"]);
        assert_eq!(
            untimed(&story)[..4],
            [
                "C1 stopped orders-0@0 orders-1@0",
                "C1 deassigned orders-0 orders-1",
                "C1 returned from deassigned",
                "C1 > B1 join orders",
            ]
        );
    }
}

#[test]
fn ec1_a_consumer_that_holds_nothing_calls_nothing() {
    // C1 starts, and at 5,360 is told to join once more: neither time has it anything to give up.
    let run = pair().with("C3", 2_300).at(3_300, json!({ "crash": "C2" })).run(7_000);
    assert_eq!(run.times("B1 > C1 join RebalanceInProgress"), ms([5_350]));
    assert_eq!(run.times("C1 > B1 join"), ms([40, 1_180, 3_320, 5_360]));
    assert_eq!(run.times("C1 deassigned"), ms([1_080, 3_220]));
    assert_eq!(run.count("C3 deassigned"), 0);
}

#[test]
fn ec1_a_consumer_with_an_empty_share_holds_one_all_the_same() {
    let run = pair().set("topics.orders.partitions", 1).with("C3", 2_300).run(4_000);
    assert_eq!(run.story(3_220, 3_220, &["C2 stopped", "C2 deassigned"]), ["3220 C2 stopped", "3220 C2 deassigned"]);
}

#[test]
fn ec2_a_join_is_held_until_every_member_has_joined() {
    let run =
        Group::new().with("C1", 0).with_own("C2", 0, json!({ "session_timeout": "9s" })).with("C3", 5_000).run(9_000);
    // C1 joins at 5,330 and C2, which asks every 3 s, at 7,310.
    assert_eq!(
        run.story(5_000, 9_000, &["B1 holds", "B1 formed", "B1 > C1 join", "B1 > C2 join", "B1 > C3 join"]),
        [
            "5050 B1 holds C3 awaits 2",
            "5330 B1 holds C1 awaits 1",
            "7330 B1 formed 3 C1[orders-0] C2[orders-1] C3[orders-2]",
            "7330 B1 > C3 joined 3 orders-2@0",
            "7330 B1 > C1 joined 3 orders-0@0",
            "7330 B1 > C2 joined 3 orders-1@0",
        ]
    );
    assert_eq!(run.rules("B1 holds C3"), ["EC2"]);
}

#[test]
fn ec2_a_join_for_an_unknown_group_creates_it_and_is_answered_with_no_waiting() {
    let run = Group::new().with("C1", 0).run(1_000);
    assert_eq!(run.times("B1 < C1 join"), ms([50]));
    assert_eq!(run.rules("B1 added C1"), ["EC2"]);
    assert_eq!(run.times("B1 > C1 joined 1"), ms([50]));
    assert_eq!(run.count("B1 holds"), 0);
}

#[test]
fn ec3_the_assignment_and_the_new_generation_are_in_the_answers() {
    let run = pair().run(1_200);
    assert_eq!(
        run.story(1_190, 1_190, &["B1"]),
        [
            "1190 B1 < C1 join orders",
            "1190 B1 formed 2 C1[orders-0 orders-1] C2[orders-2]",
            "1190 B1 > C2 joined 2 orders-2@0",
            "1190 B1 > C1 joined 2 orders-0@0 orders-1@0",
        ]
    );
    assert_eq!(run.rules("B1 formed 2"), ["EC3"]);
    assert_eq!(run.rules("B1 > C1 joined 2"), ["EC3"]);
}

#[test]
fn ec3_each_rebalance_makes_one_generation_more() {
    let run = pair().with("C3", 2_300).with("C4", 6_300).run(10_000);
    let formed = run.texts("B1 formed");
    let numbers: Vec<_> = formed.iter().filter_map(|line| line.split(' ').nth(2)).collect();
    assert_eq!(numbers, ["1", "2", "3", "4"]);
}

#[test]
fn ec4_a_member_whose_join_is_missing_is_removed_and_the_others_are_told_to_join_once_more() {
    // The rebalance begins at 2,350. C2 is last heard at 3,210, and crashes in its callback.
    let run = pair().with("C3", 2_300).at(3_300, json!({ "crash": "C2" })).run(7_000);
    assert_eq!(
        run.story(3_330, 7_000, &["B1", "C1 > B1", "C3 > B1"])
            .into_iter()
            .filter(|line| !line.contains("heartbeat") && !line.contains(" < "))
            .collect::<Vec<_>>(),
        [
            "3330 B1 holds C1 awaits 1",
            "5350 B1 removed C2 JoinMissing",
            "5350 B1 retries without C2",
            "5350 B1 > C3 join RebalanceInProgress",
            "5350 B1 > C1 join RebalanceInProgress",
            "5360 C3 > B1 join orders",
            "5360 C1 > B1 join orders",
            "5370 B1 holds C3 awaits 1",
            "5370 B1 formed 3 C1[orders-0 orders-1] C3[orders-2]",
            "5370 B1 > C3 joined 3 orders-2@0",
            "5370 B1 > C1 joined 3 orders-0@0 orders-1@0",
        ]
    );
    assert_eq!(run.rules("B1 removed C2"), ["EC4"]);
    assert_eq!(run.rules("B1 retries"), ["EC4"]);
    assert_eq!(run.rules("B1 > C1 join RebalanceInProgress"), ["EC4"]);
}

#[test]
fn ec4_the_rebalance_that_starts_again_is_the_same_one() {
    // No new generation, and no rebalance begins, until the second round is complete.
    let run = pair().with("C3", 2_300).at(3_300, json!({ "crash": "C2" })).run(7_000);
    assert_eq!(run.count("B1 rebalances"), 3);
    assert_eq!(run.count("B1 formed"), 3);
}

#[test]
fn ec4_the_second_round_gives_everyone_a_session_timeout_again() {
    // C3 is paused when it is told to join once more, at 5,360; its second deadline is 5,350 and 3 s.
    let run =
        pair().with("C3", 2_300).at(3_300, json!({ "crash": "C2" })).at(5_355, json!({ "pause": "C3" })).run(9_000);
    assert_eq!(
        run.story(5_000, 9_000, &["B1 removed", "B1 retries", "B1 formed"]),
        [
            "5350 B1 removed C2 JoinMissing",
            "5350 B1 retries without C2",
            "8350 B1 removed C3 SessionExpired",
            "8350 B1 retries without C3",
            "8370 B1 formed 3 C1[orders-0 orders-1 orders-2]",
        ]
    );
}

#[test]
fn ec4_a_join_is_in_time_to_the_last_microsecond() {
    // C2 stands still in its callback for a while; its join comes 100 ms after it goes on, or a millisecond later.
    let with_pause_until = |resume: u64| {
        let group = pair().with("C3", 2_300).at(3_230, json!({ "pause": "C2" })).at(resume, json!({ "resume": "C2" }));
        group.run(5_400)
    };
    let in_time = with_pause_until(5_250);
    assert_eq!(in_time.times("B1 < C2 join").last(), Some(&5_350_000));
    assert_eq!(in_time.count("B1 removed"), 0);
    assert_eq!(in_time.count("B1 retries"), 0);
    let late = with_pause_until(5_251);
    assert_eq!(late.times("B1 removed C2 JoinMissing"), ms([5_350]));
}

#[test]
fn ec5_a_consumer_records_the_generation_calls_back_and_starts_fetching() {
    let run = pair().run(1_300);
    assert_eq!(
        run.story(1_200, 1_300, &["C1 "]),
        [
            "1200 C1 < B1 joined 2 orders-0@0 orders-1@0",
            "1200 C1 recorded 2",
            "1200 C1 assigned orders-0 orders-1",
            "1300 C1 returned from assigned",
            "1300 C1 fetching orders-0@0 orders-1@0",
        ]
    );
    for event in ["C1 recorded 2", "C1 assigned orders-0 orders-1", "C1 fetching orders-0@0 orders-1@0"] {
        assert_eq!(run.rules(event).last().map(String::as_str), Some("EC5"), "{event}");
    }
}

#[test]
fn ec6_a_fatal_error_is_thrown_and_the_consumer_stops() {
    let run =
        pair().with_own("C3", 2_300, json!({ "session_timeout": "1s" })).set("settings.min_session_timeout", "2s");
    let run = run.at(5_000, json!({ "subscribe": { "consumer": "C3", "topics": [] } })).run(20_000);
    assert_eq!(
        run.story(2_340, 20_000, &["C3", "B1 > C3"]),
        [
            "2340 C3 < B1 metadata coordinator B1 of B1 orders:3",
            "2340 C3 found B1",
            "2340 C3 > B1 join orders",
            "2350 B1 > C3 join InvalidSessionTimeout",
            "2360 C3 < B1 join InvalidSessionTimeout",
            "2360 C3 threw InvalidSessionTimeout",
            "2360 C3 closed B1 ByThisEnd",
            "5000 C3 ignored: it has stopped",
        ]
    );
    assert_eq!(run.rules("C3 threw"), ["EC6"]);
    assert_eq!(run.rules("B1 > C3 join InvalidSessionTimeout"), ["EC6"]);
    assert_eq!(run.count("B1 added C3") + run.count("B1 rebalances NewMember C3"), 0);
}

#[test]
fn ec6_on_any_other_error_it_joins_again_at_once() {
    let run = pair().with("C3", 2_300).at(3_300, json!({ "crash": "C2" })).run(7_000);
    assert_eq!(
        run.story(5_360, 5_360, &["C1 ", "C3 "]),
        [
            "5360 C3 < B1 join RebalanceInProgress",
            "5360 C3 > B1 join orders",
            "5360 C1 < B1 join RebalanceInProgress",
            "5360 C1 > B1 join orders",
        ]
    );
    assert_eq!(run.rules("C1 > B1 join").last().map(String::as_str), Some("JG1 EC6"));
}
