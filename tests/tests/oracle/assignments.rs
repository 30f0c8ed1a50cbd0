//! The 18 assignments that Kafka's assignor tests pin: by the pure function, and through a coordinator of the profile.

use std::collections::BTreeMap;

use groupscope_core::assign::assign;
use groupscope_core::id::{MemberId, Partition, TopicId};
use groupscope_core::message::{Join, NamedStrategy, Topics};
use groupscope_core::scenario::{AssignmentStrategy, GroupPlan, Profile};
use groupscope_core::trace::Fact;

use crate::desk::{Desk, join, request};
use crate::settings;

macro_rules! assignments {
    ($($name:ident: $strategy:ident, members [$($topics:expr),*], partitions [$($count:literal),*] => [$($owned:expr),*];)*) => {
        $(#[test]
        fn $name() {
            let members: &[&[u16]] = &[$(&$topics),*];
            let counts: &[u32] = &[$($count),*];
            let expected: &[&[(u16, u32)]] = &[$(&$owned),*];
            assert_eq!(computed(AssignmentStrategy::$strategy, members, counts), expected, "the function");
            assert_eq!(formed(AssignmentStrategy::$strategy, members, counts), expected, "the coordinator");
        })*
    };
}

// Each member's topics by their places in the list of topics; each member's partitions as (topic, number).
assignments! {
    oracle_range_one_member_no_topic: Range, members [[]], partitions [] => [[]];
    oracle_range_one_member_topic_without_partitions: Range, members [[0]], partitions [0] => [[]];
    oracle_range_one_member_one_topic: Range, members [[0]], partitions [3] => [[(0, 0), (0, 1), (0, 2)]];
    oracle_range_only_subscribed_topics: Range, members [[0]], partitions [3, 3] => [[(0, 0), (0, 1), (0, 2)]];
    oracle_range_one_member_two_topics: Range, members [[0, 1]], partitions [1, 2] => [[(0, 0), (1, 0), (1, 1)]];
    oracle_range_two_members_one_partition: Range, members [[0], [0]], partitions [1] => [[(0, 0)], []];
    oracle_range_two_members_two_partitions: Range, members [[0], [0]], partitions [2] => [[(0, 0)], [(0, 1)]];
    oracle_range_mixed_subscriptions: Range, members [[0], [0, 1], [0]], partitions [3, 2]
        => [[(0, 0)], [(0, 1), (1, 0), (1, 1)], [(0, 2)]];
    oracle_range_two_members_two_topics: Range, members [[0, 1], [0, 1]], partitions [3, 3]
        => [[(0, 0), (0, 1), (1, 0), (1, 1)], [(0, 2), (1, 2)]];
    oracle_roundrobin_one_member_no_topic: RoundRobin, members [[]], partitions [] => [[]];
    oracle_roundrobin_one_member_topic_without_partitions: RoundRobin, members [[0]], partitions [0] => [[]];
    oracle_roundrobin_one_member_one_topic: RoundRobin, members [[0]], partitions [3] => [[(0, 0), (0, 1), (0, 2)]];
    oracle_roundrobin_only_subscribed_topics: RoundRobin, members [[0]], partitions [3, 3]
        => [[(0, 0), (0, 1), (0, 2)]];
    oracle_roundrobin_one_member_two_topics: RoundRobin, members [[0, 1]], partitions [1, 2]
        => [[(0, 0), (1, 0), (1, 1)]];
    oracle_roundrobin_two_members_one_partition: RoundRobin, members [[0], [0]], partitions [1] => [[(0, 0)], []];
    oracle_roundrobin_two_members_two_partitions: RoundRobin, members [[0], [0]], partitions [2]
        => [[(0, 0)], [(0, 1)]];
    oracle_roundrobin_mixed_subscriptions: RoundRobin, members [[0], [0, 1], [0]], partitions [3, 2]
        => [[(0, 0)], [(0, 1), (1, 0), (1, 1)], [(0, 2)]];
    oracle_roundrobin_two_members_two_topics: RoundRobin, members [[0, 1], [0, 1]], partitions [3, 3]
        => [[(0, 0), (0, 2), (1, 1)], [(0, 1), (1, 0), (1, 2)]];
}

type Owned = Vec<Vec<(u16, u32)>>;

fn topics(list: &[u16]) -> Topics {
    list.iter().map(|topic| TopicId(*topic)).collect()
}

fn pairs(partitions: &[Partition]) -> Vec<(u16, u32)> {
    partitions.iter().map(|partition| (partition.topic.0, partition.index)).collect()
}

fn computed(strategy: AssignmentStrategy, members: &[&[u16]], counts: &[u32]) -> Owned {
    let members: Vec<_> = (0..).map(MemberId).zip(members.iter().map(|list| topics(list))).collect();
    let assignment = assign(strategy, &members, |topic| counts[topic.index()]);
    assignment.iter().map(|(_, partitions)| pairs(partitions)).collect()
}

/// What the members own once each of them has joined a coordinator that hands out ids: the first forms a generation of
/// its own, and joins again when the others have come.
fn formed(strategy: AssignmentStrategy, members: &[&[u16]], counts: &[u32]) -> Owned {
    let settings = GroupPlan { assignment: strategy, ..settings(Profile::Kafka2015) };
    let mut desk = Desk::new(&settings, counts);
    let named = Some(NamedStrategy::Known(strategy));
    let join_of = |member: MemberId, list: &[u16]| Join { strategy: named, topics: topics(list), ..join(member) };
    let (first, _) = desk.first_member(join_of(MemberId(0), members[0]));
    for (name, list) in (1..).map(MemberId).zip(&members[1..]) {
        desk.ask(&request(join_of(name, list)));
    }
    if members.len() > 1 {
        desk.ask(&request(join_of(first, members[0])));
    }
    let last = desk
        .facts()
        .iter()
        .rev()
        .find_map(|fact| if let Fact::AssignmentComputed { formed, .. } = fact { Some(formed) } else { None });
    let by_member: BTreeMap<_, _> = last.expect("all have joined").assignment.iter().cloned().collect();
    assert_eq!(by_member.len(), members.len(), "all are in the generation");
    by_member.values().map(|partitions| pairs(partitions)).collect()
}
