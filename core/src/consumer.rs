//! A consumer: it finds the coordinator, joins the group, sends heartbeats, fetches, and commits.
//!
//! It is single-threaded (AR2): while a callback or slow processing keeps its thread, the driver holds its inputs back
//! and gives them to it afterwards, in order.

mod commits;
mod search;

use std::collections::VecDeque;
use std::sync::Arc;

use crate::cluster::{Cluster, position};
use crate::error::{CommitError, HeartbeatError, JoinError};
use crate::id::{BrokerId, Correlation, Generation, MemberId, Offset, Partition};
use crate::message::{Join, Joined, Offsets, PartitionCounts, Request, Response, Topics};
use crate::rules::Rule::{AR2, EC1, EC5, EC6, HB1, HB4, HB5, HB6, JG1, JG3, OC5, SC1, SC2, SC5, ST1};
use crate::rules::Rules;
use crate::scenario::{ConsumerPlan, OnClose, OnCoordinatorFailure, OnDeassigned, RebalanceBy};
use crate::time::{Span, Time};
use crate::trace::{Callback, CoordinatorFailure, DropReason, Fact};

use commits::Commits;
use search::{Links, Search, Want};

/// What happens to a consumer.
#[derive(Clone, PartialEq, Debug)]
pub enum ConsumerInput {
    /// Its process starts.
    Started,
    /// A channel that it opens is open.
    Opened(BrokerId),
    /// Its channel to a broker is closed, or could not be opened.
    Closed(BrokerId),
    /// An answer came.
    Response {
        /// From which broker.
        broker: BrokerId,
        /// To which request.
        correlation: Correlation,
        /// What it says.
        response: Response,
    },
    /// A timer fired.
    Timer(ConsumerTimer),
    /// Its thread is free again: what kept it ([`ConsumerEffect::Busy`]) is over.
    ThreadFree,
    /// Its process goes on after it stood still since then. It cannot tell; this is for the account of what it has
    /// processed (decision 12).
    Resumed {
        /// When it stopped.
        since: Time,
    },
    /// The application changes the subscription (ST1).
    Subscribe(Topics),
    /// The application commits (decision 23).
    Commit(CommitOrder),
    /// A heartbeat by hand (decision 23); what is `None` is the consumer's own.
    Heartbeat {
        /// In whose name.
        member: Option<MemberId>,
        /// With which generation.
        generation: Option<Generation>,
    },
    /// The application keeps the thread for so long (AR2).
    Process(Span),
    /// The application closes the consumer (decision 17).
    Close,
}

/// A commit by the application; what is `None` is the consumer's own.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CommitOrder {
    /// In whose name.
    pub member: Option<MemberId>,
    /// With which generation.
    pub generation: Option<Generation>,
    /// Which offsets.
    pub offsets: Option<Offsets>,
}

/// A consumer's timers.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum ConsumerTimer {
    /// HB1: the next heartbeat is due.
    Heartbeat,
    /// HB4: the oldest unanswered heartbeat has gone unanswered for too long.
    CoordinatorTimeout,
    /// Decision 6: the join has gone unanswered for too long.
    JoinTimeout,
    /// Decision 10: a connection, metadata request or commit has gone unanswered for too long.
    RequestTimeout,
    /// Decision 10: time to ask the next broker.
    BackOff,
    /// Decision 14: time to look for new partitions.
    MetadataRefresh,
    /// Time to commit.
    Commit,
    /// Decision 1: a resuming consumer has been without a coordinator for its session timeout.
    Resume,
}

impl ConsumerTimer {
    /// Every timer.
    pub const ALL: [Self; 8] = [
        Self::Heartbeat,
        Self::CoordinatorTimeout,
        Self::JoinTimeout,
        Self::RequestTimeout,
        Self::BackOff,
        Self::MetadataRefresh,
        Self::Commit,
        Self::Resume,
    ];
}

