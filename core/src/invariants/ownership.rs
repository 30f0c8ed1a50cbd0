//! Invariant 1: in each generation no partition has two owners, every partition of a subscribed topic has one, and
//! nobody owns what it did not subscribe to; what each member is told is its share of that.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::model::{Group, Model};
use super::{Event, Findings, Invariant};
use crate::cast::Cast;
use crate::error::JoinError;
use crate::id::{MemberId, Partition, RecordId, TopicId};
use crate::message::{Joined, Message, Request, Response, Topics};
use crate::trace::{Fact, Formed, Record};

/// For each member the joins that have come since one was last answered well, with that one; the last of them says to
/// what the member subscribes.
#[derive(Clone, Default, Debug)]
pub(super) struct Ownership {
    joins: BTreeMap<MemberId, Vec<(RecordId, Topics)>>,
    /// For each join not answered yet its member, which may have got its id with it (decision 16).
    members: BTreeMap<RecordId, MemberId>,
}

impl Ownership {
    pub(super) fn observe(&mut self, event: &Event<'_>, model: &Model, findings: &mut Findings) {
        if let Fact::Received { sent, .. } = event.fact() {
            self.received(event, *sent);
        } else if let Fact::MemberAdded { member, .. } = event.fact() {
            self.named(event, *member);
        } else if let Fact::Sent { from, message: Message::Response(Response::Join(outcome)), answers, .. } =
            event.fact()
        {
            let Some(request) = answers.map(|cause| cause.id()) else { return };
            let group = from.broker().map_or(model.group(), |broker| model.view(broker));
            if let Ok(joined) = outcome
                && let Some(wrong) = self.wrong_share(event, request, joined, group)
            {
                findings.add(Invariant::OneOwner, event, wrong);
            }
            self.answered(request, outcome);
        } else if let Fact::AssignmentComputed { broker, formed } = event.fact() {
            for wrong in self.wrong_in(formed, model.view(*broker), event.trace.cast()) {
                findings.add(Invariant::OneOwner, event, wrong);
            }
        }
    }

    fn received(&mut self, event: &Event<'_>, sent: RecordId) {
        if let Some((member, topics)) = join_of(event, sent) {
            self.joins.entry(member).or_default().push((sent, topics));
            self.members.insert(sent, member);
        }
    }

    /// A member is added on account of a join: whatever name that came with, it is this member's.
    fn named(&mut self, event: &Event<'_>, member: MemberId) {
        let cause = event.record.cause.and_then(|cause| event.trace.get(cause.id()));
        let Some(Record { fact: Fact::Received { sent, .. }, .. }) = cause else { return };
        let Some(name) = self.members.insert(*sent, member) else { return };
        let Some(joins) = self.joins.get_mut(&name).filter(|_| name != member) else { return };
        let Some(place) = joins.iter().position(|(request, _)| request == sent) else { return };
        let join = joins.remove(place);
        self.joins.entry(member).or_default().push(join);
    }

    /// A join that was refused has changed nothing; one that was answered well makes the earlier ones history.
    fn answered(&mut self, request: RecordId, outcome: &Result<Arc<Joined>, JoinError>) {
        let Some(joins) = self.members.remove(&request).and_then(|member| self.joins.get_mut(&member)) else { return };
        match outcome {
            Ok(_) => joins.retain(|(sent, _)| *sent >= request),
            Err(_) => joins.retain(|(sent, _)| *sent != request),
        }
    }

    /// A member is told of the generation in force, and of exactly its share of it.
    fn wrong_share(&self, event: &Event<'_>, request: RecordId, joined: &Joined, group: &Group) -> Option<String> {
        let (name, _) = join_of(event, request)?;
        let member = joined.given.or(self.members.get(&request).copied()).unwrap_or(name);
        let name = event.trace.cast().member_name(member);
        let Some(formed) = &group.formed else {
            return Some(format!("{name} is told of {:?}, but none is in force", joined.generation));
        };
        if formed.generation != joined.generation {
            return Some(format!("{name} is told of {:?}, but in force is {:?}", joined.generation, formed.generation));
        }
        let share = formed.assignment.iter().find(|(id, _)| *id == member).map(|(_, partitions)| partitions.iter());
        let told = joined.assignment.iter().map(|(partition, _)| partition);
        if share.is_some_and(|share| share.eq(told)) {
            return None;
        }
        Some(format!("{name} is told of other partitions than it was assigned"))
    }

