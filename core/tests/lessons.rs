//! The built-in lessons: each plays as its golden trace says, and together they show every rule.

use std::collections::BTreeSet;

use groupscope_core::id::Generation;
use groupscope_core::invariants;
use groupscope_core::lessons::{self, Lesson};
use groupscope_core::report;
use groupscope_core::rules::{Rule, Section};
use groupscope_core::sim::Simulation;
use groupscope_core::trace::{Fact, Trace};

fn play(lesson: &Lesson) -> Trace {
    let mut simulation = Simulation::new(lesson.plan());
    simulation.run();
    simulation.trace().clone()
}

#[test]
fn every_lesson_plays_as_its_golden_trace() {
    for lesson in lessons::all() {
        insta::with_settings!({ snapshot_path => "golden", prepend_module_to_snapshot => false, omit_expression => true }, {
            insta::assert_snapshot!(lesson.id, report::text(&play(lesson)));
        });
    }
}

#[test]
fn every_rule_that_a_run_can_carry_out_is_shown_by_a_lesson() {
    let shown: BTreeSet<Rule> = lessons::all()
        .iter()
        .flat_map(|lesson| play(lesson).iter().flat_map(|(_, r)| r.rules.iter()).collect::<Vec<_>>())
        .collect();
    let claimed = |rule: &Rule| rule.section() == Section::Tradeoffs || *rule == Rule::AR1;
    let missing: Vec<_> = Rule::ALL.iter().filter(|rule| !shown.contains(rule) && !claimed(rule)).collect();
    assert_eq!(missing, Vec::<&Rule>::new(), "no lesson carries them out");
    assert!(!shown.iter().any(claimed), "AR1 is what never happens, and the trade-offs are measured, not carried out");
}

#[test]
fn no_lesson_breaks_an_invariant() {
    for lesson in lessons::all() {
        let plan = lesson.plan();
        let violations = invariants::check(&plan, &play(lesson), plan.until);
        assert!(violations.is_empty(), "{}: {violations:?}", lesson.id);
    }
}

#[test]
fn every_lesson_tells_what_it_shows() {
    for lesson in lessons::all() {
        assert!(lesson.title().chars().count() <= 30, "{}: a title fits the list", lesson.id);
        let introduction = lesson.introduction();
        assert!((150..=420).contains(&introduction.chars().count()), "{}: {}", lesson.id, introduction.chars().count());
        let plan = lesson.plan();
        let picture = plan.picture.as_ref();
        assert!(picture.is_some_and(|picture| !picture.steps.is_empty()), "{}: it has steps", lesson.id);
    }
}

/// The kinds of messages of a lesson's picture as `C1>join`, or `C1<join` for the answer, in the order in which the
/// coordinator's side takes part in them: requests as they are received, answers as they are sent.
fn at_the_coordinator(lesson: &str) -> Vec<String> {
    let lesson = lessons::find(lesson).expect("a lesson");
    let from = lesson.plan().picture.as_ref().map_or(0, |picture| picture.from.as_micros());
    let trace = play(lesson);
    let cast = trace.cast();
    let mut order = Vec::new();
    for (_, record) in trace.iter().filter(|(_, record)| record.at.as_micros() >= from) {
        if let Fact::Sent { to, message, .. } = &record.fact
            && to.consumer().is_some()
        {
            order.push(format!("{}<{}", cast.node(*to), message.error().unwrap_or(message.kind().word())));
        }
        if let Fact::Received { node, sent } = &record.fact
            && node.broker().is_some()
            && let Fact::Sent { from, message, .. } = &trace[*sent].fact
        {
            order.push(format!("{}>{}", cast.node(*from), message.kind().word()));
        }
    }
    order
}

#[test]
fn heartbeats_are_answered_one_by_one() {
    let expected = ["C1>heartbeat", "C1<heartbeat", "C2>heartbeat", "C2<heartbeat"];
    assert_eq!(at_the_coordinator("heartbeat")[..4], expected);
}

#[test]
fn discovery_asks_any_broker_then_joins_at_the_coordinator() {
    let expected = ["C1>metadata", "C1<metadata", "C1>join", "C1<join"];
    assert_eq!(at_the_coordinator("discovery")[..4], expected);
}

#[test]
fn an_unknown_consumer_joins_after_the_pings() {
    let expected = ["C1>heartbeat", "C1<heartbeat", "C2>heartbeat", "C2<heartbeat", "C3>join"];
    assert_eq!(at_the_coordinator("unknown-consumer")[..5], expected);
}

#[test]
fn a_member_that_joins_again_makes_the_others_join() {
    let expected = ["C1>join", "C2>heartbeat", "C2<RebalanceInProgress", "C2>join", "C1<join", "C2<join"];
    assert_eq!(at_the_coordinator("rejoin")[..6], expected);
}

#[test]
fn a_new_consumer_is_drawn_as_the_document_draws_it() {
    let expected = [
        "C3>join",
        "C1>heartbeat",
        "C1<RebalanceInProgress",
        "C2>heartbeat",
        "C2<RebalanceInProgress",
        "C1>join",
        "C2>join",
        "C3<join",
        "C1<join",
        "C2<join",
    ];
    assert_eq!(at_the_coordinator("rebalance-new-consumer")[..10], expected);
}

#[test]
fn a_member_that_fails_meanwhile_is_drawn_as_the_document_draws_it() {
    let expected = [
        "C3>join",
        "C1>heartbeat",
        "C1<RebalanceInProgress",
        "C2>heartbeat",
        "C2<RebalanceInProgress",
        "C1>join",
        "C3<RebalanceInProgress",
        "C1<RebalanceInProgress",
        "C3>join",
        "C1>join",
        "C3<join",
        "C1<join",
    ];
    assert_eq!(at_the_coordinator("rebalance-member-fails")[..12], expected);
}

#[test]
fn the_crash_of_the_failing_member_is_inside_its_callback() {
    let trace = play(lessons::find("rebalance-member-fails").expect("a lesson"));
    let c2 = trace.cast().find("C2").and_then(|node| node.consumer()).expect("C2");
    let last_of_c2 = trace
        .iter()
        .filter(|(_, record)| record.fact.node() == Some(c2.into()))
        .map(|(_, record)| &record.fact)
        .take_while(|fact| !matches!(fact, Fact::ProcessCrashed { .. }))
        .last();
    assert!(matches!(last_of_c2, Some(Fact::CallbackStarted { .. })), "{last_of_c2:?}");
}

#[test]
fn a_failover_costs_a_generation_only_where_the_document_says_so() {
    let formed = |lesson| -> Vec<Generation> {
        let trace = play(lessons::find(lesson).expect("a lesson"));
        let of = |fact: &Fact| {
            if let Fact::AssignmentComputed { formed, .. } = fact { Some(formed.generation) } else { None }
        };
        trace.iter().filter(|(_, record)| record.at.as_micros() > 5_000_000).filter_map(|(_, r)| of(&r.fact)).collect()
    };
    assert_eq!(formed("failover-error-code").len(), 0);
    assert_eq!(formed("failover-socket-close").len(), 1);
    let lost = formed("failover-lost-state");
    assert_eq!(lost.iter().map(|g| (g.life, g.number)).collect::<Vec<_>>(), [(2, 1), (2, 2)]);
}