/// What a consumer wants done.
#[derive(Clone, PartialEq, Debug)]
pub enum ConsumerEffect {
    /// Open a channel to a broker.
    Open(BrokerId),
    /// Close the channel to a broker.
    Close(BrokerId),
    /// Send a request on the open channel to a broker.
    Send {
        /// To whom.
        broker: BrokerId,
        /// Its number.
        correlation: Correlation,
        /// What it says.
        request: Request,
        /// The rules that it carries out.
        rules: Rules,
    },
    /// Set a timer, in place of the one of the same name.
    Set {
        /// Which.
        timer: ConsumerTimer,
        /// After how long it fires.
        after: Span,
    },
    /// Cancel a timer.
    Cancel(ConsumerTimer),
    /// The thread is kept for so long: hold every input back, then give [`ConsumerInput::ThreadFree`] (AR2).
    Busy(Span),
    /// Put something on record.
    Note {
        /// What.
        fact: Fact,
        /// The rules that it carries out.
        rules: Rules,
    },
    /// A command did not apply.
    Ignored(&'static str),
    /// The process ends in good order.
    End,
}

/// What a consumer is given besides its input.
#[derive(Debug)]
pub struct ConsumerContext<'a> {
    /// The time of the input.
    pub now: Time,
    /// How far the partitions have been produced: what fetching would find (decision 12).
    pub cluster: &'a Cluster,
    /// Where effects go, in order.
    pub effects: &'a mut Vec<ConsumerEffect>,
}

impl ConsumerContext<'_> {
    fn note(&mut self, fact: Fact, rules: Rules) {
        self.effects.push(ConsumerEffect::Note { fact, rules });
    }

    fn set(&mut self, timer: ConsumerTimer, after: Span) {
        self.effects.push(ConsumerEffect::Set { timer, after });
    }

    fn cancel(&mut self, timer: ConsumerTimer) {
        self.effects.push(ConsumerEffect::Cancel(timer));
    }
}

/// One life of a consumer's process.
#[derive(Clone, Debug)]
pub struct Consumer {
    plan: Arc<ConsumerPlan>,
    /// Who it is to the group: its name for life, or the id that the coordinator gave out (decision 16).
    member: MemberId,
    topics: Topics,
    /// A subscription that waits for a pending join's answer (decision 22).
    next_topics: Option<Topics>,
    session: Session,
    owned: Option<Owned>,
    links: Links,
    search: Option<Search>,
    /// The coordinator, as last learned.
    coordinator: Option<BrokerId>,
    /// The broker that has just said that it is not the coordinator: one that names it again is behind the times.
    denied: Option<BrokerId>,
    /// When it last heard from the coordinator (decision 19).
    heard: Time,
    /// Heartbeats sent and not answered, oldest first.
    unanswered: VecDeque<(Correlation, Time)>,
    heartbeat_due: Option<Time>,
    commits: Commits,
    next_correlation: u32,
    /// What to do when the thread is free again.
    after: Option<After>,
    /// The rules that the next join carries out, besides JG1.
    join_rules: Rules,
}

/// What the consumer is to the group, in its own eyes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Session {
    /// Not started, or stopped for good.
    Ended,
    /// On its way to a join.
    Leaving,
    /// A join is sent and not answered (JG1).
    Joining(Correlation),
    /// It holds a generation.
    Member,
    /// It has said that it leaves, and ends when it is answered (decision 17).
    Closing(Correlation),
}

/// What the consumer holds between `onPartitionAssigned()` and the return of `onPartitionDeassigned()`.
#[derive(Clone, Debug)]
struct Owned {
    generation: Generation,
    /// Position of each partition at `since`.
    positions: Vec<(Partition, Offset)>,
    /// Since when it fetches; `None` while it does not.
    since: Option<Time>,
    counts: PartitionCounts,
}

/// What a busy thread goes on with.
#[derive(Clone, Debug)]
enum After {
    /// `onPartitionDeassigned()` returned: join.
    Join,
    /// `onPartitionDeassigned()` returned: end.
    End,
    /// `onPartitionAssigned()` returned: fetch.
    Fetch,
    /// Slow processing is over.
    Processing,
}

impl Consumer {
    /// A consumer that subscribes to `topics` when it starts.
    #[must_use]
    pub fn new(plan: Arc<ConsumerPlan>, topics: Topics) -> Self {
        Self {
            member: plan.member,
            plan,
            topics,
            next_topics: None,
            session: Session::Ended,
            owned: None,
            links: Links::default(),
            search: None,
            coordinator: None,
            denied: None,
            heard: Time::ZERO,
            unanswered: VecDeque::new(),
            heartbeat_due: None,
            commits: Commits::default(),
            next_correlation: 0,
            after: None,
            join_rules: Rules::NONE,
        }
    }

