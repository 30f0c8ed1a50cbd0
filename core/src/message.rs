//! What travels between a consumer and a broker: one enum of requests, one of answers.

use std::sync::Arc;

use crate::error::{CommitError, HeartbeatError, JoinError};
use crate::id::{BrokerId, Generation, MemberId, Offset, Partition, TopicId};
use crate::scenario::AssignmentStrategy;
use crate::time::Span;

/// A list of topics, shared wherever the same list stands.
pub type Topics = Arc<[TopicId]>;
/// Partitions with an offset each, in partition order.
pub type Offsets = Arc<[(Partition, Offset)]>;
/// Topics with their number of partitions.
pub type PartitionCounts = Arc<[(TopicId, u32)]>;

/// A message on a channel.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Message {
    /// From a consumer to a broker.
    Request(Request),
    /// From a broker to a consumer.
    Response(Response),
}

/// What a message is about: the request's kind, whichever way it travels.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum MessageKind {
    /// Asking any broker for the cluster, the leaders and the coordinator (CD1).
    Metadata,
    /// Joining the group (JG1).
    Join,
    /// The document's "ping" (HB1).
    Heartbeat,
    /// Committing offsets (OC1 to OC5).
    Commit,
    /// Leaving the group (decision 17).
    Leave,
}

impl MessageKind {
    /// The word that tests and styles use: `metadata`, `join`, `heartbeat`, `commit`, `leave`.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Metadata => "metadata",
            Self::Join => "join",
            Self::Heartbeat => "heartbeat",
            Self::Commit => "commit",
            Self::Leave => "leave",
        }
    }
}

impl Message {
    /// What it is about.
    #[must_use]
    pub const fn kind(&self) -> MessageKind {
        match self {
            Self::Request(Request::Metadata { .. }) | Self::Response(Response::Metadata(_)) => MessageKind::Metadata,
            Self::Request(Request::Join(_)) | Self::Response(Response::Join(_)) => MessageKind::Join,
            Self::Request(Request::Heartbeat { .. }) | Self::Response(Response::Heartbeat(_)) => MessageKind::Heartbeat,
            Self::Request(Request::Commit(_) | Request::SimpleCommit { .. }) | Self::Response(Response::Commit(_)) => {
                MessageKind::Commit
            }
            Self::Request(Request::Leave { .. }) | Self::Response(Response::Leave(_)) => MessageKind::Leave,
        }
    }

    /// The name of the error it carries, if it is an answer that refuses.
    #[must_use]
    pub const fn error(&self) -> Option<&'static str> {
        match self {
            Self::Response(Response::Join(Err(error))) => Some(error.name()),
            Self::Response(Response::Heartbeat(Err(error))) => Some(error.name()),
            Self::Response(Response::Commit(Err(error))) => Some(error.name()),
            Self::Response(Response::Leave(Err(error))) => Some(error.name()),
            Self::Request(_)
            | Self::Response(
                Response::Metadata(_)
                | Response::Join(Ok(_))
                | Response::Heartbeat(Ok(()))
                | Response::Commit(Ok(()))
                | Response::Leave(Ok(())),
            ) => None,
        }
    }
}

/// From a consumer to a broker.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Request {
    /// CD1: tell me the cluster, the leaders of these topics' partitions, and the coordinator of my group.
    Metadata {
        /// The topics asked for.
        topics: Topics,
    },
    /// JG1.
    Join(Arc<Join>),
    /// HB1: the document's "ping".
    Heartbeat {
        /// Who.
        member: MemberId,
        /// The generation it holds.
        generation: Generation,
    },
    /// OC1 to OC3.
    Commit(Arc<Commit>),
    /// A commit with no id and no generation (on Kafka's wire an empty id and generation -1), from a client that keeps
    /// its offsets in the log and takes part in no group (decision 24). It is answered like any commit.
    SimpleCommit {
        /// The offsets to append.
        offsets: Offsets,
    },
    /// Decision 17: the member leaves.
    Leave {
        /// Who.
        member: MemberId,
    },
}

/// A join request (JG1).
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Join {
    /// Who: the name that the consumer has for life, or the id that the coordinator gave out to it (decision 16).
    pub member: MemberId,
    /// The assignment strategy that it names, where joins name one (decision 24).
    pub strategy: Option<NamedStrategy>,
    /// After how long a silence the coordinator may give this member up (HB3).
    pub session_timeout: Span,
    /// The present subscription.
    pub topics: Topics,
}

/// An assignment strategy by the name that a join gives it (decision 24).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum NamedStrategy {
    /// One that the coordinator has.
    Known(AssignmentStrategy),
    /// One that it does not have.
    Unknown,
}

/// A commit request.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Commit {
    /// Who.
    pub member: MemberId,
    /// The generation it holds.
    pub generation: Generation,
    /// The offsets to append.
    pub offsets: Offsets,
}

/// From a broker to a consumer.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Response {
    /// CD1.
    Metadata(Arc<Metadata>),
    /// EC3, EC4, EC6.
    Join(Result<Arc<Joined>, JoinError>),
    /// HB2, HB6, EC0.
    Heartbeat(Result<(), HeartbeatError>),
    /// OC4, OC5.
    Commit(Result<(), CommitError>),
    /// Decision 17.
    Leave(Result<(), HeartbeatError>),
}

/// The three things a broker knows (CD1).
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Metadata {
    /// The cluster: every broker.
    pub brokers: Arc<[BrokerId]>,
    /// The topics asked for with their number of partitions, which gives the leaders: partition *p* of a topic is
    /// led by the broker at position `p % brokers.len()`.
    pub topics: PartitionCounts,
    /// The coordinator of the group; `None` where this broker knows of none (`CoordinatorNotAvailable`).
    pub coordinator: Option<BrokerId>,
}

/// A normal answer to a join (EC3).
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Joined {
    /// The id by which the group knows the consumer from now on, where the coordinator gives out ids (decision 16).
    pub given: Option<MemberId>,
    /// The new generation.
    pub generation: Generation,
    /// This member's partitions, each with the offset to start from (decision 11).
    pub assignment: Offsets,
    /// The number of partitions that the assignment was computed from (decision 14), for the member's topics.
    pub counts: PartitionCounts,
}
