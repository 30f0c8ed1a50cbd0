//! Plans as a few bytes. The page carries the built-in lessons in this form: to read them takes a tenth of the code that
//! their JSON takes, and the page reads no other scenario at its start. A test holds the bytes against the JSON.

use std::sync::Arc;

use crate::cast::Cast;
use crate::id::{BrokerId, ConsumerId, MemberId, NodeId, Offset, Partition, TopicId};
use crate::message::NamedStrategy;
use crate::scenario::{
    AssignmentStrategy, CommitPlan, CompletionCheck, ConsumerPlan, Dialect, GroupPlan, GroupStateKept, Heard,
    Heartbeats, HeavyTailedLatency, JoinWindow, Latency, MemberIds, MissingJoin, OnClose, OnCoordinatorFailure,
    OnDeassigned, Order, Picture, Plan, Producer, RebalanceBy, StepSpec, Trigger, UnchangedJoin, UniformLatency,
};
use crate::time::{Span, Time};

/// A value as bytes.
pub(crate) trait Pack: Sized {
    /// Appends the value to `out`.
    #[cfg_attr(not(test), allow(dead_code, reason = "a test writes the bytes that are kept"))]
    fn pack(&self, out: &mut Vec<u8>);

    /// Takes the value from the front of `bytes`; `None` if it is not there.
    fn unpack(bytes: &mut &[u8]) -> Option<Self>;
}

/// Seven bits a byte, the lowest first; the highest bit says that more follow.
impl Pack for u64 {
    fn pack(&self, out: &mut Vec<u8>) {
        let mut rest = *self;
        while rest >= 128 {
            out.push(rest as u8 | 128);
            rest >>= 7;
        }
        out.push(rest as u8);
    }

    fn unpack(bytes: &mut &[u8]) -> Option<Self> {
        let mut value = 0;
        for shift in (0..64).step_by(7) {
            let (byte, rest) = bytes.split_first()?;
            *bytes = rest;
            value |= Self::from(byte & 127) << shift;
            if byte & 128 == 0 {
                return Some(value);
            }
        }
        None
    }
}

impl Pack for u32 {
    fn pack(&self, out: &mut Vec<u8>) {
        u64::from(*self).pack(out);
    }

    fn unpack(bytes: &mut &[u8]) -> Option<Self> {
        u64::unpack(bytes)?.try_into().ok()
    }
}

impl Pack for u16 {
    fn pack(&self, out: &mut Vec<u8>) {
        u64::from(*self).pack(out);
    }

    fn unpack(bytes: &mut &[u8]) -> Option<Self> {
        u64::unpack(bytes)?.try_into().ok()
    }
}

impl Pack for f64 {
    fn pack(&self, out: &mut Vec<u8>) {
        self.to_bits().pack(out);
    }

    fn unpack(bytes: &mut &[u8]) -> Option<Self> {
        u64::unpack(bytes).map(Self::from_bits)
    }
}

impl Pack for String {
    fn pack(&self, out: &mut Vec<u8>) {
        (self.len() as u64).pack(out);
        out.extend(self.as_bytes());
    }

    fn unpack(bytes: &mut &[u8]) -> Option<Self> {
        let length = u64::unpack(bytes)? as usize;
        let (text, rest) = bytes.split_at_checked(length)?;
        *bytes = rest;
        Self::from_utf8(text.to_vec()).ok()
    }
}

impl<T: Pack> Pack for Vec<T> {
    fn pack(&self, out: &mut Vec<u8>) {
        (self.len() as u64).pack(out);
        self.iter().for_each(|item| item.pack(out));
    }

    fn unpack(bytes: &mut &[u8]) -> Option<Self> {
        let length = u64::unpack(bytes)?;
        let mut list = Self::new();
        for _ in 0..length {
            list.push(T::unpack(bytes)?);
        }
        Some(list)
    }
}

impl<T: Pack + Clone> Pack for Arc<[T]> {
    fn pack(&self, out: &mut Vec<u8>) {
        self.to_vec().pack(out);
    }

    fn unpack(bytes: &mut &[u8]) -> Option<Self> {
        Vec::unpack(bytes).map(Self::from)
    }
}

impl<T: Pack> Pack for Arc<T> {
    fn pack(&self, out: &mut Vec<u8>) {
        (**self).pack(out);
    }

    fn unpack(bytes: &mut &[u8]) -> Option<Self> {
        T::unpack(bytes).map(Self::new)
    }
}

impl<T: Pack> Pack for Option<T> {
    fn pack(&self, out: &mut Vec<u8>) {
        u64::from(self.is_some()).pack(out);
        if let Some(value) = self {
            value.pack(out);
        }
    }

