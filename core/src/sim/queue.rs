//! The queue of what is to happen, ordered by time, then by kind, then by the order in which it was brought about.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::id::{BrokerId, ConnectionId, NodeId};
use crate::time::Time;
use crate::trace::Cause;

use super::network::End;

/// Something that is to happen.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Event {
    pub(super) at: Time,
    /// What orders it among those of its instant: its kind above, the order in which it was brought about below.
    pub(super) order: u64,
    pub(super) what: What,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum What {
    /// The next packet of a connection reaches this end.
    Arrival { connection: ConnectionId, end: End },
    /// The order of the plan at this place is carried out.
    Order(u32),
    /// A timer may be due.
    Timer { node: NodeId, timer: u32 },
    /// A busy stretch of a thread is over.
    ThreadFree { node: NodeId, turn: u64 },
    /// The coordinator has been away for long enough, if this absence still lasts.
    Takeover { absence: u32 },
    /// The news of who is coordinator reaches a broker.
    Learned { broker: BrokerId, coordinator: BrokerId },
}

/// Decision 15: at one instant arrivals, then commands, then timers.
const KIND_SHIFT: u32 = 62;

impl Event {
    /// The order in which it was brought about.
    pub(super) const fn number(&self) -> u64 {
        self.order & ((1 << KIND_SHIFT) - 1)
    }
}

impl What {
    const fn kind(self) -> u64 {
        match self {
            Self::Arrival { .. } | Self::Learned { .. } => 0,
            Self::Order(_) => 1,
            Self::Timer { .. } | Self::ThreadFree { .. } | Self::Takeover { .. } => 2,
        }
    }
}

impl PartialOrd for Event {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Event {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        (self.at, self.order).cmp(&(other.at, other.order))
    }
}

#[derive(Clone, Debug, Default)]
pub(super) struct Queue {
    heap: BinaryHeap<Reverse<Event>>,
    order: u64,
}

impl Queue {
    /// The next number of the order in which things are brought about.
    pub(super) fn next_order(&mut self) -> u64 {
        self.order += 1;
        self.order
    }

    pub(super) fn push(&mut self, at: Time, what: What) {
        let order = self.next_order();
        self.push_ordered(at, order, what);
    }

    pub(super) fn push_ordered(&mut self, at: Time, order: u64, what: What) {
        self.heap.push(Reverse(Event { at, order: what.kind() << KIND_SHIFT | order, what }));
    }

    pub(super) fn pop(&mut self) -> Option<Event> {
        self.heap.pop().map(|Reverse(event)| event)
    }

    pub(super) fn next_time(&self) -> Option<Time> {
        self.heap.peek().map(|Reverse(event)| event.at)
    }
}

/// A timer of a process. Setting it anew later than it stands in the queue does not touch the queue: the entry that
/// comes up early is put back then, so that a timer that is put off again and again costs one entry.
#[derive(Clone, Copy, Debug)]
pub(super) struct Slot {
    /// When it fires; [`Time::MAX`] if it is not set.
    pub(super) due: Time,
    /// The order in which it was set.
    pub(super) order: u64,
    /// When its earliest entry in the queue comes up; [`Time::MAX`] if there is none.
    pub(super) queued: Time,
    /// The record during which it was set.
    pub(super) cause: Option<Cause>,
}

impl Default for Slot {
    fn default() -> Self {
        Self { due: Time::MAX, order: 0, queued: Time::MAX, cause: None }
    }
}