    fn wrong_in(&self, formed: &Formed, group: &Group, cast: &Cast) -> Vec<String> {
        let mut wrong = wrong_members(formed, group);
        let subscriptions: BTreeMap<_, _> = formed.subscriptions.iter().map(|(id, topics)| (*id, topics)).collect();
        for (member, topics) in &subscriptions {
            let told = self.joins.get(member).and_then(|joins| joins.last());
            if told.is_none_or(|(_, told)| told != *topics) {
                let name = cast.member_name(*member);
                wrong.push(format!("the subscription of {name} is not the one of its last join"));
            }
        }
        let counts: BTreeMap<_, _> = formed.counts.iter().copied().collect();
        wrong.extend(wrong_owners(formed, &subscriptions, &counts, cast));
        wrong
    }
}

fn join_of(event: &Event<'_>, sent: RecordId) -> Option<(MemberId, Topics)> {
    let packet = event.packet(sent)?;
    if let Message::Request(Request::Join(join)) = packet.message {
        Some((join.member, join.topics.clone()))
    } else {
        None
    }
}

fn wrong_members(formed: &Formed, group: &Group) -> Vec<String> {
    let assigned: BTreeSet<_> = formed.assignment.iter().map(|(member, _)| *member).collect();
    let subscribed: BTreeSet<_> = formed.subscriptions.iter().map(|(member, _)| *member).collect();
    let mut wrong = Vec::new();
    if assigned != subscribed {
        wrong.push("not the same members are assigned to as subscribe".to_owned());
    }
    if assigned != group.members {
        wrong.push("not the same members are assigned to as are in the group".to_owned());
    }
    wrong
}

fn wrong_owners(
    formed: &Formed,
    subscriptions: &BTreeMap<MemberId, &Topics>,
    counts: &BTreeMap<TopicId, u32>,
    cast: &Cast,
) -> Vec<String> {
    let mut wrong = Vec::new();
    let mut owners: BTreeMap<Partition, MemberId> = BTreeMap::new();
    for (member, partitions) in &formed.assignment {
        let name = cast.member_name(*member);
        let subscription = subscriptions.get(member);
        for partition in partitions.iter() {
            let label = cast.partition(*partition);
            if let Some(other) = owners.insert(*partition, *member) {
                wrong.push(format!("{label} belongs to {} and to {name}", cast.member_name(other)));
            }
            if !subscription.is_some_and(|topics| topics.contains(&partition.topic)) {
                wrong.push(format!("{label} belongs to {name}, which does not subscribe to it"));
            }
            if counts.get(&partition.topic).is_none_or(|count| partition.index >= *count) {
                wrong.push(format!("{label} belongs to {name} and does not exist"));
            }
        }
    }
    wrong.extend(unowned(subscriptions, counts, &owners, cast));
    wrong
}

