//! A scenario with every name resolved and every number checked.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::{
    Action, AssignmentStrategy, CommitSpec, CompletionCheck, ConsumerSettings, ConsumerSpec, Dialect, GroupSettings,
    GroupStateKept, Heard, HeartbeatSpec, JoinWindow, Latency, Limit, Link, MemberIds, MissingJoin, OnClose,
    OnCoordinatorFailure, OnDeassigned, Picture, Profile, RebalanceBy, Scenario, UnchangedJoin, limits,
};
use crate::cast::{Cast, broker_name};
use crate::error::InputError;
use crate::id::{BrokerId, ConsumerId, MemberId, NodeId, Offset, Partition, TopicId};
use crate::map::{Map, Set};
use crate::message::{NamedStrategy, Offsets, Topics};
use crate::time::{Span, Time};

/// A scenario that can be run: names are ids, settings are filled in, limits hold.
#[derive(Clone, PartialEq, Debug)]
pub struct Plan {
    /// Who takes part.
    pub cast: Arc<Cast>,
    /// Where every random draw comes from.
    pub seed: u64,
    /// When the run ends.
    pub until: Time,
    /// For each topic how it is produced to.
    pub producers: Vec<Producer>,
    /// For each consumer its settings.
    pub consumers: Vec<Arc<ConsumerPlan>>,
    /// The coordinator's settings.
    pub settings: GroupPlan,
    /// Of every million messages, how many are lost.
    pub lost_per_million: u32,
    /// What happens when, in order of time; at one time in the script's order, consumers' starts first.
    pub orders: Vec<(Time, Order)>,
    /// How the run is drawn.
    pub picture: Option<Picture>,
}

/// A topic's partitions at the start and how they are produced to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Producer {
    /// How many partitions it has at the start.
    pub partitions: u32,
    /// Records produced to each of them a second.
    pub produced_per_second: u32,
}

/// The coordinator's settings, filled in.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct GroupPlan {
    /// Option 1 or option 2.
    pub rebalance: RebalanceBy,
    /// Decision 13.
    pub assignment: AssignmentStrategy,
    /// Decision 9.
    pub min_session_timeout: Span,
    /// Decision 9.
    pub max_session_timeout: Span,
    /// Decision 9; `None` without a bound.
    pub max_size: Option<u32>,
    /// Decision 14.
    pub partition_check: Span,
    /// Decision 2.
    pub state: GroupStateKept,
    /// Decision 10.
    pub takeover_delay: Span,
    /// Decision 10.
    pub metadata_propagation: Span,
    /// Decision 16.
    pub member_ids: MemberIds,
    /// Decision 18.
    pub missing_join: MissingJoin,
    /// Decisions 5 and 24.
    pub join_window: JoinWindow,
    /// Decision 24.
    pub completion_check: CompletionCheck,
    /// Decision 24.
    pub unchanged_join: UnchangedJoin,
    /// Decisions 19 and 24.
    pub heard: Heard,
    /// Decisions 20 and 24.
    pub dialect: Dialect,
}

impl GroupPlan {
    /// The settings of a profile (decision 24), with what a scenario sets itself.
    #[must_use]
    pub fn new(profile: Profile, own: &GroupSettings) -> Self {
        let kafka = profile == Profile::Kafka2015;
        let rebalance = match profile {
            Profile::DocumentOption2 => RebalanceBy::SocketClose,
            Profile::DocumentOption1 | Profile::Kafka2015 => RebalanceBy::ErrorCode,
        };
        Self {
            rebalance: own.rebalance.unwrap_or(rebalance),
            assignment: own.assignment.unwrap_or_default(),
            min_session_timeout: own.min_session_timeout.unwrap_or(limits::SHORTEST_INTERVAL),
            max_session_timeout: own.max_session_timeout.unwrap_or(Span::from_secs(300)),
            max_size: own.max_size,
            partition_check: own.partition_check.unwrap_or(Span::from_secs(5)),
            state: own.state.unwrap_or(if kafka { GroupStateKept::Lost } else { GroupStateKept::Replicated }),
            takeover_delay: own.takeover_delay.unwrap_or(Span::from_secs(3)),
            metadata_propagation: own.metadata_propagation.unwrap_or(Span::from_millis(200)),
            member_ids: own.member_ids.unwrap_or(if kafka { MemberIds::Coordinator } else { MemberIds::Consumer }),
            missing_join: own.missing_join.unwrap_or(if kafka { MissingJoin::Complete } else { MissingJoin::Retry }),
            join_window: own.join_window.unwrap_or(if kafka { JoinWindow::Longest } else { JoinWindow::Own }),
            completion_check: own.completion_check.unwrap_or_default(),
            unchanged_join: own.unchanged_join.unwrap_or(if kafka {
                UnchangedJoin::Answer
            } else {
                UnchangedJoin::Rebalance
            }),
            heard: own.heard.unwrap_or(if kafka { Heard::Valid } else { Heard::All }),
            dialect: own.dialect.unwrap_or(if kafka { Dialect::Kafka2015 } else { Dialect::Document }),
        }
    }
}

