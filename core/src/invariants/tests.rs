//! What the tests of the single checks share, and tests of the whole.

use std::sync::Arc;

use super::{Checker, Invariant, MOST_VIOLATIONS, Violation, check};
use crate::message::Offsets;
use crate::scenario::{Plan, Scenario};
use crate::script::{self, B1, C1, Script};
use crate::time::Time;
use crate::trace::Fact;

/// The plan that scripts pretend to be runs of.
pub(super) fn plan() -> Arc<Plan> {
    let scenario = Scenario::from_json(
        r#"{
            "until": "60s",
            "brokers": 2,
            "topics": { "orders": { "partitions": 4 }, "payments": { "partitions": 0 } },
            "defaults": { "session_timeout": "10s", "callback_time": "20ms" },
            "settings": { "max_session_timeout": "10s" },
            "consumers": [
                { "id": "C1", "topics": ["orders"] },
                { "id": "C2", "topics": ["orders"] },
                { "id": "C3", "topics": ["orders"] }
            ],
            "script": [{ "at": "0s", "do": { "commit": { "consumer": "C1", "offsets": { "orders-0": 5 } } } }]
        }"#,
    );
    scenario.and_then(|scenario| scenario.plan()).expect("a plan")
}

/// What the plan has C1 commit by hand.
pub(super) fn by_hand() -> Offsets {
    script::at_offset(0, 5)
}

fn found(script: &Script) -> Vec<Violation> {
    check(&plan(), &script.trace, script.now())
}

#[track_caller]
pub(super) fn expect_sound(script: &Script) {
    let found = found(script);
    assert!(found.is_empty(), "{}\n{}", listed(&found), crate::report::text(&script.trace));
}

/// The last thing that the script did breaks `invariant`, and is told in words with `what` in them.
#[track_caller]
pub(super) fn expect_broken(script: &Script, invariant: Invariant, what: &str) {
    let found = found(script);
    let is_found = found.iter().any(|violation| violation.invariant == invariant && violation.message.contains(what));
    assert!(is_found, "nothing with {what:?} in:\n{}", listed(&found));
}

fn listed(violations: &[Violation]) -> String {
    violations.iter().map(|violation| format!("{violation}\n")).collect()
}

#[test]
fn the_scripts_that_tests_begin_with_are_sound() {
    expect_sound(&Script::new());
    expect_sound(&Script::two_members());
}

#[test]
fn a_checker_can_stop_and_go_on() {
    let mut script = Script::two_members();
    script.fact(Fact::GroupForgotten { broker: B1 });
    script.deliver(C1, script::heartbeat(C1, 2));
    let violations = |pause: usize| {
        let mut checker = Checker::new(&plan());
        for (id, record) in script.trace.iter().take(pause) {
            checker.observe(&script.trace, id, record);
        }
        checker.finish(script.trace.iter().nth(pause).map_or(Time::ZERO, |(_, record)| record.at));
        let mut checker = checker.clone();
        for (id, record) in script.trace.from(pause) {
            checker.observe(&script.trace, id, record);
        }
        checker.violations().to_vec()
    };
    let whole = check(&plan(), &script.trace, Time::ZERO);
    for pause in 0..script.trace.len() {
        assert_eq!(violations(pause), whole);
    }
}

#[test]
fn a_flood_of_violations_is_dammed() {
    let mut script = Script::two_members();
    for _ in 0..2 * MOST_VIOLATIONS {
        script.fact(Fact::ProcessStarted { node: C1.into() });
    }
    assert_eq!(found(&script).len(), MOST_VIOLATIONS);
}

#[test]
fn a_violation_reads_as_a_sentence() {
    let mut script = Script::two_members();
    script.at(5_000).fact(Fact::ProcessStarted { node: C1.into() });
    let id = script.trace.len() - 1;
    assert_eq!(
        found(&script)[0].to_string(),
        format!("5.00s, invariant the trace is sound: this cannot happen at consumer C1, which runs (record {id})")
    );
}
