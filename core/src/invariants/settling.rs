//! Invariant 7: once faults and losses stop, the group is stable again within a bound, with every partition owned by a
//! live consumer, where the plan's settings allow the claim.

use std::collections::BTreeSet;
use std::fmt;

use super::model::{Model, Phase, Process, born, ended};
use super::{Event, Findings, Invariant, Violation};
use crate::cast::Cast;
use crate::id::{BrokerId, ConsumerId, Generation, NodeId};
use crate::scenario::{ConsumerPlan, JoinWindow, Latency, Plan, RebalanceBy};
use crate::time::{Span, Time};
use crate::trace::{Fact, RebalanceReason};

/// Within how long a group settles once faults and losses have stopped.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Bound(pub Span);

/// Why a plan's settings do not allow the claim that the group settles.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Unsettled {
    /// A heartbeat interval (or a callback, if that is longer), a callback and four latencies take as long as the
    /// session, or in option 2 two callbacks and eight latencies: a healthy member's join can come too late, again and
    /// again (EC4).
    SessionTooShort(String),
    /// An answer may take longer than the coordinator timeout: a healthy coordinator can be taken for failed.
    CoordinatorTimeoutTooShort(String),
    /// The join timeout is below its default: a join can be given up while it is rightly held.
    JoinTimeoutTooShort(String),
    /// An answer may take longer than the request timeout: the coordinator may never be found.
    RequestTimeoutTooShort(String),
    /// The first heartbeat comes later than the interval says.
    FirstHeartbeatTooLate(String),
    /// The window for joins, the same for all, may close before a healthy member has joined.
    WindowTooShort(Span),
}

impl fmt::Display for Unsettled {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::SessionTooShort(name) => write!(
                f,
                "{name}'s session timeout is no longer than what it can take to learn of a rebalance and to join"
            ),
            Self::CoordinatorTimeoutTooShort(name) => {
                write!(f, "{name}'s coordinator timeout is no longer than two latencies")
            }
            Self::JoinTimeoutTooShort(name) => write!(
                f,
                "{name}'s join timeout is shorter than the longest session timeout allowed and two thirds of its own"
            ),
            Self::RequestTimeoutTooShort(name) => {
                write!(f, "{name}'s request timeout is no longer than two latencies")
            }
            Self::FirstHeartbeatTooLate(name) => {
                write!(f, "{name}'s first heartbeat comes later than its heartbeat interval")
            }
            Self::WindowTooShort(window) => {
                write!(f, "a window of {window} can close before a healthy member has joined")
            }
        }
    }
}

/// The bound of invariant 7 for a plan: the longer of twice the longest session timeout and of the longest join timeout
/// with the longest time to find the coordinator (takeover delay, metadata propagation, back-off and request timeout);
/// then the longest heartbeat interval, two of the longest callbacks, and ten latencies.
///
/// # Errors
/// The first consumer setting with which a group need not settle: that is a finding for whoever reads the trace.
pub fn settling_bound(plan: &Plan) -> Result<Bound, Unsettled> {
    plan.consumers.iter().try_for_each(|consumer| check_prompt(plan, consumer))?;
    let longest =
        |get: fn(&ConsumerPlan) -> Span| plan.consumers.iter().map(|consumer| get(consumer)).max().unwrap_or_default();
    let latency = longest(|consumer| longest_latency(&consumer.latency));
    let callback = longest(|consumer| consumer.callback_time);
    for consumer in &plan.consumers {
        check_settings(plan, consumer, latency, callback)?;
    }
    let two_sessions = twice(longest(|consumer| consumer.session_timeout));
    let joins = longest(|consumer| consumer.join_timeout);
    let asking = longest(|consumer| consumer.back_off) + longest(|consumer| consumer.request_timeout);
    let finding = plan.settings.takeover_delay + plan.settings.metadata_propagation + asking;
    let heartbeat = longest(|consumer| consumer.heartbeat_interval);
    let latencies = latency.fraction(10, 1);
    Ok(Bound(two_sessions.max(joins + finding) + heartbeat + twice(callback) + latencies))
}

