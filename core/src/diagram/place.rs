//! Where rows and labels stand.

use super::arrange::{Fold, FoldKind, FoldState, Planned};
use super::layout::{
    CloseRow, Content, Device, Fate, FoldRow, Label, Lifeline, MessageRow, NoteItem, Options, Row, Side, TextBox, color,
};
use super::measure::Face;
use super::story::{Closing, Direction, Entry, LabelStyle, Note, NoteKind, Sending, Story, Told, Words};
use crate::id::NodeId;
use crate::rules::Rules;
use crate::time::Time;

/// The measures of a device, px.
#[derive(Clone, Debug)]
pub(crate) struct Metrics {
    device: Device,
    /// From a lifeline's middle to where its band's surroundings end: half a band and its halo.
    clear: f64,
    /// From an arrow's end to the lifeline's middle.
    pub(crate) arrow: f64,
    /// From a label's end to the lifeline of its consumer.
    label_end: f64,
    code_end: f64,
    code_pad: f64,
    /// From a lifeline to the words of a note, and to the box of a callback.
    note: f64,
    callback: f64,
    callback_pad: f64,
    message_above: f64,
    code_above: f64,
    message_below: f64,
    divider: f64,
    label_size: f64,
    code_size: f64,
    note_size: f64,
    /// From a lifeline to the first rail, and from one rail to the next.
    pub(crate) rail: f64,
    pub(crate) rail_step: f64,
}

const WIDE: Metrics = Metrics {
    device: Device::Wide,
    clear: 7.0,
    arrow: 6.0,
    label_end: 15.0,
    code_end: 15.0,
    code_pad: 7.0,
    note: 18.0,
    callback: 12.0,
    callback_pad: 7.0,
    message_above: 24.0,
    code_above: 27.0,
    message_below: 9.0,
    divider: 32.0,
    label_size: 12.0,
    code_size: 12.0,
    note_size: 12.0,
    rail: 10.0,
    rail_step: 7.0,
};

const PHONE: Metrics = Metrics {
    device: Device::Phone,
    clear: 6.5,
    arrow: 5.5,
    label_end: 11.0,
    code_end: 9.0,
    code_pad: 4.0,
    note: 16.0,
    callback: 8.0,
    callback_pad: 3.0,
    message_above: 22.0,
    code_above: 27.0,
    message_below: 8.0,
    divider: 24.0,
    label_size: 12.0,
    code_size: 11.0,
    note_size: 11.0,
    rail: 9.0,
    rail_step: 7.0,
};

/// Room above the first row, px.
const TOP: f64 = 12.0;
const NOTE_ROW: f64 = 22.0;
const NOTE_LEADING: f64 = 15.0;
const CALLBACK_ROW: f64 = 25.0;
const CALLBACK_BOX: f64 = 20.0;
const CALLBACK_LEADING: f64 = 12.0;
const FOLD_ROW: f64 = 26.0;
const CODE_BOX: f64 = 18.0;
/// The size of a callback's name on a phone, where it is wrapped, and of a fold's sentence.
const CALLBACK_SMALL: f64 = 10.0;
const FOLD_SIZE: f64 = 11.5;
/// A code's cross and the room after it.
pub(crate) const CROSS_ROOM: f64 = 13.0;

impl Metrics {
    fn of(device: Device) -> Self {
        match device {
            Device::Wide => WIDE,
            Device::Phone => PHONE,
        }
    }

    /// The lifelines' middles and the picture's width, for `count` lifelines in a column of `width`.
    fn columns(&self, count: usize, width: f64) -> (Vec<f64>, f64) {
        let gaps = count.saturating_sub(1).max(1) as f64;
        let fits = |(left, right, least): &(f64, f64, f64)| (width - left - right) / gaps >= *least;
        let (left, right, least) = match self.device {
            Device::Wide => {
                [(132.0, 128.0, 200.0), (132.0, 112.0, 175.0)].into_iter().find(fits).unwrap_or((112.0, 88.0, 150.0))
            }
            Device::Phone => (34.0, 44.0, 88.0),
        };
        let widest = match self.device {
            Device::Wide => 260.0,
            Device::Phone => 150.0,
        };
        let gap = ((width - left - right) / gaps).clamp(least, widest);
        let xs = (0..count).map(|position| (left + gap * position as f64).round()).collect();
        let needed = left + gap * count.saturating_sub(1) as f64 + right;
        (xs, width.max(needed).round())
    }

