//! A driver for tests that reads like prose: a group is described, it runs, and it is asked what it did.
//!
//! Times go in as milliseconds and come out as microseconds, as they are in a trace; [`ms`] turns the one into the other.

mod tell;

use std::sync::Arc;

use groupscope_core::error::InputError;
use groupscope_core::invariants;
use groupscope_core::scenario::{Plan, Scenario};
use groupscope_core::sim::Simulation;
use groupscope_core::time::{Span, Time};
use groupscope_core::trace::{Fact, Record};
use serde_json::{Value, json};

/// Milliseconds as a trace has them.
pub(crate) fn ms<const N: usize>(millis: [u64; N]) -> [u64; N] {
    millis.map(|millis| millis * 1_000)
}

/// A group to be run. What a test does not say: one broker; the topic `orders` with three partitions; every message takes
/// 10 ms, every callback 100 ms; a session timeout of 3 s, and so a heartbeat each second.
///
/// With those, a consumer that starts at 0 has its channel at 20 ms, learns the coordinator at 40, has its join's answer
/// at 60 if nobody else is a member, fetches from 160, and sends its first heartbeat at 1,060.
#[derive(Clone)]
pub(crate) struct Group {
    json: Value,
}

impl Group {
    pub(crate) fn new() -> Self {
        let json = json!({
            "until": "24h",
            "topics": { "orders": { "partitions": 3 } },
            "defaults": { "session_timeout": "3s", "callback_time": "100ms" },
            "consumers": [],
            "network": { "latency": { "fixed": "10ms" } },
            "script": [],
        });
        Self { json }
    }

    /// A consumer of `orders` that starts at a time.
    pub(crate) fn with(self, id: &str, start_ms: u64) -> Self {
        self.with_own(id, start_ms, json!({}))
    }

    /// A consumer of `orders` with settings of its own.
    pub(crate) fn with_own(self, id: &str, start_ms: u64, settings: Value) -> Self {
        let start = format!("{start_ms}ms");
        self.with_spec(json!({ "id": id, "topics": ["orders"], "start": start, "settings": settings }))
    }

    /// A consumer as a scenario writes it.
    pub(crate) fn with_spec(mut self, spec: Value) -> Self {
        self.list("consumers").push(spec);
        self
    }

    /// Any value of the scenario by its path, as `settings.max_size`.
    pub(crate) fn set(mut self, path: &str, value: impl Into<Value>) -> Self {
        let place = path.split('.').fold(&mut self.json, |place, key| &mut place[key]);
        *place = value.into();
        self
    }

    /// A command of the script.
    pub(crate) fn at(mut self, at_ms: u64, action: Value) -> Self {
        self.list("script").push(json!({ "at": format!("{at_ms}ms"), "do": action }));
        self
    }

    fn list(&mut self, name: &str) -> &mut Vec<Value> {
        self.json[name].as_array_mut().expect("a list")
    }

    pub(crate) fn json(&self) -> String {
        self.json.to_string()
    }

    pub(crate) fn plan(&self) -> Result<Arc<Plan>, InputError> {
        Scenario::from_json(&self.json())?.plan()
    }

    /// Runs up to and at a time. Every invariant must hold.
    pub(crate) fn run(&self, until_ms: u64) -> Run {
        let run = self.run_unchecked(until_ms);
        let violations = invariants::check(run.sim.plan(), run.sim.trace(), run.sim.now());
        assert!(violations.is_empty(), "{violations:#?}\n{run:?}");
        run
    }

    /// Runs up to and at a time, whatever the invariants say of it.
    pub(crate) fn run_unchecked(&self, until_ms: u64) -> Run {
        let plan = self.plan().unwrap_or_else(|error| panic!("{error}"));
        let mut sim = Simulation::new(plan);
        sim.run_until(Time::ZERO + Span::from_millis(until_ms));
        Run { sim }
    }
}

/// A run, to be asked what happened. Questions name events by how their text begins, as [`tell`] has it: what is asked
/// for a heartbeat of `C1` is `C1 > B1 heartbeat`, an answer to it `B1 > C1 heartbeat ok`.
pub(crate) struct Run {
    pub(crate) sim: Simulation,
}

impl Run {
    pub(crate) fn records(&self) -> impl Iterator<Item = &Record> {
        self.sim.trace().iter().map(|(_, record)| record)
    }

    pub(crate) fn facts(&self) -> impl Iterator<Item = &Fact> {
        self.records().map(|record| &record.fact)
    }

    fn lines(&self) -> impl Iterator<Item = (&Record, String)> {
        self.records().map(|record| (record, tell::fact(self.sim.trace(), &record.fact)))
    }

    /// The records of what began so, with their texts.
    pub(crate) fn matching<'a>(&'a self, begins: &'a str) -> impl Iterator<Item = (&'a Record, String)> {
        self.lines().filter(move |(_, line)| line.starts_with(begins))
    }

    /// When it happened, each time.
    pub(crate) fn times(&self, begins: &str) -> Vec<u64> {
        self.matching(begins).map(|(record, _)| record.at.as_micros()).collect()
    }

    /// When it happened; it must have happened once.
    pub(crate) fn once(&self, begins: &str) -> u64 {
        let times = self.times(begins);
        assert_eq!(times.len(), 1, "`{begins}` at {times:?}\n{self:?}");
        times[0]
    }

    pub(crate) fn count(&self, begins: &str) -> usize {
        self.matching(begins).count()
    }

    /// The texts of what happened, each time.
    pub(crate) fn texts(&self, begins: &str) -> Vec<String> {
        self.matching(begins).map(|(_, line)| line).collect()
    }

    /// The rules that it carried out, each time.
    pub(crate) fn rules(&self, begins: &str) -> Vec<String> {
        self.matching(begins).map(|(record, _)| record.rules.to_string()).collect()
    }

    /// What began in one of these ways from one time to another (both included), each as `1060 C1 > B1 heartbeat 1`,
    /// with the time in milliseconds.
    pub(crate) fn story(&self, from_ms: u64, until_ms: u64, begins: &[&str]) -> Vec<String> {
        let told = self.lines().filter(|(record, line)| {
            let at = record.at.as_micros();
            (from_ms * 1_000..=until_ms * 1_000).contains(&at) && begins.iter().any(|text| line.starts_with(text))
        });
        told.map(|(record, line)| format!("{} {line}", tell::millis(record.at))).collect()
    }

    /// What was sent both ways from one time to another.
    pub(crate) fn messages(&self, from_ms: u64, until_ms: u64) -> Vec<String> {
        let all = self.story(from_ms, until_ms, &[""]);
        all.into_iter().filter(|line| line.split(' ').nth(2) == Some(">")).collect()
    }
}

impl std::fmt::Debug for Run {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for (record, line) in self.lines().take(2_000) {
            writeln!(f, "{:>10} {line}  {}", tell::millis(record.at), record.rules)?;
        }
        Ok(())
    }
}

/// A story without its times.
pub(crate) fn untimed(story: &[String]) -> Vec<&str> {
    story.iter().map(|line| line.split_once(' ').map_or("", |(_, text)| text)).collect()
}

/// C1 and C2, both started at 0: C1 makes generation 1 alone, hears of C2 at 1,080, and generation 2 is formed at 1,190.
/// From then on C1 owns orders-0 and orders-1, C2 orders-2; both have their answers at 1,200, fetch from 1,300, and send
/// heartbeats at 2,200, 3,200 and so on, which the coordinator takes 10 ms later.
pub(crate) fn pair() -> Group {
    Group::new().with("C1", 0).with("C2", 0)
}
