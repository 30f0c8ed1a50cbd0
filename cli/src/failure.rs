//! What can go wrong, and what is said of it.

use std::io::{self, ErrorKind, Write};
use std::process::ExitCode;

/// Why a command ends early.
#[derive(Debug)]
pub(crate) enum Failure {
    /// What was asked for cannot be done: where the fault is and what would be right.
    Input(String),
    /// The output cannot be written.
    Output(io::Error),
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Self::Output(error)
    }
}

impl Failure {
    /// Says what went wrong, on one line of standard error, and gives the exit status for it.
    pub(crate) fn report(&self) -> ExitCode {
        match self {
            Self::Input(message) => {
                say(message);
                ExitCode::from(2)
            }
            // Whoever read the output has seen enough.
            Self::Output(error) if error.kind() == ErrorKind::BrokenPipe => ExitCode::SUCCESS,
            Self::Output(error) => {
                say(&format!("cannot write the output: {error}"));
                ExitCode::FAILURE
            }
        }
    }
}

/// An error on one line; names from a file may hold anything.
pub(crate) fn say(message: &str) {
    let line: String = message.chars().flat_map(printable).collect();
    // With standard error closed there is nobody to tell.
    let _ = writeln!(io::stderr(), "error: {line}");
}

fn printable(c: char) -> impl Iterator<Item = char> {
    let escaped = c.is_control().then(|| c.escape_default());
    let plain = escaped.is_none().then_some(c);
    escaped.into_iter().flatten().chain(plain)
}
