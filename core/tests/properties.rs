//! Properties of every run: random scenarios with every command and fault, judged by the invariants.
//!
//! The scenarios are the same in each run of the tests; `PROPTEST_CASES` and `PROPTEST_RNG_SEED` ask for more or others.
#![cfg(not(target_arch = "wasm32"))]

mod random;

use std::collections::BTreeSet;

use groupscope_core::id::RecordId;
use groupscope_core::invariants::{self, Checker};
use groupscope_core::report;
use groupscope_core::rules::{Rule, Section};
use groupscope_core::scenario::Scenario;
use groupscope_core::sim::Simulation;
use groupscope_core::time::{Span, Time};
use groupscope_core::trace::{Record, Trace};
use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use random::{Case, arbitrary_case, arbitrary_command, config, runs_of};

fn run(case: &Case) -> Simulation {
    let mut simulation = Simulation::new(case.plan());
    simulation.run();
    simulation
}

fn records(trace: &Trace) -> Vec<&Record> {
    trace.iter().map(|(_, record)| record).collect()
}

/// The first difference of two traces up to a time, both told as text.
fn difference(one: &Trace, other: &Trace, before: Time) -> Option<String> {
    let mut ids = (0..one.len().max(other.len())).map(|i| RecordId(i as u32));
    let bounded = |trace: &Trace, id| trace.get(id).filter(|record| record.at < before).cloned();
    let id = ids.find(|id| bounded(one, *id) != bounded(other, *id))?;
    Some(format!("record {}:\n{}\n{}", id.0, report::text_line(one, id), report::text_line(other, id)))
}

#[track_caller]
fn assert_sound(case: &Case, simulation: &Simulation) -> Result<(), TestCaseError> {
    let found = invariants::check(&case.plan(), simulation.trace(), simulation.now());
    if found.is_empty() {
        return Ok(());
    }
    let listed: String = found.iter().map(|violation| format!("{violation}\n")).collect();
    Err(TestCaseError::fail(format!("{listed}{}", report::text(simulation.trace()))))
}

proptest! {
    #![proptest_config(config(100))]

    #[test]
    fn the_invariants_hold(case in arbitrary_case()) {
        assert_sound(&case, &run(&case))?;
    }
}

proptest! {
    #![proptest_config(config(60))]

    #[test]
    fn the_same_scenario_gives_the_same_trace(case in arbitrary_case()) {
        let (one, other) = (run(&case), run(&case));
        prop_assert_eq!(records(one.trace()), records(other.trace()));
        prop_assert_eq!(report::json_lines(one.trace()), report::json_lines(other.trace()));
    }

    #[test]
    fn a_command_added_at_a_time_changes_nothing_before(
        case in arbitrary_case(),
        command in arbitrary_command(),
        place in any::<prop::sample::Index>(),
    ) {
        let at = command.at;
        let edited = case.with_command(command, place);
        let (before, after) = (run(&case), run(&edited));
        let differs = difference(before.trace(), after.trace(), Time::ZERO + at);
        prop_assert!(differs.is_none(), "{}", differs.unwrap_or_default());
    }

    #[test]
    fn running_in_pieces_gives_the_same_trace(case in arbitrary_case(), pieces in 1..200u64, clone_at in 0..200u64) {
        let whole = run(&case);
        let mut simulation = Simulation::new(case.plan());
        let until = case.0.until;
        for piece in 1..=pieces {
            simulation.run_until(Time::ZERO + until.fraction(piece, pieces));
            if piece == clone_at {
                let mut left_behind = simulation.clone();
                simulation = simulation.clone();
                left_behind.run_until(Time::ZERO + until.fraction(piece + 1, pieces));
            }
        }
        let differs = difference(whole.trace(), simulation.trace(), Time::MAX);
        prop_assert!(differs.is_none(), "{}", differs.unwrap_or_default());
        prop_assert_eq!(whole.now(), simulation.now());
    }

    #[test]
    fn single_steps_give_the_same_trace(case in arbitrary_case()) {
        let whole = run(&case);
        let mut simulation = Simulation::new(case.plan());
        while simulation.next_event_time().is_some_and(|next| next <= whole.now()) {
            let expected = simulation.next_event_time();
            prop_assert_eq!(simulation.step(), expected);
        }
        let differs = difference(whole.trace(), simulation.trace(), Time::MAX);
        prop_assert!(differs.is_none(), "{}", differs.unwrap_or_default());
    }

    #[test]
    fn a_checker_fed_in_pieces_finds_the_same(case in arbitrary_case(), step in 1..20u64) {
        let mut simulation = Simulation::new(case.plan());
        let mut checker = Checker::new(&case.plan());
        let mut seen = 0;
        let mut now = Time::ZERO;
        while now < Time::ZERO + case.0.until {
            now = (now + Span::from_secs(step)).min(Time::ZERO + case.0.until);
            simulation.run_until(now);
            for (id, record) in simulation.trace().from(seen) {
                checker.observe(simulation.trace(), id, record);
            }
            seen = simulation.trace().len();
            checker.finish(now);
            checker = checker.clone();
        }
        let whole = invariants::check(&case.plan(), simulation.trace(), now);
        prop_assert_eq!(checker.violations(), whole.as_slice());
    }

    #[test]
    fn a_scenario_is_read_as_it_was_written(case in arbitrary_case()) {
        prop_assert_eq!(Scenario::from_json(&case.0.to_json()), Ok(case.0));
    }
}