fn check_settings(plan: &Plan, consumer: &ConsumerPlan, latency: Span, callback: Span) -> Result<(), Unsettled> {
    let there_and_back = twice(latency);
    let name = || plan.cast.consumer(consumer.id).to_owned();
    let two_thirds = consumer.session_timeout.fraction(2, 3);
    // From the start of a rebalance to the coming of a member's join (EC4): the answer to its last join and what is left
    // of `onPartitionAssigned()`; in option 1 the rest of the interval, a heartbeat and its answer; in option 2 the news
    // that its socket is closed; `onPartitionDeassigned()`; in option 2 finding the coordinator; and the join.
    let to_join = match plan.settings.rebalance {
        RebalanceBy::ErrorCode => consumer.heartbeat_interval.max(callback) + callback + latency.fraction(4, 1),
        RebalanceBy::SocketClose => twice(callback) + latency.fraction(8, 1),
    };
    let between_heartbeats = consumer.heartbeat_interval.max(callback) + callback + twice(latency);
    let to_join = to_join.max(between_heartbeats);
    if to_join >= consumer.session_timeout {
        Err(Unsettled::SessionTooShort(name()))
    } else if consumer.coordinator_timeout.is_some_and(|timeout| timeout <= there_and_back) {
        Err(Unsettled::CoordinatorTimeoutTooShort(name()))
    } else if consumer.join_timeout < plan.settings.max_session_timeout + two_thirds {
        Err(Unsettled::JoinTimeoutTooShort(name()))
    } else if consumer.request_timeout <= there_and_back {
        Err(Unsettled::RequestTimeoutTooShort(name()))
    } else {
        Ok(())
    }
}

/// What only settings beyond the document can break: heartbeats from the start, and time to join.
fn check_prompt(plan: &Plan, consumer: &ConsumerPlan) -> Result<(), Unsettled> {
    if consumer.first_heartbeat > consumer.heartbeat_interval {
        return Err(Unsettled::FirstHeartbeatTooLate(plan.cast.consumer(consumer.id).to_owned()));
    }
    // To hear of a rebalance and to join, in either option.
    let to_join =
        consumer.heartbeat_interval + twice(consumer.callback_time) + longest_latency(&consumer.latency).fraction(8, 1);
    match plan.settings.join_window {
        JoinWindow::Fixed(window) if window <= to_join => Err(Unsettled::WindowTooShort(window)),
        JoinWindow::Fixed(_) | JoinWindow::Own | JoinWindow::Longest => Ok(()),
    }
}

const fn longest_latency(latency: &Latency) -> Span {
    match latency {
        Latency::Fixed(span) => *span,
        Latency::Uniform(bounds) => bounds.max,
        Latency::HeavyTailed(tail) => tail.max,
    }
}

fn twice(span: Span) -> Span {
    span + span
}

/// When something last disturbed the group, and what each consumer has come to since.
#[derive(Clone, Debug)]
pub(super) struct Settling {
    bound: Option<Bound>,
    /// When the group was last disturbed, or will be by something that has begun; orders of the plan count as well.
    disturbed: Time,
    /// When the plan gives its orders.
    orders: BTreeSet<Time>,
    verdict: Verdict,
    cut: BTreeSet<(ConsumerId, BrokerId)>,
    consumers: Vec<Standing>,
}

/// Whether the state after the last disturbance has been judged.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Verdict {
    Pending,
    Given,
    /// The run was cut off at its limit of records: nothing can be said any more.
    Void,
}

/// Whether a consumer takes part while its process runs.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
enum Life {
    #[default]
    TakesPart,
    /// It has thrown a fatal error (EC6).
    Thrown,
}

