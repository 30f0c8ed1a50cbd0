//! Reading a scenario from JSON: unknown fields are refused, and each error names the path to the bad value.

use std::collections::BTreeMap;

use super::{
    Action, AddPartitions, AssignmentStrategy, Command, CommitSpec, CompletionCheck, ConsumerSettings, ConsumerSpec,
    Dialect, GroupSettings, GroupStateKept, Heard, HeartbeatSpec, Heartbeats, HeavyTailedLatency, JoinWindow, Latency,
    Limit, Link, MemberIds, MissingJoin, Network, Off, OnClose, OnCoordinatorFailure, OnDeassigned, Picture, Process,
    Profile, RebalanceBy, Scenario, StepSpec, Subscribe, Topic, Trigger, UnchangedJoin, UniformLatency,
};
use crate::error::InputError;
use crate::json::Json;
use crate::time::Span;

type Reading<T> = Result<T, InputError>;

/// The way from the whole scenario to a value.
#[derive(Clone, Copy)]
pub(super) enum Path<'a> {
    Root,
    Field(&'a Path<'a>, &'a str),
    Item(&'a Path<'a>, usize),
}

impl Path<'_> {
    fn write(&self, out: &mut String) {
        match self {
            Self::Root => {}
            Self::Field(parent, name) => {
                parent.write(out);
                if !out.is_empty() {
                    out.push('.');
                }
                out.extend(name.chars().take(64));
            }
            Self::Item(parent, place) => {
                parent.write(out);
                out.push('[');
                out.push_str(&place.to_string());
                out.push(']');
            }
        }
    }

    fn error(&self, message: String) -> InputError {
        let mut path = String::new();
        self.write(&mut path);
        InputError::new(path, message)
    }

    fn expected(&self, what: &str, found: &Json) -> InputError {
        self.error(format!("expected {what}, found {}", found.kind()))
    }
}

/// Reading a value at a path.
pub(super) trait Read: Sized {
    fn read(json: &Json, path: &Path<'_>) -> Reading<Self>;
}

fn text<'a>(json: &'a Json, path: &Path<'_>, what: &str) -> Reading<&'a str> {
    if let Json::Text(text) = json { Ok(text) } else { Err(path.expected(what, json)) }
}

/// A whole number from 0 to `most`.
fn whole(json: &Json, path: &Path<'_>, most: u64) -> Reading<u64> {
    let Json::Number(digits) = json else { return Err(path.expected("a whole number", json)) };
    match digits.parse::<u64>() {
        Ok(number) if number <= most => Ok(number),
        Ok(_) | Err(_) => Err(path.error(format!("expected a whole number from 0 to {most}, found {}", short(digits)))),
    }
}

fn short(text: &str) -> String {
    text.chars().take(64).collect()
}

/// The fields of an object, all of them known by name and each there once.
fn fields<'a>(json: &'a Json, path: &Path<'_>, known: &[&str]) -> Reading<&'a [(String, Json)]> {
    let Json::Object(fields) = json else { return Err(path.expected("an object", json)) };
    for (place, (name, _)) in fields.iter().enumerate() {
        if !known.contains(&name.as_str()) {
            let message = format!("unknown field `{}`, expected one of {}", short(name), known.join(", "));
            return Err(Path::Field(path, name).error(message));
        }
        if fields[..place].iter().any(|(before, _)| before == name) {
            return Err(Path::Field(path, name).error("the field is there twice".to_owned()));
        }
    }
    Ok(fields)
}

fn find<'a>(fields: &'a [(String, Json)], name: &str) -> Option<&'a Json> {
    fields.iter().find(|(field, _)| field == name).map(|(_, value)| value)
}

fn required<T: Read>(fields: &[(String, Json)], path: &Path<'_>, name: &str) -> Reading<T> {
    match find(fields, name) {
        Some(value) => T::read(value, &Path::Field(path, name)),
        None => Err(path.error(format!("missing field `{name}`"))),
    }
}

fn optional<T: Read>(fields: &[(String, Json)], path: &Path<'_>, name: &str) -> Reading<Option<T>> {
    match find(fields, name) {
        Some(Json::Null) | None => Ok(None),
        Some(value) => T::read(value, &Path::Field(path, name)).map(Some),
    }
}

/// The place of a word in a list of those allowed.
fn choice(json: &Json, path: &Path<'_>, words: &[&str]) -> Reading<usize> {
    let word = text(json, path, "a word")?;
    let place = words.iter().position(|known| *known == word);
    place.ok_or_else(|| path.error(format!("unknown word `{}`, expected one of {}", short(word), words.join(", "))))
}

