//! A picture as plain text for terminals and code blocks: lifelines as columns, a line for each row.

use super::layout::{CloseRow, Content, FoldRow, Label, Layout, MessageRow, NoteItem, Row, Side};
use super::scene::{Arrow, Shape, ShownRow, Tense, Travel, Window};
use super::story::{Direction, LabelStyle, NoteKind};
use crate::id::NodeId;
use crate::time::Time;

/// Which characters are drawn with.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Charset {
    /// Box drawing.
    Unicode,
    /// Nothing but ASCII.
    Ascii,
}

struct Glyphs {
    request: char,
    /// Dashes: one of the two at even columns, the other at odd ones.
    response: [char; 2],
    close: char,
    ahead: char,
    dot: char,
    left: char,
    right: char,
    bars: char,
    cross: char,
    tick: [char; 2],
    divider: char,
    line: char,
    solid: char,
    hollow: char,
    hatched: char,
    rungs: char,
    dashed: char,
}

const UNICODE: Glyphs = Glyphs {
    request: '─',
    response: ['╌', '╌'],
    close: '═',
    ahead: '·',
    dot: '●',
    left: '◀',
    right: '▶',
    bars: '‖',
    cross: '✗',
    tick: ['╶', '╴'],
    divider: '─',
    line: '·',
    solid: '┃',
    hollow: '│',
    hatched: '▒',
    rungs: '╫',
    dashed: '╎',
};

const ASCII: Glyphs = Glyphs {
    request: '-',
    response: ['-', ' '],
    close: '=',
    ahead: '.',
    dot: 'o',
    left: '<',
    right: '>',
    bars: '|',
    cross: 'x',
    tick: ['-', '-'],
    divider: '-',
    line: '.',
    solid: '#',
    hollow: '|',
    hatched: '%',
    rungs: '=',
    dashed: ':',
};

impl Glyphs {
    const fn shape(&self, shape: Shape) -> char {
        match shape {
            Shape::Line => self.line,
            Shape::Solid => self.solid,
            Shape::Thin | Shape::Hollow => self.hollow,
            Shape::Hatched => self.hatched,
            Shape::Rungs => self.rungs,
            Shape::Dashed => self.dashed,
        }
    }
}

/// The picture as it is at `now`, what is to come left out; lines end in `\n` and have no trailing spaces.
#[must_use]
pub fn to_text(layout: &Layout, now: Time, charset: Charset) -> String {
    let glyphs = match charset {
        Charset::Unicode => &UNICODE,
        Charset::Ascii => &ASCII,
    };
    let columns = columns(layout);
    let mut page =
        Page { layout, glyphs, rules_at: columns.last().map_or(0, |last| last + 4), columns, out: String::new() };
    page.names();
    let scene = layout.scene(now, Window::ALL);
    for shown in scene.rows.iter().filter(|shown| shown.tense == Tense::Past) {
        page.row(shown);
    }
    page.legend(charset);
    page.out
}

/// Where the first lifeline stands: after the times.
const FIRST: usize = 12;
const LEAST_GAP: usize = 16;
const WIDEST_NOTE: usize = 34;

/// Each lifeline's column: gaps are as wide as what stands in them.
fn columns(layout: &Layout) -> Vec<usize> {
    let count = layout.lifelines.len();
    let mut gaps = vec![LEAST_GAP; count];
    let mut need = |gap: usize, width: usize| {
        if let Some(gap) = gaps.get_mut(gap) {
            *gap = (*gap).max(width);
        }
    };
    let column = |node: NodeId| layout.lifeline(node).unwrap_or(0);
    for (position, lifeline) in layout.lifelines.iter().enumerate() {
        need(position, lifeline.name.chars().count() + 3);
    }
    for row in &layout.rows {
        match &row.content {
            Content::Message(message) => {
                let consumer = column(message.from).max(column(message.to));
                need(consumer.saturating_sub(1), label(&message.label).chars().count() + 7);
            }
            Content::Close(close) => need(column(close.to).saturating_sub(1), 13),
            Content::Notes(notes) => {
                for note in notes {
                    let gap = match note.side {
                        Side::Right => column(note.node),
                        Side::Left => column(note.node).saturating_sub(1),
                    };
                    need(gap, note_text(note).chars().count().min(WIDEST_NOTE) + 5);
                }
            }
            Content::Fold(fold) => need(0, fold.words.chars().count() + 4),
            Content::Divider(_) => {}
        }
    }
    let mut at = FIRST;
    let mut columns = Vec::with_capacity(count);
    for gap in gaps {
        columns.push(at);
        at += gap;
    }
    columns
}

