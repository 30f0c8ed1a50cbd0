//! What to run: a scenario as people write it (JSON, with a JSON Schema), and the [`Plan`] it becomes once every name
//! and number in it has been checked. The simulation takes only plans, so it never meets a bad value.

mod plan;
mod read;

pub use plan::{CommitPlan, ConsumerPlan, GroupPlan, Order, Plan, Producer};

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;

use crate::error::InputError;
use crate::json;
use crate::time::Span;

/// Limits on the size of a scenario and of its run: no input can hang a reader or exhaust its memory.
pub mod limits {
    use crate::time::Span;

    /// Bytes of JSON.
    pub const JSON_BYTES: usize = 4 << 20;
    /// Brokers.
    pub const BROKERS: u16 = 100;
    /// Consumers.
    pub const CONSUMERS: usize = 100_000;
    /// Topics.
    pub const TOPICS: usize = 1_000;
    /// Partitions of all topics together, those that commands add included.
    pub const PARTITIONS: u64 = 100_000;
    /// Commands of the script.
    pub const COMMANDS: usize = 100_000;
    /// Steps of the picture.
    pub const STEPS: usize = 1_000;
    /// Characters of an id or a name.
    pub const NAME_CHARS: usize = 64;
    /// Characters of a title or an introduction.
    pub const TEXT_CHARS: usize = 4_000;
    /// Topics that all subscriptions of the scenario name, together.
    pub const SUBSCRIBED_TOPICS: usize = 1_000_000;
    /// Records of a run, each entry of the lists they hold counted as one more.
    pub const RECORDS: usize = 8_000_000;
    /// Records a second, produced or processed.
    pub const RATE: u32 = 1_000_000_000;
    /// Virtual time of a run.
    pub const RUN: Span = Span::from_secs(24 * 60 * 60);
    /// The shortest interval, timeout or back-off: what repeats must let time pass.
    pub const SHORTEST_INTERVAL: Span = Span::from_millis(1);
}

/// A scenario: who takes part, with which settings, and what happens to them.
#[derive(Clone, PartialEq, Debug, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Scenario {
    /// A few words that name it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub title: String,
    /// A paragraph that introduces it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub introduction: String,
    /// The group's name.
    #[serde(default = "default_group")]
    pub group: String,
    /// Where every random draw comes from.
    #[serde(default)]
    pub seed: u64,
    /// How long the run lasts.
    pub until: Span,
    /// How many brokers there are, B1 to Bn.
    #[serde(default = "default_brokers")]
    pub brokers: u16,
    /// The broker that is coordinator of the group, as a number from 1.
    #[serde(default = "default_coordinator")]
    pub coordinator: u16,
    /// The topics by name.
    pub topics: BTreeMap<String, Topic>,
    /// What holds for every consumer that does not say otherwise.
    #[serde(default)]
    pub defaults: ConsumerSettings,
    /// The consumers.
    pub consumers: Vec<ConsumerSpec>,
    /// The named set of settings that it starts from (decision 24).
    #[serde(default)]
    pub profile: Profile,
    /// The coordinator's settings, where they differ from the profile's.
    #[serde(default, skip_serializing_if = "GroupSettings::is_empty")]
    pub settings: GroupSettings,
    /// The network.
    #[serde(default)]
    pub network: Network,
    /// What happens when: commands and faults.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub script: Vec<Command>,
    /// How the run is drawn as a picture.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub picture: Option<Picture>,
}

/// A topic.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Topic {
    /// How many partitions it has at the start.
    pub partitions: u32,
    /// Records produced to each partition a second.
    #[serde(default)]
    pub produced_per_second: u32,
}

/// A consumer.
#[derive(Clone, PartialEq, Debug, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ConsumerSpec {
    /// Its name, `C1`; it keeps it for life.
    pub id: String,
    /// The topics it subscribes to when it starts.
    pub topics: Vec<String>,
    /// When it starts; without this it waits for a command.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start: Option<Span>,
    /// How long a message between it and any broker travels, where that differs from the network's latency.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub latency: Option<Latency>,
    /// Its own settings, where they differ from the scenario's `defaults`.
    #[serde(default, skip_serializing_if = "ConsumerSettings::is_empty")]
    pub settings: ConsumerSettings,
}

