//! What a layout shows at a moment.

use super::layout::{Content, Fate, Layout};
use crate::id::ConsumerId;
use crate::time::Time;
use crate::view::NodeState;

/// The part of a picture, px.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Window {
    /// Its upper edge.
    pub top: f64,
    /// Its lower edge.
    pub bottom: f64,
}

impl Window {
    /// The whole picture.
    pub const ALL: Self = Self { top: f64::NEG_INFINITY, bottom: f64::INFINITY };
}

/// What a layout shows at a moment within a window: geometry that depends on time. What does not stands in the
/// layout's rows, which the scene names by their positions.
#[derive(Clone, PartialEq, Debug)]
pub struct Scene {
    /// The moment.
    pub now: Time,
    /// The now line, px.
    pub now_y: f64,
    /// The words of its flag, `4.61 s`.
    pub flag: String,
    /// The rows in view.
    pub rows: Vec<ShownRow>,
    /// The lifelines, in the layout's order.
    pub lifelines: Vec<ShownLifeline>,
    /// The held joins in view that have begun.
    pub rails: Vec<ShownRail>,
    /// The rule that was carried out last, if a row shows one.
    pub lit: Option<LitRule>,
}

impl Scene {
    /// Whether the now line's flag covers what is written in the left gutter at a height, px.
    #[must_use]
    pub fn covers_gutter(&self, y: f64) -> bool {
        (self.now_y - y).abs() < 17.0
    }
}

/// A row in view.
#[derive(Clone, PartialEq, Debug)]
pub struct ShownRow {
    /// Its position among the layout's rows.
    pub row: usize,
    /// Whether it has happened.
    pub tense: Tense,
    /// The arrow, if it is a message or a close.
    pub arrow: Option<Arrow>,
}

/// Whether something has happened yet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Tense {
    /// It has happened, or has begun to.
    Past,
    /// It is still to come: drawn faintly, without words.
    Future,
}

/// An arrow at a moment.
#[derive(Clone, PartialEq, Debug)]
pub struct Arrow {
    /// Where the message is.
    pub state: Travel,
    /// The stretches of its line that it has travelled; it passes behind the bands between.
    pub travelled: Vec<(f64, f64)>,
    /// The stretches that it has yet to travel.
    pub ahead: Vec<(f64, f64)>,
    /// Where its tip is, px, and which way it points.
    pub tip: (f64, Heading),
}

/// Which way an arrow points.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Heading {
    /// To the left.
    Left,
    /// To the right.
    Right,
}

/// Where a message is.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Travel {
    /// Not sent yet.
    Ahead,
    /// On its way.
    InFlight {
        /// How far it has come, 0 to 1.
        progress: f64,
        /// Where it is, px.
        x: f64,
    },
    /// It has arrived.
    Delivered,
    /// It is lost; the cross stands there, px.
    Lost {
        /// The middle of the cross.
        x: f64,
    },
}

impl Travel {
    /// The word for it in markup, `data-state`; `None` for what is still to come, which is not marked.
    #[must_use]
    pub const fn word(self) -> Option<&'static str> {
        match self {
            Self::Ahead => None,
            Self::InFlight { .. } => Some("in-flight"),
            Self::Delivered => Some("delivered"),
            Self::Lost { .. } => Some("lost"),
        }
    }
}

/// How a state is drawn: the pattern says what state it is, whatever the colour.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Shape {
    /// The hairline alone: not there yet.
    Line,
    /// A full band: fetching, stable.
    Solid,
    /// A narrow full band: a broker that is not the coordinator.
    Thin,
    /// Outlined: stopped.
    Hollow,
    /// Outlined and hatched at 45 degrees: waiting for an answer.
    Hatched,
    /// Rungs: a zombie.
    Rungs,
    /// A dashed line: paused, or down.
    Dashed,
}

impl Shape {
    /// The shape of a state.
    #[must_use]
    pub const fn of(state: NodeState) -> Self {
        match state {
            NodeState::NotStarted | NodeState::Starting => Self::Line,
            NodeState::Fetching | NodeState::Stable => Self::Solid,
            NodeState::Up => Self::Thin,
            NodeState::Stopped | NodeState::Empty => Self::Hollow,
            NodeState::Waiting | NodeState::Preparing => Self::Hatched,
            NodeState::Zombie => Self::Rungs,
            NodeState::Paused | NodeState::Down => Self::Dashed,
        }
    }
}

/// A lifeline at a moment.
#[derive(Clone, PartialEq, Debug)]
pub struct ShownLifeline {
    /// Its state at that moment.
    pub state: NodeState,
    /// The stretches in view.
    pub pieces: Vec<Piece>,
}

