//! Errors of the protocol, as data in answers (decision 20), and the error of bad input.

use serde::Serialize;

/// Why a join was refused.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
pub enum JoinError {
    /// The rebalance starts again: join once more (EC4, EC6).
    RebalanceInProgress,
    /// This broker is not the coordinator of the group.
    NotCoordinator,
    /// The session timeout is outside the coordinator's bounds; fatal (decision 9).
    InvalidSessionTimeout,
    /// The group has as many members as it may have; fatal (decision 9).
    GroupMaxSizeReached,
    /// An id that the coordinator did not give out (decision 24).
    UnknownMember,
    /// An assignment strategy that the coordinator does not have; fatal (decision 24).
    UnknownStrategy,
    /// Another strategy than the group's; fatal (decision 24).
    InconsistentStrategy,
}

impl JoinError {
    /// Whether the consumer throws and stops instead of joining again (EC6).
    #[must_use]
    pub const fn is_fatal(self) -> bool {
        match self {
            Self::InvalidSessionTimeout
            | Self::GroupMaxSizeReached
            | Self::UnknownStrategy
            | Self::InconsistentStrategy => true,
            Self::RebalanceInProgress | Self::NotCoordinator | Self::UnknownMember => false,
        }
    }

    /// Kafka's name for it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::RebalanceInProgress => "RebalanceInProgress",
            Self::NotCoordinator => "NotCoordinator",
            Self::InvalidSessionTimeout => "InvalidSessionTimeout",
            Self::GroupMaxSizeReached => "GroupMaxSizeReached",
            Self::UnknownMember => "UnknownMember",
            Self::UnknownStrategy => "UnknownStrategy",
            Self::InconsistentStrategy => "InconsistentStrategy",
        }
    }
}

/// Why a heartbeat was refused.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
pub enum HeartbeatError {
    /// A rebalance waits for this member to join (EC0).
    RebalanceInProgress,
    /// The generation is not the current one (HB6).
    IllegalGeneration,
    /// The group does not know this member, or the coordinator does not know the group (decision 7).
    UnknownMember,
    /// This broker is not the coordinator of the group.
    NotCoordinator,
}

impl HeartbeatError {
    /// Kafka's name for it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::RebalanceInProgress => "RebalanceInProgress",
            Self::IllegalGeneration => "IllegalGeneration",
            Self::UnknownMember => "UnknownMember",
            Self::NotCoordinator => "NotCoordinator",
        }
    }
}

/// Why a commit was refused. Where several conditions failed, it is the first in the order of these variants.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize)]
pub enum CommitError {
    /// This broker is not the coordinator of the group.
    NotCoordinator,
    /// Not a member of the group (OC1).
    UnknownMember,
    /// Not the current generation (OC3).
    IllegalGeneration,
    /// A partition that another member, or nobody, owns (OC2).
    PartitionNotOwned,
}

impl CommitError {
    /// Kafka's name for it (`PartitionNotOwned` for its `CommittingPartitionsNotAssigned`).
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::NotCoordinator => "NotCoordinator",
            Self::UnknownMember => "UnknownMember",
            Self::IllegalGeneration => "IllegalGeneration",
            Self::PartitionNotOwned => "PartitionNotOwned",
        }
    }
}

/// Bad input: where it is and what would be right.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct InputError {
    /// The path to the bad value, `consumers[2].session_timeout`; empty where the input as a whole is meant.
    pub path: String,
    /// What is wrong and what would be right, in a sentence without a full stop.
    pub message: String,
}

impl InputError {
    /// An error at a path.
    #[must_use]
    pub fn new(path: impl Into<String>, message: impl Into<String>) -> Self {
        Self { path: path.into(), message: message.into() }
    }
}

impl std::fmt::Display for InputError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.path.is_empty() { f.write_str(&self.message) } else { write!(f, "{}: {}", self.path, self.message) }
    }
}

impl std::error::Error for InputError {}