/// The settings of a consumer. Each falls back to the scenario's `defaults`, then to the value named here.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ConsumerSettings {
    /// How long the coordinator waits for a sign of life (HB3); 30s.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_timeout: Option<Span>,
    /// Time from one heartbeat to the next (HB1); a third of the session timeout (decision 21).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub heartbeat_interval: Option<Span>,
    /// Time from the answer to a join to the first heartbeat, where that is not the interval: what a client does that
    /// sets up its fetchers before its heartbeats; the heartbeat interval.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_heartbeat: Option<Span>,
    /// How long a heartbeat may go unanswered (HB4); two thirds of the session timeout, or `"off"` (decision 21).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub coordinator_timeout: Option<Limit>,
    /// How long to wait for the answer to a join (decision 6); the longest allowed session timeout and two thirds of
    /// the consumer's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub join_timeout: Option<Span>,
    /// How long to wait for a connection, or for the answer to a metadata request or a commit (decision 10); 2s.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_timeout: Option<Span>,
    /// How long to wait before the next broker is asked (decision 10); 100ms.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub back_off: Option<Span>,
    /// Time from one refresh of the metadata to the next (decision 14); 5m.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metadata_refresh: Option<Span>,
    /// Time from one commit of the consumer's own positions to the next; `"off"`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit_interval: Option<Limit>,
    /// Whether the application commits inside `onPartitionDeassigned()` (decision 8); `nothing`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub on_deassigned: Option<OnDeassigned>,
    /// How long a callback takes (AR2); 200ms.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub callback_time: Option<Span>,
    /// Records that it processes a second in each of its partitions (decision 12); 1000.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub processed_per_second: Option<u32>,
    /// What it does when the coordinator fails (decision 1); `resume`. In option 2 it always joins again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub on_coordinator_failure: Option<OnCoordinatorFailure>,
    /// What it does when its application closes it (decision 17); `silent`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub on_close: Option<OnClose>,
}

impl ConsumerSettings {
    fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// A time limit that can be switched off.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum Limit {
    /// No limit, written `"off"`.
    Off(Off),
    /// This long.
    After(Span),
}

/// The word `off`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Off {
    /// Switched off.
    Off,
}

impl Limit {
    /// The length of time, unless it is switched off.
    #[must_use]
    pub const fn span(self) -> Option<Span> {
        match self {
            Self::Off(Off::Off) => None,
            Self::After(span) => Some(span),
        }
    }
}

/// What the application does inside `onPartitionDeassigned()`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum OnDeassigned {
    /// Nothing that the group could see.
    #[default]
    Nothing,
    /// It commits its positions (decision 8).
    Commit,
}

/// What a consumer does when its coordinator fails (decision 1).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum OnCoordinatorFailure {
    /// It goes on fetching, finds the coordinator, and sends a heartbeat there; if that is valid it simply goes on.
    #[default]
    Resume,
    /// It stops fetching, gives its partitions up, and joins again.
    Rejoin,
    /// The same, as a consumer that the group has never seen: it forgets the id that the coordinator gave it (decision 16).
    RejoinAsNew,
}

/// What a consumer does when its application closes it (decision 17).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum OnClose {
    /// It tells nobody; the coordinator finds out by HB3.
    #[default]
    Silent,
    /// It tells the coordinator that it leaves the group.
    Leave,
}

/// A named set of settings (decision 24). What the scenario sets itself goes before it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, JsonSchema)]
pub enum Profile {
    /// The document, rebalancing by an error code.
    #[default]
    #[serde(rename = "document-option-1")]
    DocumentOption1,
    /// The document, rebalancing by closing sockets.
    #[serde(rename = "document-option-2")]
    DocumentOption2,
    /// Kafka as it stood in October 2015.
    #[serde(rename = "kafka-2015")]
    Kafka2015,
}

