//! Decisions 8 and 11 to 14: commits during a rebalance, positions, assignment, new partitions.

use serde_json::json;

use crate::common::{Group, ms, pair, untimed};

#[test]
fn decision_08_a_consumer_can_commit_in_on_partition_deassigned() {
    // The rebalance has begun at 2,350; until generation 3 is formed, generation 2 is in force.
    let run = pair()
        .set("topics.orders.produced_per_second", 10)
        .set("defaults.on_deassigned", "commit")
        .with("C3", 2_300)
        .run(3_400);
    assert_eq!(
        run.story(3_215, 3_345, &["C1 deassigned", "C1 > B1", "B1 > C1", "B1 appended", "C1 recorded"]),
        [
            "3220 C1 deassigned orders-0 orders-1",
            "3220 C1 > B1 commit 2 orders-0@32 orders-1@32",
            "3230 B1 appended orders-2@32",
            "3230 B1 appended orders-0@32 orders-1@32",
            "3230 B1 > C1 commit ok",
            "3320 C1 > B1 join orders",
            "3330 B1 > C1 joined 3 orders-0@32",
            "3340 C1 recorded 3",
        ]
    );
    assert_eq!(run.count("B1 > C1 commit ok"), 2, "also when it gave up generation 1");
}

#[test]
fn decision_08_without_the_setting_it_does_not() {
    let run = pair().set("topics.orders.produced_per_second", 10).with("C3", 2_300).run(10_000);
    assert_eq!(run.count("C1 > B1 commit"), 0);
}

#[test]
fn decision_08_once_the_new_generation_is_formed_the_old_one_is_refused() {
    // Of two commits with generation 1, sent by hand, the first comes before generation 2 is formed at 1,190.
    let with = |at| {
        let action = json!({ "commit": { "consumer": "C1", "generation": 1, "offsets": { "orders-0": 1 } } });
        let run = pair().set("defaults.callback_time", "0s").at(at, action).run(at + 25);
        run.texts("B1 > C1 commit")
    };
    // With no time in the callback generation 2 is formed at 1,090.
    assert_eq!(with(1_079), ["B1 > C1 commit ok"]);
    assert_eq!(with(1_081), ["B1 > C1 commit IllegalGeneration"]);
}

#[test]
fn decision_08_without_a_channel_to_the_coordinator_there_is_no_such_commit() {
    let run = pair()
        .set("topics.orders.produced_per_second", 10)
        .set("defaults.on_deassigned", "commit")
        .set("defaults.on_coordinator_failure", "rejoin")
        .at(5_000, json!({ "crash": "B1" }))
        .run(6_000);
    assert_eq!(run.times("C1 deassigned").last(), Some(&5_010_000));
    assert_eq!(run.times("C1 > B1 commit"), ms([1_080]));
}

#[test]
fn decision_11_fetching_starts_from_the_committed_offset_and_from_0_without_one() {
    let run = pair()
        .set("topics.orders.produced_per_second", 10)
        .at(4_000, json!({ "commit": { "consumer": "C1", "offsets": { "orders-1": 17 } } }))
        .at(5_000, json!({ "crash": "C1" }))
        .run(9_000);
    assert_eq!(
        run.texts("B1 > C2 joined").last().map(String::as_str),
        Some("B1 > C2 joined 3 orders-0@0 orders-1@17 orders-2@0")
    );
    assert_eq!(
        run.texts("C2 fetching").last().map(String::as_str),
        Some("C2 fetching orders-0@0 orders-1@17 orders-2@0")
    );
    assert_eq!(run.count("C2 > B1 metadata"), 1, "no message has to be drawn for it");
}

fn alone(processed: u64, produced: u64) -> Group {
    Group::new()
        .set("topics.orders.partitions", 1)
        .set("topics.orders.produced_per_second", produced)
        .set("defaults.processed_per_second", processed)
        .with("C1", 0)
}

