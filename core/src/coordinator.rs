//! The group coordinator: who is a member, which generation is in force, and how a rebalance goes.
//!
//! Option 1 of the document: members are told of a rebalance by an error code in the answers to their heartbeats.
//! A coordinator only answers (AR1): its effects have no way to send anything else.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::assign::assign;
use crate::cluster::Cluster;
use crate::error::{CommitError, HeartbeatError, JoinError};
use crate::id::{BrokerId, ConnectionId, Correlation, Epoch, Generation, MemberId, Partition, RecordId, TopicId};
use crate::message::{Commit, Join, Joined, Request, Response, Topics};
use crate::offsets::{self, OffsetLog};
use crate::rules::Rule::{EC0, EC2, EC3, EC4, EC6, HB2, HB3, HB6, JG2, OC1, OC2, OC3, OC4, RB1, RB2, RB3};
use crate::rules::Rules;
use crate::scenario::GroupSettings;
use crate::time::{Span, Time};
use crate::trace::{Fact, Formed, RebalanceReason, RemovalReason};

/// Where an answer goes: what came with the request, given back as it is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ReplyTo {
    pub(crate) connection: ConnectionId,
    pub(crate) correlation: Correlation,
    pub(crate) request: RecordId,
}

/// A coordinator's timers.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum CoordinatorTimer {
    /// HB3: the member has not been heard from for its session timeout.
    Session(MemberId),
    /// EC4: the rebalance has waited a session timeout for the member's join.
    JoinDeadline(MemberId),
    /// RB3: time to look for new partitions (decision 14).
    PartitionCheck,
}

/// What a coordinator wants done.
#[derive(Clone, PartialEq, Debug)]
pub enum CoordinatorEffect {
    /// Answer a request.
    Reply {
        /// Which.
        to: ReplyTo,
        /// With what.
        response: Response,
        /// The rules that the answer carries out.
        rules: Rules,
    },
    /// Set a timer, in place of the one of the same name.
    Set {
        /// Which.
        timer: CoordinatorTimer,
        /// After how long it fires.
        after: Span,
    },
    /// Cancel a timer.
    Cancel(CoordinatorTimer),
    /// Put something on record.
    Note {
        /// What.
        fact: Fact,
        /// The rules that it carries out.
        rules: Rules,
    },
}

/// What a coordinator is given besides its input.
#[derive(Debug)]
pub struct CoordinatorContext<'a> {
    /// The time of the input.
    pub now: Time,
    /// The true partition counts (decision 14).
    pub cluster: &'a Cluster,
    /// The replicated log of committed offsets.
    pub offsets: &'a mut OffsetLog,
    /// Where effects go, in order.
    pub effects: &'a mut Vec<CoordinatorEffect>,
}

impl CoordinatorContext<'_> {
    fn note(&mut self, fact: Fact, rules: Rules) {
        self.effects.push(CoordinatorEffect::Note { fact, rules });
    }

    fn reply(&mut self, to: ReplyTo, response: Response, rules: Rules) {
        self.effects.push(CoordinatorEffect::Reply { to, response, rules });
    }

    fn set(&mut self, timer: CoordinatorTimer, after: Span) {
        self.effects.push(CoordinatorEffect::Set { timer, after });
    }

    fn cancel(&mut self, timer: CoordinatorTimer) {
        self.effects.push(CoordinatorEffect::Cancel(timer));
    }
}

/// What of a group is written before any answer that depends on it is sent (decision 2), and so outlives a crash.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Written {
    /// How many lives the group has had.
    lives: u32,
    group: Option<WrittenGroup>,
}

#[derive(Clone, PartialEq, Eq, Debug)]
struct WrittenGroup {
    number: u32,
    members: Vec<(MemberId, WrittenMember)>,
    counts: BTreeMap<TopicId, u32>,
    phase: Phase,
}

#[derive(Clone, PartialEq, Eq, Debug)]
struct WrittenMember {
    topics: Topics,
    session_timeout: Span,
    assignment: Arc<[Partition]>,
}

/// The coordinator of one group.
#[derive(Clone, Debug)]
pub struct Coordinator {
    broker: BrokerId,
    epoch: Epoch,
    settings: GroupSettings,
    /// How many lives the group has had (decision 20).
    lives: u32,
    group: Option<Group>,
}

#[derive(Clone, Debug)]
struct Group {
    /// The number of the generation in force, 0 before the first.
    number: u32,
    members: BTreeMap<MemberId, Member>,
    phase: Phase,
    /// Members whose joins are held, in the order in which they came.
    arrivals: Vec<MemberId>,
    /// Who owns what in the generation in force.
    owners: BTreeMap<Partition, MemberId>,
    /// The partition counts that its assignment was computed from.
    counts: BTreeMap<TopicId, u32>,
}

