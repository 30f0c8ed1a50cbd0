//! OC1 to OC5: which commits are accepted, and what becomes of those that are not.

use std::collections::BTreeMap;

use groupscope_core::id::{Offset, Partition, TopicId};
use serde_json::{Value, json};

use crate::common::{Group, Run, ms, pair, untimed};

/// A pair whose topic is produced to, ten records a second in each partition, and a consumer C3 that never starts.
fn produced() -> Group {
    pair().set("topics.orders.produced_per_second", 10).with_spec(json!({ "id": "C3", "topics": [] }))
}

fn commit(extra: Value) -> Value {
    let mut spec = json!({ "consumer": "C1" });
    for (key, value) in extra.as_object().expect("an object") {
        spec[key] = value.clone();
    }
    json!({ "commit": spec })
}

/// The committed offsets of the first three partitions of `orders`.
fn committed(run: &Run) -> [u64; 3] {
    [0, 1, 2].map(|index| {
        let Offset(offset) = run.sim.committed(Partition { topic: TopicId(0), index });
        offset
    })
}

#[test]
fn oc1_a_commit_of_one_that_is_no_member_is_refused() {
    let run = produced().at(2_500, commit(json!({ "member": "C3", "offsets": { "orders-0": 5 } }))).run(3_000);
    assert_eq!(
        run.story(2_500, 2_510, &["C1 > B1", "B1"])[..3],
        [
            "2500 C1 > B1 commit 2 orders-0@5 as C3",
            "2510 B1 < C1 commit 2 orders-0@5 as C3",
            "2510 B1 checked C3 UnknownMember",
        ]
    );
    assert_eq!(run.texts("B1 > C1 commit"), ["B1 > C1 commit UnknownMember", "B1 > C1 commit ok"]);
    assert_eq!(run.rules("B1 > C1 commit UnknownMember"), ["OC1 OC2"]);
}

#[test]
fn oc1_a_removed_member_is_none() {
    let run = produced()
        .at(5_000, json!({ "pause": "C1" }))
        .at(9_000, json!({ "resume": "C1" }))
        .at(9_000, commit(json!({})))
        .run(9_050);
    assert_eq!(run.times("B1 removed C1"), ms([7_210]));
    // It processed from 1,300 to 5,000 and has not heard of its removal.
    assert_eq!(run.texts("C1 > B1 commit"), ["C1 > B1 commit 2 orders-0@50 orders-1@50"]);
    assert_eq!(run.texts("B1 > C1 commit"), ["B1 > C1 commit UnknownMember"]);
}

#[test]
fn oc2_a_commit_to_anothers_partition_is_refused() {
    let run = produced().at(2_500, commit(json!({ "offsets": { "orders-2": 5 } }))).run(3_000);
    assert_eq!(run.texts("B1 > C1 commit"), ["B1 > C1 commit PartitionNotOwned"]);
    assert_eq!(run.rules("B1 > C1 commit PartitionNotOwned"), ["OC2"]);
    assert_eq!(committed(&run), [0, 0, 0]);
}

#[test]
fn oc2_it_is_every_partition_that_counts() {
    let run =
        produced().at(2_500, commit(json!({ "offsets": { "orders-0": 5, "orders-1": 5, "orders-2": 5 } }))).run(2_550);
    assert_eq!(run.texts("B1 > C1 commit"), ["B1 > C1 commit PartitionNotOwned"]);
    assert_eq!(committed(&run), [0, 0, 0]);
}

#[test]
fn oc2_a_partition_that_nobody_owns_is_not_its_own() {
    let run = produced().at(2_500, commit(json!({ "offsets": { "orders-7": 5 } }))).run(2_550);
    assert_eq!(run.texts("B1 > C1 commit"), ["B1 > C1 commit PartitionNotOwned"]);
}

#[test]
fn oc2_ownership_is_that_of_the_generation_in_force() {
    // C2 owned orders-2 until generation 3, which is formed at 3,330.
    let group = || produced().with("C4", 2_300);
    let of_c2 = |at| {
        let action = json!({ "commit": { "consumer": "C2", "offsets": { "orders-2": 5 } } });
        group().at(at, action).run(at + 15)
    };
    assert_eq!(of_c2(3_215).texts("B1 > C2 commit"), ["B1 > C2 commit ok"]);
    assert_eq!(of_c2(3_500).texts("B1 > C2 commit"), ["B1 > C2 commit PartitionNotOwned"]);
}

#[test]
fn oc3_a_commit_with_an_older_or_a_newer_generation_is_refused() {
    for generation in [1, 3] {
        let run =
            produced().at(2_500, commit(json!({ "generation": generation, "offsets": { "orders-0": 5 } }))).run(2_550);
        assert_eq!(run.texts("B1 > C1 commit"), ["B1 > C1 commit IllegalGeneration"]);
        assert_eq!(run.rules("B1 > C1 commit"), ["OC3"]);
        assert_eq!(committed(&run), [0, 0, 0]);
    }
}