fn label(label: &Label) -> String {
    let words = match (label.style, label.detail.is_empty()) {
        (LabelStyle::Plain, true) => label.strong.clone(),
        (LabelStyle::Plain, false) => format!("{} {}", label.strong, label.detail),
        (LabelStyle::Code, _) => format!("[{}]", label.strong),
        (LabelStyle::Refused, _) => format!("[x {}]", label.strong),
    };
    format!(" {words} ")
}

fn note_text(note: &NoteItem) -> String {
    match note.kind {
        NoteKind::Callback(callback) => format!("{}()", callback.name()),
        NoteKind::Plain | NoteKind::Intervention | NoteKind::Removed => note.lines.join(" "),
    }
}

struct Page<'a> {
    layout: &'a Layout,
    glyphs: &'static Glyphs,
    columns: Vec<usize>,
    rules_at: usize,
    out: String,
}

/// A line of text to draw on.
struct Line(Vec<char>);

impl Line {
    fn put(&mut self, at: usize, text: &str) {
        for (offset, c) in text.chars().enumerate() {
            self.set(at + offset, c);
        }
    }

    fn set(&mut self, at: usize, c: char) {
        if self.0.len() <= at {
            self.0.resize(at + 1, ' ');
        }
        self.0[at] = c;
    }

    fn end_at(&mut self, end: usize, text: &str) {
        self.put(end.saturating_sub(text.chars().count()), text);
    }
}