/// A stretch of a lifeline.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Piece {
    /// Its state.
    pub state: NodeState,
    /// Whether it has come to pass.
    pub tense: Tense,
    /// Its upper edge, px.
    pub top: f64,
    /// Its lower edge, px.
    pub bottom: f64,
    /// Whether the state begins at its upper edge.
    pub starts: Start,
}

/// Whether a piece begins a state or goes on with it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Start {
    /// The state begins here.
    Begins,
    /// It began earlier.
    GoesOn,
}

/// A join held by the coordinator at a moment.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct ShownRail {
    /// Whose.
    pub consumer: ConsumerId,
    /// The consumer's colour, 0 to 5.
    pub color: u8,
    /// Its middle, px.
    pub x: f64,
    /// The coordinator's lifeline, px.
    pub lifeline_x: f64,
    /// Where it begins, px.
    pub top: f64,
    /// Where it ends, px; while the join is held, at the now line.
    pub bottom: f64,
    /// Whether it is still held.
    pub state: RailState,
}

/// Whether a join is still held.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RailState {
    /// It is.
    Held,
    /// It has been answered, or is given up.
    Ended,
}

/// The rule that was carried out last, in the right gutter.
#[derive(Clone, PartialEq, Debug)]
pub struct LitRule {
    /// Its label.
    pub label: String,
    /// The line of the first row that carries it out, px.
    pub top: f64,
    /// The line of the last row that has, px.
    pub bottom: f64,
}

/// A gap of 1 px stays between two states, half of it in each.
const HALF_GAP: f64 = 0.5;
/// From an arrow's tip to the cross of a message that nobody takes: the word "lost" stands between, px.
const LOST_ROOM: f64 = 36.0;
/// From a lifeline's middle to where an arrow behind its band can be seen again, px.
const BEHIND: f64 = 7.0;

impl Layout {
    /// What the picture shows at `now`, in logarithmic time besides what is in the window.
    #[must_use]
    pub fn scene(&self, now: Time, window: Window) -> Scene {
        let now_y = self.y_at(now);
        let first = self.rows.partition_point(|row| row.bottom < window.top);
        let last = self.rows.partition_point(|row| row.top <= window.bottom);
        Scene {
            now,
            now_y,
            flag: flag(now),
            rows: (first..last).map(|row| self.shown_row(row, now)).collect(),
            lifelines: (0..self.lifelines.len())
                .map(|column| self.shown_lifeline(column, now, now_y, window))
                .collect(),
            rails: self.shown_rails(now, now_y, window),
            lit: self.lit_rule(now),
        }
    }

    fn shown_row(&self, position: usize, now: Time) -> ShownRow {
        let row = &self.rows[position];
        let tense = match &row.content {
            Content::Fold(fold) if fold.until > now => Tense::Future,
            Content::Message(_) | Content::Close(_) | Content::Notes(_) | Content::Divider(_) | Content::Fold(_) => {
                if row.at <= now {
                    Tense::Past
                } else {
                    Tense::Future
                }
            }
        };
        let arrow = match &row.content {
            Content::Message(message) => {
                let ends = (message.from_x, message.to_x);
                Some(self.arrow(row.y, ends, travel(row.at, message.fate, ends, now)))
            }
            Content::Close(close) => {
                let ends = (close.from_x, close.to_x);
                let fate = close.arrives.map_or(Fate::Lost { cross_x: close.to_x }, Fate::Arrives);
                Some(self.arrow(row.y, ends, travel(row.at, fate, ends, now)))
            }
            Content::Notes(_) | Content::Divider(_) | Content::Fold(_) => None,
        };
        ShownRow { row: position, tense, arrow }
    }

    fn arrow(&self, y: f64, (from, to): (f64, f64), state: Travel) -> Arrow {
        let (travelled, ahead) = match state {
            Travel::Ahead | Travel::Delivered => (self.stretches(y, from, to), Vec::new()),
            Travel::InFlight { x, .. } => (self.stretches(y, from, x), self.stretches(y, x, to)),
            Travel::Lost { x } => (self.stretches(y, from, x), Vec::new()),
        };
        let heading = if to < from { Heading::Left } else { Heading::Right };
        Arrow { state, travelled, ahead, tip: (to, heading) }
    }

    /// The line from one point to another at a height, without what lies behind the bands between them.
    fn stretches(&self, y: f64, from: f64, to: f64) -> Vec<(f64, f64)> {
        let (left, right) = if from < to { (from, to) } else { (to, from) };
        let first = self.lifelines.partition_point(|lifeline| lifeline.x < left);
        let last = self.lifelines.partition_point(|lifeline| lifeline.x <= right);
        let mut stretches = Vec::new();
        let mut begin = left;
        for column in first..last {
            if Shape::of(self.state_at_height(column, y)) != Shape::Line {
                let x = self.lifelines[column].x;
                if x - BEHIND > begin {
                    stretches.push((begin, x - BEHIND));
                }
                begin = begin.max(x + BEHIND);
            }
        }
        if right > begin {
            stretches.push((begin, right));
        }
        if from > to {
            stretches.reverse();
            stretches.iter_mut().for_each(|(a, b)| std::mem::swap(a, b));
        }
        stretches
    }

