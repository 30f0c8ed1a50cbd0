//! The command as a person types it: what it prints, and how it refuses bad input.

use std::io::Write as _;
use std::process::{Command, Output, Stdio};

fn groupscope(arguments: &[&str]) -> Output {
    with_input(arguments, "")
}

fn with_input(arguments: &[&str], input: &str) -> Output {
    let mut child = Command::new(env!("CARGO_BIN_EXE_groupscope"))
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the command starts");
    // The command may end before it has read everything.
    let _ = child.stdin.take().expect("its input").write_all(input.as_bytes());
    child.wait_with_output().expect("the command ends")
}

fn out(output: &Output) -> String {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(output.stderr.is_empty());
    String::from_utf8(output.stdout.clone()).expect("UTF-8")
}

/// The command refuses with 2, prints nothing, and says every one of `parts` in one message.
fn refused(output: &Output, parts: &[&str]) {
    let message = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{message}");
    assert!(output.stdout.is_empty());
    for part in parts {
        assert!(message.contains(part), "`{part}` is not in: {message}");
    }
    assert!(!message.contains("panicked"), "{message}");
}

const SMALL: &str = r#"{
    "until": "5s",
    "topics": { "orders": { "partitions": 2 } },
    "consumers": [{ "id": "C1", "topics": ["orders"], "start": "0s" }]
}"#;

#[test]
fn lessons_lists_every_lesson_once() {
    let text = out(&groupscope(&["lessons"]));
    for lesson in groupscope_core::lessons::all() {
        assert_eq!(text.lines().filter(|line| line.split_whitespace().next() == Some(lesson.id)).count(), 1);
        assert!(text.contains(lesson.title()));
    }
}

#[test]
fn run_prints_the_trace_as_text() {
    let text = out(&groupscope(&["run", "rebalance-new-consumer"]));
    assert!(
        text.lines().any(|line| line.contains("5.000") && line.contains("C3 -> B1") && line.contains("join: orders"))
    );
}

#[test]
fn run_prints_json_lines_with_what_they_promise() {
    let text = out(&groupscope(&["run", "rebalance-member-fails", "--format", "json"]));
    let mut last = 0;
    for (id, line) in text.lines().enumerate() {
        let object: serde_json::Value = serde_json::from_str(line).expect("an object a line");
        let at = object["at"].as_u64().expect("microseconds");
        assert!(at >= last);
        last = at;
        assert!(object["fact"].is_string());
        assert!(object.get("node").is_some());
        assert!(object["rules"].is_array());
        let cause = &object["cause"];
        assert!(cause.is_null() || cause.as_u64().is_some_and(|cause| cause < id as u64), "{line}");
    }
    assert!(last > 10_000_000);
}

#[test]
fn until_ends_a_run_earlier_or_later() {
    let end = |until| {
        let text = out(&groupscope(&["run", "heartbeat", "--until", until, "--format", "json"]));
        let last: serde_json::Value = serde_json::from_str(text.lines().last().expect("a line")).expect("an object");
        last["at"].as_u64().expect("microseconds")
    };
    assert!(end("2s") <= 2_000_000);
    assert!((59_000_000..=60_000_000).contains(&end("60s")));
}

#[test]
fn render_draws_a_moment() {
    let svg = out(&groupscope(&["render", "rebalance-new-consumer", "--at", "5.5s", "--format", "svg"]));
    assert!(svg.starts_with("<svg") && svg.trim_end().ends_with("</svg>"));
    assert!(!svg.contains("<script") && !svg.contains("foreignObject"));
    let early = out(&groupscope(&["render", "rebalance-new-consumer", "--at", "5.5s", "--format", "text"]));
    let late = out(&groupscope(&["render", "rebalance-new-consumer", "--format", "text"]));
    assert!(early.contains("join") && late.len() > early.len());
}

#[test]
fn a_scenario_comes_from_a_file_or_from_standard_input() {
    let path = std::env::temp_dir().join(format!("groupscope-{}.json", std::process::id()));
    std::fs::write(&path, SMALL).expect("a file");
    let from_file = out(&groupscope(&["run", path.to_str().expect("a path")]));
    std::fs::remove_file(&path).expect("the file goes");
    let from_input = out(&with_input(&["run", "-"], SMALL));
    assert_eq!(from_file, from_input);
    assert!(from_input.contains("C1 -> B1"));
}

