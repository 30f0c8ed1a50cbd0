//! Random faults: generated scenarios with every command, fault and setting, judged by the invariants.
//!
//! The scenarios are the same in each run of the tests. For more, and others, by hand:
//! `cargo run --release -p groupscope-cli -- check --random --seeds 1000000`.
#![cfg(not(target_arch = "wasm32"))]

use std::sync::Arc;

use groupscope_core::generate;
use groupscope_core::invariants::{self, Violation};
use groupscope_core::scenario::Scenario;
use groupscope_core::shrink::shrink;
use groupscope_core::sim::Simulation;
use groupscope_core::trace::{CoordinatorFailure, Fact};
use groupscope_core::{measure, report};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

/// How much happens in a scenario at most.
const SIZE: u32 = 8;

/// More records than any of these runs has whose nodes do not answer each other without an end.
const RUNAWAY: usize = 200_000;

fn run(scenario: &Scenario) -> Simulation {
    let plan = scenario.plan().unwrap_or_else(|error| panic!("{error}: {}", scenario.to_json()));
    let mut simulation = Simulation::new(plan);
    let until = simulation.plan().until;
    while simulation.next_event_time().is_some_and(|next| next <= until) {
        assert!(simulation.trace().len() < RUNAWAY, "at {} s: {}", simulation.now(), scenario.to_json());
        simulation.step();
    }
    simulation.run();
    simulation
}

fn violations(simulation: &Simulation) -> Vec<Violation> {
    invariants::check(simulation.plan(), simulation.trace(), simulation.now())
}

/// What breaks, in the smallest scenario in which it does.
fn told(scenario: &Scenario, first: &Violation) -> String {
    let breaks = |scenario: &Scenario| violations(&run(scenario)).iter().any(|v| v.invariant == first.invariant);
    let small = shrink(scenario, breaks);
    let simulation = run(&small);
    let found: String = violations(&simulation).iter().map(|violation| format!("{violation}\n")).collect();
    format!("{found}{}\n{}", small.to_json(), report::text(simulation.trace()))
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 2_000,
        failure_persistence: None,
        rng_seed: RngSeed::Fixed(2015),
        ..ProptestConfig::default()
    })]

    #[test]
    fn the_invariants_hold(seed in any::<u64>(), size in 0..=SIZE) {
        let scenario = generate::scenario(seed, size);
        if let Some(first) = violations(&run(&scenario)).first() {
            return Err(TestCaseError::fail(format!("generate::scenario({seed}, {size}):\n{}", told(&scenario, first))));
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 100,
        failure_persistence: None,
        rng_seed: RngSeed::Fixed(2015),
        ..ProptestConfig::default()
    })]

    #[test]
    fn the_numbers_add_up(seed in any::<u64>(), size in 0..=SIZE) {
        let simulation = run(&generate::scenario(seed, size));
        let plan = Arc::clone(simulation.plan());
        let measures = measure::measure(&plan, simulation.trace());
        for partition in &measures.partitions {
            prop_assert!(partition.processed >= partition.processed_twice);
            prop_assert!(partition.first_read.is_some() || partition.processed == 0);
            prop_assert!((partition.unread + partition.overlapped) <= plan.until.since(Default::default()));
        }
        for rebalance in &measures.rebalances {
            prop_assert!(rebalance.members_through <= rebalance.members);
            prop_assert!(rebalance.latency >= rebalance.formed_after || rebalance.latency.is_none());
        }
        for count in measures.messages.values() {
            prop_assert!(count.responses <= count.requests && count.lost <= count.requests + count.responses);
        }
    }
}

// --- what random faults have found ---

fn run_json(json: &str) -> Simulation {
    run(&Scenario::from_json(json).unwrap_or_else(|error| panic!("{error}")))
}

fn count(simulation: &Simulation, is_counted: impl Fn(&Fact) -> bool) -> usize {
    simulation.trace().iter().filter(|(_, record)| is_counted(&record.fact)).count()
}

/// Decisions 16 and 18: a consumer whose first join is answered "retry" has learned no id, and joins as somebody new. The
/// member that it was must not be waited for, or its deadline makes the next retry, and so on without an end.
#[test]
fn a_retry_leaves_no_member_that_nobody_goes_by() {
    let simulation = run_json(
        r#"{
            "until": "60s",
            "topics": { "orders": { "partitions": 4 } },
            "defaults": { "session_timeout": "3s" },
            "settings": { "member_ids": "coordinator", "missing_join": "retry" },
            "consumers": [
                { "id": "C1", "topics": ["orders"], "start": "0s" },
                { "id": "C2", "topics": ["orders"], "start": "500ms" },
                { "id": "C3", "topics": ["orders"], "start": "10100ms" }
            ],
            "script": [{ "at": "10s", "do": { "crash": "C2" } }]
        }"#,
    );
    assert_eq!(count(&simulation, |fact| matches!(fact, Fact::RebalanceRetried { .. })), 1);
    let formed = simulation.trace().iter().filter_map(|(_, record)| {
        if let Fact::AssignmentComputed { formed, .. } = &record.fact { Some(formed) } else { None }
    });
    let last = formed.last().expect("a generation");
    let members = last.assignment.iter().map(|(member, _)| simulation.plan().cast.member_name(*member));
    assert_eq!(members.collect::<Vec<_>>(), ["C1#1", "C3#2"], "{}", report::text(simulation.trace()));
}

/// Decision 10: as long as a broker has not learned that the role has moved, it names the coordinator that has just said
/// that it is not. The consumer then asks the next broker after a back-off; without one, and with messages that take no
/// time, nothing else would ever happen.
#[test]
fn a_broker_behind_the_times_is_not_believed_twice_in_a_row() {
    let simulation = run_json(
        r#"{
            "until": "20s",
            "brokers": 3,
            "coordinator": 2,
            "topics": { "orders": { "partitions": 4 } },
            "defaults": { "session_timeout": "3s" },
            "settings": { "metadata_propagation": "2s" },
            "network": { "latency": { "fixed": "0s" } },
            "consumers": [
                { "id": "C1", "topics": ["orders"], "start": "0s" },
                { "id": "C2", "topics": ["orders"], "start": "5500ms" }
            ],
            "script": [{ "at": "5s", "do": { "move-coordinator": "B3" } }]
        }"#,
    );
    let denials = count(&simulation, |fact| {
        matches!(fact, Fact::CoordinatorFailed { why: CoordinatorFailure::NotCoordinator, .. })
    });
    assert!((1..20).contains(&denials), "{denials} times:\n{}", report::text(simulation.trace()));
    assert_eq!(violations(&simulation), []);
}
