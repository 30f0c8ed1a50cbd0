//! Random commands and faults.

use std::collections::{BTreeMap, BTreeSet};

use super::draw::Draw;
use super::{LAST_INCIDENT, subscription};
use crate::scenario::{Action, AddPartitions, Command, CommitSpec, HeartbeatSpec, Link, Process, Scenario, Subscribe};

/// Adds at most so many incidents.
pub(super) fn add(scenario: &mut Scenario, most: u32, draw: &mut Draw) {
    for _ in 0..draw.between(0, u64::from(most)) {
        let at = draw.span(LAST_INCIDENT);
        if draw.one_in(3) {
            let (fault, end) = fault(scenario, draw);
            scenario.script.push(Command { at, action: fault });
            scenario.script.push(Command { at: at + draw.span(20_000), action: end });
        } else {
            let action = action(scenario, draw);
            scenario.script.push(Command { at, action });
        }
    }
}

/// Adds the end of every fault that may last: links heal, brokers and paused consumers go on.
pub(super) fn end_faults(scenario: &mut Scenario, draw: &mut Draw) {
    let last = scenario.script.iter().map(|command| command.at).max().unwrap_or_default();
    let at = last + draw.span(2_000);
    let mut ends: BTreeMap<String, Action> = BTreeMap::new();
    for command in &scenario.script {
        match &command.action {
            Action::Crash(node) if !is_consumer(scenario, node) => {
                ends.insert(format!("restart {node}"), Action::Restart(node.clone()));
            }
            Action::Pause(node) => {
                ends.insert(format!("resume {node}"), Action::Resume(node.clone()));
            }
            Action::Cut(link) => {
                ends.insert(format!("heal {} {:?}", link.consumer, link.broker), Action::Heal(link.clone()));
            }
            Action::Crash(_)
            | Action::Start(_)
            | Action::Restart(_)
            | Action::Resume(_)
            | Action::Heal(_)
            | Action::Subscribe(_)
            | Action::AddPartitions(_)
            | Action::Commit(_)
            | Action::Heartbeat(_)
            | Action::Process(_)
            | Action::Close(_)
            | Action::MoveCoordinator(_) => {}
        }
    }
    scenario.script.extend(ends.into_values().map(|action| Command { at, action }));
}

fn is_consumer(scenario: &Scenario, node: &str) -> bool {
    scenario.consumers.iter().any(|consumer| consumer.id == node)
}

/// A fault, and its end: two commands drawn apart seldom make a pair.
fn fault(scenario: &Scenario, draw: &mut Draw) -> (Action, Action) {
    let node = node(scenario, draw);
    match draw.below(5) {
        0 | 1 => (Action::Crash(node.clone()), Action::Restart(node)),
        2 | 3 => (Action::Pause(node.clone()), Action::Resume(node)),
        _ => {
            let link = link(scenario, draw);
            (Action::Cut(link.clone()), Action::Heal(link))
        }
    }
}

fn action(scenario: &Scenario, draw: &mut Draw) -> Action {
    match draw.below(28) {
        0 | 1 => Action::Start(consumer(scenario, draw)),
        2..=4 => Action::Crash(node(scenario, draw)),
        5..=7 => Action::Restart(node(scenario, draw)),
        8..=10 => Action::Pause(node(scenario, draw)),
        11..=13 => Action::Resume(node(scenario, draw)),
        14 => Action::Cut(link(scenario, draw)),
        15 => Action::Heal(link(scenario, draw)),
        16 | 17 => {
            Action::Subscribe(Subscribe { consumer: consumer(scenario, draw), topics: subscription(scenario, draw) })
        }
        18 => Action::AddPartitions(AddPartitions { topic: topic(scenario, draw), count: draw.between(1, 3) as u32 }),
        19..=21 => Action::Commit(commit(scenario, draw)),
        22 => Action::Heartbeat(HeartbeatSpec {
            consumer: consumer(scenario, draw),
            member: draw.seldom(6, |d| consumer(scenario, d)),
            generation: draw.seldom(2, |d| d.below(6) as u32),
        }),
        23 | 24 => Action::Process(Process { consumer: consumer(scenario, draw), takes: draw.span(15_000) }),
        25 => Action::Close(consumer(scenario, draw)),
        _ => Action::MoveCoordinator(broker(scenario, draw)),
    }
}

fn commit(scenario: &Scenario, draw: &mut Draw) -> CommitSpec {
    let offsets = |draw: &mut Draw| {
        let named = |draw: &mut Draw| format!("{}-{}", topic(scenario, draw), draw.below(5));
        let names: BTreeSet<String> = (0..draw.between(1, 3)).map(|_| named(draw)).collect();
        names.into_iter().map(|name| (name, draw.below(500))).collect()
    };
    CommitSpec {
        consumer: consumer(scenario, draw),
        member: draw.seldom(6, |d| consumer(scenario, d)),
        generation: draw.seldom(6, |d| d.below(6) as u32),
        offsets: draw.seldom(6, offsets),
    }
}

fn consumer(scenario: &Scenario, draw: &mut Draw) -> String {
    let place = draw.below(scenario.consumers.len() as u64) as usize;
    scenario.consumers.get(place).map(|consumer| consumer.id.clone()).unwrap_or_default()
}

fn broker(scenario: &Scenario, draw: &mut Draw) -> String {
    format!("B{}", draw.between(1, u64::from(scenario.brokers.max(1))))
}

/// A consumer, or a broker: of those the first coordinator is the most interesting.
fn node(scenario: &Scenario, draw: &mut Draw) -> String {
    match draw.below(8) {
        0 | 1 => format!("B{}", scenario.coordinator),
        2 => broker(scenario, draw),
        _ => consumer(scenario, draw),
    }
}

fn link(scenario: &Scenario, draw: &mut Draw) -> Link {
    Link { consumer: consumer(scenario, draw), broker: draw.seldom(2, |d| broker(scenario, d)) }
}

fn topic(scenario: &Scenario, draw: &mut Draw) -> String {
    let place = draw.below(scenario.topics.len() as u64) as usize;
    scenario.topics.keys().nth(place).cloned().unwrap_or_default()
}

/// The word for what a command does, as scenarios write it.
#[cfg(test)]
pub(super) fn word(action: &Action) -> String {
    let json = serde_json::to_value(action).expect("JSON");
    json.as_object().and_then(|object| object.keys().next()).cloned().unwrap_or_default()
}
