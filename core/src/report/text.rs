//! A trace as text: a golden test's expectation, and what the command prints.

use std::fmt::{self, Write as _};

use crate::cast::{Cast, broker_name};
use crate::error::CommitError;
use crate::id::{Generation, MemberId, NodeId, Offset, Partition, RecordId, TopicId};
use crate::message::{Commit, Joined, Message, Metadata, Request, Response};
use crate::offsets::Verdict;
use crate::time::Time;
use crate::trace::{
    ChannelEnd, CoordinatorFailure, DropReason, Fact, Formed, RebalanceReason, Record, RemovalReason, Trace,
};

/// How wide the column of what happened is; a longer text pushes the rules to the right.
const WHAT_WIDTH: usize = 64;

/// A trace as text, one line an event, each line ended by a newline. See [`text_line`] for the line.
#[derive(Clone, Copy, Debug)]
pub struct Text<'a> {
    trace: &'a Trace,
}

impl<'a> Text<'a> {
    /// The text of a trace.
    #[must_use]
    pub const fn of(trace: &'a Trace) -> Self {
        Self { trace }
    }
}

impl fmt::Display for Text<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let layout = Layout::of(self.trace.cast());
        for (_, record) in self.trace.iter() {
            f.write_str(&layout.line(self.trace, record))?;
            f.write_char('\n')?;
        }
        Ok(())
    }
}

/// The text of a trace as one string.
#[must_use]
pub fn text(trace: &Trace) -> String {
    Text::of(trace).to_string()
}

/// One event as a line without its newline: the time in seconds, the node or nodes, what happened, the rules that it
/// carries out.
///
/// A message sent reads `C3 -> B1`, a message taken `B1 <- C3`; partitions are grouped by topic, `orders 0-2 5`, with
/// offsets `orders 0@40 1-2@0`. Causes and identities that only a program needs are left to [`json_line`].
/// Empty if the trace has not come to `id`.
///
/// [`json_line`]: crate::report::json_line
#[must_use]
pub fn text_line(trace: &Trace, id: RecordId) -> String {
    trace.get(id).map_or_else(String::new, |record| Layout::of(trace.cast()).line(trace, record))
}

/// The widths of a trace's columns.
struct Layout {
    name: usize,
}

impl Layout {
    fn of(cast: &Cast) -> Self {
        let longest = cast.nodes().map(|node| cast.node(node).chars().count()).max();
        Self { name: longest.unwrap_or(0) }
    }

    fn line(&self, trace: &Trace, record: &Record) -> String {
        let Self { name } = *self;
        let cast = trace.cast();
        let (who, what) = Story { trace, cast }.event(&record.fact);
        let who = match who {
            Who::Nobody => String::new(),
            Who::One(node) => cast.node(node),
            Who::Two(one, mark, other) => format!("{:name$} {mark} {}", cast.node(one), cast.node(other)),
        };
        let who_width = 2 * name + 4;
        let line = format!("{}  {who:who_width$}  {what:WHAT_WIDTH$}  {}", time(record.at), record.rules);
        line.trim_end().to_owned()
    }
}

/// Seconds with the point always in the same column: three decimals, or six where it takes them.
fn time(at: Time) -> String {
    let (secs, micros) = (at.as_micros() / 1_000_000, at.as_micros() % 1_000_000);
    if micros % 1_000 == 0 { format!("{secs:>5}.{:03}   ", micros / 1_000) } else { format!("{secs:>5}.{micros:06}") }
}

/// Whom an event is about.
enum Who {
    Nobody,
    One(NodeId),
    /// With what stands between the two.
    Two(NodeId, &'static str, NodeId),
}

fn one(node: impl Into<NodeId>, what: impl Into<String>) -> (Who, String) {
    (Who::One(node.into()), what.into())
}

fn two(
    node: impl Into<NodeId>,
    mark: &'static str,
    other: impl Into<NodeId>,
    what: impl Into<String>,
) -> (Who, String) {
    (Who::Two(node.into(), mark, other.into()), what.into())
}

/// Tells events in words.
#[derive(Clone, Copy)]
struct Story<'a> {
    trace: &'a Trace,
    cast: &'a Cast,
}