    fn unpack(bytes: &mut &[u8]) -> Option<Self> {
        match u64::unpack(bytes)? {
            0 => Some(None),
            _ => T::unpack(bytes).map(Some),
        }
    }
}

impl<A: Pack, B: Pack> Pack for (A, B) {
    fn pack(&self, out: &mut Vec<u8>) {
        self.0.pack(out);
        self.1.pack(out);
    }

    fn unpack(bytes: &mut &[u8]) -> Option<Self> {
        Some((A::unpack(bytes)?, B::unpack(bytes)?))
    }
}

impl Pack for NodeId {
    fn pack(&self, out: &mut Vec<u8>) {
        (self.broker(), self.consumer()).pack(out);
    }

    fn unpack(bytes: &mut &[u8]) -> Option<Self> {
        let (broker, consumer): (Option<BrokerId>, Option<ConsumerId>) = Pack::unpack(bytes)?;
        broker.map(Self::from).or(consumer.map(Self::from))
    }
}

macro_rules! packed {
    ($(struct $type:ident { $($field:tt),* })* ) => {
        $(impl Pack for $type {
            fn pack(&self, out: &mut Vec<u8>) {
                $(self.$field.pack(out);)*
            }

            fn unpack(bytes: &mut &[u8]) -> Option<Self> {
                Some(Self { $($field: Pack::unpack(bytes)?),* })
            }
        })*
    };
}

macro_rules! packed_words {
    ($(enum $type:ident { $($variant:ident),* })*) => {
        $(impl Pack for $type {
            fn pack(&self, out: &mut Vec<u8>) {
                let place = [$(Self::$variant),*].iter().position(|variant| variant == self);
                (place.unwrap_or(0) as u64).pack(out);
            }

            fn unpack(bytes: &mut &[u8]) -> Option<Self> {
                [$(Self::$variant),*].get(u64::unpack(bytes)? as usize).copied()
            }
        })*
    };
}

macro_rules! packed_enum {
    ($type:ident { $($number:literal => $variant:ident $(($($part:ident),*))?),* }) => {
        impl Pack for $type {
            fn pack(&self, out: &mut Vec<u8>) {
                match self {
                    $(Self::$variant $(($($part),*))? => {
                        u64::pack(&$number, out);
                        $($($part.pack(out);)*)?
                    })*
                }
            }

            fn unpack(bytes: &mut &[u8]) -> Option<Self> {
                match u64::unpack(bytes)? {
                    $($number => {
                        $($(let $part = Pack::unpack(bytes)?;)*)?
                        Some(Self::$variant $(($($part),*))?)
                    })*
                    _ => None,
                }
            }
        }
    };
}

packed! {
    struct BrokerId { 0 }
    struct ConsumerId { 0 }
    struct MemberId { 0 }
    struct TopicId { 0 }
    struct Offset { 0 }
    struct Span { 0 }
    struct Time { 0 }
    struct Partition { topic, index }
    struct Cast { group, brokers, coordinator, consumers, topics, members, member_ids }
    struct Plan { cast, seed, until, producers, consumers, settings, lost_per_million, orders, picture }
    struct Producer { partitions, produced_per_second }
    struct GroupPlan {
        rebalance, assignment, min_session_timeout, max_session_timeout, max_size, partition_check, state,
        takeover_delay, metadata_propagation, member_ids, missing_join, join_window, completion_check, unchanged_join,
        heard, dialect
    }
    struct ConsumerPlan {
        id, member, topics, latency, session_timeout, heartbeat_interval, first_heartbeat, coordinator_timeout,
        join_timeout, request_timeout, back_off, metadata_refresh, commit_interval, on_deassigned, callback_time,
        processed_per_second, on_coordinator_failure, on_close, rebalance, member_ids, strategy
    }
    struct CommitPlan { member, generation, offsets }
    struct UniformLatency { min, max }
    struct HeavyTailedLatency { min, max, shape }
    struct Picture { from, heartbeats, steps }
    struct StepSpec { label, begins }
}