/// The one field of an object that names a kind: `{ "crash": "C1" }`.
fn kind<'a>(json: &'a Json, path: &Path<'_>, known: &[&str]) -> Reading<(&'a str, &'a Json)> {
    let Json::Object(fields) = json else { return Err(path.expected("an object with one field", json)) };
    let [(name, value)] = fields.as_slice() else {
        return Err(path.error(format!("expected one field, one of {}, found {}", known.join(", "), fields.len())));
    };
    if known.contains(&name.as_str()) {
        return Ok((name, value));
    }
    let message = format!("unknown field `{}`, expected one of {}", short(name), known.join(", "));
    Err(Path::Field(path, name).error(message))
}

/// Reads a struct: each field is `required`, `optional`, or has a default.
macro_rules! records {
    ($($type:ident { $($field:ident: $name:literal $how:ident $(($default:expr))?,)* })*) => {
        $(impl Read for $type {
            fn read(json: &Json, path: &Path<'_>) -> Reading<Self> {
                let fields = fields(json, path, &[$($name),*])?;
                Ok(Self { $($field: records!(@ $how fields path $name $(($default))?),)* })
            }
        })*

        /// For a test against the schema: the fields of each struct.
        #[cfg(test)]
        pub(super) const RECORDS: &[(&str, &[&str])] = &[$((stringify!($type), &[$($name),*]),)*];
    };
    (@ required $fields:ident $path:ident $name:literal) => { required($fields, $path, $name)? };
    (@ optional $fields:ident $path:ident $name:literal) => { optional($fields, $path, $name)? };
    (@ or $fields:ident $path:ident $name:literal ($default:expr)) => {
        optional($fields, $path, $name)?.unwrap_or_else(|| $default)
    };
}

/// Reads an enum of plain words.
macro_rules! words {
    ($($type:ident { $($word:literal => $variant:ident,)* })*) => {
        $(impl Read for $type {
            fn read(json: &Json, path: &Path<'_>) -> Reading<Self> {
                Ok([$(Self::$variant),*][choice(json, path, &[$($word),*])?])
            }
        })*

        /// For a test against the schema: the words of each enum.
        #[cfg(test)]
        pub(super) const WORDS: &[(&str, &[&str])] = &[$((stringify!($type), &[$($word),*]),)*];
    };
}

records! {
    Scenario {
        title: "title" or(String::new()),
        introduction: "introduction" or(String::new()),
        group: "group" or(super::default_group()),
        seed: "seed" or(0),
        until: "until" required,
        brokers: "brokers" or(super::default_brokers()),
        coordinator: "coordinator" or(super::default_coordinator()),
        topics: "topics" required,
        defaults: "defaults" or(ConsumerSettings::default()),
        consumers: "consumers" required,
        profile: "profile" or(Profile::default()),
        settings: "settings" or(GroupSettings::default()),
        network: "network" or(Network::default()),
        script: "script" or(Vec::new()),
        picture: "picture" optional,
    }
    Topic {
        partitions: "partitions" required,
        produced_per_second: "produced_per_second" or(0),
    }
    ConsumerSpec {
        id: "id" required,
        topics: "topics" required,
        start: "start" optional,
        latency: "latency" optional,
        settings: "settings" or(ConsumerSettings::default()),
    }
    ConsumerSettings {
        session_timeout: "session_timeout" optional,
        heartbeat_interval: "heartbeat_interval" optional,
        first_heartbeat: "first_heartbeat" optional,
        coordinator_timeout: "coordinator_timeout" optional,
        join_timeout: "join_timeout" optional,
        request_timeout: "request_timeout" optional,
        back_off: "back_off" optional,
        metadata_refresh: "metadata_refresh" optional,
        commit_interval: "commit_interval" optional,
        on_deassigned: "on_deassigned" optional,
        callback_time: "callback_time" optional,
        processed_per_second: "processed_per_second" optional,
        on_coordinator_failure: "on_coordinator_failure" optional,
        on_close: "on_close" optional,
    }
    GroupSettings {
        rebalance: "rebalance" optional,
        assignment: "assignment" optional,
        min_session_timeout: "min_session_timeout" optional,
        max_session_timeout: "max_session_timeout" optional,
        max_size: "max_size" optional,
        partition_check: "partition_check" optional,
        state: "state" optional,
        takeover_delay: "takeover_delay" optional,
        metadata_propagation: "metadata_propagation" optional,
        member_ids: "member_ids" optional,
        missing_join: "missing_join" optional,
        join_window: "join_window" optional,
        completion_check: "completion_check" optional,
        unchanged_join: "unchanged_join" optional,
        heard: "heard" optional,
        dialect: "dialect" optional,
    }
    Network {
        latency: "latency" or(Network::default().latency),
        lost_per_million: "lost_per_million" or(0),
    }
    UniformLatency {
        min: "min" required,
        max: "max" required,
    }
    HeavyTailedLatency {
        min: "min" required,
        max: "max" required,
        shape: "shape" required,
    }
    Command {
        at: "at" required,
        action: "do" required,
    }
    Link {
        consumer: "consumer" required,
        broker: "broker" optional,
    }
    Subscribe {
        consumer: "consumer" required,
        topics: "topics" required,
    }
    AddPartitions {
        topic: "topic" required,
        count: "count" required,
    }
    CommitSpec {
        consumer: "consumer" required,
        member: "member" optional,
        generation: "generation" optional,
        offsets: "offsets" optional,
    }
    HeartbeatSpec {
        consumer: "consumer" required,
        member: "member" optional,
        generation: "generation" optional,
    }
    Process {
        consumer: "consumer" required,
        takes: "for" required,
    }
    Picture {
        from: "from" or(Span::ZERO),
        heartbeats: "heartbeats" or(Heartbeats::default()),
        steps: "steps" or(Vec::new()),
    }
    StepSpec {
        label: "label" required,
        begins: "begins" required,
    }
}