impl Story<'_> {
    /// Who it was and what happened: the one table of all there is to tell.
    fn event(self, fact: &Fact) -> (Who, String) {
        match fact {
            Fact::ProcessStarted { node } => one(*node, "starts"),
            Fact::ProcessCrashed { node } => one(*node, "crashes"),
            Fact::ProcessClosed { consumer } => one(*consumer, "closes"),
            Fact::ProcessPaused { node } => one(*node, "pauses"),
            Fact::ProcessResumed { node } => one(*node, "resumes"),
            Fact::LinkCut { consumer, broker } => two(*consumer, "--", *broker, "link cut"),
            Fact::LinkHealed { consumer, broker } => two(*consumer, "--", *broker, "link healed"),
            Fact::PartitionsAdded { topic, count } => {
                (Who::Nobody, format!("{} has {count} partitions now", self.cast.topic(*topic)))
            }
            Fact::CommandIgnored { node, reason } => one(*node, format!("command ignored: {reason}")),
            Fact::LimitReached => (Who::Nobody, "the limit of records is reached: the run stops here".to_owned()),
            Fact::ChannelOpening { connection, consumer, broker } => {
                two(*consumer, "->", *broker, format!("opens channel {}", connection.0))
            }
            Fact::ChannelOpened { connection, consumer, broker } => {
                two(*consumer, "<-", *broker, format!("channel {} is open", connection.0))
            }
            Fact::ChannelClosed { connection, node, peer, why } => {
                two(*node, "--", *peer, format!("channel {} {}", connection.0, channel_end(*why)))
            }
            Fact::Sent { from, to, arrives, message, .. } => {
                let lost = if *arrives == Time::MAX { " (lost)" } else { "" };
                two(*from, "->", *to, format!("{}{lost}", self.message(*from, message)))
            }
            Fact::Received { node, sent } => self.taken(*node, *sent, ""),
            Fact::Dropped { node, sent } => self.taken(*node, *sent, ": dropped"),
            Fact::Subscribed { consumer, topics } => one(*consumer, format!("subscribes to {}", self.topics(topics))),
            Fact::CoordinatorFound { consumer, broker } => {
                one(*consumer, format!("learns that {} is the coordinator", broker_name(*broker)))
            }
            Fact::CoordinatorFailed { consumer, broker, why } => {
                one(*consumer, format!("coordinator {} failed: {}", broker_name(*broker), coordinator_failure(*why)))
            }
            Fact::TopicChangeSeen { consumer, topic, count } => {
                one(*consumer, format!("sees that {} has {count} partitions", self.cast.topic(*topic)))
            }
            Fact::GenerationRecorded { consumer, generation } => {
                one(*consumer, format!("records {}", in_words(*generation)))
            }
            Fact::CallbackStarted { consumer, callback, partitions, takes } => {
                let partitions = self.partitions(partitions.iter().copied());
                one(*consumer, format!("{}({partitions}) called, takes {takes}", callback.name()))
            }
            Fact::CallbackReturned { consumer, callback } => one(*consumer, format!("{} returns", callback.name())),
            Fact::FetchStarted { consumer, from } => one(*consumer, format!("starts fetching {}", self.offsets(from))),
            Fact::FetchStopped { consumer, at } => one(*consumer, format!("stops fetching at {}", self.offsets(at))),
            Fact::ProcessingStarted { consumer, takes } => {
                one(*consumer, format!("the application keeps the thread for {takes}"))
            }
            Fact::ProcessingEnded { consumer } => one(*consumer, "the thread is free again"),
            Fact::ResumeExpired { consumer } => one(*consumer, "no coordinator for a session: gives its partitions up"),
            Fact::ConsumerThrew { consumer, error } => one(*consumer, format!("throws {} and stops", error.name())),
            Fact::OffsetsDropped { consumer, offsets, why } => {
                one(*consumer, format!("does not commit {}: {}", self.offsets(offsets), drop_reason(*why)))
            }
            Fact::MemberAdded { broker, member } => {
                one(*broker, format!("{} becomes a member", self.cast.member_name(*member)))
            }
            Fact::MemberRemoved { broker, member, why } => {
                one(*broker, format!("{} removed: {}", self.cast.member_name(*member), removal(*why)))
            }
            Fact::RebalanceStarted { broker, why } => one(*broker, format!("rebalance: {}", self.rebalance(*why))),
            Fact::JoinHeld { broker, member, awaited } => {
                one(*broker, format!("holds the join of {}, awaits {awaited} more", self.cast.member_name(*member)))
            }
            Fact::RebalanceRetried { broker, missing } => {
                one(*broker, format!("retry: the join of {} has not come", self.cast.member_name(*missing)))
            }
            Fact::AssignmentComputed { broker, formed } => one(*broker, self.formed(formed)),
            Fact::GroupForgotten { broker } => one(*broker, "the last member is gone: group forgotten"),
            Fact::GroupRecovered { broker, generation, members } => {
                one(*broker, format!("takes up the group: {}, members {members}", in_words(*generation)))
            }
            Fact::GroupStateLost { broker } => one(*broker, "knows nothing of the group any more"),
            Fact::CoordinatorMoved { broker, from, epoch } => {
                let from = self.cast.node((*from).into());
                one(*broker, format!("takes the role of coordinator over from {from}: epoch {}", epoch.0))
            }
            Fact::CoordinatorResigned { broker, .. } => one(*broker, "finds that it is no longer coordinator"),
            Fact::CoordinatorLearned { broker, coordinator } => {
                one(*broker, format!("learns that {} is coordinator", self.cast.node((*coordinator).into())))
            }
            Fact::CommitChecked { broker, verdict } => one(*broker, self.verdict(verdict)),
            Fact::OffsetsAppended { broker, member, offsets, backwards } => {
                let back = if *backwards == 0 { String::new() } else { format!(" ({backwards} went back)") };
                let offsets = self.offsets(offsets);
                let name = member.map_or("no member".into(), |member| self.cast.member_name(member));
                one(*broker, format!("log: {offsets} for {name}{back}"))
            }
        }
    }

    /// A message at its other end: briefly, since it has been told when it was sent.
    fn taken(self, node: NodeId, sent: RecordId, end: &str) -> (Who, String) {
        if let Some(Record { fact: Fact::Sent { from, message, .. }, .. }) = self.trace.get(sent) {
            two(node, "<-", *from, format!("{}{end}", brief(message)))
        } else {
            one(node, format!("a message never sent{end}"))
        }
    }

    fn message(self, from: NodeId, message: &Message) -> String {
        match message {
            Message::Request(request) => self.request(from, request),
            Message::Response(response) => self.response(response),
        }
    }

    fn request(self, from: NodeId, request: &Request) -> String {
        match request {
            Request::Metadata { topics } => format!("metadata: {}", self.topics(topics)),
            Request::Join(join) => {
                let on_behalf = self.on_behalf(from, join.member);
                format!("join{on_behalf}: {}, session {}", self.topics(&join.topics), join.session_timeout)
            }
            Request::Heartbeat { member, generation } => {
                format!("heartbeat{}, {}", self.on_behalf(from, *member), in_words(*generation))
            }
            Request::Commit(commit) => self.commit(from, commit),
            Request::SimpleCommit { offsets } => format!("commit of no member: {}", self.offsets(offsets)),
            Request::Leave { member } => format!("leave{}", self.on_behalf(from, *member)),
        }
    }

    fn commit(self, from: NodeId, commit: &Commit) -> String {
        let on_behalf = self.on_behalf(from, commit.member);
        format!("commit{on_behalf}, {}: {}", in_words(commit.generation), self.offsets(&commit.offsets))
    }

    /// Names the member where it is not the sender: only a command by hand does that (decision 23).
    fn on_behalf(self, from: NodeId, member: MemberId) -> String {
        if NodeId::from(self.cast.member(member)) == from {
            String::new()
        } else {
            format!(" as {}", self.cast.member_name(member))
        }
    }

    fn response(self, response: &Response) -> String {
        match response {
            Response::Metadata(metadata) => self.metadata(metadata),
            Response::Join(Ok(joined)) => self.joined(joined),
            Response::Join(Err(_)) | Response::Heartbeat(_) | Response::Commit(_) | Response::Leave(_) => {
                answer(response)
            }
        }
    }

    fn metadata(self, metadata: &Metadata) -> String {
        let brokers: Vec<_> = metadata.brokers.iter().map(|broker| broker_name(*broker)).collect();
        let coordinator = metadata.coordinator.map_or_else(
            || "CoordinatorNotAvailable".to_owned(),
            |broker| format!("coordinator {}", broker_name(broker)),
        );
        format!("metadata answer: brokers {}; {}; {coordinator}", brokers.join(" "), self.counts(&metadata.topics))
    }

    fn joined(self, joined: &Joined) -> String {
        let (assignment, counts) = (self.offsets(&joined.assignment), self.counts(&joined.counts));
        let given = joined.given.map_or_else(String::new, |member| format!(" to {}", self.cast.member_name(member)));
        format!("join answer{given}, {}: {assignment} of {counts}", in_words(joined.generation))
    }

    fn formed(self, formed: &Formed) -> String {
        let mut shares = Vec::with_capacity(formed.assignment.len());
        for (member, partitions) in &formed.assignment {
            let partitions = self.partitions(partitions.iter().copied());
            shares.push(format!("{} gets {partitions}", self.cast.member_name(*member)));
        }
        if shares.is_empty() {
            shares.push("nobody".to_owned());
        }
        let (shares, counts) = (shares.join("; "), self.counts(&formed.counts));
        format!("new assignment, {}: {shares} (of {counts})", in_words(formed.generation))
    }

    fn verdict(self, verdict: &Verdict) -> String {
        let name = self.cast.member_name(verdict.commit.member);
        let Err(error) = verdict.outcome else { return format!("commit of {name}: passed") };
        let why = match error {
            CommitError::NotCoordinator => "this broker is not the coordinator".to_owned(),
            CommitError::UnknownMember => "no member of the group".to_owned(),
            CommitError::IllegalGeneration => {
                let current = verdict.current.map_or_else(|| "no generation".to_owned(), in_words);
                format!("{}, but in force is {current}", in_words(verdict.commit.generation))
            }
            CommitError::PartitionNotOwned => self.not_owned(verdict),
        };
        format!("commit of {name}: {}: {why}", error.name())
    }

    fn not_owned(self, verdict: &Verdict) -> String {
        let foreign = verdict.partitions.iter().filter(|(_, owner)| *owner != Some(verdict.commit.member));
        let told = foreign.map(|(partition, owner)| {
            let owner = owner.map_or("nobody".into(), |member| self.cast.member_name(member));
            format!("{} is {owner}'s", self.cast.partition(*partition))
        });
        told.collect::<Vec<_>>().join(", ")
    }

    fn rebalance(self, why: RebalanceReason) -> String {
        match why {
            RebalanceReason::NewMember(member) => format!("did not know {} before", self.cast.member_name(member)),
            RebalanceReason::SubscriptionChanged(member) => {
                format!("the subscription of {} has changed", self.cast.member_name(member))
            }
            RebalanceReason::Rejoined(member) => format!("{} joins again", self.cast.member_name(member)),
            RebalanceReason::MemberFailed(member) => format!("{} failed", self.cast.member_name(member)),
            RebalanceReason::MemberLeft(member) => format!("{} left", self.cast.member_name(member)),
            RebalanceReason::PartitionsChanged(topic) => {
                format!("the partitions of {} have changed", self.cast.topic(topic))
            }
            RebalanceReason::Reopened => "the one that was open goes on".to_owned(),
        }
    }

    fn topics(self, topics: &[TopicId]) -> String {
        let names: Vec<_> = topics.iter().map(|topic| self.cast.topic(*topic)).collect();
        if names.is_empty() { "nothing".to_owned() } else { names.join(" ") }
    }

    /// `orders:6 payments:2`.
    fn counts(self, counts: &[(TopicId, u32)]) -> String {
        let counts: Vec<_> =
            counts.iter().map(|(topic, count)| format!("{}:{count}", self.cast.topic(*topic))).collect();
        if counts.is_empty() { "no topics".to_owned() } else { counts.join(" ") }
    }

    /// `orders 0-2 5, payments 0`.
    fn partitions(self, partitions: impl IntoIterator<Item = Partition>) -> String {
        self.runs(partitions.into_iter().map(|partition| (partition, None)))
    }

    /// `orders 0@40 1-2@0`.
    fn offsets(self, offsets: &[(Partition, Offset)]) -> String {
        self.runs(offsets.iter().map(|(partition, offset)| (*partition, Some(*offset))))
    }

    /// Partitions grouped by topic, neighbours at the same offset drawn together.
    fn runs(self, partitions: impl Iterator<Item = (Partition, Option<Offset>)>) -> String {
        let mut out = String::new();
        let mut topic = None;
        let mut partitions = partitions.peekable();
        while let Some((first, offset)) = partitions.next() {
            let mut last = first.index;
            while let Some((next, _)) = partitions.next_if(|(next, next_offset)| {
                next.topic == first.topic && last.checked_add(1) == Some(next.index) && *next_offset == offset
            }) {
                last = next.index;
            }
            if topic != Some(first.topic) {
                out.push_str(if topic.is_some() { ", " } else { "" });
                out.push_str(self.cast.topic(first.topic));
                topic = Some(first.topic);
            }
            push_run(&mut out, first.index, last, offset);
        }
        if out.is_empty() { "nothing".to_owned() } else { out }
    }
}

