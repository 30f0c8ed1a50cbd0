//! JG1 to JG3: when a consumer joins, with what, and what the join does.

use serde_json::json;

use crate::common::{Group, ms, pair};

#[test]
fn jg1_a_join_carries_the_present_subscription() {
    let run = Group::new()
        .set("topics.payments.partitions", 1)
        .with("C1", 0)
        .at(2_000, json!({ "subscribe": { "consumer": "C1", "topics": ["payments", "orders"] } }))
        .run(3_000);
    assert_eq!(run.texts("C1 > B1 join"), ["C1 > B1 join orders", "C1 > B1 join orders payments"]);
}

#[test]
fn jg1_the_consumer_then_waits_for_the_answer_and_does_nothing_else() {
    // The join of C2 is held from 550 to 4,190. None of its timers makes it send anything meanwhile.
    let busy = json!({ "commit_interval": "100ms", "metadata_refresh": "100ms", "request_timeout": "1s" });
    let run = Group::new().with_own("C1", 0, json!({ "session_timeout": "12s" })).with_own("C2", 500, busy).run(4_195);
    assert_eq!(
        run.story(540, 4_195, &["C2 ", "B1 > C2"]),
        [
            "540 C2 < B1 metadata coordinator B1 of B1 orders:3",
            "540 C2 found B1",
            "540 C2 > B1 join orders",
            "4190 B1 > C2 joined 2 orders-2@0",
        ]
    );
}

#[test]
fn jg1_the_answer_is_an_assignment_or_a_refusal() {
    let group = pair().with("C3", 0).set("settings.max_size", 2);
    let run = group.run(3_000);
    assert_eq!(run.texts("B1 > C2 join"), ["B1 > C2 joined 2 orders-2@0"]);
    assert_eq!(run.texts("B1 > C3 join"), ["B1 > C3 join GroupMaxSizeReached"]);
}

#[test]
fn jg2_a_join_makes_the_coordinator_rebalance_at_once() {
    let run = pair().run(1_000);
    assert_eq!(run.times("B1 < C2 join"), ms([50]));
    assert_eq!(run.times("B1 rebalances NewMember C2"), ms([50]));
    assert_eq!(run.rules("B1 rebalances NewMember C2"), ["RB2 JG2"]);
}

#[test]
fn jg2_a_join_during_a_rebalance_takes_part_in_it_and_starts_no_other() {
    let run = pair().with("C3", 2_300).with("C4", 2_400).run(5_000);
    assert_eq!(
        run.story(2_300, 5_000, &["B1 rebalances", "B1 holds", "B1 formed", "B1 retries"]),
        [
            "2350 B1 rebalances NewMember C3",
            "2350 B1 holds C3 awaits 2",
            "2450 B1 holds C4 awaits 2",
            "3330 B1 holds C2 awaits 1",
            "3330 B1 formed 3 C1[orders-0] C2[orders-1] C3[orders-2] C4[]",
        ]
    );
    assert_eq!(run.rules("B1 holds C4"), ["EC2 JG2"]);
}

#[test]
fn jg3_a_consumer_that_does_not_know_its_partitions_joins() {
    let run = pair().run(1_000);
    assert_eq!(run.rules("C1 > B1 join"), ["JG1 JG3"]);
    assert_eq!(run.rules("C2 > B1 join"), ["JG1 JG3"]);
}

#[test]
fn jg3_a_consumer_that_sees_a_topic_change_in_metadata_joins() {
    // C1 refreshes its metadata every 2 s from 1,200 on; C2 and the coordinator do not look.
    let run = Group::new()
        .with_own("C1", 0, json!({ "metadata_refresh": "2s" }))
        .with("C2", 0)
        .set("settings.partition_check", "24h")
        .at(4_000, json!({ "add-partitions": { "topic": "orders", "count": 1 } }))
        .run(8_000);
    assert_eq!(run.times("C1 > B1 metadata"), ms([20, 3_200, 5_200]));
    assert_eq!(
        run.story(5_200, 6_400, &["C1 saw", "C1 deassigned", "C1 > B1 join", "B1 rebalances", "B1 formed"]),
        [
            "5220 C1 saw orders 4",
            "5220 C1 deassigned orders-0 orders-1",
            "5320 C1 > B1 join orders",
            "5330 B1 rebalances Rejoined C1",
            "6330 B1 formed 3 C1[orders-0 orders-1] C2[orders-2 orders-3]",
        ]
    );
    assert_eq!(run.rules("C1 saw"), ["JG3"]);
    assert_eq!(run.rules("C1 > B1 join").last().map(String::as_str), Some("JG1 JG3"));
}

#[test]
fn jg3_metadata_that_tells_nothing_new_changes_nothing() {
    let run = pair().set("defaults.metadata_refresh", "1s").run(10_000);
    assert_eq!(run.count("C1 < B1 metadata"), 10);
    assert_eq!(run.count("C1 > B1 join"), 2);
    assert_eq!(run.count("B1 rebalances"), 2);
}

#[test]
fn jg3_a_topic_that_is_not_subscribed_to_is_nothing_to_the_consumer() {
    let run = pair()
        .set("topics.payments.partitions", 1)
        .set("defaults.metadata_refresh", "1s")
        .at(3_000, json!({ "add-partitions": { "topic": "payments", "count": 1 } }))
        .run(10_000);
    assert_eq!(run.count("C1 saw") + run.count("C2 saw"), 0);
    assert_eq!(run.count("B1 rebalances"), 2);
}

#[test]
fn jg3_a_change_of_its_own_subscription_makes_it_join() {
    let run = pair().at(2_500, json!({ "subscribe": { "consumer": "C1", "topics": [] } })).run(4_000);
    assert_eq!(run.times("C1 > B1 join"), ms([40, 1_180, 2_600]));
    assert_eq!(run.texts("B1 rebalances SubscriptionChanged C1").len(), 1);
    assert_eq!(run.rules("C1 > B1 join")[2], "JG1 ST1 JG3");
}