    /// The state that a lifeline shows at a height, once everything has happened.
    pub(crate) fn state_at_height(&self, column: usize, y: f64) -> NodeState {
        let bands = &self.bands[column];
        let next = bands.partition_point(|band| band.y <= y);
        next.checked_sub(1).map_or(NodeState::NotStarted, |last| bands[last].state)
    }

    fn shown_lifeline(&self, column: usize, now: Time, now_y: f64, window: Window) -> ShownLifeline {
        let bands = &self.bands[column];
        let begun = bands.partition_point(|band| band.since <= now);
        let state = begun.checked_sub(1).map_or(NodeState::NotStarted, |last| bands[last].state);
        let first = bands.partition_point(|band| band.y < window.top).saturating_sub(1);
        let last = bands.partition_point(|band| band.y <= window.bottom);
        let mut pieces = Vec::new();
        // The present state reaches down to the now line, wherever the next one will begin.
        let current = begun.checked_sub(1).filter(|current| *current < first);
        for position in current.into_iter().chain(first..last) {
            let band = &bands[position];
            let end = bands.get(position + 1).map_or(self.height, |next| next.y);
            let mut piece = |tense, top: f64, bottom: f64, starts| {
                let top = if starts == Start::Begins && top > 0.0 { top + HALF_GAP } else { top };
                if bottom - top > HALF_GAP && bottom >= window.top && top <= window.bottom {
                    pieces.push(Piece { state: band.state, tense, top, bottom, starts });
                }
            };
            if position + 1 < begun {
                piece(Tense::Past, band.y, end.min(now_y) - HALF_GAP, Start::Begins);
            } else if position + 1 == begun {
                piece(Tense::Past, band.y, now_y, Start::Begins);
                piece(Tense::Future, now_y, end - HALF_GAP, Start::GoesOn);
            } else {
                let starts = if band.y >= now_y { Start::Begins } else { Start::GoesOn };
                piece(Tense::Future, band.y.max(now_y), end - HALF_GAP, starts);
            }
        }
        ShownLifeline { state, pieces }
    }

    fn shown_rails(&self, now: Time, now_y: f64, window: Window) -> Vec<ShownRail> {
        let begun = self.rails.partition_point(|rail| rail.since <= now);
        let shown = self.rails[..begun].iter().filter_map(|rail| {
            let (bottom, state) = if rail.until <= now {
                (rail.bottom, RailState::Ended)
            } else {
                (now_y.max(rail.top), RailState::Held)
            };
            let in_view = bottom >= window.top && rail.top <= window.bottom;
            let (consumer, color) = (rail.consumer, rail.color);
            let (x, lifeline_x, top) = (rail.x, rail.lifeline_x, rail.top);
            in_view.then_some(ShownRail { consumer, color, x, lifeline_x, top, bottom, state })
        });
        shown.collect()
    }

    /// The rule of the last row that has happened and has one, and how far up its run goes.
    fn lit_rule(&self, now: Time) -> Option<LitRule> {
        let happened = self.rows.partition_point(|row| row.at <= now);
        let run = self.rows[..happened].iter().rev();
        let mut run = run.filter(|row| !matches!(row.content, Content::Divider(_) | Content::Fold(_)));
        let last = run.next().filter(|row| !row.rules.is_empty())?;
        let mut first = last;
        while first.rule.is_none() {
            first = run.next().filter(|row| row.rules == last.rules)?;
        }
        Some(LitRule { label: first.rule.clone()?, top: first.y, bottom: last.y })
    }
}

/// Where a message is at a moment.
fn travel(sent: Time, fate: Fate, (from, to): (f64, f64), now: Time) -> Travel {
    if now < sent {
        return Travel::Ahead;
    }
    let in_flight = |arrives: Time| {
        let progress = now.since(sent).as_secs_f64() / arrives.since(sent).as_secs_f64();
        Travel::InFlight { progress, x: from + (to - from) * progress }
    };
    match fate {
        Fate::Arrives(at) if now < at => in_flight(at),
        Fate::Arrives(_) => Travel::Delivered,
        Fate::Dropped(at) if now < at => in_flight(at),
        Fate::Dropped(_) => Travel::Lost { x: to - (to - from).signum() * LOST_ROOM },
        Fate::Lost { cross_x } => Travel::Lost { x: cross_x },
    }
}

/// The words of the now line's flag.
fn flag(now: Time) -> String {
    let hundredths = now.as_micros() / 10_000;
    format!("{}.{:02} s", hundredths / 100, hundredths % 100)
}