fn push_run(out: &mut String, first: u32, last: u32, offset: Option<Offset>) {
    // Writing to a string does not fail.
    let _ = write!(out, " {first}");
    if last != first {
        let _ = write!(out, "-{last}");
    }
    if let Some(Offset(offset)) = offset {
        let _ = write!(out, "@{offset}");
    }
}

/// `generation 3`, with epoch and life where they are not those of a group's first coordinator and first life.
fn in_words(generation: Generation) -> String {
    let Generation { epoch, life, number } = generation;
    match (epoch.0, life, number) {
        (0, 0, 0) => "no generation".to_owned(),
        (0, 1, number) => format!("generation {number}"),
        (0, life, number) => format!("generation {number} (life {life})"),
        (epoch, life, number) => format!("generation {number} (life {life}, epoch {epoch})"),
    }
}

/// What a message is, without its lists.
fn brief(message: &Message) -> String {
    match message {
        Message::Request(_) => message.kind().word().to_owned(),
        Message::Response(response) => answer(response),
    }
}

fn answer(response: &Response) -> String {
    match response {
        Response::Metadata(_) => "metadata answer".to_owned(),
        Response::Join(Ok(_)) => "join answer".to_owned(),
        Response::Join(Err(error)) => format!("join answer: {}", error.name()),
        Response::Heartbeat(Ok(())) => "heartbeat answer".to_owned(),
        Response::Heartbeat(Err(error)) => format!("heartbeat answer: {}", error.name()),
        Response::Commit(Ok(())) => "commit answer".to_owned(),
        Response::Commit(Err(error)) => format!("commit answer: {}", error.name()),
        Response::Leave(Ok(())) => "leave answer".to_owned(),
        Response::Leave(Err(error)) => format!("leave answer: {}", error.name()),
    }
}

