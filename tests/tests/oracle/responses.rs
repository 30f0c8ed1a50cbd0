//! The 21 answers that Kafka's coordinator tests pin, each under the name of the test there.

use std::path::Path;

use groupscope_core::message::{Join, NamedStrategy, Request};
use groupscope_core::scenario::{AssignmentStrategy, Profile};
use groupscope_core::time::Span;

use crate::desk::{Desk, MADE_UP, SESSION, at, generation, join, request, word};
use crate::settings;
use groupscope_core::id::MemberId;

const C1: MemberId = MemberId(0);
const C2: MemberId = MemberId(1);

/// A fact: what is given, what is done, and what Kafka answered.
struct Fact {
    kafka_test: &'static str,
    given: &'static str,
    when: &'static str,
    then: &'static str,
    play: fn(Profile) -> String,
}

macro_rules! facts {
    ($($name:ident: $kafka_test:literal, $given:literal, $when:literal => $then:literal, $play:expr;)*) => {
        const FACTS: &[Fact] = &[$(Fact {
            kafka_test: $kafka_test,
            given: $given,
            when: $when,
            then: $then,
            play: |profile| { let play: fn(Profile) -> String = $play; play(profile) },
        }),*];

        $(#[test]
        fn $name() {
            let fact = FACTS.iter().find(|fact| fact.kafka_test == $kafka_test).expect("it is in the list");
            assert_eq!((fact.play)(Profile::Kafka2015), fact.then, "{}: {}", fact.given, fact.when);
        })*
    };
}

facts! {
    oracle_a_join_at_the_wrong_coordinator: "testJoinGroupWrongCoordinator",
        "another broker is coordinator", "join, no id" => "NotCoordinator",
        |profile| elsewhere(profile).outcome(&request(join(C1))).into();
    oracle_a_join_with_an_unknown_strategy: "testJoinGroupUnknownPartitionAssignmentStrategy",
        "no group", "join with a strategy that nobody has" => "UnknownStrategy",
        |profile| {
            let strategy = Some(NamedStrategy::Unknown);
            desk(profile).outcome(&request(Join { strategy, ..join(C1) })).into()
        };
    oracle_a_join_with_too_short_a_session: "testJoinGroupSessionTimeoutTooSmall",
        "sessions of 10 to 200 ms", "join with 9 ms" => "InvalidSessionTimeout",
        |profile| join_with_session(profile, 9);
    oracle_a_join_with_too_long_a_session: "testJoinGroupSessionTimeoutTooLarge",
        "sessions of 10 to 200 ms", "join with 201 ms" => "InvalidSessionTimeout",
        |profile| join_with_session(profile, 201);
    oracle_a_join_with_a_made_up_id_to_a_new_group: "testJoinGroupUnknownConsumerNewGroup",
        "no group", "join with a made-up id" => "UnknownMember",
        |profile| desk(profile).outcome(&request(join(MADE_UP))).into();
    oracle_a_valid_join: "testValidJoinGroup",
        "no group", "join, no id" => "OK",
        |profile| desk(profile).outcome(&request(join(C1))).into();
    oracle_a_join_with_another_strategy: "testJoinGroupInconsistentPartitionAssignmentStrategy",
        "a group that uses range", "another member joins with roundrobin" => "InconsistentStrategy",
        |profile| {
            let strategy = Some(NamedStrategy::Known(AssignmentStrategy::RoundRobin));
            with_member(profile).outcome(&request(Join { strategy, ..join(C2) })).into()
        };
    oracle_a_join_with_a_made_up_id_to_a_known_group: "testJoinGroupUnknownConsumerExistingGroup",
        "a group of one", "join with a made-up id" => "UnknownMember",
        |profile| with_member(profile).outcome(&request(join(MADE_UP))).into();
    oracle_a_heartbeat_at_the_wrong_coordinator: "testHeartbeatWrongCoordinator",
        "another broker is coordinator", "heartbeat" => "NotCoordinator",
        |profile| elsewhere(profile).heartbeat(C1, generation(1)).into();
    oracle_a_heartbeat_to_an_unknown_group: "testHeartbeatUnknownGroup",
        "no group", "heartbeat" => "UnknownMember",
        |profile| desk(profile).heartbeat(C1, generation(1)).into();
    oracle_a_heartbeat_of_an_unknown_member: "testHeartbeatUnknownConsumerExistingGroup",
        "a group of one", "heartbeat with another id, generation 1" => "UnknownMember",
        |profile| with_member(profile).heartbeat(MADE_UP, generation(1)).into();
    oracle_a_heartbeat_of_another_generation: "testHeartbeatIllegalGeneration",
        "a stable group in generation 1", "heartbeat with generation 2" => "IllegalGeneration",
        |profile| {
            let mut desk = desk(profile);
            let (member, _) = desk.first_member(join(C1));
            desk.heartbeat(member, generation(2)).into()
        };
    oracle_a_valid_heartbeat: "testValidHeartbeat",
        "a stable group in generation 1", "heartbeat with generation 1" => "OK",
        |profile| {
            let mut desk = desk(profile);
            let (member, _) = desk.first_member(join(C1));
            desk.heartbeat(member, generation(1)).into()
        };
    oracle_a_commit_to_an_unknown_group: "testCommitOffsetFromUnknownGroup",
        "no group", "commit with generation 1" => "IllegalGeneration",
        |profile| desk(profile).commit(C1, generation(1), &[(0, 7)]).into();
    oracle_a_commit_with_neither_id_nor_generation: "testCommitOffsetWithDefaultGeneration",
        "no group", "commit with no id and generation -1" => "OK, 7 stored",
        |profile| {
            let mut desk = desk(profile);
            let outcome = desk.outcome(&Request::SimpleCommit { offsets: at(&[(0, 7)]) });
            format!("{outcome}, {} stored", desk.committed(0))
        };
    oracle_a_heartbeat_during_a_rebalance: "testHeartbeatDuringRebalanceCausesRebalanceInProgress",
        "a stable group of one, then a second member joins", "the first one's heartbeat, with its generation" => "RebalanceInProgress",
        |profile| {
            let mut desk = desk(profile);
            let (member, held) = desk.first_member(join(C1));
            desk.ask(&request(join(C2)));
            desk.heartbeat(member, held).into()
        };
    oracle_generations_count_up: "testGenerationIdIncrementsOnRebalance",
        "no group", "one joins; a second joins, and the window of 100 ms closes" => "generation 1, then OK with generation 2",
        |profile| {
            let mut desk = desk(profile);
            let (_, first) = desk.first_member(join(C1));
            let second = desk.ask(&request(join(C2)));
            assert_eq!(desk.answer(second), None, "it waits for the first one");
            desk.wait(SESSION);
            let answer = word(desk.answer(second));
            let then = if answer == "OK" {
                format!("{answer} with generation {}", desk.joined(second).generation.number)
            } else {
                answer.to_owned()
            };
            format!("generation {}, then {then}", first.number)
        };
    oracle_leaving_at_the_wrong_coordinator: "testLeaveGroupWrongCoordinator",
        "another broker is coordinator", "leave" => "NotCoordinator",
        |profile| elsewhere(profile).leave(C1).into();
    oracle_leaving_an_unknown_group: "testLeaveGroupUnknownGroup",
        "no group", "leave" => "UnknownMember",
        |profile| desk(profile).leave(C1).into();
    oracle_leaving_as_an_unknown_member: "testLeaveGroupUnknownConsumerExistingGroup",
        "a group of one", "leave with another id" => "UnknownMember",
        |profile| with_member(profile).leave(MADE_UP).into();
    oracle_a_valid_leave: "testValidLeaveGroup",
        "a group of one", "leave" => "OK",
        |profile| {
            let mut desk = desk(profile);
            let (member, _) = desk.first_member(join(C1));
            desk.leave(member).into()
        };
}

