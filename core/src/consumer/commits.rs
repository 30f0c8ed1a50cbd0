//! Commits: the consumer's own, those of the application, and the one retry of a refused one (OC5).

use std::sync::Arc;

use super::{CommitOrder, Consumer, ConsumerContext, ConsumerEffect, ConsumerTimer, Session};
use crate::error::CommitError;
use crate::id::{BrokerId, Correlation, Generation, MemberId, Partition};
use crate::map::{Map, Set};
use crate::message::{Commit, Offsets, Request};
use crate::rules::Rule::{OC1, OC2, OC3, OC5};
use crate::rules::Rules;
use crate::time::Time;
use crate::trace::{CoordinatorFailure, DropReason, Fact};

use super::search::Want;

/// Commits under way.
#[derive(Clone, Debug, Default)]
pub(super) struct Commits {
    /// Sent and not answered.
    pending: Vec<Pending>,
    /// Refused, and waiting for the coordinator to be reached and a valid answer to a heartbeat.
    retry: Option<Retry>,
    /// What the application commits in `onPartitionDeassigned()` while there is no channel: it goes out on the next one,
    /// just before the join (decision 8).
    before_join: Option<(Generation, Offsets)>,
    /// What the timer of outstanding requests is set to.
    pub(super) watched: Option<Time>,
}

#[derive(Clone, Debug)]
struct Pending {
    correlation: Correlation,
    sent: Time,
    offsets: Offsets,
    attempt: Attempt,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Attempt {
    First,
    Retry,
}

#[derive(Clone, Debug)]
struct Retry {
    /// What was refused.
    offsets: Offsets,
    /// The heartbeat whose valid answer, or that to a later one, lets it go; `None` while the coordinator is being found,
    /// or a join is under way.
    heartbeat: Option<Correlation>,
}

impl Commits {
    /// Whether a refused commit waits for the answer to a heartbeat that has yet to be sent.
    pub(super) fn awaits_heartbeat(&self) -> bool {
        self.retry.as_ref().is_some_and(|retry| retry.heartbeat.is_none())
    }

    /// Whether a refused commit waits to be sent again.
    pub(super) fn has_retry(&self) -> bool {
        self.retry.is_some()
    }

    pub(super) fn oldest(&self) -> Option<Time> {
        self.pending.first().map(|pending| pending.sent)
    }
}

impl Consumer {
    // --- sending ---

    /// Commits what the application orders; what the order does not name is the consumer's own (decision 23).
    pub(super) fn commit_ordered(&mut self, order: CommitOrder, cx: &mut ConsumerContext<'_>) {
        let own = self.owned.as_ref().map(|owned| owned.generation);
        let Some(generation) = order.generation.or(own) else {
            return cx.effects.push(ConsumerEffect::Ignored("it holds no generation: name one"));
        };
        let Some(offsets) = order.offsets.or_else(|| self.own_positions(cx)) else {
            return cx.effects.push(ConsumerEffect::Ignored("it holds no partitions: name offsets"));
        };
        let Some(broker) = self.connected_coordinator() else {
            return cx.effects.push(ConsumerEffect::Ignored("it has no channel to the coordinator"));
        };
        self.send_commit(broker, order.member.unwrap_or(self.member), generation, offsets, Attempt::First, cx);
    }

    pub(super) fn commit_due(&mut self, cx: &mut ConsumerContext<'_>) {
        if let Some(interval) = self.plan.commit_interval {
            cx.set(ConsumerTimer::Commit, interval);
        }
        self.commit_own_positions(cx);
    }

    pub(super) fn commit_own_positions(&mut self, cx: &mut ConsumerContext<'_>) {
        let Some(broker) = self.connected_coordinator() else { return };
        let Some(generation) = self.owned.as_ref().map(|owned| owned.generation) else { return };
        let Some(offsets) = self.own_positions(cx) else { return };
        self.send_commit(broker, self.member, generation, offsets, Attempt::First, cx);
    }

    /// Decision 8: the application commits in `onPartitionDeassigned()`.
    pub(super) fn commit_deassigned(&mut self, cx: &mut ConsumerContext<'_>) {
        if self.connected_coordinator().is_some() {
            return self.commit_own_positions(cx);
        }
        let offsets = self.own_positions(cx);
        let generation = self.owned.as_ref().map(|owned| owned.generation);
        self.commits.before_join = generation.zip(offsets);
    }

    pub(super) fn commit_before_join(&mut self, broker: BrokerId, cx: &mut ConsumerContext<'_>) {
        if let Some((generation, offsets)) = self.commits.before_join.take() {
            self.send_commit(broker, self.member, generation, offsets, Attempt::First, cx);
        }
    }

    /// The positions of everything it owns; `None` if that is nothing.
    fn own_positions(&self, cx: &ConsumerContext<'_>) -> Option<Offsets> {
        let positions = self.positions_at(cx.now, cx);
        if positions.is_empty() { None } else { Some(positions.into()) }
    }