/// A consumer's settings, filled in.
#[derive(Clone, PartialEq, Debug)]
pub struct ConsumerPlan {
    /// Who.
    pub id: ConsumerId,
    /// The name that it has for life.
    pub member: MemberId,
    /// The topics it subscribes to when it starts.
    pub topics: Topics,
    /// How long a message between it and any broker travels.
    pub latency: Latency,
    /// HB3.
    pub session_timeout: Span,
    /// HB1.
    pub heartbeat_interval: Span,
    /// Time from the answer to a join to the first heartbeat.
    pub first_heartbeat: Span,
    /// HB4; `None` where it is switched off (decision 21).
    pub coordinator_timeout: Option<Span>,
    /// Decision 6.
    pub join_timeout: Span,
    /// Decision 10.
    pub request_timeout: Span,
    /// Decision 10.
    pub back_off: Span,
    /// Decision 14.
    pub metadata_refresh: Span,
    /// Time between commits of its own positions, if it makes any.
    pub commit_interval: Option<Span>,
    /// Decision 8.
    pub on_deassigned: OnDeassigned,
    /// AR2.
    pub callback_time: Span,
    /// Decision 12: records a second in each partition.
    pub processed_per_second: u32,
    /// Decision 1.
    pub on_coordinator_failure: OnCoordinatorFailure,
    /// Decision 17.
    pub on_close: OnClose,
    /// Option 1 or option 2: how it is told of a rebalance.
    pub rebalance: RebalanceBy,
    /// Decision 16.
    pub member_ids: MemberIds,
    /// The strategy that its joins name, where they name one (decision 24).
    pub strategy: Option<NamedStrategy>,
}

/// A command of the script with its names resolved.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Order {
    /// Start or restart a process.
    Start(NodeId),
    /// End it without warning.
    Crash(NodeId),
    /// Make it stand still.
    Pause(NodeId),
    /// Let it go on.
    Resume(NodeId),
    /// Cut a link.
    Cut(ConsumerId, BrokerId),
    /// Heal it.
    Heal(ConsumerId, BrokerId),
    /// Change a subscription.
    Subscribe(ConsumerId, Topics),
    /// Add partitions to a topic.
    AddPartitions(TopicId, u32),
    /// Commit.
    Commit(ConsumerId, CommitPlan),
    /// Send a heartbeat by hand.
    Heartbeat(ConsumerId, Option<MemberId>, Option<u32>),
    /// Keep the thread busy.
    Process(ConsumerId, Span),
    /// Close in good order.
    Close(ConsumerId),
    /// Move the coordinator's role.
    MoveCoordinator(BrokerId),
}

/// A commit by command (decision 23).
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CommitPlan {
    /// In whose name; `None` for the consumer's own.
    pub member: Option<MemberId>,
    /// The generation number to claim; `None` for the consumer's own.
    pub generation: Option<u32>,
    /// The offsets; `None` for the consumer's own positions.
    pub offsets: Option<Offsets>,
}

type Checked<T> = Result<T, InputError>;

