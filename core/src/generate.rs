//! Random scenarios that come everywhere the protocol can: few consumers, short sessions, every setting, and every command
//! and fault at times that often coincide. The same seed always gives the same scenario.
//!
//! About half of them are *fair*: their settings let the group settle, every fault ends, and the run lasts until the group
//! must have settled, so that invariant 7 has something to judge. The others are *wild*.

mod draw;
mod incidents;
mod settings;

use std::collections::BTreeMap;

use crate::invariants::settling_bound;
use crate::scenario::{ConsumerSpec, Latency, Network, Profile, Scenario, Topic};
use crate::time::Span;

use draw::Draw;

/// Topics to choose from.
const TOPICS: [&str; 3] = ["clicks", "orders", "payments"];
/// Consumers; their names sort otherwise than they stand.
const CONSUMERS: [&str; 5] = ["C1", "C2", "C10", "A", "Z"];
/// The last moment at which something happens to a generated scenario by command, in milliseconds.
const LAST_INCIDENT: u64 = 60_000;

/// What settings and faults a scenario is given.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Temper {
    /// Such that the group must settle in the end.
    Fair,
    /// Anything that a scenario may say.
    Wild,
}

/// A random scenario. `size` bounds how much happens in it: at most so many incidents, each a command or a fault and its
/// end; with a size below 4 there are fewer consumers as well.
#[must_use]
pub fn scenario(seed: u64, size: u32) -> Scenario {
    let mut draw = Draw::new(seed);
    let temper = if draw.one_in(2) { Temper::Fair } else { Temper::Wild };
    let brokers = draw.between(1, 3) as u16;
    let mut scenario = Scenario {
        title: String::new(),
        introduction: String::new(),
        group: "billing".to_owned(),
        seed: draw.any(),
        until: Span::from_secs(draw.between(20, 150)),
        brokers,
        coordinator: draw.between(1, u64::from(brokers)) as u16,
        topics: topics(&mut draw),
        defaults: settings::consumer(&mut draw, temper),
        consumers: Vec::new(),
        profile: draw.pick(&[Profile::DocumentOption1, Profile::DocumentOption2, Profile::Kafka2015]),
        settings: settings::group(&mut draw, temper),
        network: network(&mut draw, temper),
        script: Vec::new(),
        picture: None,
    };
    let most = CONSUMERS.len().min(size as usize + 2);
    for name in CONSUMERS.iter().take(draw.between(1, most as u64) as usize) {
        let consumer = consumer(name, &scenario, &mut draw, temper);
        scenario.consumers.push(consumer);
    }
    incidents::add(&mut scenario, size, &mut draw);
    finish(scenario, &mut draw, temper)
}

/// A variation of a scenario: another seed, now and then other latencies and losses, and at most `size` more incidents.
///
/// What the scenario says itself, its settings and its script, stays.
#[must_use]
pub fn variation(of: &Scenario, seed: u64, size: u32) -> Scenario {
    let mut draw = Draw::new(seed);
    let mut scenario = Scenario { seed: draw.any(), picture: None, ..of.clone() };
    if draw.one_in(2) {
        scenario.network = network(&mut draw, Temper::Fair);
    }
    if draw.one_in(4) {
        scenario.consumers.iter_mut().for_each(|consumer| consumer.latency = None);
    }
    if !scenario.consumers.is_empty() {
        incidents::add(&mut scenario, size, &mut draw);
    }
    let temper = if draw.one_in(2) { Temper::Fair } else { Temper::Wild };
    finish(scenario, &mut draw, temper)
}

/// Ends every fault of a fair scenario, and lets its run last until the group must have settled.
fn finish(mut scenario: Scenario, draw: &mut Draw, temper: Temper) -> Scenario {
    match temper {
        Temper::Wild => {}
        Temper::Fair => incidents::end_faults(&mut scenario, draw),
    }
    scenario.script.sort_by_key(|command| command.at);
    let Some(bound) = scenario.plan().ok().and_then(|plan| settling_bound(&plan).ok()) else { return scenario };
    let starts = scenario.consumers.iter().filter_map(|consumer| consumer.start);
    let last = scenario.script.iter().map(|command| command.at).chain(starts).max().unwrap_or_default();
    match temper {
        Temper::Wild => {}
        Temper::Fair => scenario.until = last + bound.0 + Span::from_secs(25),
    }
    scenario
}

