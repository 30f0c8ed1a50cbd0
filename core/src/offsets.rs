//! Committed offsets: the three checks of a commit, and the log.

use std::sync::Arc;

use crate::error::CommitError;
use crate::id::{Generation, MemberId, Offset, Partition};
use crate::map::Map;
use crate::message::Commit;

/// How a commit fared against the document's three conditions, with the values compared.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Verdict {
    /// The commit that was checked.
    pub commit: Arc<Commit>,
    /// OC1: whether the sender is a member of the group.
    pub is_member: bool,
    /// OC2: for each partition of the commit its owner, if it has one.
    pub partitions: Vec<(Partition, Option<MemberId>)>,
    /// OC3: the generation in force; `None` where the group is unknown.
    pub current: Option<Generation>,
    /// What was answered.
    pub outcome: Result<(), CommitError>,
}

impl Verdict {
    /// OC2: whether the sender owns every partition that it commits to.
    #[must_use]
    pub fn owns_all(&self) -> bool {
        self.partitions.iter().all(|(_, owner)| *owner == Some(self.commit.member))
    }

    /// OC3: whether the commit carries the generation in force.
    #[must_use]
    pub fn is_current(&self) -> bool {
        self.current == Some(self.commit.generation)
    }
}

/// Checks a commit (OC1 to OC3). `owner` tells who owns a partition in the generation in force, `current` is that
/// generation, or `None` where the group is unknown.
///
/// Where several conditions fail, the error is the first of [`CommitError`]'s order; the verdict shows all three.
#[must_use]
pub fn check(
    commit: &Arc<Commit>,
    is_member: bool,
    current: Option<Generation>,
    owner: impl Fn(Partition) -> Option<MemberId>,
) -> Verdict {
    let partitions = commit.offsets.iter().map(|(partition, _)| (*partition, owner(*partition))).collect();
    let mut verdict = Verdict { commit: Arc::clone(commit), is_member, partitions, current, outcome: Ok(()) };
    verdict.outcome = if !verdict.is_member {
        Err(CommitError::UnknownMember)
    } else if !verdict.is_current() {
        Err(CommitError::IllegalGeneration)
    } else if !verdict.owns_all() {
        Err(CommitError::PartitionNotOwned)
    } else {
        Ok(())
    };
    verdict
}

/// The replicated log of committed offsets (OC4). It outlives every coordinator.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct OffsetLog {
    committed: Map<Partition, Offset>,
}

impl OffsetLog {
    /// The committed offset of a partition; 0 without one (decision 11).
    #[must_use]
    pub fn committed(&self, partition: Partition) -> Offset {
        self.committed.get(&partition).copied().unwrap_or_default()
    }

    /// Appends the offsets of an accepted commit and returns how many of them went back (OC4, invariant 4).
    pub fn append(&mut self, offsets: &[(Partition, Offset)]) -> u32 {
        let mut backwards = 0;
        for (partition, offset) in offsets {
            if self.committed.insert(*partition, *offset).is_some_and(|before| before > *offset) {
                backwards += 1;
            }
        }
        backwards
    }
}
