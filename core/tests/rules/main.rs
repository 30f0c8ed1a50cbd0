//! Each rule of the protocol and each decision, by its id: a test that fails when it is broken.

#![expect(clippy::wildcard_enum_match_arm, reason = "a test asks for one kind of fact among all")]

#[path = "../common/mod.rs"]
mod common;

mod architecture;
mod decisions;
mod heartbeats;
mod joining;
mod offsets;
mod rebalance;
mod startup;
