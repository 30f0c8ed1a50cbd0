//! The command as a person or a script uses it: what it prints, what it refuses and how it says so.

use std::io::Read as _;
use std::process::Stdio;

use crate::common::{ScratchFile, command, groupscope, groupscope_reading, scenario};
use groupscope_core::lessons;
use groupscope_core::scenario::limits;

// --- what it prints ---

#[test]
fn the_lessons_are_listed_in_columns() {
    let listed = groupscope(&["lessons"]).succeeds();
    let lines: Vec<_> = listed.lines().collect();
    assert_eq!(lines.len(), lessons::all().len());
    let column = |line: &str, text: &str| line.find(text).map(|byte| line[..byte].chars().count());
    for (line, lesson) in lines.iter().zip(lessons::all()) {
        assert!(line.starts_with(&format!("{} ", lesson.id)), "{line}");
        assert!(line.ends_with(lesson.section.title()), "{line}");
        assert_eq!(column(line, lesson.title()), column(lines[0], lessons::all()[0].title()), "{line}");
    }
}

#[test]
fn a_run_prints_its_trace_as_text() {
    let text = groupscope(&["run", "heartbeat"]).succeeds();
    assert!(text.contains("C1 -> B1  heartbeat, generation"), "{text}");
    assert_eq!(groupscope(&["run", "heartbeat", "--format", "text"]).succeeds(), text);
}

#[test]
fn a_run_prints_its_trace_as_json_lines() {
    let json = groupscope(&["run", "rebalance-new-consumer", "--format", "json"]).succeeds();
    let mut at = 0;
    for (id, line) in json.lines().enumerate() {
        let object: serde_json::Value = serde_json::from_str(line).expect("a JSON object");
        assert_eq!(object["id"], id);
        assert!(object["at"].as_u64().is_some_and(|now| now >= at), "{line}");
        at = object["at"].as_u64().unwrap_or_default();
        assert!(object["fact"].is_string() && object["rules"].is_array(), "{line}");
        assert!(object["node"].is_string() || object["node"].is_null(), "{line}");
        let cause = &object["cause"];
        assert!(cause.is_null() || cause.as_u64().is_some_and(|cause| cause < id as u64), "{line}");
    }
    let text = groupscope(&["run", "rebalance-new-consumer"]).succeeds();
    assert_eq!(json.lines().count(), text.lines().count());
}

#[test]
fn a_run_ends_where_it_is_told_to() {
    let whole = groupscope(&["run", "heartbeat"]).succeeds();
    let short = groupscope(&["run", "heartbeat", "--until", "2s"]).succeeds();
    assert!(short.len() < whole.len() && whole.starts_with(&short));
    let long = groupscope(&["run", "heartbeat", "--until", "10m"]).succeeds();
    assert!(long.len() > whole.len() && long.starts_with(&whole));
    assert!(groupscope(&["run", "heartbeat", "--until", "24h"]).output.status.success());
}

#[test]
fn every_lesson_runs_and_renders() {
    for lesson in lessons::all() {
        assert!(!groupscope(&["run", lesson.id]).succeeds().is_empty());
        assert!(groupscope(&["render", lesson.id, "--format", "svg"]).succeeds().starts_with("<svg"), "{}", lesson.id);
        assert!(!groupscope(&["render", lesson.id, "--format", "text"]).succeeds().is_empty());
    }
}

#[test]
fn a_file_is_run_like_a_lesson() {
    let lesson = lessons::find("heartbeat").expect("a lesson");
    let file = ScratchFile::new("like-a-lesson.json", lesson.json().as_bytes());
    for arguments in [&["--format", "json"][..], &["--format", "text"]] {
        let of = |source: &str| groupscope(&[&["run", source], arguments].concat()).succeeds();
        assert_eq!(of(file.path()), of("heartbeat"));
        assert_eq!(groupscope_reading(lesson.json(), &[&["run", "-"], arguments].concat()).succeeds(), of("heartbeat"));
    }
}

#[test]
fn a_picture_is_drawn_at_a_time() {
    let at = |time: &str, format: &str| {
        groupscope(&["render", "rebalance-new-consumer", "--at", time, "--format", format]).succeeds()
    };
    assert_ne!(at("3s", "svg"), at("8s", "svg"));
    assert!(at("3s", "text").len() < at("8s", "text").len());
    let whole = groupscope(&["render", "rebalance-new-consumer", "--format", "text"]).succeeds();
    assert!(whole.contains("onPartitionAssigned"), "{whole}");
}