/// The coordinator's settings.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct GroupSettings {
    /// How the coordinator tells the members of a rebalance: option 1 or option 2; `error-code`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rebalance: Option<RebalanceBy>,
    /// How partitions are assigned (decision 13); `range`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub assignment: Option<AssignmentStrategy>,
    /// The shortest session timeout that a member may ask for (decision 9); 1ms.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min_session_timeout: Option<Span>,
    /// The longest session timeout that a member may ask for (decision 9); 5m.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_session_timeout: Option<Span>,
    /// How many members the group may have (decision 9); no bound.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_size: Option<u32>,
    /// How often the coordinator looks for new partitions (decision 14); 5s.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub partition_check: Option<Span>,
    /// What a new coordinator, or one that crashed, finds of the group (decision 2); `replicated`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub state: Option<GroupStateKept>,
    /// How long the coordinator must be down or paused before the role moves (decision 10); 3s.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub takeover_delay: Option<Span>,
    /// How long until the other brokers have learned of a move (decision 10); 200ms.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub metadata_propagation: Option<Span>,
    /// Who names the members (decision 16); `consumer`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub member_ids: Option<MemberIds>,
    /// What becomes of a rebalance when a member's join does not come (decision 18); `retry`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub missing_join: Option<MissingJoin>,
    /// How long a rebalance waits for a member's join (decisions 5 and 24); `own`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub join_window: Option<JoinWindow>,
    /// Which members that go during a rebalance make the coordinator look whether all others have joined (decision 24); `all`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub completion_check: Option<CompletionCheck>,
    /// What a join does that changes nothing (decision 24); `rebalance`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unchanged_join: Option<UnchangedJoin>,
    /// Which requests count as a sign of life (decisions 19 and 24); `all`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub heard: Option<Heard>,
    /// Whose errors are answered (decisions 20 and 24); `document`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dialect: Option<Dialect>,
}

impl GroupSettings {
    fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// How the coordinator tells the members of a rebalance.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum RebalanceBy {
    /// Option 1: an error code in the answers to their heartbeats (EC0).
    #[default]
    ErrorCode,
    /// Option 2: it closes their sockets (SC0).
    SocketClose,
}

/// Who names the members (decision 16).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum MemberIds {
    /// Each consumer has one name for life, so that one that restarts is known.
    #[default]
    Consumer,
    /// The id is given out with the first answer to a join: a process that restarts is a new member, and a join that is abandoned leaves a ghost until its session ends.
    Coordinator,
}

/// What becomes of a rebalance when a member's join does not come (decision 18).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum MissingJoin {
    /// The member is removed and the rebalance starts again (EC4).
    #[default]
    Retry,
    /// The member is removed and the others are answered at once, as Kafka did.
    Complete,
}

/// How long a rebalance waits for a member's join.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum JoinWindow {
    /// The member's own session timeout (decision 5).
    #[default]
    Own,
    /// The longest session timeout in the group, for all.
    Longest,
    /// The same time for every member, whatever its session timeout.
    Fixed(Span),
}

/// Which members that go during a rebalance make the coordinator look at once whether all the others have joined. Where
/// it does not look, the rebalance waits for the next join, or for the end of its window.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CompletionCheck {
    /// Those that fail and those that leave.
    #[default]
    All,
    /// Only those that leave, as in Kafka of October 2015.
    Left,
    /// None: a known mistake of other coordinators.
    Never,
}

/// What a join of a known member with its known subscription does to a stable group.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum UnchangedJoin {
    /// It makes the group rebalance, like any join (RB2).
    #[default]
    Rebalance,
    /// It is answered with the present assignment.
    Answer,
}

/// Which requests of a member count as a sign of life for HB3.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Heard {
    /// Any (decision 19).
    #[default]
    All,
    /// Joins, and heartbeats that are answered without an error.
    Valid,
}

/// Whose errors are answered.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Dialect {
    /// This project's reading of the document (decision 20).
    #[default]
    Document,
    /// Kafka's of October 2015: joins name a strategy, and an unknown or inconsistent one is refused; an id that was not given out is unknown; a commit to an unknown group has an illegal generation, and one with no id and no generation is stored.
    #[serde(rename = "kafka-2015")]
    Kafka2015,
}