    /// The longest wording that takes at most two lines, else the last but one in three, else the last; on a phone the
    /// last.
    fn note_lines(&self, wordings: &[String], room: f64) -> Vec<String> {
        let face = Face::system(self.note_size);
        let lines = |words: &String| {
            if face.width(words) <= room {
                return vec![words.clone()];
            }
            face.at_colon(words, room).unwrap_or_else(|| face.wrap(words, room, 3))
        };
        let whole = |lines: &Vec<String>| !lines.iter().any(|line| line.ends_with('…'));
        let Some((last, longer)) = wordings.split_last() else { return Vec::new() };
        let longer = match self.device {
            Device::Wide => longer,
            Device::Phone => &[],
        };
        let two = longer.iter().map(lines).find(|lines| lines.len() <= 2 && whole(lines));
        let three = || longer.last().map(lines).filter(whole);
        two.or_else(three).unwrap_or_else(|| lines(last))
    }

    fn callback_lines(&self, name: &str, room: f64) -> (Vec<String>, f64, f64) {
        let fits = |size: f64, text: &str| Face::mono(size).width(text) + 2.0 * self.callback_pad <= room;
        if fits(self.label_size, name) {
            return (vec![name.to_owned()], self.label_size, CALLBACK_BOX);
        }
        let size = match self.device {
            Device::Wide => 11.0,
            Device::Phone => CALLBACK_SMALL,
        };
        let split = name.rfind(char::is_uppercase).unwrap_or(0);
        let (head, tail) = name.split_at(split);
        let room = room - 2.0 * self.callback_pad;
        let lines = [head, tail].map(|part| Face::mono(size).cut(part, room)).to_vec();
        (lines, size, CALLBACK_BOX + CALLBACK_LEADING)
    }
}

/// Places the rows of a story.
pub(crate) struct Placer<'a> {
    story: &'a Story,
    nodes: Vec<NodeId>,
    xs: Vec<f64>,
    pub(crate) metrics: Metrics,
    pub(crate) width: f64,
}

impl<'a> Placer<'a> {
    pub(crate) fn new(story: &'a Story, nodes: Vec<NodeId>, options: &Options) -> Self {
        let metrics = Metrics::of(options.device);
        let (xs, width) = metrics.columns(nodes.len(), options.width);
        Self { story, nodes, xs, metrics, width }
    }

    pub(crate) fn lifelines(&self) -> Vec<Lifeline> {
        self.nodes.iter().zip(&self.xs).map(|(node, x)| Lifeline::new(self.story, *node, *x)).collect()
    }

    /// The position of a node's lifeline: brokers first, then the consumers in their order.
    fn column(&self, node: NodeId) -> usize {
        match node.consumer() {
            Some(consumer) => self.nodes.len() - self.story.cast.consumers.len() + consumer.index(),
            None => self.nodes.iter().position(|other| *other == node).unwrap_or(0),
        }
    }

    fn x(&self, node: NodeId) -> f64 {
        self.xs[self.column(node)]
    }

    /// The gap to the left of a lifeline.
    fn gap(&self, column: usize) -> f64 {
        match column.checked_sub(1) {
            Some(left) => self.xs[column] - self.xs[left],
            None => self.xs[column],
        }
    }

    pub(crate) fn rows(&self, plan: &[Planned]) -> Vec<Row> {
        let mut rows: Vec<Row> = Vec::with_capacity(plan.len());
        let mut top = TOP;
        for (position, planned) in plan.iter().enumerate() {
            let row = match planned {
                Planned::Entry(entry) => {
                    let entry = &self.story.entries[*entry];
                    if let Some(bottom) = self.join_row(rows.last_mut(), entry) {
                        top = bottom;
                        continue;
                    }
                    self.entry_row(entry, top)
                }
                Planned::Divider(label) => {
                    let next = plan[position..].iter().find_map(|planned| match planned {
                        Planned::Entry(entry) => Some(&self.story.entries[*entry]),
                        Planned::Divider(_) | Planned::Fold(_) => None,
                    });
                    let Some(next) = next else { continue };
                    let y = top + self.metrics.divider / 2.0;
                    let content = Content::Divider(label.clone());
                    row(next, (top, y, top + self.metrics.divider), Rules::NONE, content)
                }
                Planned::Fold(fold) => self.fold_row(fold, top),
            };
            top = row.bottom;
            rows.push(row);
        }
        label_gutters(&mut rows, self.metrics.device);
        rows
    }

