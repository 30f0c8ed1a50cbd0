//! Decisions 9, 19, 20, 21 and 23: errors, what counts as heard, the fractions, and what is done by hand.

use groupscope_core::error::HeartbeatError;
use groupscope_core::id::Generation;
use groupscope_core::message::{Message, Request, Response};
use groupscope_core::trace::Fact;
use serde_json::json;

use crate::common::{Group, Run, ms, pair, untimed};

#[test]
fn decision_09_a_session_timeout_outside_the_bounds_is_fatal() {
    for (bound, value) in [("settings.min_session_timeout", "3001ms"), ("settings.max_session_timeout", "2999ms")] {
        let run = Group::new().set(bound, value).with("C1", 0).run(20_000);
        assert_eq!(run.times("C1 threw InvalidSessionTimeout"), ms([60]), "{bound}");
        assert_eq!(run.count("C1 > B1 join"), 1);
    }
    for bound in ["settings.min_session_timeout", "settings.max_session_timeout"] {
        let run = Group::new().set(bound, "3s").with("C1", 0).run(1_000);
        assert_eq!(run.count("C1 threw"), 0, "{bound}: the bounds themselves are allowed");
    }
}

#[test]
fn decision_09_a_full_group_is_fatal_to_a_newcomer() {
    let run = pair().with("C3", 2_300).set("settings.max_size", 2).run(5_000);
    assert_eq!(run.times("C3 threw GroupMaxSizeReached"), ms([2_360]));
    assert_eq!(run.count("B1 rebalances NewMember C3"), 0);
}

#[test]
fn decision_09_a_member_of_a_full_group_may_join_again_and_a_place_that_is_free_is_taken() {
    let run = pair()
        .set("settings.max_size", 2)
        .at(2_500, json!({ "subscribe": { "consumer": "C1", "topics": ["orders"] } }))
        .at(5_000, json!({ "crash": "C2" }))
        .with("C3", 9_000)
        .run(12_000);
    assert_eq!(run.count("C1 threw") + run.count("C3 threw"), 0);
    assert_eq!(run.texts("B1 added"), ["B1 added C1", "B1 added C2", "B1 added C3"]);
}

#[test]
fn decision_19_for_hb3_any_request_of_the_member_counts() {
    // No heartbeats at all: C1 commits every second, C2 nothing.
    let group = Group::new()
        .set("topics.orders.produced_per_second", 1)
        .set("defaults.heartbeat_interval", "1h")
        .set("settings.partition_check", "24h")
        .with_own("C1", 0, json!({ "commit_interval": "1s" }));
    assert_eq!(group.run_unchecked(30_000).count("B1 removed"), 0);
    let silent = Group::new().set("defaults.heartbeat_interval", "1h").with("C1", 0).run_unchecked(30_000);
    assert_eq!(silent.times("B1 removed C1"), ms([3_050]));
}

#[test]
fn decision_19_for_hb3_a_request_that_is_refused_counts_too() {
    let refused = json!({ "commit": { "consumer": "C2", "generation": 1, "offsets": { "orders-2": 1 } } });
    let run = pair().at(4_500, refused).at(4_515, json!({ "crash": "C2" })).run(9_000);
    assert_eq!(run.times("B1 > C2 commit IllegalGeneration"), ms([4_510]));
    assert_eq!(run.times("B1 removed C2 SessionExpired"), ms([7_510]));
}

#[test]
fn decision_19_for_hb4_any_answer_counts() {
    // The heartbeat of 10,060 is lost. An answer to a commit, or to a metadata request, comes before its limit.
    let link = json!({ "consumer": "C1" });
    let slow = |extra: serde_json::Value| {
        let mut settings =
            json!({ "session_timeout": "30s", "heartbeat_interval": "10s", "coordinator_timeout": "5s" });
        for (key, value) in extra.as_object().expect("an object") {
            settings[key] = value.clone();
        }
        Group::new()
            .set("topics.orders.produced_per_second", 1)
            .with_own("C1", 0, settings)
            .at(10_055, json!({ "cut": link }))
            .at(10_065, json!({ "heal": link }))
    };
    assert_eq!(slow(json!({})).run_unchecked(16_000).times("C1 gave up B1 NoAnswer"), ms([15_060]));
    for extra in [json!({ "commit_interval": "4s" }), json!({ "metadata_refresh": "4s" })] {
        assert_eq!(slow(extra.clone()).run_unchecked(16_000).count("C1 gave up"), 0, "{extra}");
    }
}

#[test]
fn decision_19_a_late_answer_changes_nothing() {
    // The refusal of 2,510 comes when the consumer has already begun to give up its partitions and join.
    let run = pair()
        .at(2_500, json!({ "heartbeat": { "consumer": "C1", "generation": 1 } }))
        .at(2_515, json!({ "subscribe": { "consumer": "C1", "topics": ["orders"] } }))
        .run(3_500);
    assert_eq!(
        run.story(2_510, 3_500, &["B1 > C1 heartbeat", "C1 < B1 heartbeat", "C1 deassigned", "C1 > B1 join"]),
        [
            "2510 B1 > C1 heartbeat IllegalGeneration",
            "2515 C1 deassigned orders-0 orders-1",
            "2615 C1 > B1 join orders",
            "2615 C1 < B1 heartbeat IllegalGeneration",
        ]
    );
}