/// How partitions are assigned, as Kafka defines them (decision 13).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum AssignmentStrategy {
    /// Topic by topic, a run of neighbouring partitions for each consumer.
    #[default]
    Range,
    /// All partitions dealt out in turn.
    RoundRobin,
}

/// What a new coordinator finds of the group, or one that crashed when it returns (decision 2).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum GroupStateKept {
    /// Members, generation, assignment and whether a rebalance is open.
    #[default]
    Replicated,
    /// Nothing; committed offsets survive all the same.
    Lost,
}

/// The network.
#[derive(Clone, PartialEq, Debug, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Network {
    /// How long a message travels.
    pub latency: Latency,
    /// Of every million messages, how many are lost, each by itself.
    pub lost_per_million: u32,
}

impl Default for Network {
    fn default() -> Self {
        Self { latency: Latency::Fixed(Span::from_millis(10)), lost_per_million: 0 }
    }
}

/// How long a message travels.
#[derive(Clone, PartialEq, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Latency {
    /// Always this long.
    Fixed(Span),
    /// Anything from `min` to `max`, each microsecond as likely.
    Uniform(UniformLatency),
    /// Mostly near `min`, now and then far more: a Pareto distribution, cut off at `max`.
    HeavyTailed(HeavyTailedLatency),
}

/// A latency anywhere between two bounds.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct UniformLatency {
    /// The shortest.
    pub min: Span,
    /// The longest.
    pub max: Span,
}

/// A latency with a heavy tail.
#[derive(Clone, PartialEq, Debug, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HeavyTailedLatency {
    /// The shortest, which is also the most likely.
    pub min: Span,
    /// The longest: what would be longer is cut to this.
    pub max: Span,
    /// The shape (Pareto's alpha), from 0.1 to 100: the smaller, the heavier the tail. A mean exists above 1.
    pub shape: f64,
}

/// Something that happens at a given time.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Command {
    /// When.
    pub at: Span,
    /// What.
    #[serde(rename = "do")]
    pub action: Action,
}

/// What a command does. Nodes are named as `C1` (a consumer's id) or `B1` (the first broker).
#[derive(Clone, PartialEq, Eq, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Action {
    /// Start a consumer that is not running.
    Start(String),
    /// End a process without warning.
    Crash(String),
    /// Start a crashed or closed process again.
    Restart(String),
    /// Make a process stand still.
    Pause(String),
    /// Let a paused process go on.
    Resume(String),
    /// Cut the link between a consumer and a broker.
    Cut(Link),
    /// Heal it.
    Heal(Link),
    /// Change a consumer's subscription (ST1).
    Subscribe(Subscribe),
    /// Add partitions to a topic (RB3).
    AddPartitions(AddPartitions),
    /// Make a consumer commit (OC1 to OC5).
    Commit(CommitSpec),
    /// Make a consumer send a heartbeat by hand (decision 23).
    Heartbeat(HeartbeatSpec),
    /// Keep a consumer's only thread busy (AR2).
    Process(Process),
    /// Close a consumer in good order (decision 17).
    Close(String),
    /// Move the coordinator's role to another broker (decision 10).
    MoveCoordinator(String),
}

/// A link.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Link {
    /// The consumer.
    pub consumer: String,
    /// The broker, `B1`; without it the links to all brokers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub broker: Option<String>,
}

/// A change of subscription.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Subscribe {
    /// Whose.
    pub consumer: String,
    /// The new list.
    pub topics: Vec<String>,
}

/// New partitions.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AddPartitions {
    /// Of which topic.
    pub topic: String,
    /// How many more.
    pub count: u32,
}

/// A commit. What is not given is the consumer's own: its member id, its generation, its positions in the partitions
/// it owns (decision 23).
#[derive(Clone, PartialEq, Eq, Debug, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CommitSpec {
    /// Whose.
    pub consumer: String,
    /// In whose name: another consumer's id, or `C1#2` for the second id that the coordinator gave to C1 (decision 16).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub member: Option<String>,
    /// With which generation number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub generation: Option<u32>,
    /// Which offsets, by partition as in `orders-3`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub offsets: Option<BTreeMap<String, u64>>,
}

