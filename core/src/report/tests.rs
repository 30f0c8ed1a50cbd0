use std::sync::Arc;

use super::{json_line, json_lines, text, text_line};
use crate::error::{CommitError, HeartbeatError, JoinError};
use crate::id::{ConnectionId, Epoch, Generation, Offset, Partition, RecordId};
use crate::message::{Message, Offsets, Request, Response};
use crate::offsets;
use crate::rules::Rule;
use crate::script::{self, B1, C1, C2, C3, ORDERS, PAYMENTS, Script};
use crate::time::{Span, Time};
use crate::trace::{
    Callback, ChannelEnd, CoordinatorFailure, DropReason, Fact, Formed, RebalanceReason, RemovalReason,
};

/// Every fact and every message at least once, in no order that a run would have.
fn everything() -> Script {
    let mut script = Script::new();
    processes(&mut script);
    channels(&mut script);
    messages(&mut script);
    consumer(&mut script);
    coordinator(&mut script);
    commits(&mut script);
    script
}

fn processes(script: &mut Script) {
    script.ruled(&[Rule::ST1], Fact::ProcessStarted { node: C1.into() });
    script.at(1).fact(Fact::ProcessCrashed { node: B1.into() });
    script.fact(Fact::ProcessClosed { consumer: C2 });
    script.fact(Fact::ProcessPaused { node: C1.into() });
    script.fact(Fact::ProcessResumed { node: C1.into() });
    script.fact(Fact::LinkCut { consumer: C1, broker: B1 });
    script.fact(Fact::LinkHealed { consumer: C1, broker: B1 });
    script.fact(Fact::PartitionsAdded { topic: ORDERS, count: 8 });
    script.fact(Fact::CommandIgnored { node: C3.into(), reason: "it is not running" });
}

fn channels(script: &mut Script) {
    let connection = ConnectionId(7);
    script.at(2_000).ruled(&[Rule::ST2], Fact::ChannelOpening { connection, consumer: C1, broker: B1 });
    script.fact(Fact::ChannelOpened { connection, consumer: C1, broker: B1 });
    for why in [ChannelEnd::ByThisEnd, ChannelEnd::ByPeer, ChannelEnd::Reset, ChannelEnd::Refused] {
        script.fact(Fact::ChannelClosed { connection, node: C1.into(), peer: B1.into(), why });
    }
}

fn messages(script: &mut Script) {
    let asked = script.at(3_000).deliver(C1, Request::Metadata { topics: [ORDERS, PAYMENTS].into() });
    script.answer(asked, script::metadata(Some(B1)));
    let asked = script.deliver(C1, Request::Metadata { topics: [].into() });
    script.answer(asked, script::metadata(None));
    let join = script.deliver(C1, script::join(C1, &[ORDERS]));
    let answer = script.answer(join, script::joined(2, &[0, 1, 3]));
    script.take(answer);
    for error in [JoinError::RebalanceInProgress, JoinError::InvalidSessionTimeout] {
        let refused = script.answer(join, Response::Join(Err(error)));
        script.take(refused);
    }
    let good = script.beat(C1, 2, Ok(()));
    script.take(good);
    let refused = script.beat(C1, 1, Err(HeartbeatError::IllegalGeneration));
    script.fact(Fact::Dropped { node: C1.into(), sent: refused });
    script.ask(C1, script::heartbeat(C3, 0));
    let ahead = Generation { epoch: Epoch(1), life: 2, number: 5 };
    script.ask(C1, Request::Heartbeat { member: script::member(C1), generation: ahead });
    script.ask(
        C1,
        Request::Heartbeat { member: script::member(C1), generation: Generation { epoch: Epoch(0), ..ahead } },
    );
    script.fact(Fact::Sent {
        from: C1.into(),
        to: B1.into(),
        connection: ConnectionId(0),
        arrives: Time::MAX,
        answers: None,
        message: Message::Request(script::heartbeat(C1, 2)),
    });
}

fn consumer(script: &mut Script) {
    let consumer = C1;
    let several: Offsets = [(ORDERS, 0, 40), (ORDERS, 1, 0), (ORDERS, 2, 0), (PAYMENTS, 5, 7)]
        .map(|(topic, index, offset)| (Partition { topic, index }, Offset(offset)))
        .into();
    script.at(4_123).wait(0).fact(Fact::Subscribed { consumer, topics: [].into() });
    script.fact(Fact::CoordinatorFound { consumer, broker: B1 });
    for why in [
        CoordinatorFailure::NoAnswer,
        CoordinatorFailure::ChannelClosed,
        CoordinatorFailure::JoinTimeout,
        CoordinatorFailure::RequestTimeout,
        CoordinatorFailure::NotCoordinator,
    ] {
        script.fact(Fact::CoordinatorFailed { consumer, broker: B1, why });
    }
    script.fact(Fact::TopicChangeSeen { consumer, topic: ORDERS, count: 8 });
    script.fact(Fact::GenerationRecorded { consumer, generation: script::generation(2) });
    script.call(consumer, Callback::Assigned, &[0, 1, 2, 5]);
    script.call(consumer, Callback::Deassigned, &[]);
    script.fact(Fact::FetchStarted { consumer, from: Arc::clone(&several) });
    script.fact(Fact::FetchStopped { consumer, at: Arc::clone(&several) });
    script.fact(Fact::ProcessingStarted { consumer, takes: Span::from_secs(20) });
    script.fact(Fact::ProcessingEnded { consumer });
    script.fact(Fact::ResumeExpired { consumer });
    script.fact(Fact::ConsumerThrew { consumer, error: JoinError::GroupMaxSizeReached });
    for why in [DropReason::NoLongerOwned, DropReason::RefusedAgain, DropReason::NoAnswer, DropReason::Stopped] {
        script.fact(Fact::OffsetsDropped { consumer, offsets: script::at_offset(1, 9), why });
    }
}

