//! The static geometry of a whole run: lifelines, rows, bands.

use super::arrange::{FoldKind, FoldState, Planned, arrange};
use super::bands::{bands, rails};
use super::clock::{Clock, Knot};
use super::names::{capital, consumer_name};
use super::place::Placer;
use super::story::{Direction, LabelStyle, NoteKind, Story, Told};
use crate::cast::broker_name;
use crate::id::{BrokerId, ConnectionId, ConsumerId, NodeId, NodeKind, RecordId};
use crate::map::{Map, Set};
use crate::message::MessageKind;
use crate::rules::Rules;
use crate::scenario::Picture;
use crate::time::Time;
use crate::view::NodeState;

/// How a picture is drawn.
#[derive(Clone, PartialEq, Debug)]
pub struct Options {
    /// How rows follow one another.
    pub spacing: Spacing,
    /// Which measures apply.
    pub device: Device,
    /// The width of the column that the picture stands in, px. A picture that needs more becomes wider.
    pub width: f64,
    /// What is folded.
    pub folding: Folding,
    /// The folds that are open, by the id of their first record ([`FoldRow::id`]).
    pub opened: Set<RecordId>,
}

impl Options {
    /// A picture for a column of this width, px, in the measures that suit it.
    #[must_use]
    pub fn for_width(width: f64) -> Self {
        let device = if width < 560.0 { Device::Phone } else { Device::Wide };
        Self { spacing: Spacing::Steps, device, width, folding: Folding::AsPictured, opened: Set::new() }
    }
}

/// How rows follow one another.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Spacing {
    /// Evenly, as the document draws them.
    Steps,
}

/// Which measures apply.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Device {
    /// Gutters with times and rules, lifelines 150 px apart or more.
    Wide,
    /// No gutters, short names, lifelines 88 px apart or more.
    Phone,
}

/// What is folded.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Folding {
    /// What comes before the picture, and heartbeats that change nothing, as the picture says.
    AsPictured,
    /// Nothing: every message has its row.
    Nothing,
}

/// A picture of a run. Heights count from its top edge, below the heads.
#[derive(Clone, PartialEq, Debug)]
pub struct Layout {
    /// What it was made for.
    pub options: Options,
    /// Its width, px.
    pub width: f64,
    /// Its height, px.
    pub height: f64,
    /// Its lifelines, from left to right.
    pub lifelines: Vec<Lifeline>,
    /// Its rows, from top to bottom.
    pub rows: Vec<Row>,
    /// For each lifeline its states, from top to bottom.
    pub bands: Vec<Vec<Band>>,
    /// The joins held at the coordinator, in the order in which they began.
    pub rails: Vec<Rail>,
    /// The document's steps.
    pub steps: Vec<Step>,
    /// The moments at which the picture changes, each once.
    pub event_times: Vec<Time>,
    /// The end of what is known of the run.
    pub end: Time,
    pub(crate) clock: Clock,
    /// The row of each record that has one, in order of ids.
    pub(crate) index: Vec<(RecordId, usize)>,
}

/// A lifeline.
#[derive(Clone, PartialEq, Debug)]
pub struct Lifeline {
    /// Whose.
    pub node: NodeId,
    /// Its short name in markup, `data-node`: `B1`, `C2`.
    pub id: String,
    /// Its name: `Coordinator · broker 1` for the one that is coordinator at first, `Broker 2`, `Consumer 2`. Where the
    /// role moves, [`super::Head`] follows.
    pub name: String,
    /// Its middle, px.
    pub x: f64,
    /// The consumer's colour, 0 to 5; `None` for brokers, which have none.
    pub color: Option<u8>,
}

/// A row.
#[derive(Clone, PartialEq, Debug)]
pub struct Row {
    /// The record that it tells of; the last one where it tells of several.
    pub id: RecordId,
    /// When it happens, or begins.
    pub at: Time,
    /// Its upper edge, px.
    pub top: f64,
    /// Its line: an arrow, the middle of a note's first line, a divider's hairline, px.
    pub y: f64,
    /// Its lower edge, px.
    pub bottom: f64,
    /// The time in the left gutter, where it changes; seconds.
    pub time: Option<String>,
    /// The rules that it shows: of each record the one that matters most.
    pub rules: Rules,
    /// The rules in the right gutter, where they change.
    pub rule: Option<String>,
    /// What it holds.
    pub content: Content,
}

/// What a row holds.
#[derive(Clone, PartialEq, Debug)]
pub enum Content {
    /// A message.
    Message(MessageRow),
    /// A channel that the coordinator closes.
    Close(CloseRow),
    /// Words at one lifeline, or at several at the same moment.
    Notes(Vec<NoteItem>),
    /// The document's step that begins here, as it numbers it.
    Divider(String),
    /// A run of rows in one sentence.
    Fold(FoldRow),
}

