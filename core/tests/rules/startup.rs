//! ST1, ST2, CD1: starting, changing a subscription, and finding the coordinator.

use serde_json::json;

use crate::common::{Group, untimed};

#[test]
fn st1_starting_is_subscribing_and_then_joining() {
    let run = Group::new().with("C1", 0).run(1_000);
    assert_eq!(
        run.story(0, 1_000, &["C1 subscribed", "C1 > B1 join"]),
        ["0 C1 subscribed orders", "40 C1 > B1 join orders"]
    );
    assert_eq!(run.rules("C1 subscribed"), ["ST1"]);
}

#[test]
fn st1_a_consumer_may_start_with_an_empty_list() {
    let run = Group::new()
        .with_spec(json!({ "id": "C1", "topics": [], "start": "0s" }))
        .at(2_000, json!({ "subscribe": { "consumer": "C1", "topics": ["orders"] } }))
        .run(3_000);
    assert_eq!(
        run.story(0, 3_000, &["C1 subscribed", "C1 > B1 join", "B1 formed"]),
        [
            "0 C1 subscribed",
            "40 C1 > B1 join",
            "50 B1 formed 1 C1[]",
            "2000 C1 subscribed orders",
            "2100 C1 > B1 join orders",
            "2110 B1 formed 2 C1[orders-0 orders-1 orders-2]",
        ]
    );
}

#[test]
fn st1_a_change_of_subscription_is_subscribing_and_then_joining_too() {
    let run = Group::new()
        .set("topics.payments.partitions", 1)
        .with("C1", 0)
        .at(2_000, json!({ "subscribe": { "consumer": "C1", "topics": ["payments"] } }))
        .run(3_000);
    assert_eq!(
        run.story(2_000, 2_200, &["C1 ", "B1 rebalances", "B1 formed"]),
        [
            "2000 C1 subscribed payments",
            "2000 C1 stopped orders-0@0 orders-1@0 orders-2@0",
            "2000 C1 deassigned orders-0 orders-1 orders-2",
            "2100 C1 returned from deassigned",
            "2100 C1 > B1 join payments",
            "2110 B1 rebalances SubscriptionChanged C1",
            "2110 B1 formed 2 C1[payments-0]",
            "2120 C1 < B1 joined 2 payments-0@0",
            "2120 C1 recorded 2",
            "2120 C1 assigned payments-0",
        ]
    );
    assert_eq!(run.rules("C1 > B1 join"), ["JG1 JG3", "JG1 ST1 JG3"]);
}

#[test]
fn st1_a_change_on_the_way_to_the_first_join_makes_one_join() {
    let run = Group::new()
        .set("topics.payments.partitions", 1)
        .with("C1", 0)
        .at(30, json!({ "subscribe": { "consumer": "C1", "topics": ["payments"] } }))
        .run(1_000);
    assert_eq!(run.texts("C1 > B1 join"), ["C1 > B1 join payments"]);
    assert_eq!(run.count("C1 subscribed"), 2);
}

#[test]
fn st2_not_connected_it_asks_for_the_coordinator_and_then_connects() {
    let run = Group::new().with("C1", 0).set("brokers", 2).set("coordinator", 2).run(500);
    assert_eq!(
        run.story(0, 90, &["C1 ", "B"])[3..],
        [
            "0 C1 subscribed orders",
            "0 C1 opening B1",
            "20 C1 opened B1",
            "20 C1 > B1 metadata orders",
            "30 B1 < C1 metadata orders",
            "30 B1 > C1 metadata coordinator B2 of B1 B2 orders:3",
            "40 C1 < B1 metadata coordinator B2 of B1 B2 orders:3",
            "40 C1 found B2",
            "40 C1 opening B2",
            "60 C1 opened B2",
            "60 C1 > B2 join orders",
            "70 B2 < C1 join orders",
            "70 B2 added C1",
            "70 B2 rebalances NewMember C1",
            "70 B2 formed 1 C1[orders-0 orders-1 orders-2]",
            "70 B2 > C1 joined 1 orders-0@0 orders-1@0 orders-2@0",
            "80 C1 < B2 joined 1 orders-0@0 orders-1@0 orders-2@0",
            "80 C1 recorded 1",
            "80 C1 assigned orders-0 orders-1 orders-2",
        ]
    );
    assert_eq!(run.rules("C1 > B1 metadata"), ["ST2"]);
    assert_eq!(run.rules("C1 found B2"), ["ST2 CD1"]);
}

#[test]
fn st2_connected_it_joins_without_asking() {
    let run = Group::new()
        .with("C1", 0)
        .at(2_000, json!({ "subscribe": { "consumer": "C1", "topics": ["orders"] } }))
        .run(3_000);
    assert_eq!(
        untimed(&run.messages(2_000, 2_200)),
        ["C1 > B1 join orders", "B1 > C1 joined 2 orders-0@0 orders-1@0 orders-2@0"]
    );
    assert_eq!(run.count("C1 opening"), 1);
}

#[test]
fn st2_a_restarted_consumer_asks_again() {
    let run =
        Group::new().with("C1", 0).at(2_000, json!({ "crash": "C1" })).at(2_500, json!({ "restart": "C1" })).run(3_000);
    assert_eq!(run.times("C1 > B1 metadata"), [20_000, 2_520_000]);
}

#[test]
fn cd1_any_broker_answers_with_the_cluster_the_partitions_asked_for_and_the_coordinator() {
    // With B1 down the second broker is asked, and tells the same.
    let group = || Group::new().set("brokers", 3).set("coordinator", 3).set("topics.payments.partitions", 2);
    let answer = "metadata coordinator B3 of B1 B2 B3 orders:3";
    let first = group().with("C1", 0).run(500);
    assert_eq!(first.texts("B1 > C1 metadata"), [format!("B1 > C1 {answer}")]);
    assert_eq!(first.rules("B1 > C1 metadata"), ["CD1"]);
    let second = group().with("C1", 100).at(50, json!({ "crash": "B1" })).run(500);
    assert_eq!(second.texts("B2 > C1 metadata"), [format!("B2 > C1 {answer}")]);
    assert_eq!(second.count("B1 >"), 0);
}

#[test]
fn cd1_a_topic_is_told_of_if_it_is_asked_for() {
    let run = Group::new()
        .set("topics.payments.partitions", 2)
        .with_spec(json!({ "id": "C1", "topics": ["payments", "orders"], "start": "0s" }))
        .with_spec(json!({ "id": "C2", "topics": [], "start": "0s" }))
        .run(500);
    assert_eq!(run.texts("B1 > C1 metadata"), ["B1 > C1 metadata coordinator B1 of B1 orders:3 payments:2"]);
    assert_eq!(run.texts("B1 > C2 metadata"), ["B1 > C2 metadata coordinator B1 of B1 "]);
}

#[test]
fn cd1_the_leader_of_a_partition_follows_from_the_brokers() {
    // Partition p is led by the broker at place p modulo the number of brokers: what the answer carries is enough.
    let run = Group::new().set("brokers", 3).with("C1", 0).run(500);
    let answers =
        run.facts().filter_map(|fact| match fact {
            groupscope_core::trace::Fact::Sent {
                message:
                    groupscope_core::message::Message::Response(groupscope_core::message::Response::Metadata(metadata)),
                ..
            } => Some(metadata.clone()),
            _ => None,
        });
    let metadata = answers.last().expect("an answer");
    assert_eq!(metadata.brokers.iter().map(|broker| broker.0).collect::<Vec<_>>(), [0, 1, 2]);
    assert_eq!(metadata.topics.iter().map(|(_, count)| *count).collect::<Vec<_>>(), [3]);
}