impl Page<'_> {
    fn emit(&mut self, line: &Line) {
        let text: String = line.0.iter().collect();
        self.out.push_str(text.trim_end());
        self.out.push('\n');
    }

    fn column(&self, node: NodeId) -> usize {
        self.columns[self.layout.lifeline(node).unwrap_or(0)]
    }

    fn names(&mut self) {
        let mut line = Line(Vec::new());
        let mut free = 0;
        for (column, lifeline) in self.columns.iter().zip(&self.layout.lifelines) {
            let width = lifeline.name.chars().count();
            let at = column.saturating_sub(width / 2).max(free);
            line.put(at, &lifeline.name);
            free = at + width + 1;
        }
        self.emit(&line);
    }

    /// The lifelines at a height.
    fn lifelines(&self, y: f64) -> Line {
        let mut line = Line(Vec::new());
        for (position, column) in self.columns.iter().enumerate() {
            line.set(*column, self.glyphs.shape(Shape::of(self.layout.state_at_height(position, y))));
        }
        line
    }

    fn row(&mut self, shown: &ShownRow) {
        let layout = self.layout;
        let row = &layout.rows[shown.row];
        let mut line = self.lifelines(row.y);
        if let Some(time) = &row.time {
            line.end_at(9, time);
        }
        if let Some(rule) = &row.rule {
            line.put(self.rules_at, rule);
        }
        match &row.content {
            Content::Message(message) => {
                if let Some(arrow) = &shown.arrow {
                    self.message(&mut line, row, message, arrow);
                }
                self.emit(&line);
            }
            Content::Close(close) => {
                self.close(&mut line, row, close);
                self.emit(&line);
            }
            Content::Notes(notes) => self.notes(line, row, notes),
            Content::Divider(label) => {
                let width = self.rules_at + 4;
                let mut line = Line(vec![self.glyphs.divider; width]);
                line.put(2, &format!(" {label} "));
                self.emit(&line);
            }
            Content::Fold(fold) => {
                self.fold(&mut line, fold);
                self.emit(&line);
            }
        }
    }

    fn message(&self, line: &mut Line, row: &Row, message: &MessageRow, arrow: &Arrow) {
        let (from, to) = (self.column(message.from), self.column(message.to));
        let stroke = |at: usize| match message.direction {
            Direction::Request => self.glyphs.request,
            Direction::Response => self.glyphs.response[at % 2],
        };
        self.stroke(line, row, (from, to), stroke);
        let consumer = from.max(to);
        let tip = if to < from { to + 1 } else { to - 1 };
        match arrow.state {
            Travel::Delivered | Travel::Ahead => {
                line.set(if to < from { tip + 1 } else { tip - 1 }, stroke(0));
                line.set(tip, if to < from { self.glyphs.left } else { self.glyphs.right });
            }
            Travel::InFlight { progress, .. } => self.in_flight(line, row, (from, to), progress),
            Travel::Lost { .. } => self.lost(line, row, (from, to)),
        }
        line.end_at(consumer - 2, &label(&message.label));
    }

    /// A line from one column to another; lifelines between them stay in front.
    fn stroke(&self, line: &mut Line, row: &Row, (from, to): (usize, usize), stroke: impl Fn(usize) -> char) {
        for at in from.min(to) + 1..from.max(to) {
            if !self.is_band(at, row) {
                line.set(at, stroke(at));
            }
        }
    }

    fn is_band(&self, at: usize, row: &Row) -> bool {
        let position = self.columns.binary_search(&at);
        position.is_ok_and(|position| Shape::of(self.layout.state_at_height(position, row.y)) != Shape::Line)
    }

    fn in_flight(&self, line: &mut Line, row: &Row, (from, to): (usize, usize), progress: f64) {
        let distance = from.abs_diff(to) as f64;
        let come = ((distance * progress).round() as usize).max(1);
        let dot = if to < from { from - come } else { from + come };
        self.stroke(line, row, (dot, to), |_| self.glyphs.ahead);
        if dot != to {
            line.set(dot, self.glyphs.dot);
        }
    }

    /// A lost message ends in the gap of its consumer.
    fn lost(&self, line: &mut Line, row: &Row, (from, to): (usize, usize)) {
        let position = self.columns.binary_search(&from.max(to)).unwrap_or(0);
        let left = position.checked_sub(1).map_or(0, |left| self.columns[left]);
        if to < from {
            self.stroke(line, row, (left + 8, to), |_| ' ');
            line.put(left + 2, &format!("lost {}", self.glyphs.cross));
        } else {
            line.put(left + 2, &format!("{} lost", self.glyphs.cross));
            let end = self.columns[position];
            self.stroke(line, row, (left + 7, end), |_| ' ');
        }
    }

    fn close(&self, line: &mut Line, row: &Row, close: &CloseRow) {
        let (from, to) = (self.column(close.from), self.column(close.to));
        self.stroke(line, row, (from, to), |_| self.glyphs.close);
        line.set(to - 1, self.glyphs.bars);
        line.end_at(to - 2, &label(&close.label));
    }

    fn notes(&mut self, mut first: Line, row: &Row, notes: &[NoteItem]) {
        let wrapped: Vec<Vec<String>> = notes.iter().map(|note| wrap(&note_text(note), WIDEST_NOTE)).collect();
        let height = wrapped.iter().map(Vec::len).max().unwrap_or(1);
        for index in 0..height {
            let mut line =
                if index == 0 { std::mem::replace(&mut first, Line(Vec::new())) } else { self.lifelines(row.y) };
            for (note, lines) in notes.iter().zip(&wrapped) {
                let Some(text) = lines.get(index) else { continue };
                let column = self.column(note.node);
                if index == 0 && note.kind == NoteKind::Removed {
                    line.set(column, self.glyphs.cross);
                }
                let tick = index == 0 && note.kind != NoteKind::Removed;
                match note.side {
                    Side::Right => {
                        if tick {
                            line.set(column + 1, self.glyphs.tick[0]);
                        }
                        line.put(column + 3, text);
                    }
                    Side::Left => {
                        if tick {
                            line.set(column - 1, self.glyphs.tick[1]);
                        }
                        line.end_at(column - 2, text);
                    }
                }
            }
            self.emit(&line);
        }
    }

    fn fold(&self, line: &mut Line, fold: &FoldRow) {
        if let Some(first) = self.columns.first() {
            line.put(first + 3, &fold.words);
        }
    }

    /// What the lifelines' characters mean, as far as they occur.
    fn legend(&mut self, charset: Charset) {
        let mut shapes: Vec<Shape> = Vec::new();
        for band in self.layout.bands.iter().flatten() {
            let shape = Shape::of(band.state);
            if !shapes.contains(&shape) {
                shapes.push(shape);
            }
        }
        let words = [
            (Shape::Solid, "stable, fetching"),
            (Shape::Hollow, "stopped"),
            (Shape::Hatched, "waits for an answer, rebalances"),
            (Shape::Rungs, "zombie"),
            (Shape::Dashed, "down, paused"),
        ];
        let known = words.iter().filter(|(shape, _)| shapes.contains(shape));
        let known: Vec<String> = known.map(|(shape, words)| format!("{} {words}", self.glyphs.shape(*shape))).collect();
        let between = match charset {
            Charset::Unicode => "   ",
            Charset::Ascii => "    ",
        };
        self.out.push_str(&format!("\n{}\n", known.join(between)));
    }
}

/// The text in lines of at most `width` characters, broken at spaces.
fn wrap(text: &str, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split(' ') {
        let last = lines.len() - 1;
        let fits = lines[last].is_empty() || lines[last].chars().count() + 1 + word.chars().count() <= width;
        if !fits {
            lines.push(word.to_owned());
        } else if lines[last].is_empty() {
            lines[last] = word.to_owned();
        } else {
            lines[last] = format!("{} {word}", lines[last]);
        }
    }
    lines
}
