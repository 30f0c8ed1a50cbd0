//! The order in which each request is checked, and who is given up when: where two checks fail, the first one answers.

use groupscope_core::id::{Generation, MemberId};
use groupscope_core::message::{Join, NamedStrategy, Request};
use groupscope_core::scenario::{AssignmentStrategy, CompletionCheck, GroupPlan, Profile};
use groupscope_core::time::Span;
use groupscope_core::trace::{Fact, RebalanceReason, RemovalReason};

use crate::desk::{Desk, MADE_UP, SESSION, TOPIC, Ticket, at, generation, join, request, word};
use crate::settings;

const C1: MemberId = MemberId(0);
const C2: MemberId = MemberId(1);
const C3: MemberId = MemberId(2);

const ROUND_ROBIN: Option<NamedStrategy> = Some(NamedStrategy::Known(AssignmentStrategy::RoundRobin));

fn kafka() -> GroupPlan {
    settings(Profile::Kafka2015)
}

/// A coordinator whose group has one member, in generation 1.
fn one_member() -> (Desk, MemberId) {
    let mut desk = Desk::new(&kafka(), &[2]);
    let (member, formed) = desk.first_member(join(C1));
    assert_eq!(formed, generation(1));
    (desk, member)
}

/// The same with a second one, whose join is held.
fn one_member_and_one_held(settings: &GroupPlan) -> (Desk, MemberId, Ticket) {
    let mut desk = Desk::new(settings, &[2]);
    let (member, _) = desk.first_member(join(C1));
    let held = desk.ask(&request(join(C2)));
    assert_eq!(desk.answer(held), None);
    (desk, member, held)
}

/// Two members that share generation 2: their ids.
fn two_members(desk: &mut Desk, first: Join, second: Join) -> (MemberId, MemberId) {
    let (one, _) = desk.first_member(first.clone());
    let held = desk.ask(&request(second));
    desk.ask(&request(Join { member: one, ..first }));
    let two = desk.joined(held).given.expect("the coordinator gives out ids");
    (one, two)
}

fn removed(desk: &Desk) -> Vec<(MemberId, RemovalReason)> {
    let removals = desk.facts().iter().filter_map(|fact| {
        if let Fact::MemberRemoved { member, why, .. } = fact { Some((*member, *why)) } else { None }
    });
    removals.collect()
}

fn rebalances(desk: &Desk) -> Vec<RebalanceReason> {
    let started = desk
        .facts()
        .iter()
        .filter_map(|fact| if let Fact::RebalanceStarted { why, .. } = fact { Some(*why) } else { None });
    started.collect()
}

// --- joins ---

#[test]
fn oracle_join_checks_the_coordinator_before_the_strategy() {
    let mut desk = Desk::elsewhere(&kafka());
    let bad = Join { strategy: Some(NamedStrategy::Unknown), session_timeout: Span::from_millis(9), ..join(MADE_UP) };
    assert_eq!(desk.outcome(&request(bad)), "NotCoordinator");
}

#[test]
fn oracle_join_checks_the_strategy_before_the_session() {
    let mut desk = Desk::new(&kafka(), &[1]);
    let bad = Join { strategy: Some(NamedStrategy::Unknown), session_timeout: Span::from_millis(9), ..join(MADE_UP) };
    assert_eq!(desk.outcome(&request(bad)), "UnknownStrategy");
}

#[test]
fn oracle_join_checks_the_session_before_the_id() {
    for millis in [9, 201] {
        let bad = Join { session_timeout: Span::from_millis(millis), ..join(MADE_UP) };
        assert_eq!(Desk::new(&kafka(), &[1]).outcome(&request(bad)), "InvalidSessionTimeout");
    }
    for millis in [10, 200] {
        let good = Join { session_timeout: Span::from_millis(millis), ..join(C1) };
        assert_eq!(Desk::new(&kafka(), &[1]).outcome(&request(good)), "OK", "the bounds themselves are allowed");
    }
}

