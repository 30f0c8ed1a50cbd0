//! The trace itself: messages are taken once and in order, after they were sent, on channels that are open, by
//! processes that run; a process that is down or stands still does nothing; causes come before what they bring about.

use std::collections::{BTreeMap, BTreeSet};

use super::model::{Model, Process, change_of_process};
use super::{Event, Findings, Invariant, Packet};
use crate::id::{BrokerId, ConnectionId, ConsumerId, NodeId, NodeKind, RecordId};
use crate::time::Time;
use crate::trace::Fact;

/// The messages on their way and the channels they travel on.
#[derive(Clone, Default, Debug)]
pub(super) struct Delivery {
    under_way: BTreeSet<RecordId>,
    channels: BTreeMap<ConnectionId, Channel>,
    /// The channels that each process has, to close them with it.
    open: BTreeMap<NodeId, BTreeSet<ConnectionId>>,
}

#[derive(Clone, Debug)]
struct Channel {
    consumer: ConsumerId,
    broker: BrokerId,
    consumer_end: End,
    broker_end: End,
}

/// One end of a channel, and what came to it. A broker's end is open from the first sign of it in the trace.
#[derive(Clone, Debug)]
struct End {
    state: EndState,
    last_taken: Option<RecordId>,
    last_arrival: Time,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum EndState {
    Opening,
    Open,
    Closed,
}

impl End {
    const fn new(state: EndState) -> Self {
        Self { state, last_taken: None, last_arrival: Time::ZERO }
    }

    /// Something shows that the channel has come to this end.
    fn reached(&mut self) {
        if self.state == EndState::Opening {
            self.state = EndState::Open;
        }
    }
}

impl Channel {
    fn end(&mut self, node: NodeId) -> Option<&mut End> {
        if node == self.consumer.into() {
            Some(&mut self.consumer_end)
        } else if node == self.broker.into() {
            Some(&mut self.broker_end)
        } else {
            None
        }
    }
}

impl Delivery {
    pub(super) fn observe(&mut self, event: &Event<'_>, model: &Model, findings: &mut Findings) {
        let wrongs = [wrong_cause(event), wrong_process(event, model), self.step(event)];
        for wrong in wrongs.into_iter().flatten() {
            findings.add(Invariant::SoundTrace, event, wrong);
        }
    }

    fn step(&mut self, event: &Event<'_>) -> Option<String> {
        let fact = event.fact();
        if let Fact::ChannelOpening { connection, consumer, broker } = fact {
            let (consumer_end, broker_end) = (End::new(EndState::Opening), End::new(EndState::Opening));
            let channel = Channel { consumer: *consumer, broker: *broker, consumer_end, broker_end };
            for node in [NodeId::from(*consumer), NodeId::from(*broker)] {
                self.open.entry(node).or_default().insert(*connection);
            }
            let before = self.channels.insert(*connection, channel);
            before.map(|_| format!("channel {} is opened a second time", connection.0))
        } else if let Fact::ChannelOpened { connection, consumer, .. } = fact {
            self.opened(*connection, *consumer)
        } else if let Fact::ChannelClosed { connection, node, .. } = fact {
            self.closed(*connection, *node)
        } else if let Some((node, Process::Down)) = change_of_process(fact) {
            self.process_gone(node);
            None
        } else if let Some(packet) = super::packet(fact) {
            self.sent(event, &packet)
        } else if let Fact::Received { node, sent } = fact {
            self.received(event, *node, *sent)
        } else if let Fact::Dropped { sent, .. } = fact {
            (!self.under_way.remove(sent)).then(|| format!("the message of record {} is not under way", sent.0))
        } else {
            None
        }
    }

    fn opened(&mut self, connection: ConnectionId, consumer: ConsumerId) -> Option<String> {
        let channel = self.channels.get_mut(&connection).filter(|channel| channel.consumer == consumer);
        let Some(channel) = channel else {
            return Some(format!("channel {} is open, but was never opened", connection.0));
        };
        channel.broker_end.reached();
        match channel.consumer_end.state {
            EndState::Opening => {
                channel.consumer_end.state = EndState::Open;
                None
            }
            EndState::Open | EndState::Closed => Some(format!("channel {} is open, but was not opening", connection.0)),
        }
    }

