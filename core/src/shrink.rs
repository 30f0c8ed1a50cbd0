//! Makes a scenario that shows something as small as it can be while it still shows it.

use serde_json::Value;

use crate::scenario::Scenario;
use crate::time::Span;

/// The most candidates that are tried.
const MOST_TRIALS: u32 = 4_000;

/// The smallest scenario that this finds for which `shows` still holds: without the commands, consumers, topics and
/// settings that do not matter, at round times. `shows` holds for the scenario itself, and is asked only about scenarios
/// that have a plan.
#[must_use]
pub fn shrink(scenario: &Scenario, shows: impl FnMut(&Scenario) -> bool) -> Scenario {
    let mut shrinker = Shrinker { best: scenario.clone(), shows, trials: 0 };
    shrinker.leave_out_commands();
    loop {
        let before = shrinker.best.clone();
        shrinker.leave_out_parts();
        shrinker.round();
        if shrinker.best == before || shrinker.trials >= MOST_TRIALS {
            return shrinker.best;
        }
    }
}

struct Shrinker<F> {
    best: Scenario,
    shows: F,
    trials: u32,
}

/// A step on the way to a part of a scenario's JSON.
#[derive(Clone, PartialEq, Debug)]
enum Step {
    Key(String),
    Index(usize),
}

impl<F: FnMut(&Scenario) -> bool> Shrinker<F> {
    /// Takes a candidate over if it still shows what it is to show.
    fn try_one(&mut self, candidate: Scenario) -> bool {
        if candidate == self.best || self.trials >= MOST_TRIALS || candidate.plan().is_err() {
            return false;
        }
        self.trials += 1;
        let shows = (self.shows)(&candidate);
        if shows {
            self.best = candidate;
        }
        shows
    }

    fn try_json(&mut self, value: &Value) -> bool {
        Scenario::from_json(&value.to_string()).is_ok_and(|candidate| self.try_one(candidate))
    }

    /// Leaves out runs of commands, long ones first.
    fn leave_out_commands(&mut self) {
        let mut length = self.best.script.len();
        while length > 0 {
            let mut start = 0;
            while start < self.best.script.len() {
                let mut candidate = self.best.clone();
                let end = (start + length).min(candidate.script.len());
                candidate.script.drain(start..end);
                if !self.try_one(candidate) {
                    start += length;
                }
            }
            length /= 2;
        }
    }

    /// Leaves out every part of the JSON that can be missing, the last first, so that places of those before stay.
    fn leave_out_parts(&mut self) {
        let json = to_json(&self.best);
        let mut paths = Vec::new();
        collect(&json, &mut Vec::new(), &mut paths);
        for path in paths.into_iter().rev() {
            let mut candidate = to_json(&self.best);
            if remove(&mut candidate, &path) {
                self.try_json(&candidate);
            }
        }
    }

    /// Makes lengths of time round and numbers small.
    fn round(&mut self) {
        let json = to_json(&self.best);
        let mut paths = Vec::new();
        collect(&json, &mut Vec::new(), &mut paths);
        for path in paths {
            let present = to_json(&self.best);
            let Some(value) = find(&present, &path) else { continue };
            for simpler in simpler(value) {
                let mut candidate = present.clone();
                if let Some(place) = find_mut(&mut candidate, &path) {
                    *place = simpler;
                }
                if self.try_json(&candidate) {
                    break;
                }
            }
        }
    }
}

fn to_json(scenario: &Scenario) -> Value {
    serde_json::to_value(scenario).unwrap_or_default()
}

/// The paths to every part of a value, each after those that it is part of.
fn collect(value: &Value, path: &mut Vec<Step>, paths: &mut Vec<Vec<Step>>) {
    let steps: Vec<(Step, &Value)> = match value {
        Value::Object(map) => map.iter().map(|(key, value)| (Step::Key(key.clone()), value)).collect(),
        Value::Array(list) => list.iter().enumerate().map(|(i, value)| (Step::Index(i), value)).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => Vec::new(),
    };
    for (step, value) in steps {
        path.push(step);
        paths.push(path.clone());
        collect(value, path, paths);
        path.pop();
    }
}

fn find<'a>(value: &'a Value, path: &[Step]) -> Option<&'a Value> {
    path.iter().try_fold(value, |value, step| match step {
        Step::Key(key) => value.get(key),
        Step::Index(index) => value.get(index),
    })
}

fn find_mut<'a>(value: &'a mut Value, path: &[Step]) -> Option<&'a mut Value> {
    path.iter().try_fold(value, |value, step| match step {
        Step::Key(key) => value.get_mut(key),
        Step::Index(index) => value.get_mut(index),
    })
}

/// Removes the part at a path; whether there was one.
fn remove(value: &mut Value, path: &[Step]) -> bool {
    let Some((last, parents)) = path.split_last() else { return false };
    let Some(parent) = find_mut(value, parents) else { return false };
    match (last, parent) {
        (Step::Key(key), Value::Object(map)) => map.remove(key).is_some(),
        (Step::Index(index), Value::Array(list)) if *index < list.len() => {
            list.remove(*index);
            true
        }
        (Step::Key(_) | Step::Index(_), _) => false,
    }
}

/// Simpler values to try in place of one, the simplest first.
fn simpler(value: &Value) -> Vec<Value> {
    if let Some(number) = value.as_u64() {
        return [0, 1, 10, 100, number / 2].into_iter().filter(|n| *n < number).map(Value::from).collect();
    }
    let Some(span) = value.as_str().and_then(|text| Span::parse(text).ok()) else { return Vec::new() };
    let micros = span.as_micros();
    let rounded = [10_000_000, 1_000_000, 100_000, 10_000, 1_000].map(|unit| micros / unit * unit);
    let candidates = [0].into_iter().chain(rounded).chain([micros / 2]).filter(|candidate| *candidate < micros);
    candidates.map(|candidate| Span::from_micros(candidate).to_string().into()).collect()
}

#[cfg(test)]
mod tests {
    use super::shrink;
    use crate::generate;
    use crate::scenario::{Action, Scenario};

    fn pauses(scenario: &Scenario) -> usize {
        scenario.script.iter().filter(|command| matches!(command.action, Action::Pause(_))).count()
    }

    #[test]
    fn what_does_not_matter_goes() {
        let scenario = (0..).map(|seed| generate::scenario(seed, 20)).find(|scenario| pauses(scenario) > 2);
        let scenario = scenario.expect("one with pauses");
        let shrunk = shrink(&scenario, |scenario| pauses(scenario) > 0);
        assert_eq!((shrunk.script.len(), pauses(&shrunk)), (1, 1));
        assert!(shrunk.consumers.len() <= 1, "{}", shrunk.to_json());
        assert!(shrunk.defaults == Default::default() && shrunk.settings == Default::default());
        assert_eq!((shrunk.seed, shrunk.script[0].at.as_micros()), (0, 0));
    }

    #[test]
    fn what_is_small_stays() {
        let scenario = Scenario::from_json(r#"{ "until": "10s", "topics": {}, "consumers": [] }"#).expect("a scenario");
        let json = scenario.to_json();
        assert_eq!(shrink(&scenario, |candidate| candidate.to_json() == json), scenario);
    }
}
