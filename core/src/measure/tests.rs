//! Runs whose numbers can be told in the head: messages that take no time, callbacks that take none, and round rates.

use std::sync::Arc;

use super::{Measures, Need, Reading, measure, measure_until};
use crate::id::{ConsumerId, Offset, Partition, TopicId};
use crate::scenario::{Plan, Scenario};
use crate::sim::Simulation;
use crate::time::{Span, Time};
use crate::trace::{Fact, RebalanceReason, Trace};

const C1: ConsumerId = ConsumerId(0);
const C2: ConsumerId = ConsumerId(1);

const fn orders(index: u32) -> Partition {
    Partition { topic: TopicId(0), index }
}

const fn millis(millis: u64) -> Time {
    Time(millis * 1_000)
}

struct Run {
    plan: Arc<Plan>,
    trace: Trace,
}

impl Run {
    /// A run of a scenario: `rest` is what comes after network and defaults.
    fn of(defaults: &str, rest: &str) -> Self {
        let json = format!(
            r#"{{ "network": {{ "latency": {{ "fixed": "0s" }} }},
                 "defaults": {{ "session_timeout": "3s", "callback_time": "0s", {defaults} }}, {rest} }}"#
        );
        let plan = Scenario::from_json(&json).and_then(|scenario| scenario.plan()).expect("a plan");
        let mut simulation = Simulation::new(Arc::clone(&plan));
        simulation.run();
        Self { plan, trace: simulation.trace().clone() }
    }

    fn measure(&self) -> Measures {
        measure(&self.plan, &self.trace)
    }

    fn at(&self, at: u64) -> Reading {
        Reading::at(&self.plan, &self.trace, millis(at))
    }

    /// Where a consumer stands in `orders-0`.
    fn position(&self, consumer: ConsumerId, at: u64) -> Option<u64> {
        let positions = self.at(at).positions(consumer, millis(at));
        positions.iter().find(|(partition, _)| *partition == orders(0)).map(|(_, offset)| offset.0)
    }
}

/// C1 reads alone and commits at 4 s; C2 comes at 10.5 s, and C1 hears of it with its heartbeat at 11 s.
fn second_consumer() -> Run {
    Run::of(
        r#""processed_per_second": 1000"#,
        r#""until": "20s",
           "topics": { "orders": { "partitions": 1, "produced_per_second": 100 } },
           "consumers": [ { "id": "C1", "topics": ["orders"], "start": "0s" },
                          { "id": "C2", "topics": ["orders"], "start": "10500ms" } ],
           "script": [ { "at": "4s", "do": { "commit": { "consumer": "C1" } } } ]"#,
    )
}

#[test]
fn what_was_not_committed_is_processed_again() {
    let run = second_consumer();
    assert_eq!(run.position(C1, 10_999), Some(1_099));
    // At 11 s the log ends at 1100, and C1 starts again at 400: it has 700 before it, and 100 more each second.
    assert_eq!(run.position(C1, 11_500), Some(900));
    assert_eq!(run.position(C1, 12_000), Some(1_200));
    let half_way = &run.at(11_500).partitions(millis(11_500))[0];
    assert_eq!((half_way.end, half_way.committed, half_way.lag), (Offset(1_150), Offset(400), 250));
    assert_eq!((half_way.processed, half_way.processed_twice), (1_600, 500));
    assert_eq!(half_way.readers, [(C1, Offset(900))]);
    let measures = run.measure();
    assert_eq!(measures.partitions[0].processed, 1_100 + 1_600);
    assert_eq!((measures.processed_twice, measures.partitions[0].lag), (700, 0));
}

#[test]
fn a_rebalance_takes_until_the_last_member_fetches_again() {
    let measures = second_consumer().measure();
    let [first, second] = &measures.rebalances[..] else { panic!("{:?}", measures.rebalances) };
    assert!(matches!(first.why, RebalanceReason::NewMember(_)));
    assert_eq!((first.latency, first.members, first.generation), (Some(Span::ZERO), 1, Some(1)));
    assert_eq!((second.started, second.whole_latency()), (millis(10_500), Some(Span::from_millis(500))));
    assert_eq!((second.members, second.members_through, second.generation), (2, 2, Some(2)));
    assert_eq!((second.need, measures.needless_rebalances), (Some(Need::Needed), 0));
}

#[test]
fn messages_are_counted_by_kind() {
    let measures = second_consumer().measure();
    let count = |kind| {
        let count = measures.messages[kind];
        (count.requests, count.responses, count.lost)
    };
    assert_eq!((measures.metadata_requests, count("metadata")), (2, (2, 2, 0)));
    assert_eq!(count("join"), (3, 3, 0), "C1, C2, and C1 again");
    assert_eq!(count("heartbeat"), (11 + 9 + 9, 11 + 9 + 9, 0), "C1 to 11 s, then both from 12 s to 20 s");
    assert_eq!(count("commit"), (1, 1, 0));
    assert!(measures.refused_commits.is_empty());
}

