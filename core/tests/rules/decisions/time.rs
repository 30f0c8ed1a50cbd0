//! Decision 15: time, order at one instant, resumed processes, and random draws.

use groupscope_core::report;
use groupscope_core::sim::Simulation;
use groupscope_core::time::{Span, Time};
use serde_json::json;

use crate::common::{Group, ms, pair, untimed};

#[test]
fn decision_15_at_one_instant_an_arrival_comes_before_a_command() {
    // The heartbeat arrives at 2,070.
    let run = Group::new().with("C1", 0).at(2_070, json!({ "pause": "B1" })).run(2_100);
    assert_eq!(
        untimed(&run.story(2_070, 2_070, &["B1"])),
        ["B1 < C1 heartbeat 1", "B1 > C1 heartbeat ok", "B1 paused"]
    );
}

#[test]
fn decision_15_at_one_instant_a_command_comes_before_a_timer() {
    // The heartbeat is due at 2,060.
    let run = Group::new().with("C1", 0).at(2_060, json!({ "crash": "C1" })).run(2_100);
    assert_eq!(run.times("C1 > B1 heartbeat"), ms([1_060]));
}

#[test]
fn decision_15_at_one_instant_a_closing_stands_in_the_order_of_sending() {
    // C1 sends a heartbeat at 2,500 and crashes; C2 sends one at the same time; all three arrive at 2,510.
    let by_hand = |consumer: &str| json!({ "heartbeat": { "consumer": consumer } });
    let run = pair().at(2_500, by_hand("C1")).at(2_500, json!({ "crash": "C1" })).at(2_500, by_hand("C2")).run(2_510);
    assert_eq!(
        untimed(&run.story(2_510, 2_510, &["B1 <", "B1 closed"])),
        ["B1 < C1 heartbeat 2", "B1 closed C1 ByPeer", "B1 < C2 heartbeat 2"]
    );
}

#[test]
fn decision_15_arrivals_at_one_instant_keep_the_order_of_sending() {
    // Sent at 2,500 and 2,520, over 30 and 10 ms: whoever sent first is taken first.
    for (first, second) in [("C1", "C2"), ("C2", "C1")] {
        let latency = |id| if id == first { "30ms" } else { "10ms" };
        let spec = |id| json!({ "id": id, "topics": ["orders"], "start": "0s", "latency": { "fixed": latency(id) } });
        let run = Group::new()
            .with_spec(spec("C1"))
            .with_spec(spec("C2"))
            .at(2_500, json!({ "heartbeat": { "consumer": first, "generation": 2 } }))
            .at(2_520, json!({ "heartbeat": { "consumer": second, "generation": 2 } }))
            .run(2_530);
        assert_eq!(
            untimed(&run.story(2_530, 2_530, &["B1 <"])),
            [format!("B1 < {first} heartbeat 2"), format!("B1 < {second} heartbeat 2")]
        );
    }
}

#[test]
fn decision_15_commands_of_one_instant_keep_the_scripts_order() {
    let run = Group::new()
        .with_spec(json!({ "id": "C1", "topics": ["orders"] }))
        .with("C2", 500)
        .at(500, json!({ "start": "C1" }))
        .at(500, json!({ "crash": "C2" }))
        .run(600);
    assert_eq!(
        untimed(&run.story(500, 500, &["C1 started", "C2 started", "C2 crashed"])),
        ["C2 started", "C1 started", "C2 crashed"]
    );
}

#[test]
fn decision_15_timers_of_one_instant_fire_in_the_order_in_which_they_were_set() {
    // HB4's limit was set at 2,060, the heartbeat of the same instant at 3,060: nothing is sent to a coordinator given up.
    let run = Group::new().with("C1", 0).at(1_500, json!({ "pause": "B1" })).run(4_100);
    assert_eq!(run.times("C1 gave up B1 NoAnswer"), ms([4_060]));
    assert_eq!(run.times("C1 > B1 heartbeat"), ms([1_060, 2_060, 3_060]));
}

#[test]
fn decision_15_a_resumed_process_takes_its_messages_then_its_overdue_timers() {
    // The coordinator stands still from 2,500 to 6,000. By its timers C1 and C2 ended at 5,210; their heartbeats wait.
    let run = pair()
        .set("defaults.coordinator_timeout", "off")
        .at(2_500, json!({ "pause": "B1" }))
        .at(6_000, json!({ "resume": "B1" }))
        .run(10_000);
    assert_eq!(run.count("B1 removed"), 0);
    assert_eq!(run.story(6_000, 6_000, &["B1 < C1 heartbeat", "B1 > C1 heartbeat ok"]).len(), 6);
}

#[test]
fn decision_15_an_overdue_timer_fires_if_no_message_puts_it_off() {
    // C2 is gone: its session ended at 5,210, while the coordinator stood still.
    let run = pair()
        .set("defaults.coordinator_timeout", "off")
        .at(2_400, json!({ "crash": "C2" }))
        .at(2_500, json!({ "pause": "B1" }))
        .at(6_000, json!({ "resume": "B1" }))
        .run(10_000);
    assert_eq!(run.times("B1 removed C2 SessionExpired"), ms([6_000]));
}

