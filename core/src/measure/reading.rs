//! Fetching as rates (decision 12): who reads which partition, from where, and how far, at any time of a run, worked out
//! from the few records at which a rate changes.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::Serialize;

use crate::cluster::{Cluster, position};
use crate::id::{ConsumerId, NodeId, Offset, Partition, RecordId, TopicId};
use crate::scenario::Plan;
use crate::time::{Span, Time};
use crate::trace::{Fact, Trace};

/// What has been read at a moment of a run, and what is being read.
///
/// A consumer is a *reader* of its partitions from where it starts fetching to where it stops, or its process ends. One
/// that stands still or whose thread is kept (AR2) is a reader that makes no progress.
///
/// It is brought forward record by record, or with [`Reading::advance`]; between two records it answers for any time.
/// Cloning it makes a checkpoint.
#[derive(Clone, Debug)]
pub struct Reading {
    cluster: Cluster,
    topics: u16,
    applied: usize,
    readers: Vec<Reader>,
    histories: BTreeMap<Partition, History>,
}

/// A consumer as far as it reads.
#[derive(Clone, Debug)]
struct Reader {
    processed_per_second: u32,
    held: Vec<Held>,
    /// From when its positions count; `None` while it makes no progress.
    since: Option<Time>,
    is_reading: bool,
    is_busy: bool,
}

/// A partition that a consumer reads.
#[derive(Clone, Copy, Debug)]
struct Held {
    partition: Partition,
    /// Where it started.
    from: Offset,
    /// Where it stood when its progress last began or ended.
    at: Offset,
}

/// What became of a partition so far.
#[derive(Clone, Debug, Default)]
struct History {
    committed: Offset,
    /// What was processed, from and to, by those who read it before.
    stretches: Vec<(Offset, Offset)>,
    readers: u32,
    first_read: Option<Time>,
    /// When the number of readers last changed.
    changed: Time,
    unread: Span,
    overlapped: Span,
}

/// A partition at a moment.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct PartitionReading {
    /// Which.
    pub partition: Partition,
    /// The end of its log.
    pub end: Offset,
    /// Its committed offset; 0 without one (decision 11).
    pub committed: Offset,
    /// Who reads it and how far each has come. More than one: all but one are zombies (decision 7).
    pub readers: Vec<(ConsumerId, Offset)>,
    /// How many records the reader that has come furthest is behind the end; without a reader, how many the committed
    /// offset is.
    pub lag: u64,
    /// How many records were processed, each as often as it was.
    pub processed: u64,
    /// How many of those had been processed before: by another reader up to where it stood, when the next one started
    /// from the committed offset; or by two at the same time.
    pub processed_twice: u64,
}

/// For how long a partition was read by nobody, or by several.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Attendance {
    /// When it was first read.
    pub first_read: Time,
    /// For how long since then nobody read it.
    pub unread: Span,
    /// For how long several consumers read it at once.
    pub overlapped: Span,
}

impl Reading {
    /// The start of a run of `plan`.
    #[must_use]
    pub fn new(plan: &Plan) -> Self {
        let producers = plan.producers.iter().map(|p| (p.partitions, p.produced_per_second));
        let reader = |rate| Reader {
            processed_per_second: rate,
            held: Vec::new(),
            since: None,
            is_reading: false,
            is_busy: false,
        };
        Self {
            cluster: Cluster::new(plan.cast.brokers, producers),
            topics: plan.producers.len() as u16,
            applied: 0,
            readers: plan.consumers.iter().map(|consumer| reader(consumer.processed_per_second)).collect(),
            histories: BTreeMap::new(),
        }
    }

    /// The state of a run of `plan` at `time`, with everything that happened up to and at it.
    #[must_use]
    pub fn at(plan: &Plan, trace: &Trace, time: Time) -> Self {
        let mut reading = Self::new(plan);
        reading.advance(trace, time);
        reading
    }

    /// Takes up the records up to and at `time` that it has not taken up yet. An earlier time does nothing.
    pub fn advance(&mut self, trace: &Trace, time: Time) {
        let upto = RecordId(trace.count_until(time) as u32);
        for (_, record) in trace.from(self.applied).take_while(|(id, _)| *id < upto) {
            self.observe(record.at, &record.fact);
        }
    }

