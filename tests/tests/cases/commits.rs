//! Group C, and B2: commits before, during and after a rebalance.

use groupscope_core::scenario::OnDeassigned;

use crate::play::{as_the_document, case, play, with};

/// A refused commit is tried once more with the present generation, as the document has it (OC5): C1 still owns the
/// partition.
#[test]
fn case_b2_a_commit_before_and_one_after_the_new_generation() {
    for scenario in [case("B2"), as_the_document(case("B2"))] {
        let run = play(&scenario);
        assert_eq!(run.generations(), ["0.05 1: C1 t 0", "20.09 2: C1 t 0, C2"]);
        assert_eq!(run.commits(), ["16.01 C1 OK", "33.01 C1 IllegalGeneration", "33.07 C1 OK"]);
    }
}

/// The whole batch is refused. What OC5 tries again is the partition that is left.
#[test]
fn case_c5_a_batch_over_two_partitions_one_of_them_lost() {
    for scenario in [case("C5"), as_the_document(case("C5"))] {
        let run = play(&scenario);
        assert_eq!(run.generations()[1], "20.09 2: C1 t 0, C2 t 1");
        assert_eq!(run.commits(), ["35.01 C1 PartitionNotOwned", "35.07 C1 OK", "36.01 C1 OK"]);
        assert_eq!((run.committed(0), run.committed(1)), (500, 0));
    }
}

/// The answer waits for three seconds in a process that stands still, and is read in generation 3. It makes C1 ask by a
/// heartbeat whether it is still a member (OC5), and nothing more.
#[test]
fn case_c7_a_late_answer_about_an_old_generation() {
    for scenario in [case("C7"), as_the_document(case("C7"))] {
        let run = play(&scenario);
        assert_eq!(run.generations()[2..], ["20.129998 3: C1 t 0-1, C2 t 2, C3 t 3"]);
        assert_eq!(run.refusals("C1").last().map(String::as_str), Some("26.375 commit IllegalGeneration"));
        assert_eq!(run.commits(), ["23.37 C1 IllegalGeneration", "26.425 C1 OK"]);
        assert_eq!(run.rebalances().len(), 3, "one for each of the three");
    }
}

/// C1 commits in `onPartitionDeassigned()`, before it joins: accepted, in both rebalances. What it commits with its old
/// generation when the new one is formed is refused.
#[test]
fn case_c9_commit_then_join() {
    for scenario in [case("C9"), as_the_document(case("C9"))] {
        let run = play(&with(scenario, |scenario| {
            scenario.consumers[0].settings.on_deassigned = Some(OnDeassigned::Commit);
        }));
        assert_eq!(run.generations()[2], "16.796665 3: C1 t 0-1, C2 t 2-3, C3 t 4-5");
        assert_eq!(run.commits()[..3], ["10.089999 C1 OK", "16.796665 C1 OK", "17.01 C1 IllegalGeneration"]);
    }
}

/// Two groups of one life each, and generation 1 in both. The first commit meets no group; the second one names the id
/// that C1 had and the right number.
#[test]
fn case_c11_the_same_number_another_group() {
    let run = play(&case("C11"));
    assert_eq!(run.removals(), ["20.01 C1 Left"]);
    assert_eq!(run.generations(), ["0.05 1: C1 t 0-1", "21.05 1: C2 t 0-1"]);
    assert_eq!(run.commits()[..2], ["20.015 C1 IllegalGeneration", "22.01 C1 UnknownMember"]);
    assert_eq!(run.committed(0), 0);
}

/// Legal for the coordinator: what was committed later is lower. The trace says that it went back.
#[test]
fn case_c14_a_committed_offset_goes_back() {
    for scenario in [case("C14"), as_the_document(case("C14"))] {
        let run = play(&scenario);
        assert_eq!(run.commits(), ["30.01 C1 OK", "40.01 C1 OK"]);
        assert_eq!((run.went_back(), run.committed(0)), (1, 10));
    }
}
