//! Invariant 2: in each process life `onPartitionAssigned` and `onPartitionDeassigned` alternate, and a consumer
//! fetches only between the two, what it was assigned. And AR2: its only thread is in one place at a time.

use std::sync::Arc;

use super::model::{born, ended};
use super::{Event, Findings, Invariant, Packet};
use crate::id::{ConsumerId, NodeId, Partition};
use crate::message::{Message, MessageKind, Offsets, Request, Response};
use crate::scenario::Plan;
use crate::time::Time;
use crate::trace::{Callback, Fact};

/// For each consumer where its process stands.
#[derive(Clone, Debug)]
pub(super) struct Callbacks {
    consumers: Vec<Consumer>,
}

#[derive(Clone, Debug)]
struct Consumer {
    stage: Stage,
    /// What the last good answer to a join of this life assigned to it.
    told: Option<Offsets>,
    thread: Thread,
}

/// Where a process stands between the callbacks.
#[derive(Clone, PartialEq, Eq, Debug)]
enum Stage {
    /// It has ended, or has not begun.
    Ended,
    /// It holds no assignment.
    Free,
    /// It is in `onPartitionAssigned()`.
    Assigning(Arc<[Partition]>),
    /// It holds an assignment and does not fetch.
    Holding(Arc<[Partition]>),
    /// It fetches.
    Fetching(Arc<[Partition]>),
    /// It is in `onPartitionDeassigned()`.
    Deassigning(Arc<[Partition]>),
}

/// What keeps the consumer's only thread.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Thread {
    Free,
    InCallback { until: Time },
    Processing { until: Time },
}

impl Consumer {
    const ENDED: Self = Self { stage: Stage::Ended, told: None, thread: Thread::Free };
    const BORN: Self = Self { stage: Stage::Free, told: None, thread: Thread::Free };
}

impl Callbacks {
    pub(super) fn new(plan: &Plan) -> Self {
        Self { consumers: vec![Consumer::ENDED; plan.cast.consumers.len()] }
    }

    pub(super) fn observe(&mut self, event: &Event<'_>, findings: &mut Findings) {
        let consumer = event.fact().node().and_then(NodeId::consumer);
        let Some((id, consumer)) = consumer.and_then(|id| Some((id, self.consumers.get_mut(id.index())?))) else {
            return;
        };
        if born(event.fact()).is_some() {
            *consumer = Consumer::BORN;
        } else if ended(event.fact()).is_some() {
            *consumer = Consumer::ENDED;
        } else {
            if let Some(wrong) = consumer.wrong_order(event.fact()) {
                findings.add(Invariant::CallbacksAlternate, event, format!("{} {wrong}", event.name(id)));
            }
            if let Some(wrong) = consumer.wrong_thread(event, id) {
                findings.add(Invariant::SoundTrace, event, format!("{} {wrong}", event.name(id)));
            }
            consumer.step(event);
        }
    }
}

impl Consumer {
    /// Whether this may happen where the consumer stands.
    fn wrong_order(&self, fact: &Fact) -> Option<String> {
        if let Fact::CallbackStarted { callback, partitions, .. } = fact {
            self.wrong_call(*callback, partitions)
        } else if let Fact::CallbackReturned { callback, .. } = fact {
            self.wrong_return(*callback)
        } else if let Fact::FetchStarted { from, .. } = fact {
            self.wrong_fetch(from)
        } else if let Fact::FetchStopped { at, .. } = fact {
            match &self.stage {
                Stage::Fetching(fetched) if same_partitions(fetched, at) => None,
                Stage::Fetching(_) => Some("stops fetching other partitions than it fetched".to_owned()),
                Stage::Ended | Stage::Free | Stage::Assigning(_) | Stage::Holding(_) | Stage::Deassigning(_) => {
                    Some("stops fetching, but does not fetch".to_owned())
                }
            }
        } else if let Fact::Sent { message: Message::Request(Request::Join(_)), .. } = fact {
            match &self.stage {
                Stage::Free => None,
                Stage::Ended => Some("joins, but has ended".to_owned()),
                Stage::Assigning(_) | Stage::Holding(_) | Stage::Fetching(_) | Stage::Deassigning(_) => {
                    Some("joins, but has not given up what it holds (EC1)".to_owned())
                }
            }
        } else {
            None
        }
    }

