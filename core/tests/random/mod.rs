//! A generator of scenarios that come everywhere the protocol can: few consumers, short sessions, and every command and
//! fault at times that often coincide.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use groupscope_core::scenario::{
    Action, AddPartitions, AssignmentStrategy, Command, CommitSpec, ConsumerSettings, ConsumerSpec, Dialect,
    GroupSettings, GroupStateKept, Heard, HeartbeatSpec, HeavyTailedLatency, JoinWindow, Latency, Limit, Link,
    MemberIds, MissingJoin, Network, Off, OnClose, OnCoordinatorFailure, OnDeassigned, Plan, Process, Profile,
    RebalanceBy, Scenario, Subscribe, Topic, UnchangedJoin, UniformLatency,
};
use groupscope_core::time::Span;
use proptest::collection::{btree_map, vec};
use proptest::option;
use proptest::prelude::*;
use proptest::sample::{Index, select, subsequence};
use proptest::strategy::ValueTree;
use proptest::test_runner::{RngSeed, TestRunner};

/// The topics that scenarios choose from.
const TOPICS: [&str; 3] = ["clicks", "orders", "payments"];
/// The consumers; their names sort otherwise than they stand.
const CONSUMERS: [&str; 5] = ["C1", "C2", "C10", "A", "Z"];

/// So many cases, unless the environment asks for others; the same ones in each run, unless it asks for a seed.
pub(crate) fn config(cases: u32) -> ProptestConfig {
    let mut config = ProptestConfig { failure_persistence: None, ..ProptestConfig::default() };
    if std::env::var_os("PROPTEST_CASES").is_none() {
        config.cases = cases;
    }
    if std::env::var_os("PROPTEST_RNG_SEED").is_none() {
        config.rng_seed = RngSeed::Fixed(2015);
    }
    config
}

/// A scenario that shows itself as the JSON to run it with.
#[derive(Clone, PartialEq)]
pub(crate) struct Case(pub(crate) Scenario);

impl fmt::Debug for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.to_json())
    }
}

impl Case {
    pub(crate) fn plan(&self) -> Arc<Plan> {
        self.0.plan().unwrap_or_else(|error| panic!("the generator makes only plans: {error}\n{self:?}"))
    }

    /// The same scenario with one more command, somewhere in its script.
    pub(crate) fn with_command(&self, command: Command, place: Index) -> Self {
        let mut scenario = self.0.clone();
        let command = Command { action: fitting(command.action, &scenario), ..command };
        let place = place.index(scenario.script.len() + 1);
        scenario.script.insert(place, command);
        Self(scenario)
    }
}

/// Cases one after the other, without a property.
pub(crate) fn runs_of(runner: &mut TestRunner, count: usize) -> Vec<Case> {
    let tree = |runner: &mut TestRunner| arbitrary_case().new_tree(runner).expect("a case").current();
    (0..count).map(|_| tree(runner)).collect()
}

prop_compose! {
    pub(crate) fn arbitrary_case()(
        seed in any::<u64>(),
        until in 20..150u64,
        brokers in 1..=3u16,
        coordinator in 1..=3u16,
        topics in btree_map(select(&TOPICS[..]).prop_map(str::to_owned), arbitrary_topic(), 1..=3),
        defaults in arbitrary_settings().boxed(),
        consumers in vec(arbitrary_consumer().boxed(), 1..=5),
        profile in arbitrary_profile(),
        settings in arbitrary_group().boxed(),
        network in arbitrary_network().boxed(),
        script in vec(arbitrary_incident().boxed(), 0..8),
    ) -> Case {
        let mut scenario = Scenario {
            title: String::new(),
            introduction: String::new(),
            group: "billing".to_owned(),
            seed,
            until: Span::from_secs(until),
            brokers,
            coordinator: coordinator.min(brokers),
            topics,
            defaults,
            consumers,
            profile,
            settings,
            network,
            script: Vec::new(),
            picture: None,
        };
        for (consumer, name) in scenario.consumers.iter_mut().zip(CONSUMERS) {
            consumer.id = name.to_owned();
            consumer.topics.retain(|topic| scenario.topics.contains_key(topic));
        }
        let script = script.into_iter().flatten();
        scenario.script = script.map(|c| Command { action: fitting(c.action, &scenario), ..c }).collect();
        Case(scenario)
    }
}

fn arbitrary_topic() -> impl Strategy<Value = Topic> {
    (0..=6u32, prop_oneof![Just(0), Just(10), 0..=1_000u32])
        .prop_map(|(partitions, produced_per_second)| Topic { partitions, produced_per_second })
}

fn topic_list() -> impl Strategy<Value = Vec<String>> {
    let names: Vec<String> = TOPICS.map(str::to_owned).to_vec();
    subsequence(names, 0..=3).prop_shuffle()
}

