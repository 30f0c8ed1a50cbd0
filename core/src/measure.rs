//! What a run comes to in numbers: how long its rebalances took, for how long partitions had no reader, what was sent,
//! what was processed twice. Everything is worked out from a plan and the trace of a run of it.

mod reading;
mod rebalances;

use std::collections::BTreeMap;

use serde::{Serialize, Serializer};

use crate::message::{Message, MessageKind, Response};
use crate::scenario::Plan;
use crate::time::{Span, Time};
use crate::trace::{Fact, Trace};

pub use reading::{Attendance, PartitionReading, Reading};
pub use rebalances::{Need, Rebalance};

use rebalances::Rebalances;

/// A run in numbers. As JSON, times and lengths of time are whole microseconds and their names end in `_us`.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Measures {
    /// Up to when the run was measured.
    #[serde(rename = "until_us", serialize_with = "micros_at")]
    pub until: Time,
    /// The rebalances, in the order in which they began.
    pub rebalances: Vec<Rebalance>,
    /// How many of them were needless: the generation that was formed has the members, subscriptions and partition
    /// counts of the one before.
    pub needless_rebalances: u64,
    /// The partitions, in order.
    pub partitions: Vec<PartitionMeasures>,
    /// How many records were processed that had been processed before, in all partitions.
    pub processed_twice: u64,
    /// What was sent, by kind: `metadata`, `join`, `heartbeat`, `commit`, `leave`.
    pub messages: BTreeMap<&'static str, MessageCount>,
    /// How many metadata requests were sent.
    pub metadata_requests: u64,
    /// How many commits were answered with an error, by its name.
    pub refused_commits: BTreeMap<&'static str, u64>,
}

/// A partition in numbers.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct PartitionMeasures {
    /// Its name, `orders-3`.
    pub partition: String,
    /// When it was first read; `None` if it never was.
    #[serde(rename = "first_read_us", serialize_with = "micros_at_if_any")]
    pub first_read: Option<Time>,
    /// For how long since then nobody read it.
    #[serde(rename = "unread_us", serialize_with = "micros")]
    pub unread: Span,
    /// For how long several consumers read it at once.
    #[serde(rename = "overlapped_us", serialize_with = "micros")]
    pub overlapped: Span,
    /// How many records were processed, each as often as it was.
    pub processed: u64,
    /// How many of those had been processed before.
    pub processed_twice: u64,
    /// How many records it was behind at the end.
    pub lag: u64,
}

/// Messages of a kind.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Serialize)]
pub struct MessageCount {
    /// Requests sent.
    pub requests: u64,
    /// Answers sent.
    pub responses: u64,
    /// Of both, those that were lost on their way.
    pub lost: u64,
}

impl Measures {
    /// How long the rebalances took, those only that every member of their generation came through.
    pub fn latencies(&self) -> impl Iterator<Item = Span> + '_ {
        self.rebalances.iter().filter_map(Rebalance::whole_latency)
    }

    /// For how long partitions were without a reader, all together.
    #[must_use]
    pub fn unread(&self) -> Span {
        self.partitions.iter().fold(Span::ZERO, |sum, partition| sum + partition.unread)
    }
}

/// Measures a run of `plan` up to its end.
///
/// A run that stopped at its limit of records is measured up to there.
#[must_use]
pub fn measure(plan: &Plan, trace: &Trace) -> Measures {
    let last = trace.len().checked_sub(1).and_then(|last| trace.from(last).next());
    let is_cut_off = last.is_some_and(|(_, record)| record.fact == Fact::LimitReached);
    measure_until(plan, trace, if is_cut_off { trace.end() } else { plan.until })
}

/// Measures a run of `plan` up to and at a time.
#[must_use]
pub fn measure_until(plan: &Plan, trace: &Trace, until: Time) -> Measures {
    let mut reading = Reading::new(plan);
    let mut rebalances = Rebalances::new(plan);
    let mut traffic = Traffic::default();
    for (_, record) in trace.iter().take(trace.count_until(until)) {
        reading.observe(record.at, &record.fact);
        rebalances.observe(record.at, &record.fact);
        traffic.observe(&record.fact);
    }
    let rebalances = rebalances.finish();
    Measures {
        until,
        needless_rebalances: rebalances.iter().filter(|rebalance| rebalance.need == Some(Need::Needless)).count()
            as u64,
        rebalances,
        partitions: partitions(plan, &reading, until),
        processed_twice: reading.processed_twice(until),
        metadata_requests: traffic.messages.get(MessageKind::Metadata.word()).map_or(0, |count| count.requests),
        messages: traffic.messages,
        refused_commits: traffic.refused_commits,
    }
}

fn partitions(plan: &Plan, reading: &Reading, until: Time) -> Vec<PartitionMeasures> {
    let measured = |now: PartitionReading| {
        let attendance = reading.attendance(now.partition, until);
        PartitionMeasures {
            partition: plan.cast.partition(now.partition),
            first_read: attendance.map(|attendance| attendance.first_read),
            unread: attendance.map_or(Span::ZERO, |attendance| attendance.unread),
            overlapped: attendance.map_or(Span::ZERO, |attendance| attendance.overlapped),
            processed: now.processed,
            processed_twice: now.processed_twice,
            lag: now.lag,
        }
    };
    reading.partitions(until).into_iter().map(measured).collect()
}

/// What was sent.
#[derive(Default)]
struct Traffic {
    messages: BTreeMap<&'static str, MessageCount>,
    refused_commits: BTreeMap<&'static str, u64>,
}

impl Traffic {
    fn observe(&mut self, fact: &Fact) {
        let Fact::Sent { arrives, message, .. } = fact else { return };
        let count = self.messages.entry(message.kind().word()).or_default();
        match message {
            Message::Request(_) => count.requests += 1,
            Message::Response(_) => count.responses += 1,
        }
        if *arrives == Time::MAX {
            count.lost += 1;
        }
        if let Message::Response(Response::Commit(Err(error))) = message {
            *self.refused_commits.entry(error.name()).or_default() += 1;
        }
    }
}

// --- microseconds in JSON ---

fn micros<S: Serializer>(span: &Span, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_u64(span.as_micros())
}

fn micros_if_any<S: Serializer>(span: &Option<Span>, serializer: S) -> Result<S::Ok, S::Error> {
    span.map(Span::as_micros).serialize(serializer)
}

fn micros_at<S: Serializer>(time: &Time, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_u64(time.as_micros())
}

fn micros_at_if_any<S: Serializer>(time: &Option<Time>, serializer: S) -> Result<S::Ok, S::Error> {
    time.map(Time::as_micros).serialize(serializer)
}

#[cfg(test)]
mod tests;