    /// Takes up the next record of a trace. Records come in order, each once.
    pub fn observe(&mut self, at: Time, fact: &Fact) {
        self.applied += 1;
        if let Fact::PartitionsAdded { topic, count } = fact {
            let more = count.saturating_sub(self.cluster.count(*topic));
            self.cluster.add_partitions(*topic, more, at);
        } else if let Fact::OffsetsAppended { offsets, .. } = fact {
            for (partition, offset) in offsets.iter() {
                self.histories.entry(*partition).or_default().committed = *offset;
            }
        } else if let Some(consumer) = fact.node().and_then(NodeId::consumer) {
            self.observe_consumer(at, consumer, fact);
        }
    }

    fn observe_consumer(&mut self, at: Time, consumer: ConsumerId, fact: &Fact) {
        let Some(reader) = self.readers.get_mut(consumer.index()) else { return };
        if let Fact::FetchStarted { from, .. } = fact {
            reader.start(at, from);
            self.arrive(consumer, at);
        } else if let Fact::FetchStopped { at: positions, .. } = fact {
            reader.settle(&self.cluster, at);
            reader.stand(positions);
            self.depart(consumer, at);
        } else if let Fact::ProcessCrashed { .. } | Fact::ProcessClosed { .. } | Fact::ConsumerThrew { .. } = fact {
            reader.settle(&self.cluster, at);
            self.depart(consumer, at);
        } else if let Fact::ProcessPaused { .. } = fact {
            reader.settle(&self.cluster, at);
        } else if let Fact::ProcessingStarted { .. } = fact {
            reader.settle(&self.cluster, at);
            reader.is_busy = true;
        } else if let Fact::ProcessingEnded { .. } = fact {
            reader.is_busy = false;
            reader.go_on(at);
        } else if let Fact::ProcessResumed { .. } = fact {
            reader.go_on(at);
        }
    }

    /// A consumer has begun to read its partitions.
    fn arrive(&mut self, consumer: ConsumerId, at: Time) {
        for held in &self.readers[consumer.index()].held {
            let history = self.histories.entry(held.partition).or_default();
            history.account(at);
            history.readers += 1;
            history.first_read.get_or_insert(at);
        }
    }

    /// A consumer reads its partitions no more.
    fn depart(&mut self, consumer: ConsumerId, at: Time) {
        let reader = &mut self.readers[consumer.index()];
        reader.is_reading = false;
        reader.is_busy = false;
        for held in std::mem::take(&mut reader.held) {
            let history = self.histories.entry(held.partition).or_default();
            history.account(at);
            history.readers = history.readers.saturating_sub(1);
            history.stretches.push((held.from, held.at));
        }
    }

    // --- what it tells, at a time from the last record on ---

    /// Where a consumer stands in each partition that it reads.
    #[must_use]
    pub fn positions(&self, consumer: ConsumerId, now: Time) -> Vec<(Partition, Offset)> {
        let reader = self.readers.get(consumer.index());
        reader.into_iter().flat_map(|reader| reader.positions(&self.cluster, now)).collect()
    }

    /// Every partition that there is, in order.
    #[must_use]
    pub fn partitions(&self, now: Time) -> Vec<PartitionReading> {
        let mut readers: BTreeMap<Partition, Vec<(ConsumerId, Offset, Offset)>> = BTreeMap::new();
        for (consumer, reader) in (0..).map(ConsumerId).zip(&self.readers) {
            for (held, (partition, at)) in reader.held.iter().zip(reader.positions(&self.cluster, now)) {
                readers.entry(partition).or_default().push((consumer, held.from, at));
            }
        }
        self.all().map(|partition| self.partition(partition, &readers, now)).collect()
    }

    /// The partitions that nobody reads, in order.
    #[must_use]
    pub fn without_reader(&self) -> Vec<Partition> {
        let is_unread =
            |partition: &Partition| self.histories.get(partition).is_none_or(|history| history.readers == 0);
        self.all().filter(is_unread).collect()
    }

    /// How many records were processed that had been processed before, in all partitions.
    #[must_use]
    pub fn processed_twice(&self, now: Time) -> u64 {
        self.partitions(now).iter().map(|partition| partition.processed_twice).sum()
    }