#[test]
fn decision_19_a_late_answer_to_a_join_is_of_a_channel_that_is_closed() {
    // C2 gives its first join up at 640, and its second is held when C1 joins. The coordinator answers the second.
    let run = Group::new().with("C1", 0).with_own("C2", 0, json!({ "join_timeout": "600ms" })).run_unchecked(2_000);
    assert_eq!(run.times("C2 gave up B1 JoinTimeout"), ms([640]));
    assert_eq!(run.texts("B1 > C2 joined"), ["B1 > C2 joined 2 orders-2@0"]);
    assert_eq!(run.times("C2 recorded 2"), ms([1_200]));
}

#[test]
fn decision_20_rebalance_in_progress_while_one_waits_for_that_member() {
    // Also where the heartbeat carries another generation.
    let run =
        pair().with("C3", 2_300).at(2_500, json!({ "heartbeat": { "consumer": "C1", "generation": 1 } })).run(2_600);
    assert_eq!(
        run.texts("B1 > C1 heartbeat").last().map(String::as_str),
        Some("B1 > C1 heartbeat RebalanceInProgress")
    );
}

#[test]
fn decision_20_illegal_generation_for_another_one_also_from_a_member_whose_join_is_held() {
    let held = pair().at(500, json!({ "heartbeat": { "consumer": "C2", "generation": 2 } })).run(600);
    assert_eq!(held.texts("B1 > C2 heartbeat"), ["B1 > C2 heartbeat IllegalGeneration"]);
}

#[test]
fn decision_20_unknown_member_for_an_id_or_a_group_that_is_not_known() {
    let stranger = json!({ "heartbeat": { "consumer": "C1", "member": "C3" } });
    let run = pair().with_spec(json!({ "id": "C3", "topics": [] })).at(2_500, stranger).run(2_515);
    assert_eq!(run.texts("B1 > C1 heartbeat").last().map(String::as_str), Some("B1 > C1 heartbeat UnknownMember"));
    let lost = pair()
        .set("settings.state", "lost")
        .at(2_500, json!({ "crash": "B1" }))
        .at(2_600, json!({ "restart": "B1" }))
        .run(3_000);
    assert_eq!(lost.count("B1 > C1 heartbeat UnknownMember"), 1);
}

#[test]
fn decision_20_a_group_that_loses_its_last_member_is_forgotten_and_counts_from_1_again() {
    let run = pair()
        .at(5_000, json!({ "crash": "C1" }))
        .at(5_000, json!({ "crash": "C2" }))
        .at(20_000, json!({ "restart": "C1" }))
        .run(21_000);
    assert_eq!(
        run.story(5_000, 21_000, &["B1 removed", "B1 forgot", "B1 formed"]),
        [
            "7210 B1 removed C2 SessionExpired",
            "7210 B1 removed C1 SessionExpired",
            "7210 B1 forgot the group",
            "20050 B1 formed 2/1 C1[orders-0 orders-1 orders-2]",
        ]
    );
}

#[test]
fn decision_20_a_number_of_an_earlier_life_is_another_generation() {
    // Alone in its group, C1 is removed and begins a new life of it with number 1 again and again; most messages take a
    // few milliseconds, some seconds, so that heartbeats of one life come when the next has begun.
    let mut refused = 0;
    for seed in 0..20 {
        let run = Group::new()
            .set("seed", seed)
            .with_spec(json!({
                "id": "C1", "topics": ["orders"], "start": "0s",
                "latency": { "heavy-tailed": { "min": "1ms", "max": "5s", "shape": 0.5 } },
                "settings": {
                    "session_timeout": "200ms", "heartbeat_interval": "20ms", "coordinator_timeout": "100ms",
                    "callback_time": "0s", "on_coordinator_failure": "rejoin",
                },
            }))
            .run_unchecked(60_000);
        refused += heartbeats_of_earlier_lives(&run);
    }
    assert!(refused > 20, "{refused} heartbeats of an earlier life in all");
}

/// How many heartbeats with the number in force, but of an earlier life, were refused. None is answered as valid.
fn heartbeats_of_earlier_lives(run: &Run) -> usize {
    let mut current = Generation::default();
    let mut refused = 0;
    for fact in run.facts() {
        match fact {
            Fact::AssignmentComputed { formed, .. } => current = formed.generation,
            Fact::Sent { answers: Some(request), message: Message::Response(Response::Heartbeat(answer)), .. } => {
                let asked = &run.sim.trace()[request.id()].fact;
                let Fact::Sent { message: Message::Request(Request::Heartbeat { generation, .. }), .. } = asked else {
                    panic!("not a heartbeat: {asked:?}");
                };
                assert!(*answer != Ok(()) || *generation == current, "{generation:?} {current:?}");
                let is_mistakable = generation.number == current.number && generation.life != current.life;
                refused += usize::from(is_mistakable && *answer == Err(HeartbeatError::IllegalGeneration));
            }
            _ => {}
        }
    }
    refused
}

