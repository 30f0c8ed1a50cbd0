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
