//! Facts in terse words, for tests to name them by. (What people read is `report`'s; this stands apart from it, so that a
//! better wording there breaks no test of a rule.)

use groupscope_core::cast::{Cast, broker_name};
use groupscope_core::id::{Generation, MemberId, NodeId, Offset, Partition, TopicId};
use groupscope_core::message::{Message, Request, Response};
use groupscope_core::time::Time;
use groupscope_core::trace::{Callback, Fact, RebalanceReason, Trace};

/// Milliseconds, with as many decimals as it takes.
pub(crate) fn millis(at: Time) -> String {
    let (millis, micros) = (at.as_micros() / 1_000, at.as_micros() % 1_000);
    if micros == 0 { millis.to_string() } else { format!("{millis}.{micros:03}") }
}

/// A fact as a line: who, then what.
pub(crate) fn fact(trace: &Trace, fact: &Fact) -> String {
    let teller = Teller { trace, cast: trace.cast() };
    let who = fact.node().map(|node| teller.cast.node(node));
    [who, Some(teller.what(fact))].into_iter().flatten().collect::<Vec<_>>().join(" ")
}

struct Teller<'a> {
    trace: &'a Trace,
    cast: &'a Cast,
}

impl Teller<'_> {
    fn what(&self, fact: &Fact) -> String {
        match fact {
            Fact::ProcessStarted { .. } => "started".into(),
            Fact::ProcessCrashed { .. } => "crashed".into(),
            Fact::ProcessClosed { .. } => "closed".into(),
            Fact::ProcessPaused { .. } => "paused".into(),
            Fact::ProcessResumed { .. } => "resumed".into(),
            Fact::LinkCut { broker, .. } => format!("cut from {}", broker_name(*broker)),
            Fact::LinkHealed { broker, .. } => format!("healed to {}", broker_name(*broker)),
            Fact::PartitionsAdded { topic, count } => format!("{} has {count}", self.cast.topic(*topic)),
            Fact::CommandIgnored { reason, .. } => format!("ignored: {reason}"),
            Fact::LimitReached => "limit reached".into(),
            Fact::ChannelOpening { broker, .. } => format!("opening {}", broker_name(*broker)),
            Fact::ChannelOpened { broker, .. } => format!("opened {}", broker_name(*broker)),
            Fact::ChannelClosed { peer, why, .. } => format!("closed {} {why:?}", self.cast.node(*peer)),
            Fact::Sent { from, to, arrives, message, .. } => {
                let lost = if *arrives == Time::MAX { " lost" } else { "" };
                format!("> {} {}{lost}", self.cast.node(*to), self.message(*from, message))
            }
            Fact::Received { sent, .. } => self.arrived("<", *sent),
            Fact::Dropped { sent, .. } => self.arrived("dropped", *sent),
            Fact::Subscribed { topics, .. } => format!("subscribed {}", self.topics(topics)).trim_end().to_owned(),
            Fact::CoordinatorFound { broker, .. } => format!("found {}", broker_name(*broker)),
            Fact::CoordinatorFailed { broker, why, .. } => format!("gave up {} {why:?}", broker_name(*broker)),
            Fact::TopicChangeSeen { topic, count, .. } => format!("saw {} {count}", self.cast.topic(*topic)),
            Fact::GenerationRecorded { generation, .. } => format!("recorded {}", number(*generation)),
            Fact::CallbackStarted { callback, partitions, .. } => {
                format!("{} {}", word(*callback), self.partitions(partitions)).trim_end().to_owned()
            }
            Fact::CallbackReturned { callback, .. } => format!("returned from {}", word(*callback)),
            Fact::FetchStarted { from, .. } => format!("fetching {}", self.offsets(from)).trim_end().to_owned(),
            Fact::FetchStopped { at, .. } => format!("stopped {}", self.offsets(at)).trim_end().to_owned(),
            Fact::ProcessingStarted { takes, .. } => format!("processing {takes}"),
            Fact::ProcessingEnded { .. } => "processed".into(),
            Fact::ResumeExpired { .. } => "gave up resuming".into(),
            Fact::ConsumerThrew { error, .. } => format!("threw {error:?}"),
            Fact::OffsetsDropped { offsets, why, .. } => format!("reported {} {why:?}", self.offsets(offsets)),
            Fact::MemberAdded { member, .. } => format!("added {}", self.member(*member)),
            Fact::MemberRemoved { member, why, .. } => format!("removed {} {why:?}", self.member(*member)),
            Fact::RebalanceStarted { why, .. } => format!("rebalances {}", self.reason(*why)),
            Fact::JoinHeld { member, awaited, .. } => format!("holds {} awaits {awaited}", self.member(*member)),
            Fact::RebalanceRetried { missing, .. } => format!("retries without {}", self.member(*missing)),
            Fact::AssignmentComputed { formed, .. } => {
                let shares: Vec<_> = formed
                    .assignment
                    .iter()
                    .map(|(member, list)| format!("{}[{}]", self.member(*member), self.partitions(list)))
                    .collect();
                format!("formed {} {}", number(formed.generation), shares.join(" "))
            }
            Fact::GroupForgotten { .. } => "forgot the group".into(),
            Fact::GroupRecovered { generation, members, .. } => format!("recovered {} {members}", number(*generation)),
            Fact::GroupStateLost { .. } => "lost the group".into(),
            Fact::CoordinatorMoved { from, epoch, .. } => format!("takes over from {} {}", broker_name(*from), epoch.0),
            Fact::CoordinatorResigned { epoch, .. } => format!("resigned {}", epoch.0),
            Fact::CoordinatorLearned { coordinator, .. } => format!("learned of {}", broker_name(*coordinator)),
            Fact::CommitChecked { verdict, .. } => {
                let outcome = verdict.outcome.map_or_else(|error| format!("{error:?}"), |()| "ok".into());
                format!("checked {} {outcome}", self.member(verdict.commit.member))
            }
            Fact::OffsetsAppended { offsets, backwards, .. } => {
                let back = if *backwards == 0 { String::new() } else { format!(" backwards {backwards}") };
                format!("appended {}{back}", self.offsets(offsets))
            }
        }
    }

    fn arrived(&self, how: &str, sent: groupscope_core::id::RecordId) -> String {
        let Fact::Sent { from, message, .. } = &self.trace[sent].fact else { return "a message never sent".into() };
        format!("{how} {} {}", self.cast.node(*from), self.message(*from, message))
    }

    fn message(&self, from: NodeId, message: &Message) -> String {
        match message {
            Message::Request(request) => self.request(from, request),
            Message::Response(response) => self.response(response),
        }
    }

    fn request(&self, from: NodeId, request: &Request) -> String {
        match request {
            Request::Metadata { topics } => format!("metadata {}", self.topics(topics)).trim_end().to_owned(),
            Request::Join(join) => format!("join {}", self.topics(&join.topics)).trim_end().to_owned(),
            Request::Heartbeat { member, generation } => {
                format!("heartbeat {}{}", number(*generation), self.on_behalf(from, *member))
            }
            Request::SimpleCommit { offsets } => format!("commit of no member {}", self.offsets(offsets)),
            Request::Leave { member } => format!("leave{}", self.on_behalf(from, *member)),
            Request::Commit(commit) => {
                let on_behalf = self.on_behalf(from, commit.member);
                format!("commit {} {}{on_behalf}", number(commit.generation), self.offsets(&commit.offsets))
            }
        }
    }

    fn response(&self, response: &Response) -> String {
        match response {
            Response::Metadata(metadata) => {
                let coordinator = metadata.coordinator.map_or_else(|| "nobody".into(), broker_name);
                let brokers: Vec<_> = metadata.brokers.iter().map(|broker| broker_name(*broker)).collect();
                let count = |(topic, count): &(TopicId, u32)| format!("{}:{count}", self.cast.topic(*topic));
                let counts: Vec<_> = metadata.topics.iter().map(count).collect();
                format!("metadata coordinator {coordinator} of {} {}", brokers.join(" "), counts.join(" "))
            }
            Response::Join(Ok(joined)) => {
                format!("joined {} {}", number(joined.generation), self.offsets(&joined.assignment))
            }
            Response::Join(Err(error)) => format!("join {error:?}"),
            Response::Heartbeat(answer) => format!("heartbeat {}", outcome(answer)),
            Response::Commit(answer) => format!("commit {}", outcome(answer)),
            Response::Leave(answer) => format!("leave {}", outcome(answer)),
        }
    }

    fn on_behalf(&self, from: NodeId, member: MemberId) -> String {
        let is_own = NodeId::from(self.cast.member(member)) == from;
        if is_own { String::new() } else { format!(" as {}", self.member(member)) }
    }

    fn member(&self, member: MemberId) -> String {
        self.cast.member_name(member).into()
    }

    fn reason(&self, why: RebalanceReason) -> String {
        match why {
            RebalanceReason::NewMember(member) => format!("NewMember {}", self.member(member)),
            RebalanceReason::SubscriptionChanged(member) => format!("SubscriptionChanged {}", self.member(member)),
            RebalanceReason::Rejoined(member) => format!("Rejoined {}", self.member(member)),
            RebalanceReason::MemberFailed(member) => format!("MemberFailed {}", self.member(member)),
            RebalanceReason::MemberLeft(member) => format!("MemberLeft {}", self.member(member)),
            RebalanceReason::PartitionsChanged(topic) => format!("PartitionsChanged {}", self.cast.topic(topic)),
            RebalanceReason::Reopened => "Reopened".into(),
        }
    }

    fn topics(&self, topics: &[TopicId]) -> String {
        topics.iter().map(|topic| self.cast.topic(*topic)).collect::<Vec<_>>().join(" ")
    }

    fn partitions(&self, partitions: &[Partition]) -> String {
        partitions.iter().map(|partition| self.cast.partition(*partition)).collect::<Vec<_>>().join(" ")
    }

    fn offsets(&self, offsets: &[(Partition, Offset)]) -> String {
        let entry =
            |(partition, offset): &(Partition, Offset)| format!("{}@{}", self.cast.partition(*partition), offset.0);
        offsets.iter().map(entry).collect::<Vec<_>>().join(" ")
    }
}

fn outcome<E: std::fmt::Debug>(answer: &Result<(), E>) -> String {
    match answer {
        Ok(()) => "ok".into(),
        Err(error) => format!("{error:?}"),
    }
}

fn word(callback: Callback) -> &'static str {
    match callback {
        Callback::Assigned => "assigned",
        Callback::Deassigned => "deassigned",
    }
}

/// A generation's number, with the group's life before it from the second on: `3`, `2/1`.
fn number(generation: Generation) -> String {
    let Generation { life, number, .. } = generation;
    if life <= 1 { number.to_string() } else { format!("{life}/{number}") }
}