    /// Handles an input: the only way in.
    pub fn handle(&mut self, input: ConsumerInput, cx: &mut ConsumerContext<'_>) {
        match input {
            ConsumerInput::Started => self.started(cx),
            ConsumerInput::Opened(broker) => self.opened(broker, cx),
            ConsumerInput::Closed(broker) => self.closed(broker, cx),
            ConsumerInput::Response { broker, correlation, response } => {
                self.answered(broker, correlation, response, cx)
            }
            ConsumerInput::Timer(timer) => self.timer_fired(timer, cx),
            ConsumerInput::ThreadFree => self.thread_free(cx),
            ConsumerInput::Resumed { since } => self.skip_pause(since, cx),
            ConsumerInput::Subscribe(topics) => self.subscribe(topics, cx),
            ConsumerInput::Commit(order) => self.commit_ordered(order, cx),
            ConsumerInput::Heartbeat { member, generation } => self.heartbeat_by_hand(member, generation, cx),
            ConsumerInput::Process(takes) => self.process(takes, cx),
            ConsumerInput::Close => self.close(cx),
        }
        self.watch_requests(cx);
    }

    // --- commands of the application ---

    fn started(&mut self, cx: &mut ConsumerContext<'_>) {
        let fact = Fact::Subscribed { consumer: self.plan.id, topics: Arc::clone(&self.topics) };
        cx.note(fact, Rules::of(&[ST1]));
        self.give_up_and_join(Rules::of(&[JG3]), cx);
    }

    /// ST1; while a join is pending it waits for the answer (decision 22).
    fn subscribe(&mut self, topics: Topics, cx: &mut ConsumerContext<'_>) {
        match self.session {
            Session::Ended | Session::Closing(_) => cx.effects.push(ConsumerEffect::Ignored("it has stopped")),
            Session::Joining(_) => self.next_topics = Some(topics),
            Session::Leaving => self.take_subscription(topics, cx),
            Session::Member => {
                self.take_subscription(topics, cx);
                self.give_up_and_join(Rules::of(&[ST1, JG3]), cx);
            }
        }
    }

    fn take_subscription(&mut self, topics: Topics, cx: &mut ConsumerContext<'_>) {
        self.next_topics = None;
        self.topics = Arc::clone(&topics);
        cx.note(Fact::Subscribed { consumer: self.plan.id, topics }, Rules::of(&[ST1]));
    }

    fn process(&mut self, takes: Span, cx: &mut ConsumerContext<'_>) {
        self.pause_fetching(cx);
        cx.note(Fact::ProcessingStarted { consumer: self.plan.id, takes }, Rules::of(&[AR2]));
        self.block(takes, After::Processing, cx);
    }

    fn close(&mut self, cx: &mut ConsumerContext<'_>) {
        self.stop_timers(cx);
        self.drop_retry(DropReason::Stopped, cx);
        self.session = Session::Ended;
        if self.owned.is_some() {
            self.stop_and_deassign(Rules::NONE, After::End, cx);
        } else {
            self.leave_or_end(cx);
        }
    }

    /// Decision 17: a silent consumer just ends; the other kind tells the coordinator, if it is in touch with it.
    fn leave_or_end(&mut self, cx: &mut ConsumerContext<'_>) {
        match (self.plan.on_close, self.connected_coordinator()) {
            (OnClose::Leave, Some(broker)) => {
                let correlation = self.send(broker, Request::Leave { member: self.member }, Rules::NONE, cx);
                self.session = Session::Closing(correlation);
                cx.set(ConsumerTimer::JoinTimeout, self.plan.request_timeout);
            }
            (OnClose::Leave, None) | (OnClose::Silent, _) => cx.effects.push(ConsumerEffect::End),
        }
    }

    // --- joining ---

    /// EC1: whatever the reason for a join, what is held is given up first.
    fn give_up_and_join(&mut self, why: Rules, cx: &mut ConsumerContext<'_>) {
        self.stop_timers(cx);
        self.session = Session::Leaving;
        self.join_rules = why;
        if let Some(search) = &mut self.search {
            search.want = Want::Join;
        }
        if self.owned.is_some() {
            self.stop_and_deassign(why, After::Join, cx);
        } else {
            self.seek(Want::Join, cx);
        }
    }

