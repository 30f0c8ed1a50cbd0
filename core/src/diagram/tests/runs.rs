//! Runs to draw: the lessons, and rougher ones.

use std::sync::Arc;

use crate::lessons;
use crate::scenario::{Plan, Scenario};
use crate::sim::Simulation;
use crate::trace::Trace;

pub(super) struct Run {
    pub(super) name: &'static str,
    pub(super) plan: Arc<Plan>,
    pub(super) trace: Trace,
}

fn run(name: &'static str, plan: Arc<Plan>) -> Run {
    let mut simulation = Simulation::new(Arc::clone(&plan));
    simulation.run_until(plan.until);
    Run { name, plan, trace: simulation.trace().clone() }
}

pub(super) fn lesson(id: &'static str) -> Run {
    run(id, lessons::find(id).expect("a lesson of this name").plan())
}

pub(super) fn runs() -> Vec<Run> {
    let lessons = lessons::all().iter().map(|lesson| lesson.id).map(lesson);
    let rough = ROUGH.iter().map(|(name, json)| {
        let scenario = Scenario::from_json(json).unwrap_or_else(|error| panic!("{name}: {error}"));
        run(name, scenario.plan().unwrap_or_else(|error| panic!("{name}: {error}")))
    });
    lessons.chain(rough).collect()
}

const ROUGH: &[(&str, &str)] = &[
    ("sockets", include_str!("runs/sockets.json")),
    ("zombie", include_str!("runs/zombie.json")),
    ("failover", include_str!("runs/failover.json")),
    ("lossy", include_str!("runs/lossy.json")),
    ("crowd", include_str!("runs/crowd.json")),
];
