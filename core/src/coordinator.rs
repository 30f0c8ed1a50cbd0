//! The group coordinator: who is a member, which generation is in force, and how a rebalance goes.
//!
//! Members are told of a rebalance by an error code in the answers to their heartbeats (option 1) or by closing their
//! sockets (option 2). A coordinator never speaks first (AR1): its effects can answer a request and close a channel,
//! and nothing else travels.
//!
//! Everything that it does to the group or to the offset log is a write with its epoch. When the role has moved, a write
//! of the older epoch is refused: the coordinator resigns, and its broker answers that it is not the coordinator
//! (decision 10).

mod roll;

use std::sync::Arc;

use crate::assign::assign;
use crate::cluster::Cluster;
use crate::error::{CommitError, HeartbeatError, JoinError};
use crate::id::{BrokerId, ConnectionId, Correlation, Epoch, Generation, MemberId, Partition, RecordId, TopicId};
use crate::map::{Map, Set};
use crate::message::{Commit, Join, Joined, NamedStrategy, Offsets, Request, Response, Topics};
use crate::offsets::{self, OffsetLog};
use crate::rules::Rule::{
    self, EC0, EC2, EC3, EC4, EC6, HB2, HB3, HB6, JG2, OC1, OC2, OC3, OC4, RB1, RB2, RB3, SC0, SC3, SC4,
};
use crate::rules::Rules;
use crate::scenario::{
    AssignmentStrategy, CompletionCheck, Dialect, GroupPlan, Heard, JoinWindow, MemberIds, MissingJoin, RebalanceBy,
    UnchangedJoin,
};
use crate::time::{Span, Time};
use crate::trace::{Fact, Formed, RebalanceReason, RemovalReason};

use roll::Roll;

/// Where an answer goes: what came with the request, given back as it is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ReplyTo {
    pub(crate) connection: ConnectionId,
    pub(crate) correlation: Correlation,
    pub(crate) request: RecordId,
}

impl ReplyTo {
    /// Where the answer to a request goes that a driver of its own gives to a coordinator, as tests do; in a run the
    /// simulation makes them. `request` tells apart the requests that wait for an answer.
    #[must_use]
    pub const fn new(connection: ConnectionId, correlation: Correlation, request: RecordId) -> Self {
        Self { connection, correlation, request }
    }

    /// The request that is answered.
    #[must_use]
    pub const fn request(self) -> RecordId {
        self.request
    }
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
    /// Close a channel from this end (SC0).
    Close {
        /// Which.
        connection: ConnectionId,
        /// The rules that it carries out.
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
    /// Cancel every timer of the broker.
    CancelAll,
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
    /// The highest epoch that has written: a write of an older one is refused (decision 10).
    pub latest_epoch: Epoch,
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

    fn close(&mut self, connection: ConnectionId, rules: Rules) {
        self.effects.push(CoordinatorEffect::Close { connection, rules });
    }
}

/// What of a group is written before any answer that depends on it is sent (decision 2), and so outlives a crash.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Written {
    /// How many lives the group has had.
    lives: u32,
    /// How many ids have been given to each consumer.
    given: Map<MemberId, u32>,
    group: Option<WrittenGroup>,
}

#[derive(Clone, PartialEq, Eq, Debug)]
struct WrittenGroup {
    generation: Generation,
    members: Vec<(MemberId, WrittenMember)>,
    counts: Map<TopicId, u32>,
    strategy: AssignmentStrategy,
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
    settings: GroupPlan,
    /// How many lives the group has had (decision 20).
    lives: u32,
    /// How many ids have been given to each consumer (decision 16).
    given: Map<MemberId, u32>,
    /// How many consumers there are names for.
    names: u32,
    group: Option<Group>,
    standing: Standing,
}

/// Whether this coordinator knows that the role has moved on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Standing {
    InOffice,
    Resigned,
}

