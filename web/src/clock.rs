//! The wall clock, which moves the cursor while the page plays. No other module has a timer.
//!
//! The run is simulated before it is shown, so how often and how regularly this ticks changes nothing but where the
//! cursor stands: many short frames come to the same as a few long ones. A hidden page's clock stands still.

use std::cell::{Cell, RefCell};
use std::rc::{Rc, Weak};

use gloo_events::EventListener;
use gloo_render::{AnimationFrame, request_animation_frame};
use gloo_timers::callback::Timeout;
use groupscope_core::time::Span;
use web_sys::Document;
use yew::prelude::*;

/// The longest time between two frames that counts: after a longer one the machine was asleep or the page held up,
/// and the reader has not seen what would be skipped.
const LONGEST_FRAME: Span = Span::from_millis(500);

/// Turns the times of frames into the stretches between them.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Beat {
    last: Option<u64>,
}

impl Beat {
    /// The stretch that ends with a frame at `now`, in milliseconds as the browser counts them; none with the first.
    pub fn frame(&mut self, now: f64) -> Span {
        let now = (now * 1_000.0).round().max(0.0) as u64;
        let passed = self.last.map_or(0, |last| now.saturating_sub(last));
        self.last = Some(now);
        Span(passed).min(LONGEST_FRAME)
    }

    /// Forgets the last frame: the time up to the next one does not count.
    pub fn rest(&mut self) {
        self.last = None;
    }
}

/// Calls back at each frame with the time since the one before, until it is dropped.
pub struct Clock {
    ticker: Rc<Ticker>,
    _visibility: Option<EventListener>,
}

struct Ticker {
    beat: Cell<Beat>,
    next: RefCell<Option<AnimationFrame>>,
    tick: Callback<Span>,
}

impl Clock {
    /// Starts it.
    #[must_use]
    pub fn start(tick: Callback<Span>) -> Self {
        let ticker = Rc::new(Ticker { beat: Cell::default(), next: RefCell::default(), tick });
        let document = document();
        if !document.as_ref().is_some_and(Document::hidden) {
            ticker.request();
        }
        let visibility = document.map(|document| {
            let ticker = Rc::downgrade(&ticker);
            EventListener::new(&document.clone(), "visibilitychange", move |_| {
                if let Some(ticker) = ticker.upgrade() {
                    if document.hidden() { ticker.pause() } else { ticker.request() }
                }
            })
        });
        Self { ticker, _visibility: visibility }
    }
}

impl Drop for Clock {
    fn drop(&mut self) {
        self.ticker.pause();
    }
}

impl Ticker {
    fn request(self: &Rc<Self>) {
        let ticker: Weak<Self> = Rc::downgrade(self);
        let frame = request_animation_frame(move |now| {
            if let Some(ticker) = ticker.upgrade() {
                ticker.frame(now);
            }
        });
        self.next.replace(Some(frame));
    }

    fn frame(self: &Rc<Self>, now: f64) {
        let mut beat = self.beat.get();
        let passed = beat.frame(now);
        self.beat.set(beat);
        // The next frame is asked for first: the callback may end the clock, which takes the request back.
        self.request();
        if passed > Span::ZERO {
            self.tick.emit(passed);
        }
    }

    fn pause(&self) {
        self.next.replace(None);
        let mut beat = self.beat.get();
        beat.rest();
        self.beat.set(beat);
    }
}

/// Calls back once the next frame has been painted, unless it is dropped before.
#[must_use]
pub fn after_paint(call: impl FnOnce() + 'static) -> Rc<RefCell<Pending>> {
    let pending = Rc::new(RefCell::new(Pending::default()));
    let later = Rc::downgrade(&pending);
    // A frame's callback runs just before the painting; the first task after it comes when that is done.
    let frame = request_animation_frame(move |_| {
        if let Some(pending) = later.upgrade() {
            pending.borrow_mut().task = Some(Timeout::new(0, call));
        }
    });
    pending.borrow_mut().frame = Some(frame);
    pending
}

/// What [`after_paint`] waits for.
#[derive(Debug, Default)]
pub struct Pending {
    frame: Option<AnimationFrame>,
    task: Option<Timeout>,
}

fn document() -> Option<Document> {
    web_sys::window()?.document()
}

/// Whether the clock goes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Playback {
    /// It stands.
    #[default]
    Paused,
    /// It moves the cursor.
    Playing,
}

/// Runs a clock while `playback` says so.
#[hook]
pub fn use_clock(playback: Playback, tick: Callback<Span>) {
    use_effect_with(playback, move |playback| {
        let clock = match playback {
            Playback::Playing => Some(Clock::start(tick)),
            Playback::Paused => None,
        };
        move || drop(clock)
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    fn total(frames: &[f64]) -> Span {
        let mut beat = Beat::default();
        frames.iter().fold(Span::ZERO, |sum, now| sum + beat.frame(*now))
    }

    #[test]
    fn short_and_long_frames_come_to_the_same() {
        assert_eq!(total(&[1_000.0, 1_016.7, 1_033.3, 1_050.0, 1_400.1]), Span(400_100));
        assert_eq!(total(&[1_000.0, 1_400.1]), Span(400_100));
    }

    #[test]
    fn the_first_frame_only_starts_the_count() {
        assert_eq!(total(&[5_000.0]), Span::ZERO);
    }

    #[test]
    fn a_rest_does_not_count() {
        let mut beat = Beat::default();
        let _ = beat.frame(1_000.0);
        beat.rest();
        assert_eq!(beat.frame(61_000.0), Span::ZERO);
        assert_eq!(beat.frame(61_010.0), Span::from_millis(10));
    }

    #[test]
    fn a_frame_held_up_counts_no_more_than_the_longest() {
        assert_eq!(total(&[0.0, 3_600_000.0]), LONGEST_FRAME);
    }

    #[test]
    fn a_clock_that_goes_back_does_not_count() {
        assert_eq!(total(&[1_000.0, 900.0]), Span::ZERO);
    }
}