#[test]
fn the_schema_is_one_that_the_lessons_name() {
    let schema: serde_json::Value = serde_json::from_str(&groupscope(&["schema"]).succeeds()).expect("JSON");
    let known = schema["properties"].as_object().expect("properties");
    for lesson in lessons::all() {
        let scenario: serde_json::Value = serde_json::from_str(lesson.json()).expect("JSON");
        for field in scenario.as_object().expect("an object").keys() {
            assert!(known.contains_key(field), "{}: {field}", lesson.id);
        }
    }
}

#[test]
fn help_names_every_command_and_the_version_is_the_packages() {
    let help = groupscope(&["--help"]).succeeds();
    for word in ["lessons", "run", "render", "schema"] {
        assert!(help.contains(word), "{help}");
    }
    assert_eq!(groupscope(&["--version"]).succeeds(), format!("groupscope {}\n", env!("CARGO_PKG_VERSION")));
}

// --- what it refuses ---

#[test]
fn an_unknown_lesson_is_refused_with_the_one_that_was_meant() {
    for (name, meant) in [
        ("hearbeat", "did you mean `heartbeat`?"),
        ("Rebalance-New-Consumer", "did you mean `rebalance-new-consumer`?"),
        ("rebalance-new", "did you mean `rebalance-new-consumer`?"),
        ("xyzzy", "`groupscope lessons` lists the lessons"),
        ("", "`groupscope lessons` lists the lessons"),
    ] {
        groupscope(&["run", name]).is_refused(&[&format!("there is no lesson `{name}`"), meant]);
        groupscope(&["render", name, "--format", "svg"]).is_refused(&[meant]);
    }
}

#[test]
fn a_file_that_cannot_be_read_is_refused_by_name() {
    groupscope(&["run", "no/such/file.json"]).is_refused(&["cannot read no/such/file.json"]);
    groupscope(&["run", "nothing.json"]).is_refused(&["cannot read nothing.json"]);
    groupscope(&["run", "./"]).is_refused(&["cannot read ./"]);
}

#[test]
fn what_is_no_json_is_refused_with_line_and_column() {
    for (text, what) in [
        ("", "EOF"),
        ("{", "line 1, column 2"),
        ("{\n  \"until\": 1s\n}", "line 2, column 1"),
        ("[1, 2", "line 1, column 6"),
        ("nonsense", "line 1, column 1"),
    ] {
        let file = ScratchFile::new("no-json.json", text.as_bytes());
        groupscope(&["run", file.path()]).is_refused(&[file.path(), what]);
        groupscope_reading(text, &["run", "-"]).is_refused(&["standard input", what]);
    }
    let file = ScratchFile::new("no-text.json", b"{\"until\": \"\xff\"}");
    groupscope(&["run", file.path()]).is_refused(&["not a JSON file", "byte 11"]);
    groupscope_reading(&format!("{}{{}}", scenario("")), &["run", "-"]).is_refused(&["there is more after"]);
}