fn topics(draw: &mut Draw) -> BTreeMap<String, Topic> {
    let topic = |draw: &mut Draw| Topic {
        partitions: draw.between(0, 6) as u32,
        produced_per_second: if draw.one_in(3) { 0 } else { draw.between(1, 1_000) as u32 },
    };
    let count = draw.between(1, TOPICS.len() as u64) as usize;
    let names = TOPICS.iter().cycle().skip(draw.below(3) as usize).take(count);
    names.map(|name| ((*name).to_owned(), topic(draw))).collect()
}

fn consumer(name: &str, scenario: &Scenario, draw: &mut Draw, temper: Temper) -> ConsumerSpec {
    ConsumerSpec {
        id: name.to_owned(),
        topics: subscription(scenario, draw),
        start: (!draw.one_in(10)).then(|| draw.span(10_000)),
        latency: draw.one_in(6).then(|| latency(draw, temper)),
        settings: if draw.one_in(3) { settings::consumer(draw, temper) } else { Default::default() },
    }
}

/// Some of the topics, mostly all of them, in any order.
fn subscription(scenario: &Scenario, draw: &mut Draw) -> Vec<String> {
    let mut names: Vec<String> = scenario.topics.keys().cloned().collect();
    if draw.one_in(3) {
        names.retain(|_| draw.one_in(2));
    }
    if draw.one_in(2) {
        names.reverse();
    }
    names
}

fn network(draw: &mut Draw, temper: Temper) -> Network {
    let lost_per_million = match draw.below(5) {
        0 => draw.between(0, 300_000) as u32,
        1 => 20_000,
        _ => 0,
    };
    // A loss after the last command puts off what a fair run is there to show.
    let lost_per_million = match temper {
        Temper::Fair if draw.one_in(2) => 0,
        Temper::Fair | Temper::Wild => lost_per_million,
    };
    Network { latency: latency(draw, temper), lost_per_million }
}

fn latency(draw: &mut Draw, temper: Temper) -> Latency {
    let longest = match temper {
        Temper::Fair => 120,
        Temper::Wild => 500,
    };
    draw.latency(longest)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::rules::Rule;
    use crate::sim::Simulation;

    #[test]
    fn a_seed_gives_one_scenario_and_it_can_be_run() {
        for seed in 0..2_000 {
            let scenario = scenario(seed, 8);
            assert_eq!(super::scenario(seed, 8), scenario);
            let planned = scenario.plan();
            assert!(planned.is_ok(), "seed {seed}: {:?}\n{}", planned.err(), scenario.to_json());
            assert_eq!(Scenario::from_json(&scenario.to_json()), Ok(scenario));
        }
    }

    #[test]
    fn the_size_bounds_what_happens() {
        assert!((0..200).all(|seed| scenario(seed, 0).consumers.len() <= 2));
        let commands = |size| (0..200).map(|seed| scenario(seed, size).script.len()).max().unwrap_or_default();
        assert!(commands(1) < commands(20));
    }

    #[test]
    fn every_lesson_has_variations() {
        for lesson in crate::lessons::all() {
            for seed in 0..20 {
                let given = lesson.scenario();
                let varied = variation(&given, seed, 5);
                assert!(varied.plan().is_ok(), "{}: {}", lesson.id, varied.to_json());
                assert!(given.script.iter().all(|command| varied.script.contains(command)));
            }
        }
    }

    /// A generator that never got somewhere would prove nothing about it: every rule that a trace can name comes up.
    #[test]
    fn the_scenarios_come_everywhere() {
        let mut rules = BTreeSet::new();
        let mut words = BTreeSet::new();
        for seed in 0..400 {
            let scenario = scenario(seed, 8);
            words.extend(scenario.script.iter().map(|command| incidents::word(&command.action)));
            let mut simulation = Simulation::new(scenario.plan().expect("a plan"));
            let until = simulation.plan().until;
            while simulation.step().is_some_and(|at| at < until) && simulation.trace().len() < 10_000 {}
            rules.extend(simulation.trace().iter().flat_map(|(_, record)| record.rules.iter()));
        }
        let claims = [Rule::AR1, Rule::TR1, Rule::TR2, Rule::TR3, Rule::TR4];
        let missing: Vec<_> = Rule::ALL.iter().filter(|rule| !rules.contains(rule) && !claims.contains(rule)).collect();
        assert_eq!(missing, Vec::<&Rule>::new());
        assert_eq!(words.len(), 14, "{words:?}");
    }
}
