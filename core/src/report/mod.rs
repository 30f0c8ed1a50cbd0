//! A trace to read and to work on: as text, one line an event, and as JSON, one object a line.
//!
//! Both are functions of the trace alone and come out the same byte for byte, natively and in a browser. They are
//! [`Display`](std::fmt::Display) values, so that a long trace can be written piece by piece to anything that takes
//! text: `write!(out, "{}", report::Text::of(&trace))`.

mod json;
mod text;

pub use json::{JsonLines, json_line, json_lines};
pub use text::{Text, text, text_line};

#[cfg(test)]
mod tests;
