//! No input makes the command panic or run away: scenarios of the lessons with something changed, cut or put in.

use crate::common::groupscope_reading;
use groupscope_core::lessons;
use proptest::prelude::*;
use proptest::sample::{Index, select};
use proptest::test_runner::RngSeed;
use serde_json::Value;

/// What stands in place of some value.
const ODD_VALUES: [&str; 24] = [
    "null",
    "true",
    "0",
    "-1",
    "1",
    "3",
    "1e999",
    "0.1",
    "18446744073709551615",
    "99999999999999999999999",
    "\"\"",
    "\"0s\"",
    "\"1us\"",
    "\"24h\"",
    "\"99999999999h\"",
    "\"off\"",
    "\"C1\"",
    "\"B1\"",
    "\"orders\"",
    "\"orders-4294967296\"",
    "\"\\u0000\"",
    "[]",
    "{}",
    "[[[[]]]]",
];

#[derive(Clone, Debug)]
enum Mutation {
    /// A value becomes an odd one.
    Replace(Index, &'static str),
    /// A value goes.
    Remove(Index),
    /// A value comes to stand in another's place as well.
    Copy(Index, Index),
    /// A byte of the text becomes another.
    Byte(Index, u8),
    /// The text ends early.
    Cut(Index),
}

fn mutation() -> impl Strategy<Value = Mutation> {
    prop_oneof![
        4 => (any::<Index>(), select(&ODD_VALUES[..])).prop_map(|(place, value)| Mutation::Replace(place, value)),
        2 => any::<Index>().prop_map(Mutation::Remove),
        2 => (any::<Index>(), any::<Index>()).prop_map(|(from, to)| Mutation::Copy(from, to)),
        1 => (any::<Index>(), any::<u8>()).prop_map(|(place, byte)| Mutation::Byte(place, byte)),
        1 => any::<Index>().prop_map(Mutation::Cut),
    ]
}

/// The paths to every value in a document.
fn pointers(value: &Value, path: &str, into: &mut Vec<String>) {
    into.push(path.to_owned());
    match value {
        Value::Object(fields) => {
            for (name, field) in fields {
                pointers(field, &format!("{path}/{}", name.replace('~', "~0").replace('/', "~1")), into);
            }
        }
        Value::Array(items) => {
            for (i, item) in items.iter().enumerate() {
                pointers(item, &format!("{path}/{i}"), into);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

fn pick(document: &Value, place: &Index) -> String {
    let mut all = Vec::new();
    pointers(document, "", &mut all);
    place.get(&all).clone()
}

fn remove(document: &mut Value, pointer: &str) {
    let Some((parent, name)) = pointer.rsplit_once('/') else { return };
    match document.pointer_mut(parent) {
        Some(Value::Object(fields)) => drop(fields.remove(&name.replace("~1", "/").replace("~0", "~"))),
        Some(Value::Array(items)) => drop(name.parse().map(|i: usize| items.remove(i))),
        Some(Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_)) | None => {}
    }
}

fn put(document: &mut Value, pointer: &str, value: Value) {
    if let Some(slot) = document.pointer_mut(pointer) {
        *slot = value;
    }
}

fn mutated(json: &str, mutations: &[Mutation]) -> String {
    let mut document: Value = serde_json::from_str(json).expect("a lesson is JSON");
    for mutation in mutations {
        match mutation {
            Mutation::Replace(place, text) => {
                // Numbers that JSON has no room for stay as text for the reader to refuse.
                let value = serde_json::from_str(text).unwrap_or_else(|_| Value::String((*text).to_owned()));
                let pointer = pick(&document, place);
                put(&mut document, &pointer, value);
            }
            Mutation::Remove(place) => {
                let pointer = pick(&document, place);
                remove(&mut document, &pointer);
            }
            Mutation::Copy(from, to) => {
                let value = document.pointer(&pick(&document, from)).cloned().unwrap_or_default();
                let pointer = pick(&document, to);
                put(&mut document, &pointer, value);
            }
            Mutation::Byte(..) | Mutation::Cut(_) => {}
        }
    }
    let mut text = document.to_string().into_bytes();
    for mutation in mutations {
        match mutation {
            Mutation::Byte(place, byte) if !text.is_empty() => *place.get_mut(&mut text) = *byte,
            Mutation::Cut(place) if !text.is_empty() => text.truncate(place.index(text.len())),
            Mutation::Byte(..)
            | Mutation::Cut(_)
            | Mutation::Replace(..)
            | Mutation::Remove(_)
            | Mutation::Copy(..) => {}
        }
    }
    String::from_utf8_lossy(&text).into_owned()
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 150,
        failure_persistence: None,
        rng_seed: RngSeed::Fixed(2015),
        ..ProptestConfig::default()
    })]

    #[test]
    fn a_changed_scenario_runs_or_is_refused(
        lesson in any::<Index>(),
        mutations in proptest::collection::vec(mutation(), 1..4),
        renders in any::<bool>(),
    ) {
        let text = mutated(lesson.get(lessons::all()).json(), &mutations);
        let arguments: &[&str] =
            if renders { &["render", "-", "--format", "svg", "--at", "5s"] } else { &["run", "-", "--until", "20s"] };
        let done = groupscope_reading(&text, arguments);
        let (code, error) = (done.output.status.code(), done.error());
        prop_assert!(!error.contains("panicked"), "{text}\n{error}");
        prop_assert!(code == Some(0) || code == Some(2), "{code:?}: {text}\n{error}");
        prop_assert_eq!(error.lines().count(), usize::from(code == Some(2)), "{}\n{}", text, error);
    }
}