impl Scenario {
    /// Checks every name and number and resolves them.
    ///
    /// # Errors
    /// The path to the first bad value and what would be right.
    pub fn plan(&self) -> Checked<Arc<Plan>> {
        let cast = Arc::new(self.check_cast()?);
        let settings = GroupPlan::new(self.profile, &self.settings);
        self.check_numbers(&settings)?;
        let names = Names { cast: &cast, topics: index(&cast.topics), consumers: index(&cast.consumers) };
        let mut consumers = Vec::with_capacity(self.consumers.len());
        let mut subscribed = 0;
        for (i, spec) in self.consumers.iter().enumerate() {
            subscribed += spec.topics.len();
            consumers.push(Arc::new(self.check_consumer(i, spec, &names, &settings)?));
        }
        let orders = self.check_script(&names, subscribed)?;
        self.check_picture()?;
        Ok(Arc::new(Plan {
            seed: self.seed,
            until: Time::ZERO + self.until,
            producers: self
                .topics
                .values()
                .map(|t| Producer { partitions: t.partitions, produced_per_second: t.produced_per_second })
                .collect(),
            consumers,
            settings,
            lost_per_million: self.network.lost_per_million,
            orders,
            picture: self.picture.clone(),
            cast,
        }))
    }

    fn check_cast(&self) -> Checked<Cast> {
        check_name("group", &self.group)?;
        check_text("title", &self.title)?;
        check_text("introduction", &self.introduction)?;
        within("brokers", u64::from(self.brokers), 1, u64::from(limits::BROKERS))?;
        within("coordinator", u64::from(self.coordinator), 1, u64::from(self.brokers))?;
        at_most("topics", self.topics.len(), limits::TOPICS)?;
        at_most("consumers", self.consumers.len(), limits::CONSUMERS)?;
        for name in self.topics.keys() {
            check_name(&format!("topics.{name}"), name)?;
        }
        let mut seen = BTreeSet::new();
        for (i, spec) in self.consumers.iter().enumerate() {
            let path = format!("consumers[{i}].id");
            check_name(&path, &spec.id)?;
            if (1..=self.brokers).any(|b| broker_name(BrokerId(b - 1)) == spec.id) {
                return Err(InputError::new(path, format!("`{}` is the name of a broker: use another", spec.id)));
            }
            if !seen.insert(spec.id.as_str()) {
                return Err(InputError::new(path, format!("another consumer is called `{}` already", spec.id)));
            }
        }
        let consumers: Vec<String> = self.consumers.iter().map(|c| c.id.clone()).collect();
        let mut members: Vec<ConsumerId> = (0..consumers.len() as u32).map(ConsumerId).collect();
        members.sort_by(|a, b| consumers[a.index()].cmp(&consumers[b.index()]));
        let mut member_ids = vec![MemberId(0); consumers.len()];
        for (rank, consumer) in members.iter().enumerate() {
            member_ids[consumer.index()] = MemberId(rank as u32);
        }
        Ok(Cast {
            group: self.group.clone(),
            brokers: self.brokers,
            coordinator: BrokerId(self.coordinator - 1),
            consumers,
            topics: self.topics.keys().cloned().collect(),
            members,
            member_ids,
        })
    }

    fn check_numbers(&self, s: &GroupPlan) -> Checked<()> {
        if self.until == Span::ZERO || self.until > limits::RUN {
            return Err(InputError::new("until", format!("a run lasts more than 0s and at most {}", limits::RUN)));
        }
        let partitions: u64 = self.topics.values().map(|t| u64::from(t.partitions)).sum();
        if partitions > limits::PARTITIONS {
            let message =
                format!("the topics have {partitions} partitions together, at most {} are allowed", limits::PARTITIONS);
            return Err(InputError::new("topics", message));
        }
        for (name, topic) in &self.topics {
            let path = format!("topics.{name}.produced_per_second");
            within(&path, u64::from(topic.produced_per_second), 0, u64::from(limits::RATE))?;
        }
        interval("settings.min_session_timeout", s.min_session_timeout)?;
        interval("settings.max_session_timeout", s.max_session_timeout)?;
        interval("settings.partition_check", s.partition_check)?;
        interval("settings.takeover_delay", s.takeover_delay)?;
        if s.min_session_timeout > s.max_session_timeout {
            let message = format!("is longer than max_session_timeout, {}", s.max_session_timeout);
            return Err(InputError::new("settings.min_session_timeout", message));
        }
        within("network.lost_per_million", u64::from(self.network.lost_per_million), 0, 1_000_000)?;
        check_latency("network.latency", &self.network.latency)
    }