fn unowned(
    subscriptions: &BTreeMap<MemberId, &Topics>,
    counts: &BTreeMap<TopicId, u32>,
    owners: &BTreeMap<Partition, MemberId>,
    cast: &Cast,
) -> Vec<String> {
    let subscribed: BTreeSet<TopicId> = subscriptions.values().flat_map(|topics| topics.iter().copied()).collect();
    let mut wrong = Vec::new();
    for topic in subscribed {
        let Some(count) = counts.get(&topic) else {
            wrong.push(format!("the partitions of {} were not counted", cast.topic(topic)));
            continue;
        };
        let mut all = (0..*count).map(|index| Partition { topic, index });
        if let Some(partition) = all.find(|partition| !owners.contains_key(partition)) {
            wrong.push(format!("{} belongs to nobody", cast.partition(partition)));
        }
    }
    wrong
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use crate::invariants::Invariant::OneOwner;
    use crate::invariants::tests::{expect_broken, expect_sound};
    use crate::script::{self, B1, C1, C2, C3, ORDERS, PAYMENTS, Script};
    use crate::trace::{Fact, Formed, RebalanceReason};

    /// C1 and C2 have joined for a third generation, which is `formed`.
    fn forming(formed: Formed) -> Script {
        let mut script = Script::two_members();
        script.give_up(C1, &[0, 1]);
        script.give_up(C2, &[2, 3]);
        script.rejoin(C1, &[ORDERS]);
        script.rebalance(RebalanceReason::Rejoined(script::member(C1)));
        script.rejoin(C2, &[ORDERS]);
        script.form(formed);
        script
    }

    #[test]
    fn a_fair_generation_is_sound() {
        expect_sound(&forming(script::shares(3, 4, &[(C1, &[0, 1]), (C2, &[2, 3])])));
    }

    #[test]
    fn two_owners_are_found() {
        let script = forming(script::shares(3, 4, &[(C1, &[0, 1, 2]), (C2, &[2, 3])]));
        expect_broken(&script, OneOwner, "orders-2 belongs to C1 and to C2");
    }

    #[test]
    fn a_partition_of_nobody_is_found() {
        let script = forming(script::shares(3, 4, &[(C1, &[0, 1]), (C2, &[3])]));
        expect_broken(&script, OneOwner, "orders-2 belongs to nobody");
    }

    #[test]
    fn a_partition_that_does_not_exist_is_found() {
        let script = forming(script::shares(3, 3, &[(C1, &[0, 1]), (C2, &[2, 3])]));
        expect_broken(&script, OneOwner, "orders-3 belongs to C2 and does not exist");
    }

    #[test]
    fn a_topic_not_subscribed_to_is_found() {
        let mut formed = script::shares(3, 4, &[(C1, &[0, 1]), (C2, &[2, 3])]);
        formed.subscriptions[1].1 = [PAYMENTS].into();
        formed.counts = [(ORDERS, 4), (PAYMENTS, 0)].into();
        expect_broken(&forming(formed.clone()), OneOwner, "which does not subscribe to it");
        expect_broken(&forming(formed), OneOwner, "is not the one of its last join");
    }

    #[test]
    fn a_subscribed_topic_not_counted_is_found() {
        let mut formed = script::shares(3, 4, &[(C1, &[0, 1]), (C2, &[2, 3])]);
        formed.subscriptions[1].1 = [ORDERS, PAYMENTS].into();
        expect_broken(&forming(formed), OneOwner, "the partitions of payments were not counted");
    }

    #[test]
    fn a_stranger_or_a_missing_member_is_found() {
        let stranger = script::shares(3, 4, &[(C1, &[0]), (C2, &[1]), (C3, &[2, 3])]);
        expect_broken(&forming(stranger), OneOwner, "as are in the group");
        let missing = script::shares(3, 4, &[(C1, &[0, 1, 2, 3])]);
        expect_broken(&forming(missing), OneOwner, "as are in the group");
        let mut lopsided = script::shares(3, 4, &[(C1, &[0, 1]), (C2, &[2, 3])]);
        lopsided.subscriptions.pop();
        expect_broken(&forming(lopsided), OneOwner, "as subscribe");
    }

    #[test]
    fn a_share_that_was_not_assigned_is_found() {
        for (number, indices, what) in
            [(3, &[0, 1, 2][..], "other partitions"), (2, &[0, 1], "but in force is"), (4, &[0, 1], "but in force is")]
        {
            let mut script = forming(script::shares(3, 4, &[(C1, &[0, 1]), (C2, &[2, 3])]));
            let request = script.rejoin(C1, &[ORDERS]);
            script.answer(request, script::joined(number, indices));
            expect_broken(&script, OneOwner, what);
        }
    }

    #[test]
    fn a_share_of_no_generation_is_found() {
        let mut script = Script::new();
        let request = script.arrive(C1, &[ORDERS]);
        script.answer(request, script::joined(1, &[0]));
        expect_broken(&script, OneOwner, "but none is in force");
    }

    #[test]
    fn a_subscription_of_a_refused_join_does_not_count() {
        let mut script = Script::two_members();
        script.give_up(C1, &[0, 1]);
        script.give_up(C2, &[2, 3]);
        let refused = script.rejoin(C1, &[PAYMENTS]);
        let fatal = crate::error::JoinError::InvalidSessionTimeout;
        script.answer(refused, crate::message::Response::Join(Err(fatal)));
        script.rebalance(RebalanceReason::Rejoined(script::member(C2)));
        script.rejoin(C2, &[ORDERS]);
        let formed = script::shares(3, 4, &[(C1, &[0, 1]), (C2, &[2, 3])]);
        script.fact(Fact::AssignmentComputed { broker: B1, formed: Arc::new(formed) });
        expect_sound(&script);
    }
}