#[test]
fn decision_21_the_second_fraction_can_be_switched_off() {
    let group = |limit: &str| Group::new().with("C1", 0).set("defaults.coordinator_timeout", limit);
    let paused = |limit: &str| group(limit).at(2_500, json!({ "pause": "B1" })).run_unchecked(30_000);
    assert_eq!(paused("off").count("C1 gave up"), 0);
    assert_eq!(paused("5s").times("C1 gave up B1 NoAnswer"), ms([8_060]));
}

#[test]
fn decision_21_a_heartbeat_slower_than_the_session_shows_what_goes_wrong() {
    let run = Group::new().with_own("C1", 0, json!({ "heartbeat_interval": "4s" })).run_unchecked(20_000);
    assert_eq!(
        untimed(&run.story(3_000, 8_000, &["B1 removed", "B1 > C1 heartbeat", "B1 formed"])),
        [
            "B1 removed C1 SessionExpired",
            "B1 > C1 heartbeat UnknownMember",
            "B1 formed 2/1 C1[orders-0 orders-1 orders-2]",
            "B1 removed C1 SessionExpired",
        ]
    );
}

#[test]
fn decision_21_a_consumer_may_differ_from_the_others() {
    let run = Group::new()
        .set("defaults.coordinator_timeout", "1s")
        .with("C1", 0)
        .with_own("C2", 0, json!({ "coordinator_timeout": "1500ms" }))
        .at(4_500, json!({ "pause": "B1" }))
        .run(7_000);
    assert_eq!(run.times("C1 gave up B1 NoAnswer"), ms([6_200]));
    assert_eq!(run.times("C2 gave up B1 NoAnswer"), ms([6_700]));
}

#[test]
fn decision_23_a_heartbeat_by_hand_may_name_a_member_and_a_generation() {
    let run =
        pair().at(2_500, json!({ "heartbeat": { "consumer": "C1", "member": "C2", "generation": 2 } })).run(3_000);
    assert_eq!(run.messages(2_500, 3_000), ["2500 C1 > B1 heartbeat 2 as C2", "2510 B1 > C1 heartbeat ok"]);
    // It counts as a sign of life of the one whose name it bears.
    let silent = pair()
        .at(4_500, json!({ "crash": "C2" }))
        .at(5_500, json!({ "heartbeat": { "consumer": "C1", "member": "C2", "generation": 2 } }))
        .run_unchecked(9_000);
    assert_eq!(silent.times("B1 removed C2 SessionExpired"), ms([8_510]));
}

#[test]
fn decision_23_what_is_not_named_is_its_own() {
    let run = pair()
        .set("topics.orders.produced_per_second", 10)
        .at(2_500, json!({ "heartbeat": { "consumer": "C1" } }))
        .at(2_600, json!({ "commit": { "consumer": "C1", "offsets": { "orders-1": 3 } } }))
        .at(2_700, json!({ "commit": { "consumer": "C1", "generation": 2 } }))
        .run(3_000);
    assert_eq!(
        untimed(&run.story(2_500, 3_000, &["C1 > B1"])),
        ["C1 > B1 heartbeat 2", "C1 > B1 commit 2 orders-1@3", "C1 > B1 commit 2 orders-0@27 orders-1@27"]
    );
}

#[test]
fn decision_23_a_command_that_cannot_be_carried_out_says_why() {
    let by_hand = |extra: serde_json::Value| {
        let group = Group::new().with_spec(json!({ "id": "C1", "topics": ["orders"] }));
        let run = group.at(500, extra).run(1_000);
        run.texts("C1 ignored").concat()
    };
    assert_eq!(by_hand(json!({ "heartbeat": { "consumer": "C1" } })), "C1 ignored: it is not running");
    let joining = |action: serde_json::Value| pair().at(500, action).run(1_000).texts("C2 ignored").concat();
    assert_eq!(joining(json!({ "heartbeat": { "consumer": "C2" } })), "C2 ignored: it holds no generation: name one");
    assert_eq!(joining(json!({ "commit": { "consumer": "C2" } })), "C2 ignored: it holds no generation: name one");
    assert_eq!(
        joining(json!({ "commit": { "consumer": "C2", "generation": 1 } })),
        "C2 ignored: it holds no partitions: name offsets"
    );
    let alone = Group::new().with("C1", 0).at(30, json!({ "heartbeat": { "consumer": "C1", "generation": 1 } }));
    assert_eq!(alone.run(100).texts("C1 ignored"), ["C1 ignored: it has no channel to the coordinator"]);
}