#[test]
fn oc4_an_accepted_commit_is_appended_to_the_log() {
    let run = produced().at(2_500, commit(json!({}))).run(3_000);
    assert_eq!(
        run.story(2_500, 3_000, &["C1 > B1 commit", "B1 < C1 commit", "B1 checked", "B1 appended", "B1 > C1 commit"]),
        [
            "2500 C1 > B1 commit 2 orders-0@25 orders-1@25",
            "2510 B1 < C1 commit 2 orders-0@25 orders-1@25",
            "2510 B1 checked C1 ok",
            "2510 B1 appended orders-0@25 orders-1@25",
            "2510 B1 > C1 commit ok",
        ]
    );
    assert_eq!(run.rules("B1 checked"), ["OC1 OC2 OC3"]);
    assert_eq!(run.rules("B1 appended"), ["OC4"]);
    assert_eq!(run.rules("B1 > C1 commit ok"), ["OC4"]);
    assert_eq!(committed(&run), [25, 25, 0]);
}

#[test]
fn oc4_a_refused_commit_leaves_no_trace_in_the_log() {
    let run = produced()
        .at(2_500, commit(json!({})))
        .at(2_600, commit(json!({ "generation": 1, "offsets": { "orders-0": 99 } })))
        .run(2_615);
    assert_eq!(run.texts("B1 > C1 commit"), ["B1 > C1 commit ok", "B1 > C1 commit IllegalGeneration"]);
    assert_eq!(run.count("B1 appended"), 1);
    assert_eq!(committed(&run), [25, 25, 0]);
}

#[test]
fn oc4_a_later_commit_stands_also_where_it_goes_back() {
    let run = produced()
        .at(2_500, commit(json!({ "offsets": { "orders-0": 20, "orders-1": 20 } })))
        .at(2_600, commit(json!({ "offsets": { "orders-0": 7, "orders-1": 21 } })))
        .run(3_000);
    assert_eq!(
        run.texts("B1 appended").last().map(String::as_str),
        Some("B1 appended orders-0@7 orders-1@21 backwards 1")
    );
    assert_eq!(committed(&run), [7, 21, 0]);
}

#[test]
fn oc5_refused_it_finds_the_coordinator_sends_a_heartbeat_and_retries_with_its_present_values() {
    let refused = commit(json!({ "generation": 1, "offsets": { "orders-0": 5, "orders-1": 5 } }));
    let run = produced().at(2_500, refused).run(3_000);
    assert_eq!(
        run.story(2_500, 3_000, &["C1 > B1", "B1 > C1", "C1 found", "C1 opening", "C1 reported", "B1 appended"]),
        [
            "2500 C1 > B1 commit 1 orders-0@5 orders-1@5",
            "2510 B1 > C1 commit IllegalGeneration",
            "2520 C1 > B1 metadata orders",
            "2530 B1 > C1 metadata coordinator B1 of B1 orders:3",
            "2540 C1 found B1",
            "2540 C1 > B1 heartbeat 2",
            "2550 B1 > C1 heartbeat ok",
            "2560 C1 > B1 commit 2 orders-0@25 orders-1@25",
            "2570 B1 appended orders-0@25 orders-1@25",
            "2570 B1 > C1 commit ok",
        ]
    );
    assert_eq!(run.rules("C1 > B1 commit"), ["OC1 OC2 OC3", "OC5"]);
}

#[test]
fn oc5_what_was_not_refused_is_not_retried() {
    let run = produced().at(2_500, commit(json!({ "generation": 1, "offsets": { "orders-1": 5 } }))).run(3_000);
    assert_eq!(run.texts("C1 > B1 commit").last().map(String::as_str), Some("C1 > B1 commit 2 orders-1@25"));
}

#[test]
fn oc5_what_it_does_not_own_is_dropped_and_reported() {
    let refused = commit(json!({ "offsets": { "orders-0": 5, "orders-2": 6 } }));
    let run = produced().at(2_500, refused).run(3_000);
    assert_eq!(
        run.story(2_550, 3_000, &["C1 > B1", "B1 > C1", "C1 reported"]),
        [
            "2550 B1 > C1 heartbeat ok",
            "2560 C1 reported orders-2@6 NoLongerOwned",
            "2560 C1 > B1 commit 2 orders-0@25",
            "2570 B1 > C1 commit ok",
        ]
    );
    assert_eq!(run.rules("C1 reported"), ["OC5"]);
}