words! {
    OnDeassigned { "nothing" => Nothing, "commit" => Commit, }
    OnCoordinatorFailure { "resume" => Resume, "rejoin" => Rejoin, "rejoin-as-new" => RejoinAsNew, }
    OnClose { "silent" => Silent, "leave" => Leave, }
    Profile {
        "document-option-1" => DocumentOption1,
        "document-option-2" => DocumentOption2,
        "kafka-2015" => Kafka2015,
    }
    RebalanceBy { "error-code" => ErrorCode, "socket-close" => SocketClose, }
    MemberIds { "consumer" => Consumer, "coordinator" => Coordinator, }
    MissingJoin { "retry" => Retry, "complete" => Complete, }
    CompletionCheck { "all" => All, "left" => Left, "never" => Never, }
    UnchangedJoin { "rebalance" => Rebalance, "answer" => Answer, }
    Heard { "all" => All, "valid" => Valid, }
    Dialect { "document" => Document, "kafka-2015" => Kafka2015, }
    AssignmentStrategy { "range" => Range, "roundrobin" => RoundRobin, }
    GroupStateKept { "replicated" => Replicated, "lost" => Lost, }
    Heartbeats { "fold" => Fold, "show" => Show, }
    Trigger {
        "metadata-sent" => MetadataSent,
        "join-sent" => JoinSent,
        "heartbeat-sent" => HeartbeatSent,
        "commit-sent" => CommitSent,
        "fetch-stopped" => FetchStopped,
        "subscription-changed" => SubscriptionChanged,
        "assignment-computed" => AssignmentComputed,
        "rebalance-retried" => RebalanceRetried,
        "process-crashed" => ProcessCrashed,
        "process-paused" => ProcessPaused,
        "process-resumed" => ProcessResumed,
        "processing-started" => ProcessingStarted,
        "heartbeat-refused" => HeartbeatRefused,
        "coordinator-failed" => CoordinatorFailed,
        "coordinator-moved" => CoordinatorMoved,
        "rebalance-started" => RebalanceStarted,
        "member-removed" => MemberRemoved,
        "commit-checked" => CommitChecked,
        "consumer-threw" => ConsumerThrew,
        "offsets-dropped" => OffsetsDropped,
    }
}

impl Read for String {
    fn read(json: &Json, path: &Path<'_>) -> Reading<Self> {
        text(json, path, "a text").map(str::to_owned)
    }
}

impl Read for u64 {
    fn read(json: &Json, path: &Path<'_>) -> Reading<Self> {
        whole(json, path, Self::MAX)
    }
}

impl Read for u32 {
    fn read(json: &Json, path: &Path<'_>) -> Reading<Self> {
        whole(json, path, u64::from(Self::MAX)).map(|number| number as Self)
    }
}

impl Read for u16 {
    fn read(json: &Json, path: &Path<'_>) -> Reading<Self> {
        whole(json, path, u64::from(Self::MAX)).map(|number| number as Self)
    }
}