    fn wrong_call(&self, callback: Callback, partitions: &Arc<[Partition]>) -> Option<String> {
        let name = callback.name();
        match (callback, &self.stage) {
            (Callback::Assigned, Stage::Free) => match &self.told {
                Some(told) if same_partitions(partitions, told) => None,
                Some(_) => Some(format!("calls {name} with other partitions than the answer to its join has")),
                None => Some(format!("calls {name}, but no join of its was answered")),
            },
            (Callback::Deassigned, Stage::Holding(held)) if held == partitions => None,
            (Callback::Deassigned, Stage::Holding(_)) => {
                Some(format!("calls {name} with other partitions than it holds"))
            }
            (Callback::Deassigned, Stage::Fetching(_)) => Some(format!("calls {name} while it fetches")),
            (_, Stage::Assigning(_) | Stage::Deassigning(_)) => Some(format!("calls {name} inside another callback")),
            (Callback::Assigned, Stage::Holding(_) | Stage::Fetching(_)) => {
                Some(format!("calls {name}, but holds an assignment"))
            }
            (Callback::Deassigned, Stage::Free) => Some(format!("calls {name}, but holds no assignment")),
            (_, Stage::Ended) => Some(format!("calls {name}, but has ended")),
        }
    }

    fn wrong_return(&self, callback: Callback) -> Option<String> {
        match (callback, &self.stage) {
            (Callback::Assigned, Stage::Assigning(_)) | (Callback::Deassigned, Stage::Deassigning(_)) => None,
            (
                Callback::Assigned | Callback::Deassigned,
                Stage::Ended
                | Stage::Free
                | Stage::Assigning(_)
                | Stage::Holding(_)
                | Stage::Fetching(_)
                | Stage::Deassigning(_),
            ) => Some(format!("returns from {}, but is not in it", callback.name())),
        }
    }

    /// Fetching starts in what was assigned, from where the answer said (EC5, decision 11).
    fn wrong_fetch(&self, from: &Offsets) -> Option<String> {
        match &self.stage {
            Stage::Holding(_) if self.told.as_ref() == Some(from) => None,
            Stage::Holding(_) => Some("starts fetching elsewhere than the answer to its join said".to_owned()),
            Stage::Fetching(_) => Some("starts fetching, but does so already".to_owned()),
            Stage::Ended | Stage::Free | Stage::Assigning(_) | Stage::Deassigning(_) => {
                Some("starts fetching, but holds no assignment".to_owned())
            }
        }
    }

    /// AR2: while the application has the thread, nothing is read and nothing sent but a commit of a callback's own.
    fn wrong_thread(&self, event: &Event<'_>, id: ConsumerId) -> Option<String> {
        let at = event.at();
        let (busy_until, may_commit) = match self.thread {
            Thread::Free => return None,
            Thread::InCallback { until } => (until, true),
            Thread::Processing { until } => (until, false),
        };
        let fact = event.fact();
        if let Fact::CallbackReturned { .. } | Fact::ProcessingEnded { .. } = fact {
            return (at < busy_until).then(|| format!("is done before the time it takes, {busy_until}s"));
        }
        if let Some(packet) = super::packet(fact) {
            let is_own_commit = may_commit && packet.message.kind() == MessageKind::Commit;
            return (!is_own_commit).then(|| "sends while the application has its thread".to_owned());
        }
        let takes = event.taken().is_some_and(|packet| packet.to == id.into());
        takes.then(|| "takes a message while the application has its thread".to_owned())
    }

