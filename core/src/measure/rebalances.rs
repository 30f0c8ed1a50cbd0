//! How long each rebalance took, and whether it was needed.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde::{Serialize, Serializer};

use super::{micros_at, micros_if_any};
use crate::cast::Cast;
use crate::id::{ConsumerId, Generation};
use crate::scenario::Plan;
use crate::time::{Span, Time};
use crate::trace::{Callback, Fact, Formed, RebalanceReason};

/// A rebalance in numbers.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Rebalance {
    /// When the coordinator began it.
    #[serde(rename = "started_us", serialize_with = "micros_at")]
    pub started: Time,
    /// Why.
    #[serde(serialize_with = "word")]
    pub why: RebalanceReason,
    /// How often it started again: because a member's join did not come (EC4), or because a coordinator that came back
    /// or took over found it open (decision 2).
    pub retries: u32,
    /// The number of the generation that it led to; `None` if it led to none.
    pub generation: Option<u32>,
    /// How long it took to form that generation.
    #[serde(rename = "formed_after_us", serialize_with = "micros_if_any")]
    pub formed_after: Option<Span>,
    /// How long it took until the last member of that generation, of those that came through, had returned from
    /// `onPartitionAssigned()` and fetched again.
    #[serde(rename = "latency_us", serialize_with = "micros_if_any")]
    pub latency: Option<Span>,
    /// How many members that generation has.
    pub members: u32,
    /// How many of them came through.
    pub members_through: u32,
    /// Whether it was needed; `None` if it led to no generation.
    pub need: Option<Need>,
}

/// Whether a rebalance was needed.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Need {
    /// It was the group's first, or the members, their subscriptions or the partition counts had changed.
    Needed,
    /// Members, subscriptions and partition counts are those of the generation before.
    Needless,
}

impl Rebalance {
    /// How long it took, if every member of its generation came through.
    #[must_use]
    pub fn whole_latency(&self) -> Option<Span> {
        self.latency.filter(|_| self.members_through == self.members)
    }
}

fn word<S: Serializer>(why: &RebalanceReason, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(match why {
        RebalanceReason::NewMember(_) => "new-member",
        RebalanceReason::SubscriptionChanged(_) => "subscription-changed",
        RebalanceReason::Rejoined(_) => "rejoined",
        RebalanceReason::MemberFailed(_) => "member-failed",
        RebalanceReason::MemberLeft(_) => "member-left",
        RebalanceReason::PartitionsChanged(_) => "partitions-changed",
        RebalanceReason::Reopened => "reopened",
    })
}

/// The rebalances so far.
pub(super) struct Rebalances {
    cast: Arc<Cast>,
    list: Vec<Rebalance>,
    /// The one that has formed no generation yet.
    open: Option<usize>,
    /// The generation in force.
    formed: Option<Arc<Formed>>,
    /// For each generation its rebalance and the consumers that have not come through yet.
    awaited: BTreeMap<Generation, (usize, BTreeSet<ConsumerId>)>,
    /// The generation that each consumer recorded last.
    recorded: Vec<Option<Generation>>,
}

impl Rebalances {
    pub(super) fn new(plan: &Plan) -> Self {
        Self {
            cast: Arc::clone(&plan.cast),
            list: Vec::new(),
            open: None,
            formed: None,
            awaited: BTreeMap::new(),
            recorded: vec![None; plan.consumers.len()],
        }
    }

    pub(super) fn observe(&mut self, at: Time, fact: &Fact) {
        if let Fact::RebalanceStarted { why, .. } = fact {
            self.start(at, *why);
        } else if let Fact::RebalanceRetried { .. } = fact {
            self.retry();
        } else if let Fact::AssignmentComputed { formed, .. } = fact {
            self.form(at, formed);
        } else if let Fact::GroupForgotten { .. } | Fact::GroupStateLost { .. } = fact {
            self.open = None;
            self.formed = None;
        } else if let Fact::GenerationRecorded { consumer, generation } = fact {
            self.recorded[consumer.index()] = Some(*generation);
        } else if let Fact::CallbackReturned { consumer, callback: Callback::Assigned } = fact {
            self.come_through(at, *consumer);
        }
    }

    pub(super) fn finish(self) -> Vec<Rebalance> {
        self.list
    }

    fn start(&mut self, at: Time, why: RebalanceReason) {
        if why == RebalanceReason::Reopened && self.open.is_some() {
            return self.retry();
        }
        self.open = Some(self.list.len());
        self.list.push(Rebalance {
            started: at,
            why,
            retries: 0,
            generation: None,
            formed_after: None,
            latency: None,
            members: 0,
            members_through: 0,
            need: None,
        });
    }

    fn retry(&mut self) {
        if let Some(open) = self.open {
            self.list[open].retries += 1;
        }
    }

    fn form(&mut self, at: Time, formed: &Arc<Formed>) {
        let before = self.formed.replace(Arc::clone(formed));
        let Some(open) = self.open.take() else { return };
        let is_same =
            before.is_some_and(|before| before.subscriptions == formed.subscriptions && before.counts == formed.counts);
        let rebalance = &mut self.list[open];
        rebalance.generation = Some(formed.generation.number);
        rebalance.formed_after = Some(at.since(rebalance.started));
        rebalance.members = formed.assignment.len() as u32;
        rebalance.need = Some(if is_same { Need::Needless } else { Need::Needed });
        let consumers = formed.assignment.iter().map(|(member, _)| self.cast.member(*member)).collect();
        self.awaited.insert(formed.generation, (open, consumers));
    }

    /// A consumer returned from `onPartitionAssigned()`.
    fn come_through(&mut self, at: Time, consumer: ConsumerId) {
        let Some(generation) = self.recorded[consumer.index()] else { return };
        let Some((place, awaited)) = self.awaited.get_mut(&generation) else { return };
        if awaited.remove(&consumer) {
            let rebalance = &mut self.list[*place];
            rebalance.members_through += 1;
            rebalance.latency = Some(at.since(rebalance.started));
        }
    }
}