    fn stop_and_deassign(&mut self, why: Rules, after: After, cx: &mut ConsumerContext<'_>) {
        self.pause_fetching(cx);
        let Some(owned) = &self.owned else { return };
        let rules = match self.plan.rebalance {
            RebalanceBy::SocketClose if why.contains(SC1) => Rules::of(&[SC1]),
            RebalanceBy::SocketClose | RebalanceBy::ErrorCode => why.and(EC1),
        };
        let at = owned.positions.iter().copied().collect();
        let partitions = owned.positions.iter().map(|(partition, _)| *partition).collect();
        cx.note(Fact::FetchStopped { consumer: self.plan.id, at }, rules);
        self.call(Callback::Deassigned, partitions, rules, cx);
        if self.plan.on_deassigned == OnDeassigned::Commit {
            self.commit_deassigned(cx);
        }
        self.block(self.plan.callback_time, after, cx);
    }

    fn call(&self, callback: Callback, partitions: Arc<[Partition]>, rules: Rules, cx: &mut ConsumerContext<'_>) {
        let fact =
            Fact::CallbackStarted { consumer: self.plan.id, callback, partitions, takes: self.plan.callback_time };
        cx.note(fact, rules);
    }

    fn block(&mut self, takes: Span, after: After, cx: &mut ConsumerContext<'_>) {
        self.after = Some(after);
        cx.effects.push(ConsumerEffect::Busy(takes));
    }

    fn thread_free(&mut self, cx: &mut ConsumerContext<'_>) {
        let returned = |callback| Fact::CallbackReturned { consumer: self.plan.id, callback };
        match self.after.take() {
            None => {}
            Some(After::Processing) => {
                cx.note(Fact::ProcessingEnded { consumer: self.plan.id }, Rules::of(&[AR2]));
                self.resume_fetching(cx);
            }
            Some(After::Fetch) => {
                cx.note(returned(Callback::Assigned), Rules::of(&[EC5]));
                self.start_fetching(cx);
            }
            Some(After::Join) => {
                let rule = if self.join_rules.contains(SC1) { SC1 } else { EC1 };
                cx.note(returned(Callback::Deassigned), Rules::of(&[rule]));
                self.owned = None;
                if self.search.is_none() {
                    self.seek(Want::Join, cx);
                }
            }
            Some(After::End) => {
                cx.note(returned(Callback::Deassigned), Rules::NONE);
                self.owned = None;
                self.leave_or_end(cx);
            }
        }
    }

    /// JG1: the join carries the present subscription; everything else waits for its answer.
    fn send_join(&mut self, broker: BrokerId, cx: &mut ConsumerContext<'_>) {
        if let Some(topics) = self.next_topics.take() {
            self.take_subscription(topics, cx);
        }
        self.commit_before_join(broker, cx);
        let join = Join {
            member: self.member,
            strategy: self.plan.strategy,
            session_timeout: self.plan.session_timeout,
            topics: Arc::clone(&self.topics),
        };
        let reasons = self.join_rules.iter().filter(|rule| *rule != SC1);
        let rules = reasons.fold(Rules::of(&[JG1]), Rules::and);
        let correlation = self.send(broker, Request::Join(Arc::new(join)), rules, cx);
        self.session = Session::Joining(correlation);
        cx.set(ConsumerTimer::JoinTimeout, self.plan.join_timeout);
    }

    fn join_answered(&mut self, answer: Result<Arc<Joined>, JoinError>, cx: &mut ConsumerContext<'_>) {
        cx.cancel(ConsumerTimer::JoinTimeout);
        match answer {
            Ok(joined) => self.joined(&joined, cx),
            Err(error) if error.is_fatal() => self.fail(error, cx),
            Err(JoinError::NotCoordinator) => self.coordinator_failed(CoordinatorFailure::NotCoordinator, cx),
            Err(error) => {
                if error == JoinError::UnknownMember {
                    self.member = self.plan.member;
                }
                self.session = Session::Leaving;
                self.join_rules = Rules::of(&[EC6]);
                self.seek(Want::Join, cx);
            }
        }
    }

    /// EC5: record the generation, call back, and fetch when the callback has returned.
    fn joined(&mut self, joined: &Joined, cx: &mut ConsumerContext<'_>) {
        self.session = Session::Member;
        self.member = joined.given.unwrap_or(self.member);
        let generation = joined.generation;
        cx.note(Fact::GenerationRecorded { consumer: self.plan.id, generation }, Rules::of(&[EC5]));
        self.owned = Some(Owned {
            generation,
            positions: joined.assignment.to_vec(),
            since: None,
            counts: Arc::clone(&joined.counts),
        });
        self.schedule_heartbeat(self.plan.first_heartbeat, cx);
        self.watch_coordinator(cx);
        cx.set(ConsumerTimer::MetadataRefresh, self.plan.metadata_refresh);
        if let Some(interval) = self.plan.commit_interval {
            cx.set(ConsumerTimer::Commit, interval);
        }
        let partitions = joined.assignment.iter().map(|(partition, _)| *partition).collect();
        self.call(Callback::Assigned, partitions, Rules::of(&[EC5]), cx);
        self.block(self.plan.callback_time, After::Fetch, cx);
    }