fn desk(profile: Profile) -> Desk {
    Desk::new(&settings(profile), &[1])
}

fn elsewhere(profile: Profile) -> Desk {
    Desk::elsewhere(&settings(profile))
}

fn with_member(profile: Profile) -> Desk {
    let mut desk = desk(profile);
    desk.first_member(join(C1));
    desk
}

fn join_with_session(profile: Profile, millis: u64) -> String {
    let session_timeout = Span::from_millis(millis);
    desk(profile).outcome(&request(Join { session_timeout, ..join(C1) })).into()
}

// --- the table ---

/// A fact's row in `docs/oracle.md`: what the document's own profile answers is computed.
fn row(fact: &Fact) -> String {
    let own = (fact.play)(Profile::DocumentOption1);
    let agrees = if own == fact.then { "agrees".to_owned() } else { format!("differs: `{own}`") };
    format!("| `{}` | {} | {} | `{}` | {agrees} |", fact.kafka_test, fact.given, fact.when, fact.then)
}

#[test]
fn oracle_the_table_of_agreement_is_the_computed_one() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/oracle.md");
    let text = std::fs::read_to_string(&path).expect("docs/oracle.md is in the repository");
    let written: Vec<&str> = text.lines().filter(|line| line.starts_with("| `test")).collect();
    let computed: Vec<String> = FACTS.iter().map(row).collect();
    assert_eq!(written, computed, "the table should read:\n{}\n", computed.join("\n"));
}

#[test]
fn oracle_all_21_facts_are_in_the_list_once() {
    let names: std::collections::BTreeSet<_> = FACTS.iter().map(|fact| fact.kafka_test).collect();
    assert_eq!((FACTS.len(), names.len()), (21, 21));
}

/// In option 2 a heartbeat that would be refused is not answered: its channel is closed (decision 18).
#[test]
fn oracle_option_2_differs_from_option_1_in_refused_heartbeats_alone() {
    let differing =
        FACTS.iter().filter(|fact| (fact.play)(Profile::DocumentOption1) != (fact.play)(Profile::DocumentOption2));
    let names: Vec<_> = differing.map(|fact| fact.kafka_test).collect();
    assert_eq!(
        names,
        [
            "testHeartbeatUnknownGroup",
            "testHeartbeatUnknownConsumerExistingGroup",
            "testHeartbeatIllegalGeneration",
            "testHeartbeatDuringRebalanceCausesRebalanceInProgress",
        ]
    );
}
