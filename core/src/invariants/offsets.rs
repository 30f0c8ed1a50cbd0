//! Invariant 4: the offset log holds only commits that passed OC1 to OC3 at the moment of appending, each refused
//! commit leaves no trace there, and no committed offset goes back while consumers commit their own positions.
//!
//! A commit that was under way on a channel when its consumer gave that up may be taken after one that the consumer
//! sent later on its next channel, and takes the offset back. The protocol allows it: it is a finding, no violation.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::model::{Group, Model};
use super::{Event, Findings, Invariant, Violation};
use crate::error::CommitError;
use crate::id::{ConnectionId, ConsumerId, Generation, MemberId, NodeId, Offset, Partition, RecordId};
use crate::message::{Commit, Message, Offsets, Request, Response};
use crate::offsets::Verdict;
use crate::scenario::{CommitPlan, Dialect, Order, Plan};
use crate::time::Time;
use crate::trace::Fact;

/// The log as it must be, and the commits on their way into it.
#[derive(Clone, Debug)]
pub(super) struct OffsetLog {
    committed: BTreeMap<Partition, Entry>,
    /// What the plan makes consumers commit by hand (decision 23).
    by_hand: Vec<(Time, ConsumerId, CommitPlan)>,
    /// The commit that passed and is to be appended before anything else is checked or answered.
    passed: Option<Passed>,
    /// What the check of each commit not yet answered came to, by the record that sent it.
    outcomes: BTreeMap<RecordId, Result<(), CommitError>>,
    dialect: Dialect,
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    offset: Offset,
    source: Source,
}

/// Where a committed offset comes from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Source {
    /// A consumer's own position, sent on a channel.
    OwnPosition { request: RecordId, connection: ConnectionId },
    /// A command, or nothing that was sent.
    ByHand,
}

impl Source {
    /// Whether a committed offset from this source may go back to one from `next`.
    fn may_go_back_to(self, next: Self) -> bool {
        match (self, next) {
            (Self::ByHand, _) | (_, Self::ByHand) => true,
            (Self::OwnPosition { request, connection }, Self::OwnPosition { request: late, connection: left }) => {
                late < request && left != connection
            }
        }
    }
}

#[derive(Clone, Debug)]
struct Passed {
    at: Time,
    check: RecordId,
    request: RecordId,
    commit: Arc<Commit>,
}

impl OffsetLog {
    pub(super) fn new(plan: &Plan) -> Self {
        let by_hand = plan.orders.iter().filter_map(|(at, order)| {
            let Order::Commit(consumer, commit) = order else { return None };
            let is_own = commit.offsets.is_none() && commit.generation.is_none() && commit.member.is_none();
            (!is_own).then(|| (*at, *consumer, commit.clone()))
        });
        Self {
            committed: BTreeMap::new(),
            by_hand: by_hand.collect(),
            passed: None,
            outcomes: BTreeMap::new(),
            dialect: plan.settings.dialect,
        }
    }

    pub(super) fn observe(&mut self, event: &Event<'_>, model: &Model, findings: &mut Findings) {
        let wrong = if let Fact::CommitChecked { broker, verdict } = event.fact() {
            self.finish(findings);
            self.checked(event, verdict, model.view(*broker))
        } else if let Fact::OffsetsAppended { broker, member: None, offsets, .. } = event.fact() {
            self.stored(event, offsets, model.view(*broker))
        } else if let Fact::OffsetsAppended { member: Some(member), offsets, backwards, .. } = event.fact() {
            self.appended(event, *member, offsets, *backwards, model.group())
        } else if let Fact::Sent { message: Message::Response(response), answers, .. } = event.fact() {
            match response {
                Response::Commit(outcome) => {
                    self.finish(findings);
                    answers.and_then(|request| self.answered(event, request.id(), *outcome))
                }
                Response::Join(Ok(joined)) => self.wrong_start(event, &joined.assignment),
                Response::Join(Err(_)) | Response::Metadata(_) | Response::Heartbeat(_) | Response::Leave(_) => None,
            }
        } else {
            None
        };
        if let Some(wrong) = wrong {
            findings.add(Invariant::OnlyCheckedCommits, event, wrong);
        }
    }