#[test]
fn decision_15_each_overdue_timer_fires_once() {
    // C1 stands still from 2,500 to 5,900, over the heartbeats due at 3,060, 4,060 and 5,060.
    let run = Group::new()
        .with_own("C1", 0, json!({ "session_timeout": "9s", "heartbeat_interval": "1s" }))
        .at(2_500, json!({ "pause": "C1" }))
        .at(5_900, json!({ "resume": "C1" }))
        .run(8_000);
    assert_eq!(run.times("C1 > B1 heartbeat"), ms([1_060, 2_060, 5_900, 6_900, 7_900]));
}

#[test]
fn decision_15_a_callback_that_stood_still_goes_on_for_what_was_left_of_it() {
    let run =
        Group::new().with("C1", 0).at(100, json!({ "pause": "C1" })).at(500, json!({ "resume": "C1" })).run(1_000);
    assert_eq!(run.times("C1 assigned"), ms([60]));
    assert_eq!(run.times("C1 returned from assigned"), ms([560]));
}

fn rough() -> Group {
    pair()
        .with("C3", 700)
        .set("seed", 7)
        .set("network.latency", json!({ "uniform": { "min": "1ms", "max": "80ms" } }))
        .set("network.lost_per_million", 20_000)
}

#[test]
fn decision_15_the_same_scenario_gives_the_same_trace_also_in_pieces() {
    let whole = rough().run_unchecked(60_000);
    let mut pieces = Simulation::new(rough().plan().expect("a plan"));
    for at in (0..=60_000_000).step_by(777_777) {
        pieces.run_until(Time(at));
        pieces = pieces.clone();
    }
    pieces.run_until(Time::ZERO + Span::from_secs(60));
    assert_eq!(report::text(whole.sim.trace()), report::text(pieces.trace()));
}

#[test]
fn decision_15_another_seed_gives_another_trace() {
    let (one, other) = (rough().run_unchecked(10_000), rough().set("seed", 8).run_unchecked(10_000));
    assert_ne!(report::text(one.sim.trace()), report::text(other.sim.trace()));
}

#[test]
fn decision_15_editing_a_scenario_changes_nothing_before_the_edit() {
    let before = |run: crate::common::Run| {
        let text = report::text(run.sim.trace());
        let count = run.sim.trace().count_until(Time(19_999_999));
        text.lines().take(count).map(str::to_owned).collect::<Vec<_>>()
    };
    let plain = before(rough().run_unchecked(30_000));
    let edits = [
        json!({ "crash": "C2" }),
        json!({ "cut": { "consumer": "C1" } }),
        json!({ "add-partitions": { "topic": "orders", "count": 5 } }),
        json!({ "pause": "B1" }),
    ];
    for edit in edits {
        assert_eq!(before(rough().at(20_000, edit.clone()).run_unchecked(30_000)), plain, "{edit}");
    }
}

#[test]
fn decision_15_what_happens_on_one_link_changes_no_draw_on_another() {
    // A third consumer that the group refuses: C1's and C2's messages take as long as without it.
    let group = || {
        pair()
            .set("seed", 7)
            .set("settings.max_size", 2)
            .set("network.latency", json!({ "heavy-tailed": { "min": "5ms", "max": "300ms", "shape": 1.2 } }))
    };
    let story =
        |run: crate::common::Run| run.story(0, 20_000, &["C1", "C2", "B1 > C1", "B1 > C2", "B1 < C1", "B1 < C2"]);
    let without = story(group().run_unchecked(20_000));
    let with = group().with("C3", 600).run_unchecked(20_000);
    assert_eq!(with.count("C3 threw GroupMaxSizeReached"), 1);
    assert_eq!(story(with), without);
}

#[test]
fn decision_15_heavy_tailed_latencies_stay_within_their_bounds() {
    let run = Group::new()
        .set("network.latency", json!({ "heavy-tailed": { "min": "5ms", "max": "300ms", "shape": 1.2 } }))
        .set("defaults.heartbeat_interval", "1s")
        .set("defaults.session_timeout", "60s")
        .with("C1", 0)
        .run_unchecked(600_000);
    let mut took: Vec<_> = run
        .records()
        .filter_map(|record| match record.fact {
            groupscope_core::trace::Fact::Sent { arrives, .. } => Some(arrives.since(record.at)),
            _ => None,
        })
        .collect();
    took.sort_unstable();
    assert!(took.len() > 1_000);
    assert!(took[0] >= Span::from_millis(5) && took[took.len() - 1] <= Span::from_millis(300));
    // Half of them near the shortest, and some far out: the median of this distribution is 5 ms x 2^(1/1.2) = 8.9 ms.
    let median = took[took.len() / 2];
    assert!(Span::from_millis(8) < median && median < Span::from_millis(10), "{median}");
    assert!(took[took.len() * 99 / 100] > Span::from_millis(100));
}