    fn check_consumer(
        &self,
        i: usize,
        spec: &ConsumerSpec,
        names: &Names<'_>,
        settings: &GroupPlan,
    ) -> Checked<ConsumerPlan> {
        let topics = names.topics(&format!("consumers[{i}].topics"), &spec.topics)?;
        let id = ConsumerId(i as u32);
        if let Some(latency) = &spec.latency {
            check_latency(&format!("consumers[{i}].latency"), latency)?;
        }
        let pick = Picker { index: i, own: &spec.settings, shared: &self.defaults };
        let session_timeout = pick.interval("session_timeout", |s| s.session_timeout, Span::from_secs(30))?;
        let third = session_timeout.fraction(1, 3).max(limits::SHORTEST_INTERVAL);
        let two_thirds = session_timeout.fraction(2, 3).max(limits::SHORTEST_INTERVAL);
        let join_timeout = settings.max_session_timeout + two_thirds;
        let minutes = Span::from_secs(300);
        let rate = pick.value(|s| s.processed_per_second).unwrap_or(1_000);
        within(
            &pick.path("processed_per_second", |s| s.processed_per_second.is_some()),
            u64::from(rate),
            0,
            u64::from(limits::RATE),
        )?;
        let heartbeat_interval = pick.interval("heartbeat_interval", |s| s.heartbeat_interval, third)?;
        Ok(ConsumerPlan {
            id,
            member: names.cast.member_ids[i],
            topics,
            latency: spec.latency.as_ref().unwrap_or(&self.network.latency).clone(),
            session_timeout,
            heartbeat_interval,
            first_heartbeat: pick.value(|s| s.first_heartbeat).unwrap_or(heartbeat_interval),
            coordinator_timeout: pick.limit(
                "coordinator_timeout",
                |s| s.coordinator_timeout,
                Limit::After(two_thirds),
            )?,
            join_timeout: pick.interval("join_timeout", |s| s.join_timeout, join_timeout)?,
            request_timeout: pick.interval("request_timeout", |s| s.request_timeout, Span::from_secs(2))?,
            back_off: pick.interval("back_off", |s| s.back_off, Span::from_millis(100))?,
            metadata_refresh: pick.interval("metadata_refresh", |s| s.metadata_refresh, minutes)?,
            commit_interval: pick.limit("commit_interval", |s| s.commit_interval, Limit::Off(super::Off::Off))?,
            on_deassigned: pick.value(|s| s.on_deassigned).unwrap_or_default(),
            callback_time: pick.value(|s| s.callback_time).unwrap_or(Span::from_millis(200)),
            processed_per_second: rate,
            on_coordinator_failure: match settings.rebalance {
                RebalanceBy::ErrorCode => pick.value(|s| s.on_coordinator_failure).unwrap_or_default(),
                RebalanceBy::SocketClose => OnCoordinatorFailure::Rejoin,
            },
            on_close: pick.value(|s| s.on_close).unwrap_or(match self.profile {
                Profile::Kafka2015 => OnClose::Leave,
                Profile::DocumentOption1 | Profile::DocumentOption2 => OnClose::Silent,
            }),
            rebalance: settings.rebalance,
            member_ids: settings.member_ids,
            strategy: match settings.dialect {
                Dialect::Document => None,
                Dialect::Kafka2015 => Some(NamedStrategy::Known(settings.assignment)),
            },
        })
    }