    /// EC6: throw the error to the application and stop.
    fn fail(&mut self, error: JoinError, cx: &mut ConsumerContext<'_>) {
        cx.note(Fact::ConsumerThrew { consumer: self.plan.id, error }, Rules::of(&[EC6]));
        self.drop_retry(DropReason::Stopped, cx);
        self.commits_lost(cx);
        self.session = Session::Ended;
        self.search = None;
        self.coordinator = None;
        self.stop_timers(cx);
        cx.cancel(ConsumerTimer::BackOff);
        for broker in self.links.close_all() {
            cx.effects.push(ConsumerEffect::Close(broker));
        }
    }

    // --- fetching ---

    fn start_fetching(&mut self, cx: &mut ConsumerContext<'_>) {
        let Some(owned) = &mut self.owned else { return };
        owned.since = Some(cx.now);
        let from = owned.positions.iter().copied().collect();
        cx.note(Fact::FetchStarted { consumer: self.plan.id, from }, Rules::of(&[EC5]));
        if let Some(topics) = self.next_topics.take() {
            self.take_subscription(topics, cx);
            return self.give_up_and_join(Rules::of(&[ST1, JG3]), cx);
        }
        self.retry_after_join(cx);
    }

    /// Brings the account of positions up to now and stops it.
    fn pause_fetching(&mut self, cx: &ConsumerContext<'_>) {
        self.account(cx.now, cx);
        if let Some(owned) = &mut self.owned {
            owned.since = None;
        }
    }

    fn resume_fetching(&mut self, cx: &ConsumerContext<'_>) {
        if let Some(owned) = &mut self.owned {
            owned.since = Some(cx.now);
        }
    }

    /// A process that stood still has processed nothing since then.
    fn skip_pause(&mut self, since: Time, cx: &ConsumerContext<'_>) {
        self.account(since, cx);
        self.heartbeat_due = self.heartbeat_due.map(|due| due.max(cx.now));
        if let Some(owned) = &mut self.owned
            && owned.since.is_some()
        {
            owned.since = Some(cx.now);
        }
    }

    /// Where it stands in each of its partitions (decision 12). To ask changes nothing: what is rounded down is lost only
    /// where fetching stops.
    fn positions_at(&self, now: Time, cx: &ConsumerContext<'_>) -> Vec<(Partition, Offset)> {
        let Some(owned) = &self.owned else { return Vec::new() };
        let Some(since) = owned.since else { return owned.positions.clone() };
        let rate = self.plan.processed_per_second;
        let at = |(partition, from): &(Partition, Offset)| {
            (*partition, position(*from, since, now, rate, cx.cluster.end(*partition, now)))
        };
        owned.positions.iter().map(at).collect()
    }

    fn account(&mut self, until: Time, cx: &ConsumerContext<'_>) {
        let positions = self.positions_at(until, cx);
        let Some(owned) = &mut self.owned else { return };
        owned.positions = positions;
        owned.since = owned.since.map(|since| since.max(until));
    }

    // --- heartbeats ---

    fn schedule_heartbeat(&mut self, after: Span, cx: &mut ConsumerContext<'_>) {
        self.heartbeat_due = Some(cx.now + after);
        cx.set(ConsumerTimer::Heartbeat, after);
    }

    /// HB1. One that is late because the thread was kept carries out AR2 as well.
    fn send_heartbeat(&mut self, cx: &mut ConsumerContext<'_>) -> Option<Correlation> {
        let broker = self.connected_coordinator()?;
        let generation = self.owned.as_ref()?.generation;
        let late = self.heartbeat_due.is_some_and(|due| due < cx.now);
        let rules = if late { Rules::of(&[HB1, AR2]) } else { Rules::of(&[HB1]) };
        let rules = if self.commits.awaits_heartbeat() { rules.and(OC5) } else { rules };
        self.schedule_heartbeat(self.plan.heartbeat_interval, cx);
        Some(self.heartbeat(broker, self.member, generation, rules, cx))
    }

