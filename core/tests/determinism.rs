//! The same plan gives the same trace, byte for byte, natively and in WebAssembly: one set of hashes for both.
//!
//! The hash is of the trace as JSON lines. Where a change of the protocol or of a lesson is meant to change a trace, the
//! test prints the new table.

use std::fmt::Write;

use groupscope_core::report::JsonLines;
use groupscope_core::scenario::Scenario;
use groupscope_core::sim::Simulation;
use groupscope_core::{lessons, time::Time};

/// Links that take 1 to 40 ms.
const UNIFORM: &str = r#"{ "uniform": { "min": "1ms", "max": "40ms" } }"#;
/// Links that mostly take little more than 2 ms, but up to 20 s.
const HEAVY_TAILED: &str = r#"{ "heavy-tailed": { "min": "2ms", "max": "20s", "shape": 0.9 } }"#;

const PINNED: &[(&str, u64)] = &[
    ("heartbeat", 0x675c5d7943b673a7),
    ("consumer-failure", 0xf00cd60070228043),
    ("coordinator-hang", 0xc251d612cf4fca3a),
    ("coordinator-crash", 0x213a64e886d9532b),
    ("stale-generation", 0x6eccebce0512a386),
    ("discovery", 0xa0b6475411cc3e03),
    ("unknown-consumer", 0x52e7421009cdf8e7),
    ("subscription-change", 0x6f024ba0553c828a),
    ("rejoin", 0x7a189e6a4f7d4a98),
    ("topic-change", 0xadb63cfa77095a72),
    ("unknown-group", 0x93f155619e87ba77),
    ("fatal-join", 0xe1b29e322f0b8e9a),
    ("rebalance-new-consumer", 0x87d5c39f0b747c05),
    ("rebalance-member-fails", 0x25f4989830849d8a),
    ("slow-heartbeat", 0xf4741f20dff36534),
    ("rebalance-socket-close", 0x0e5654e0d38431d1),
    ("failover-error-code", 0xda9e6a26df017d0d),
    ("failover-socket-close", 0xad28aa505c89a57c),
    ("failover-lost-state", 0x154d3c24ce9c8206),
    ("old-coordinator", 0x3daee2d780426e0b),
    ("commit-accepted", 0xe52953353e88a781),
    ("commit-not-member", 0x9216416cad52f20d),
    ("commit-not-owner", 0x725ca5303d2aa754),
    ("commit-old-generation", 0x454a4effcb7707ba),
    ("commit-retry", 0x3607e0c6b76bc767),
    ("zombie", 0xf512185734b563c1),
    ("slow-processing", 0x01c6eff537f459f2),
    ("uniform", 0xf9cfb94668c6dfec),
    ("heavy-tailed", 0xa105e81c239b939b),
];

#[cfg_attr(not(target_arch = "wasm32"), test)]
#[cfg_attr(target_arch = "wasm32", wasm_bindgen_test::wasm_bindgen_test)]
fn traces_are_the_same_byte_for_byte_on_every_target() {
    let lessons = lessons::all().iter().map(|lesson| (lesson.id, lesson.scenario()));
    let rough = [("uniform", UNIFORM), ("heavy-tailed", HEAVY_TAILED)].map(|(name, latency)| (name, crowd(latency)));
    let found: Vec<_> = lessons.chain(rough).map(|(name, scenario)| (name, hash_of_run(&scenario))).collect();
    assert!(found == PINNED, "the hashes are now:\n{}", table(&found));
}

#[cfg_attr(not(target_arch = "wasm32"), test)]
#[cfg_attr(target_arch = "wasm32", wasm_bindgen_test::wasm_bindgen_test)]
fn a_run_in_pieces_and_from_clones_is_the_same_run() {
    let scenario = crowd(HEAVY_TAILED);
    let plan = scenario.plan().expect("a plan");
    let mut run = Simulation::new(plan.clone());
    for piece in 1..=7 {
        run = run.clone();
        run.run_until(Time(plan.until.as_micros() * piece / 7));
    }
    run.run();
    assert_eq!(hash(&run), hash_of_run(&scenario));
}

fn hash_of_run(scenario: &Scenario) -> u64 {
    let mut run = Simulation::new(scenario.plan().expect("a plan"));
    run.run();
    hash(&run)
}

fn hash(run: &Simulation) -> u64 {
    let mut hash = Fnv1a(0xcbf2_9ce4_8422_2325);
    write!(hash, "{}", JsonLines::of(run.trace())).expect("a hash takes any text");
    hash.0
}

struct Fnv1a(u64);

impl Write for Fnv1a {
    fn write_str(&mut self, text: &str) -> std::fmt::Result {
        for byte in text.bytes() {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
        Ok(())
    }
}

fn table(hashes: &[(&str, u64)]) -> String {
    hashes.iter().fold(String::new(), |table, (name, hash)| format!("{table}    (\"{name}\", 0x{hash:016x}),\n"))
}

/// Forty consumers over rough links, with crashes, pauses, cuts and new partitions.
fn crowd(latency: &str) -> Scenario {
    let consumers: Vec<_> = (0..40).map(consumer).collect();
    let json = format!(
        r#"{{
            "until": "90s", "seed": 20260117, "brokers": 3, "coordinator": 2,
            "topics": {{
                "orders": {{ "partitions": 120, "produced_per_second": 97 }},
                "payments": {{ "partitions": 30, "produced_per_second": 11 }}
            }},
            "defaults": {{ "session_timeout": "10s", "commit_interval": "3s", "on_deassigned": "commit" }},
            "consumers": [{}],
            "network": {{ "latency": {latency}, "lost_per_million": 2000 }},
            "script": [
                {{ "at": "20s", "do": {{ "crash": "C7" }} }},
                {{ "at": "30s", "do": {{ "pause": "C9" }} }},
                {{ "at": "45s", "do": {{ "add-partitions": {{ "topic": "orders", "count": 5 }} }} }},
                {{ "at": "50s", "do": {{ "resume": "C9" }} }},
                {{ "at": "60s", "do": {{ "crash": "B2" }} }},
                {{ "at": "62s", "do": {{ "restart": "B2" }} }},
                {{ "at": "70s", "do": {{ "cut": {{ "consumer": "C3" }} }} }},
                {{ "at": "85s", "do": {{ "heal": {{ "consumer": "C3" }} }} }}
            ]
        }}"#,
        consumers.join(", ")
    );
    Scenario::from_json(&json).expect("a scenario")
}

fn consumer(number: u32) -> String {
    let topics = if number.is_multiple_of(3) { r#""orders", "payments""# } else { r#""orders""# };
    let start = number * 37 % 4_000;
    format!(r#"{{ "id": "C{number}", "topics": [{topics}], "start": "{start}ms" }}"#)
}