/// Lengths of time that often coincide, and now and then do not.
fn span(longest_millis: u64) -> impl Strategy<Value = Span> {
    prop_oneof![
        4 => (0..=longest_millis / 1_000).prop_map(Span::from_secs),
        4 => (0..=longest_millis / 100).prop_map(|tenths| Span::from_millis(tenths * 100)),
        1 => (0..=longest_millis * 1_000).prop_map(Span::from_micros),
    ]
}

fn interval(longest_millis: u64) -> impl Strategy<Value = Span> {
    span(longest_millis).prop_map(|span| span.max(Span::from_millis(100)))
}

fn seldom<T: fmt::Debug + Clone>(strategy: impl Strategy<Value = T>) -> impl Strategy<Value = Option<T>> {
    option::weighted(0.15, strategy)
}

fn limit(longest_millis: u64) -> impl Strategy<Value = Limit> {
    prop_oneof![1 => Just(Limit::Off(Off::Off)), 3 => interval(longest_millis).prop_map(Limit::After)]
}

prop_compose! {
    fn arbitrary_settings()(
        session_timeout in option::weighted(0.7, interval(12_000)),
        heartbeat_interval in seldom(interval(6_000)),
        coordinator_timeout in seldom(limit(8_000)),
        join_timeout in seldom(interval(30_000)),
        request_timeout in seldom(interval(4_000)),
        back_off in seldom(interval(1_000)),
        metadata_refresh in option::weighted(0.3, interval(20_000)),
        commit_interval in option::weighted(0.4, limit(5_000)),
        on_deassigned in option::of(select(vec![OnDeassigned::Nothing, OnDeassigned::Commit])),
        callback_time in option::weighted(0.5, span(2_000)),
        processed_per_second in option::weighted(0.5, 0..2_000u32),
        on_coordinator_failure in
            option::of(select(vec![OnCoordinatorFailure::Resume, OnCoordinatorFailure::Rejoin])),
        on_close in option::of(select(vec![OnClose::Silent, OnClose::Leave])),
    ) -> ConsumerSettings {
        ConsumerSettings {
            first_heartbeat: None,
            session_timeout,
            heartbeat_interval,
            coordinator_timeout,
            join_timeout,
            request_timeout,
            back_off,
            metadata_refresh,
            commit_interval,
            on_deassigned,
            callback_time,
            processed_per_second,
            on_coordinator_failure,
            on_close,
        }
    }
}

prop_compose! {
    fn arbitrary_consumer()(
        topics in topic_list(),
        start in option::weighted(0.9, span(10_000)),
        latency in seldom(arbitrary_latency()),
        settings in prop_oneof![2 => Just(ConsumerSettings::default()), 1 => arbitrary_settings().boxed()],
    ) -> ConsumerSpec {
        ConsumerSpec { id: String::new(), topics, start, latency, settings }
    }
}

/// One of these, or what the profile has.
fn set<T: fmt::Debug + Clone + 'static>(values: &[T]) -> impl Strategy<Value = Option<T>> {
    option::weighted(0.3, select(values.to_vec()))
}

fn arbitrary_profile() -> impl Strategy<Value = Profile> {
    prop_oneof![
        3 => Just(Profile::DocumentOption1),
        2 => Just(Profile::DocumentOption2),
        1 => Just(Profile::Kafka2015),
    ]
}

prop_compose! {
    fn arbitrary_group()(
        bounds in (seldom(1..2_000u64), interval(20_000), seldom(1..5u32)),
        intervals in (interval(6_000), option::of(interval(6_000)), option::of(span(1_000))),
        rebalance in seldom(select(vec![RebalanceBy::ErrorCode, RebalanceBy::SocketClose])),
        assignment in set(&[AssignmentStrategy::Range, AssignmentStrategy::RoundRobin]),
        state in set(&[GroupStateKept::Replicated, GroupStateKept::Lost]),
        member_ids in seldom(select(vec![MemberIds::Consumer, MemberIds::Coordinator])),
        missing_join in set(&[MissingJoin::Retry, MissingJoin::Complete]),
        join_window in seldom(select(vec![JoinWindow::Own, JoinWindow::Longest])),
        unchanged_join in seldom(select(vec![UnchangedJoin::Rebalance, UnchangedJoin::Answer])),
        heard in seldom(select(vec![Heard::All, Heard::Valid])),
        dialect in seldom(select(vec![Dialect::Document, Dialect::Kafka2015])),
    ) -> GroupSettings {
        let (shortest, max_session_timeout, max_size) = bounds;
        let (partition_check, takeover_delay, metadata_propagation) = intervals;
        GroupSettings {
            completion_check: None,
            rebalance,
            assignment,
            min_session_timeout: shortest.map(|millis| Span::from_millis(millis).min(max_session_timeout)),
            max_session_timeout: Some(max_session_timeout),
            max_size,
            partition_check: Some(partition_check),
            state,
            takeover_delay,
            metadata_propagation,
            member_ids,
            missing_join,
            join_window,
            unchanged_join,
            heard,
            dialect,
        }
    }
}