    fn check_script(&self, names: &Names<'_>, mut subscribed: usize) -> Checked<Vec<(Time, Order)>> {
        at_most("script", self.script.len(), limits::COMMANDS)?;
        let mut orders = Vec::new();
        for (i, spec) in self.consumers.iter().enumerate() {
            if let Some(start) = spec.start {
                orders.push((Time::ZERO + start, Order::Start(ConsumerId(i as u32).into())));
            }
        }
        let mut partitions: u64 = self.topics.values().map(|t| u64::from(t.partitions)).sum();
        for (i, command) in self.script.iter().enumerate() {
            let path = format!("script[{i}].do");
            let at = Time::ZERO + command.at;
            if let Action::Cut(link) = &command.action {
                let links = names.link(&format!("{path}.cut"), link)?;
                orders.extend(links.map(|(consumer, broker)| (at, Order::Cut(consumer, broker))));
            } else if let Action::Heal(link) = &command.action {
                let links = names.link(&format!("{path}.heal"), link)?;
                orders.extend(links.map(|(consumer, broker)| (at, Order::Heal(consumer, broker))));
            } else {
                orders.push((at, names.order(&path, &command.action)?));
            }
            if let Some((_, Order::AddPartitions(_, count))) = orders.last() {
                partitions += u64::from(*count);
            }
            if let Some((_, Order::Subscribe(_, topics))) = orders.last() {
                subscribed += topics.len();
            }
            if partitions > limits::PARTITIONS {
                let message = format!("brings the partitions above {}, the most allowed", limits::PARTITIONS);
                return Err(InputError::new(format!("{path}.add-partitions.count"), message));
            }
        }
        if subscribed > limits::SUBSCRIBED_TOPICS {
            let message = format!(
                "all subscriptions name {subscribed} topics together, at most {} are allowed",
                limits::SUBSCRIBED_TOPICS
            );
            return Err(InputError::new("consumers", message));
        }
        orders.sort_by_key(|(at, _)| *at);
        Ok(orders)
    }

    fn check_picture(&self) -> Checked<()> {
        let Some(picture) = &self.picture else { return Ok(()) };
        at_most("picture.steps", picture.steps.len(), limits::STEPS)?;
        for (i, step) in picture.steps.iter().enumerate() {
            check_name(&format!("picture.steps[{i}].label"), &step.label)?;
        }
        Ok(())
    }
}

/// A consumer's own settings over the shared ones.
struct Picker<'a> {
    index: usize,
    own: &'a ConsumerSettings,
    shared: &'a ConsumerSettings,
}

impl Picker<'_> {
    fn value<T>(&self, get: impl Fn(&ConsumerSettings) -> Option<T>) -> Option<T> {
        get(self.own).or_else(|| get(self.shared))
    }

    fn path(&self, field: &str, is_set: impl Fn(&ConsumerSettings) -> bool) -> String {
        if is_set(self.own) || !is_set(self.shared) {
            format!("consumers[{}].settings.{field}", self.index)
        } else {
            format!("defaults.{field}")
        }
    }

    fn interval(&self, field: &str, get: impl Fn(&ConsumerSettings) -> Option<Span>, or: Span) -> Checked<Span> {
        let span = self.value(&get).unwrap_or(or);
        interval(&self.path(field, |s| get(s).is_some()), span)?;
        Ok(span)
    }

    fn limit(&self, field: &str, get: impl Fn(&ConsumerSettings) -> Option<Limit>, or: Limit) -> Checked<Option<Span>> {
        let span = self.value(&get).unwrap_or(or).span();
        if let Some(span) = span {
            interval(&self.path(field, |s| get(s).is_some()), span)?;
        }
        Ok(span)
    }
}

/// Resolves names.
struct Names<'a> {
    cast: &'a Cast,
    topics: BTreeMap<&'a str, u32>,
    consumers: BTreeMap<&'a str, u32>,
}

fn index(names: &[String]) -> BTreeMap<&str, u32> {
    names.iter().map(String::as_str).zip(0..).collect()
}