    fn step(&mut self, event: &Event<'_>) {
        let fact = event.fact();
        if let Fact::CallbackStarted { callback, partitions, takes, .. } = fact {
            self.stage = match callback {
                Callback::Assigned => Stage::Assigning(Arc::clone(partitions)),
                Callback::Deassigned => Stage::Deassigning(Arc::clone(partitions)),
            };
            self.thread = Thread::InCallback { until: event.at() + *takes };
        } else if let Fact::CallbackReturned { callback, .. } = fact {
            self.stage = match callback {
                Callback::Assigned => Stage::Holding(self.partitions()),
                Callback::Deassigned => Stage::Free,
            };
            self.thread = Thread::Free;
        } else if let Fact::FetchStarted { from, .. } = fact {
            self.stage = Stage::Fetching(partitions_of(from));
        } else if let Fact::FetchStopped { .. } = fact {
            self.stage = Stage::Holding(self.partitions());
        } else if let Fact::ProcessingStarted { takes, .. } = fact {
            self.thread = Thread::Processing { until: event.at() + *takes };
        } else if let Fact::ProcessingEnded { .. } = fact {
            self.thread = Thread::Free;
        } else if let Some(Packet { message: Message::Response(Response::Join(Ok(joined))), .. }) = event.taken() {
            self.told = Some(Arc::clone(&joined.assignment));
        }
    }

    fn partitions(&self) -> Arc<[Partition]> {
        match &self.stage {
            Stage::Ended | Stage::Free => Arc::default(),
            Stage::Assigning(held) | Stage::Holding(held) | Stage::Fetching(held) | Stage::Deassigning(held) => {
                Arc::clone(held)
            }
        }
    }
}

fn partitions_of(offsets: &Offsets) -> Arc<[Partition]> {
    offsets.iter().map(|(partition, _)| *partition).collect()
}

fn same_partitions(partitions: &[Partition], offsets: &Offsets) -> bool {
    partitions.iter().eq(offsets.iter().map(|(partition, _)| partition))
}

#[cfg(test)]
mod tests {
    use crate::error::JoinError;
    use crate::invariants::Invariant::{CallbacksAlternate, SoundTrace};
    use crate::invariants::tests::{expect_broken, expect_sound};
    use crate::message::Request;
    use crate::script::{self, B1, C1, ORDERS, Script};
    use crate::time::Span;
    use crate::trace::{Callback, Fact};

    /// C1 has stopped fetching its share, and holds it.
    fn stopped() -> Script {
        let mut script = Script::two_members();
        script.stop(C1, &[0, 1]);
        script
    }

    /// C1 holds nothing, and its join is answered with a share.
    fn answered() -> Script {
        let mut script = stopped();
        script.call(C1, Callback::Deassigned, &[0, 1]);
        let join = script.rejoin(C1, &[ORDERS]);
        let answer = script.answer(join, script::joined(2, &[0, 1]));
        script.take(answer);
        script
    }

    #[test]
    fn stop_call_back_join_call_back_fetch_is_sound() {
        let mut script = answered();
        script.call(C1, Callback::Assigned, &[0, 1]);
        script.fetch(C1, &[0, 1]);
        expect_sound(&script);
    }

    #[test]
    fn two_of_the_same_callback_are_found() {
        let mut script = stopped();
        script.call(C1, Callback::Assigned, &[0, 1]);
        expect_broken(&script, CallbacksAlternate, "but holds an assignment");
        let mut script = stopped();
        script.call(C1, Callback::Deassigned, &[0, 1]);
        script.call(C1, Callback::Deassigned, &[0, 1]);
        expect_broken(&script, CallbacksAlternate, "but holds no assignment");
    }

    #[test]
    fn a_callback_while_fetching_is_found() {
        let mut script = Script::two_members();
        script.call(C1, Callback::Deassigned, &[0, 1]);
        expect_broken(&script, CallbacksAlternate, "while it fetches");
    }

    #[test]
    fn a_callback_inside_another_is_found() {
        let mut script = stopped();
        script.call_in(C1, Callback::Deassigned, &[0, 1]);
        script.call_in(C1, Callback::Assigned, &[0, 1]);
        expect_broken(&script, CallbacksAlternate, "inside another");
    }

    #[test]
    fn a_return_from_no_callback_is_found() {
        let mut script = stopped();
        script.fact(Fact::CallbackReturned { consumer: C1, callback: Callback::Assigned });
        expect_broken(&script, CallbacksAlternate, "but is not in it");
    }

    #[test]
    fn a_callback_about_other_partitions_is_found() {
        let mut script = stopped();
        script.call(C1, Callback::Deassigned, &[0]);
        expect_broken(&script, CallbacksAlternate, "than it holds");
        let mut script = answered();
        script.call(C1, Callback::Assigned, &[0]);
        expect_broken(&script, CallbacksAlternate, "than the answer to its join has");
    }