    fn entry_row(&self, entry: &Entry, top: f64) -> Row {
        match &entry.told {
            Told::Message(sending) => self.message_row(entry, sending, top),
            Told::Close(closing) => self.close_row(entry, closing, top),
            Told::Note(note) => {
                let item = self.note(entry, note, top);
                let (y, bottom) = note_extent(&item, top);
                row(entry, (top, y, bottom), entry.marks, Content::Notes(vec![item]))
            }
        }
    }

    fn message_row(&self, entry: &Entry, sending: &Sending, top: f64) -> Row {
        let m = &self.metrics;
        let above = match sending.words.style {
            LabelStyle::Plain => m.message_above,
            LabelStyle::Code | LabelStyle::Refused => m.code_above,
        };
        let y = top + above;
        let column = self.column(sending.consumer.into());
        let (consumer_x, broker_x) = (self.xs[column], self.x(sending.broker.into()));
        let toward = if broker_x < consumer_x { -1.0 } else { 1.0 };
        let (consumer_end, broker_end) = (consumer_x + toward * m.arrow, broker_x - toward * m.arrow);
        let (consumer, broker) = (NodeId::from(sending.consumer), NodeId::from(sending.broker));
        let (from, to, from_x, to_x) = match sending.direction {
            Direction::Request => (consumer, broker, consumer_end, broker_end),
            Direction::Response => (broker, consumer, broker_end, consumer_end),
        };
        let fate = match (sending.arrives, sending.dropped) {
            (Some(at), _) => Fate::Arrives(at),
            (None, Some(at)) => Fate::Dropped(at),
            (None, None) => Fate::Lost { cross_x: consumer_x - (self.gap(column) * 0.72).round() },
        };
        let label = self.label(column, &sending.words, y);
        let color = color(sending.consumer);
        let message =
            MessageRow { kind: sending.kind, direction: sending.direction, from, to, from_x, to_x, color, fate, label };
        row(entry, (top, y, y + m.message_below), entry.marks, Content::Message(message))
    }

    fn close_row(&self, entry: &Entry, closing: &Closing, top: f64) -> Row {
        let m = &self.metrics;
        let y = top + m.message_above;
        let column = self.column(closing.consumer.into());
        let words = Words { style: LabelStyle::Plain, strong: vec!["close".to_owned()], detail: Vec::new() };
        let close = CloseRow {
            connection: closing.connection,
            from: closing.broker.into(),
            to: closing.consumer.into(),
            from_x: self.x(closing.broker.into()) + m.arrow,
            to_x: self.xs[column] - m.arrow,
            color: color(closing.consumer),
            arrives: closing.arrives,
            label: self.label(column, &words, y),
        };
        row(entry, (top, y, y + m.message_below), entry.marks, Content::Close(close))
    }

    /// Fits a label into the gap left of its consumer: too long, and it loses its detail, then its end.
    fn label(&self, column: usize, words: &Words, y: f64) -> Label {
        let m = &self.metrics;
        let (size, end, pad) = match words.style {
            LabelStyle::Plain => (m.label_size, m.label_end, 0.0),
            LabelStyle::Code => (m.code_size, m.code_end, m.code_pad),
            LabelStyle::Refused => (m.code_size, m.code_end, m.code_pad + CROSS_ROOM / 2.0),
        };
        let face = Face::mono(size);
        let room = self.gap(column) - m.clear - end - 2.0 * pad;
        let (strong, detail) = fit_words(words, face, room);
        let text = if detail.is_empty() { strong.clone() } else { format!("{strong} {detail}") };
        let width = face.width(&text) + 2.0 * pad;
        let (above, height) = match words.style {
            LabelStyle::Plain => (22.0, 15.0),
            LabelStyle::Code | LabelStyle::Refused => (25.0, CODE_BOX),
        };
        let space = TextBox { x: self.xs[column] - end - width, y: y - above, width, height };
        Label { style: words.style, strong, detail, size, space }
    }