#[test]
fn a_bad_value_is_refused_with_its_path_and_what_would_be_right() {
    for (field, expected) in [
        (r#""untill": "3s""#, &["untill", "unknown field", "until"][..]),
        (r#""defaults": { "session_timeout": "10" }"#, &["defaults.session_timeout", "10s"]),
        (r#""defaults": { "session_timeout": "ten seconds" }"#, &["defaults.session_timeout", "10s"]),
        (r#""defaults": { "session_timeout": 10 }"#, &["defaults.session_timeout", "10s"]),
        (r#""defaults": { "callback_time": "25h" }"#, &["defaults.callback_time", "24h"]),
        (r#""defaults": { "session_timeout": "0s" }"#, &["defaults.session_timeout", "1ms"]),
        (r#""brokers": 0"#, &["brokers", "between 1 and 100"]),
        (r#""brokers": 101"#, &["brokers", "between 1 and 100"]),
        (r#""brokers": 65536"#, &["brokers", "65536"]),
        (r#""coordinator": 2"#, &["coordinator", "between 1 and 1"]),
        (r#""network": { "latency": { "fixd": "1s" } }"#, &["network.latency", "fixd", "fixed"]),
        (r#""script": [{ "at": "1s", "do": { "crash": "C7" } }]"#, &["script[0].do.crash", "C7", "C1"]),
        (r#""script": [{ "at": "1s", "do": { "crahs": "C1" } }]"#, &["script[0].do", "crahs", "crash"]),
        (r#""script": [{ "do": { "crash": "C1" } }]"#, &["script[0]", "at"]),
    ] {
        groupscope_reading(&scenario(field), &["run", "-"]).is_refused(&[&["standard input: "], expected].concat());
    }
    groupscope_reading("{}", &["run", "-"]).is_refused(&["missing field `until`"]);
    groupscope_reading("[]", &["render", "-", "--format", "svg"]).is_refused(&["standard input: "]);
}

#[test]
fn a_limit_exceeded_is_refused_and_named() {
    let topics = |count: u64| {
        let consumers = r#""consumers": [{ "id": "C1", "topics": ["orders"], "start": "0s" }]"#;
        format!(r#"{{ "until": "3s", "topics": {{ "orders": {{ "partitions": {count} }} }}, {consumers} }}"#)
    };
    groupscope_reading(&topics(limits::PARTITIONS + 1), &["run", "-"]).is_refused(&["topics", "100000"]);
    assert!(groupscope_reading(&topics(limits::PARTITIONS), &["run", "-"]).output.status.success());
    let title = format!(r#""title": "{}""#, "x".repeat(limits::TEXT_CHARS + 1));
    groupscope_reading(&scenario(&title), &["run", "-"]).is_refused(&["title", "4000"]);
    let name = format!(r#""group": "{}""#, "x".repeat(limits::NAME_CHARS + 1));
    groupscope_reading(&scenario(&name), &["run", "-"]).is_refused(&["group", "64"]);
    let long = scenario(r#""until": "3s""#).replace("\"until\": \"3s\", ", "").replace("3s", "25h");
    groupscope_reading(&long, &["run", "-"]).is_refused(&["until", "24h"]);
}

#[test]
fn a_file_that_is_too_big_is_refused_unread() {
    let big = format!("{}{}", scenario(""), " ".repeat(limits::JSON_BYTES));
    groupscope_reading(&big, &["run", "-"]).is_refused(&["standard input", &limits::JSON_BYTES.to_string()]);
    let file = ScratchFile::new("big.json", big.as_bytes());
    groupscope(&["run", file.path()]).is_refused(&[file.path(), &limits::JSON_BYTES.to_string()]);
}

#[test]
#[cfg(unix)]
fn an_endless_input_is_refused() {
    groupscope(&["run", "/dev/zero"]).is_refused(&["/dev/zero", "at most"]);
}

#[test]
fn bad_arguments_are_refused_with_what_would_be_right() {
    groupscope(&["run", "heartbeat", "--until", "10"]).is_refused(&["--until", "10s"]);
    groupscope(&["run", "heartbeat", "--until", "25h"]).is_refused(&["--until", "24h"]);
    groupscope(&["run", "heartbeat", "--until", "soon"]).is_refused(&["--until", "10s"]);
    groupscope(&["run", "heartbeat", "--format", "xml"]).is_refused(&["--format", "text, json"]);
    groupscope(&["render", "heartbeat", "--format", "json"]).is_refused(&["--format", "svg, text"]);
    groupscope(&["render", "heartbeat", "--format", "svg", "--at", "-1s"]).is_refused(&["--at", "10s"]);
    groupscope(&["render", "heartbeat"]).is_refused(&["--format"]);
    groupscope(&["run"]).is_refused(&["LESSON|FILE"]);
    groupscope(&["rnu", "heartbeat"]).is_refused(&["rnu", "Usage"]);
    groupscope(&[]).is_refused(&["Usage"]);
}

#[test]
fn an_error_is_one_line_whatever_names_are_in_it() {
    let text = scenario(r#""script": [{ "at": "1s", "do": { "crash": "C\u001b[31m\n7" } }]"#);
    groupscope_reading(&text, &["run", "-"]).is_refused(&["script[0].do.crash", r"C\u{1b}[31m\n7"]);
}

// --- where its output goes ---

#[test]
fn a_reader_that_goes_away_is_no_error() {
    let mut child = command(&["run", "heartbeat", "--until", "24h"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("groupscope starts");
    let mut first = [0; 64];
    child.stdout.take().expect("a pipe").read_exact(&mut first).expect("some output");
    let output = child.wait_with_output().expect("groupscope ends");
    assert!(output.status.success(), "{output:?}");
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
}

#[test]
#[cfg(target_os = "linux")]
fn an_output_that_is_full_is_an_error() {
    let full = std::fs::File::options().write(true).open("/dev/full").expect("/dev/full");
    let output = command(&["schema"]).stdout(full).output().expect("groupscope runs");
    assert_eq!(output.status.code(), Some(1));
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(error.starts_with("error: cannot write the output") && error.lines().count() == 1, "{error}");
}