    #[test]
    fn a_callback_without_an_answer_or_a_process_is_found() {
        let mut script = Script::two_members();
        script.fact(Fact::ProcessCrashed { node: C1.into() });
        let mut dead = script.clone();
        dead.call(C1, Callback::Assigned, &[0, 1]);
        expect_broken(&dead, CallbacksAlternate, "but has ended");
        script.fact(Fact::ProcessStarted { node: C1.into() });
        script.call(C1, Callback::Assigned, &[0, 1]);
        expect_broken(&script, CallbacksAlternate, "but no join of its was answered");
    }

    #[test]
    fn fetching_outside_the_callbacks_is_found() {
        let mut script = answered();
        script.fetch(C1, &[0, 1]);
        expect_broken(&script, CallbacksAlternate, "starts fetching, but holds no assignment");
        let mut script = Script::two_members();
        script.fetch(C1, &[0, 1]);
        expect_broken(&script, CallbacksAlternate, "starts fetching, but does so already");
        let mut script = stopped();
        script.stop(C1, &[0, 1]);
        expect_broken(&script, CallbacksAlternate, "but does not fetch");
    }

    #[test]
    fn fetching_something_else_is_found() {
        let mut script = answered();
        script.call(C1, Callback::Assigned, &[0, 1]);
        let mut elsewhere = script.clone();
        elsewhere.fact(Fact::FetchStarted { consumer: C1, from: script::at_offset(0, 5) });
        expect_broken(&elsewhere, CallbacksAlternate, "elsewhere than the answer");
        script.fetch(C1, &[0, 1]);
        script.stop(C1, &[0]);
        expect_broken(&script, CallbacksAlternate, "other partitions than it fetched");
    }

    #[test]
    fn a_join_of_one_that_holds_something_is_found() {
        for mut script in [Script::two_members(), stopped()] {
            script.rejoin(C1, &[ORDERS]);
            expect_broken(&script, CallbacksAlternate, "has not given up what it holds");
        }
        let mut script = stopped();
        script.call(C1, Callback::Deassigned, &[0, 1]);
        script.fact(Fact::ConsumerThrew { consumer: C1, error: JoinError::GroupMaxSizeReached });
        script.rejoin(C1, &[ORDERS]);
        expect_broken(&script, CallbacksAlternate, "joins, but has ended");
    }

    #[test]
    fn a_thread_in_two_places_is_found() {
        let mut script = stopped();
        script.call_in(C1, Callback::Deassigned, &[0, 1]);
        let mut commits = script.clone();
        commits.ask(C1, Request::Commit(script::commit(C1, 2, &script::at_offset(0, 0))));
        expect_sound(&commits);
        script.ask(C1, script::heartbeat(C1, 2));
        expect_broken(&script, SoundTrace, "C1 sends while");

        let mut script = Script::two_members();
        let answer = script.beat(C1, 2, Ok(()));
        script.fact(Fact::ProcessingStarted { consumer: C1, takes: Span::from_secs(1) });
        let mut commits = script.clone();
        commits.ask(C1, Request::Commit(script::commit(C1, 2, &script::at_offset(0, 0))));
        expect_broken(&commits, SoundTrace, "C1 sends while");
        script.take(answer);
        expect_broken(&script, SoundTrace, "C1 takes a message while");
    }

    #[test]
    fn a_callback_that_returns_early_is_found() {
        let mut script = stopped();
        script.call_in(C1, Callback::Deassigned, &[0, 1]);
        script.wait(19).fact(Fact::CallbackReturned { consumer: C1, callback: Callback::Deassigned });
        expect_broken(&script, SoundTrace, "before the time it takes");
        let mut script = Script::two_members();
        script.fact(Fact::ProcessingStarted { consumer: C1, takes: Span::from_secs(1) });
        script.wait(999).fact(Fact::ProcessingEnded { consumer: C1 });
        expect_broken(&script, SoundTrace, "before the time it takes");
    }

    #[test]
    fn a_broker_has_no_callbacks_to_order() {
        let mut script = Script::two_members();
        script.fact(Fact::ProcessCrashed { node: B1.into() });
        expect_sound(&script);
    }
}