    fn heartbeat(
        &mut self,
        broker: BrokerId,
        member: MemberId,
        generation: Generation,
        rules: Rules,
        cx: &mut ConsumerContext<'_>,
    ) -> Correlation {
        let correlation = self.send(broker, Request::Heartbeat { member, generation }, rules, cx);
        self.unanswered.push_back((correlation, cx.now));
        if self.unanswered.len() == 1 {
            self.watch_coordinator(cx);
        }
        correlation
    }

    fn heartbeat_by_hand(
        &mut self,
        member: Option<MemberId>,
        generation: Option<Generation>,
        cx: &mut ConsumerContext<'_>,
    ) {
        let Some(broker) = self.connected_coordinator() else {
            return cx.effects.push(ConsumerEffect::Ignored("it has no channel to the coordinator"));
        };
        let own = self.owned.as_ref().map(|owned| owned.generation);
        let Some(generation) = generation.or(own) else {
            return cx.effects.push(ConsumerEffect::Ignored("it holds no generation: name one"));
        };
        let member = member.unwrap_or(self.member);
        self.heartbeat(broker, member, generation, Rules::of(&[HB1]), cx);
    }

    /// HB4: the limit runs from the oldest unanswered heartbeat. It rests while a join is pending (decision 6).
    fn watch_coordinator(&self, cx: &mut ConsumerContext<'_>) {
        let is_joining = matches!(self.session, Session::Joining(_));
        match (self.unanswered.front(), self.plan.coordinator_timeout) {
            (Some((_, sent)), Some(limit)) if !is_joining => {
                cx.set(ConsumerTimer::CoordinatorTimeout, (*sent + limit).since(cx.now));
            }
            (Some(_) | None, Some(_) | None) => cx.cancel(ConsumerTimer::CoordinatorTimeout),
        }
    }

    fn heartbeat_answered(
        &mut self,
        correlation: Correlation,
        answer: Result<(), HeartbeatError>,
        cx: &mut ConsumerContext<'_>,
    ) {
        match answer {
            Ok(()) => self.retry_after_heartbeat(correlation, cx),
            Err(HeartbeatError::RebalanceInProgress) => self.give_up_and_join(Rules::of(&[EC1]), cx),
            Err(error @ (HeartbeatError::IllegalGeneration | HeartbeatError::UnknownMember)) => {
                if error == HeartbeatError::UnknownMember {
                    self.member = self.plan.member;
                }
                self.give_up_and_join(Rules::of(&[HB6, EC1]), cx);
            }
            Err(HeartbeatError::NotCoordinator) => self.coordinator_failed(CoordinatorFailure::NotCoordinator, cx),
        }
    }

    /// Decision 19: what was heard from the coordinator clears HB4 for everything sent before.
    fn heard_from_coordinator(&mut self, correlation: Correlation, cx: &mut ConsumerContext<'_>) {
        self.heard = cx.now;
        cx.cancel(ConsumerTimer::Resume);
        while self.unanswered.front().is_some_and(|(sent, _)| *sent <= correlation) {
            self.unanswered.pop_front();
        }
        self.watch_coordinator(cx);
    }

    // --- the coordinator fails ---

    /// HB4, HB5, decisions 1, 6 and 10.
    fn coordinator_failed(&mut self, why: CoordinatorFailure, cx: &mut ConsumerContext<'_>) {
        let Some(broker) = self.coordinator.take() else { return };
        let rules = match why {
            CoordinatorFailure::NoAnswer => Rules::of(&[HB4]),
            CoordinatorFailure::ChannelClosed => match self.plan.rebalance {
                RebalanceBy::ErrorCode => Rules::of(&[HB5]),
                RebalanceBy::SocketClose => Rules::of(&[HB5, SC1, SC5]),
            },
            CoordinatorFailure::JoinTimeout
            | CoordinatorFailure::RequestTimeout
            | CoordinatorFailure::NotCoordinator => Rules::NONE,
        };
        cx.note(Fact::CoordinatorFailed { consumer: self.plan.id, broker, why }, rules);
        self.denied = (why == CoordinatorFailure::NotCoordinator).then_some(broker);
        self.drop_link(broker, cx);
        if let Session::Closing(_) = self.session {
            return cx.effects.push(ConsumerEffect::End);
        }
        let resumes = self.session == Session::Member
            && self.owned.is_some()
            && self.plan.on_coordinator_failure == OnCoordinatorFailure::Resume;
        if resumes {
            self.stop_timers(cx);
            cx.set(ConsumerTimer::Resume, (self.heard + self.plan.session_timeout).since(cx.now));
            self.start_search(Want::Probe, cx);
        } else {
            if self.plan.on_coordinator_failure == OnCoordinatorFailure::RejoinAsNew {
                self.member = self.plan.member;
            }
            match self.plan.rebalance {
                RebalanceBy::ErrorCode => self.give_up_and_join(rules, cx),
                RebalanceBy::SocketClose => self.give_up_and_join(Rules::of(&[SC1, SC2]), cx),
            }
        }
    }

