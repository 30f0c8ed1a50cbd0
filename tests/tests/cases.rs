//! Thirty cases from people who run consumer groups, each a scenario (`tests/cases/ID.json`) with what comes of it
//! here. `docs/cases.md` tells them with their public references.
//!
//! They run under the profile `kafka-2015`, with messages that take 10 ms and callbacks that take no time, and many
//! also under the document's own, where what differs is stated: the document starts a rebalance again when a member is
//! missing (EC4), which costs one more round of joins, 20 ms; its consumers have one name for life (decision 16); and
//! it has no leaving (decision 17).

#[path = "cases/assignments.rs"]
mod assignments;
#[path = "cases/commits.rs"]
mod commits;
#[path = "cases/coordinators.rs"]
mod coordinators;
#[path = "cases/departures.rs"]
mod departures;
#[path = "cases/play.rs"]
mod play;
#[path = "cases/timers.rs"]
mod timers;

use std::path::Path;

/// Every file of `tests/cases/` has a paragraph with a public reference, and no paragraph is without its file.
#[test]
fn case_files_and_paragraphs_are_the_same_thirty() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let files = std::fs::read_dir(root.join("cases")).expect("the cases are in the repository");
    let names = files.map(|file| file.expect("a directory entry").file_name().to_string_lossy().into_owned());
    let mut ids: Vec<String> = names.map(|name| name.trim_end_matches(".json").to_owned()).collect();
    let text = std::fs::read_to_string(root.join("../docs/cases.md")).expect("docs/cases.md is in the repository");
    let id_of = |line: &str| Some(line.strip_prefix("**")?.split_once(", [")?.0.to_owned());
    let mut told: Vec<String> = text.lines().filter_map(id_of).collect();
    ids.sort();
    told.sort();
    assert_eq!((ids.len(), &told), (30, &ids));
}