packed_words! {
    enum RebalanceBy { ErrorCode, SocketClose }
    enum AssignmentStrategy { Range, RoundRobin }
    enum GroupStateKept { Replicated, Lost }
    enum MemberIds { Consumer, Coordinator }
    enum MissingJoin { Retry, Complete }
    enum CompletionCheck { All, Left, Never }
    enum UnchangedJoin { Rebalance, Answer }
    enum Heard { All, Valid }
    enum Dialect { Document, Kafka2015 }
    enum OnDeassigned { Nothing, Commit }
    enum OnCoordinatorFailure { Resume, Rejoin, RejoinAsNew }
    enum OnClose { Silent, Leave }
    enum Heartbeats { Fold, Show }
    enum Trigger {
        MetadataSent, JoinSent, HeartbeatSent, CommitSent, FetchStopped, SubscriptionChanged, AssignmentComputed,
        RebalanceRetried, ProcessCrashed, ProcessPaused, ProcessResumed, ProcessingStarted, HeartbeatRefused,
        CoordinatorFailed, CoordinatorMoved, RebalanceStarted, MemberRemoved, CommitChecked, ConsumerThrew,
        OffsetsDropped
    }
}

packed_enum!(JoinWindow { 0 => Own, 1 => Longest, 2 => Fixed(span) });
packed_enum!(NamedStrategy { 0 => Unknown, 1 => Known(strategy) });
packed_enum!(Latency { 0 => Fixed(span), 1 => Uniform(bounds), 2 => HeavyTailed(tail) });
packed_enum!(Order {
    0 => Start(node),
    1 => Crash(node),
    2 => Pause(node),
    3 => Resume(node),
    4 => Cut(consumer, broker),
    5 => Heal(consumer, broker),
    6 => Subscribe(consumer, topics),
    7 => AddPartitions(topic, count),
    8 => Commit(consumer, commit),
    9 => Heartbeat(consumer, member, generation),
    10 => Process(consumer, span),
    11 => Close(consumer),
    12 => MoveCoordinator(broker)
});

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::Scenario;

    #[test]
    fn numbers_of_any_size_are_read_back() {
        for number in [0, 1, 127, 128, 300, u64::from(u32::MAX), u64::MAX] {
            let mut bytes = Vec::new();
            number.pack(&mut bytes);
            assert_eq!(u64::unpack(&mut bytes.as_slice()), Some(number));
            assert_eq!(u64::unpack(&mut &bytes[..bytes.len() - 1]), None, "cut short");
        }
    }

    #[test]
    fn every_part_of_a_plan_is_read_back() {
        let json = r#"{
            "until": "9s", "seed": 7, "brokers": 2, "profile": "kafka-2015",
            "topics": {"orders": {"partitions": 3, "produced_per_second": 5}},
            "settings": {"join_window": {"fixed": "3s"}, "max_size": 9, "assignment": "roundrobin"},
            "network": {"latency": {"heavy-tailed": {"min": "1ms", "max": "1s", "shape": 1.5}}},
            "consumers": [
                {"id": "C1", "topics": ["orders"], "start": "0s", "latency": {"uniform": {"min": "1ms", "max": "9ms"}}},
                {"id": "C2", "topics": [], "settings": {"coordinator_timeout": "off", "commit_interval": "1s"}}
            ],
            "script": [
                {"at": "1s", "do": {"start": "C2"}}, {"at": "1s", "do": {"crash": "B1"}},
                {"at": "1s", "do": {"pause": "C1"}}, {"at": "1s", "do": {"resume": "C1"}},
                {"at": "1s", "do": {"cut": {"consumer": "C1"}}}, {"at": "1s", "do": {"heal": {"consumer": "C1"}}},
                {"at": "1s", "do": {"subscribe": {"consumer": "C1", "topics": ["orders"]}}},
                {"at": "1s", "do": {"add-partitions": {"topic": "orders", "count": 2}}},
                {"at": "1s", "do": {"commit": {"consumer": "C1", "generation": 1, "offsets": {"orders-1": 4}}}},
                {"at": "1s", "do": {"heartbeat": {"consumer": "C1", "member": "C2"}}},
                {"at": "1s", "do": {"process": {"consumer": "C1", "for": "1s"}}},
                {"at": "1s", "do": {"close": "C1"}}, {"at": "1s", "do": {"move-coordinator": "B2"}}
            ],
            "picture": {"from": "1s", "heartbeats": "show", "steps": [{"label": "1", "begins": "join-sent"}]}
        }"#;
        let plan = Scenario::from_json(json).and_then(|scenario| scenario.plan()).expect("a plan");
        let mut bytes = Vec::new();
        plan.pack(&mut bytes);
        let mut rest = bytes.as_slice();
        assert_eq!(Plan::unpack(&mut rest).as_ref(), Some(&*plan));
        assert!(rest.is_empty());
        for end in 0..bytes.len() {
            assert_eq!(Plan::unpack(&mut &bytes[..end]), None, "cut short");
        }
    }
}