    /// Puts words at a lifeline that are said at the same moment as those of the last row into that row, if they are
    /// equal or belong together and there is room. The row's new lower edge.
    fn join_row(&self, last: Option<&mut Row>, entry: &Entry) -> Option<f64> {
        let (last, Told::Note(note)) = (last?, &entry.told) else { return None };
        let Content::Notes(items) = &mut last.content else { return None };
        let item = self.note(entry, note, last.top);
        let together = items.iter().all(|other| {
            let apart = TextBox { x: other.space.x - 24.0, width: other.space.width + 48.0, ..other.space };
            other.node != item.node
                && !TextBox { y: other.space.y, height: other.space.height, ..item.space }.overlaps(&apart)
                && (other.lines.concat() == item.lines.concat() || item.kind == NoteKind::Removed)
        });
        if !together || last.at != entry.at {
            return None;
        }
        let (_, bottom) = note_extent(&item, last.top);
        last.bottom = last.bottom.max(bottom);
        last.rules = entry.marks.iter().fold(last.rules, Rules::and);
        last.id = entry.id;
        items.push(item);
        Some(last.bottom)
    }

    /// Words at the right of their lifeline; at the last one, at its left.
    fn note(&self, entry: &Entry, note: &Note, top: f64) -> NoteItem {
        let m = &self.metrics;
        let column = self.column(note.node);
        let x = self.xs[column];
        let (side, gap) = match self.xs.get(column + 1) {
            Some(next) => (Side::Right, next - x),
            None => (Side::Left, self.gap(column)),
        };
        let callback = matches!(note.kind, NoteKind::Callback(_));
        let offset = if callback { m.callback } else { m.note };
        let room = gap - offset - m.clear;
        let (lines, size, leading, height, pad) = if callback {
            let (lines, size, height) = m.callback_lines(&note.words[0], room);
            (lines, size, CALLBACK_LEADING, height, m.callback_pad)
        } else {
            let lines = m.note_lines(&note.words, room);
            let height = NOTE_LEADING * lines.len() as f64;
            (lines, m.note_size, NOTE_LEADING, height, 0.0)
        };
        let face = if callback { Face::mono(size) } else { Face::system(size) };
        let width = lines.iter().map(|line| face.width(line)).fold(0.0, f64::max) + 2.0 * pad;
        let left = match side {
            Side::Right => x + offset,
            Side::Left => x - offset - width,
        };
        let above = if callback { (CALLBACK_ROW - CALLBACK_BOX) / 2.0 } else { (NOTE_ROW - NOTE_LEADING) / 2.0 };
        let space = TextBox { x: left, y: top + above, width, height };
        NoteItem { id: entry.id, node: note.node, kind: note.kind, lines, side, x, size, leading, pad, space }
    }

    fn fold_row(&self, fold: &Fold, top: f64) -> Row {
        let height = match (self.metrics.device, fold.kind, fold.state) {
            (Device::Wide, _, _) | (Device::Phone, _, FoldState::Open) => FOLD_ROW,
            (Device::Phone, FoldKind::StartUp, FoldState::Closed) => 0.0,
            (Device::Phone, FoldKind::Heartbeats, FoldState::Closed) => 12.0,
        };
        let face = Face::system(FOLD_SIZE);
        let left = self.xs.first().copied().unwrap_or(0.0) + self.metrics.note;
        let right = self.xs.get(1).map_or(self.width, |next| next - self.metrics.clear - 3.0);
        let fitting = fold.words.iter().find(|words| face.width(words) <= right - left);
        let words = fitting.filter(|_| height >= FOLD_ROW).cloned().unwrap_or_default();
        let space = TextBox { x: left, y: top + height / 2.0 - 8.0, width: face.width(&words), height: 16.0 };
        let content = Content::Fold(FoldRow {
            id: fold.id,
            kind: fold.kind,
            state: fold.state,
            from: fold.from,
            until: fold.until,
            words,
            space,
        });
        let rules = match fold.kind {
            FoldKind::StartUp => Rules::NONE,
            FoldKind::Heartbeats => Rules::of(&[crate::rules::Rule::HB2]),
        };
        let (y, bottom) = (top + height / 2.0, top + height);
        Row { id: fold.id, at: fold.from, top, y, bottom, time: None, rules, rule: None, content }
    }
}

