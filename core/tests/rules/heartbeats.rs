//! HB1 to HB6: heartbeats, and how each side finds out that the other has failed.

use serde_json::json;

use crate::common::{Group, ms, pair};

#[test]
fn hb1_a_heartbeat_every_third_of_the_session_timeout() {
    let run = Group::new().with("C1", 0).run(5_000);
    assert_eq!(run.times("C1 > B1 heartbeat 1"), ms([1_060, 2_060, 3_060, 4_060]));
    assert_eq!(run.rules("C1 > B1 heartbeat"), ["HB1"; 4]);
}

#[test]
fn hb1_the_third_is_rounded_down_to_a_microsecond() {
    let run = Group::new().with_own("C1", 0, json!({ "session_timeout": "10s" })).run(11_000);
    assert_eq!(run.times("C1 > B1 heartbeat"), [3_393_333, 6_726_666, 10_059_999]);
}

#[test]
fn hb1_each_consumer_keeps_its_own_interval() {
    let run = Group::new().with("C1", 0).with_own("C2", 0, json!({ "session_timeout": "6s" })).run(8_000);
    assert_eq!(run.times("C1 > B1 heartbeat 2"), ms([2_200, 3_200, 4_200, 5_200, 6_200, 7_200]));
    assert_eq!(run.times("C2 > B1 heartbeat 2"), ms([3_200, 5_200, 7_200]));
}

#[test]
fn hb1_carries_the_generation_that_the_consumer_holds() {
    let run = pair().run(3_500);
    assert_eq!(run.texts("C1 > B1 heartbeat"), ["C1 > B1 heartbeat 1", "C1 > B1 heartbeat 2", "C1 > B1 heartbeat 2"]);
}

#[test]
fn hb1_no_heartbeat_while_a_join_is_pending() {
    // C2's join is held from 550 until C1, which sends a heartbeat every four seconds, hears of it and joins.
    let slow = json!({ "session_timeout": "12s" });
    let run = Group::new().with_own("C1", 0, slow).with("C2", 500).run(6_000);
    assert_eq!(run.once("B1 > C2 joined 2"), 4_190_000);
    assert_eq!(run.times("C2 > B1 heartbeat"), ms([5_200]));
}

#[test]
fn hb2_answered_at_once_when_the_generation_is_current() {
    let run = pair().run(10_000);
    for consumer in ["C1", "C2"] {
        let received = run.times(&format!("B1 < {consumer} heartbeat 2"));
        assert_eq!(received.len(), 8);
        assert_eq!(run.times(&format!("B1 > {consumer} heartbeat ok")), received);
        assert_eq!(run.rules(&format!("B1 > {consumer} heartbeat ok")), ["HB2"; 8]);
    }
}

#[test]
fn hb3_nothing_heard_for_a_session_timeout_is_a_failed_consumer() {
    // C2's last heartbeat is taken at 4,210.
    let run = pair().at(5_000, json!({ "crash": "C2" })).run(9_000);
    assert_eq!(run.times("B1 removed C2 SessionExpired"), ms([7_210]));
    assert_eq!(run.rules("B1 removed C2"), ["HB3"]);
    assert_eq!(run.times("B1 rebalances MemberFailed C2"), ms([7_210]));
}

#[test]
fn hb3_goes_by_the_session_timeout_of_the_member_that_is_silent() {
    // C2's last heartbeat is taken at 3,210.
    let long = json!({ "session_timeout": "6s" });
    let run = Group::new().with("C1", 0).with_own("C2", 0, long).at(5_000, json!({ "crash": "C2" })).run(10_000);
    assert_eq!(run.times("B1 removed C2 SessionExpired"), ms([9_210]));
}

#[test]
fn hb3_a_heartbeat_in_time_keeps_a_member_to_the_last_microsecond() {
    // The session runs from 50, when the join is answered; the first heartbeat is taken at 70 and an interval.
    let with_interval = |interval: &str| Group::new().with("C1", 0).set("defaults.heartbeat_interval", interval);
    let in_time = with_interval("2980ms").run_unchecked(30_000);
    assert_eq!(in_time.times("B1 < C1 heartbeat")[0], 3_050_000);
    assert_eq!(in_time.count("B1 removed"), 0);
    let late = with_interval("2980001us").run_unchecked(3_100);
    assert_eq!(late.times("B1 removed C1 SessionExpired"), ms([3_050]));
}

#[test]
fn hb3_finds_a_paused_consumer_whose_channel_stays_open() {
    let run = pair().at(5_000, json!({ "pause": "C2" })).run(9_000);
    assert_eq!(run.times("B1 removed C2 SessionExpired"), ms([7_210]));
    assert_eq!(run.count("B1 closed"), 0);
}

#[test]
fn hb4_limit_runs_from_the_oldest_unanswered_heartbeat() {
    // Unanswered are those of 2,160, 2,860 and 3,560; from the newest it would be 5,560 or later.
    let group =
        Group::new().with_own("C1", 0, json!({ "heartbeat_interval": "700ms" })).at(1_500, json!({ "pause": "B1" }));
    let run = group.run(6_000);
    assert_eq!(run.times("C1 > B1 heartbeat"), ms([760, 1_460, 2_160, 2_860, 3_560]));
    assert_eq!(run.times("C1 gave up B1 NoAnswer"), ms([4_160]));
    assert_eq!(run.rules("C1 gave up B1"), ["HB4"]);
}