#[test]
fn oracle_join_checks_the_groups_strategy_before_the_id() {
    let (mut desk, member) = one_member();
    assert_eq!(desk.outcome(&request(Join { strategy: ROUND_ROBIN, ..join(MADE_UP) })), "InconsistentStrategy");
    assert_eq!(desk.outcome(&request(Join { strategy: ROUND_ROBIN, ..join(member) })), "InconsistentStrategy");
    assert_eq!(desk.outcome(&request(join(MADE_UP))), "UnknownMember");
}

#[test]
fn oracle_a_groups_strategy_is_its_first_members() {
    let mut desk = Desk::new(&kafka(), &[2]);
    desk.first_member(Join { strategy: ROUND_ROBIN, ..join(C1) });
    assert_eq!(desk.outcome(&request(join(C2))), "InconsistentStrategy");
}

#[test]
fn oracle_an_unchanged_join_of_a_stable_groups_member_is_answered_and_refreshes_its_session() {
    let (mut desk, member) = one_member();
    desk.wait(Span::from_millis(60));
    let again = desk.ask(&request(join(member)));
    assert_eq!(desk.joined(again).generation, generation(1));
    assert_eq!(desk.joined(again).assignment, at(&[(0, 0), (1, 0)]));
    assert_eq!(rebalances(&desk).len(), 1, "the one that formed the group");
    desk.wait(Span::from_millis(99));
    assert_eq!(desk.heartbeat(member, generation(1)), "OK", "159 ms after its first join");
}

#[test]
fn oracle_a_changed_join_of_a_member_makes_the_group_rebalance() {
    let mut desk = Desk::new(&kafka(), &[1, 1]);
    let (member, _) = desk.first_member(join(C1));
    let topics = [TOPIC, groupscope_core::id::TopicId(1)].into();
    let changed = desk.ask(&request(Join { topics, ..join(member) }));
    assert_eq!(desk.joined(changed).generation, generation(2));
    let reasons = [RebalanceReason::NewMember(member), RebalanceReason::SubscriptionChanged(member)];
    assert_eq!(rebalances(&desk), reasons);
}

// --- heartbeats ---

#[test]
fn oracle_heartbeat_checks_the_member_before_the_generation() {
    let (mut desk, _) = one_member();
    assert_eq!(desk.heartbeat(MADE_UP, generation(7)), "UnknownMember");
}

#[test]
fn oracle_heartbeat_checks_the_generation_before_the_state() {
    let (mut desk, member, _) = one_member_and_one_held(&kafka());
    assert_eq!(desk.heartbeat(member, generation(0)), "IllegalGeneration");
    assert_eq!(desk.heartbeat(member, generation(2)), "IllegalGeneration");
    assert_eq!(desk.heartbeat(member, generation(1)), "RebalanceInProgress");
}

#[test]
fn oracle_a_heartbeat_of_a_member_whose_join_is_held_is_answered_like_any() {
    let mut desk = Desk::new(&kafka(), &[3]);
    let (one, _) = two_members(&mut desk, join(C1), join(C2));
    desk.ask(&request(join(C3)));
    desk.ask(&request(join(one)));
    assert_eq!(desk.heartbeat(one, generation(2)), "RebalanceInProgress");
    let mut document = Desk::new(&settings(Profile::DocumentOption1), &[3]);
    document.first_member(join(C1));
    document.ask(&request(join(C2)));
    assert_eq!(document.heartbeat(C2, generation(1)), "OK", "EC0 speaks of the others");
}

// --- commits ---

#[test]
fn oracle_commit_checks_the_member_then_the_generation_then_the_owner() {
    let mut desk = Desk::new(&kafka(), &[2]);
    let (one, two) = two_members(&mut desk, join(C1), join(C2));
    assert_eq!(desk.commit(MADE_UP, generation(1), &[(0, 1)]), "UnknownMember");
    assert_eq!(desk.commit(one, generation(1), &[(1, 1)]), "IllegalGeneration");
    assert_eq!(desk.commit(one, generation(2), &[(0, 1), (1, 1)]), "PartitionNotOwned");
    assert_eq!((desk.committed(0), desk.committed(1)), (0, 0), "the whole request is refused");
    assert_eq!(desk.commit(two, generation(2), &[(1, 5)]), "OK");
    assert_eq!((desk.committed(0), desk.committed(1)), (0, 5));
}