    /// The ends of a process close with it. A channel that is not known to have come to a broker may be on its way to
    /// it still, and be accepted by that broker's next process.
    fn process_gone(&mut self, node: NodeId) {
        for connection in self.open.remove(&node).unwrap_or_default() {
            let Some(end) = self.channels.get_mut(&connection).and_then(|channel| channel.end(node)) else { continue };
            if end.state == EndState::Opening && node.broker().is_some() {
                self.open.entry(node).or_default().insert(connection);
            } else {
                end.state = EndState::Closed;
            }
        }
    }

    fn closed(&mut self, connection: ConnectionId, node: NodeId) -> Option<String> {
        let end = self.channels.get_mut(&connection).and_then(|channel| channel.end(node));
        let Some(end) = end else { return Some(format!("channel {} is closed, but was never opened", connection.0)) };
        match end.state {
            EndState::Opening | EndState::Open => {
                end.state = EndState::Closed;
                if let Some(open) = self.open.get_mut(&node) {
                    open.remove(&connection);
                }
                None
            }
            EndState::Closed => Some(format!("channel {} is closed a second time", connection.0)),
        }
    }

    /// A message is sent on an open channel of the sender's, and does not overtake the one before it.
    fn sent(&mut self, event: &Event<'_>, packet: &Packet<'_>) -> Option<String> {
        let name = event.name(packet.from);
        let is_lost = packet.arrives == Time::MAX;
        if !is_lost {
            self.under_way.insert(event.id);
        }
        if packet.arrives < event.at() {
            return Some(format!("a message of {name} arrives before it is sent"));
        }
        let Some(channel) = self.channels.get_mut(&packet.connection) else {
            return Some(format!("{name} sends on channel {}, which was never opened", packet.connection.0));
        };
        match channel.end(packet.from).map(|end| end.state) {
            Some(EndState::Open) => {}
            // The answer to a join that was held while its channel closed is lost (decision 4).
            Some(EndState::Closed) if is_lost => {}
            Some(EndState::Opening | EndState::Closed) => {
                return Some(format!("{name} sends on channel {}, which is not open", packet.connection.0));
            }
            None => return Some(format!("{name} sends on channel {}, which is not its own", packet.connection.0)),
        }
        let Some(end) = channel.end(packet.to) else {
            return Some(format!("{name} sends to the wrong end of channel {}", packet.connection.0));
        };
        let overtakes = packet.arrives < end.last_arrival;
        if !is_lost {
            end.last_arrival = packet.arrives;
        }
        overtakes.then(|| format!("a message of {name} overtakes the one before it"))
    }