    /// For how long a partition was read by nobody or by several; `None` if it was never read.
    #[must_use]
    pub fn attendance(&self, partition: Partition, now: Time) -> Option<Attendance> {
        let mut history = self.histories.get(&partition)?.clone();
        history.account(now);
        let History { unread, overlapped, .. } = history;
        history.first_read.map(|first_read| Attendance { first_read, unread, overlapped })
    }

    fn all(&self) -> impl Iterator<Item = Partition> + '_ {
        let count = |topic| self.cluster.count(topic);
        (0..self.topics)
            .map(TopicId)
            .flat_map(move |topic| (0..count(topic)).map(move |index| Partition { topic, index }))
    }

    fn partition(
        &self,
        partition: Partition,
        readers: &BTreeMap<Partition, Vec<(ConsumerId, Offset, Offset)>>,
        now: Time,
    ) -> PartitionReading {
        let present = readers.get(&partition).map_or(&[][..], Vec::as_slice);
        let history = self.histories.get(&partition);
        let committed = history.map_or(Offset(0), |history| history.committed);
        let end = self.cluster.end(partition, now);
        let mut stretches = history.map_or_else(Vec::new, |history| history.stretches.clone());
        stretches.extend(present.iter().map(|(_, from, at)| (*from, *at)));
        let processed = stretches.iter().map(|(from, to)| to.0 - from.0).sum();
        let furthest = present.iter().map(|(_, _, at)| *at).max().unwrap_or(committed);
        PartitionReading {
            partition,
            end,
            committed,
            readers: present.iter().map(|(consumer, _, at)| (*consumer, *at)).collect(),
            lag: end.0.saturating_sub(furthest.0),
            processed,
            processed_twice: processed - covered(stretches),
        }
    }
}

impl Reader {
    fn start(&mut self, at: Time, from: &Arc<[(Partition, Offset)]>) {
        let held = |(partition, from): &(Partition, Offset)| Held { partition: *partition, from: *from, at: *from };
        self.held = from.iter().map(held).collect();
        self.since = Some(at);
        self.is_reading = true;
    }

    fn positions<'a>(&'a self, cluster: &'a Cluster, now: Time) -> impl Iterator<Item = (Partition, Offset)> + 'a {
        self.held.iter().map(move |held| {
            let at = self.since.map_or(held.at, |since| {
                position(held.at, since, now, self.processed_per_second, cluster.end(held.partition, now))
            });
            (held.partition, at)
        })
    }

    /// Its progress ends for now: what it has come to is rounded down as the consumer itself does.
    fn settle(&mut self, cluster: &Cluster, at: Time) {
        let positions: Vec<_> = self.positions(cluster, at).map(|(_, position)| position).collect();
        for (held, position) in self.held.iter_mut().zip(positions) {
            held.at = position;
        }
        self.since = None;
    }

    fn go_on(&mut self, at: Time) {
        if self.is_reading && !self.is_busy {
            self.since = Some(at);
        }
    }

    /// Takes over where the consumer itself says that it stands.
    fn stand(&mut self, positions: &[(Partition, Offset)]) {
        for (held, (partition, at)) in self.held.iter_mut().zip(positions) {
            if held.partition == *partition {
                held.at = (*at).max(held.from);
            }
        }
    }
}

impl History {
    /// Counts the time since the number of readers last changed.
    fn account(&mut self, now: Time) {
        let passed = now.since(self.changed);
        match (self.first_read, self.readers) {
            (None, _) | (Some(_), 1) => {}
            (Some(_), 0) => self.unread = self.unread + passed,
            (Some(_), _) => self.overlapped = self.overlapped + passed,
        }
        self.changed = self.changed.max(now);
    }
}

/// How many records the stretches cover, each counted once.
fn covered(mut stretches: Vec<(Offset, Offset)>) -> u64 {
    stretches.sort_unstable();
    let mut covered = 0;
    let mut reached = 0;
    for (from, to) in stretches {
        let from = from.0.max(reached);
        covered += to.0.saturating_sub(from);
        reached = reached.max(to.0);
    }
    covered
}
