//! Why the command ends early.

use std::io;

/// Why the command ends early.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The input is bad: where, and what would be right.
    BadInput(String),
    /// Whoever read the output has stopped reading, as `head` does: nothing is wrong.
    ReaderGone,
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        if error.kind() == io::ErrorKind::BrokenPipe {
            Self::ReaderGone
        } else {
            Self::BadInput(format!("cannot write the output: {error}"))
        }
    }
}
