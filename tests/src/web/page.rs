//! The released page, as a reader uses it.

use super::browser::{Browser, keys};
use super::site::Site;
use serde_json::{Value, json};
use std::fmt;
use std::time::Duration;

/// Every lesson, by the name it has in an address.
pub fn lessons() -> impl Iterator<Item = &'static str> {
    groupscope_core::lessons::all().iter().map(|lesson| lesson.id)
}

/// Functions for the scripts below.
const PRELUDE: &str = include_str!("page.js");
/// How long a page may take to load and draw, on a busy machine.
const LOADING: Duration = Duration::from_secs(60);

/// The released page in a browser of its own.
#[derive(Debug)]
pub struct Page {
    /// For what is not particular to this page.
    pub browser: Browser,
    site: Site,
}

/// A message as the diagram draws it; printed as `C1 -> B1 join request`.
#[derive(Clone, PartialEq, Eq)]
pub struct Drawn {
    /// Its place in the order of sending.
    pub id: String,
    /// What it is about: `metadata`, `join`, `heartbeat`, `commit`.
    pub message: String,
    /// `request` or `response`.
    pub kind: String,
    /// The sender's lifeline.
    pub from: String,
    /// The receiver's lifeline.
    pub to: String,
}

impl Page {
    /// Starts a browser at a lesson of the released page.
    pub fn open(lesson: &str) -> Self {
        let page = Self::new(Site::released());
        page.load(lesson);
        page
    }

    /// Starts a browser that has not loaded the page of the site yet.
    pub fn new(site: Site) -> Self {
        Self { site, browser: Browser::start() }
    }

    /// Loads the page anew, at a lesson.
    pub fn load(&self, lesson: &str) {
        self.load_at(&format!("#lesson={lesson}"));
    }

    /// Loads the page anew, at what stands behind its address.
    pub fn load_at(&self, fragment: &str) {
        // An address that differs in its fragment alone would not be loaded anew.
        self.browser.go("about:blank");
        self.browser.go(&self.site.url(fragment));
        self.browser.wait("document.querySelector('[data-time][data-playing]')", LOADING);
        self.run("await drawn();");
    }

    /// Runs the body of an asynchronous JavaScript function that may use what is in `page.js`.
    #[track_caller]
    pub fn run(&self, body: &str) -> Value {
        self.browser.eval(&format!("{PRELUDE}\nreturn (async () => {{ {body} }})();"), &[])
    }

    /// Presses the button of this name.
    #[track_caller]
    pub fn click(&self, button: &str) {
        self.run(&format!("await press({});", json!(button)));
    }

    /// Presses keys, one after the other, wherever the focus is, and waits for what comes of it.
    #[track_caller]
    pub fn press(&self, keys: &[char]) {
        self.browser.press(keys);
        self.run("await settled();");
    }

    /// Chooses a factor of the wall clock.
    #[track_caller]
    pub fn set_speed(&self, factor: f64) {
        self.run(&format!("setSpeed({factor}); await settled();"));
    }

    /// The cursor's time in microseconds.
    #[track_caller]
    pub fn time_us(&self) -> u64 {
        self.run("return time();").as_u64().expect("data-time is a number of microseconds")
    }

    /// Whether the wall clock runs.
    #[track_caller]
    pub fn is_playing(&self) -> bool {
        self.run("return playing();") == json!(true)
    }

    /// Moves to the start, whatever time the lesson opens at.
    #[track_caller]
    pub fn rewind(&self) {
        self.press(&[keys::HOME]);
        assert_eq!(self.time_us(), 0, "the Home key goes to the start");
    }

    /// Moves to the end, and returns when that is, in microseconds.
    #[track_caller]
    pub fn wind(&self) -> u64 {
        self.press(&[keys::END]);
        self.time_us()
    }

    /// Plays the whole run at eight times the wall clock's pace.
    #[track_caller]
    pub fn play(&self, limit: Duration) {
        let end_us = self.wind();
        self.rewind();
        self.set_speed(8.0);
        self.click("Play");
        self.browser.wait("document.querySelector('[data-playing]').dataset.playing === 'false'", limit);
        assert_eq!(self.time_us(), end_us, "the clock stops at the end");
    }

    /// Steps through the whole run, event by event, and returns how many steps it took.
    #[track_caller]
    pub fn step(&self) -> u64 {
        let end_us = self.wind();
        self.rewind();
        let steps = self.run("return (await pressAsLongAsItMoves('Next event', 10000)).length - 1;");
        assert_eq!(self.time_us(), end_us, "the last event leads to the end");
        steps.as_u64().expect("a number of steps")
    }

    /// The messages that the diagram shows, in the order they were sent.
    #[track_caller]
    pub fn messages(&self) -> Vec<Drawn> {
        let messages = self.run("return messages();");
        messages.as_array().expect("a list").iter().map(Drawn::read).collect()
    }

    /// Fails if the console shows an error since the page was first loaded.
    #[track_caller]
    pub fn assert_no_console_errors(&self) {
        assert_eq!(self.browser.console_errors(), Vec::<String>::new(), "errors on the console");
    }
}

impl Drawn {
    fn read(value: &Value) -> Self {
        let field = |name: &str| {
            let text = value[name].as_str();
            text.unwrap_or_else(|| panic!("a message without data-{name}: {value}")).to_owned()
        };
        Self { id: field("id"), message: field("message"), kind: field("kind"), from: field("from"), to: field("to") }
    }
}

impl fmt::Display for Drawn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} -> {} {} {}", self.from, self.to, self.message, self.kind)
    }
}

impl fmt::Debug for Drawn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "#{} {self}", self.id)
    }
}