#[test]
fn a_run_can_be_measured_up_to_a_time() {
    let run = second_consumer();
    let measures = measure_until(&run.plan, &run.trace, millis(10_600));
    assert_eq!((measures.rebalances.len(), measures.rebalances[1].generation), (2, None));
    assert_eq!((measures.rebalances[1].latency, measures.rebalances[1].need), (None, None));
    assert_eq!(measures.partitions[0].processed, 1_060);
}

/// C2 crashes at 5 s, after its heartbeat at 4.3 s; its session ends at 7.6 s, and C1 hears of it at 8 s.
fn crash() -> Run {
    Run::of(
        r#""processed_per_second": 1000"#,
        r#""until": "10s",
           "topics": { "orders": { "partitions": 2, "produced_per_second": 10 } },
           "consumers": [ { "id": "C1", "topics": ["orders"], "start": "0s" },
                          { "id": "C2", "topics": ["orders"], "start": "300ms",
                            "settings": { "session_timeout": "3300ms" } } ],
           "script": [ { "at": "5s", "do": { "crash": "C2" } } ]"#,
    )
}

#[test]
fn a_partition_is_without_a_reader_until_its_reader_is_found_to_have_failed() {
    let run = crash();
    assert_eq!(run.at(4_999).without_reader(), []);
    assert_eq!(run.at(5_000).without_reader(), [orders(1)]);
    assert_eq!(run.at(7_999).partitions(millis(7_999))[1].lag, 79, "nothing was ever committed");
    assert_eq!(run.at(8_000).without_reader(), []);
    let measures = run.measure();
    let unread = measures.partitions.iter().map(|partition| partition.unread);
    assert_eq!(unread.collect::<Vec<_>>(), [Span::ZERO, Span::from_secs(3)]);
    assert_eq!(measures.unread(), Span::from_secs(3));
    let latencies = measures.latencies().collect::<Vec<_>>();
    assert_eq!(latencies, [0, 700, 400].map(Span::from_millis));
}

#[test]
fn each_new_reader_without_a_committed_offset_starts_from_the_beginning() {
    let measures = crash().measure();
    let processed = |index: usize| (measures.partitions[index].processed, measures.partitions[index].processed_twice);
    // C1 to 1 s, again to 8 s, again to 10 s.
    assert_eq!(processed(0), (10 + 80 + 100, 90));
    // C1 to 1 s, C2 to 5 s, C1 to 10 s.
    assert_eq!(processed(1), (10 + 50 + 100, 60));
    assert_eq!(measures.processed_twice, 150);
}

#[test]
fn one_that_stands_still_or_is_busy_makes_no_progress() {
    let run = Run::of(
        r#""heartbeat_interval": "1s", "processed_per_second": 50"#,
        r#""until": "20s",
           "topics": { "orders": { "partitions": 1, "produced_per_second": 100 } },
           "consumers": [ { "id": "C1", "topics": ["orders"], "start": "0s", "settings": { "session_timeout": "30s" } } ],
           "script": [ { "at": "5s", "do": { "pause": "C1" } }, { "at": "6s", "do": { "resume": "C1" } },
                       { "at": "10s", "do": { "process": { "consumer": "C1", "for": "2s" } } },
                       { "at": "11s", "do": { "pause": "C1" } }, { "at": "11500ms", "do": { "resume": "C1" } } ]"#,
    );
    for (at, position) in [(5_000, 250), (5_900, 250), (6_000, 250), (8_000, 350), (10_000, 450)] {
        assert_eq!(run.position(C1, at), Some(position), "at {at} ms");
    }
    // Half a second of the two that it is busy for it stands still.
    for (at, position) in [(11_200, 450), (12_000, 450), (12_500, 450), (13_000, 475)] {
        assert_eq!(run.position(C1, at), Some(position), "at {at} ms");
    }
    let lag = &run.at(13_000).partitions(millis(13_000))[0];
    assert_eq!((lag.lag, lag.readers.len()), (1_300 - 475, 1));
}

#[test]
fn a_zombie_and_the_new_reader_overlap() {
    let run = Run::of(
        r#""processed_per_second": 1000"#,
        r#""until": "15s",
           "topics": { "orders": { "partitions": 1, "produced_per_second": 10 } },
           "consumers": [ { "id": "C1", "topics": ["orders"], "start": "0s" },
                          { "id": "C2", "topics": ["orders"], "start": "500ms" } ],
           "script": [ { "at": "4500ms", "do": { "pause": "C1" } }, { "at": "12s", "do": { "resume": "C1" } } ]"#,
    );
    // C1 is heard last at 4 s and removed at 7 s, when C2's heartbeat is due as well.
    let both = run.at(9_000).partitions(millis(9_000))[0].readers.clone();
    assert_eq!(both, [(C1, Offset(45)), (C2, Offset(90))]);
    let attendance = run.at(12_000).attendance(orders(0), millis(12_000)).expect("read");
    assert_eq!((attendance.unread, attendance.overlapped), (Span::ZERO, Span::from_secs(5)));
    // C1 before C2 came, to 1 s; C1 to the pause, C2 to the rebalance at 13 s that C1's return makes, C1 to the end.
    let partition = &run.measure().partitions[0];
    assert_eq!((partition.processed, partition.processed_twice), (10 + 45 + 130 + 150, 10 + 45 + 130));
}