fn arbitrary_latency() -> impl Strategy<Value = Latency> {
    let bounds = (0..100u64, 0..400u64).prop_map(|(min, more)| (Span::from_millis(min), Span::from_millis(min + more)));
    prop_oneof![
        3 => span(200).prop_map(Latency::Fixed),
        2 => bounds.clone().prop_map(|(min, max)| Latency::Uniform(UniformLatency { min, max })),
        1 => (bounds, 5..40u32).prop_map(|((min, max), tenths)| {
            let min = min.max(Span::from_millis(1));
            Latency::HeavyTailed(HeavyTailedLatency { min, max: max.max(min), shape: f64::from(tenths) / 10.0 })
        }),
    ]
}

fn arbitrary_network() -> impl Strategy<Value = Network> {
    let loss = prop_oneof![3 => Just(0), 1 => 0..300_000u32, 1 => Just(20_000u32)];
    (arbitrary_latency(), loss).prop_map(|(latency, lost_per_million)| Network { latency, lost_per_million })
}

/// A command, or a fault and its end: two commands drawn apart seldom make a pair.
fn arbitrary_incident() -> impl Strategy<Value = Vec<Command>> {
    let node = || (0..8u8).prop_map(|node| node.to_string());
    let pair = prop_oneof![
        2 => node().prop_map(|node| (Action::Crash(node.clone()), Action::Restart(node))),
        2 => node().prop_map(|node| (Action::Pause(node.clone()), Action::Resume(node))),
        1 => arbitrary_link().prop_map(|link| (Action::Cut(link.clone()), Action::Heal(link))),
    ];
    let pair = (span(60_000), span(20_000), pair).prop_map(|(at, lasts, (fault, end))| {
        vec![Command { at, action: fault }, Command { at: at + lasts, action: end }]
    });
    prop_oneof![2 => arbitrary_command().prop_map(|command| vec![command]), 1 => pair]
}

fn arbitrary_link() -> impl Strategy<Value = Link> {
    let broker = option::of((0..3u8).prop_map(|broker| broker.to_string()));
    ((0..5u8).prop_map(|consumer| consumer.to_string()), broker)
        .prop_map(|(consumer, broker)| Link { consumer, broker })
}

/// A command whose names are numbers still; [`fitting`] makes them those of a scenario.
pub(crate) fn arbitrary_command() -> impl Strategy<Value = Command> {
    (span(120_000), arbitrary_action()).prop_map(|(at, action)| Command { at, action })
}

fn arbitrary_action() -> impl Strategy<Value = Action> {
    let any_node = || (0..8u8).prop_map(|node| node.to_string());
    let consumer = || (0..5u8).prop_map(|consumer| consumer.to_string());
    prop_oneof![
        2 => consumer().prop_map(Action::Start),
        3 => any_node().prop_map(Action::Crash),
        3 => any_node().prop_map(Action::Restart),
        3 => any_node().prop_map(Action::Pause),
        3 => any_node().prop_map(Action::Resume),
        2 => arbitrary_link().prop_map(Action::Cut),
        2 => arbitrary_link().prop_map(Action::Heal),
        2 => (consumer(), topic_list()).prop_map(|(consumer, topics)| {
            Action::Subscribe(Subscribe { consumer, topics })
        }),
        1 => (select(&TOPICS[..]), 1..4u32).prop_map(|(topic, count)| {
            Action::AddPartitions(AddPartitions { topic: topic.to_owned(), count })
        }),
        2 => arbitrary_commit().prop_map(Action::Commit),
        1 => (consumer(), seldom(consumer()), option::of(0..6u32)).prop_map(|(consumer, member, generation)| {
            Action::Heartbeat(HeartbeatSpec { consumer, member, generation })
        }),
        2 => (consumer(), span(15_000)).prop_map(|(consumer, takes)| Action::Process(Process { consumer, takes })),
        2 => consumer().prop_map(Action::Close),
        1 => (0..3u8).prop_map(|broker| Action::MoveCoordinator(broker.to_string())),
    ]
}

prop_compose! {
    fn arbitrary_commit()(
        consumer in 0..5u8,
        member in seldom(0..5u8),
        generation in seldom(0..6u32),
        offsets in seldom(btree_map((0..3usize, 0..5u32), 0..500u64, 1..3)),
    ) -> CommitSpec {
        let named = |offsets: BTreeMap<(usize, u32), u64>| {
            offsets.into_iter().map(|((topic, index), offset)| (format!("{}-{index}", TOPICS[topic]), offset)).collect()
        };
        CommitSpec {
            consumer: consumer.to_string(),
            member: member.map(|member| member.to_string()),
            generation,
            offsets: offsets.map(named),
        }
    }
}

