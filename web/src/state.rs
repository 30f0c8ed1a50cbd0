//! The page's state: which run, where the cursor stands, how it plays. A pure function of the actions.
//!
//! Nothing here touches the browser; a lesson is simulated whole when it is chosen, which is a computation and no more.

use std::collections::BTreeSet;
use std::rc::Rc;

use groupscope_core::id::RecordId;
use groupscope_core::time::{Span, Time};
use yew::{AttrValue, Reducible};

use crate::address::{Address, START_LESSON};
use crate::clock::Playback;
use crate::format;
use crate::keys::{Direction, Jump};
use crate::run::{Opened, Run, Stops};
use crate::speed::{Remainder, Speed};

/// What the page shows.
#[derive(Clone, PartialEq, Debug)]
pub enum Shown {
    /// A run.
    Run(Playing),
    /// What is wrong with the address.
    Problem(AttrValue),
}

/// A run that is shown.
#[derive(Clone, PartialEq, Debug)]
pub struct Playing {
    /// The run.
    pub run: Rc<Run>,
    /// The folds that the reader has opened.
    pub opened: Rc<Opened>,
    /// Where the cursor can stop.
    pub stops: Rc<Stops>,
}

impl Playing {
    fn new(run: Rc<Run>, opened: Opened) -> Self {
        let stops = Rc::new(run.stops(&opened));
        Self { run, opened: Rc::new(opened), stops }
    }
}

/// Whether the diagram scrolls with the now line.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Follow {
    /// It does.
    #[default]
    Following,
    /// The reader has scrolled: it stays where they put it.
    Released,
}

/// What is open over the page.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Panel {
    /// Nothing.
    #[default]
    None,
    /// The help.
    Help,
    /// The lessons, where the page is too narrow to show them always.
    Lessons,
}

/// What the middle shows where the page is too narrow for two columns.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Tab {
    /// The diagram.
    #[default]
    Diagram,
    /// The lesson's introduction and the rule just carried out.
    About,
}

/// The whole state of the page.
#[derive(Clone, PartialEq, Debug)]
pub struct App {
    /// What is shown.
    pub shown: Shown,
    /// The time it is shown at.
    pub cursor: Time,
    /// Whether the clock goes.
    pub playback: Playback,
    /// How fast.
    pub speed: Speed,
    remainder: Remainder,
    /// Whether the diagram scrolls with the now line.
    pub follow: Follow,
    /// The ids of the lessons that were opened before.
    pub visited: Rc<BTreeSet<&'static str>>,
    /// What is open over it.
    pub panel: Panel,
    /// Which of the middle's tabs is chosen.
    pub tab: Tab,
}

/// What can happen to the page.
#[derive(Clone, PartialEq, Debug)]
pub enum Action {
    /// An address was followed; `Err` says what is wrong with it.
    Visit(Result<Address, String>),
    /// Play, from the start if the cursor is at the end.
    Play,
    /// Pause.
    Pause,
    /// The one or the other.
    TogglePlaying,
    /// A stretch of the wall clock passed while playing.
    Tick(Span),
    /// The reader moved the cursor to a time; playing goes on from there.
    Seek(Time),
    /// The reader moved the cursor to a place.
    Go(Jump),
    /// Another speed.
    SetSpeed(Speed),
    /// The next slower speed.
    Slower,
    /// The next faster speed.
    Faster,
    /// The reader scrolled the diagram, or asks it to follow again.
    SetFollow(Follow),
    /// Something is to be opened over the page, in place of what is, or nothing.
    Open(Panel),
    /// What was open has been closed.
    Close(Panel),
    /// Another tab.
    Choose(Tab),
    /// A fold, by the id of its first record, is to be opened or closed again.
    Fold(RecordId),
}

impl App {
    /// The page as it is opened at an address.
    #[must_use]
    pub fn new(address: Result<Address, String>) -> Self {
        let mut app = Self {
            shown: Shown::Problem("".into()),
            cursor: Time::ZERO,
            playback: Playback::Paused,
            speed: Speed::default(),
            remainder: Remainder::default(),
            follow: Follow::Following,
            visited: Rc::default(),
            panel: Panel::None,
            tab: Tab::Diagram,
        };
        app.visit(address);
        app
    }

    /// The run, if one is shown.
    #[must_use]
    pub fn playing(&self) -> Option<&Playing> {
        match &self.shown {
            Shown::Run(playing) => Some(playing),
            Shown::Problem(_) => None,
        }
    }

