//! How many events a second the simulation plays: groups of several sizes, ten simulated minutes of heartbeats every ten
//! seconds. An event is an entry of the queue: a packet that arrives, a command, a timer, a thread that is free.

use std::sync::Arc;

use divan::Bencher;
use divan::counter::ItemsCount;
use groupscope_core::scenario::{Plan, Scenario};
use groupscope_core::sim::Simulation;

fn main() {
    divan::main();
}

/// A group of this many consumers that start within the first ten seconds.
fn plan(consumers: usize) -> Arc<Plan> {
    let specs: Vec<String> = (0..consumers)
        .map(|i| {
            let start = i * 10_000 / consumers;
            format!(r#"{{"id": "C{}", "topics": ["orders"], "start": "{start}ms"}}"#, i + 1)
        })
        .collect();
    let json = format!(
        r#"{{"until": "10m", "topics": {{"orders": {{"partitions": 100}}}}, "defaults": {{"session_timeout": "30s"}},
        "consumers": [{}]}}"#,
        specs.join(",")
    );
    Scenario::from_json(&json).and_then(|scenario| scenario.plan()).expect("a scenario")
}

/// Plays a plan to its end and counts the events.
fn play(plan: &Arc<Plan>) -> usize {
    let mut simulation = Simulation::new(Arc::clone(plan));
    let mut events = 0;
    while simulation.next_event_time().is_some_and(|next| next <= plan.until) {
        simulation.step();
        events += 1;
    }
    events
}

#[divan::bench(args = [3, 100, 5_000], sample_count = 10)]
fn events(bencher: Bencher<'_, '_>, consumers: usize) {
    let plan = plan(consumers);
    let events = play(&plan);
    bencher.counter(ItemsCount::new(events)).bench(|| play(&plan));
}
