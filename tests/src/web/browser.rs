//! A browser, by the WebDriver protocol (<https://www.w3.org/TR/webdriver2/>) and Chromium's additions to it.

use super::driver::Driver;
use base64::Engine;
use base64::engine::general_purpose::STANDARD as BASE64;
use serde_json::{Value, json};
use std::time::{Duration, Instant};
use std::{env, fs, thread};
use ureq::Agent;

/// Code points that stand for keys without a character of their own.
pub mod keys {
    /// Shift, until the end of the keys sent together.
    pub const SHIFT: char = '\u{E008}';
    /// Escape.
    pub const ESCAPE: char = '\u{E00C}';
    /// End.
    pub const END: char = '\u{E010}';
    /// Home.
    pub const HOME: char = '\u{E011}';
    /// Left arrow.
    pub const LEFT: char = '\u{E012}';
    /// Right arrow.
    pub const RIGHT: char = '\u{E014}';
}

/// The size of what the browser shows, in CSS pixels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Viewport {
    /// From left to right.
    pub width: u32,
    /// From top to bottom.
    pub height: u32,
}

/// What the page is told the reader prefers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Theme {
    /// Dark on light.
    Light,
    /// Light on dark.
    Dark,
}

impl Theme {
    /// As in `prefers-color-scheme`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Light => "light",
            Self::Dark => "dark",
        }
    }
}

/// A browser with one empty tab, closed when dropped.
#[derive(Debug)]
pub struct Browser {
    agent: Agent,
    /// The address of the session, below which all commands are.
    session: String,
    /// Dropped after the session is closed.
    _driver: Driver,
}

impl Browser {
    /// Starts the browser that `webdriver.json` describes.
    pub fn start() -> Self {
        let agent = Agent::config_builder().http_status_as_error(false).build().new_agent();
        let driver = Driver::start();
        let sessions = format!("{}/session", driver.url());
        let answer = post(&agent, &sessions, &json!({ "capabilities": { "alwaysMatch": capabilities() } }));
        let id = answer["sessionId"].as_str().expect("a session has an id");
        Self { session: format!("{sessions}/{id}"), agent, _driver: driver }
    }

    /// Loads the document at `url`, and waits until it has.
    pub fn go(&self, url: &str) {
        self.command("url", &json!({ "url": url }));
    }

    /// What the body of a JavaScript function returns, or what its promise does. `arguments` are its `arguments`.
    pub fn eval(&self, body: &str, arguments: &[Value]) -> Value {
        self.command("execute/sync", &json!({ "script": body, "args": arguments }))
    }

    /// Presses the keys one after the other and then releases them all, wherever the focus is.
    pub fn press(&self, keys: &[char]) {
        let down = keys.iter().map(|key| json!({ "type": "keyDown", "value": key }));
        let up = keys.iter().rev().map(|key| json!({ "type": "keyUp", "value": key }));
        let actions: Vec<Value> = down.chain(up).collect();
        self.command("actions", &json!({ "actions": [{ "type": "key", "id": "keyboard", "actions": actions }] }));
    }

    /// Lays the page out anew for this size.
    pub fn set_viewport(&self, viewport: Viewport) {
        let Viewport { width, height } = viewport;
        let metrics = json!({ "width": width, "height": height, "deviceScaleFactor": 1, "mobile": false });
        self.devtools("Emulation.setDeviceMetricsOverride", &metrics);
    }

    /// Sets what the reader prefers.
    pub fn set_theme(&self, theme: Theme) {
        let feature = json!({ "name": "prefers-color-scheme", "value": theme.name() });
        self.devtools("Emulation.setEmulatedMedia", &json!({ "features": [feature] }));
    }

    /// What the browser shows, as a PNG file.
    pub fn screenshot(&self) -> Vec<u8> {
        let image = self.devtools("Page.captureScreenshot", &json!({ "format": "png", "optimizeForSpeed": true }));
        BASE64.decode(image["data"].as_str().expect("an image")).expect("an image in base 64")
    }

    /// The errors on the console since the last call.
    pub fn console_errors(&self) -> Vec<String> {
        let is_error = |entry: &Value| entry["level"] == "SEVERE";
        self.console().iter().filter(|entry| is_error(entry)).map(|entry| entry["message"].to_string()).collect()
    }

    fn console(&self) -> Vec<Value> {
        let entries = self.command("se/log", &json!({ "type": "browser" }));
        entries.as_array().expect("a log is a list").clone()
    }

    /// Asks the page again and again until the JavaScript expression holds, for at most `limit`.
    #[track_caller]
    pub fn wait(&self, expression: &str, limit: Duration) {
        let start = Instant::now();
        while self.eval(&format!("return Boolean({expression})"), &[]) != json!(true) {
            if start.elapsed() > limit {
                panic!("after {limit:?} not yet: {expression}; on the console: {:?}", self.console());
            }
            thread::sleep(Duration::from_millis(20));
        }
    }

    fn devtools(&self, command: &str, parameters: &Value) -> Value {
        self.command("goog/cdp/execute", &json!({ "cmd": command, "params": parameters }))
    }

    fn command(&self, name: &str, body: &Value) -> Value {
        post(&self.agent, &format!("{}/{name}", self.session), body)
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        drop(self.agent.delete(&self.session).call());
    }
}

/// `webdriver.json`, or the file that stands in for it on this machine, and what the tests need beyond it.
fn capabilities() -> Value {
    let checked_in = concat!(env!("CARGO_MANIFEST_DIR"), "/../webdriver.json");
    let path = env::var_os("WASM_BINDGEN_TEST_WEBDRIVER_JSON").unwrap_or_else(|| checked_in.into());
    let text = fs::read_to_string(&path).unwrap_or_else(|error| panic!("cannot read {path:?}: {error}"));
    let mut capabilities: Value = serde_json::from_str(&text).unwrap_or_else(|error| panic!("{path:?}: {error}"));
    capabilities["goog:loggingPrefs"] = json!({ "browser": "ALL" });
    capabilities["timeouts"] = json!({ "script": Duration::from_secs(600).as_millis() as u64 });
    capabilities
}

/// The `value` of the driver's answer.
#[track_caller]
fn post(agent: &Agent, url: &str, body: &Value) -> Value {
    let answer = agent.post(url).send_json(body).and_then(|mut answer| answer.body_mut().read_json::<Value>());
    let mut value = answer.unwrap_or_else(|error| panic!("no answer from the browser's driver: {error}"));
    let value = value["value"].take();
    if let (Some(error), Some(message)) = (value["error"].as_str(), value["message"].as_str()) {
        panic!("{error}: {message}");
    }
    value
}