/// The longest wording that fits: with the detail, without it, shorter, and at last cut.
fn fit_words(words: &Words, face: Face, room: f64) -> (String, String) {
    let fits = |strong: &str, detail: &str| {
        let between = if detail.is_empty() { 0.0 } else { face.width(" ") };
        face.width(strong) + between + face.width(detail) <= room
    };
    let strongs = || words.strong.iter();
    let details = || words.detail.iter().filter(|detail| !detail.is_empty());
    let both = details().flat_map(|detail| strongs().map(move |strong| (strong, detail)));
    if let Some((strong, detail)) = both.into_iter().find(|(strong, detail)| fits(strong, detail)) {
        return (strong.clone(), detail.clone());
    }
    let alone = strongs().find(|strong| fits(strong, ""));
    let shortest = || words.strong.last().map(|strong| face.cut(strong, room)).unwrap_or_default();
    (alone.cloned().unwrap_or_else(shortest), String::new())
}

fn row(entry: &Entry, (top, y, bottom): (f64, f64, f64), rules: Rules, content: Content) -> Row {
    Row { id: entry.id, at: entry.at, top, y, bottom, time: None, rules, rule: None, content }
}

/// The line and the lower edge of a row that holds a note.
fn note_extent(note: &NoteItem, top: f64) -> (f64, f64) {
    match note.kind {
        NoteKind::Callback(_) => {
            let height = CALLBACK_ROW - CALLBACK_BOX + note.space.height;
            (top + height / 2.0, top + height)
        }
        NoteKind::Plain | NoteKind::Intervention | NoteKind::Removed => {
            let more = NOTE_LEADING * note.lines.len().saturating_sub(1) as f64;
            (top + NOTE_ROW / 2.0, top + NOTE_ROW + more)
        }
    }
}

/// Times and rules in the gutters, where they change. A phone has none.
fn label_gutters(rows: &mut [Row], device: Device) {
    if device == Device::Phone {
        return;
    }
    let (mut time, mut rule) = (String::new(), String::new());
    for row in rows {
        let label = match &row.content {
            Content::Divider(_) => continue,
            Content::Fold(fold) => {
                let (from, until) = (coarse(fold.from), coarse(fold.until));
                if from == until { from } else { format!("{from}–{until}") }
            }
            Content::Message(_) | Content::Close(_) | Content::Notes(_) => seconds(row.at),
        };
        if label != time {
            row.time = Some(label.clone());
            time = label;
        }
        let label = rules_label(row.rules);
        if label != rule && !label.is_empty() {
            row.rule = Some(label.clone());
        }
        rule = label;
    }
}

/// A time in seconds with two decimals, rounded down.
fn seconds(at: Time) -> String {
    let hundredths = at.as_micros() / 10_000;
    format!("{}.{:02}", hundredths / 100, hundredths % 100)
}

/// A time in seconds with at most one decimal.
fn coarse(at: Time) -> String {
    let tenths = at.as_micros() / 100_000;
    if tenths.is_multiple_of(10) { format!("{}", tenths / 10) } else { format!("{}.{}", tenths / 10, tenths % 10) }
}

/// The first two rules, a run of one section's as a range: `HB1`, `HB3 RB1`, `OC1–3`.
pub(crate) fn rules_label(rules: Rules) -> String {
    let ids: Vec<&str> = rules.iter().map(crate::rules::Rule::id).collect();
    match ids.as_slice() {
        [] => String::new(),
        [one] => (*one).to_owned(),
        [first, .., last] if ids.len() > 2 && first[..2] == last[..2] => format!("{first}–{}", &last[2..]),
        [first, second, ..] => format!("{first} {second}"),
    }
}