    fn received(&mut self, event: &Event<'_>, node: NodeId, sent: RecordId) -> Option<String> {
        let name = event.name(node);
        let Some(packet) = event.packet(sent) else { return Some(format!("{name} takes what was never sent")) };
        if packet.to != node {
            return Some(format!("{name} takes a message that is for {}", event.name(packet.to)));
        }
        if !self.under_way.remove(&sent) {
            return Some(format!("{name} takes a message that is lost or has been taken"));
        }
        if event.at() < packet.arrives {
            return Some(format!("{name} takes a message before it arrives"));
        }
        let end = self.channels.get_mut(&packet.connection).and_then(|channel| channel.end(node))?;
        if end.last_taken.is_some_and(|last| last > sent) {
            return Some(format!("{name} takes a message after a later one of the same channel"));
        }
        end.last_taken = Some(sent);
        if node.broker().is_some() {
            end.reached();
        }
        match end.state {
            EndState::Open => None,
            EndState::Opening | EndState::Closed => Some(format!("{name} takes a message from a channel not open")),
        }
    }
}

fn wrong_cause(event: &Event<'_>) -> Option<String> {
    let cause = event.record.cause?.id();
    (cause >= event.id).then(|| format!("its cause, record {}, comes after it", cause.0))
}

/// What happens to a process fits how it is, and one that is down or stands still does nothing.
fn wrong_process(event: &Event<'_>, model: &Model) -> Option<String> {
    let node = event.fact().node()?;
    let process = model.process(node);
    let allowed: &[Process] = match Doing::of(event.fact()) {
        Doing::Start => &[Process::Down],
        Doing::End => &[Process::Running, Process::Paused],
        Doing::Pause | Doing::Act => &[Process::Running],
        Doing::Resume => &[Process::Paused],
        Doing::Outside => return None,
    };
    let kind = match node.kind() {
        NodeKind::Broker(_) => "broker",
        NodeKind::Consumer(_) => "consumer",
    };
    (!allowed.contains(&process)).then(|| {
        let how = match process {
            Process::Down => "is down",
            Process::Running => "runs",
            Process::Paused => "stands still",
        };
        format!("this cannot happen at {kind} {}, which {how}", event.name(node))
    })
}

/// What a fact says that its process does.
enum Doing {
    Start,
    End,
    Pause,
    Resume,
    /// Something that only a running process does.
    Act,
    /// Nothing: it happens to it, however it is.
    Outside,
}

impl Doing {
    const fn of(fact: &Fact) -> Self {
        match fact {
            Fact::ProcessStarted { .. } => Self::Start,
            Fact::ProcessCrashed { .. } => Self::End,
            Fact::ProcessPaused { .. } => Self::Pause,
            Fact::ProcessResumed { .. } => Self::Resume,
            Fact::LinkCut { .. }
            | Fact::LinkHealed { .. }
            | Fact::PartitionsAdded { .. }
            | Fact::CommandIgnored { .. }
            | Fact::LimitReached
            | Fact::CoordinatorMoved { .. }
            | Fact::Dropped { .. } => Self::Outside,
            Fact::ProcessClosed { .. }
            | Fact::ChannelOpening { .. }
            | Fact::ChannelOpened { .. }
            | Fact::ChannelClosed { .. }
            | Fact::Sent { .. }
            | Fact::Received { .. }
            | Fact::Subscribed { .. }
            | Fact::CoordinatorFound { .. }
            | Fact::CoordinatorFailed { .. }
            | Fact::TopicChangeSeen { .. }
            | Fact::GenerationRecorded { .. }
            | Fact::CallbackStarted { .. }
            | Fact::CallbackReturned { .. }
            | Fact::FetchStarted { .. }
            | Fact::FetchStopped { .. }
            | Fact::ProcessingStarted { .. }
            | Fact::ProcessingEnded { .. }
            | Fact::ResumeExpired { .. }
            | Fact::ConsumerThrew { .. }
            | Fact::OffsetsDropped { .. }
            | Fact::MemberAdded { .. }
            | Fact::MemberRemoved { .. }
            | Fact::RebalanceStarted { .. }
            | Fact::JoinHeld { .. }
            | Fact::RebalanceRetried { .. }
            | Fact::AssignmentComputed { .. }
            | Fact::GroupForgotten { .. }
            | Fact::GroupRecovered { .. }
            | Fact::GroupStateLost { .. }
            | Fact::CoordinatorResigned { .. }
            | Fact::CoordinatorLearned { .. }
            | Fact::CommitChecked { .. }
            | Fact::OffsetsAppended { .. } => Self::Act,
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::id::{ConnectionId, NodeId, RecordId};
    use crate::invariants::Invariant::SoundTrace;
    use crate::invariants::tests::{expect_broken, expect_sound};
    use crate::message::Message;
    use crate::script::{self, B1, C1, C2, Script};
    use crate::time::{Span, Time};
    use crate::trace::{ChannelEnd, Fact};

    fn send_on(script: &mut Script, connection: u32, to: impl Into<NodeId>, arrives: Time) -> RecordId {
        let message = Message::Request(script::heartbeat(C1, 2));
        let connection = ConnectionId(connection);
        script.fact(Fact::Sent { from: C1.into(), to: to.into(), connection, arrives, answers: None, message })
    }

    fn close(script: &mut Script, node: impl Into<NodeId>, peer: impl Into<NodeId>) {
        let (connection, why) = (ConnectionId(0), ChannelEnd::ByThisEnd);
        script.fact(Fact::ChannelClosed { connection, node: node.into(), peer: peer.into(), why });
    }

    #[test]
    fn a_message_taken_twice_is_found() {
        let mut script = Script::two_members();
        let sent = script.deliver(C1, script::heartbeat(C1, 2));
        script.take(sent);
        expect_broken(&script, SoundTrace, "lost or has been taken");
    }

    #[test]
    fn a_lost_message_taken_is_found() {
        let mut script = Script::two_members();
        let sent = send_on(&mut script, 0, B1, Time::MAX);
        expect_sound(&script);
        script.fact(Fact::Received { node: B1.into(), sent });
        expect_broken(&script, SoundTrace, "lost or has been taken");
    }

    #[test]
    fn a_message_dropped_and_taken_is_found() {
        let mut script = Script::two_members();
        let sent = script.ask(C1, script::heartbeat(C1, 2));
        script.fact(Fact::Dropped { node: B1.into(), sent });
        let mut twice = script.clone();
        twice.fact(Fact::Dropped { node: B1.into(), sent });
        expect_broken(&twice, SoundTrace, "is not under way");
        script.take(sent);
        expect_broken(&script, SoundTrace, "lost or has been taken");
    }

    #[test]
    fn a_message_taken_by_another_is_found() {
        let mut script = Script::two_members();
        let sent = script.ask(C1, script::heartbeat(C1, 2));
        script.wait(10).fact(Fact::Received { node: C2.into(), sent });
        expect_broken(&script, SoundTrace, "C2 takes a message that is for B1");
    }

    #[test]
    fn a_message_taken_before_it_arrives_is_found() {
        let mut script = Script::two_members();
        let sent = script.ask(C1, script::heartbeat(C1, 2));
        script.wait(9).fact(Fact::Received { node: B1.into(), sent });
        expect_broken(&script, SoundTrace, "before it arrives");
    }

    #[test]
    fn what_was_never_sent_cannot_be_taken() {
        let mut script = Script::two_members();
        for sent in [RecordId(0), RecordId(u32::MAX)] {
            let mut script = script.clone();
            script.fact(Fact::Received { node: B1.into(), sent });
            expect_broken(&script, SoundTrace, "takes what was never sent");
        }
        let next = RecordId(script.trace.len() as u32 + 1);
        script.fact(Fact::Received { node: B1.into(), sent: next });
        script.ask(C1, script::heartbeat(C1, 2));
        expect_broken(&script, SoundTrace, "takes what was never sent");
    }

    #[test]
    fn an_arrival_before_the_sending_is_found() {
        let mut script = Script::two_members();
        send_on(&mut script, 0, B1, Time::ZERO);
        expect_broken(&script, SoundTrace, "arrives before it is sent");
    }

    #[test]
    fn messages_that_change_their_order_are_found() {
        let mut script = Script::two_members();
        let first = script.ask(C1, script::heartbeat(C1, 2));
        let second = script.ask(C1, script::heartbeat(C1, 2));
        let mut overtaken = script.clone();
        let arrives = script.now() + Span::from_millis(9);
        send_on(&mut overtaken, 0, B1, arrives);
        expect_broken(&overtaken, SoundTrace, "overtakes the one before it");
        script.take(second);
        script.take(first);
        expect_broken(&script, SoundTrace, "after a later one");
    }

    #[test]
    fn channels_that_are_not_open_are_found() {
        let mut never = Script::two_members();
        send_on(&mut never, 9, B1, Time::MAX);
        expect_broken(&never, SoundTrace, "which was never opened");
        let mut foreign = Script::two_members();
        send_on(&mut foreign, 1, B1, Time::MAX);
        expect_broken(&foreign, SoundTrace, "which is not its own");
        let mut astray = Script::two_members();
        send_on(&mut astray, 0, C2, Time::MAX);
        expect_broken(&astray, SoundTrace, "to the wrong end");
        let mut closed = Script::two_members();
        close(&mut closed, C1, B1);
        send_on(&mut closed, 0, B1, Time::MAX);
        expect_sound(&closed);
        let arrives = closed.now();
        send_on(&mut closed, 0, B1, arrives);
        expect_broken(&closed, SoundTrace, "which is not open");
        let mut closed = Script::two_members();
        let sent = closed.ask(C1, script::heartbeat(C1, 2));
        close(&mut closed, B1, C1);
        closed.take(sent);
        expect_broken(&closed, SoundTrace, "from a channel not open");
    }

    #[test]
    fn a_channel_ends_with_its_process() {
        let mut script = Script::two_members();
        let answer = script.beat(C1, 2, Ok(()));
        script.fact(Fact::ProcessCrashed { node: C1.into() });
        script.fact(Fact::ProcessStarted { node: C1.into() });
        script.take(answer);
        expect_broken(&script, SoundTrace, "from a channel not open");
    }

    #[test]
    fn channels_that_open_or_close_twice_are_found() {
        let mut script = Script::two_members();
        let (connection, consumer, broker) = (ConnectionId(0), C1, B1);
        let mut opening = script.clone();
        opening.fact(Fact::ChannelOpening { connection, consumer, broker });
        expect_broken(&opening, SoundTrace, "opened a second time");
        let mut open = script.clone();
        open.fact(Fact::ChannelOpened { connection, consumer, broker });
        expect_broken(&open, SoundTrace, "but was not opening");
        let connection = ConnectionId(9);
        let mut unknown = script.clone();
        unknown.fact(Fact::ChannelOpened { connection, consumer, broker });
        expect_broken(&unknown, SoundTrace, "is open, but was never opened");
        let mut unknown = script.clone();
        let (node, peer, why) = (C1.into(), B1.into(), ChannelEnd::ByPeer);
        unknown.fact(Fact::ChannelClosed { connection, node, peer, why });
        expect_broken(&unknown, SoundTrace, "is closed, but was never opened");
        close(&mut script, C1, B1);
        close(&mut script, C1, B1);
        expect_broken(&script, SoundTrace, "is closed a second time");
    }

    #[test]
    fn processes_that_are_down_or_stand_still_do_nothing() {
        for halt in [Fact::ProcessPaused { node: C1.into() }, Fact::ProcessCrashed { node: C1.into() }] {
            let mut script = Script::two_members();
            let answer = script.beat(C1, 2, Ok(()));
            script.fact(halt);
            let mut sends = script.clone();
            sends.ask(C1, script::heartbeat(C1, 2));
            expect_broken(&sends, SoundTrace, "cannot happen at consumer C1");
            script.take(answer);
            expect_broken(&script, SoundTrace, "cannot happen at consumer C1");
        }
        let mut script = Script::two_members();
        script.fact(Fact::ProcessPaused { node: B1.into() });
        script.fact(Fact::GroupForgotten { broker: B1 });
        expect_broken(&script, SoundTrace, "at broker B1, which stands still");
    }

    #[test]
    fn changes_that_do_not_fit_the_process_are_found() {
        let node = NodeId::from(C1);
        for fact in [Fact::ProcessStarted { node }, Fact::ProcessResumed { node }] {
            let mut script = Script::two_members();
            script.fact(fact);
            expect_broken(&script, SoundTrace, "C1, which runs");
        }
        for fact in [
            Fact::ProcessCrashed { node },
            Fact::ProcessClosed { consumer: C1 },
            Fact::ProcessPaused { node },
            Fact::ProcessResumed { node },
        ] {
            let mut script = Script::two_members();
            script.fact(Fact::ProcessCrashed { node });
            script.fact(fact);
            expect_broken(&script, SoundTrace, "C1, which is down");
        }
    }

    #[test]
    fn a_cause_that_comes_later_is_found() {
        let mut script = Script::two_members();
        let next = RecordId(script.trace.len() as u32);
        script.because(Some(next), Fact::PartitionsAdded { topic: script::ORDERS, count: 4 });
        expect_broken(&script, SoundTrace, "comes after it");
    }
}
