//! The page's state: which run, where the cursor stands, how it plays. A pure function of the actions.
//!
//! Nothing here touches the browser; a lesson is simulated whole when it is chosen, which is a computation and no more.

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
    /// The ids of the lessons opened so far, in the order in which they were.
    pub visited: Rc<Vec<&'static str>>,
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
                let id = playing.run.lesson.id;
                if !self.visited.contains(&id) {
                    Rc::make_mut(&mut self.visited).push(id);
                }
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::address;

    fn app() -> App {
        App::new(address::parse(""))
    }

    fn after(app: App, actions: impl IntoIterator<Item = Action>) -> App {
        let app = actions.into_iter().fold(Rc::new(app), |app, action| app.reduce(action));
        Rc::unwrap_or_clone(app)
    }

    fn at(hash: &str) -> App {
        App::new(address::parse(hash))
    }

    fn end(app: &App) -> Time {
        app.playing().map_or(Time::ZERO, |playing| playing.stops.end)
    }

    #[test]
    fn it_opens_with_the_example_ready_to_play_and_something_under_way() {
        let app = app();
        let playing = app.playing().expect("a run");
        assert_eq!(playing.run.lesson.id, address::START_LESSON);
        assert_eq!(app.playback, Playback::Paused);
        assert!(app.cursor > playing.stops.steps[0].at && app.cursor < playing.stops.steps[1].at);
    }

    #[test]
    fn a_link_lands_paused_at_its_time() {
        let app = at("#lesson=heartbeat&t=2.5s");
        assert_eq!(app.playing().expect("a run").run.lesson.id, "heartbeat");
        assert_eq!((app.cursor, app.playback), (Time(2_500_000), Playback::Paused));
    }

    #[test]
    fn a_bad_link_says_what_is_wrong() {
        for (hash, part) in [("#lesson=nothing", "nothing"), ("#t=1000s", "1000"), ("#t=x", "t=x")] {
            let Shown::Problem(problem) = at(hash).shown else { panic!("{hash} leads somewhere") };
            assert!(problem.contains(part), "{hash}: {problem}");
        }
    }

    #[test]
    fn with_nothing_shown_nothing_plays() {
        let app = after(at("#lesson=nothing"), [Action::Play, Action::Tick(Span::from_secs(1)), Action::Go(Jump::End)]);
        assert_eq!((app.cursor, app.playback), (Time::ZERO, Playback::Paused));
    }

    #[test]
    fn how_often_the_clock_ticks_makes_no_difference() {
        let opened = app();
        let play = |frame: u64| {
            let ticks = (0..1_000_000 / frame).map(|_| Action::Tick(Span(frame)));
            after(opened.clone(), [Action::SetSpeed(Speed::Quarter), Action::Play].into_iter().chain(ticks))
        };
        let (smooth, rough) = (play(1_000), play(250_000));
        assert_eq!(smooth, rough);
        assert_eq!(smooth.cursor, opened.cursor + Span(250_000));
    }

    #[test]
    fn playing_stops_at_the_end_and_then_starts_over() {
        let ended = after(app(), [Action::Play, Action::Tick(Span::from_secs(3_600))]);
        assert_eq!((ended.cursor, ended.playback), (end(&ended), Playback::Paused));
        let again = after(ended, [Action::Play]);
        let start = again.playing().expect("a run").stops.start;
        assert_eq!((again.cursor, again.playback), (start, Playback::Playing));
    }

    #[test]
    fn a_paused_clock_moves_nothing() {
        let app = app();
        assert_eq!(after(app.clone(), [Action::Tick(Span::from_secs(1))]), app);
    }

    #[test]
    fn stepping_pauses_and_leads_back() {
        let app = after(app(), [Action::Play, Action::Go(Jump::Event(Direction::Forward))]);
        assert_eq!(app.playback, Playback::Paused);
        let there = after(app.clone(), [Action::Go(Jump::Event(Direction::Forward))]);
        assert!(there.cursor > app.cursor);
        assert_eq!(after(there, [Action::Go(Jump::Event(Direction::Back))]), app);
    }

    #[test]
    fn steps_go_from_divider_to_divider_and_to_the_ends() {
        let mut app = after(app(), [Action::Go(Jump::Start)]);
        let steps: Vec<Time> = app.playing().expect("a run").stops.steps.iter().map(|step| step.at).collect();
        for at in steps.into_iter().chain([end(&app)]) {
            app = after(app, [Action::Go(Jump::Step(Direction::Forward))]);
            assert_eq!(app.cursor, at);
        }
    }

    #[test]
    fn tenths_stay_within_the_run() {
        let app = app();
        let end = end(&app);
        assert_eq!(after(app.clone(), [Action::Go(Jump::ToTenth(5))]).cursor, Time(end.0 / 2));
        let back = [Action::Go(Jump::Start), Action::Go(Jump::Tenth(Direction::Back))];
        assert_eq!(after(app.clone(), back).cursor, Time::ZERO);
        let forward = [Action::Go(Jump::End), Action::Go(Jump::Tenth(Direction::Forward))];
        assert_eq!(after(app.clone(), forward).cursor, end);
        assert_eq!(after(app, [Action::Seek(Time::MAX)]).cursor, end);
    }

    #[test]
    fn marks_are_rebalances_and_failures() {
        let app = after(at("#lesson=rebalance-member-fails&t=0s"), [Action::Go(Jump::Mark(Direction::Forward))]);
        assert!(app.cursor > Time::ZERO);
    }

    #[test]
    fn a_reader_who_scrolls_is_not_followed_until_the_end_or_another_lesson() {
        let scrolled = after(app(), [Action::SetFollow(Follow::Released), Action::Play, Action::Tick(Span(1_000))]);
        assert_eq!(scrolled.follow, Follow::Released);
        assert_eq!(after(scrolled.clone(), [Action::Go(Jump::End)]).follow, Follow::Following);
        assert_eq!(after(scrolled, [Action::Visit(address::parse("#lesson=rejoin"))]).follow, Follow::Following);
    }

    #[test]
    fn what_was_closed_late_does_not_close_what_was_opened_since() {
        let help = after(app(), [Action::Open(Panel::Help)]);
        assert_eq!(after(help.clone(), [Action::Close(Panel::Lessons)]).panel, Panel::Help);
        assert_eq!(after(help, [Action::Close(Panel::Help)]).panel, Panel::None);
    }

    #[test]
    fn lessons_opened_are_ticked() {
        let app = after(app(), [Action::Visit(address::parse("#lesson=rejoin"))]);
        assert_eq!(*app.visited, [address::START_LESSON, "rejoin"]);
    }

    #[test]
    fn a_fold_that_is_opened_has_events_to_stop_at() {
        use groupscope_core::diagram::{Content, Options};
        let app = app();
        let playing = app.playing().expect("a run");
        let layout = playing.run.layout(&Options::for_width(1_000.0));
        let fold = layout.rows.iter().find_map(|row| match &row.content {
            Content::Fold(fold) => Some(fold.id),
            Content::Message(_) | Content::Close(_) | Content::Notes(_) | Content::Divider(_) => None,
        });
        let fold = fold.expect("a fold");
        let events = |app: &App| app.playing().expect("a run").stops.events.len();
        let opened = after(app.clone(), [Action::Fold(fold)]);
        assert!(events(&opened) > events(&app));
        assert_eq!(after(opened, [Action::Fold(fold)]), app);
    }
}