impl Names<'_> {
    fn topic(&self, path: &str, name: &str) -> Checked<TopicId> {
        let found = self.topics.get(name).map(|t| TopicId(*t as u16));
        found.ok_or_else(|| unknown(path, "topic", name, self.topics.keys().copied()))
    }

    fn topics(&self, path: &str, list: &[String]) -> Checked<Topics> {
        at_most(path, list.len(), limits::TOPICS)?;
        let mut topics = Set::new();
        for (i, name) in list.iter().enumerate() {
            let path = format!("{path}[{i}]");
            if !topics.insert(self.topic(&path, name)?) {
                return Err(InputError::new(path, format!("`{name}` is in the list already")));
            }
        }
        Ok(topics.into_iter().collect())
    }

    fn consumer(&self, path: &str, name: &str) -> Checked<ConsumerId> {
        let found = self.consumers.get(name).map(|c| ConsumerId(*c));
        found.ok_or_else(|| unknown(path, "consumer", name, self.consumers.keys().copied()))
    }

    fn broker(&self, path: &str, name: &str) -> Checked<BrokerId> {
        let found = (0..self.cast.brokers).map(BrokerId).find(|b| broker_name(*b) == name);
        found.ok_or_else(|| {
            let last = broker_name(BrokerId(self.cast.brokers - 1));
            InputError::new(path, format!("there is no broker `{name}`; the brokers are B1 to {last}"))
        })
    }

    fn node(&self, path: &str, name: &str) -> Checked<NodeId> {
        match self.consumers.get(name) {
            Some(consumer) => Ok(ConsumerId(*consumer).into()),
            None if name.starts_with('B') && name[1..].bytes().all(|b| b.is_ascii_digit()) => {
                self.broker(path, name).map(NodeId::from)
            }
            None => self.consumer(path, name).map(NodeId::from),
        }
    }

    fn link(&self, path: &str, link: &Link) -> Checked<impl Iterator<Item = (ConsumerId, BrokerId)> + use<>> {
        let consumer = self.consumer(&format!("{path}.consumer"), &link.consumer)?;
        let range = match &link.broker {
            Some(name) => {
                let broker = self.broker(&format!("{path}.broker"), name)?;
                broker.0..broker.0 + 1
            }
            None => 0..self.cast.brokers,
        };
        Ok(range.map(move |broker| (consumer, BrokerId(broker))))
    }

    fn member(&self, path: &str, name: Option<&str>) -> Checked<Option<MemberId>> {
        let Some(name) = name else { return Ok(None) };
        let given = name.rsplit_once('#').and_then(|(name, turn)| Some((name, turn.parse::<u32>().ok()?)));
        let (consumer, turn) = given.filter(|_| !self.consumers.contains_key(name)).unwrap_or((name, 0));
        let own = self.cast.member_ids[self.consumer(&format!("{path}.member"), consumer)?.index()];
        let names = self.cast.members.len() as u32;
        Ok(Some(MemberId(own.0.saturating_add(names.saturating_mul(turn)))))
    }

    fn order(&self, path: &str, action: &Action) -> Checked<Order> {
        let at = |rest: &str| format!("{path}.{rest}");
        Ok(match action {
            Action::Start(name) => Order::Start(self.consumer(&at("start"), name)?.into()),
            Action::Crash(name) => Order::Crash(self.node(&at("crash"), name)?),
            Action::Restart(name) => Order::Start(self.node(&at("restart"), name)?),
            Action::Pause(name) => Order::Pause(self.node(&at("pause"), name)?),
            Action::Resume(name) => Order::Resume(self.node(&at("resume"), name)?),
            Action::Subscribe(s) => {
                let consumer = self.consumer(&at("subscribe.consumer"), &s.consumer)?;
                Order::Subscribe(consumer, self.topics(&at("subscribe.topics"), &s.topics)?)
            }
            Action::AddPartitions(a) => {
                within(&at("add-partitions.count"), u64::from(a.count), 1, limits::PARTITIONS)?;
                Order::AddPartitions(self.topic(&at("add-partitions.topic"), &a.topic)?, a.count)
            }
            Action::Commit(spec) => self.commit(&at("commit"), spec)?,
            Action::Heartbeat(spec) => self.heartbeat(&at("heartbeat"), spec)?,
            Action::Process(p) => Order::Process(self.consumer(&at("process.consumer"), &p.consumer)?, p.takes),
            Action::Close(name) => Order::Close(self.consumer(&at("close"), name)?),
            Action::MoveCoordinator(name) => Order::MoveCoordinator(self.broker(&at("move-coordinator"), name)?),
            Action::Cut(link) | Action::Heal(link) => {
                return Err(InputError::new(path, format!("a link of `{}` stands for several orders", link.consumer)));
            }
        })
    }

    fn commit(&self, path: &str, spec: &CommitSpec) -> Checked<Order> {
        let consumer = self.consumer(&format!("{path}.consumer"), &spec.consumer)?;
        let member = self.member(path, spec.member.as_deref())?;
        let offsets = match &spec.offsets {
            None => None,
            Some(map) => {
                at_most(&format!("{path}.offsets"), map.len(), limits::TOPICS)?;
                let mut offsets = Map::new();
                for (name, offset) in map {
                    offsets.insert(self.partition(&format!("{path}.offsets.{name}"), name)?, Offset(*offset));
                }
                Some(offsets.into_iter().collect())
            }
        };
        Ok(Order::Commit(consumer, CommitPlan { member, generation: spec.generation, offsets }))
    }

    fn heartbeat(&self, path: &str, spec: &HeartbeatSpec) -> Checked<Order> {
        let consumer = self.consumer(&format!("{path}.consumer"), &spec.consumer)?;
        let member = self.member(path, spec.member.as_deref())?;
        Ok(Order::Heartbeat(consumer, member, spec.generation))
    }

    fn partition(&self, path: &str, name: &str) -> Checked<Partition> {
        let split = name.rsplit_once('-').and_then(|(topic, number)| Some((topic, number.parse::<u32>().ok()?)));
        let Some((topic, index)) = split else {
            return Err(InputError::new(path, format!("`{name}` is not a partition: write for instance `orders-3`")));
        };
        Ok(Partition { topic: self.topic(path, topic)?, index })
    }
}