    /// A commit that passed was to be appended by now.
    pub(super) fn finish(&mut self, findings: &mut Findings) {
        if let Some(passed) = self.passed.take() {
            let (invariant, at) = (Invariant::OnlyCheckedCommits, passed.at);
            let message = "a commit passed the check and is not appended".to_owned();
            findings.push(Violation { invariant, at, record: Some(passed.check), message });
        }
    }

    fn checked(&mut self, event: &Event<'_>, verdict: &Verdict, group: &Group) -> Option<String> {
        let Some((request, commit)) = commit_behind(event) else {
            return Some("a commit is checked that nobody has sent".to_owned());
        };
        if *commit != verdict.commit {
            return Some("another commit is checked than was sent".to_owned());
        }
        let expected = self.expected_outcome(commit, group);
        self.outcomes.insert(request, verdict.outcome);
        if verdict.outcome.is_ok() {
            let (at, check, commit) = (event.at(), event.id, Arc::clone(commit));
            self.passed = Some(Passed { at, check, request, commit });
        }
        if verdict.outcome != expected {
            return Some(format!("the check comes to {:?} instead of {expected:?}", verdict.outcome));
        }
        wrong_values(verdict, group)
    }

    fn appended(
        &mut self,
        event: &Event<'_>,
        member: MemberId,
        offsets: &Offsets,
        backwards: u32,
        group: &Group,
    ) -> Option<String> {
        let name = event.trace.cast().member_name(member);
        let source = match &self.passed {
            Some(passed) => self.source(event, passed.request),
            None => Source::ByHand,
        };
        let gone_back = self.append(offsets, source);
        let Some(passed) = self.passed.take() else {
            return Some(format!("offsets of {name} are appended without a check that they passed"));
        };
        if passed.commit.member != member || passed.commit.offsets != *offsets {
            return Some(format!("other offsets of {name} are appended than were checked"));
        }
        if let Err(error) = self.expected_outcome(&passed.commit, group) {
            return Some(format!("offsets of {name} are appended, but the commit is to be refused: {}", error.name()));
        }
        if gone_back.all != backwards {
            return Some(format!("{} committed offsets went back, on record are {backwards}", gone_back.all));
        }
        let partition = gone_back.of_own_position?;
        Some(format!("the committed offset of {} goes back", event.trace.cast().partition(partition)))
    }

    /// In Kafka's dialect a commit of no member is stored where there is no group (decision 24).
    fn stored(&mut self, event: &Event<'_>, offsets: &Offsets, group: &Group) -> Option<String> {
        self.append(offsets, Source::ByHand);
        let taken = event.record.cause.and_then(|cause| event.trace.get(cause.id()));
        let request =
            taken.and_then(|record| if let Fact::Received { sent, .. } = record.fact { Some(sent) } else { None });
        let asked = request.and_then(|request| simple_commit(event, request));
        if self.dialect == Dialect::Document || group.current().is_some() {
            return Some("a commit of no member is stored, though commits are checked".to_owned());
        }
        if asked != Some(offsets) {
            return Some("offsets of no member are stored that nobody has sent".to_owned());
        }
        self.outcomes.extend(request.map(|request| (request, Ok(()))));
        None
    }

    fn append(&mut self, offsets: &Offsets, source: Source) -> GoneBack {
        let mut gone_back = GoneBack { all: 0, of_own_position: None };
        for (partition, offset) in offsets.iter() {
            let before = self.committed.insert(*partition, Entry { offset: *offset, source });
            if let Some(before) = before.filter(|before| before.offset > *offset) {
                gone_back.all += 1;
                if !before.source.may_go_back_to(source) {
                    gone_back.of_own_position = Some(*partition);
                }
            }
        }
        gone_back
    }

    fn source(&self, event: &Event<'_>, request: RecordId) -> Source {
        let Some(packet) = event.packet(request) else { return Source::ByHand };
        let Message::Request(Request::Commit(commit)) = packet.message else { return Source::ByHand };
        let sent_at = event.trace[request].at;
        let is_by_hand = self.by_hand.iter().any(|(at, consumer, plan)| {
            NodeId::from(*consumer) == packet.from
                && *at <= sent_at
                && plan.member.is_none_or(|member| member == commit.member)
                && plan.generation.is_none_or(|number| number == commit.generation.number)
                && plan.offsets.as_ref().is_none_or(|offsets| *offsets == commit.offsets)
        });
        if is_by_hand { Source::ByHand } else { Source::OwnPosition { request, connection: packet.connection } }
    }

