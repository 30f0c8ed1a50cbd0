//! Invariant 3: the coordinator sends nothing but answers, at most one per request (AR1).

use std::collections::BTreeMap;

use super::{Event, Findings, Invariant, Packet};
use crate::id::{NodeId, NodeKind, RecordId};
use crate::message::Message;
use crate::trace::Fact;

/// The requests that brokers have taken and not answered yet.
#[derive(Clone, Default, Debug)]
pub(super) struct Answers {
    open: BTreeMap<RecordId, NodeId>,
}

impl Answers {
    pub(super) fn observe(&mut self, event: &Event<'_>, findings: &mut Findings) {
        if let Fact::Received { node, sent } = event.fact() {
            if event.packet(*sent).is_some_and(|packet| is_request(packet.message)) {
                self.open.insert(*sent, *node);
            }
        } else if let Fact::ProcessCrashed { node } = event.fact() {
            // Whatever it had not answered it knows nothing of any more.
            self.open.retain(|_, taker| taker != node);
        } else if let Some(packet) = super::packet(event.fact())
            && let Some(wrong) = self.sent(event, &packet)
        {
            findings.add(Invariant::OnlyAnswers, event, wrong);
        }
    }

    /// What is wrong with sending this.
    fn sent(&mut self, event: &Event<'_>, packet: &Packet<'_>) -> Option<String> {
        let from = event.name(packet.from);
        match (packet.from.kind(), packet.message) {
            (NodeKind::Consumer(_), Message::Request(_)) => {
                packet.answers.map(|_| format!("a request of {from} is marked as an answer"))
            }
            (NodeKind::Consumer(_), Message::Response(_)) => Some(format!("consumer {from} sends an answer")),
            (NodeKind::Broker(_), Message::Request(_)) => Some(format!("broker {from} sends a request")),
            (NodeKind::Broker(_), Message::Response(_)) => match packet.answers {
                None => Some(format!("{from} sends what answers no request")),
                Some(request) => self.answered(event, packet, request),
            },
        }
    }

    fn answered(&mut self, event: &Event<'_>, answer: &Packet<'_>, request: RecordId) -> Option<String> {
        let from = event.name(answer.from);
        let Some(asked) = event.packet(request).filter(|asked| is_request(asked.message)) else {
            return Some(format!("{from} answers record {}, which is no request", request.0));
        };
        let is_turned = asked.from == answer.to && asked.to == answer.from && asked.connection == answer.connection;
        if !is_turned || asked.message.kind() != answer.message.kind() {
            return Some(format!(
                "the answer of {from} to record {} goes another way or is of another kind",
                request.0
            ));
        }
        if self.open.remove(&request).is_none() {
            return Some(format!("{from} answers record {} again, or without having it", request.0));
        }
        None
    }
}

const fn is_request(message: &Message) -> bool {
    match message {
        Message::Request(_) => true,
        Message::Response(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use crate::error::HeartbeatError;
    use crate::id::{ConnectionId, NodeId};
    use crate::invariants::Invariant::OnlyAnswers;
    use crate::invariants::tests::{expect_broken, expect_sound};
    use crate::message::{Message, Request, Response};
    use crate::script::{self, B1, C1, C2, Script};
    use crate::time::Span;
    use crate::trace::{Cause, Fact};

    const GOOD: Response = Response::Heartbeat(Ok(()));

    fn send(script: &mut Script, from: impl Into<NodeId>, to: impl Into<NodeId>, message: Message) {
        let connection = ConnectionId(0);
        let arrives = script.now() + Span::from_millis(10);
        script.fact(Fact::Sent { from: from.into(), to: to.into(), connection, arrives, answers: None, message });
    }

    #[test]
    fn each_request_has_one_answer() {
        let mut script = Script::two_members();
        script.beat(C1, 2, Ok(()));
        script.beat(C1, 1, Err(HeartbeatError::IllegalGeneration));
        expect_sound(&script);
    }

    #[test]
    fn a_second_answer_is_found() {
        let mut script = Script::two_members();
        let request = script.deliver(C1, script::heartbeat(C1, 2));
        script.answer(request, GOOD);
        script.answer(request, GOOD);
        expect_broken(&script, OnlyAnswers, "again");
    }

    #[test]
    fn an_answer_before_its_request_has_come_is_found() {
        let mut script = Script::two_members();
        let request = script.ask(C1, script::heartbeat(C1, 2));
        script.answer(request, GOOD);
        expect_broken(&script, OnlyAnswers, "without having it");
    }

    #[test]
    fn an_answer_to_a_request_from_before_a_crash_is_found() {
        let mut script = Script::two_members();
        let request = script.deliver(C1, script::heartbeat(C1, 2));
        script.fact(Fact::ProcessCrashed { node: B1.into() });
        script.fact(Fact::ProcessStarted { node: B1.into() });
        script.answer(request, GOOD);
        expect_broken(&script, OnlyAnswers, "without having it");
    }

    #[test]
    fn a_message_that_answers_nothing_is_found() {
        let mut script = Script::two_members();
        send(&mut script, B1, C1, Message::Response(GOOD));
        expect_broken(&script, OnlyAnswers, "answers no request");
    }

    #[test]
    fn an_answer_to_what_was_no_request_is_found() {
        let mut script = Script::two_members();
        let answer = script.beat(C1, 2, Ok(()));
        let taken = script.take(answer);
        for wrong in [answer, taken] {
            let mut script = script.clone();
            let Fact::Sent { from, to, connection, arrives, message, .. } = script.trace[answer].fact.clone() else {
                panic!("an answer was sent")
            };
            let answers = Some(Cause::new(wrong));
            script.fact(Fact::Sent { from, to, connection, arrives, answers, message });
            expect_broken(&script, OnlyAnswers, "which is no request");
        }
    }

    #[test]
    fn an_answer_of_another_kind_or_to_another_is_found() {
        let mut script = Script::two_members();
        let request = script.deliver(C1, script::heartbeat(C1, 2));
        let mut other_kind = script.clone();
        other_kind.answer(request, Response::Commit(Ok(())));
        expect_broken(&other_kind, OnlyAnswers, "of another kind");
        script.fact(Fact::Sent {
            from: B1.into(),
            to: C2.into(),
            connection: ConnectionId(1),
            arrives: script.now(),
            answers: Some(Cause::new(request)),
            message: Message::Response(GOOD),
        });
        expect_broken(&script, OnlyAnswers, "goes another way");
    }

    #[test]
    fn a_request_of_a_broker_and_an_answer_of_a_consumer_are_found() {
        let mut script = Script::two_members();
        send(&mut script, B1, C1, Message::Request(Request::Metadata { topics: [].into() }));
        expect_broken(&script, OnlyAnswers, "broker B1 sends a request");
        let mut script = Script::two_members();
        send(&mut script, C1, B1, Message::Response(GOOD));
        expect_broken(&script, OnlyAnswers, "consumer C1 sends an answer");
    }
}