#[test]
fn oc5_if_nothing_is_left_to_retry_nothing_is_sent() {
    let run = produced().at(2_500, commit(json!({ "offsets": { "orders-2": 6 } }))).run(20_000);
    assert_eq!(run.times("C1 reported orders-2@6 NoLongerOwned"), ms([2_560]));
    assert_eq!(run.count("C1 > B1 commit"), 1);
}

#[test]
fn oc5_if_that_heartbeat_is_refused_it_joins_first() {
    // C4 joins at 2,350, and so the heartbeat of 2,540 is refused. In generation 3 C1 owns only orders-0.
    let refused = commit(json!({ "generation": 1, "offsets": { "orders-0": 5, "orders-1": 6 } }));
    let run = produced().with("C4", 2_300).at(2_500, refused).run(4_000);
    assert_eq!(
        run.story(2_540, 4_000, &["C1 > B1", "B1 > C1", "C1 deassigned", "C1 recorded", "C1 fetching", "C1 reported"])
            [..10],
        [
            "2540 C1 > B1 heartbeat 2",
            "2550 B1 > C1 heartbeat RebalanceInProgress",
            "2560 C1 deassigned orders-0 orders-1",
            "2660 C1 > B1 join orders",
            "3330 B1 > C1 joined 3 orders-0@0",
            "3340 C1 recorded 3",
            "3440 C1 fetching orders-0@0",
            "3440 C1 reported orders-1@6 NoLongerOwned",
            "3440 C1 > B1 commit 3 orders-0@0",
            "3450 B1 > C1 commit ok",
        ]
    );
    assert_eq!(run.rules("C1 > B1 commit"), ["OC1 OC2 OC3", "OC5"]);
}

#[test]
fn oc5_a_refusal_that_comes_while_it_joins_is_retried_in_the_new_generation() {
    // The commit in onPartitionDeassigned() carries generation 1 by hand; its refusal is read after the join is sent.
    let run = produced()
        .at(2_500, json!({ "subscribe": { "consumer": "C1", "topics": ["orders"] } }))
        .at(2_495, commit(json!({ "generation": 1, "offsets": { "orders-0": 5 } })))
        .run(3_500);
    assert_eq!(
        run.story(2_495, 3_500, &["C1 < B1 commit IllegalGeneration", "C1 > B1"]),
        [
            "2495 C1 > B1 commit 1 orders-0@5",
            "2600 C1 > B1 join orders",
            "2600 C1 < B1 commit IllegalGeneration",
            "3440 C1 > B1 commit 3 orders-0@0",
        ]
    );
}

#[test]
fn oc5_it_retries_once() {
    // Each callback takes longer than a session, so C1 is removed again whenever it comes back to its heartbeats: the
    // commit is refused, and so is the one retry, which it makes in its next generation.
    let run = Group::new()
        .with("C1", 0)
        .set("defaults.callback_time", "3500ms")
        .at(1_000, commit(json!({ "offsets": { "orders-0": 5 } })))
        .run_unchecked(60_000);
    assert_eq!(
        run.story(0, 60_000, &["C1 > B1 commit", "B1 > C1 commit", "C1 reported"]),
        [
            "3560 C1 > B1 commit 1 orders-0@5",
            "3570 B1 > C1 commit UnknownMember",
            "10600 C1 > B1 commit 2/1 orders-0@0",
            "10610 B1 > C1 commit UnknownMember",
            "10620 C1 reported orders-0@0 RefusedAgain",
        ]
    );
}

#[test]
fn oc5_two_refusals_in_a_row_are_retried_together() {
    let refused = |offsets: Value| commit(json!({ "generation": 1, "offsets": offsets }));
    let run =
        produced().at(2_500, refused(json!({ "orders-0": 5 }))).at(2_505, refused(json!({ "orders-1": 6 }))).run(5_000);
    assert_eq!(run.texts("C1 reported"), [""; 0]);
    assert_eq!(
        run.texts("C1 > B1 commit").last().map(String::as_str),
        Some("C1 > B1 commit 2 orders-0@25 orders-1@25")
    );
    assert_eq!(run.count("C1 > B1 commit"), 3);
}

#[test]
fn oc5_any_later_valid_heartbeat_lets_the_retry_go_if_the_first_is_lost() {
    let link = json!({ "consumer": "C1" });
    let run = produced()
        .at(2_500, commit(json!({ "generation": 1, "offsets": { "orders-0": 5 } })))
        .at(2_535, json!({ "cut": link }))
        .at(2_545, json!({ "heal": link }))
        .run(5_000);
    assert_eq!(
        run.story(2_540, 5_000, &["C1 > B1", "B1 > C1"])[..4],
        [
            "2540 C1 > B1 heartbeat 2 lost",
            "3540 C1 > B1 heartbeat 2",
            "3550 B1 > C1 heartbeat ok",
            "3560 C1 > B1 commit 2 orders-0@35",
        ]
    );
}