    fn visit(&mut self, address: Result<Address, String>) {
        let shown = address.and_then(|address| match address {
            Address::Lesson { id, at } => Self::land(&id, at),
            Address::Bench { .. } => Self::land(START_LESSON, None),
        });
        self.playback = Playback::Paused;
        self.follow = Follow::Following;
        self.remainder = Remainder::default();
        self.panel = Panel::None;
        match shown {
            Ok((playing, cursor)) => {
                Rc::make_mut(&mut self.visited).insert(playing.run.lesson.id);
                self.shown = Shown::Run(playing);
                self.cursor = cursor;
            }
            Err(problem) => {
                self.shown = Shown::Problem(problem.into());
                self.cursor = Time::ZERO;
            }
        }
    }

    fn land(id: &str, at: Option<Time>) -> Result<(Playing, Time), String> {
        let playing = Playing::new(Run::of_lesson(id)?, Opened::new());
        let Stops { opening, end, .. } = *playing.stops;
        match at {
            Some(at) if at > end => {
                let [at, end] = [at, end].map(format::short_seconds);
                Err(format!("“t={at}s” is after the end of this lesson’s run, which lasts {end} s."))
            }
            Some(at) => Ok((playing, at)),
            None => Ok((playing, opening)),
        }
    }

    fn play(&mut self) {
        let Some(playing) = self.playing() else { return };
        if self.cursor >= playing.stops.end {
            self.cursor = playing.stops.start;
            self.follow = Follow::Following;
        }
        self.playback = Playback::Playing;
    }

    fn tick(&mut self, wall: Span) {
        let Some(end) = self.playing().map(|playing| playing.stops.end) else { return };
        if self.playback == Playback::Playing {
            let (passed, remainder) = self.remainder.advance(wall, self.speed);
            self.remainder = remainder;
            self.cursor = (self.cursor + passed).min(end);
            if self.cursor == end {
                self.playback = Playback::Paused;
            }
        }
    }

    fn seek(&mut self, to: Time) {
        let Some(playing) = self.playing() else { return };
        self.cursor = to.min(playing.stops.end);
        self.remainder = Remainder::default();
    }

    fn go(&mut self, jump: Jump) {
        let Some(stops) = self.playing().map(|playing| Rc::clone(&playing.stops)) else { return };
        let end = stops.end;
        let tenths = |count: u64| Time((u128::from(end.0) * u128::from(count) / 10) as u64);
        self.seek(match jump {
            Jump::Event(direction) => stops.event(self.cursor, direction),
            Jump::Step(direction) => stops.step(self.cursor, direction),
            Jump::Mark(direction) => stops.mark(self.cursor, direction),
            Jump::Tenth(Direction::Back) => Time(self.cursor.0.saturating_sub(tenths(1).0)),
            Jump::Tenth(Direction::Forward) => Time(self.cursor.0.saturating_add(tenths(1).0)),
            Jump::ToTenth(count) => tenths(u64::from(count)),
            Jump::Start => Time::ZERO,
            Jump::End => end,
        });
        match jump {
            // By hand: the clock would at once move on from what the reader asked to see.
            Jump::Event(_) | Jump::Step(_) | Jump::Mark(_) => self.playback = Playback::Paused,
            Jump::End => {
                self.playback = Playback::Paused;
                self.follow = Follow::Following;
            }
            Jump::Tenth(_) | Jump::ToTenth(_) | Jump::Start => {}
        }
    }

    fn fold(&mut self, id: RecordId) {
        let Some(playing) = self.playing() else { return };
        let mut opened = Opened::clone(&playing.opened);
        if !opened.remove(&id) {
            opened.insert(id);
        }
        self.shown = Shown::Run(Playing::new(Rc::clone(&playing.run), opened));
    }

    fn apply(&mut self, action: Action) {
        match action {
            Action::Visit(address) => self.visit(address),
            Action::Play => self.play(),
            Action::Pause => self.playback = Playback::Paused,
            Action::TogglePlaying => match self.playback {
                Playback::Paused => self.play(),
                Playback::Playing => self.playback = Playback::Paused,
            },
            Action::Tick(wall) => self.tick(wall),
            Action::Seek(to) => self.seek(to),
            Action::Go(jump) => self.go(jump),
            Action::SetSpeed(speed) => self.speed = speed,
            Action::Slower => self.speed = self.speed.slower(),
            Action::Faster => self.speed = self.speed.faster(),
            Action::SetFollow(follow) => self.follow = follow,
            Action::Open(panel) => self.panel = panel,
            Action::Close(panel) if self.panel == panel => self.panel = Panel::None,
            Action::Close(_) => {}
            Action::Choose(tab) => self.tab = tab,
            Action::Fold(id) => self.fold(id),
        }
    }
}

impl Reducible for App {
    type Action = Action;

    fn reduce(self: Rc<Self>, action: Action) -> Rc<Self> {
        let mut next = Rc::unwrap_or_clone(self);
        next.apply(action);
        Rc::new(next)
    }
}
