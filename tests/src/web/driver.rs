//! The program that drives the browser.

use std::env;
use std::io::{BufRead, BufReader, Lines};
use std::process::{Child, ChildStdout, Command, Stdio};

/// ChromeDriver on a free port, ended when dropped.
#[derive(Debug)]
pub(super) struct Driver {
    child: Child,
    port: u16,
    /// Kept open: the driver writes to it.
    _output: Lines<BufReader<ChildStdout>>,
}

impl Driver {
    pub(super) fn start() -> Self {
        let program = env::var_os("CHROMEDRIVER").unwrap_or_else(|| "chromedriver".into());
        let mut child = Command::new(&program)
            .arg("--port=0")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap_or_else(|error| panic!("cannot start {program:?}: {error}; `cargo xtask test` installs it"));
        let mut output = BufReader::new(child.stdout.take().expect("its output is piped")).lines();
        let port = output.by_ref().map_while(Result::ok).find_map(|line| port_in(&line));
        let port = port.expect("ChromeDriver says on which port it listens");
        Self { child, port, _output: output }
    }

    pub(super) fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }
}

impl Drop for Driver {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

/// `ChromeDriver was started successfully on port 34567.`
fn port_in(line: &str) -> Option<u16> {
    let (_, port) = line.split_once("started successfully on port ")?;
    port.trim_end_matches('.').parse().ok()
}