/// An action about nodes and topics that the scenario has.
fn fitting(action: Action, scenario: &Scenario) -> Action {
    let fit = Fit { scenario };
    match action {
        Action::Start(consumer) => Action::Start(fit.consumer(&consumer)),
        Action::Crash(node) => Action::Crash(fit.node(&node)),
        Action::Restart(node) => Action::Restart(fit.node(&node)),
        Action::Pause(node) => Action::Pause(fit.node(&node)),
        Action::Resume(node) => Action::Resume(fit.node(&node)),
        Action::Cut(link) => Action::Cut(fit.link(&link)),
        Action::Heal(link) => Action::Heal(fit.link(&link)),
        Action::Subscribe(Subscribe { consumer, mut topics }) => {
            topics.retain(|topic| scenario.topics.contains_key(topic));
            Action::Subscribe(Subscribe { consumer: fit.consumer(&consumer), topics })
        }
        Action::AddPartitions(add) => Action::AddPartitions(AddPartitions { topic: fit.topic(&add.topic), ..add }),
        Action::Commit(commit) => {
            let offsets = commit.offsets.map(|offsets| {
                let known = |(name, _): &(String, u64)| scenario.topics.keys().any(|topic| name.starts_with(topic));
                offsets.into_iter().filter(known).collect()
            });
            let member = commit.member.map(|member| fit.consumer(&member));
            Action::Commit(CommitSpec { consumer: fit.consumer(&commit.consumer), member, offsets, ..commit })
        }
        Action::Heartbeat(beat) => {
            let member = beat.member.map(|member| fit.consumer(&member));
            Action::Heartbeat(HeartbeatSpec { consumer: fit.consumer(&beat.consumer), member, ..beat })
        }
        Action::Process(process) => Action::Process(Process { consumer: fit.consumer(&process.consumer), ..process }),
        Action::Close(consumer) => Action::Close(fit.consumer(&consumer)),
        Action::MoveCoordinator(broker) => Action::MoveCoordinator(fit.broker(&broker)),
    }
}

struct Fit<'a> {
    scenario: &'a Scenario,
}

impl Fit<'_> {
    fn number(name: &str) -> usize {
        name.parse().unwrap_or_default()
    }

    fn consumer(&self, name: &str) -> String {
        let consumers = &self.scenario.consumers;
        // A name that fits already stays: a command may be fitted twice.
        if consumers.iter().any(|consumer| consumer.id == name) {
            return name.to_owned();
        }
        consumers[Self::number(name) % consumers.len()].id.clone()
    }

    fn broker(&self, name: &str) -> String {
        let number =
            if let Some(number) = name.strip_prefix('B') { Self::number(number) - 1 } else { Self::number(name) };
        format!("B{}", number % usize::from(self.scenario.brokers) + 1)
    }

    /// The first five are consumers, the others brokers: of those the coordinator is the most interesting.
    fn node(&self, name: &str) -> String {
        match name.parse() {
            Ok(number @ 0..5usize) => self.consumer(&number.to_string()),
            Ok(5 | 6) => format!("B{}", self.scenario.coordinator),
            Ok(number) => self.broker(&number.to_string()),
            Err(_) => name.to_owned(),
        }
    }

    fn link(&self, link: &Link) -> Link {
        let broker = link.broker.as_ref().map(|broker| self.broker(broker));
        Link { consumer: self.consumer(&link.consumer), broker }
    }

    fn topic(&self, name: &str) -> String {
        let topics = &self.scenario.topics;
        let known = topics.keys().find(|topic| *topic == name).or_else(|| topics.keys().next());
        known.cloned().unwrap_or_default()
    }
}

/// The words of every fact that a run of these scenarios can hold: all but the one that its limit is reached.
pub(crate) const WORDS: [&str; 43] = [
    "process-started",
    "process-crashed",
    "process-closed",
    "process-paused",
    "process-resumed",
    "link-cut",
    "link-healed",
    "partitions-added",
    "command-ignored",
    "channel-opening",
    "channel-opened",
    "channel-closed",
    "sent",
    "received",
    "dropped",
    "subscribed",
    "coordinator-found",
    "coordinator-failed",
    "topic-change-seen",
    "generation-recorded",
    "callback-started",
    "callback-returned",
    "fetch-started",
    "fetch-stopped",
    "processing-started",
    "processing-ended",
    "resume-expired",
    "consumer-threw",
    "offsets-dropped",
    "member-added",
    "member-removed",
    "rebalance-started",
    "join-held",
    "rebalance-retried",
    "assignment-computed",
    "group-forgotten",
    "group-recovered",
    "group-state-lost",
    "coordinator-moved",
    "coordinator-resigned",
    "coordinator-learned",
    "commit-checked",
    "offsets-appended",
];