#[derive(Clone, Debug)]
struct Member {
    topics: Topics,
    session_timeout: Span,
    assignment: Arc<[Partition]>,
    held: Option<ReplyTo>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Phase {
    Stable,
    Preparing,
}

/// How a member is found missing.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Missing {
    Silent,
    NotJoined,
}

impl Coordinator {
    /// A coordinator that knows of no group.
    #[must_use]
    pub fn new(broker: BrokerId, settings: GroupSettings) -> Self {
        Self { broker, epoch: Epoch::default(), settings, lives: 0, group: None }
    }

    // --- getters ---

    /// What has been written of the group so far (decision 2): every change is written at once.
    #[must_use]
    pub fn written(&self) -> Written {
        let group = self.group.as_ref().map(|group| WrittenGroup {
            number: group.number,
            members: group.members.iter().map(|(id, member)| (*id, member.written())).collect(),
            counts: group.counts.clone(),
            phase: group.phase,
        });
        Written { lives: self.lives, group }
    }

    /// The generation with a number in the group's present life: what a number named by hand stands for (decision 23).
    #[must_use]
    pub fn generation_numbered(&self, number: u32) -> Generation {
        Generation { epoch: self.epoch, life: self.lives, number }
    }

    // --- handlers ---

    /// Takes up what was written of the group: restarts the session timers and, if a rebalance was open, opens it again
    /// (decision 2).
    pub fn recover(&mut self, written: Written, cx: &mut CoordinatorContext<'_>) {
        self.lives = written.lives;
        let Some(group) = written.group else { return };
        let members: BTreeMap<_, _> = group.members.into_iter().map(|(id, member)| (id, member.restored())).collect();
        let owned = members.iter().flat_map(|(id, member)| member.assignment.iter().map(|p| (*p, *id)));
        let owners = owned.collect();
        for (id, member) in &members {
            cx.set(CoordinatorTimer::Session(*id), member.session_timeout);
        }
        cx.set(CoordinatorTimer::PartitionCheck, self.settings.partition_check);
        let count = members.len() as u32;
        let phase = group.phase;
        self.group = Some(Group {
            number: group.number,
            members,
            phase: Phase::Stable,
            arrivals: Vec::new(),
            owners,
            counts: group.counts,
        });
        let generation = self.generation_numbered(group.number);
        cx.note(Fact::GroupRecovered { broker: self.broker, generation, members: count }, Rules::NONE);
        match phase {
            Phase::Preparing => self.open_rebalance(RebalanceReason::Reopened, Rules::NONE, cx),
            Phase::Stable => {}
        }
    }

    /// Starts with nothing but the number of lives the group has had (decision 2, lost).
    pub fn forget(&mut self, written: &Written, cx: &mut CoordinatorContext<'_>) {
        self.lives = written.lives;
        if written.group.is_some() {
            cx.note(Fact::GroupStateLost { broker: self.broker }, Rules::NONE);
        }
    }

    /// Handles a request of the group. (A metadata request is the broker's own to answer.)
    pub fn handle_request(&mut self, to: ReplyTo, request: &Request, cx: &mut CoordinatorContext<'_>) {
        match request {
            Request::Metadata { .. } => {}
            Request::Join(join) => self.join(to, join, cx),
            Request::Heartbeat { member, generation } => self.heartbeat(to, *member, *generation, cx),
            Request::Commit(commit) => self.commit(to, commit, cx),
        }
    }

    /// Handles a timer that fired.
    pub fn handle_timer(&mut self, timer: CoordinatorTimer, cx: &mut CoordinatorContext<'_>) {
        match timer {
            CoordinatorTimer::Session(member) => self.missing(member, Missing::Silent, cx),
            CoordinatorTimer::JoinDeadline(member) => self.missing(member, Missing::NotJoined, cx),
            CoordinatorTimer::PartitionCheck => self.check_partitions(cx),
        }
    }

    // --- joining ---