/// What a consumer has come to.
#[derive(Clone, Copy, Default, Debug)]
struct Standing {
    life: Life,
    held: Option<Generation>,
    /// The generation in which it fetches.
    fetches_in: Option<Generation>,
}

impl Settling {
    pub(super) fn new(plan: &Plan) -> Self {
        Self {
            bound: settling_bound(plan).ok(),
            disturbed: Time::ZERO,
            orders: plan.orders.iter().map(|(at, _)| *at).collect(),
            verdict: Verdict::Pending,
            cut: BTreeSet::new(),
            consumers: vec![Standing::default(); plan.cast.consumers.len()],
        }
    }

    pub(super) fn observe(&mut self, event: &Event<'_>, model: &Model, findings: &mut Findings) {
        self.judge(event.at(), event.trace.cast(), model, findings);
        if let Some(until) = disturbance(event) {
            self.disturb(until);
        }
        self.step(event.fact());
    }

    /// Nothing more happens until `end`, which itself has passed.
    pub(super) fn finish(&mut self, end: Time, cast: &Cast, model: &Model, findings: &mut Findings) {
        self.judge(Time(end.0.saturating_add(1)), cast, model, findings);
    }

    fn disturb(&mut self, at: Time) {
        self.disturbed = self.disturbed.max(at);
        if self.verdict == Verdict::Given {
            self.verdict = Verdict::Pending;
        }
    }

    fn step(&mut self, fact: &Fact) {
        if let Fact::LinkCut { consumer, broker } = fact {
            self.cut.insert((*consumer, *broker));
        } else if let Fact::LinkHealed { consumer, broker } = fact {
            self.cut.remove(&(*consumer, *broker));
        } else if let Fact::LimitReached = fact {
            self.verdict = Verdict::Void;
        }
        let Some(standing) = fact.node().and_then(NodeId::consumer).and_then(|id| self.consumers.get_mut(id.index()))
        else {
            return;
        };
        if born(fact).is_some() || ended(fact).is_some() {
            *standing = Standing::default();
        }
        if let Fact::ConsumerThrew { .. } = fact {
            standing.life = Life::Thrown;
        } else if let Fact::GenerationRecorded { generation, .. } = fact {
            standing.held = Some(*generation);
        } else if let Fact::FetchStarted { .. } = fact {
            standing.fetches_in = standing.held;
        } else if let Fact::FetchStopped { .. } = fact {
            standing.fetches_in = None;
        }
    }

    /// If the time to settle was over before `before`, says whether the group, as it is now, has settled.
    fn judge(&mut self, before: Time, cast: &Cast, model: &Model, findings: &mut Findings) {
        let Some(Bound(bound)) = self.bound else { return };
        // An order that the process it is for takes without a trace, such as a heartbeat by hand, disturbs as well.
        while let Some(order) = self.orders.first().copied().filter(|order| *order < before) {
            self.orders.pop_first();
            if order > self.disturbed {
                self.disturb(order);
            }
        }
        let deadline = self.disturbed + bound;
        if self.verdict != Verdict::Pending || deadline >= before || !self.is_whole(model) {
            return;
        }
        self.verdict = Verdict::Given;
        if let Some(wrong) = self.wrong(cast, model) {
            let message = format!("{bound} after the last disturbance, at {}s, {wrong}", self.disturbed);
            findings.push(Violation { invariant: Invariant::Settles, at: deadline, record: None, message });
        }
    }

    /// Faults have not stopped while a broker is down or stands still, or a link is cut.
    fn is_whole(&self, model: &Model) -> bool {
        self.cut.is_empty() && model.brokers().all(|broker| broker == Process::Running)
    }