fn committed_at(group: Group, at_ms: u64) -> String {
    let run = group.at(at_ms, json!({ "commit": { "consumer": "C1" } })).run(at_ms + 50);
    run.texts("C1 > B1 commit").last().cloned().unwrap_or_default()
}

#[test]
fn decision_12_positions_follow_the_rates() {
    // C1 fetches from 160 on. It processes what there is, as fast as it can: from 160 to 1,160 is one second.
    assert_eq!(committed_at(alone(100, 1_000), 1_160), "C1 > B1 commit 1 orders-0@100");
    assert_eq!(committed_at(alone(1_000, 100), 1_160), "C1 > B1 commit 1 orders-0@116");
    assert_eq!(committed_at(alone(100, 0), 1_160), "C1 > B1 commit 1 orders-0@0");
    assert_eq!(committed_at(alone(0, 100), 1_160), "C1 > B1 commit 1 orders-0@0");
}

#[test]
fn decision_12_to_ask_for_a_position_does_not_change_it() {
    // At a record a second, asked twice a second.
    let run = alone(1, 1_000).set("defaults.commit_interval", "500ms").run(10_200);
    assert_eq!(run.texts("C1 > B1 commit").last().map(String::as_str), Some("C1 > B1 commit 1 orders-0@9"));
}

#[test]
fn decision_12_a_paused_process_processes_nothing() {
    let group = alone(100, 1_000).at(1_160, json!({ "pause": "C1" })).at(2_160, json!({ "resume": "C1" }));
    assert_eq!(committed_at(group, 3_160), "C1 > B1 commit 1 orders-0@200");
}

#[test]
fn decision_12_a_thread_that_is_kept_processes_nothing() {
    let group = alone(100, 1_000).at(1_160, json!({ "process": { "consumer": "C1", "for": "1s" } }));
    assert_eq!(committed_at(group, 3_160), "C1 > B1 commit 1 orders-0@200");
}

#[test]
fn decision_12_records_since_the_last_commit_are_processed_twice_after_a_rebalance() {
    let run = pair()
        .set("topics.orders.produced_per_second", 10)
        .at(4_000, json!({ "commit": { "consumer": "C2" } }))
        .at(5_000, json!({ "crash": "C2" }))
        .run(9_000);
    // C2 had come to 50 when it crashed; C1 starts at 40.
    assert_eq!(
        run.texts("C1 fetching").last().map(String::as_str),
        Some("C1 fetching orders-0@0 orders-1@0 orders-2@40")
    );
}

#[test]
fn decision_12_a_partition_is_produced_to_from_when_it_was_made() {
    let run = alone(1_000, 10)
        .at(2_000, json!({ "add-partitions": { "topic": "orders", "count": 1 } }))
        .at(8_000, json!({ "commit": { "consumer": "C1" } }))
        .run(9_000);
    assert_eq!(
        run.texts("C1 > B1 commit").last().map(String::as_str),
        Some("C1 > B1 commit 2 orders-0@80 orders-1@60")
    );
}

fn assigned(strategy: &str, ids: [&str; 3], topics: [&[&str]; 3]) -> String {
    let mut group = Group::new()
        .set("settings.assignment", strategy)
        .set("topics.orders.partitions", 4)
        .set("topics.payments.partitions", 4);
    for (id, topics) in ids.into_iter().zip(topics) {
        group = group.with_spec(json!({ "id": id, "topics": topics, "start": "0s" }));
    }
    group.run(3_000).texts("B1 formed").last().cloned().unwrap_or_default()
}