    fn join(&mut self, to: ReplyTo, join: &Join, cx: &mut CoordinatorContext<'_>) {
        if let Err(error) = self.admissible(join) {
            return cx.reply(to, Response::Join(Err(error)), Rules::of(&[EC6]));
        }
        let is_new_group = self.group.is_none();
        if is_new_group {
            self.lives += 1;
            cx.set(CoordinatorTimer::PartitionCheck, self.settings.partition_check);
        }
        let group = self.group.get_or_insert_with(Group::empty);
        let why = group.admit(join);
        if let RebalanceReason::NewMember(member) = why {
            let rules = if is_new_group { Rules::of(&[EC2]) } else { Rules::NONE };
            cx.note(Fact::MemberAdded { broker: self.broker, member }, rules);
        }
        group.hold(join.member, to);
        cx.cancel(CoordinatorTimer::Session(join.member));
        cx.cancel(CoordinatorTimer::JoinDeadline(join.member));
        match group.phase {
            Phase::Stable => self.open_rebalance(why, Rules::of(&[RB2, JG2]), cx),
            Phase::Preparing => self.hold_or_complete(Some(join.member), Rules::of(&[EC2, JG2]), cx),
        }
    }

    /// Decision 9: what refuses a join for good.
    fn admissible(&self, join: &Join) -> Result<(), JoinError> {
        let bounds = self.settings.min_session_timeout..=self.settings.max_session_timeout;
        if !bounds.contains(&join.session_timeout) {
            return Err(JoinError::InvalidSessionTimeout);
        }
        let (size, is_member) =
            self.group.as_ref().map_or((0, false), |g| (g.members.len(), g.members.contains_key(&join.member)));
        match self.settings.max_size {
            Some(most) if !is_member && size >= most as usize => Err(JoinError::GroupMaxSizeReached),
            Some(_) | None => Ok(()),
        }
    }

    /// RB1 to RB3: begins a rebalance of a stable group. Each member has its session timeout to join (EC4).
    fn open_rebalance(&mut self, why: RebalanceReason, rules: Rules, cx: &mut CoordinatorContext<'_>) {
        let Some(group) = &mut self.group else { return };
        group.phase = Phase::Preparing;
        cx.note(Fact::RebalanceStarted { broker: self.broker, why }, rules);
        group.set_deadlines(cx);
        let joined = group.arrivals.last().copied();
        self.hold_or_complete(joined, Rules::of(&[EC2]), cx);
    }

    /// EC2: with every join there the rebalance completes; else `newly_held` waits for the others.
    fn hold_or_complete(&mut self, newly_held: Option<MemberId>, rules: Rules, cx: &mut CoordinatorContext<'_>) {
        let Some(group) = &self.group else { return };
        let awaited = group.awaited();
        if awaited == 0 {
            return self.complete(cx);
        }
        if let Some(member) = newly_held {
            cx.note(Fact::JoinHeld { broker: self.broker, member, awaited }, rules);
        }
    }

    /// EC3: the new generation, its assignment, and the answers in the order in which the joins came.
    fn complete(&mut self, cx: &mut CoordinatorContext<'_>) {
        let Some(group) = &mut self.group else { return };
        group.number += 1;
        let generation = Generation { epoch: self.epoch, life: self.lives, number: group.number };
        let formed = Arc::new(group.form(generation, self.settings.assignment, cx.cluster));
        cx.note(Fact::AssignmentComputed { broker: self.broker, formed: Arc::clone(&formed) }, Rules::of(&[EC3]));
        group.phase = Phase::Stable;
        for member_id in std::mem::take(&mut group.arrivals) {
            let Some(member) = group.members.get_mut(&member_id) else { continue };
            let Some(to) = member.held.take() else { continue };
            let joined = Joined {
                generation,
                assignment: member.assignment.iter().map(|p| (*p, cx.offsets.committed(*p))).collect(),
                counts: cx.cluster.counts(&member.topics),
            };
            cx.reply(to, Response::Join(Ok(Arc::new(joined))), Rules::of(&[EC3]));
            cx.set(CoordinatorTimer::Session(member_id), member.session_timeout);
        }
    }

    // --- failures ---

    /// HB3 or EC4: a member is missing.
    fn missing(&mut self, id: MemberId, how: Missing, cx: &mut CoordinatorContext<'_>) {
        let Some(group) = &mut self.group else { return };
        let is_awaited = group.members.get(&id).is_some_and(|member| member.held.is_none());
        if !is_awaited {
            return;
        }
        group.members.remove(&id);
        group.owners.retain(|_, owner| *owner != id);
        cx.cancel(CoordinatorTimer::Session(id));
        cx.cancel(CoordinatorTimer::JoinDeadline(id));
        let (why, rules) = match (group.phase, how) {
            (Phase::Stable, _) => (RemovalReason::SessionExpired, Rules::of(&[HB3])),
            (Phase::Preparing, Missing::Silent) => (RemovalReason::SessionExpired, Rules::of(&[HB3, EC4])),
            (Phase::Preparing, Missing::NotJoined) => (RemovalReason::JoinMissing, Rules::of(&[EC4])),
        };
        cx.note(Fact::MemberRemoved { broker: self.broker, member: id, why }, rules);
        if group.members.is_empty() {
            self.group = None;
            cx.cancel(CoordinatorTimer::PartitionCheck);
            return cx.note(Fact::GroupForgotten { broker: self.broker }, Rules::NONE);
        }
        match group.phase {
            Phase::Stable => self.open_rebalance(RebalanceReason::MemberFailed(id), Rules::of(&[RB1]), cx),
            Phase::Preparing => self.retry(id, cx),
        }
    }

