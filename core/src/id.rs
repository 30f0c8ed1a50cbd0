//! Names of things: a newtype for each, so that one can never stand for another.
//!
//! Ids are dense indices into the lists of a [`Cast`](crate::cast::Cast), which knows the names people read.

use serde::Serialize;

macro_rules! index_id {
    ($(#[$doc:meta])* $name:ident($inner:ty)) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize)]
        pub struct $name(pub $inner);

        impl $name {
            /// The position in the list that this id indexes.
            #[must_use]
            pub const fn index(self) -> usize {
                self.0 as usize
            }
        }
    };
}

index_id! {
    /// A broker, in the scenario's order, from 0; people read it as "broker 1", `B1`.
    BrokerId(u16)
}
index_id! {
    /// A consumer, in the scenario's order, from 0: one name for life, whatever happens to its process.
    ConsumerId(u32)
}
index_id! {
    /// A member of the group as the coordinator knows it. The order of member ids is the order of the consumers'
    /// names as strings, which is how Kafka breaks ties in an assignment (decision 13).
    MemberId(u32)
}
index_id! {
    /// A topic; the order of topic ids is the order of the topics' names.
    TopicId(u16)
}
index_id! {
    /// One connection between a consumer and a broker: a new one for each time it is opened (decision 3).
    ConnectionId(u32)
}
index_id! {
    /// A request of one consumer, counted from 0 in each of its process lives; the answer carries the same number.
    Correlation(u32)
}
index_id! {
    /// A record's place in its trace, from 0.
    RecordId(u32)
}

/// A process of the run: a broker or a consumer.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeId(u32);

/// What a [`NodeId`] stands for.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum NodeKind {
    /// A broker.
    Broker(BrokerId),
    /// A consumer.
    Consumer(ConsumerId),
}

const CONSUMER_BIT: u32 = 1 << 31;

impl NodeId {
    /// The broker or consumer that this node is.
    #[must_use]
    pub const fn kind(self) -> NodeKind {
        if self.0 & CONSUMER_BIT == 0 {
            NodeKind::Broker(BrokerId(self.0 as u16))
        } else {
            NodeKind::Consumer(ConsumerId(self.0 & !CONSUMER_BIT))
        }
    }

    /// The consumer, if it is one.
    #[must_use]
    pub const fn consumer(self) -> Option<ConsumerId> {
        match self.kind() {
            NodeKind::Consumer(consumer) => Some(consumer),
            NodeKind::Broker(_) => None,
        }
    }

    /// The broker, if it is one.
    #[must_use]
    pub const fn broker(self) -> Option<BrokerId> {
        match self.kind() {
            NodeKind::Broker(broker) => Some(broker),
            NodeKind::Consumer(_) => None,
        }
    }
}

impl std::fmt::Debug for NodeId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.kind().fmt(f)
    }
}

impl From<BrokerId> for NodeId {
    fn from(id: BrokerId) -> Self {
        Self(u32::from(id.0))
    }
}

impl From<ConsumerId> for NodeId {
    fn from(id: ConsumerId) -> Self {
        Self(id.0 | CONSUMER_BIT)
    }
}

/// A partition of a topic.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize)]
pub struct Partition {
    /// Its topic.
    pub topic: TopicId,
    /// Its number within the topic, from 0.
    pub index: u32,
}

/// A position in a partition: the number of the next record, from 0.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default, Serialize)]
pub struct Offset(pub u64);

/// How often the role of coordinator has moved (decision 10).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default, Serialize)]
pub struct Epoch(pub u16);

/// A generation of the group, ordered by (epoch, life of the group, number): invariant 5 and decision 20.
///
/// A group that loses its last member is forgotten; the next one of that name begins a new life and counts from 1.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default, Serialize)]
pub struct Generation {
    /// The coordinator's epoch in which it was formed.
    pub epoch: Epoch,
    /// Which life of the group, from 1; 0 for a group never formed.
    pub life: u32,
    /// The number people read, from 1; 0 before the first one is formed.
    pub number: u32,
}
