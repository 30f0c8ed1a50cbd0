//! What the tests share.

pub mod web;
