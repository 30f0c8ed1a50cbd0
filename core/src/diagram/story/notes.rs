//! Which facts get words at a lifeline, and which words.

use super::{Note, NoteKind, Reader, Told};
use crate::diagram::names::{consumer_name, node_name, short_names, span_words};
use crate::id::{BrokerId, ConsumerId, MemberId, NodeId, RecordId, TopicId};
use crate::rules::Rules;
use crate::time::Span;
use crate::trace::{CoordinatorFailure, DropReason, Fact, RebalanceReason, Record, RemovalReason};
use crate::view::{NodeState, Process, partition_numbers, partitions_words};

/// Words for much and for little room.
struct Say {
    kind: NoteKind,
    words: Vec<String>,
}

fn plain(long: impl Into<String>, short: impl Into<String>) -> Say {
    Say { kind: NoteKind::Plain, words: vec![long.into(), short.into()] }
}

fn same(text: impl Into<String>) -> Say {
    Say { kind: NoteKind::Plain, words: vec![text.into()] }
}

fn intervention(text: impl Into<String>) -> Say {
    Say { kind: NoteKind::Intervention, ..same(text) }
}

impl Reader<'_> {
    /// For how long a member that is about to be removed has not been heard from, or a coordinator that is given up
    /// has not answered. The view has not seen the record yet.
    pub(super) fn silence(&self, record: &Record) -> Span {
        let heard = if let Fact::MemberRemoved { member, .. } = &record.fact {
            self.view.group.members.get(member).map(|member| member.last_heard)
        } else if let Fact::CoordinatorFailed { consumer, .. } = &record.fact {
            self.view.consumer(*consumer).unanswered_since
        } else {
            None
        };
        heard.map_or(Span::ZERO, |heard| record.at.since(heard))
    }

    /// Tells a fact at the lifeline of its node, if it is worth a row.
    pub(super) fn note(&mut self, id: RecordId, record: &Record, silence: Span) {
        if let Fact::MemberRemoved { broker, member, why } = &record.fact {
            self.removed(id, record, (*broker, *member), *why, silence);
            return;
        }
        if self.amend(id, record) {
            return;
        }
        let Some(say) = self.say(&record.fact, silence) else { return };
        let node = record.fact.node().unwrap_or(self.view.coordinator.into());
        if !self.repeats_cut(id, record, node) {
            let note = Note { node, kind: say.kind, words: say.words };
            self.push(id, record, Told::Note(note));
        }
    }

    /// Several links of a consumer cut or healed at once are told once.
    fn repeats_cut(&mut self, id: RecordId, record: &Record, node: NodeId) -> bool {
        let (short, all) = if matches!(record.fact, Fact::LinkCut { .. }) {
            ("cut off", "cut off from all brokers")
        } else if matches!(record.fact, Fact::LinkHealed { .. }) {
            ("healed", "links to all brokers healed")
        } else {
            return false;
        };
        let Some(last) = self.story.entries.last_mut().filter(|last| last.at == record.at) else { return false };
        let Told::Note(note) = &mut last.told else { return false };
        let repeats = note.node == node && note.words.last().is_some_and(|last| last == short);
        if repeats {
            note.words = vec![all.to_owned(), short.to_owned()];
            last.id = id;
        }
        repeats
    }

    /// A member is removed: words at the coordinator, a cross on its own lifeline.
    fn removed(
        &mut self,
        id: RecordId,
        record: &Record,
        (broker, member): (BrokerId, MemberId),
        why: RemovalReason,
        silence: Span,
    ) {
        let consumer = self.story.cast.member(member);
        let cast = &self.story.cast;
        let (name, number) = (consumer_name(cast, consumer), short_names(cast, &[consumer]));
        let what = match why {
            RemovalReason::SessionExpired | RemovalReason::JoinMissing => {
                format!("not heard from for {}", span_words(silence))
            }
            RemovalReason::Left => "leaves".to_owned(),
            RemovalReason::NeverNamed => "never learned its id".to_owned(),
        };
        let words =
            vec![format!("{name} {what}: removed"), format!("{number} {what}: removed"), format!("{number} removed")];
        self.push(id, record, Told::Note(Note { node: broker.into(), kind: NoteKind::Plain, words }));
        let words = vec!["no longer a member".to_owned(), "removed".to_owned()];
        let mark = Note { node: consumer.into(), kind: NoteKind::Removed, words };
        let mark = self.push(id, record, Told::Note(mark));
        // It stands beside the words at the coordinator, which begin the step.
        self.story.entries[mark].begins.clear();
    }

    /// Adds words to the note of a removal if this record is the rebalance that follows from it at once.
    fn amend(&mut self, id: RecordId, record: &Record) -> bool {
        let more = if let Fact::RebalanceStarted {
            why: RebalanceReason::MemberFailed(_) | RebalanceReason::MemberLeft(_),
            ..
        } = &record.fact
        {
            ", rebalance"
        } else if let Fact::RebalanceRetried { .. } = &record.fact {
            ", retry rebalance"
        } else {
            return false;
        };
        let [.., note, mark] = self.story.entries.as_mut_slice() else { return false };
        let (Told::Note(text), Told::Note(cross)) = (&mut note.told, &mark.told) else { return false };
        if cross.kind != NoteKind::Removed || note.at != record.at {
            return false;
        }
        text.words.iter_mut().for_each(|words| words.push_str(more));
        note.rules = record.rules.iter().fold(note.rules, Rules::and);
        note.marks = super::marks(record.rules).iter().fold(note.marks, Rules::and);
        note.id = id;
        note.begins.extend(super::begins(&record.fact));
        mark.id = id;
        self.first_hold = true;
        true
    }

    fn rebalance(&self, why: RebalanceReason) -> Say {
        let cast = &self.story.cast;
        let name = |member| consumer_name(cast, cast.member(member));
        match why {
            RebalanceReason::NewMember(member) => plain(format!("{} is new: rebalance", name(member)), "rebalance"),
            RebalanceReason::SubscriptionChanged(member) => {
                plain(format!("{}'s subscription has changed: rebalance", name(member)), "rebalance")
            }
            RebalanceReason::Rejoined(member) => plain(format!("{} joins again: rebalance", name(member)), "rebalance"),
            RebalanceReason::MemberFailed(member) => {
                plain(format!("{} has failed: rebalance", name(member)), "rebalance")
            }
            RebalanceReason::PartitionsChanged(topic) => {
                plain(format!("{} has new partitions: rebalance", cast.topic(topic)), "rebalance")
            }
            RebalanceReason::MemberLeft(member) => plain(format!("{} has left: rebalance", name(member)), "rebalance"),
            RebalanceReason::Reopened => plain("takes the rebalance up again", "rebalance"),
        }
    }

    /// The first join that a rebalance holds: for whom it waits.
    fn held(&mut self) -> Option<Say> {
        if !std::mem::take(&mut self.first_hold) {
            return None;
        }
        let cast = &self.story.cast;
        let awaited: Vec<ConsumerId> = self.view.group.awaited().map(|member| cast.member(member)).collect();
        let long = format!("holds its join for {}", short_names(cast, &awaited));
        (!awaited.is_empty()).then(|| plain(long, "holds the join"))
    }

    /// A process starts. Its first start shows by itself: its lifeline begins.
    fn started(&self, node: NodeId) -> Option<Say> {
        let first = self.states.get(&node).is_none_or(|state| *state == NodeState::NotStarted);
        (!first).then(|| intervention("starts again"))
    }

    /// A consumer's subscription changes. The first one comes with its start.
    fn subscribed(&self, consumer: ConsumerId, topics: &[TopicId]) -> Option<Say> {
        let process = self.view.consumer(consumer).process;
        if matches!(process, Process::Up { since } if since == self.view.at) {
            return None;
        }
        let topics: Vec<&str> = topics.iter().map(|topic| self.story.cast.topic(*topic)).collect();
        Some(plain(format!("subscribes to {}", topics.join(", ")), "new topics"))
    }

    fn resumed(&self, node: NodeId) -> Say {
        let Some(consumer) = node.consumer().filter(|_| self.view.state(node) == NodeState::Zombie) else {
            return intervention("runs on");
        };
        let partitions = &self.view.consumer(consumer).assignment;
        let long = format!("runs on, still fetching {}", partition_numbers(partitions));
        Say { kind: NoteKind::Intervention, ..plain(long, "runs on") }
    }

    /// What a fact is worth in words.
    fn say(&mut self, fact: &Fact, silence: Span) -> Option<Say> {
        if let Fact::RebalanceStarted { .. } = fact {
            self.first_hold = true;
        } else if let Fact::JoinHeld { .. } = fact {
            return self.held();
        }
        if let Fact::CoordinatorFailed { consumer, why: CoordinatorFailure::ChannelClosed, .. } = fact
            && self.broken.remove(consumer)
        {
            return Some(same("broken pipe"));
        }
        let cast = &self.story.cast;
        Some(match fact {
            Fact::RebalanceStarted { why, .. } => self.rebalance(*why),
            Fact::RebalanceRetried { missing, .. } => {
                let member = consumer_name(cast, cast.member(*missing));
                plain(format!("not heard from {member}: retry rebalance"), "retry rebalance")
            }
            Fact::ProcessStarted { node } => self.started(*node)?,
            Fact::ProcessResumed { node } => self.resumed(*node),
            Fact::CoordinatorFailed { why, .. } => coordinator_failed(*why, silence),
            Fact::PartitionsAdded { topic, count } => {
                let long = format!("{} now has {count} partitions", cast.topic(*topic));
                Say { kind: NoteKind::Intervention, ..plain(long, "new partitions") }
            }
            Fact::Subscribed { consumer, topics } => self.subscribed(*consumer, topics)?,
            Fact::ProcessCrashed { .. } => intervention("crashes"),
            Fact::ProcessClosed { consumer } => {
                // One that threw has said so.
                (self.states.get(&(*consumer).into()) != Some(&NodeState::Down)).then(|| intervention("closed"))?
            }
            Fact::ProcessPaused { .. } => intervention("paused"),
            Fact::LinkCut { broker, .. } => Say {
                kind: NoteKind::Intervention,
                ..plain(format!("cut off from {}", node_name(cast, (*broker).into())), "cut off")
            },
            Fact::LinkHealed { broker, .. } => Say {
                kind: NoteKind::Intervention,
                ..plain(format!("link to {} healed", node_name(cast, (*broker).into())), "healed")
            },
            Fact::CoordinatorMoved { .. } => plain("takes over as coordinator".to_owned(), "takes over"),
            Fact::CoordinatorResigned { .. } => plain("is no longer coordinator".to_owned(), "resigns"),
            Fact::CommandIgnored { reason, .. } => same(format!("nothing to do: {reason}")),
            Fact::TopicChangeSeen { topic, count, .. } => {
                plain(format!("sees {count} partitions of {}", cast.topic(*topic)), "sees the change")
            }
            Fact::CallbackStarted { callback, .. } => {
                Say { kind: NoteKind::Callback(*callback), ..same(format!("{}()", callback.name())) }
            }
            Fact::FetchStarted { .. } => same("start fetching"),
            Fact::FetchStopped { .. } => same("stop fetching"),
            Fact::ProcessingStarted { takes, .. } => {
                plain(format!("busy processing for {}", span_words(*takes)), "busy")
            }
            Fact::ProcessingEnded { .. } => plain("done processing", "done"),
            Fact::ResumeExpired { .. } => plain("no coordinator for a session: gives up", "gives up"),
            Fact::ConsumerThrew { error, .. } => plain(format!("throws {}", error.name()), "throws"),
            Fact::OffsetsDropped { offsets, why, .. } => {
                let partitions: Vec<_> = offsets.iter().map(|(partition, _)| *partition).collect();
                let partitions = partitions_words(cast, &partitions);
                plain(format!("drops offsets of {partitions}: {}", drop_words(*why)), "drops offsets")
            }
            Fact::AssignmentComputed { .. } => plain("calculate new assignment", "new assignment"),
            Fact::GroupForgotten { .. } => plain("no member left: group forgotten", "forgets group"),
            Fact::GroupRecovered { .. } => plain("takes the group up as written", "takes group up"),
            Fact::GroupStateLost { .. } => plain("knows nothing of the group any more", "group lost"),
            Fact::CoordinatorLearned { .. }
            | Fact::MemberAdded { .. }
            | Fact::MemberRemoved { .. }
            | Fact::JoinHeld { .. }
            | Fact::CommitChecked { .. }
            | Fact::OffsetsAppended { .. }
            | Fact::LimitReached
            | Fact::ChannelOpening { .. }
            | Fact::ChannelOpened { .. }
            | Fact::ChannelClosed { .. }
            | Fact::Sent { .. }
            | Fact::Received { .. }
            | Fact::Dropped { .. }
            | Fact::CoordinatorFound { .. }
            | Fact::GenerationRecorded { .. }
            | Fact::CallbackReturned { .. } => return None,
        })
    }
}

fn coordinator_failed(why: CoordinatorFailure, silence: Span) -> Say {
    let failed = ": coordinator failed";
    match why {
        CoordinatorFailure::NoAnswer => plain(format!("no answer for {}{failed}", span_words(silence)), "no answer"),
        CoordinatorFailure::ChannelClosed => plain(format!("channel closed{failed}"), "channel closed"),
        CoordinatorFailure::JoinTimeout => plain(format!("no answer to its join{failed}"), "no answer"),
        CoordinatorFailure::RequestTimeout => plain(format!("no answer in time{failed}"), "no answer"),
        CoordinatorFailure::NotCoordinator => plain("asks for the new coordinator", "asks anew"),
    }
}

const fn drop_words(why: DropReason) -> &'static str {
    match why {
        DropReason::NoLongerOwned => "not its own any more",
        DropReason::RefusedAgain => "refused twice",
        DropReason::NoAnswer => "no answer",
        DropReason::Stopped => "stopped",
    }
}