/// A message's arrow and label.
#[derive(Clone, PartialEq, Debug)]
pub struct MessageRow {
    /// What it is about, `data-message`.
    pub kind: MessageKind,
    /// Which way it goes, `data-kind`.
    pub direction: Direction,
    /// The sender.
    pub from: NodeId,
    /// The receiver.
    pub to: NodeId,
    /// Where the arrow begins, px.
    pub from_x: f64,
    /// Where its tip is, px; for a lost one, where it would be.
    pub to_x: f64,
    /// The colour of its consumer, 0 to 5.
    pub color: u8,
    /// What becomes of it.
    pub fate: Fate,
    /// Its label.
    pub label: Label,
}

/// What becomes of a message.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Fate {
    /// It arrives then.
    Arrives(Time),
    /// It is lost on its way; the cross stands there, px.
    Lost {
        /// The middle of the cross.
        cross_x: f64,
    },
    /// It comes to the other end then, and nobody is there to take it.
    Dropped(Time),
}

/// A message's label.
#[derive(Clone, PartialEq, Debug)]
pub struct Label {
    /// How it is drawn.
    pub style: LabelStyle,
    /// The words in bold.
    pub strong: String,
    /// The words after them; may be empty.
    pub detail: String,
    /// The size of its letters, px.
    pub size: f64,
    /// The room it takes: for a code, the outline. Plain words end at its right edge.
    pub space: TextBox,
}

/// A rectangle, px.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct TextBox {
    /// Its left edge.
    pub x: f64,
    /// Its upper edge.
    pub y: f64,
    /// Its width.
    pub width: f64,
    /// Its height.
    pub height: f64,
}

impl TextBox {
    /// Its right edge.
    #[must_use]
    pub const fn right(&self) -> f64 {
        self.x + self.width
    }

    /// Its lower edge.
    #[must_use]
    pub const fn bottom(&self) -> f64 {
        self.y + self.height
    }

    /// Whether two rectangles share more than an edge.
    #[must_use]
    pub fn overlaps(&self, other: &Self) -> bool {
        self.x < other.right() && other.x < self.right() && self.y < other.bottom() && other.y < self.bottom()
    }
}

/// A channel that the coordinator closes.
#[derive(Clone, PartialEq, Debug)]
pub struct CloseRow {
    /// Which, `data-channel`.
    pub connection: ConnectionId,
    /// The coordinator.
    pub from: NodeId,
    /// The consumer.
    pub to: NodeId,
    /// Where the line begins, px.
    pub from_x: f64,
    /// Where it ends, px.
    pub to_x: f64,
    /// The consumer's colour, 0 to 5.
    pub color: u8,
    /// When the consumer learns it, if it does.
    pub arrives: Option<Time>,
    /// Its label.
    pub label: Label,
}

/// Words at a lifeline.
#[derive(Clone, PartialEq, Debug)]
pub struct NoteItem {
    /// The record that it tells of.
    pub id: RecordId,
    /// Whose lifeline.
    pub node: NodeId,
    /// What it is.
    pub kind: NoteKind,
    /// Its lines.
    pub lines: Vec<String>,
    /// On which side of the lifeline.
    pub side: Side,
    /// The lifeline, px.
    pub x: f64,
    /// The size of its letters, px.
    pub size: f64,
    /// From one line to the next, px.
    pub leading: f64,
    /// Between a callback's box and its name, px.
    pub pad: f64,
    /// The room that the words take; for a callback, its box.
    pub space: TextBox,
}

/// A side of a lifeline.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Side {
    /// Left.
    Left,
    /// Right.
    Right,
}

/// A run of rows in one sentence.
#[derive(Clone, PartialEq, Debug)]
pub struct FoldRow {
    /// The record of the first row in it: what [`Options::opened`] names it by.
    pub id: RecordId,
    /// What it holds.
    pub kind: FoldKind,
    /// Whether it is open.
    pub state: FoldState,
    /// When what it holds begins.
    pub from: Time,
    /// When it ends.
    pub until: Time,
    /// What it says; empty where there is no room for it.
    pub words: String,
    /// The room that the words take.
    pub space: TextBox,
}

/// A stretch of a lifeline in one state.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Band {
    /// The state.
    pub state: NodeState,
    /// Since when.
    pub since: Time,
    /// Where it begins, px. It ends where the next one begins.
    pub y: f64,
}