#[test]
fn the_lessons_hold() {
    for lesson in groupscope_core::lessons::all() {
        let mut simulation = Simulation::new(lesson.plan());
        simulation.run();
        let found = invariants::check(&lesson.plan(), simulation.trace(), simulation.now());
        assert!(found.is_empty(), "{}: {found:?}\n{}", lesson.id, report::text(simulation.trace()));
    }
}

/// A generator that never got somewhere would prove nothing about it.
#[test]
fn the_scenarios_come_everywhere() {
    let (mut facts, mut rules) = (BTreeSet::new(), BTreeSet::new());
    for case in runs_of(&mut TestRunner::new(config(1)), 300) {
        let simulation = run(&case);
        for line in report::json_lines(simulation.trace()).lines() {
            let line: serde_json::Value = serde_json::from_str(line).expect("JSON");
            facts.insert(line["fact"].as_str().unwrap_or_default().to_owned());
        }
        rules.extend(simulation.trace().iter().flat_map(|(_, record)| record.rules.iter()));
    }
    let all = random::WORDS.iter().copied().map(str::to_owned).collect();
    assert_eq!(facts.symmetric_difference(&all).collect::<Vec<_>>(), Vec::<&String>::new());
    // What is claimed is measured, and AR1 follows from all the rest.
    let claimed = |rule: &&Rule| rule.section() == Section::Tradeoffs;
    let missing: Vec<_> = Rule::ALL.iter().filter(|rule| !claimed(rule) && !rules.contains(rule)).collect();
    assert_eq!(missing, [&Rule::AR1]);
}

/// Found by `the_invariants_hold`: each name for life was taken for an id that nobody gave out, and its consumer joined
/// in vain without end.
#[test]
fn kafkas_dialect_knows_names_for_life() {
    let scenario = Scenario::from_json(
        r#"{
            "until": "10s",
            "profile": "kafka-2015",
            "settings": { "member_ids": "consumer" },
            "topics": { "orders": { "partitions": 1 } },
            "consumers": [{ "id": "C1", "topics": ["orders"], "start": "0s" }]
        }"#,
    );
    let mut simulation = Simulation::new(scenario.and_then(|scenario| scenario.plan()).expect("a plan"));
    simulation.run();
    let text = report::text(simulation.trace());
    assert!(text.contains("C1 gets orders 0") && !text.contains("UnknownMember"), "{text}");
}
