//! The decisions where the document is silent or says two things (`docs/protocol.md`), by their numbers.

mod channels;
mod coordinator_failure;
mod deadlines;
mod errors;
mod positions;
mod subscriptions;
mod time;