fn failover(profile: &str) -> Measures {
    let rest = format!(
        r#""until": "30s", "brokers": 2, "profile": "{profile}",
           "topics": {{ "orders": {{ "partitions": 1 }} }},
           "consumers": [ {{ "id": "C1", "topics": ["orders"], "start": "0s" }} ],
           "settings": {{ "takeover_delay": "500ms" }},
           "script": [ {{ "at": "10s", "do": {{ "crash": "B1" }} }} ]"#
    );
    Run::of(r#""processed_per_second": 1000"#, &rest).measure()
}

#[test]
fn a_rebalance_that_changes_nothing_is_needless() {
    assert_eq!(failover("document-option-1").needless_rebalances, 0);
    let measures = failover("document-option-2");
    assert_eq!(
        measures.rebalances.iter().filter_map(|rebalance| rebalance.need).collect::<Vec<_>>(),
        [Need::Needed, Need::Needless]
    );
    assert_eq!(measures.needless_rebalances, 1);
}

#[test]
fn refused_commits_are_counted_by_their_reason() {
    let measures = Run::of(
        r#""processed_per_second": 1000"#,
        r#""until": "5s",
           "topics": { "orders": { "partitions": 1 } },
           "consumers": [ { "id": "C1", "topics": ["orders"], "start": "0s" }, { "id": "C2", "topics": [] } ],
           "script": [ { "at": "1500ms", "do": { "commit": { "consumer": "C1", "member": "C2" } } },
                       { "at": "2500ms", "do": { "commit": { "consumer": "C1", "generation": 7 } } },
                       { "at": "3500ms", "do": { "commit": { "consumer": "C1", "offsets": { "orders-8": 1 } } } } ]"#,
    )
    .measure();
    let expected = [("IllegalGeneration", 1), ("PartitionNotOwned", 1), ("UnknownMember", 1)];
    assert_eq!(measures.refused_commits, expected.into());
}

#[test]
fn a_partition_that_is_added_counts_from_then_on() {
    let run = Run::of(
        r#""processed_per_second": 1000"#,
        r#""until": "10s",
           "topics": { "orders": { "partitions": 1, "produced_per_second": 10 } },
           "consumers": [ { "id": "C1", "topics": ["orders"], "start": "0s" } ],
           "settings": { "partition_check": "4s" },
           "script": [ { "at": "3s", "do": { "add-partitions": { "topic": "orders", "count": 1 } } } ]"#,
    );
    assert_eq!(run.at(2_999).partitions(millis(2_999)).len(), 1);
    assert_eq!(run.at(3_000).without_reader(), [orders(1)]);
    let added = &run.at(3_900).partitions(millis(3_900))[1];
    assert_eq!((added.end, added.lag), (Offset(9), 9));
    assert!(run.at(3_900).attendance(orders(1), millis(3_900)).is_none(), "nobody has read it");
    assert_eq!(run.measure().rebalances.len(), 2);
}

/// The sum that a consumer keeps of its positions and the one that is worked out from outside are the same.
#[test]
fn positions_are_those_that_the_consumers_themselves_come_to() {
    for lesson in crate::lessons::all() {
        let plan = lesson.plan();
        let mut simulation = Simulation::new(Arc::clone(&plan));
        simulation.run();
        let mut reading = Reading::new(&plan);
        for (_, record) in simulation.trace().iter() {
            if let Fact::FetchStopped { consumer, at } = &record.fact {
                let positions = reading.positions(*consumer, record.at);
                assert!(positions.is_empty() || positions == **at, "{}: {positions:?}, {at:?}", lesson.id);
            }
            reading.observe(record.at, &record.fact);
        }
    }
}

#[test]
fn the_first_lesson_in_numbers() {
    let lesson = crate::lessons::find(crate::lessons::FIRST).expect("a lesson");
    let mut simulation = Simulation::new(lesson.plan());
    simulation.run();
    let measures = measure(&lesson.plan(), simulation.trace());
    let whole: Vec<_> = measures.latencies().map(|latency| latency.to_string()).collect();
    assert_eq!(whole, ["310ms", "1600ms", "1070ms"]);
    let json = serde_json::to_value(&measures).expect("JSON");
    assert_eq!(json["until_us"], 8_600_000);
    assert_eq!(json["rebalances"][0]["why"], "new-member");
    assert_eq!(json["rebalances"][0]["need"], "needed");
    assert_eq!(json["rebalances"][0]["latency_us"], 310_000);
    assert_eq!(json["partitions"][5]["partition"], "orders-5");
}