/// A join held by the coordinator.
#[derive(Clone, PartialEq, Debug)]
pub struct Rail {
    /// Whose.
    pub consumer: ConsumerId,
    /// The consumer's colour, 0 to 5.
    pub color: u8,
    /// Its middle, px.
    pub x: f64,
    /// The coordinator's lifeline, px.
    pub lifeline_x: f64,
    /// Where it begins: the line of the join, px.
    pub top: f64,
    /// Where it ends: the line of the answer, px.
    pub bottom: f64,
    /// Since when the join is held.
    pub since: Time,
    /// Until when; [`Time::MAX`] if it still is at the end of what is known.
    pub until: Time,
}

/// A step of the document.
#[derive(Clone, PartialEq, Debug)]
pub struct Step {
    /// As the document numbers it.
    pub label: String,
    /// When it begins.
    pub at: Time,
    /// The record that begins it.
    pub id: RecordId,
    /// The position of its divider among the rows.
    pub row: usize,
}

/// The consumer's colour, 0 to 5: from the seventh on the six repeat.
#[must_use]
pub const fn color(consumer: ConsumerId) -> u8 {
    (consumer.0 % 6) as u8
}

impl Layout {
    /// Places a story.
    #[must_use]
    pub fn new(story: &Story, picture: Option<&Picture>, options: &Options) -> Self {
        let plan = arrange(story, picture, options);
        let placer = Placer::new(story, lifeline_nodes(story, &plan), options);
        let rows = placer.rows(&plan);
        let height = rows.last().map_or(0.0, |row| row.bottom) + NOW_ROOM;
        let clock = Clock::new(knots(&rows, story.end, height));
        let index = index(&rows);
        let mut layout = Self {
            options: options.clone(),
            width: placer.width,
            height,
            lifelines: placer.lifelines(),
            bands: Vec::new(),
            rails: Vec::new(),
            steps: steps(&rows),
            event_times: Vec::new(),
            end: story.end,
            clock,
            index,
            rows,
        };
        layout.bands = bands(story, &layout);
        layout.rails = rails(story, &layout, &placer.metrics);
        layout.event_times = event_times(&layout);
        layout
    }

    /// The lifeline of a node, by its position; `None` for a node that does not appear.
    #[must_use]
    pub fn lifeline(&self, node: NodeId) -> Option<usize> {
        self.lifelines.iter().position(|lifeline| lifeline.node == node)
    }

    /// Where the now line stands at a time, px.
    #[must_use]
    pub fn y_at(&self, time: Time) -> f64 {
        self.clock.y(time)
    }

    /// The time at a height, px: what a click there seeks.
    #[must_use]
    pub fn time_at(&self, y: f64) -> Time {
        self.clock.time(y)
    }

    /// The row that tells of a record, by its position.
    #[must_use]
    pub fn row_of(&self, id: RecordId) -> Option<usize> {
        let found = self.index.binary_search_by_key(&id, |(id, _)| *id).ok()?;
        Some(self.index[found].1)
    }

    /// The next moment after `time` at which the picture changes.
    #[must_use]
    pub fn next_event(&self, time: Time) -> Option<Time> {
        self.event_times.get(self.event_times.partition_point(|at| *at <= time)).copied()
    }

    /// The last moment before `time` at which the picture changes.
    #[must_use]
    pub fn previous_event(&self, time: Time) -> Option<Time> {
        self.event_times.partition_point(|at| *at < time).checked_sub(1).map(|last| self.event_times[last])
    }

    /// The next step of the document after `time`.
    #[must_use]
    pub fn next_step(&self, time: Time) -> Option<&Step> {
        self.steps.get(self.steps.partition_point(|step| step.at <= time))
    }

    /// The last step of the document that began before `time`.
    #[must_use]
    pub fn previous_step(&self, time: Time) -> Option<&Step> {
        self.steps.partition_point(|step| step.at < time).checked_sub(1).map(|last| &self.steps[last])
    }

    /// The step of the document that `time` is in.
    #[must_use]
    pub fn step_at(&self, time: Time) -> Option<&Step> {
        self.steps.partition_point(|step| step.at <= time).checked_sub(1).map(|last| &self.steps[last])
    }
}

/// Room for the now line below the last row, px.
const NOW_ROOM: f64 = 24.0;