#[test]
fn schema_is_json_and_knows_the_fields() {
    let schema: serde_json::Value = serde_json::from_str(&out(&groupscope(&["schema"]))).expect("JSON");
    assert!(schema["properties"]["consumers"].is_object());
    assert_eq!(schema["additionalProperties"], false);
}

#[test]
fn bad_names_are_refused_with_a_hint() {
    refused(&groupscope(&["run", "rebalance-new-consumr"]), &["no lesson and no file", "rebalance-new-consumer"]);
    refused(&groupscope(&["run", "/no/such/file.json"]), &["/no/such/file.json", "groupscope lessons"]);
    refused(&groupscope(&["render", "/", "--format", "svg"]), &["cannot read /"]);
}

#[test]
fn bad_arguments_are_refused() {
    refused(&groupscope(&["run", "heartbeat", "--until", "60"]), &["--until", "no unit"]);
    refused(&groupscope(&["run", "heartbeat", "--until", "25h"]), &["--until", "24h"]);
    refused(&groupscope(&["run", "heartbeat", "--format", "xml"]), &["xml", "text", "json"]);
    refused(&groupscope(&["render", "heartbeat"]), &["--format"]);
    refused(&groupscope(&["render", "heartbeat", "--format", "svg", "--at", "soon"]), &["--at", "soon"]);
    refused(&groupscope(&["play"]), &["play"]);
}

#[test]
fn bad_scenarios_are_refused_with_the_path() {
    let cases: &[(&str, &[&str])] = &[
        ("", &["standard input", "EOF"]),
        ("[]", &["standard input"]),
        ("{", &["standard input", "line 1"]),
        (r#"{"until": "5s"}"#, &["topics"]),
        (r#"{"until": 5, "topics": {}, "consumers": []}"#, &["until", "10s"]),
        (r#"{"until": "5", "topics": {}, "consumers": []}"#, &["until", "no unit"]),
        (r#"{"until": "5s", "topics": {}, "consumers": [], "speed": 1}"#, &["speed", "unknown field"]),
        (
            r#"{"until": "5s", "topics": {}, "consumers": [{"id": "C1", "topics": ["x"]}]}"#,
            &["consumers[0].topics[0]", "`x`"],
        ),
        (
            r#"{"until": "5s", "topics": {}, "consumers": [], "script": [{"at": "1s", "do": {"crash": "C9"}}]}"#,
            &["script[0].do.crash", "`C9`"],
        ),
        (r#"{"until": "5s", "brokers": 1000, "topics": {}, "consumers": []}"#, &["brokers", "100"]),
        (r#"{"until": "30h", "topics": {}, "consumers": []}"#, &["until", "24h"]),
        (r#"{"until": "5s", "topics": {}, "consumers": []} x"#, &["standard input", "line 1"]),
    ];
    for (scenario, parts) in cases {
        refused(&with_input(&["run", "-"], scenario), parts);
    }
}

#[test]
fn nothing_that_is_cut_short_or_changed_makes_it_panic() {
    for end in 0..SMALL.len() {
        let output = with_input(&["run", "-"], &SMALL[..end]);
        assert_eq!(output.status.code(), Some(2));
    }
    for (from, to) in
        [("5s", "0s"), ("2", "4294967295"), ("orders", ""), ("C1", "B1"), ("0s", "24h"), ("2", "-1"), ("2", "1e400")]
    {
        let output = with_input(&["run", "-"], &SMALL.replacen(from, to, 1));
        assert!(matches!(output.status.code(), Some(0 | 2)), "{from} -> {to}");
    }
}

#[test]
fn a_reader_that_stops_reading_is_no_error() {
    let mut child = Command::new(env!("CARGO_BIN_EXE_groupscope"))
        .args(["run", "heartbeat", "--until", "2h"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the command starts");
    drop(child.stdout.take());
    let output = child.wait_with_output().expect("the command ends");
    assert!(output.status.success());
    assert!(output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
}