    fn wrong(&self, cast: &Cast, model: &Model) -> Option<String> {
        if model.group().phase == Phase::Rebalancing {
            return Some(format!("a rebalance is open at {}", cast.node(model.role.holder.into())));
        }
        let current = model.group().current();
        let members: BTreeSet<_> = model.group().members.iter().map(|member| cast.member(*member)).collect();
        for (standing, consumer) in self.consumers.iter().zip((0..).map(ConsumerId)) {
            let name = cast.consumer(consumer);
            let is_live = model.consumer(consumer) == Process::Running && standing.life == Life::TakesPart;
            let is_member = members.contains(&consumer);
            if is_live != is_member {
                let what = if is_live { "lives and is no member" } else { "is a member and does not live" };
                return Some(format!("{name} {what}"));
            }
            if is_live && (current.is_none() || standing.fetches_in != current) {
                return Some(format!("{name} does not fetch in the current generation"));
            }
        }
        None
    }
}

/// Until when a fact disturbs the group.
fn disturbance(event: &Event<'_>) -> Option<Time> {
    let at = event.at();
    match event.fact() {
        Fact::ProcessStarted { .. }
        | Fact::ProcessCrashed { .. }
        | Fact::ProcessClosed { .. }
        | Fact::ProcessPaused { .. }
        | Fact::ProcessResumed { .. }
        | Fact::LinkCut { .. }
        | Fact::LinkHealed { .. }
        | Fact::PartitionsAdded { .. }
        | Fact::CommandIgnored { .. }
        | Fact::CoordinatorMoved { .. }
        | Fact::CoordinatorResigned { .. }
        | Fact::CoordinatorLearned { .. }
        | Fact::Subscribed { .. }
        | Fact::TopicChangeSeen { .. }
        | Fact::ProcessingEnded { .. }
        | Fact::RebalanceStarted { why: RebalanceReason::PartitionsChanged(_), .. } => Some(at),
        Fact::ProcessingStarted { takes, .. } => Some(at + *takes),
        Fact::Sent { arrives, .. } => (*arrives == Time::MAX).then_some(at),
        Fact::LimitReached
        | Fact::ChannelOpening { .. }
        | Fact::ChannelOpened { .. }
        | Fact::ChannelClosed { .. }
        | Fact::Received { .. }
        | Fact::Dropped { .. }
        | Fact::CoordinatorFound { .. }
        | Fact::CoordinatorFailed { .. }
        | Fact::GenerationRecorded { .. }
        | Fact::CallbackStarted { .. }
        | Fact::CallbackReturned { .. }
        | Fact::FetchStarted { .. }
        | Fact::FetchStopped { .. }
        | Fact::ResumeExpired { .. }
        | Fact::ConsumerThrew { .. }
        | Fact::OffsetsDropped { .. }
        | Fact::MemberAdded { .. }
        | Fact::MemberRemoved { .. }
        | Fact::RebalanceStarted { .. }
        | Fact::JoinHeld { .. }
        | Fact::RebalanceRetried { .. }
        | Fact::AssignmentComputed { .. }
        | Fact::GroupForgotten { .. }
        | Fact::GroupRecovered { .. }
        | Fact::GroupStateLost { .. }
        | Fact::CommitChecked { .. }
        | Fact::OffsetsAppended { .. } => None,
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::{Bound, Unsettled, settling_bound};
    use crate::invariants::Invariant::Settles;
    use crate::invariants::tests::{expect_broken, expect_sound, plan};
    use crate::scenario::{ConsumerPlan, JoinWindow, Latency, Plan};
    use crate::script::{self, B1, C1, C2, C3, ORDERS, Script};
    use crate::time::Span;
    use crate::trace::{Fact, RebalanceReason, RemovalReason};

    /// Later than every bound of the plan of these tests, in milliseconds.
    const LATER: u64 = 1_000_000;

    fn changed(change: impl Fn(&mut ConsumerPlan)) -> Plan {
        let mut plan = Plan::clone(&plan());
        change(Arc::make_mut(&mut plan.consumers[1]));
        plan
    }

    #[test]
    fn the_bound_is_the_documented_sum() {
        // 16.666666s and 3s, 0.2s, 0.1s, 2s are more than twice 10s; then a third of 10s, two callbacks, ten latencies.
        let rest = 3_333_333 + 2 * 20_000 + 10 * 10_000;
        let micros = 16_666_666 + 5_300_000 + rest;
        assert_eq!(settling_bound(&plan()), Ok(Bound(Span(micros))));
        let patient = changed(|consumer| consumer.join_timeout = Span::from_secs(100));
        assert_eq!(settling_bound(&patient), Ok(Bound(Span(100_000_000 + 5_300_000 + rest))));
        let mut short = Plan::clone(&plan());
        short.settings.takeover_delay = Span::from_secs(1);
        assert_eq!(settling_bound(&short), Ok(Bound(Span(20_000_000 + rest))));
    }

    #[test]
    fn settings_that_need_not_settle_are_told_apart() {
        let name = || "C2".to_owned();
        let late = changed(|consumer| consumer.heartbeat_interval = Span::from_secs(10));
        assert_eq!(settling_bound(&late), Err(Unsettled::SessionTooShort(name())));
        let hasty = changed(|consumer| consumer.coordinator_timeout = Some(Span::from_millis(20)));
        assert_eq!(settling_bound(&hasty), Err(Unsettled::CoordinatorTimeoutTooShort(name())));
        let impatient = changed(|consumer| consumer.join_timeout = Span::from_secs(16));
        assert_eq!(settling_bound(&impatient), Err(Unsettled::JoinTimeoutTooShort(name())));
        let short = changed(|consumer| consumer.request_timeout = Span::from_millis(20));
        assert_eq!(settling_bound(&short), Err(Unsettled::RequestTimeoutTooShort(name())));
        // A callback longer than the interval: the sum is 3 s and 3 s and 40 ms.
        let mut slow = changed(|consumer| consumer.callback_time = Span::from_secs(3));
        Arc::make_mut(&mut slow.consumers[0]).heartbeat_interval = Span::from_secs(1);
        Arc::make_mut(&mut slow.consumers[0]).first_heartbeat = Span::from_secs(1);
        Arc::make_mut(&mut slow.consumers[0]).session_timeout = Span::from_millis(6_040);
        assert_eq!(settling_bound(&slow), Err(Unsettled::SessionTooShort("C1".to_owned())));
        Arc::make_mut(&mut slow.consumers[0]).session_timeout = Span::from_millis(6_041);
        assert!(settling_bound(&slow).is_ok());
        let far = changed(|consumer| consumer.latency = Latency::Fixed(Span::from_secs(4)));
        assert!(matches!(settling_bound(&far), Err(Unsettled::SessionTooShort(_))));
        let off = changed(|consumer| consumer.coordinator_timeout = None);
        assert!(settling_bound(&off).is_ok());
    }

    #[test]
    fn settings_beyond_the_document_that_need_not_settle_are_told_apart() {
        let late = changed(|consumer| consumer.first_heartbeat = Span::from_secs(4));
        assert_eq!(settling_bound(&late), Err(Unsettled::FirstHeartbeatTooLate("C2".to_owned())));
        let windowed = |window| {
            let mut plan = Plan::clone(&plan());
            plan.settings.join_window = JoinWindow::Fixed(window);
            settling_bound(&plan).map(|_| ())
        };
        let to_join = Span::from_micros(3_333_333 + 2 * 20_000 + 8 * 10_000);
        assert_eq!(windowed(to_join), Err(Unsettled::WindowTooShort(to_join)));
        assert_eq!(windowed(to_join + Span::from_micros(1)), Ok(()));
    }

    #[test]
    fn a_group_that_fetches_has_settled() {
        let mut script = Script::two_members();
        script.wait(LATER);
        expect_sound(&script);
    }

    #[test]
    fn a_rebalance_without_an_end_is_found() {
        let mut script = Script::two_members();
        script.rebalance(RebalanceReason::MemberFailed(script::member(C2)));
        let mut soon = script.clone();
        soon.wait(1_000);
        expect_sound(&soon);
        script.wait(LATER);
        expect_broken(&script, Settles, "a rebalance is open at B1");
    }

    #[test]
    fn it_is_found_with_the_next_record_as_well() {
        let mut script = Script::two_members();
        script.rebalance(RebalanceReason::MemberFailed(script::member(C2)));
        script.wait(LATER).fact(Fact::PartitionsAdded { topic: ORDERS, count: 5 });
        expect_broken(&script, Settles, "a rebalance is open at B1");
    }

    #[test]
    fn a_member_that_is_gone_or_a_consumer_that_is_no_member_is_found() {
        let mut script = Script::two_members();
        script.fact(Fact::ProcessCrashed { node: C2.into() });
        script.wait(LATER);
        expect_broken(&script, Settles, "C2 is a member and does not live");
        let mut script = Script::two_members();
        script.arrive(C3, &[ORDERS]);
        script.wait(LATER);
        expect_broken(&script, Settles, "C3 lives and is no member");
    }

    #[test]
    fn one_that_threw_is_not_awaited() {
        let mut script = Script::two_members();
        script.arrive(C3, &[ORDERS]);
        script.fact(Fact::ConsumerThrew { consumer: C3, error: crate::error::JoinError::GroupMaxSizeReached });
        script.wait(LATER);
        expect_sound(&script);
    }

    #[test]
    fn one_that_does_not_fetch_or_not_in_the_current_generation_is_found() {
        let mut script = Script::two_members();
        script.stop(C1, &[0, 1]);
        script.wait(LATER);
        expect_broken(&script, Settles, "C1 does not fetch");
        let mut script = Script::two_members();
        for consumer in [C1, C2] {
            let (member, why) = (script::member(consumer), RemovalReason::SessionExpired);
            script.fact(Fact::MemberRemoved { broker: B1, member, why });
        }
        script.fact(Fact::GroupForgotten { broker: B1 });
        script.added(C1);
        script.added(C2);
        script.wait(LATER);
        expect_broken(&script, Settles, "C1 does not fetch");
    }

    #[test]
    fn nothing_is_claimed_while_faults_last() {
        for (fault, end) in [
            (Fact::ProcessPaused { node: B1.into() }, Fact::ProcessResumed { node: B1.into() }),
            (Fact::ProcessCrashed { node: B1.into() }, Fact::ProcessStarted { node: B1.into() }),
            (Fact::LinkCut { consumer: C1, broker: B1 }, Fact::LinkHealed { consumer: C1, broker: B1 }),
        ] {
            let mut script = Script::two_members();
            script.rebalance(RebalanceReason::MemberFailed(script::member(C2)));
            script.fact(fault);
            script.wait(LATER);
            expect_sound(&script);
            script.fact(end);
            script.wait(1_000);
            expect_sound(&script);
            script.wait(LATER);
            expect_broken(&script, Settles, "a rebalance is open at B1");
        }
    }

    #[test]
    fn slow_processing_puts_the_claim_off() {
        let mut script = Script::two_members();
        script.rebalance(RebalanceReason::MemberFailed(script::member(C2)));
        script.fact(Fact::ProcessingStarted { consumer: C1, takes: Span::from_millis(2 * LATER) });
        script.wait(LATER);
        expect_sound(&script);
        script.wait(LATER).fact(Fact::ProcessingEnded { consumer: C1 });
        script.wait(LATER);
        expect_broken(&script, Settles, "a rebalance is open at B1");
    }

    #[test]
    fn a_run_cut_off_claims_nothing() {
        let mut script = Script::two_members();
        script.rebalance(RebalanceReason::MemberFailed(script::member(C2)));
        script.fact(Fact::LimitReached);
        script.wait(LATER);
        expect_sound(&script);
    }
}