/// A plain decimal number of at most fifteen digits, which a float holds exactly as its nearest value.
impl Read for f64 {
    fn read(json: &Json, path: &Path<'_>) -> Reading<Self> {
        let Json::Number(number) = json else { return Err(path.expected("a number", json)) };
        let (whole, part) = number.split_once('.').unwrap_or((number, ""));
        let digits = [whole, part].concat();
        match digits.parse::<u64>() {
            Ok(value) if digits.len() <= 15 => Ok(value as Self / 10u64.pow(part.len() as u32) as Self),
            Ok(_) | Err(_) => {
                Err(path.error(format!("expected a decimal number of at most 15 digits, found {}", short(number))))
            }
        }
    }
}

const LENGTH_OF_TIME: &str = "a length of time such as \"10s\" or \"250ms\"";

impl Read for Span {
    fn read(json: &Json, path: &Path<'_>) -> Reading<Self> {
        Self::parse(text(json, path, LENGTH_OF_TIME)?).map_err(|message| path.error(message))
    }
}

impl Read for Limit {
    fn read(json: &Json, path: &Path<'_>) -> Reading<Self> {
        let text = text(json, path, "a length of time such as \"10s\", or \"off\"")?;
        if text == "off" {
            return Ok(Self::Off(Off::Off));
        }
        Span::parse(text).map(Self::After).map_err(|message| path.error(format!("{message}, or \"off\"")))
    }
}

impl<T: Read> Read for Vec<T> {
    fn read(json: &Json, path: &Path<'_>) -> Reading<Self> {
        let Json::List(items) = json else { return Err(path.expected("a list", json)) };
        let mut list = Self::with_capacity(items.len());
        for (place, item) in items.iter().enumerate() {
            list.push(T::read(item, &Path::Item(path, place))?);
        }
        Ok(list)
    }
}

impl<T: Read> Read for BTreeMap<String, T> {
    fn read(json: &Json, path: &Path<'_>) -> Reading<Self> {
        let Json::Object(fields) = json else { return Err(path.expected("an object", json)) };
        let mut map = Self::new();
        for (name, value) in fields {
            let path = Path::Field(path, name);
            if map.insert(name.clone(), T::read(value, &path)?).is_some() {
                return Err(path.error("the name is there twice".to_owned()));
            }
        }
        Ok(map)
    }
}

impl Read for JoinWindow {
    fn read(json: &Json, path: &Path<'_>) -> Reading<Self> {
        if let Json::Object(_) = json {
            let (name, value) = kind(json, path, &["fixed"])?;
            return Span::read(value, &Path::Field(path, name)).map(Self::Fixed);
        }
        Ok([Self::Own, Self::Longest][choice(json, path, &["own", "longest"])?])
    }
}

impl Read for Latency {
    fn read(json: &Json, path: &Path<'_>) -> Reading<Self> {
        let (name, value) = kind(json, path, &["fixed", "uniform", "heavy-tailed"])?;
        let path = &Path::Field(path, name);
        Ok(match name {
            "fixed" => Self::Fixed(Span::read(value, path)?),
            "uniform" => Self::Uniform(UniformLatency::read(value, path)?),
            _ => Self::HeavyTailed(HeavyTailedLatency::read(value, path)?),
        })
    }
}

/// What a command may do, by the field that names it.
pub(super) const ACTIONS: [&str; 14] = [
    "start",
    "crash",
    "restart",
    "pause",
    "resume",
    "cut",
    "heal",
    "subscribe",
    "add-partitions",
    "commit",
    "heartbeat",
    "process",
    "close",
    "move-coordinator",
];