#[test]
fn oracle_commit_to_an_unknown_group_needs_no_generation() {
    let mut desk = Desk::new(&kafka(), &[1]);
    let simple = Request::SimpleCommit { offsets: at(&[(0, 7)]) };
    assert_eq!(desk.commit(C1, generation(0), &[(0, 3)]), "IllegalGeneration");
    assert_eq!(desk.outcome(&simple), "OK");
    let (member, _) = desk.first_member(join(C1));
    assert_eq!(desk.outcome(&simple), "UnknownMember", "now there is a group");
    assert_eq!(desk.leave(member), "OK");
    assert_eq!(desk.outcome(&simple), "OK", "and now there is none again");
    assert_eq!(Desk::elsewhere(&kafka()).outcome(&simple), "NotCoordinator");
}

#[test]
fn oracle_a_simple_commit_is_where_the_next_member_starts() {
    let mut desk = Desk::new(&kafka(), &[2]);
    desk.outcome(&Request::SimpleCommit { offsets: at(&[(1, 40)]) });
    let ticket = desk.ask(&request(join(C1)));
    assert_eq!(desk.joined(ticket).assignment, at(&[(0, 0), (1, 40)]));
    let stored = desk.facts().iter().find_map(|fact| {
        if let Fact::OffsetsAppended { member, backwards, .. } = fact { Some((*member, *backwards)) } else { None }
    });
    assert_eq!(stored, Some((None, 0)));
}

#[test]
fn oracle_commit_does_not_check_the_state_and_does_not_refresh_the_session() {
    let (mut desk, member, _) = one_member_and_one_held(&kafka());
    desk.wait(Span::from_millis(60));
    assert_eq!(desk.commit(member, generation(1), &[(0, 9)]), "OK");
    assert_eq!(desk.committed(0), 9);
    desk.wait(Span::from_millis(39));
    assert_eq!(removed(&desk), []);
    desk.wait(Span::from_millis(1));
    assert_eq!(removed(&desk), [(member, RemovalReason::SessionExpired)], "100 ms after its join was answered");
}

// --- leaving ---

#[test]
fn oracle_leaving_a_rebalance_answers_the_others_if_all_are_there() {
    let (mut desk, member, held) = one_member_and_one_held(&kafka());
    assert_eq!(desk.leave(member), "OK");
    assert_eq!(desk.joined(held).generation, generation(2));
    assert_eq!(desk.now(), groupscope_core::time::Time::ZERO, "with no wait");
}

#[test]
fn oracle_leaving_a_stable_group_makes_the_others_rebalance() {
    let mut desk = Desk::new(&kafka(), &[2]);
    let (one, two) = two_members(&mut desk, join(C1), join(C2));
    assert_eq!(desk.leave(one), "OK");
    assert_eq!(rebalances(&desk).last(), Some(&RebalanceReason::MemberLeft(one)));
    assert_eq!(desk.heartbeat(two, generation(2)), "RebalanceInProgress");
    assert_eq!(desk.heartbeat(one, generation(2)), "UnknownMember");
}

// --- the window ---

#[test]
fn oracle_the_window_is_the_longest_session_of_the_members() {
    let mut desk = Desk::new(&kafka(), &[2]);
    let long = Join { session_timeout: Span::from_millis(200), ..join(C1) };
    let (one, two) = two_members(&mut desk, long, join(C2));
    let ticket = desk.ask(&request(join(C3)));
    // Both are silent from here on: C2's session ends first, and the window waits for C1's.
    desk.wait(Span::from_millis(100));
    assert_eq!(removed(&desk), [(two, RemovalReason::SessionExpired)]);
    desk.wait(Span::from_millis(99));
    assert_eq!(word(desk.answer(ticket)), "no answer yet");
    desk.wait(Span::from_millis(1));
    assert_eq!(removed(&desk).last().map(|(member, _)| *member), Some(one));
    assert_eq!(desk.joined(ticket).generation, generation(3));
}