fn coordinator(script: &mut Script) {
    let (broker, member) = (B1, script::member(C2));
    script.at(12_345).fact(Fact::MemberAdded { broker, member });
    for why in [RemovalReason::SessionExpired, RemovalReason::JoinMissing] {
        script.fact(Fact::MemberRemoved { broker, member, why });
    }
    for why in [
        RebalanceReason::NewMember(member),
        RebalanceReason::SubscriptionChanged(member),
        RebalanceReason::Rejoined(member),
        RebalanceReason::MemberFailed(member),
        RebalanceReason::PartitionsChanged(PAYMENTS),
        RebalanceReason::Reopened,
    ] {
        script.rebalance(why);
    }
    script.fact(Fact::JoinHeld { broker, member, awaited: 2 });
    script.fact(Fact::RebalanceRetried { broker, missing: member });
    script.form(script::shares(2, 4, &[(C1, &[0, 1, 2, 3]), (C2, &[])]));
    let generation = script::generation(3);
    script.form(Formed { generation, assignment: vec![], subscriptions: vec![], counts: [].into() });
    script.fact(Fact::GroupForgotten { broker });
    script.fact(Fact::GroupRecovered { broker, generation, members: 3 });
    script.fact(Fact::GroupStateLost { broker });
}

fn commits(script: &mut Script) {
    let broker = B1;
    let commit = script::commit(C1, 2, &script::at_offset(3, 120));
    let good = script.at(70_000).deliver(C1, Request::Commit(Arc::clone(&commit)));
    script.answer(good, Response::Commit(Ok(())));
    script.answer(good, Response::Commit(Err(CommitError::IllegalGeneration)));
    let current = Some(script::generation(2));
    let (own, foreign) = (Some(script::member(C1)), Some(script::member(C2)));
    for (is_member, current, owner) in [
        (true, current, own),
        (false, current, own),
        (true, None, own),
        (true, Some(script::generation(3)), own),
        (true, current, foreign),
        (true, current, None),
    ] {
        let verdict = Arc::new(offsets::check(&commit, is_member, current, |_| owner));
        script.fact(Fact::CommitChecked { broker, verdict });
    }
    for backwards in [0, 1] {
        script.fact(Fact::OffsetsAppended {
            broker,
            member: Some(script::member(C1)),
            offsets: script::at_offset(3, 120),
            backwards,
        });
    }
    script.fact(Fact::LimitReached);
}

/// A commit of no member (decision 24) names nobody.
#[test]
fn a_simple_commit_names_no_member_and_no_generation() {
    let mut script = Script::new();
    let offsets = script::at_offset(3, 120);
    let request = script.deliver(C1, Request::SimpleCommit { offsets: Arc::clone(&offsets) });
    script.fact(Fact::OffsetsAppended { broker: B1, member: None, offsets, backwards: 0 });
    script.answer(request, Response::Commit(Ok(())));
    let told = text(&script.trace);
    assert!(told.contains("commit of no member: orders 3@120"), "{told}");
    assert!(told.contains("log: orders 3@120 for no member"), "{told}");
    let lines = json_lines(&script.trace);
    assert!(!lines.contains("\"member\"") && !lines.contains("\"generation\""), "{lines}");
}

#[test]
fn every_fact_as_text() {
    insta::assert_snapshot!(text(&everything().trace));
}

#[test]
fn every_fact_as_json() {
    insta::assert_snapshot!(json_lines(&everything().trace));
}

#[test]
fn every_json_line_is_an_object_with_what_all_have() {
    let script = everything();
    for (id, record) in script.trace.iter() {
        let object: serde_json::Map<String, serde_json::Value> =
            serde_json::from_str(&json_line(&script.trace, id)).expect("a JSON object");
        assert_eq!(object["id"], id.0);
        assert_eq!(object["at"], record.at.as_micros());
        assert!(object["fact"].as_str().is_some_and(|fact| !fact.is_empty()));
        assert!(object["rules"].is_array());
        assert!(object.contains_key("cause") && object.contains_key("node"));
    }
}

#[test]
fn a_line_is_the_same_alone_and_in_the_whole() {
    let trace = everything().trace;
    for (i, (line, json)) in text(&trace).lines().zip(json_lines(&trace).lines()).enumerate() {
        assert_eq!(text_line(&trace, RecordId(i as u32)), line);
        assert_eq!(json_line(&trace, RecordId(i as u32)), json);
    }
}

#[test]
fn what_has_not_happened_has_no_line() {
    let trace = Script::new().trace;
    assert_eq!(text_line(&trace, RecordId(0)), "");
    assert_eq!(json_line(&trace, RecordId(0)), "");
    assert_eq!(text(&trace), "");
    assert_eq!(json_lines(&trace), "");
}

#[test]
fn the_point_of_the_time_keeps_its_column() {
    let mut script = Script::new();
    script.fact(Fact::LimitReached);
    script.at(86_399_999).fact(Fact::LimitReached);
    let text = text(&script.trace);
    assert!(text.lines().all(|line| line.find('.') == Some(5)), "{text}");
}