impl Read for Action {
    fn read(json: &Json, path: &Path<'_>) -> Reading<Self> {
        let (name, value) = kind(json, path, &ACTIONS)?;
        let path = &Path::Field(path, name);
        Ok(match name {
            "start" => Self::Start(String::read(value, path)?),
            "crash" => Self::Crash(String::read(value, path)?),
            "restart" => Self::Restart(String::read(value, path)?),
            "pause" => Self::Pause(String::read(value, path)?),
            "resume" => Self::Resume(String::read(value, path)?),
            "cut" => Self::Cut(Link::read(value, path)?),
            "heal" => Self::Heal(Link::read(value, path)?),
            "subscribe" => Self::Subscribe(Subscribe::read(value, path)?),
            "add-partitions" => Self::AddPartitions(AddPartitions::read(value, path)?),
            "commit" => Self::Commit(CommitSpec::read(value, path)?),
            "heartbeat" => Self::Heartbeat(HeartbeatSpec::read(value, path)?),
            "process" => Self::Process(Process::read(value, path)?),
            "close" => Self::Close(String::read(value, path)?),
            _ => Self::MoveCoordinator(String::read(value, path)?),
        })
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    fn schema() -> serde_json::Value {
        serde_json::from_str(&Scenario::json_schema()).expect("a schema is JSON")
    }

    fn definition<'a>(schema: &'a serde_json::Value, name: &str) -> &'a serde_json::Value {
        if name == "Scenario" { schema } else { &schema["$defs"][name] }
    }

    #[test]
    fn it_reads_the_fields_that_the_schema_has() {
        let schema = schema();
        for (name, fields) in RECORDS {
            let definition = definition(&schema, name);
            let properties = definition["properties"].as_object().unwrap_or_else(|| panic!("{name} is in the schema"));
            let expected: BTreeSet<&str> = properties.keys().map(String::as_str).collect();
            assert_eq!(fields.iter().copied().collect::<BTreeSet<_>>(), expected, "{name}");
            assert_eq!(definition["additionalProperties"], false, "{name}");
        }
    }

    #[test]
    fn it_reads_the_words_that_the_schema_has() {
        let schema = schema();
        for (name, words) in WORDS {
            let text = definition(&schema, name).to_string();
            for word in *words {
                assert!(text.contains(&format!("\"{word}\"")), "{name}: {word}");
            }
            assert_eq!(text.matches("\"const\"").count().max(words.len()), words.len(), "{name}: {text}");
        }
        let actions = definition(&schema, "Action").to_string();
        for action in ACTIONS {
            assert!(actions.contains(&format!("\"{action}\"")), "{action}");
        }
        assert_eq!(actions.matches("\"required\"").count(), ACTIONS.len());
    }

    #[test]
    fn every_lesson_is_read_back_as_it_is_written() {
        for lesson in crate::lessons::all() {
            let scenario = lesson.scenario();
            assert_eq!(Scenario::from_json(&scenario.to_json()).as_ref(), Ok(&scenario), "{}", lesson.id);
        }
    }

    #[test]
    fn errors_name_the_path_and_what_would_be_right() {
        let ends = r#""topics": {}, "consumers": []"#;
        let of = |json: &str| Scenario::from_json(json).expect_err(json);
        for (json, path, part) in [
            (format!(r#"{{"until": 5, {ends}}}"#), "until", "expected a length of time such as \"10s\""),
            (format!(r#"{{"until": "5", {ends}}}"#), "until", "no unit"),
            (format!(r#"{{{ends}}}"#), "", "missing field `until`"),
            (format!(r#"{{"until": "5s", "x": 1, {ends}}}"#), "x", "unknown field `x`, expected one of title"),
            (format!(r#"{{"until": "5s", "until": "6s", {ends}}}"#), "until", "twice"),
            (format!(r#"{{"until": "5s", "seed": -1, {ends}}}"#), "seed", "a whole number from 0"),
            (format!(r#"{{"until": "5s", "brokers": 65536, {ends}}}"#), "brokers", "from 0 to 65535"),
            (format!(r#"{{"until": "5s", "profile": "kafka", {ends}}}"#), "profile", "kafka-2015"),
            (format!(r#"{{"until": "5s", "network": {{"latency": "5s"}}, {ends}}}"#), "network.latency", "one field"),
            (
                format!(r#"{{"until": "5s", "network": {{"latency": {{"slow": "5s"}}}}, {ends}}}"#),
                "network.latency.slow",
                "heavy-tailed",
            ),
            (
                r#"{"until": "5s", "topics": {}, "consumers": [{"id": "C1", "topics": [1]}]}"#.to_owned(),
                "consumers[0].topics[0]",
                "a text, found a number",
            ),
            (
                format!(
                    r#"{{"until": "5s", "script": [{{"at": "1s", "do": {{"crash": "C1", "start": "C2"}}}}], {ends}}}"#
                ),
                "script[0].do",
                "found 2",
            ),
        ] {
            let error = of(&json);
            assert_eq!(error.path, path, "{json}");
            assert!(error.message.contains(part), "{json}: {error}");
        }
    }

    #[test]
    fn decimal_numbers_are_read_exactly() {
        let read = |text: &str| f64::read(&Json::Number(text.to_owned()), &Path::Root);
        assert_eq!((read("1.5"), read("0.1"), read("100"), read("2.675")), (Ok(1.5), Ok(0.1), Ok(100.0), Ok(2.675)));
        assert!(read("1e3").is_err() && read("-1").is_err() && read("0.1234567890123456").is_err());
    }
}
