//! AR1 and AR2: what the coordinator never does, and what a consumer's only thread delays.

use std::collections::BTreeSet;

use groupscope_core::message::Message;
use groupscope_core::trace::Fact;
use serde_json::json;

use crate::common::{Group, ms, pair};

#[test]
fn ar1_the_coordinator_sends_nothing_but_answers_at_most_one_to_a_request() {
    // Rebalances, a failure, a retry, refusals, a restart: whatever happens.
    let run = pair()
        .with("C3", 2_300)
        .set("defaults.commit_interval", "400ms")
        .at(3_300, json!({ "crash": "C2" }))
        .at(7_000, json!({ "restart": "C2" }))
        .at(9_000, json!({ "add-partitions": { "topic": "orders", "count": 2 } }))
        .at(15_000, json!({ "heartbeat": { "consumer": "C1", "generation": 1 } }))
        .at(20_000, json!({ "crash": "B1" }))
        .at(21_000, json!({ "restart": "B1" }))
        .run(30_000);
    let trace = run.sim.trace();
    let mut answered = BTreeSet::new();
    let mut answers = 0;
    for fact in run.facts() {
        let Fact::Sent { from, to, connection, answers: request, message: Message::Response(_), .. } = fact else {
            continue;
        };
        assert!(from.broker().is_some(), "{fact:?}");
        let request = request.expect("an answer to something").id();
        assert!(answered.insert(request), "answered twice: {fact:?}");
        let Fact::Sent { from: asker, to: asked, connection: channel, message: Message::Request(_), .. } =
            &trace[request].fact
        else {
            panic!("not an answer to a request: {fact:?}");
        };
        assert_eq!((asker, asked, channel), (to, from, connection));
        answers += 1;
    }
    assert!(answers > 150, "{answers}");
}

#[test]
fn ar1_a_rebalance_that_begins_sends_nothing_by_itself() {
    let run = pair().at(5_000, json!({ "crash": "C2" })).run(8_190);
    assert_eq!(run.times("B1 rebalances MemberFailed"), ms([7_210]));
    // Until the next heartbeat of C1, at 8,200, all is quiet but the answer that is due at 7,210 itself.
    assert_eq!(run.messages(7_211, 8_190), [""; 0]);
}

#[test]
fn ar2_slow_processing_delays_the_heartbeat() {
    let process = json!({ "process": { "consumer": "C1", "for": "1500ms" } });
    let run = Group::new().with("C1", 0).at(1_900, process).run(5_000);
    assert_eq!(
        run.story(1_900, 5_000, &["C1 processing", "C1 processed", "C1 > B1 heartbeat"]),
        ["1900 C1 processing 1500ms", "3400 C1 processed", "3400 C1 > B1 heartbeat 1", "4400 C1 > B1 heartbeat 1",]
    );
    assert_eq!(run.rules("C1 > B1 heartbeat"), ["HB1", "HB1 AR2", "HB1"]);
    assert_eq!(run.rules("C1 processing"), ["AR2"]);
}

#[test]
fn ar2_a_slow_callback_delays_the_heartbeat() {
    let run = Group::new().with_own("C1", 0, json!({ "callback_time": "1700ms" })).run(4_000);
    assert_eq!(run.times("C1 returned from assigned"), ms([1_760]));
    assert_eq!(run.times("C1 > B1 heartbeat"), ms([1_760, 2_760, 3_760]));
    assert_eq!(run.rules("C1 > B1 heartbeat"), ["HB1 AR2", "HB1", "HB1"]);
}

#[test]
fn ar2_answers_are_read_when_the_thread_is_free() {
    // The answer to the heartbeat of 2,060 arrives at 2,080 and is read at 3,000, before any timer that came due.
    let process = json!({ "process": { "consumer": "C1", "for": "930ms" } });
    let run = Group::new().with("C1", 0).at(2_070, process).run(3_000);
    assert_eq!(run.times("B1 > C1 heartbeat"), ms([1_070, 2_070]));
    assert_eq!(run.times("C1 < B1 heartbeat"), ms([1_080, 3_000]));
}

#[test]
fn ar2_commands_wait_for_the_thread_as_well() {
    let run = Group::new()
        .with("C1", 0)
        .at(1_500, json!({ "process": { "consumer": "C1", "for": "200ms" } }))
        .at(1_600, json!({ "commit": { "consumer": "C1" } }))
        .run(2_000);
    assert_eq!(run.times("C1 > B1 commit"), ms([1_700]));
}

#[test]
fn ar2_processing_for_longer_than_a_session_costs_the_membership() {
    let process = json!({ "process": { "consumer": "C1", "for": "5s" } });
    let run = pair().at(2_250, process).run(10_000);
    assert_eq!(run.times("B1 removed C1 SessionExpired"), ms([5_210]));
    assert_eq!(run.times("B1 > C1 heartbeat UnknownMember"), ms([7_260]));
}

#[test]
fn ar2_a_thread_that_is_free_sends_its_heartbeat_on_time() {
    let run = pair().run(10_000);
    assert!(run.rules("C1 > B1 heartbeat").iter().all(|rules| rules == "HB1"));
}