    // --- timers ---

    fn timer_fired(&mut self, timer: ConsumerTimer, cx: &mut ConsumerContext<'_>) {
        match timer {
            ConsumerTimer::Heartbeat => {
                self.send_heartbeat(cx);
            }
            ConsumerTimer::CoordinatorTimeout => self.coordinator_failed(CoordinatorFailure::NoAnswer, cx),
            ConsumerTimer::JoinTimeout => self.coordinator_failed(CoordinatorFailure::JoinTimeout, cx),
            ConsumerTimer::RequestTimeout => self.requests_timed_out(cx),
            ConsumerTimer::BackOff => self.ask_next(cx),
            ConsumerTimer::MetadataRefresh => self.refresh_metadata(cx),
            ConsumerTimer::Commit => self.commit_due(cx),
            ConsumerTimer::Resume => {
                cx.note(Fact::ResumeExpired { consumer: self.plan.id }, Rules::NONE);
                self.give_up_and_join(Rules::of(&[EC1]), cx);
            }
        }
    }

    /// Stops what only a member that is in touch with its coordinator needs.
    fn stop_timers(&mut self, cx: &mut ConsumerContext<'_>) {
        self.unanswered.clear();
        self.heartbeat_due = None;
        for timer in [
            ConsumerTimer::Heartbeat,
            ConsumerTimer::CoordinatorTimeout,
            ConsumerTimer::JoinTimeout,
            ConsumerTimer::MetadataRefresh,
            ConsumerTimer::Commit,
            ConsumerTimer::Resume,
        ] {
            cx.cancel(timer);
        }
    }

    // --- requests and answers ---

    fn send(&mut self, broker: BrokerId, request: Request, rules: Rules, cx: &mut ConsumerContext<'_>) -> Correlation {
        let correlation = Correlation(self.next_correlation);
        self.next_correlation += 1;
        cx.effects.push(ConsumerEffect::Send { broker, correlation, request, rules });
        correlation
    }

    fn answered(
        &mut self,
        broker: BrokerId,
        correlation: Correlation,
        response: Response,
        cx: &mut ConsumerContext<'_>,
    ) {
        let is_heartbeat_awaited = self.unanswered.iter().any(|(sent, _)| *sent == correlation);
        if self.coordinator == Some(broker) && counts_as_heard(&response) {
            self.heard_from_coordinator(correlation, cx);
        }
        match response {
            Response::Metadata(metadata) => self.metadata_answered(broker, correlation, &metadata, cx),
            Response::Join(answer) if self.session == Session::Joining(correlation) => self.join_answered(answer, cx),
            Response::Heartbeat(answer) if is_heartbeat_awaited => self.heartbeat_answered(correlation, answer, cx),
            Response::Commit(answer) => self.commit_answered(correlation, answer, cx),
            Response::Leave(_) if self.session == Session::Closing(correlation) => {
                cx.effects.push(ConsumerEffect::End);
            }
            // Decision 19: a late answer changes nothing.
            Response::Join(_) | Response::Heartbeat(_) | Response::Leave(_) => {}
        }
    }
}

/// Decision 19: any answer counts as heard but one that says that the sender is not the coordinator, or knows of none.
fn counts_as_heard(response: &Response) -> bool {
    match response {
        Response::Metadata(metadata) => metadata.coordinator.is_some(),
        Response::Join(Ok(_)) | Response::Heartbeat(Ok(())) | Response::Commit(Ok(())) | Response::Leave(Ok(())) => {
            true
        }
        Response::Join(Err(error)) => *error != JoinError::NotCoordinator,
        Response::Heartbeat(Err(error)) | Response::Leave(Err(error)) => *error != HeartbeatError::NotCoordinator,
        Response::Commit(Err(error)) => *error != CommitError::NotCoordinator,
    }
}