#[test]
fn oracle_the_window_ends_early_when_all_have_joined() {
    let (mut desk, member, held) = one_member_and_one_held(&kafka());
    desk.wait(Span::from_millis(10));
    let again = desk.ask(&request(join(member)));
    assert_eq!(desk.joined(held).generation, generation(2));
    assert_eq!(desk.joined(again).generation, generation(2));
}

/// A member that is heard from all the time, by heartbeats alone, is removed when the window closes.
#[test]
fn oracle_the_window_removes_whoever_has_not_joined() {
    let mut desk = Desk::new(&kafka(), &[2]);
    let (one, formed) = desk.first_member(Join { session_timeout: Span::from_millis(200), ..join(C1) });
    desk.wait(Span::from_millis(150));
    assert_eq!(desk.heartbeat(one, formed), "OK");
    let held = desk.ask(&request(join(C2)));
    desk.wait(Span::from_millis(200));
    assert_eq!(removed(&desk).iter().map(|(member, _)| *member).collect::<Vec<_>>(), [one]);
    assert_eq!(desk.joined(held).generation, generation(2));
}

// --- who is alive ---

#[test]
fn oracle_a_member_whose_join_is_held_is_never_given_up() {
    let mut desk = Desk::new(&kafka(), &[2]);
    desk.first_member(Join { session_timeout: Span::from_millis(200), ..join(C1) });
    let held = desk.ask(&request(Join { session_timeout: Span::from_millis(10), ..join(C2) }));
    desk.wait(Span::from_millis(199));
    assert_eq!(removed(&desk), [], "its session is 10 ms, and it has waited for 199");
    desk.wait(Span::from_millis(1));
    let given = desk.joined(held).given.expect("it has its answer");
    desk.wait(Span::from_millis(9));
    assert_eq!(removed(&desk).len(), 1, "its session began with the answer");
    desk.wait(Span::from_millis(1));
    assert_eq!(removed(&desk).last(), Some(&(given, RemovalReason::SessionExpired)));
}

#[test]
fn oracle_a_heartbeat_that_is_told_of_a_rebalance_does_not_refresh_the_session() {
    let told = |settings: &GroupPlan| {
        let mut desk = Desk::new(settings, &[2]);
        let (member, formed) = desk.first_member(join(C1));
        // The window is longer than the session.
        desk.ask(&request(Join { session_timeout: Span::from_millis(200), ..join(C2) }));
        desk.wait(Span::from_millis(60));
        assert_eq!(desk.heartbeat(member, formed), "RebalanceInProgress");
        desk.wait(Span::from_millis(40));
        removed(&desk)
    };
    assert_eq!(told(&kafka()).len(), 1, "100 ms after the answer to its join");
    let document =
        GroupPlan { join_window: groupscope_core::scenario::JoinWindow::Longest, ..settings(Profile::DocumentOption1) };
    assert_eq!(told(&document), [], "decision 19: any request of a member counts as heard");
}

#[test]
fn oracle_a_heartbeat_that_is_valid_refreshes_the_session() {
    let (mut desk, member) = one_member();
    for _ in 0..5 {
        desk.wait(Span::from_millis(99));
        assert_eq!(desk.heartbeat(member, generation(1)), "OK");
    }
    desk.wait(SESSION);
    assert_eq!(removed(&desk), [(member, RemovalReason::SessionExpired)]);
}