    fn send_commit(
        &mut self,
        broker: BrokerId,
        member: MemberId,
        generation: Generation,
        offsets: Offsets,
        attempt: Attempt,
        cx: &mut ConsumerContext<'_>,
    ) {
        let rules = match attempt {
            Attempt::First => Rules::of(&[OC1, OC2, OC3]),
            Attempt::Retry => Rules::of(&[OC5]),
        };
        let commit = Commit { member, generation, offsets: Arc::clone(&offsets) };
        let correlation = self.send(broker, Request::Commit(Arc::new(commit)), rules, cx);
        self.commits.pending.push(Pending { correlation, sent: cx.now, offsets, attempt });
    }

    // --- answers ---

    pub(super) fn commit_answered(
        &mut self,
        correlation: Correlation,
        answer: Result<(), CommitError>,
        cx: &mut ConsumerContext<'_>,
    ) {
        let Some(place) = self.commits.pending.iter().position(|p| p.correlation == correlation) else { return };
        let pending = self.commits.pending.remove(place);
        let Err(error) = answer else { return };
        match pending.attempt {
            Attempt::Retry => self.drop_offsets(pending.offsets, DropReason::RefusedAgain, cx),
            Attempt::First => self.refused(pending.offsets, error, cx),
        }
    }

    /// OC5: find the coordinator, connect, send a heartbeat, and after a valid answer retry once. What was refused before
    /// and still waits for that is retried with it.
    fn refused(&mut self, offsets: Offsets, error: CommitError, cx: &mut ConsumerContext<'_>) {
        let offsets = match self.commits.retry.take() {
            None => offsets,
            Some(before) => {
                let all: Map<_, _> = before.offsets.iter().chain(offsets.iter()).copied().collect();
                all.into_iter().collect()
            }
        };
        self.commits.retry = Some(Retry { offsets, heartbeat: None });
        match (self.session, error) {
            (Session::Ended | Session::Closing(_), _) => self.drop_retry(DropReason::Stopped, cx),
            (Session::Member, CommitError::NotCoordinator) => {
                self.coordinator_failed(CoordinatorFailure::NotCoordinator, cx);
            }
            (
                Session::Member,
                CommitError::UnknownMember | CommitError::IllegalGeneration | CommitError::PartitionNotOwned,
            ) => self.start_search(Want::Probe, cx),
            // It is on its way into a new generation, and retries when it is there.
            (Session::Leaving | Session::Joining(_), _) => {}
        }
    }

    /// The coordinator is reached: ask it by a heartbeat whether this consumer is still a member.
    pub(super) fn probe(&mut self, cx: &mut ConsumerContext<'_>) {
        let heartbeat = self.send_heartbeat(cx);
        if let Some(retry) = &mut self.commits.retry {
            retry.heartbeat = heartbeat;
        }
        cx.set(ConsumerTimer::MetadataRefresh, self.plan.metadata_refresh);
        if let Some(interval) = self.plan.commit_interval {
            cx.set(ConsumerTimer::Commit, interval);
        }
    }

    pub(super) fn retry_after_heartbeat(&mut self, correlation: Correlation, cx: &mut ConsumerContext<'_>) {
        if self.commits.retry.as_ref().is_some_and(|retry| retry.heartbeat.is_some_and(|sent| sent <= correlation)) {
            self.retry_commit(cx);
        }
    }

    pub(super) fn retry_after_join(&mut self, cx: &mut ConsumerContext<'_>) {
        if self.commits.retry.is_some() {
            self.retry_commit(cx);
        }
    }

    /// Commits again, with the present generation and positions, what is still owned; drops and reports the rest.
    fn retry_commit(&mut self, cx: &mut ConsumerContext<'_>) {
        let Some(retry) = self.commits.retry.take() else { return };
        let refused: Set<Partition> = retry.offsets.iter().map(|(partition, _)| *partition).collect();
        let owned = self.own_positions(cx).unwrap_or_default();
        let again: Offsets = owned.iter().filter(|(partition, _)| refused.contains(partition)).copied().collect();
        let kept: Set<Partition> = again.iter().map(|(partition, _)| *partition).collect();
        let dropped: Offsets = retry.offsets.iter().filter(|(p, _)| !kept.contains(p)).copied().collect();
        if !dropped.is_empty() {
            self.drop_offsets(dropped, DropReason::NoLongerOwned, cx);
        }
        let generation = self.owned.as_ref().map(|owned| owned.generation);
        if let (Some(broker), Some(generation)) = (self.connected_coordinator(), generation)
            && !again.is_empty()
        {
            self.send_commit(broker, self.member, generation, again, Attempt::Retry, cx);
        }
    }

    // --- giving up ---

    pub(super) fn drop_retry(&mut self, why: DropReason, cx: &mut ConsumerContext<'_>) {
        if let Some(retry) = self.commits.retry.take() {
            self.drop_offsets(retry.offsets, why, cx);
        }
    }

    /// The channel to the coordinator is gone, and with it the answers to what was committed on it.
    pub(super) fn commits_lost(&mut self, cx: &mut ConsumerContext<'_>) {
        for pending in std::mem::take(&mut self.commits.pending) {
            self.drop_offsets(pending.offsets, DropReason::NoAnswer, cx);
        }
    }

    fn drop_offsets(&self, offsets: Offsets, why: DropReason, cx: &mut ConsumerContext<'_>) {
        cx.note(Fact::OffsetsDropped { consumer: self.plan.id, offsets, why }, Rules::of(&[OC5]));
    }
}
