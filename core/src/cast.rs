//! Who takes part in a run, by name.

use crate::id::{BrokerId, ConsumerId, MemberId, NodeId, NodeKind, Partition, TopicId};

/// The names of a run: what ids index.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Cast {
    /// The group's name.
    pub group: String,
    /// How many brokers there are.
    pub brokers: u16,
    /// The broker that holds the role of coordinator at the start.
    pub coordinator: BrokerId,
    /// The consumers' names, in the scenario's order.
    pub consumers: Vec<String>,
    /// The topics' names, sorted.
    pub topics: Vec<String>,
    /// For each member id the consumer that goes by it.
    pub members: Vec<ConsumerId>,
    /// For each consumer its member id.
    pub member_ids: Vec<MemberId>,
}

impl Cast {
    /// The short name of a node, as scenarios and traces write it: `B1`, `C2`.
    #[must_use]
    pub fn node(&self, node: NodeId) -> String {
        match node.kind() {
            NodeKind::Broker(broker) => broker_name(broker),
            NodeKind::Consumer(consumer) => self.consumer(consumer).to_owned(),
        }
    }

    /// The name of a consumer.
    #[must_use]
    pub fn consumer(&self, consumer: ConsumerId) -> &str {
        self.consumers.get(consumer.index()).map_or("?", String::as_str)
    }

    /// The consumer that goes by a member id, or went by it in an earlier life of its process (decision 16).
    #[must_use]
    pub fn member(&self, member: MemberId) -> ConsumerId {
        let names = self.members.len().max(1);
        self.members.get(member.index() % names).copied().unwrap_or(ConsumerId(member.0))
    }

    /// Which of the ids given to its consumer a member id is: 0 for the consumer's own name, from 1 for ids that the
    /// coordinator gave out (decision 16).
    #[must_use]
    pub fn member_turn(&self, member: MemberId) -> u32 {
        member.0 / self.members.len().max(1) as u32
    }

    /// The name of a member: its consumer's, and `C1#2` for the second id that the coordinator gave to it.
    #[must_use]
    pub fn member_name(&self, member: MemberId) -> std::borrow::Cow<'_, str> {
        let name = self.consumer(self.member(member));
        match self.member_turn(member) {
            0 => name.into(),
            turn => format!("{name}#{turn}").into(),
        }
    }

    /// The name of a topic.
    #[must_use]
    pub fn topic(&self, topic: TopicId) -> &str {
        self.topics.get(topic.index()).map_or("?", String::as_str)
    }

    /// A partition as people write it, `orders-3`.
    #[must_use]
    pub fn partition(&self, partition: Partition) -> String {
        format!("{}-{}", self.topic(partition.topic), partition.index)
    }

    /// Every node, brokers first.
    pub fn nodes(&self) -> impl Iterator<Item = NodeId> + '_ {
        let brokers = (0..self.brokers).map(|b| NodeId::from(BrokerId(b)));
        brokers.chain((0..self.consumers.len()).map(|c| NodeId::from(ConsumerId(c as u32))))
    }

    /// The node with a short name.
    #[must_use]
    pub fn find(&self, name: &str) -> Option<NodeId> {
        self.nodes().find(|node| self.node(*node) == name)
    }
}

/// The short name of a broker, `B1` for the first.
#[must_use]
pub fn broker_name(broker: BrokerId) -> String {
    format!("B{}", broker.0 + 1)
}
