//! Tests of the command from outside.

mod command;
mod common;
mod mutations;
