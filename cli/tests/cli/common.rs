//! Runs the command.

use std::io::Write as _;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

/// The command with some arguments.
pub(crate) fn command(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_groupscope"));
    command.args(arguments).stdin(Stdio::null());
    command
}

/// What became of a run of the command.
pub(crate) struct Done {
    pub(crate) arguments: Vec<String>,
    pub(crate) output: Output,
}

pub(crate) fn groupscope(arguments: &[&str]) -> Done {
    let output = command(arguments).output().expect("groupscope runs");
    Done { arguments: arguments.iter().map(|argument| (*argument).to_owned()).collect(), output }
}

/// The command with something on its standard input.
pub(crate) fn groupscope_reading(input: &str, arguments: &[&str]) -> Done {
    let mut command = command(arguments);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("groupscope starts");
    let mut stdin = child.stdin.take().expect("a pipe");
    let input = input.to_owned();
    // It may end without reading all of it.
    let writer = std::thread::spawn(move || drop(stdin.write_all(input.as_bytes())));
    let output = child.wait_with_output().expect("groupscope ends");
    writer.join().expect("the input is written");
    Done { arguments: arguments.iter().map(|argument| (*argument).to_owned()).collect(), output }
}

impl Done {
    pub(crate) fn error(&self) -> String {
        String::from_utf8_lossy(&self.output.stderr).into_owned()
    }

    /// What it printed; it printed no error.
    #[track_caller]
    pub(crate) fn succeeds(&self) -> String {
        assert_eq!((self.output.status.code(), self.error()), (Some(0), String::new()), "{:?}", self.arguments);
        String::from_utf8(self.output.stdout.clone()).expect("UTF-8")
    }

    /// It printed nothing but an error with all of these in it, and ended with 2.
    #[track_caller]
    pub(crate) fn is_refused(&self, parts: &[&str]) {
        let error = self.error();
        assert_eq!(self.output.status.code(), Some(2), "{:?}: {error}", self.arguments);
        assert_eq!(String::from_utf8_lossy(&self.output.stdout), "", "{:?}", self.arguments);
        for part in parts {
            assert!(error.contains(part), "{:?}: no {part:?} in:\n{error}", self.arguments);
        }
        if let Some(line) = error.strip_prefix("error: ").filter(|_| !error.contains("For more information")) {
            assert_eq!(line.lines().count(), 1, "{error}");
        }
        assert!(!error.contains("panicked"), "{error}");
    }
}

/// A scenario of one consumer, with a further field.
pub(crate) fn scenario(field: &str) -> String {
    let field = if field.is_empty() { String::new() } else { format!(", {field}") };
    let topics = r#""topics": { "orders": { "partitions": 2 } }"#;
    let consumers = r#""consumers": [{ "id": "C1", "topics": ["orders"], "start": "0s" }]"#;
    format!(r#"{{ "until": "3s", {topics}, {consumers}{field} }}"#)
}

/// A file that goes away with the test.
pub(crate) struct ScratchFile {
    path: PathBuf,
}

impl ScratchFile {
    /// `name` is one that no other test uses.
    pub(crate) fn new(name: &str, content: &[u8]) -> Self {
        let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
        std::fs::write(&path, content).expect("the file is written");
        Self { path }
    }

    pub(crate) fn path(&self) -> &str {
        self.path.to_str().expect("a path in UTF-8")
    }
}

impl Drop for ScratchFile {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.path);
    }
}
