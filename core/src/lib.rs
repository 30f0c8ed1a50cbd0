//! Kafka's consumer groups as the design of the 0.9 consumer rewrite has them: state machines of the coordinator and
//! its consumers, a deterministic simulation that drives them, the trace of what happened, and sequence diagrams.
//!
//! No clock, no input or output, no browser; the only randomness comes from a scenario's seed.

pub mod assign;
pub mod broker;
pub mod cast;
pub mod cluster;
pub mod consumer;
pub mod coordinator;
pub mod diagram;
pub mod error;
pub mod generate;
pub mod id;
pub mod invariants;
mod json;
pub mod lessons;
pub mod map;
pub mod measure;
pub mod message;
pub mod offsets;
mod pack;
pub mod report;
pub mod rules;
pub mod scenario;
pub mod shrink;
pub mod sim;
pub mod time;
pub mod trace;
pub mod view;

#[cfg(test)]
mod script;