#[derive(Clone, Debug)]
struct Group {
    /// The generation in force; its number is 0 before the first.
    generation: Generation,
    members: Roll<Member>,
    phase: Phase,
    /// Members whose joins are held, in the order in which they came.
    arrivals: Vec<MemberId>,
    /// Who owns what in the generation in force.
    owners: Map<Partition, MemberId>,
    /// The partition counts that its assignment was computed from.
    counts: Map<TopicId, u32>,
    strategy: AssignmentStrategy,
}

#[derive(Clone, Debug)]
struct Member {
    topics: Topics,
    session_timeout: Span,
    assignment: Arc<[Partition]>,
    held: Option<ReplyTo>,
    naming: Naming,
    /// The channel that its last request came on.
    connection: Option<ConnectionId>,
}

/// Whether a member's consumer knows by which id the group knows it (decision 16).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Naming {
    Known,
    /// The id was given for a join that is not answered yet.
    Given,
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
    /// A coordinator that knows of no group, in an epoch. `names` is how many consumers there are.
    #[must_use]
    pub fn new(broker: BrokerId, epoch: Epoch, names: u32, settings: GroupPlan) -> Self {
        let (given, standing) = (Map::new(), Standing::InOffice);
        Self { broker, epoch, settings, lives: 0, given, names, group: None, standing }
    }

    // --- getters ---

    /// What has been written of the group so far (decision 2): every change is written at once.
    #[must_use]
    pub fn written(&self) -> Written {
        let group = self.group.as_ref().map(|group| WrittenGroup {
            generation: group.generation,
            members: group.members.iter().map(|(id, member)| (id, member.written())).collect(),
            counts: group.counts.clone(),
            strategy: group.strategy,
            phase: group.phase,
        });
        Written { lives: self.lives, given: self.given.clone(), group }
    }

    /// The generation with a number in the group's present life: what a number named by hand stands for (decision 23).
    #[must_use]
    pub fn generation_numbered(&self, number: u32) -> Generation {
        let own = Generation { epoch: self.epoch, life: self.lives, number };
        self.group.as_ref().map_or(own, |group| Generation { number, ..group.generation })
    }

    /// Whether it has found out that the role has moved on: it no longer answers for the group.
    #[must_use]
    pub fn has_resigned(&self) -> bool {
        self.standing == Standing::Resigned
    }

    // --- handlers ---

    /// Takes up what was written of the group: restarts the session timers and, if a rebalance was open, opens it again
    /// (decision 2).
    pub fn recover(&mut self, written: Written, cx: &mut CoordinatorContext<'_>) {
        self.lives = written.lives;
        self.given = written.given;
        let Some(group) = written.group else { return };
        let mut members = Roll::new();
        for (id, member) in group.members {
            members.insert(id, member.restored());
        }
        let owned = members.iter().flat_map(|(id, member)| member.assignment.iter().map(move |p| (*p, id)));
        let owners = owned.collect();
        for (id, member) in members.iter() {
            cx.set(CoordinatorTimer::Session(id), member.session_timeout);
        }
        cx.set(CoordinatorTimer::PartitionCheck, self.settings.partition_check);
        let count = members.len() as u32;
        let (phase, generation) = (group.phase, group.generation);
        self.group = Some(Group {
            generation,
            members,
            phase: Phase::Stable,
            arrivals: Vec::new(),
            owners,
            counts: group.counts,
            strategy: group.strategy,
        });
        cx.note(Fact::GroupRecovered { broker: self.broker, generation, members: count }, Rules::NONE);
        match phase {
            Phase::Preparing => self.open_rebalance(RebalanceReason::Reopened, Rules::NONE, cx),
            Phase::Stable => {}
        }
    }

    /// Starts with nothing but the counts that keep identities apart (decision 2, lost).
    pub fn forget(&mut self, written: Written, cx: &mut CoordinatorContext<'_>) {
        self.lives = written.lives;
        self.given = written.given;
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
            Request::SimpleCommit { offsets } => self.commit_without_member(to, offsets, cx),
            Request::Leave { member } => self.leave(to, *member, cx),
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

    // --- the role (decision 10) ---

    /// Whether a write goes through. If the role has moved on it does not, and this coordinator resigns: joins that it
    /// holds are answered that it is not the coordinator.
    fn may_write(&mut self, cx: &mut CoordinatorContext<'_>) -> bool {
        if cx.latest_epoch <= self.epoch {
            return true;
        }
        self.resign(cx);
        false
    }

    /// The role has moved on.
    pub fn resign(&mut self, cx: &mut CoordinatorContext<'_>) {
        self.standing = Standing::Resigned;
        cx.note(Fact::CoordinatorResigned { broker: self.broker, epoch: self.epoch }, Rules::NONE);
        cx.effects.push(CoordinatorEffect::CancelAll);
        let Some(mut group) = self.group.take() else { return };
        for id in std::mem::take(&mut group.arrivals) {
            if let Some(to) = group.members.get_mut(&id).and_then(|member| member.held.take()) {
                cx.reply(to, Response::Join(Err(JoinError::NotCoordinator)), Rules::NONE);
            }
        }
    }

    /// The rule for something that both options do, by the option.
    fn rule(&self, option_1: Rule, option_2: Rule) -> Rules {
        match self.settings.rebalance {
            RebalanceBy::ErrorCode => Rules::of(&[option_1]),
            RebalanceBy::SocketClose => Rules::of(&[option_2]),
        }
    }

    // --- joining ---

    fn join(&mut self, to: ReplyTo, join: &Join, cx: &mut CoordinatorContext<'_>) {
        if let Err(error) = self.admissible(join) {
            return cx.reply(to, Response::Join(Err(error)), Rules::of(&[EC6]));
        }
        if !self.may_write(cx) {
            return cx.reply(to, Response::Join(Err(JoinError::NotCoordinator)), Rules::NONE);
        }
        let id = self.identify(join.member);
        if self.group.as_ref().is_some_and(|group| group.is_outdated(id, to)) {
            return;
        }
        if self.answers_unchanged(id, join) {
            return self.answer_join(id, to, cx);
        }
        let is_new_group = self.group.is_none();
        if is_new_group {
            self.lives += 1;
            cx.set(CoordinatorTimer::PartitionCheck, self.settings.partition_check);
        }
        let strategy = self.settings.assignment;
        let group = self.group.get_or_insert_with(|| Group::empty(join, strategy));
        let why = group.admit(id, join);
        group.hold(id, to);
        if let RebalanceReason::NewMember(member) = why {
            let rules = if is_new_group { self.rule(EC2, SC4) } else { Rules::NONE };
            cx.note(Fact::MemberAdded { broker: self.broker, member }, rules);
        }
        cx.cancel(CoordinatorTimer::Session(id));
        cx.cancel(CoordinatorTimer::JoinDeadline(id));
        match self.group.as_ref().map(|group| group.phase) {
            Some(Phase::Stable) => self.open_rebalance(why, Rules::of(&[RB2, JG2]), cx),
            Some(Phase::Preparing) => self.hold_or_complete(Some(id), self.rule(EC2, SC3).and(JG2), cx),
            None => {}
        }
    }

    /// Decision 16: who joins. Where the coordinator gives out ids, a consumer that comes with its plain name gets one.
    fn identify(&mut self, member: MemberId) -> MemberId {
        if self.settings.member_ids == MemberIds::Consumer || member.0 >= self.names {
            return member;
        }
        let turn = self.given.or_insert_with(member, || 0);
        *turn += 1;
        MemberId(member.0.saturating_add(self.names.saturating_mul(*turn)))
    }

    /// Whether a join comes with an id that was given out, or made up: only where ids are given out is there any but the
    /// consumers' own names.
    fn has_id(&self, member: MemberId) -> bool {
        self.settings.member_ids == MemberIds::Coordinator && member.0 >= self.names
    }

    /// Decisions 9 and 24: what refuses a join.
    fn admissible(&self, join: &Join) -> Result<(), JoinError> {
        let is_member = self.group.as_ref().is_some_and(|group| group.members.contains_key(&join.member));
        let group_strategy = self.group.as_ref().map(|group| NamedStrategy::Known(group.strategy));
        if self.settings.dialect == Dialect::Kafka2015 && join.strategy == Some(NamedStrategy::Unknown) {
            return Err(JoinError::UnknownStrategy);
        }
        let bounds = self.settings.min_session_timeout..=self.settings.max_session_timeout;
        if !bounds.contains(&join.session_timeout) {
            return Err(JoinError::InvalidSessionTimeout);
        }
        let names_other = join.strategy.is_some() && group_strategy.is_some() && join.strategy != group_strategy;
        if self.settings.dialect == Dialect::Kafka2015 && names_other {
            return Err(JoinError::InconsistentStrategy);
        }
        if self.settings.dialect == Dialect::Kafka2015 && self.has_id(join.member) && !is_member {
            return Err(JoinError::UnknownMember);
        }
        let size = self.group.as_ref().map_or(0, |group| group.members.len());
        match self.settings.max_size {
            Some(most) if !is_member && size >= most as usize => Err(JoinError::GroupMaxSizeReached),
            Some(_) | None => Ok(()),
        }
    }

    /// Decision 24: whether a join that changes nothing is answered with the present assignment.
    fn answers_unchanged(&self, id: MemberId, join: &Join) -> bool {
        let Some(group) = &self.group else { return false };
        let is_same = group.members.get(&id).is_some_and(|member| member.topics == join.topics);
        self.settings.unchanged_join == UnchangedJoin::Answer && group.phase == Phase::Stable && is_same
    }

    /// RB1 to RB3: begins a rebalance of a stable group. Each member has its session timeout to join (EC4). In option 2
    /// the sockets of all but those whose joins are held are closed, once for each rebalance (SC0, decision 18).
    fn open_rebalance(&mut self, why: RebalanceReason, rules: Rules, cx: &mut CoordinatorContext<'_>) {
        let Some(group) = &mut self.group else { return };
        group.phase = Phase::Preparing;
        cx.note(Fact::RebalanceStarted { broker: self.broker, why }, rules);
        if self.settings.rebalance == RebalanceBy::SocketClose {
            group.close_sockets(cx);
        }
        group.set_deadlines(self.settings.join_window, cx);
        let joined = group.arrivals.last().copied();
        self.hold_or_complete(joined, self.rule(EC2, SC3), cx);
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

    /// EC3, SC3, SC4: the new generation, its assignment, and the answers in the order in which the joins came.
    fn complete(&mut self, cx: &mut CoordinatorContext<'_>) {
        let Some(group) = &mut self.group else { return };
        let is_first = group.generation.number == 0;
        let generation =
            Generation { epoch: self.epoch, life: self.lives, number: group.generation.number.saturating_add(1) };
        let formed = Arc::new(group.form(generation, cx.cluster));
        group.phase = Phase::Stable;
        let arrivals = std::mem::take(&mut group.arrivals);
        let rules = if is_first { self.rule(EC3, SC4) } else { self.rule(EC3, SC3) };
        cx.note(Fact::AssignmentComputed { broker: self.broker, formed }, rules);
        for id in arrivals {
            let Some(member) = self.group.as_mut().and_then(|group| group.members.get_mut(&id)) else { continue };
            member.naming = Naming::Known;
            if let Some(to) = member.held.take() {
                self.answer_join_with(id, to, rules, cx);
            }
        }
    }

    fn answer_join(&self, id: MemberId, to: ReplyTo, cx: &mut CoordinatorContext<'_>) {
        self.answer_join_with(id, to, self.rule(EC3, SC3), cx);
    }

    /// Answers a join with the generation in force; the session starts anew (decision 4).
    fn answer_join_with(&self, id: MemberId, to: ReplyTo, rules: Rules, cx: &mut CoordinatorContext<'_>) {
        let Some(group) = &self.group else { return };
        let Some(member) = group.members.get(&id) else { return };
        let joined = Joined {
            given: (self.settings.member_ids == MemberIds::Coordinator).then_some(id),
            generation: group.generation,
            assignment: member.assignment.iter().map(|p| (*p, cx.offsets.committed(*p))).collect(),
            counts: cx.cluster.counts(&member.topics),
        };
        cx.reply(to, Response::Join(Ok(Arc::new(joined))), rules);
        cx.set(CoordinatorTimer::Session(id), member.session_timeout);
    }

    // --- failures ---

    /// HB3 or EC4: a member is missing.
    fn missing(&mut self, id: MemberId, how: Missing, cx: &mut CoordinatorContext<'_>) {
        let Some(group) = &self.group else { return };
        if !group.members.contains_key(&id) {
            return self.window_ends(cx);
        }
        let is_awaited = group.members.get(&id).is_some_and(|member| member.held.is_none());
        if !is_awaited || !self.may_write(cx) {
            return;
        }
        let Some(group) = &self.group else { return };
        let (why, rules) = match (group.phase, how) {
            (Phase::Stable, _) => (RemovalReason::SessionExpired, Rules::of(&[HB3])),
            (Phase::Preparing, Missing::Silent) => (RemovalReason::SessionExpired, Rules::of(&[HB3, EC4])),
            (Phase::Preparing, Missing::NotJoined) => (RemovalReason::JoinMissing, Rules::of(&[EC4])),
        };
        self.remove(id, why, rules, cx);
        let Some(group) = &self.group else { return };
        match (group.phase, self.settings.missing_join) {
            (Phase::Stable, _) => self.open_rebalance(RebalanceReason::MemberFailed(id), Rules::of(&[RB1]), cx),
            (Phase::Preparing, MissingJoin::Retry) => self.retry(id, cx),
            (Phase::Preparing, MissingJoin::Complete) => match (self.settings.completion_check, how) {
                (CompletionCheck::All, _) | (_, Missing::NotJoined) => self.hold_or_complete(None, Rules::NONE, cx),
                (CompletionCheck::Left | CompletionCheck::Never, Missing::Silent) => {}
            },
        }
    }

    /// The window of a member is over that went before, and whose going the coordinator did not look at (decision 24).
    fn window_ends(&mut self, cx: &mut CoordinatorContext<'_>) {
        if self.group.as_ref().is_some_and(|group| group.phase == Phase::Preparing) && self.may_write(cx) {
            self.hold_or_complete(None, Rules::NONE, cx);
        }
    }

    /// Removes a member; a group that loses its last one is forgotten (decision 20).
    fn remove(&mut self, id: MemberId, why: RemovalReason, rules: Rules, cx: &mut CoordinatorContext<'_>) {
        let Some(group) = &mut self.group else { return };
        group.members.remove(&id);
        group.owners.retain(|_, owner| *owner != id);
        group.arrivals.retain(|arrived| *arrived != id);
        cx.cancel(CoordinatorTimer::Session(id));
        if self.settings.completion_check == CompletionCheck::All {
            cx.cancel(CoordinatorTimer::JoinDeadline(id));
        }
        cx.note(Fact::MemberRemoved { broker: self.broker, member: id, why }, rules);
        if group.members.is_empty() {
            self.group = None;
            cx.cancel(CoordinatorTimer::PartitionCheck);
            cx.note(Fact::GroupForgotten { broker: self.broker }, Rules::NONE);
        }
    }

    /// EC4: the rebalance starts again, and the held joins are answered "retry". A member whose consumer does not know its
    /// id yet (decision 16) comes back under another: it is removed, or it would be missing in its turn, and the next one,
    /// without an end.
    fn retry(&mut self, missing: MemberId, cx: &mut CoordinatorContext<'_>) {
        let Some(group) = &mut self.group else { return };
        cx.note(Fact::RebalanceRetried { broker: self.broker, missing }, Rules::of(&[EC4]));
        let mut never_named = Vec::new();
        for id in std::mem::take(&mut group.arrivals) {
            let Some(member) = group.members.get_mut(&id) else { continue };
            let Some(to) = member.held.take() else { continue };
            cx.reply(to, Response::Join(Err(JoinError::RebalanceInProgress)), Rules::of(&[EC4]));
            match member.naming {
                Naming::Known => cx.set(CoordinatorTimer::Session(id), member.session_timeout),
                Naming::Given => never_named.push(id),
            }
        }
        for id in never_named {
            self.remove(id, RemovalReason::NeverNamed, Rules::NONE, cx);
        }
        if let Some(group) = &self.group {
            group.set_deadlines(self.settings.join_window, cx);
        }
    }

    /// RB3: the coordinator looks whether a subscribed topic has more partitions than it last assigned (decision 14).
    fn check_partitions(&mut self, cx: &mut CoordinatorContext<'_>) {
        let Some(group) = &self.group else { return };
        cx.set(CoordinatorTimer::PartitionCheck, self.settings.partition_check);
        if group.phase == Phase::Preparing {
            return;
        }
        let grown = group.counts.iter().find(|(topic, count)| cx.cluster.count(**topic) > **count);
        let Some(topic) = grown.map(|(topic, _)| *topic) else { return };
        if self.may_write(cx) {
            self.open_rebalance(RebalanceReason::PartitionsChanged(topic), Rules::of(&[RB3]), cx);
        }
    }

    /// Decision 17: a member leaves. If all the others are held, they are answered at once.
    fn leave(&mut self, to: ReplyTo, id: MemberId, cx: &mut CoordinatorContext<'_>) {
        let is_member = self.group.as_ref().is_some_and(|group| group.members.contains_key(&id));
        if !is_member {
            return cx.reply(to, Response::Leave(Err(HeartbeatError::UnknownMember)), Rules::NONE);
        }
        if !self.may_write(cx) {
            return cx.reply(to, Response::Leave(Err(HeartbeatError::NotCoordinator)), Rules::NONE);
        }
        cx.reply(to, Response::Leave(Ok(())), Rules::NONE);
        self.remove(id, RemovalReason::Left, Rules::NONE, cx);
        match self.group.as_ref().map(|group| group.phase) {
            Some(Phase::Stable) => self.open_rebalance(RebalanceReason::MemberLeft(id), Rules::of(&[RB1]), cx),
            Some(Phase::Preparing) if self.settings.completion_check == CompletionCheck::Never => {}
            Some(Phase::Preparing) => self.hold_or_complete(None, Rules::NONE, cx),
            None => {}
        }
    }

    // --- heartbeats and commits ---

    fn heartbeat(&mut self, to: ReplyTo, id: MemberId, generation: Generation, cx: &mut CoordinatorContext<'_>) {
        let group = self.group.as_ref();
        let member = group.and_then(|group| Some((group, group.members.get(&id)?)));
        let kafka = self.settings.dialect == Dialect::Kafka2015;
        let (answer, rules) = match member {
            None => (Err(HeartbeatError::UnknownMember), Rules::of(&[HB6])),
            Some((group, _)) if kafka && generation != group.generation => {
                (Err(HeartbeatError::IllegalGeneration), Rules::of(&[HB6]))
            }
            Some((group, member)) if group.phase == Phase::Preparing && (kafka || member.held.is_none()) => {
                (Err(HeartbeatError::RebalanceInProgress), Rules::of(&[EC0]))
            }
            Some((group, _)) if generation != group.generation => {
                (Err(HeartbeatError::IllegalGeneration), Rules::of(&[HB6]))
            }
            Some(_) => (Ok(()), Rules::of(&[HB2])),
        };
        self.heard(id, to, if answer.is_ok() { Sign::Valid } else { Sign::Refused }, cx);
        match (answer, self.settings.rebalance) {
            (Err(_), RebalanceBy::SocketClose) => cx.close(to.connection, Rules::of(&[SC0])),
            (Ok(()), _) | (Err(_), RebalanceBy::ErrorCode) => cx.reply(to, Response::Heartbeat(answer), rules),
        }
    }

    /// Decision 8: a commit counts against the generation in force, also during a rebalance.
    fn commit(&mut self, to: ReplyTo, commit: &Arc<Commit>, cx: &mut CoordinatorContext<'_>) {
        let group = self.group.as_ref();
        let current = group.map(|group| group.generation);
        let is_member = group.is_some_and(|group| group.members.contains_key(&commit.member));
        let owner = |partition| group.and_then(|group| group.owners.get(&partition).copied());
        let mut verdict = offsets::check(commit, is_member, current, owner);
        if current.is_none() && self.settings.dialect == Dialect::Kafka2015 {
            verdict.outcome = Err(CommitError::IllegalGeneration);
        }
        if verdict.outcome.is_ok() && !self.may_write(cx) {
            return cx.reply(to, Response::Commit(Err(CommitError::NotCoordinator)), Rules::NONE);
        }
        let (outcome, failed) = (verdict.outcome, failed_conditions(&verdict));
        self.heard(commit.member, to, Sign::Commit, cx);
        let fact = Fact::CommitChecked { broker: self.broker, verdict: Arc::new(verdict) };
        cx.note(fact, Rules::of(&[OC1, OC2, OC3]));
        let rules = match outcome {
            Ok(()) => {
                let backwards = cx.offsets.append(&commit.offsets);
                let fact = Fact::OffsetsAppended {
                    broker: self.broker,
                    member: Some(commit.member),
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

    /// Decision 24: a commit of no member. In Kafka's dialect it is stored while there is no such group; in the
    /// document's there is no such commit, and it fails OC1.
    fn commit_without_member(&mut self, to: ReplyTo, offsets: &Offsets, cx: &mut CoordinatorContext<'_>) {
        if self.settings.dialect == Dialect::Document || self.group.is_some() {
            return cx.reply(to, Response::Commit(Err(CommitError::UnknownMember)), Rules::of(&[OC1]));
        }
        if !self.may_write(cx) {
            return cx.reply(to, Response::Commit(Err(CommitError::NotCoordinator)), Rules::NONE);
        }
        let backwards = cx.offsets.append(offsets);
        let (broker, offsets) = (self.broker, Arc::clone(offsets));
        cx.note(Fact::OffsetsAppended { broker, member: None, offsets, backwards }, Rules::NONE);
        cx.reply(to, Response::Commit(Ok(())), Rules::NONE);
    }

    /// Decision 19: any request of a member is a sign of life, or only valid ones (decision 24). HB3 rests while its
    /// join is held (decision 4).
    fn heard(&mut self, id: MemberId, to: ReplyTo, sign: Sign, cx: &mut CoordinatorContext<'_>) {
        let Some(member) = self.group.as_mut().and_then(|group| group.members.get_mut(&id)) else { return };
        if member.held.is_some() {
            return;
        }
        member.connection = Some(to.connection);
        match (self.settings.heard, sign) {
            (Heard::All, _) | (Heard::Valid, Sign::Valid) => {
                cx.set(CoordinatorTimer::Session(id), member.session_timeout);
            }
            (Heard::Valid, Sign::Refused | Sign::Commit) => {}
        }
    }
}

/// A request as a sign of life.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Sign {
    Valid,
    Refused,
    Commit,
}

/// The rules that a commit failed.
fn failed_conditions(verdict: &offsets::Verdict) -> Rules {
    let conditions = [(verdict.is_member, OC1), (verdict.owns_all(), OC2), (verdict.is_current(), OC3)];
    conditions.into_iter().filter(|(holds, _)| !holds).fold(Rules::NONE, |rules, (_, rule)| rules.and(rule))
}

impl Group {
    fn empty(first: &Join, strategy: AssignmentStrategy) -> Self {
        let named = match first.strategy {
            Some(NamedStrategy::Known(named)) => named,
            Some(NamedStrategy::Unknown) | None => strategy,
        };
        Self {
            generation: Generation::default(),
            members: Roll::new(),
            phase: Phase::Stable,
            arrivals: Vec::new(),
            owners: Map::new(),
            counts: Map::new(),
            strategy: named,
        }
    }

    /// Takes up what a join says of its member, and tells why it makes the group rebalance (RB2).
    fn admit(&mut self, id: MemberId, join: &Join) -> RebalanceReason {
        let Some(member) = self.members.get_mut(&id) else {
            let member = Member {
                topics: Arc::clone(&join.topics),
                session_timeout: join.session_timeout,
                assignment: Arc::default(),
                held: None,
                naming: if join.member == id { Naming::Known } else { Naming::Given },
                connection: None,
            };
            self.members.insert(id, member);
            return RebalanceReason::NewMember(id);
        };
        let is_same = member.topics == join.topics;
        member.topics = Arc::clone(&join.topics);
        member.session_timeout = join.session_timeout;
        if is_same { RebalanceReason::Rejoined(id) } else { RebalanceReason::SubscriptionChanged(id) }
    }

    /// Holds a member's join; one on a newer channel replaces the first and keeps its place (decision 4).
    fn hold(&mut self, id: MemberId, to: ReplyTo) {
        let Some(member) = self.members.get_mut(&id) else { return };
        member.connection = Some(to.connection);
        if member.held.replace(to).is_none() {
            self.arrivals.push(id);
        }
    }

    /// Whether a join comes late, on a channel that its consumer has given up since: one on a newer channel is held.
    fn is_outdated(&self, id: MemberId, to: ReplyTo) -> bool {
        let held = self.members.get(&id).and_then(|member| member.held);
        held.is_some_and(|held| held.connection > to.connection)
    }

    /// SC0. Closing a member's socket counts as having heard from it (decision 5).
    fn close_sockets(&mut self, cx: &mut CoordinatorContext<'_>) {
        for (id, member) in self.members.iter_mut().filter(|(_, member)| member.held.is_none()) {
            if let Some(connection) = member.connection.take() {
                cx.close(connection, Rules::of(&[SC0]));
            }
            cx.set(CoordinatorTimer::Session(id), member.session_timeout);
        }
    }

    fn awaited(&self) -> u32 {
        (self.members.len() - self.arrivals.len()) as u32
    }

    /// EC4, decision 5: whoever has not joined has a session timeout from now.
    fn set_deadlines(&self, window: JoinWindow, cx: &mut CoordinatorContext<'_>) {
        let longest = self.members.iter().map(|(_, member)| member.session_timeout).max().unwrap_or_default();
        for (id, member) in self.members.iter().filter(|(_, member)| member.held.is_none()) {
            let wait = match window {
                JoinWindow::Own => member.session_timeout,
                JoinWindow::Longest => longest,
                JoinWindow::Fixed(window) => window,
            };
            cx.set(CoordinatorTimer::JoinDeadline(id), wait);
        }
    }

    /// Computes the assignment of a new generation and takes it up.
    fn form(&mut self, generation: Generation, cluster: &Cluster) -> Formed {
        self.generation = generation;
        let subscriptions: Vec<_> = self.members.iter().map(|(id, m)| (id, Arc::clone(&m.topics))).collect();
        let topics: Set<TopicId> = subscriptions.iter().flat_map(|(_, topics)| topics.iter().copied()).collect();
        self.counts = topics.into_iter().map(|topic| (topic, cluster.count(topic))).collect();
        self.owners.clear();
        let mut assignment = Vec::with_capacity(subscriptions.len());
        for (id, partitions) in assign(self.strategy, &subscriptions, |topic| cluster.count(topic)) {
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
        Member {
            topics: self.topics,
            session_timeout: self.session_timeout,
            assignment: self.assignment,
            held: None,
            naming: Naming::Known,
            connection: None,
        }
    }
}

/// The error for a broker that is asked about a group it does not coordinate (decision 10).
#[must_use]
pub fn not_coordinator(request: &Request) -> Option<Response> {
    match request {
        Request::Metadata { .. } => None,
        Request::Join(_) => Some(Response::Join(Err(JoinError::NotCoordinator))),
        Request::Heartbeat { .. } => Some(Response::Heartbeat(Err(HeartbeatError::NotCoordinator))),
        Request::Commit(_) | Request::SimpleCommit { .. } => Some(Response::Commit(Err(CommitError::NotCoordinator))),
        Request::Leave { .. } => Some(Response::Leave(Err(HeartbeatError::NotCoordinator))),
    }
}
