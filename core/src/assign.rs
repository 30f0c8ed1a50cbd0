//! Assignment strategies, as Kafka defines them (decision 13). Pure functions.

use crate::id::{MemberId, Partition, TopicId};
use crate::map::Map;
use crate::message::Topics;
use crate::scenario::AssignmentStrategy;

/// Assigns the partitions of the topics that the members subscribe to.
///
/// `members` are the members with their subscriptions, in member order, which breaks ties; `count` gives a topic's
/// number of partitions. The result has an entry for each member, in the same order, its partitions sorted.
#[must_use]
pub fn assign(
    strategy: AssignmentStrategy,
    members: &[(MemberId, Topics)],
    count: impl Fn(TopicId) -> u32,
) -> Vec<(MemberId, Vec<Partition>)> {
    let mut subscribers: Map<TopicId, Vec<usize>> = Map::new();
    for (slot, (_, topics)) in members.iter().enumerate() {
        for topic in topics.iter() {
            subscribers.or_insert_with(*topic, Vec::new).push(slot);
        }
    }
    let mut assignment: Vec<_> = members.iter().map(|(member, _)| (*member, Vec::new())).collect();
    match strategy {
        AssignmentStrategy::Range => range(&subscribers, count, &mut assignment),
        AssignmentStrategy::RoundRobin => round_robin(&subscribers, members.len(), count, &mut assignment),
    }
    for (_, partitions) in &mut assignment {
        partitions.sort_unstable();
    }
    assignment
}

/// Topic by topic: each subscriber a run of neighbouring partitions, the first ones one more where it does not divide.
fn range(
    subscribers: &Map<TopicId, Vec<usize>>,
    count: impl Fn(TopicId) -> u32,
    assignment: &mut [(MemberId, Vec<Partition>)],
) {
    for (topic, slots) in subscribers {
        let (each, extra) = (count(*topic) / slots.len() as u32, count(*topic) % slots.len() as u32);
        let mut next = 0;
        for (place, slot) in slots.iter().enumerate() {
            let take = each + u32::from((place as u32) < extra);
            assignment[*slot].1.extend((next..next + take).map(|index| Partition { topic: *topic, index }));
            next += take;
        }
    }
}

/// All partitions in order of topic and number, each to the next member in turn that subscribes to its topic.
fn round_robin(
    subscribers: &Map<TopicId, Vec<usize>>,
    members: usize,
    count: impl Fn(TopicId) -> u32,
    assignment: &mut [(MemberId, Vec<Partition>)],
) {
    let mut turn = 0;
    for (topic, slots) in subscribers {
        for index in 0..count(*topic) {
            let place = slots.partition_point(|slot| *slot < turn);
            let slot = slots.get(place).copied().unwrap_or(slots[0]);
            assignment[slot].1.push(Partition { topic: *topic, index });
            turn = (slot + 1) % members;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(strategy: AssignmentStrategy, subscriptions: &[&[u16]], counts: &[u32]) -> Vec<Vec<(u16, u32)>> {
        let members: Vec<_> = subscriptions
            .iter()
            .enumerate()
            .map(|(i, topics)| (MemberId(i as u32), topics.iter().map(|t| TopicId(*t)).collect()))
            .collect();
        let assignment = assign(strategy, &members, |topic| counts[topic.index()]);
        assignment.into_iter().map(|(_, list)| list.into_iter().map(|p| (p.topic.0, p.index)).collect()).collect()
    }

    #[test]
    fn range_gives_runs_and_the_first_ones_more() {
        let given = run(AssignmentStrategy::Range, &[&[0, 1], &[0, 1]], &[3, 3]);
        assert_eq!(given, [vec![(0, 0), (0, 1), (1, 0), (1, 1)], vec![(0, 2), (1, 2)]]);
    }

    #[test]
    fn round_robin_deals_on_across_topics() {
        let given = run(AssignmentStrategy::RoundRobin, &[&[0, 1], &[0, 1]], &[3, 3]);
        assert_eq!(given, [vec![(0, 0), (0, 2), (1, 1)], vec![(0, 1), (1, 0), (1, 2)]]);
    }

    #[test]
    fn only_subscribers_get_a_topic() {
        for strategy in [AssignmentStrategy::Range, AssignmentStrategy::RoundRobin] {
            let given = run(strategy, &[&[0], &[0, 1], &[0]], &[3, 2]);
            assert_eq!(given, [vec![(0, 0)], vec![(0, 1), (1, 0), (1, 1)], vec![(0, 2)]], "{strategy:?}");
        }
    }

    #[test]
    fn more_members_than_partitions_leaves_some_idle() {
        for strategy in [AssignmentStrategy::Range, AssignmentStrategy::RoundRobin] {
            assert_eq!(run(strategy, &[&[0], &[0]], &[1]), [vec![(0, 0)], vec![]], "{strategy:?}");
            assert_eq!(run(strategy, &[&[]], &[]), [vec![]], "{strategy:?}");
        }
    }
}
