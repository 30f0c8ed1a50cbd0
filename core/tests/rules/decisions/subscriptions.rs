//! Decision 22: a subscription that is changed while a join is pending.

use serde_json::json;

use crate::common::{Group, pair, untimed};

fn subscribe(consumer: &str, topics: &[&str]) -> serde_json::Value {
    json!({ "subscribe": { "consumer": consumer, "topics": topics } })
}

const OF_C2: [&str; 6] =
    ["C2 subscribed", "C2 > B1 join", "C2 recorded", "C2 assigned", "C2 fetching", "C2 deassigned"];

#[test]
fn decision_22_it_waits_for_the_answer_and_then_the_consumer_joins_anew() {
    // C2's join is pending from 40 to 1,200.
    let run = pair().set("topics.payments.partitions", 1).at(500, subscribe("C2", &["payments"])).run(2_000);
    assert_eq!(
        run.story(0, 2_000, &OF_C2),
        [
            "0 C2 subscribed orders",
            "40 C2 > B1 join orders",
            "1200 C2 recorded 2",
            "1200 C2 assigned orders-2",
            "1300 C2 fetching orders-2@0",
            "1300 C2 subscribed payments",
            "1300 C2 deassigned orders-2",
            "1400 C2 > B1 join payments",
        ]
    );
    assert_eq!(run.rules("C2 > B1 join").last().map(String::as_str), Some("JG1 ST1 JG3"));
}

#[test]
fn decision_22_of_several_changes_the_last_one_counts() {
    let run = pair()
        .set("topics.payments.partitions", 1)
        .at(500, subscribe("C2", &["payments"]))
        .at(600, subscribe("C2", &["orders", "payments"]))
        .run(2_000);
    assert_eq!(run.texts("C2 > B1 join"), ["C2 > B1 join orders", "C2 > B1 join orders payments"]);
}

#[test]
fn decision_22_after_a_retry_the_next_join_carries_it() {
    // C3's join is pending when, at 5,350, all are told to join once more.
    let run = pair()
        .set("topics.payments.partitions", 1)
        .with("C3", 2_300)
        .at(3_300, json!({ "crash": "C2" }))
        .at(4_000, subscribe("C3", &["payments"]))
        .run(7_000);
    assert_eq!(
        run.story(4_000, 7_000, &["C3 subscribed", "C3 > B1 join", "C3 deassigned", "B1 formed"]),
        [
            "5360 C3 subscribed payments",
            "5360 C3 > B1 join payments",
            "5370 B1 formed 3 C1[orders-0 orders-1 orders-2] C3[payments-0]",
        ]
    );
}

#[test]
fn decision_22_after_the_coordinator_fails_the_next_join_carries_the_last_one() {
    // Changed once while the join is pending, and once more on the way to the coordinator that has failed.
    let run = Group::new()
        .set("topics.payments.partitions", 1)
        .with("C1", 0)
        .with("C2", 0)
        .at(500, subscribe("C2", &["payments"]))
        .at(600, json!({ "crash": "B1" }))
        .at(650, subscribe("C2", &["orders", "payments"]))
        .at(700, json!({ "restart": "B1" }))
        .run(2_000);
    assert_eq!(
        untimed(&run.story(0, 2_000, &["C2 > B1 join"])),
        ["C2 > B1 join orders", "C2 > B1 join orders payments"]
    );
}

#[test]
fn decision_22_a_change_during_a_callback_waits_for_the_thread() {
    // C1 is in onPartitionDeassigned() from 1,080 to 1,180; the join that follows carries the change.
    let run = pair().set("topics.payments.partitions", 1).at(1_100, subscribe("C1", &["payments"])).run(1_500);
    assert_eq!(
        run.story(1_080, 1_350, &["C1 subscribed", "C1 > B1 join", "C1 deassigned"]),
        [
            "1080 C1 deassigned orders-0 orders-1 orders-2",
            "1180 C1 > B1 join orders",
            "1300 C1 subscribed payments",
            "1300 C1 deassigned orders-0 orders-1"
        ]
    );
}