#[test]
fn decision_13_range_and_round_robin_are_kafkas() {
    let both: &[&str] = &["orders", "payments"];
    assert_eq!(
        assigned("range", ["C1", "C2", "C3"], [both; 3]),
        "B1 formed 2 C1[orders-0 orders-1 payments-0 payments-1] C2[orders-2 payments-2] C3[orders-3 payments-3]"
    );
    assert_eq!(
        assigned("roundrobin", ["C1", "C2", "C3"], [both; 3]),
        "B1 formed 2 C1[orders-0 orders-3 payments-2] C2[orders-1 payments-0 payments-3] C3[orders-2 payments-1]"
    );
    assert_eq!(
        assigned("roundrobin", ["C1", "C2", "C3"], [&["orders"], both, &["payments"]]),
        "B1 formed 2 C1[orders-0 orders-2] C2[orders-1 orders-3 payments-1 payments-3] C3[payments-0 payments-2]"
    );
}

#[test]
fn decision_13_range_is_the_default() {
    let named = assigned("range", ["C1", "C2", "C3"], [&["orders"]; 3]);
    let group = Group::new().set("topics.orders.partitions", 4).with("C1", 0).with("C2", 0).with("C3", 0);
    assert_eq!(group.run(3_000).texts("B1 formed").last(), Some(&named));
}

#[test]
fn decision_13_ties_are_broken_by_the_consumers_names() {
    // As text: C10 comes before C2, whatever the order in which they stand in the scenario or join.
    assert_eq!(
        assigned("range", ["C2", "C3", "C10"], [&["orders"]; 3]),
        "B1 formed 2 C10[orders-0 orders-1] C2[orders-2] C3[orders-3]"
    );
}

#[test]
fn decision_14_whichever_looks_first_starts_the_rebalance() {
    // The partition is added at 6,000. The coordinator looks at 10,050; C1 looks at 7,200, or not for an hour.
    let with_refresh = |refresh: &str| {
        let own = json!({ "metadata_refresh": refresh });
        let group = Group::new().with_own("C1", 0, own).with("C2", 0);
        group.at(6_000, json!({ "add-partitions": { "topic": "orders", "count": 1 } })).run(30_000)
    };
    let consumer = with_refresh("6s");
    assert_eq!(consumer.times("C1 saw orders 4"), ms([7_220]));
    assert_eq!(untimed(&consumer.story(6_000, 30_000, &["B1 rebalances"])), ["B1 rebalances Rejoined C1"]);
    let coordinator = with_refresh("1h");
    assert_eq!(coordinator.count("C1 saw"), 0);
    assert_eq!(
        untimed(&coordinator.story(6_000, 30_000, &["B1 rebalances"])),
        ["B1 rebalances PartitionsChanged orders"]
    );
}

#[test]
fn decision_14_one_change_is_one_rebalance_also_when_both_look_at_once() {
    // C1 asks for metadata at 10,045 or a little later or earlier, the coordinator looks at 10,050.
    for refresh in [8_820, 8_830, 8_835, 8_840, 8_845, 8_850, 8_860] {
        let own = json!({ "metadata_refresh": format!("{refresh}ms") });
        let run = Group::new()
            .with_own("C1", 0, own)
            .with_own("C2", 0, json!({ "metadata_refresh": "8860ms" }))
            .at(6_000, json!({ "add-partitions": { "topic": "orders", "count": 1 } }))
            .run(60_000);
        assert_eq!(run.story(6_000, 60_000, &["B1 rebalances"]).len(), 1, "{refresh}: {run:?}");
        assert_eq!(run.count("B1 formed"), 3, "{refresh}");
    }
}

#[test]
fn decision_14_the_coordinator_reads_the_true_counts_when_it_computes() {
    // The rebalance begins for another reason; the partition added meanwhile is in its assignment, and no other follows.
    let run = pair()
        .set("defaults.metadata_refresh", "1s")
        .with("C3", 2_300)
        .at(2_400, json!({ "add-partitions": { "topic": "orders", "count": 1 } }))
        .run(30_000);
    assert_eq!(
        run.texts("B1 formed").last().map(String::as_str),
        Some("B1 formed 3 C1[orders-0 orders-1] C2[orders-2] C3[orders-3]")
    );
}