    /// EC4: the rebalance starts again, and the held joins are answered "retry".
    fn retry(&mut self, missing: MemberId, cx: &mut CoordinatorContext<'_>) {
        let Some(group) = &mut self.group else { return };
        cx.note(Fact::RebalanceRetried { broker: self.broker, missing }, Rules::of(&[EC4]));
        for id in std::mem::take(&mut group.arrivals) {
            let Some(member) = group.members.get_mut(&id) else { continue };
            let Some(to) = member.held.take() else { continue };
            cx.reply(to, Response::Join(Err(JoinError::RebalanceInProgress)), Rules::of(&[EC4]));
            cx.set(CoordinatorTimer::Session(id), member.session_timeout);
        }
        group.set_deadlines(cx);
    }

    /// RB3: the coordinator looks whether a subscribed topic has more partitions than it last assigned (decision 14).
    fn check_partitions(&mut self, cx: &mut CoordinatorContext<'_>) {
        let Some(group) = &self.group else { return };
        cx.set(CoordinatorTimer::PartitionCheck, self.settings.partition_check);
        if group.phase == Phase::Preparing {
            return;
        }
        let grown = group.counts.iter().find(|(topic, count)| cx.cluster.count(**topic) > **count);
        if let Some((topic, _)) = grown {
            let why = RebalanceReason::PartitionsChanged(*topic);
            self.open_rebalance(why, Rules::of(&[RB3]), cx);
        }
    }

    // --- heartbeats and commits ---

    fn heartbeat(&mut self, to: ReplyTo, id: MemberId, generation: Generation, cx: &mut CoordinatorContext<'_>) {
        let current = self.group.as_ref().map(|group| self.generation_numbered(group.number));
        let member = self.group.as_ref().and_then(|group| Some((group.phase, group.members.get(&id)?)));
        let (answer, rules) = match member {
            None => (Err(HeartbeatError::UnknownMember), Rules::of(&[HB6])),
            Some((Phase::Preparing, member)) if member.held.is_none() => {
                (Err(HeartbeatError::RebalanceInProgress), Rules::of(&[EC0]))
            }
            Some(_) if Some(generation) != current => (Err(HeartbeatError::IllegalGeneration), Rules::of(&[HB6])),
            Some(_) => (Ok(()), Rules::of(&[HB2])),
        };
        self.heard(id, cx);
        cx.reply(to, Response::Heartbeat(answer), rules);
    }

    /// Decision 8: a commit counts against the generation in force, also during a rebalance.
    fn commit(&mut self, to: ReplyTo, commit: &Arc<Commit>, cx: &mut CoordinatorContext<'_>) {
        let group = self.group.as_ref();
        let current = group.map(|group| self.generation_numbered(group.number));
        let is_member = group.is_some_and(|group| group.members.contains_key(&commit.member));
        let owner = |partition| group.and_then(|group| group.owners.get(&partition).copied());
        let verdict = Arc::new(offsets::check(commit, is_member, current, owner));
        let outcome = verdict.outcome;
        let failed = failed_conditions(&verdict);
        self.heard(commit.member, cx);
        cx.note(Fact::CommitChecked { broker: self.broker, verdict }, Rules::of(&[OC1, OC2, OC3]));
        let rules = match outcome {
            Ok(()) => {
                let backwards = cx.offsets.append(&commit.offsets);
                let fact = Fact::OffsetsAppended {
                    broker: self.broker,
                    member: commit.member,
                    offsets: Arc::clone(&commit.offsets),
                    backwards,
                };
                cx.note(fact, Rules::of(&[OC4]));
                Rules::of(&[OC4])
            }
            Err(_) => failed,
        };
        cx.reply(to, Response::Commit(outcome), rules);
    }

    /// Decision 19: any request of a member is a sign of life. HB3 rests while its join is held (decision 4).
    fn heard(&self, id: MemberId, cx: &mut CoordinatorContext<'_>) {
        let member = self.group.as_ref().and_then(|group| group.members.get(&id));
        if let Some(member) = member
            && member.held.is_none()
        {
            cx.set(CoordinatorTimer::Session(id), member.session_timeout);
        }
    }
}

