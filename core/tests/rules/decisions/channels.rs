//! Decision 3: channels are TCP-like.

use std::collections::BTreeMap;

use groupscope_core::id::ConnectionId;
use groupscope_core::time::Time;
use groupscope_core::trace::Fact;
use serde_json::json;

use crate::common::{Group, Run, ms, pair, untimed};

#[test]
fn decision_03_there_is_one_channel_for_each_consumer_and_broker() {
    let run = pair().set("brokers", 3).set("coordinator", 2).set("defaults.metadata_refresh", "500ms").run(5_000);
    for consumer in ["C1", "C2"] {
        assert_eq!(
            untimed(&run.story(0, 5_000, &[&format!("{consumer} opening")])),
            [format!("{consumer} opening B1"), format!("{consumer} opening B2")]
        );
    }
}

#[test]
fn decision_03_what_is_sent_on_a_channel_arrives_in_order() {
    let run = pair()
        .set("network.latency", json!({ "uniform": { "min": "1ms", "max": "400ms" } }))
        .set("defaults.commit_interval", "30ms")
        .set("topics.orders.produced_per_second", 100)
        .run_unchecked(20_000);
    let (mut sent, mut taken): (BTreeMap<_, Vec<_>>, BTreeMap<_, Vec<_>>) = Default::default();
    let trace = run.sim.trace();
    let channel = |id| match &trace[id].fact {
        Fact::Sent { connection, from, .. } => (*connection, *from),
        other => panic!("{other:?}"),
    };
    for (id, record) in trace.iter() {
        match &record.fact {
            Fact::Sent { .. } => sent.entry(channel(id)).or_default().push(id),
            Fact::Received { sent, .. } | Fact::Dropped { sent, .. } => {
                taken.entry(channel(*sent)).or_default().push(*sent)
            }
            _ => {}
        }
    }
    for (channel, taken) in taken {
        assert_eq!(taken[..], sent[&channel][..taken.len()], "{channel:?}");
        assert!(taken.len() > 20 || channel.0 != ConnectionId(0));
    }
}

#[test]
fn decision_03_a_message_of_a_closed_channel_is_dropped() {
    // The answer to the heartbeat of 2,060 comes to a C1 that has been started anew, and has a channel of its own.
    let run =
        Group::new().with("C1", 0).at(2_065, json!({ "crash": "C1" })).at(2_070, json!({ "restart": "C1" })).run(3_000);
    assert_eq!(run.times("C1 dropped B1 heartbeat ok"), ms([2_080]));
    assert_eq!(run.count("C1 < B1 heartbeat ok"), 1, "that of 1,080");
}

#[test]
fn decision_03_a_crashed_process_closes_its_channels_after_one_latency() {
    let consumer = pair().at(5_000, json!({ "crash": "C2" })).run(6_000);
    assert_eq!(consumer.times("B1 closed C2 ByPeer"), ms([5_010]));
    let broker = pair().at(5_000, json!({ "crash": "B1" })).run(5_100);
    assert_eq!(broker.times("C2 closed B1 ByPeer"), ms([5_010]));
}

fn closings(run: &Run) -> usize {
    run.facts().filter(|fact| matches!(fact, Fact::ChannelClosed { .. })).count()
}

#[test]
fn decision_03_a_paused_process_or_a_cut_link_closes_nothing() {
    let paused = pair().at(2_500, json!({ "pause": "C2" })).run(4_000);
    assert_eq!(closings(&paused), 0);
    let paused = pair().at(2_500, json!({ "pause": "B1" })).run(4_000);
    assert_eq!(closings(&paused), 0);
    let cut = pair().at(2_500, json!({ "cut": { "consumer": "C2" } })).run(4_000);
    assert_eq!(closings(&cut), 0);
}

#[test]
fn decision_03_what_was_on_its_way_when_the_link_is_cut_arrives() {
    // The heartbeat of 2,200 is on its way at 2,205; its answer is not.
    let run = pair().at(2_205, json!({ "cut": { "consumer": "C2" } })).run(2_300);
    assert_eq!(run.texts("B1 < C2 heartbeat 2").len(), 1);
    assert_eq!(run.times("B1 > C2 heartbeat ok lost"), ms([2_210]));
}

#[test]
fn decision_03_the_coordinator_does_not_take_a_closed_channel_as_a_failure() {
    // It learns at 5,010 that the channel is closed; C2 is back within its session.
    let run = pair().at(5_000, json!({ "crash": "C2" })).at(5_500, json!({ "restart": "C2" })).run(9_000);
    assert_eq!(run.count("B1 removed"), 0);
    assert_eq!(run.count("B1 rebalances MemberFailed"), 0);
    assert_eq!(run.times("B1 rebalances Rejoined C2"), ms([5_550]));
}

#[test]
fn decision_03_a_lost_message_vanishes_alone() {
    let run = pair().set("network.lost_per_million", 200_000).set("seed", 3).run_unchecked(60_000);
    let mut is_lost = Vec::new();
    let trace = run.sim.trace();
    let arrived: Vec<_> = run
        .facts()
        .filter_map(|fact| match fact {
            Fact::Received { sent, .. } | Fact::Dropped { sent, .. } => Some(*sent),
            _ => None,
        })
        .collect();
    for (id, record) in trace.iter().filter(|(_, record)| record.at < Time(59_000_000)) {
        if let Fact::Sent { arrives, .. } = record.fact {
            is_lost.push(arrives == Time::MAX);
            assert_eq!(arrived.contains(&id), arrives != Time::MAX, "{record:?}");
        }
    }
    // Some are lost, and after one that is lost others arrive on the same channel.
    assert!(is_lost.windows(2).any(|pair| pair == [true, false]));
    let share = is_lost.iter().filter(|lost| **lost).count() * 100 / is_lost.len();
    assert!((10..30).contains(&share), "{share}% of {}", is_lost.len());
    assert_eq!(closings(&run) > 0, run.count("C1 gave up") + run.count("C2 gave up") > 0);
}

#[test]
fn decision_03_a_held_join_does_not_hold_up_its_channel() {
    let run = pair().at(500, json!({ "heartbeat": { "consumer": "C2", "generation": 1 } })).run(1_000);
    assert_eq!(run.times("B1 holds C2"), ms([50]));
    assert_eq!(run.times("B1 > C2 heartbeat ok"), ms([510]));
}