#[test]
fn hb4_an_answer_clears_the_limit_for_what_was_sent_before() {
    // The heartbeat of 2,060 is lost, the next one is answered.
    let link = json!({ "consumer": "C1" });
    let run =
        Group::new().with("C1", 0).at(2_055, json!({ "cut": link })).at(2_500, json!({ "heal": link })).run(10_000);
    assert_eq!(run.times("C1 > B1 heartbeat 1 lost"), ms([2_060]));
    assert_eq!(run.count("C1 gave up"), 0);
}

#[test]
fn hb4_an_answer_leaves_the_limit_of_what_was_sent_after() {
    // Both the heartbeat of 2,060 and that of 3,060 wait; only the first is answered, and the limit runs from the second.
    let run = Group::new()
        .with("C1", 0)
        .at(2_065, json!({ "pause": "B1" }))
        .at(3_065, json!({ "resume": "B1" }))
        .at(3_069, json!({ "pause": "B1" }))
        .run(6_000);
    assert_eq!(run.times("C1 < B1 heartbeat ok"), ms([1_080, 3_075]));
    assert_eq!(run.times("C1 gave up B1 NoAnswer"), ms([5_060]));
}

#[test]
fn hb4_an_answer_is_in_time_to_the_last_microsecond() {
    let with_limit = |limit: &str| Group::new().with("C1", 0).set("defaults.coordinator_timeout", limit);
    assert_eq!(with_limit("20ms").run_unchecked(5_000).count("C1 gave up"), 0);
    assert_eq!(with_limit("19ms").run_unchecked(1_100).times("C1 gave up B1 NoAnswer"), ms([1_079]));
}

#[test]
fn hb5_a_closed_channel_is_a_failed_coordinator() {
    let run = pair().at(5_000, json!({ "crash": "B1" })).run(6_000);
    for consumer in ["C1", "C2"] {
        assert_eq!(run.once(&format!("{consumer} closed B1 ByPeer")), 5_010_000);
        assert_eq!(run.times(&format!("{consumer} gave up B1 ChannelClosed")), ms([5_010]));
        assert_eq!(run.rules(&format!("{consumer} gave up B1")), ["HB5"]);
    }
}

#[test]
fn hb5_a_channel_found_closed_when_it_is_used_is_one_too() {
    // Nobody hears of the crash on a link that is cut; the heartbeat of 6,060 finds out.
    let link = json!({ "consumer": "C1" });
    let run = Group::new()
        .with("C1", 0)
        .at(5_100, json!({ "cut": link }))
        .at(5_200, json!({ "crash": "B1" }))
        .at(5_300, json!({ "restart": "B1" }))
        .at(5_400, json!({ "heal": link }))
        .run(6_500);
    assert_eq!(run.times("B1 dropped C1 heartbeat 1"), ms([6_070]));
    assert_eq!(run.times("C1 closed B1 Reset"), ms([6_080]));
    assert_eq!(run.times("C1 gave up B1 ChannelClosed"), ms([6_080]));
}

#[test]
fn hb5_another_brokers_channel_is_nothing_to_the_group() {
    let group = Group::new().with("C1", 0).set("brokers", 2).set("coordinator", 2);
    let run = group.at(5_000, json!({ "crash": "B1" })).run(10_000);
    assert_eq!(run.times("C1 closed B1 ByPeer"), ms([5_010]));
    assert_eq!(run.count("C1 gave up"), 0);
    assert_eq!(run.count("B2 rebalances"), 1);
}

#[test]
fn hb6_a_heartbeat_of_an_older_or_a_newer_generation_is_refused_and_its_consumer_joins() {
    for generation in [1, 3] {
        let by_hand = json!({ "heartbeat": { "consumer": "C1", "generation": generation } });
        let run = pair().at(2_500, by_hand).run(3_000);
        assert_eq!(
            run.story(2_500, 2_999, &["C1", "B1 > C1"]),
            [
                format!("2500 C1 > B1 heartbeat {generation}").as_str(),
                "2510 B1 > C1 heartbeat IllegalGeneration",
                "2520 C1 < B1 heartbeat IllegalGeneration",
                "2520 C1 stopped orders-0@0 orders-1@0",
                "2520 C1 deassigned orders-0 orders-1",
                "2620 C1 returned from deassigned",
                "2620 C1 > B1 join orders",
            ]
        );
        assert_eq!(run.rules("B1 > C1 heartbeat IllegalGeneration"), ["HB6"]);
        assert_eq!(run.rules("C1 > B1 join").last().map(String::as_str), Some("JG1 HB6 EC1"));
    }
}

#[test]
fn hb6_the_current_generation_is_not_refused() {
    let by_hand = json!({ "heartbeat": { "consumer": "C1", "generation": 2 } });
    let run = pair().at(2_500, by_hand).run(3_000);
    assert_eq!(run.messages(2_500, 3_000), ["2500 C1 > B1 heartbeat 2", "2510 B1 > C1 heartbeat ok"]);
}