/// The rules that a commit failed.
fn failed_conditions(verdict: &offsets::Verdict) -> Rules {
    let conditions = [(verdict.is_member, OC1), (verdict.owns_all(), OC2), (verdict.is_current(), OC3)];
    conditions.into_iter().filter(|(holds, _)| !holds).fold(Rules::NONE, |rules, (_, rule)| rules.and(rule))
}

impl Group {
    fn empty() -> Self {
        Self {
            number: 0,
            members: BTreeMap::new(),
            phase: Phase::Stable,
            arrivals: Vec::new(),
            owners: BTreeMap::new(),
            counts: BTreeMap::new(),
        }
    }

    /// Takes up what a join says of its member, and tells why it makes the group rebalance (RB2).
    fn admit(&mut self, join: &Join) -> RebalanceReason {
        let Some(member) = self.members.get_mut(&join.member) else {
            let member = Member {
                topics: Arc::clone(&join.topics),
                session_timeout: join.session_timeout,
                assignment: Arc::default(),
                held: None,
            };
            self.members.insert(join.member, member);
            return RebalanceReason::NewMember(join.member);
        };
        let is_same = member.topics == join.topics;
        member.topics = Arc::clone(&join.topics);
        member.session_timeout = join.session_timeout;
        if is_same { RebalanceReason::Rejoined(join.member) } else { RebalanceReason::SubscriptionChanged(join.member) }
    }

    /// Holds a member's join; one on a newer channel replaces the first and keeps its place (decision 4).
    fn hold(&mut self, id: MemberId, to: ReplyTo) {
        let Some(member) = self.members.get_mut(&id) else { return };
        if member.held.replace(to).is_none() {
            self.arrivals.push(id);
        }
    }

    fn awaited(&self) -> u32 {
        (self.members.len() - self.arrivals.len()) as u32
    }

    /// EC4, decision 5: whoever has not joined has a session timeout from now.
    fn set_deadlines(&self, cx: &mut CoordinatorContext<'_>) {
        for (id, member) in self.members.iter().filter(|(_, member)| member.held.is_none()) {
            cx.set(CoordinatorTimer::JoinDeadline(*id), member.session_timeout);
        }
    }

    /// Computes the assignment of a new generation and takes it up.
    fn form(
        &mut self,
        generation: Generation,
        strategy: crate::scenario::AssignmentStrategy,
        cluster: &Cluster,
    ) -> Formed {
        let subscriptions: Vec<_> = self.members.iter().map(|(id, m)| (*id, Arc::clone(&m.topics))).collect();
        let topics: BTreeSet<TopicId> = subscriptions.iter().flat_map(|(_, topics)| topics.iter().copied()).collect();
        self.counts = topics.into_iter().map(|topic| (topic, cluster.count(topic))).collect();
        self.owners.clear();
        let mut assignment = Vec::with_capacity(subscriptions.len());
        for (id, partitions) in assign(strategy, &subscriptions, |topic| cluster.count(topic)) {
            let partitions: Arc<[Partition]> = partitions.into();
            self.owners.extend(partitions.iter().map(|partition| (*partition, id)));
            if let Some(member) = self.members.get_mut(&id) {
                member.assignment = Arc::clone(&partitions);
            }
            assignment.push((id, partitions));
        }
        let counts = self.counts.iter().map(|(topic, count)| (*topic, *count)).collect();
        Formed { generation, assignment, subscriptions, counts }
    }
}

impl Member {
    fn written(&self) -> WrittenMember {
        WrittenMember {
            topics: Arc::clone(&self.topics),
            session_timeout: self.session_timeout,
            assignment: Arc::clone(&self.assignment),
        }
    }
}

impl WrittenMember {
    fn restored(self) -> Member {
        Member { topics: self.topics, session_timeout: self.session_timeout, assignment: self.assignment, held: None }
    }
}

/// The error for a broker that is asked about a group it does not coordinate (decision 10).
#[must_use]
pub fn not_coordinator(request: &Request) -> Option<Response> {
    match request {
        Request::Metadata { .. } => None,
        Request::Join(_) => Some(Response::Join(Err(JoinError::NotCoordinator))),
        Request::Heartbeat { .. } => Some(Response::Heartbeat(Err(HeartbeatError::NotCoordinator))),
        Request::Commit(_) => Some(Response::Commit(Err(CommitError::NotCoordinator))),
    }
}