fn unknown<'a>(path: &str, what: &str, name: &str, known: impl Iterator<Item = &'a str>) -> InputError {
    let mut list: Vec<&str> = known.take(9).collect();
    let more = if list.len() > 8 { list.pop().map_or("", |_| ", …") } else { "" };
    let known = if list.is_empty() { "there is none".to_owned() } else { format!("known: {}{more}", list.join(", ")) };
    InputError::new(path, format!("there is no {what} `{}`; {known}", shorten(name)))
}

fn shorten(text: &str) -> String {
    if text.chars().count() <= limits::NAME_CHARS {
        return text.to_owned();
    }
    text.chars().take(limits::NAME_CHARS).chain(['…']).collect()
}

fn check_name(path: &str, name: &str) -> Checked<()> {
    let bad = name.is_empty() || name.chars().count() > limits::NAME_CHARS || name.chars().any(char::is_control);
    if bad {
        let message = format!("a name has 1 to {} characters and no control characters", limits::NAME_CHARS);
        return Err(InputError::new(shorten(path), message));
    }
    Ok(())
}

fn check_text(path: &str, text: &str) -> Checked<()> {
    at_most(path, text.chars().count(), limits::TEXT_CHARS)
}

fn at_most(path: &str, len: usize, most: usize) -> Checked<()> {
    if len > most {
        return Err(InputError::new(path, format!("has a length of {len}, at most {most} is allowed")));
    }
    Ok(())
}

fn within(path: &str, value: u64, least: u64, most: u64) -> Checked<()> {
    if (least..=most).contains(&value) {
        return Ok(());
    }
    Err(InputError::new(path, format!("is {value}, which is not between {least} and {most}")))
}

fn interval(path: &str, span: Span) -> Checked<()> {
    if span < limits::SHORTEST_INTERVAL {
        return Err(InputError::new(path, format!("is {span}; the shortest allowed is {}", limits::SHORTEST_INTERVAL)));
    }
    Ok(())
}

fn check_latency(path: &str, latency: &Latency) -> Checked<()> {
    let error = |field: &str, message: String| Err(InputError::new(format!("{path}.{field}"), message));
    match latency {
        Latency::Fixed(_) => Ok(()),
        Latency::Uniform(u) if u.min > u.max => error("uniform.min", format!("is longer than max, {}", u.max)),
        Latency::Uniform(_) => Ok(()),
        Latency::HeavyTailed(h) if h.min > h.max => error("heavy-tailed.min", format!("is longer than max, {}", h.max)),
        Latency::HeavyTailed(h) if h.min == Span::ZERO => {
            error("heavy-tailed.min", "is zero: a Pareto distribution begins above it".to_owned())
        }
        Latency::HeavyTailed(h) if !(0.1..=100.0).contains(&h.shape) => {
            error("heavy-tailed.shape", format!("is {}, which is not between 0.1 and 100", h.shape))
        }
        Latency::HeavyTailed(_) => Ok(()),
    }
}

impl Plan {
    /// How partitions are assigned.
    #[must_use]
    pub fn strategy(&self) -> AssignmentStrategy {
        self.settings.assignment
    }
}