/// A heartbeat by hand (decision 23).
#[derive(Clone, PartialEq, Eq, Debug, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HeartbeatSpec {
    /// Whose.
    pub consumer: String,
    /// In whose name: another consumer's id, or `C1#2` for the second id that the coordinator gave to C1 (decision 16).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub member: Option<String>,
    /// With which generation number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub generation: Option<u32>,
}

/// Slow processing.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Process {
    /// Whose thread.
    pub consumer: String,
    /// For how long.
    #[serde(rename = "for")]
    pub takes: Span,
}

/// How a run is drawn as a picture with the document's steps.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Picture {
    /// Where the picture begins; what comes before is folded away.
    #[serde(default)]
    pub from: Span,
    /// What to do with heartbeats that change nothing.
    #[serde(default)]
    pub heartbeats: Heartbeats,
    /// Dividers in their order, each where something first happens after the one before.
    #[serde(default)]
    pub steps: Vec<StepSpec>,
}

/// What a picture does with heartbeats that change nothing.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Heartbeats {
    /// Folds them into one line.
    #[default]
    Fold,
    /// Shows each.
    Show,
}

/// A divider of a picture.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StepSpec {
    /// The document's number, as `2/3`.
    pub label: String,
    /// What begins it.
    pub begins: Trigger,
}

/// What begins a step of the picture: the first such event after the step before began.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Trigger {
    /// A metadata request is sent.
    MetadataSent,
    /// A join is sent.
    JoinSent,
    /// A heartbeat is sent.
    HeartbeatSent,
    /// A commit is sent.
    CommitSent,
    /// A consumer stops fetching.
    FetchStopped,
    /// A consumer changes its subscription while it runs.
    SubscriptionChanged,
    /// The coordinator computes an assignment.
    AssignmentComputed,
    /// A rebalance starts again.
    RebalanceRetried,
    /// A process crashes.
    ProcessCrashed,
    /// A process stands still.
    ProcessPaused,
    /// A process goes on.
    ProcessResumed,
    /// A thread is kept by slow processing.
    ProcessingStarted,
    /// A heartbeat is refused for its generation or its member.
    HeartbeatRefused,
    /// A consumer treats the coordinator as failed.
    CoordinatorFailed,
    /// The role of coordinator moves.
    CoordinatorMoved,
    /// A rebalance begins.
    RebalanceStarted,
    /// A member is removed from the group.
    MemberRemoved,
    /// A commit is checked against the three conditions.
    CommitChecked,
    /// A join is refused for good.
    ConsumerThrew,
    /// Offsets are dropped and reported to the application.
    OffsetsDropped,
}

fn default_group() -> String {
    "billing".to_owned()
}

const fn default_brokers() -> u16 {
    1
}

const fn default_coordinator() -> u16 {
    1
}

impl Scenario {
    /// Reads a scenario.
    ///
    /// # Errors
    /// Where the text is no JSON, or no scenario: the path to the bad value and what would be right. Names and numbers
    /// are checked by [`Scenario::plan`].
    pub fn from_json(text: &str) -> Result<Self, InputError> {
        if text.len() > limits::JSON_BYTES {
            let message = format!("the scenario has {} bytes, at most {} are read", text.len(), limits::JSON_BYTES);
            return Err(InputError::new("", message));
        }
        read::Read::read(&json::parse(text)?, &read::Path::Root)
    }

    /// The scenario as JSON, with two spaces of indentation; [`Scenario::from_json`] reads it back.
    ///
    /// # Panics
    /// Never: every part of a scenario can be written as JSON.
    #[must_use]
    pub fn to_json(&self) -> String {
        serde_json::to_string_pretty(self).expect("a scenario has only text keys and finite numbers")
    }

    /// The JSON Schema of scenarios, as JSON with two spaces of indentation.
    ///
    /// # Panics
    /// Never: a schema is JSON.
    #[must_use]
    pub fn json_schema() -> String {
        serde_json::to_string_pretty(&schemars::schema_for!(Self)).expect("a schema is JSON")
    }
}