    /// OC1 to OC3 from what the trace says of the group.
    fn expected_outcome(&self, commit: &Commit, group: &Group) -> Result<(), CommitError> {
        if group.current().is_none() && self.dialect == Dialect::Kafka2015 {
            Err(CommitError::IllegalGeneration)
        } else if !group.members.contains(&commit.member) {
            Err(CommitError::UnknownMember)
        } else if group.current() != Some(commit.generation) {
            Err(CommitError::IllegalGeneration)
        } else if commit.offsets.iter().any(|(partition, _)| group.owner(*partition) != Some(commit.member)) {
            Err(CommitError::PartitionNotOwned)
        } else {
            Ok(())
        }
    }

    fn answered(&mut self, event: &Event<'_>, request: RecordId, answer: Result<(), CommitError>) -> Option<String> {
        match (self.outcomes.remove(&request), answer) {
            (Some(outcome), answer) if outcome == answer => None,
            (Some(outcome), answer) => Some(format!("a commit whose check came to {outcome:?} is answered {answer:?}")),
            (None, Err(CommitError::NotCoordinator)) => None,
            (None, Err(CommitError::UnknownMember)) if simple_commit(event, request).is_some() => None,
            (None, answer) => Some(format!("a commit is answered {answer:?} without a check")),
        }
    }

    /// The answer to a join carries the committed offset of each partition, 0 without one (decision 11).
    fn wrong_start(&self, event: &Event<'_>, assignment: &Offsets) -> Option<String> {
        let committed = |partition| self.committed.get(&partition).map_or(Offset(0), |entry| entry.offset);
        let (partition, _) = assignment.iter().find(|(partition, offset)| committed(*partition) != *offset)?;
        let name = event.trace.cast().partition(*partition);
        Some(format!("an answer to a join has {name} start elsewhere than at its committed offset"))
    }
}

struct GoneBack {
    all: u32,
    /// One that went back from a consumer's own position to an earlier one, and not as a late commit may.
    of_own_position: Option<Partition>,
}

/// The values that a verdict shows are the true ones.
fn wrong_values(verdict: &Verdict, group: &Group) -> Option<String> {
    let current: Option<Generation> = group.current();
    if verdict.is_member != group.members.contains(&verdict.commit.member) {
        return Some("the check has the membership wrong".to_owned());
    }
    if verdict.current != current {
        return Some(format!("the check takes {:?} for the generation in force, not {current:?}", verdict.current));
    }
    let owners = verdict.commit.offsets.iter().map(|(partition, _)| (*partition, group.owner(*partition)));
    if !owners.eq(verdict.partitions.iter().copied()) {
        return Some("the check has an owner wrong".to_owned());
    }
    None
}

/// The commit in whose handling a record was made, with the record that sent it.
fn commit_behind<'a>(event: &Event<'a>) -> Option<(RecordId, &'a Arc<Commit>)> {
    let taken = event.trace.get(event.record.cause?.id())?;
    let Fact::Received { sent, .. } = taken.fact else { return None };
    let packet = event.packet(sent)?;
    if let Message::Request(Request::Commit(commit)) = packet.message { Some((sent, commit)) } else { None }
}