#[test]
fn oc5_an_earlier_heartbeat_does_not_let_the_retry_go() {
    // The regular heartbeat of 2,200 is answered between the refusal and the heartbeat that asks for it.
    let run = produced().at(2_185, commit(json!({ "generation": 1, "offsets": { "orders-0": 5 } }))).run(2_300);
    assert_eq!(
        untimed(&run.story(2_200, 2_300, &["C1 > B1", "B1 > C1"]))[..8],
        [
            "C1 > B1 heartbeat 2",
            "C1 > B1 metadata orders",
            "B1 > C1 heartbeat ok",
            "B1 > C1 metadata coordinator B1 of B1 orders:3",
            "C1 > B1 heartbeat 2",
            "B1 > C1 heartbeat ok",
            "C1 > B1 commit 2 orders-0@22",
            "B1 > C1 commit ok",
        ]
    );
}

#[test]
fn oc5_a_coordinator_that_is_gone_is_found_again_before_the_retry() {
    // The refusal is read at 2,520; the broker that is asked crashes at 2,525 and is back at 2,600.
    let run = produced()
        .at(2_500, commit(json!({ "generation": 1, "offsets": { "orders-0": 5 } })))
        .at(2_525, json!({ "crash": "B1" }))
        .at(2_600, json!({ "restart": "B1" }))
        .run(3_000);
    let story = run.story(2_520, 3_000, &["C1 > B1", "C1 gave up", "C1 opened", "B1 > C1", "C1 reported"]);
    assert_eq!(
        untimed(&story),
        [
            "C1 > B1 metadata orders",
            "C1 gave up B1 ChannelClosed",
            "C1 opened B1",
            "C1 > B1 metadata orders",
            "B1 > C1 metadata coordinator B1 of B1 orders:3",
            "C1 > B1 heartbeat 2",
            "B1 > C1 heartbeat ok",
            "C1 > B1 commit 2 orders-0@26",
            "B1 > C1 commit ok",
        ]
    );
}

#[test]
fn oc5_a_commit_without_an_answer_is_reported_not_retried() {
    let run = produced()
        .at(2_500, commit(json!({})))
        .at(2_505, json!({ "pause": "B1" }))
        .at(5_000, json!({ "resume": "B1" }))
        .set("defaults.request_timeout", "1s")
        .run(6_000);
    assert_eq!(run.times("C1 reported orders-0@25 orders-1@25 NoAnswer"), ms([3_500]));
    assert_eq!(run.count("C1 > B1 commit"), 1);
}

#[test]
fn oc5_a_retry_that_never_came_to_be_is_reported_when_the_consumer_stops() {
    let refused = || produced().at(2_500, commit(json!({ "generation": 1, "offsets": { "orders-0": 5 } })));
    let closed = refused().at(2_530, json!({ "close": "C1" })).run(3_000);
    assert_eq!(closed.times("C1 reported orders-0@5 Stopped"), ms([2_530]));
    assert_eq!(closed.count("C1 > B1 commit"), 1);
}

#[test]
fn oc5_an_accepted_commit_is_not_sent_again() {
    let run = produced().at(2_500, commit(json!({}))).run(20_000);
    assert_eq!(run.count("C1 > B1 commit"), 1);
    assert_eq!(run.count("C1 > B1 metadata"), 1);
}

#[test]
fn oc_the_three_conditions_are_checked_one_by_one() {
    // Every combination of (member, owner, generation): accepted only if all hold; the answer names the first that fails.
    let mut outcomes = BTreeMap::new();
    for member in ["C1", "C3"] {
        for partition in ["orders-0", "orders-2"] {
            for generation in [2, 1] {
                let mut offsets = json!({});
                offsets[partition] = json!(5);
                let spec = commit(json!({ "member": member, "generation": generation, "offsets": offsets }));
                let run = produced().at(2_500, spec).run(2_515);
                outcomes.insert((member, partition, generation), run.texts("B1 > C1 commit").concat());
            }
        }
    }
    let expected = [
        (("C1", "orders-0", 1), "IllegalGeneration"),
        (("C1", "orders-0", 2), "ok"),
        (("C1", "orders-2", 1), "IllegalGeneration"),
        (("C1", "orders-2", 2), "PartitionNotOwned"),
        (("C3", "orders-0", 1), "UnknownMember"),
        (("C3", "orders-0", 2), "UnknownMember"),
        (("C3", "orders-2", 1), "UnknownMember"),
        (("C3", "orders-2", 2), "UnknownMember"),
    ];
    let expected = expected.map(|(case, answer)| (case, format!("B1 > C1 commit {answer}")));
    assert_eq!(outcomes, BTreeMap::from(expected));
}