/// Who has a lifeline: the coordinator, other brokers that a row is about, the consumers.
fn lifeline_nodes(story: &Story, plan: &[Planned]) -> Vec<NodeId> {
    let mut brokers: Set<BrokerId> = Set::new();
    for planned in plan {
        if let Planned::Entry(entry) = planned {
            match &story.entries[*entry].told {
                Told::Message(sending) => drop(brokers.insert(sending.broker)),
                Told::Close(closing) => drop(brokers.insert(closing.broker)),
                Told::Note(note) => brokers.extend(note.node.broker()),
            }
        }
    }
    brokers.remove(&story.coordinator);
    let consumers = (0..story.cast.consumers.len()).map(|consumer| NodeId::from(ConsumerId(consumer as u32)));
    let brokers = std::iter::once(story.coordinator).chain(brokers).map(NodeId::from);
    brokers.chain(consumers).collect()
}

impl Lifeline {
    pub(crate) fn new(story: &Story, node: NodeId, x: f64) -> Self {
        match node.kind() {
            NodeKind::Broker(broker) => {
                let title = if broker == story.coordinator { "Coordinator · broker" } else { "Broker" };
                let name = format!("{title} {}", broker.0 + 1);
                Self { node, id: broker_name(broker), name, x, color: None }
            }
            NodeKind::Consumer(consumer) => {
                let name = capital(&consumer_name(&story.cast, consumer));
                Self { node, id: story.cast.node(node), name, x, color: Some(color(consumer)) }
            }
        }
    }
}

fn index(rows: &[Row]) -> Vec<(RecordId, usize)> {
    let mut index = Map::new();
    for (position, row) in rows.iter().enumerate() {
        match &row.content {
            Content::Message(_) | Content::Close(_) => drop(index.insert(row.id, position)),
            Content::Notes(notes) => index.extend(notes.iter().map(|note| (note.id, position))),
            Content::Divider(_) | Content::Fold(_) => {}
        }
    }
    index.into_iter().collect()
}

fn steps(rows: &[Row]) -> Vec<Step> {
    let mut steps = Vec::new();
    for (position, row) in rows.iter().enumerate() {
        if let Content::Divider(label) = &row.content {
            steps.push(Step { label: label.clone(), at: row.at, id: row.id, row: position });
        }
    }
    steps
}

/// How near the now line comes to an arrow that is still to come, px.
const BEFORE_ARROW: f64 = 3.0;

/// The fixed points of the map from time to height.
fn knots(rows: &[Row], end: Time, height: f64) -> Vec<Knot> {
    let mut knots = vec![Knot { at: Time::ZERO, before: 0.0, after: 4.0 }];
    for row in rows {
        match &row.content {
            Content::Message(_) | Content::Close(_) => {
                knots.push(Knot { at: row.at, before: row.y - BEFORE_ARROW, after: row.bottom });
            }
            // What is to come has no notes, so the line may come as far as it will stand when they are told.
            Content::Notes(_) => knots.push(Knot { at: row.at, before: row.bottom, after: row.bottom }),
            Content::Divider(_) => knots.push(Knot { at: row.at, before: row.y - BEFORE_ARROW, after: row.bottom }),
            Content::Fold(fold) => match fold.state {
                FoldState::Closed => {
                    knots.push(Knot { at: fold.from, before: row.top, after: row.top });
                    knots.push(Knot { at: fold.until, before: row.bottom, after: row.bottom });
                }
                FoldState::Open => knots.push(Knot { at: fold.from, before: row.bottom, after: row.bottom }),
            },
        }
    }
    knots.push(Knot { at: end, before: height - NOW_ROOM / 2.0, after: height });
    knots
}

/// When the picture changes: rows begin, messages arrive, states change, folds end. What happens within a closed fold
/// is no event.
fn event_times(layout: &Layout) -> Vec<Time> {
    let mut times = Set::new();
    let mut folded = Vec::new();
    for row in &layout.rows {
        match &row.content {
            Content::Message(message) => {
                times.insert(row.at);
                match message.fate {
                    Fate::Arrives(at) | Fate::Dropped(at) => drop(times.insert(at)),
                    Fate::Lost { .. } => {}
                }
            }
            Content::Close(close) => {
                times.insert(row.at);
                times.extend(close.arrives);
            }
            Content::Notes(_) | Content::Divider(_) => drop(times.insert(row.at)),
            Content::Fold(fold) if fold.state == FoldState::Closed => {
                times.insert(fold.until);
                folded.push((fold.from, fold.until));
            }
            Content::Fold(_) => {}
        }
    }
    let shown = |at: &Time| {
        let next = folded.partition_point(|(from, _)| from <= at);
        next == 0 || folded[next - 1].1 <= *at
    };
    let changes = layout.bands.iter().flatten().map(|band| band.since);
    times.extend(changes.filter(|at| *at > Time::ZERO && *at <= layout.end).filter(shown));
    times.into_iter().filter(|at| *at <= layout.end).collect()
}