#[test]
fn oracle_a_group_that_lost_its_last_member_counts_from_1_again() {
    let (mut desk, member) = one_member();
    assert_eq!(desk.leave(member), "OK");
    assert!(desk.facts().iter().any(|fact| matches!(fact, Fact::GroupForgotten { .. })));
    let (next, formed) = desk.first_member(join(C1));
    assert_eq!((formed.number, formed.life), (1, 2));
    assert_ne!(next, member, "and its ids are new");
    assert_eq!(desk.heartbeat(member, formed), "UnknownMember");
}

// --- partitions ---

#[test]
fn oracle_new_partitions_make_a_stable_group_rebalance() {
    let (mut desk, member) = one_member();
    desk.add_partitions(1);
    assert_eq!(keep_alive(&mut desk, member, generation(1)), "RebalanceInProgress");
    assert_eq!(rebalances(&desk).last(), Some(&RebalanceReason::PartitionsChanged(TOPIC)));
    let again = desk.ask(&request(join(member)));
    assert_eq!(desk.joined(again).assignment, at(&[(0, 0), (1, 0), (2, 0)]));
}

/// Heartbeats until one is refused, for as long as the coordinator may take to look.
fn keep_alive(desk: &mut Desk, member: MemberId, held: Generation) -> &'static str {
    for _ in 0..120 {
        let answer = desk.heartbeat(member, held);
        if answer != "OK" {
            return answer;
        }
        desk.wait(Span::from_millis(50));
    }
    "OK"
}

#[test]
fn oracle_new_partitions_during_a_rebalance_are_used_in_its_plan() {
    let (mut desk, member, held) = one_member_and_one_held(&kafka());
    desk.add_partitions(2);
    let again = desk.ask(&request(join(member)));
    assert_eq!(desk.joined(again).assignment, at(&[(0, 0), (1, 0)]));
    assert_eq!(desk.joined(held).assignment, at(&[(2, 0), (3, 0)]));
    assert_eq!(rebalances(&desk).len(), 2, "the first member's and the second's");
}

// --- known weak spots ---

/// A member's session ends 50 ms before the window closes, and everybody else is there: the coordinator of October 2015
/// does not look, and the others wait for the window.
#[test]
fn oracle_weak_spot_a_member_that_fails_during_a_rebalance_is_not_noticed() {
    let answers = |completion_check| {
        let mut desk = Desk::new(&GroupPlan { completion_check, ..kafka() }, &[2]);
        let (one, _) = desk.first_member(join(C1));
        desk.wait(Span::from_millis(50));
        let held = desk.ask(&request(join(C2)));
        desk.wait(Span::from_millis(50));
        assert_eq!(removed(&desk), [(one, RemovalReason::SessionExpired)]);
        let before = word(desk.answer(held));
        desk.wait(Span::from_millis(50));
        (before, word(desk.answer(held)))
    };
    assert_eq!(answers(CompletionCheck::All), ("OK", "OK"));
    assert_eq!(answers(CompletionCheck::Left), ("no answer yet", "OK"), "not before the window closes");
}

/// It does look when a member leaves; other coordinators forgot that as well.
#[test]
fn oracle_weak_spot_only_a_member_that_leaves_is_noticed() {
    let answer = |completion_check| {
        let (mut desk, member, held) = one_member_and_one_held(&GroupPlan { completion_check, ..kafka() });
        desk.leave(member);
        word(desk.answer(held))
    };
    assert_eq!(answer(CompletionCheck::Left), "OK");
    assert_eq!(answer(CompletionCheck::Never), "no answer yet");
}

#[test]
fn oracle_weak_spot_a_new_coordinator_knows_nobody() {
    let (mut desk, member) = one_member();
    desk.change_coordinator();
    assert_eq!(desk.heartbeat(member, generation(1)), "UnknownMember");
    assert_eq!(desk.commit(member, generation(1), &[(0, 4)]), "IllegalGeneration");
    assert_eq!(desk.outcome(&request(join(member))), "UnknownMember");
    let (_, formed) = desk.first_member(join(C1));
    assert_eq!((formed.number, formed.life), (1, 2), "numbering restarts");
}