/// The offsets of a commit of no member.
fn simple_commit<'a>(event: &Event<'a>, sent: RecordId) -> Option<&'a Offsets> {
    let packet = event.packet(sent)?;
    if let Message::Request(Request::SimpleCommit { offsets }) = packet.message { Some(offsets) } else { None }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use crate::error::CommitError;
    use crate::id::{ConnectionId, RecordId};
    use crate::invariants::Invariant::OnlyCheckedCommits;
    use crate::invariants::check;
    use crate::invariants::tests::{expect_broken, expect_sound, plan};
    use crate::message::{Commit, Message, Offsets, Request, Response};
    use crate::offsets::{self, Verdict};
    use crate::scenario::{Dialect, Plan};
    use crate::script::{self, B1, C1, C2, C3, ORDERS, Script};
    use crate::trace::{Fact, RebalanceReason, RemovalReason};

    /// C1 commits in a generation; the record that takes it, and the commit.
    fn committing(script: &mut Script, number: u32, offsets: &Offsets) -> (RecordId, Arc<Commit>) {
        let commit = script::commit(C1, number, offsets);
        let sent = script.ask(C1, Request::Commit(Arc::clone(&commit)));
        (script.take(sent), commit)
    }

    fn judge(script: &mut Script, taken: RecordId, verdict: Verdict) {
        script.because(Some(taken), Fact::CommitChecked { broker: B1, verdict: Arc::new(verdict) });
    }

    fn append(script: &mut Script, offsets: &Offsets, backwards: u32) {
        let (broker, member, offsets) = (B1, script::member(C1), Arc::clone(offsets));
        script.fact(Fact::OffsetsAppended { broker, member: Some(member), offsets, backwards });
    }

    fn reply(script: &mut Script, taken: RecordId, outcome: Result<(), CommitError>) {
        let Fact::Received { sent, .. } = script.trace[taken].fact else { panic!("{taken:?} took nothing") };
        script.answer(sent, Response::Commit(outcome));
    }

    /// A verdict as a coordinator gives it that holds generation 2, with C1 the owner of all.
    fn passing(commit: &Arc<Commit>) -> Verdict {
        offsets::check(commit, true, Some(script::generation(2)), |_| Some(script::member(C1)))
    }

    /// C1 commits as it may.
    fn accepted(script: &mut Script, offsets: &Offsets, backwards: u32) {
        let (taken, commit) = committing(script, 2, offsets);
        judge(script, taken, passing(&commit));
        append(script, offsets, backwards);
        reply(script, taken, Ok(()));
    }

    #[test]
    fn an_accepted_commit_is_sound() {
        let mut script = Script::two_members();
        accepted(&mut script, &script::at_offset(0, 10), 0);
        accepted(&mut script, &script::at_offset(0, 10), 0);
        accepted(&mut script, &script::at_offset(0, 11), 0);
        expect_sound(&script);
    }

    #[test]
    fn a_refused_commit_is_sound() {
        let mut script = Script::two_members();
        let (taken, commit) = committing(&mut script, 1, &script::at_offset(0, 10));
        judge(&mut script, taken, passing(&commit));
        reply(&mut script, taken, Err(CommitError::IllegalGeneration));
        expect_sound(&script);
    }

    #[test]
    fn commits_let_through_are_found() {
        let foreign = script::at_offset(2, 10);
        let own = script::at_offset(0, 10);
        for (number, offsets, error) in [(1, &own, "IllegalGeneration"), (2, &foreign, "PartitionNotOwned")] {
            let mut script = Script::two_members();
            let (taken, commit) = committing(&mut script, number, offsets);
            judge(&mut script, taken, Verdict { outcome: Ok(()), ..passing(&commit) });
            expect_broken(&script, OnlyCheckedCommits, &format!("instead of Err({error})"));
            append(&mut script, offsets, 0);
            expect_broken(&script, OnlyCheckedCommits, &format!("is to be refused: {error}"));
        }
    }

    #[test]
    fn a_commit_of_a_removed_member_let_through_is_found() {
        let mut script = Script::two_members();
        let (broker, member) = (B1, script::member(C1));
        script.fact(Fact::MemberRemoved { broker, member, why: RemovalReason::SessionExpired });
        let (taken, commit) = committing(&mut script, 2, &script::at_offset(0, 10));
        judge(&mut script, taken, passing(&commit));
        expect_broken(&script, OnlyCheckedCommits, "instead of Err(UnknownMember)");
    }

    #[test]
    fn a_commit_that_a_rebalance_overtook_is_found() {
        let mut script = Script::two_members();
        let offsets = script::at_offset(0, 10);
        let (taken, commit) = committing(&mut script, 2, &offsets);
        judge(&mut script, taken, passing(&commit));
        script.rebalance(RebalanceReason::Rejoined(script::member(C1)));
        script.rejoin(C1, &[ORDERS]);
        script.rejoin(C2, &[ORDERS]);
        script.form(script::shares(3, 4, &[(C1, &[0, 1]), (C2, &[2, 3])]));
        append(&mut script, &offsets, 0);
        expect_broken(&script, OnlyCheckedCommits, "is to be refused: IllegalGeneration");
    }

    #[test]
    fn a_good_commit_refused_is_found() {
        let mut script = Script::two_members();
        let (taken, commit) = committing(&mut script, 2, &script::at_offset(0, 10));
        judge(&mut script, taken, Verdict { outcome: Err(CommitError::PartitionNotOwned), ..passing(&commit) });
        expect_broken(&script, OnlyCheckedCommits, "instead of Ok(())");
    }

    #[test]
    fn wrong_values_in_a_verdict_are_found() {
        let mut script = Script::two_members();
        let (taken, commit) = committing(&mut script, 1, &script::at_offset(0, 10));
        let verdict = passing(&commit);
        let foreign = vec![(commit.offsets[0].0, Some(script::member(C2)))];
        for (verdict, what) in [
            (Verdict { is_member: false, ..verdict.clone() }, "the membership wrong"),
            (Verdict { current: None, ..verdict.clone() }, "for the generation in force"),
            (Verdict { partitions: foreign, ..verdict }, "an owner wrong"),
        ] {
            let mut script = script.clone();
            judge(&mut script, taken, verdict);
            expect_broken(&script, OnlyCheckedCommits, what);
        }
    }

    #[test]
    fn a_check_of_nothing_or_of_something_else_is_found() {
        let mut script = Script::two_members();
        let (taken, commit) = committing(&mut script, 2, &script::at_offset(0, 10));
        let verdict = passing(&script::commit(C1, 2, &script::at_offset(0, 11)));
        let mut other = script.clone();
        judge(&mut other, taken, verdict);
        expect_broken(&other, OnlyCheckedCommits, "another commit is checked");
        script.fact(Fact::CommitChecked { broker: B1, verdict: Arc::new(passing(&commit)) });
        expect_broken(&script, OnlyCheckedCommits, "that nobody has sent");
    }

    #[test]
    fn offsets_appended_without_a_check_are_found() {
        let mut script = Script::two_members();
        append(&mut script, &script::at_offset(0, 10), 0);
        expect_broken(&script, OnlyCheckedCommits, "without a check");
    }

    #[test]
    fn other_offsets_than_checked_are_found() {
        let mut script = Script::two_members();
        let (taken, commit) = committing(&mut script, 2, &script::at_offset(0, 10));
        judge(&mut script, taken, passing(&commit));
        append(&mut script, &script::at_offset(0, 11), 0);
        expect_broken(&script, OnlyCheckedCommits, "than were checked");
    }

    #[test]
    fn a_passed_commit_that_is_not_appended_is_found() {
        let mut script = Script::two_members();
        let (taken, commit) = committing(&mut script, 2, &script::at_offset(0, 10));
        judge(&mut script, taken, passing(&commit));
        expect_broken(&script, OnlyCheckedCommits, "is not appended");
        reply(&mut script, taken, Ok(()));
        expect_broken(&script, OnlyCheckedCommits, "is not appended");
    }

    #[test]
    fn an_answer_other_than_the_check_is_found() {
        let mut script = Script::two_members();
        let (taken, commit) = committing(&mut script, 1, &script::at_offset(0, 10));
        let mut unchecked = script.clone();
        reply(&mut unchecked, taken, Ok(()));
        expect_broken(&unchecked, OnlyCheckedCommits, "without a check");
        judge(&mut script, taken, passing(&commit));
        reply(&mut script, taken, Ok(()));
        expect_broken(&script, OnlyCheckedCommits, "is answered Ok(())");
    }

    #[test]
    fn an_offset_that_goes_back_is_found() {
        let mut script = Script::two_members();
        accepted(&mut script, &script::at_offset(0, 10), 0);
        accepted(&mut script, &script::at_offset(0, 9), 1);
        expect_broken(&script, OnlyCheckedCommits, "the committed offset of orders-0 goes back");
    }

    #[test]
    fn an_offset_that_goes_back_by_hand_is_sound() {
        let mut script = Script::two_members();
        accepted(&mut script, &script::at_offset(0, 10), 0);
        // The plan of these tests has C1 commit this by hand.
        accepted(&mut script, &crate::invariants::tests::by_hand(), 1);
        accepted(&mut script, &script::at_offset(0, 12), 0);
        expect_sound(&script);
    }

    #[test]
    fn a_late_commit_of_a_channel_given_up_may_go_back() {
        let mut script = Script::two_members();
        let late = script::commit(C1, 2, &script::at_offset(0, 9));
        let sent = script.ask(C1, Request::Commit(Arc::clone(&late)));
        let next = ConnectionId(7);
        script.fact(Fact::ChannelOpening { connection: next, consumer: C1, broker: B1 });
        script.fact(Fact::ChannelOpened { connection: next, consumer: C1, broker: B1 });
        let commit = script::commit(C1, 2, &script::at_offset(0, 10));
        let request = script.fact(Fact::Sent {
            from: C1.into(),
            to: B1.into(),
            connection: next,
            arrives: script.now(),
            answers: None,
            message: Message::Request(Request::Commit(Arc::clone(&commit))),
        });
        for (request, commit, backwards) in [(request, commit, 0), (sent, late, 1)] {
            let taken = script.take(request);
            judge(&mut script, taken, passing(&commit));
            append(&mut script, &commit.offsets, backwards);
            reply(&mut script, taken, Ok(()));
        }
        expect_sound(&script);
    }

    #[test]
    fn a_commit_of_no_member_is_refused_in_the_documents_dialect() {
        let mut script = Script::two_members();
        let offsets = script::at_offset(0, 10);
        let sent = script.ask(C1, Request::SimpleCommit { offsets: Arc::clone(&offsets) });
        let taken = script.take(sent);
        let mut refused = script.clone();
        refused.answer(sent, Response::Commit(Err(CommitError::UnknownMember)));
        expect_sound(&refused);
        let mut accepted = script.clone();
        accepted.answer(sent, Response::Commit(Ok(())));
        expect_broken(&accepted, OnlyCheckedCommits, "without a check");
        let fact = Fact::OffsetsAppended { broker: B1, member: None, offsets, backwards: 0 };
        script.because(Some(taken), fact);
        expect_broken(&script, OnlyCheckedCommits, "though commits are checked");
    }

    #[test]
    fn kafka_stores_a_commit_of_no_member_where_there_is_no_group() {
        let mut plan = Plan::clone(&plan());
        plan.settings.dialect = Dialect::Kafka2015;
        let mut script = Script::new();
        script.fact(Fact::ProcessStarted { node: B1.into() });
        script.fact(Fact::ProcessStarted { node: C1.into() });
        script.open(C1);
        let offsets = script::at_offset(0, 10);
        let sent = script.ask(C1, Request::SimpleCommit { offsets: Arc::clone(&offsets) });
        let taken = script.take(sent);
        let mut other = script.clone();
        script.because(Some(taken), Fact::OffsetsAppended { broker: B1, member: None, offsets, backwards: 0 });
        script.answer(sent, Response::Commit(Ok(())));
        assert_eq!(check(&plan, &script.trace, script.now()), []);
        let offsets = script::at_offset(0, 11);
        other.because(Some(taken), Fact::OffsetsAppended { broker: B1, member: None, offsets, backwards: 0 });
        let found = check(&plan, &other.trace, other.now());
        assert!(found.iter().any(|violation| violation.message.contains("that nobody has sent")), "{found:?}");
    }

    #[test]
    fn a_wrong_count_of_offsets_gone_back_is_found() {
        let mut script = Script::two_members();
        accepted(&mut script, &script::at_offset(0, 10), 1);
        expect_broken(&script, OnlyCheckedCommits, "on record are 1");
    }

    #[test]
    fn a_start_elsewhere_than_committed_is_found() {
        let mut script = Script::two_members();
        accepted(&mut script, &script::at_offset(0, 10), 0);
        script.added(C3);
        script.rebalance(RebalanceReason::NewMember(script::member(C3)));
        let join = script.arrive(C3, &[ORDERS]);
        script.rejoin(C1, &[ORDERS]);
        script.rejoin(C2, &[ORDERS]);
        script.form(script::shares(3, 4, &[(C1, &[1]), (C2, &[2, 3]), (C3, &[0])]));
        script.answer(join, script::joined(3, &[0]));
        expect_broken(&script, OnlyCheckedCommits, "has orders-0 start elsewhere");
    }
}