const fn channel_end(why: ChannelEnd) -> &'static str {
    match why {
        ChannelEnd::ByThisEnd => "closed by this end",
        ChannelEnd::ByPeer => "closed by the other end",
        ChannelEnd::Reset => "is unknown to the other end: closed",
        ChannelEnd::Refused => "refused: nobody listens",
    }
}

const fn coordinator_failure(why: CoordinatorFailure) -> &'static str {
    match why {
        CoordinatorFailure::NoAnswer => "no answer to a heartbeat",
        CoordinatorFailure::ChannelClosed => "its channel is closed",
        CoordinatorFailure::JoinTimeout => "no answer to the join",
        CoordinatorFailure::RequestTimeout => "no answer to a request",
        CoordinatorFailure::NotCoordinator => "it says that it is not the coordinator",
    }
}

const fn drop_reason(why: DropReason) -> &'static str {
    match why {
        DropReason::NoLongerOwned => "no longer owned",
        DropReason::RefusedAgain => "refused again",
        DropReason::NoAnswer => "no answer",
        DropReason::Stopped => "stopped before the retry",
    }
}

const fn removal(why: RemovalReason) -> &'static str {
    match why {
        RemovalReason::SessionExpired => "not heard from for a session",
        RemovalReason::JoinMissing => "its join has not come",
        RemovalReason::Left => "it left",
        RemovalReason::NeverNamed => "its consumer never learned of this id",
    }
}
