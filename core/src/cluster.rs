//! What is true of the cluster whatever anyone knows of it: its topics, their partitions, and how far each has been
//! produced (decision 12).

use crate::id::{BrokerId, Offset, Partition, TopicId};
use crate::message::PartitionCounts;
use crate::time::Time;

/// The cluster.
#[derive(Clone, Debug)]
pub struct Cluster {
    brokers: std::sync::Arc<[BrokerId]>,
    topics: Vec<TopicState>,
}

#[derive(Clone, Debug)]
struct TopicState {
    produced_per_second: u32,
    /// When there came to be how many partitions, in order of time.
    counts: Vec<(Time, u32)>,
}

impl Cluster {
    /// A cluster with so many brokers and, for each topic, (partitions, records produced to each a second).
    #[must_use]
    pub fn new(brokers: u16, topics: impl IntoIterator<Item = (u32, u32)>) -> Self {
        let topic = |(count, rate)| TopicState { produced_per_second: rate, counts: vec![(Time::ZERO, count)] };
        Self { brokers: (0..brokers).map(BrokerId).collect(), topics: topics.into_iter().map(topic).collect() }
    }

    /// Every broker.
    #[must_use]
    pub fn brokers(&self) -> &std::sync::Arc<[BrokerId]> {
        &self.brokers
    }

    /// How many partitions a topic has now; 0 for a topic that does not exist.
    #[must_use]
    pub fn count(&self, topic: TopicId) -> u32 {
        self.topics.get(topic.index()).and_then(|t| t.counts.last()).map_or(0, |(_, count)| *count)
    }

    /// The partition counts of some topics.
    #[must_use]
    pub fn counts(&self, topics: &[TopicId]) -> PartitionCounts {
        topics.iter().map(|topic| (*topic, self.count(*topic))).collect()
    }

    /// Adds partitions to a topic and returns how many it has then.
    pub fn add_partitions(&mut self, topic: TopicId, more: u32, now: Time) -> u32 {
        let count = self.count(topic).saturating_add(more);
        if let Some(state) = self.topics.get_mut(topic.index()) {
            state.counts.push((now, count));
        }
        count
    }

    /// The end of a partition's log at a time: how many records have been produced to it since it was made.
    #[must_use]
    pub fn end(&self, partition: Partition, now: Time) -> Offset {
        let Some(state) = self.topics.get(partition.topic.index()) else { return Offset(0) };
        let made = state.counts.iter().find(|(_, count)| *count > partition.index);
        made.map_or(Offset(0), |(at, _)| Offset(records(state.produced_per_second, *at, now)))
    }
}

/// Records at a rate from one time to another, rounded down.
#[must_use]
pub fn records(per_second: u32, from: Time, to: Time) -> u64 {
    (u128::from(per_second) * u128::from(to.since(from).0) / 1_000_000) as u64
}

/// The position of a consumer that began at `start` at time `since` and processes at a rate, but cannot pass `end`, the
/// log's end now.
#[must_use]
pub fn position(start: Offset, since: Time, now: Time, processed_per_second: u32, end: Offset) -> Offset {
    let reached = start.0.saturating_add(records(processed_per_second, since, now));
    Offset(reached.min(end.0).max(start.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_partition_is_produced_to_from_when_it_was_made() {
        let mut cluster = Cluster::new(1, [(1, 10)]);
        assert_eq!(cluster.add_partitions(TopicId(0), 2, Time(5_000_000)), 3);
        let end = |index| cluster.end(Partition { topic: TopicId(0), index }, Time(6_050_000));
        assert_eq!((end(0), end(1), end(2), end(3)), (Offset(60), Offset(10), Offset(10), Offset(0)));
    }

    #[test]
    fn a_position_follows_the_slower_of_processing_and_producing() {
        let now = Time(2_000_000);
        assert_eq!(position(Offset(5), Time::ZERO, now, 10, Offset(100)), Offset(25));
        assert_eq!(position(Offset(5), Time::ZERO, now, 10, Offset(12)), Offset(12));
        assert_eq!(position(Offset(50), Time::ZERO, now, 10, Offset(12)), Offset(50), "committed ahead by hand");
    }
}
