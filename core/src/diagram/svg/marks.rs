//! The marks on the lifelines, row by row, and the heads.

use super::{Writer, color_class, escape, n};
use crate::diagram::FoldState;
use crate::diagram::head::{Head, Meter};
use crate::diagram::layout::{CloseRow, Content, Device, FoldRow, Label, MessageRow, NoteItem, Row, Side, TextBox};
use crate::diagram::measure::Face;
use crate::diagram::place::CROSS_ROOM;
use crate::diagram::scene::{Arrow, Heading, Shape, ShownRow, Tense, Travel};
use crate::diagram::story::{Direction, LabelStyle, NoteKind};

impl Writer<'_> {
    pub(super) fn rows(&mut self) {
        for shown in std::mem::take(&mut self.scene.rows) {
            let layout = self.layout;
            let row = &layout.rows[shown.row];
            match &row.content {
                Content::Message(message) => self.message(row, message, &shown),
                Content::Close(close) => self.close(row, close, &shown),
                Content::Notes(notes) if shown.tense == Tense::Past => {
                    for note in notes {
                        self.note(row, note);
                    }
                }
                Content::Notes(_) => {}
                Content::Divider(label) => self.divider(row, label),
                Content::Fold(fold) => self.fold(row, fold, shown.tense),
            }
            if shown.tense == Tense::Past {
                self.gutters(row);
            }
        }
    }

    fn gutters(&mut self, row: &Row) {
        let (y, right) = (n(row.y + 4.0), n(self.layout.width - 31.0));
        let is_covered = !self.is_finished() && self.scene.covers_gutter(row.y);
        if let Some(time) = row.time.as_ref().filter(|_| !is_covered) {
            self.put(format_args!(r#"<text class="time" x="31" y="{y}">{}</text>"#, escape(time)));
        }
        if let Some(rule) = &row.rule {
            self.put(format_args!(
                r#"<text class="rule" x="{right}" y="{y}" text-anchor="end">{}</text>"#,
                escape(rule)
            ));
        }
    }

    fn message(&mut self, row: &Row, message: &MessageRow, shown: &ShownRow) {
        let Some(arrow) = &shown.arrow else { return };
        let color = color_class(Some(message.color), Shape::Solid);
        match arrow.state.word() {
            None => self.put(format_args!(r#"<g class="{color} future">"#)),
            Some(state) => {
                let (from, to) = (self.node_id(message.from), self.node_id(message.to));
                let (kind, direction, id) = (message.kind.word(), message.direction.word(), row.id.0);
                self.put(format_args!(
                    r#"<g class="{color}" data-message="{kind}" data-kind="{direction}" data-from="{from}" data-to="{to}" data-state="{state}" data-id="{id}">"#
                ));
            }
        }
        self.arrow(row.y, arrow, message.direction.word());
        self.arrow_end(row.y, arrow, message.direction);
        if arrow.state.word().is_some() {
            self.label(row.y, &message.label, arrow.state);
        }
        self.put(format_args!("</g>"));
    }

    /// An arrow's line: as far as it has come in full, onward in dots.
    fn arrow(&mut self, y: f64, arrow: &Arrow, class: &str) {
        let (y, flying) = (n(y), if matches!(arrow.state, Travel::InFlight { .. }) { " flying" } else { "" });
        let path = |stretches: &[(f64, f64)]| {
            stretches.iter().map(|(from, to)| format!("M{} {y}H{}", n(*from), n(*to))).collect::<String>()
        };
        if !arrow.travelled.is_empty() {
            self.put(format_args!(r#"<path class="{class}{flying}" d="{}"/>"#, path(&arrow.travelled)));
        }
        if !arrow.ahead.is_empty() {
            self.put(format_args!(r#"<path class="ahead" d="{}"/>"#, path(&arrow.ahead)));
        }
    }

    fn arrow_end(&mut self, y: f64, arrow: &Arrow, direction: Direction) {
        match arrow.state {
            Travel::Ahead | Travel::Delivered => self.tip(y, arrow, direction, ""),
            Travel::InFlight { x, .. } => {
                self.tip(y, arrow, direction, " future");
                self.put(format_args!(
                    r#"<circle class="ring" cx="{}" cy="{}" r="6"/><circle class="dot" cx="{}" cy="{}" r="4.6"/>"#,
                    n(x),
                    n(y),
                    n(x),
                    n(y)
                ));
            }
            Travel::Lost { x } => {
                self.cross(x, y);
                let (at, anchor) = match arrow.tip.1 {
                    Heading::Left => (x - 10.0, "end"),
                    Heading::Right => (x + 10.0, "start"),
                };
                let (at, y) = (n(at), n(y + 4.0));
                self.put(format_args!(r#"<text class="words" x="{at}" y="{y}" text-anchor="{anchor}">lost</text>"#));
            }
        }
    }

    fn tip(&mut self, y: f64, arrow: &Arrow, direction: Direction, future: &str) {
        let (x, heading) = arrow.tip;
        let back = match heading {
            Heading::Left => 1.0,
            Heading::Right => -1.0,
        };
        match direction {
            Direction::Request => {
                let (base, up, down) = (n(x + back * 9.0), n(y - 4.2), n(y + 4.2));
                self.put(format_args!(r#"<path class="tip{future}" d="M{} {}L{base} {up}V{down}Z"/>"#, n(x), n(y)));
            }
            Direction::Response => {
                let (base, up, down) = (n(x + back * 8.0), n(y - 4.6), n(y + 4.6));
                self.put(format_args!(
                    r#"<path class="chevron{future}" d="M{base} {up}L{} {}L{base} {down}"/>"#,
                    n(x),
                    n(y)
                ));
            }
        }
    }

    /// A label: plain words end at the right edge of their room, a code stands in its outline.
    fn label(&mut self, y: f64, label: &Label, state: Travel) {
        let TextBox { x, y: top, width, height } = label.space;
        let (strong, size) = (escape(&label.strong), n(label.size));
        let middle = n(top + height / 2.0 + label.size * 0.34);
        match label.style {
            LabelStyle::Plain => {
                let raise = if matches!(state, Travel::InFlight { .. }) { 12.0 } else { 10.0 };
                let (right, base) = (n(label.space.right()), n(y - raise));
                let detail = if label.detail.is_empty() {
                    String::new()
                } else {
                    format!(r#"<tspan class="d"> {}</tspan>"#, escape(&label.detail))
                };
                self.put(format_args!(
                    r#"<text x="{right}" y="{base}" text-anchor="end" font-size="{size}"><tspan class="k">{strong}</tspan>{detail}</text>"#
                ));
            }
            LabelStyle::Code => {
                let (x, y, w, h, at) = (n(x), n(top), n(width), n(height), n(x + width / 2.0));
                self.put(format_args!(r#"<rect class="code" x="{x}" y="{y}" width="{w}" height="{h}" rx="4"/>"#));
                self.put(format_args!(
                    r#"<text class="k" x="{at}" y="{middle}" text-anchor="middle" font-size="{size}">{strong}</text>"#
                ));
            }
            LabelStyle::Refused => {
                let cross = x + 10.0;
                let at = n(x + (width + CROSS_ROOM) / 2.0);
                let (rx, ry, w, h) = (n(x), n(top), n(width), n(height));
                self.put(format_args!(r#"<rect class="refused" x="{rx}" y="{ry}" width="{w}" height="{h}" rx="4"/>"#));
                let (left, right, up, down) =
                    (n(cross - 3.5), n(cross + 3.5), n(top + height / 2.0 - 3.5), n(top + height / 2.0 + 3.5));
                self.put(format_args!(
                    r#"<path class="cross" d="M{left} {up}L{right} {down}M{left} {down}L{right} {up}"/>"#
                ));
                self.put(format_args!(
                    r#"<text class="bad" x="{at}" y="{middle}" text-anchor="middle" font-size="{size}">{strong}</text>"#
                ));
            }
        }
    }

    fn close(&mut self, row: &Row, close: &CloseRow, shown: &ShownRow) {
        let Some(arrow) = &shown.arrow else { return };
        let color = color_class(Some(close.color), Shape::Solid);
        match arrow.state.word() {
            None => self.put(format_args!(r#"<g class="{color} future">"#)),
            Some(state) => {
                let (from, to, channel) = (self.node_id(close.from), self.node_id(close.to), close.connection.0);
                self.put(format_args!(
                    r#"<g class="{color}" data-channel="{channel}" data-from="{from}" data-to="{to}" data-state="{state}" data-id="{}">"#,
                    row.id.0
                ));
            }
        }
        self.arrow(row.y, arrow, "close");
        let (x, heading) = arrow.tip;
        let second = match heading {
            Heading::Left => x + 4.0,
            Heading::Right => x - 4.0,
        };
        let (up, down) = (n(row.y - 5.5), n(row.y + 5.5));
        self.put(format_args!(r#"<path class="bars" d="M{} {up}V{down}M{} {up}V{down}"/>"#, n(x), n(second)));
        if arrow.state.word().is_some() {
            self.label(row.y, &close.label, arrow.state);
        }
        self.put(format_args!("</g>"));
    }

    fn note(&mut self, row: &Row, note: &NoteItem) {
        let layout = self.layout;
        let color = layout.lifeline(note.node).and_then(|column| layout.lifelines[column].color);
        let class = color_class(color, Shape::Hollow);
        let callback = match note.kind {
            NoteKind::Callback(callback) => format!(r#" data-callback="{}""#, callback.name()),
            NoteKind::Plain | NoteKind::Intervention | NoteKind::Removed => String::new(),
        };
        self.put(format_args!(r#"<g class="{class}" data-id="{}"{callback}>"#, note.id.0));
        if note.kind == NoteKind::Removed {
            let (x, y) = (n(note.x - 7.0), n(row.y - 7.0));
            self.put(format_args!(r#"<rect class="halo" x="{x}" y="{y}" width="14" height="14"/>"#));
            self.cross(note.x, row.y);
        } else {
            let (from, to) = match note.side {
                Side::Right => (note.x + 6.0, (note.x + 13.0).min(note.space.x)),
                Side::Left => (note.x - 6.0, (note.x - 13.0).max(note.space.right())),
            };
            self.put(format_args!(r#"<path class="tick" d="M{} {}H{}"/>"#, n(from), n(row.y), n(to)));
        }
        match note.kind {
            NoteKind::Callback(_) => self.callback(note),
            NoteKind::Plain | NoteKind::Intervention | NoteKind::Removed => self.words(row, note),
        }
        self.put(format_args!("</g>"));
    }

    fn callback(&mut self, note: &NoteItem) {
        let TextBox { x, y, width, height } = note.space;
        self.put(format_args!(
            r#"<rect class="box" x="{}" y="{}" width="{}" height="{}" rx="4"/>"#,
            n(x),
            n(y),
            n(width),
            n(height)
        ));
        let lines = note.lines.len() as f64;
        let first = y + height / 2.0 - (lines - 1.0) * note.leading / 2.0 + note.size * 0.34;
        let size = n(note.size);
        for (line, text) in note.lines.iter().enumerate() {
            let (y, text) = (n(first + line as f64 * note.leading), escape(text));
            let left = if note.lines.len() > 1 { x + note.pad } else { x + width / 2.0 };
            let anchor = if note.lines.len() > 1 { "start" } else { "middle" };
            self.put(format_args!(
                r#"<text class="call" x="{}" y="{y}" text-anchor="{anchor}" font-size="{size}">{text}</text>"#,
                n(left)
            ));
        }
    }

    fn words(&mut self, row: &Row, note: &NoteItem) {
        let (x, anchor) = match note.side {
            Side::Right => (note.space.x, "start"),
            Side::Left => (note.space.right(), "end"),
        };
        let (x, size) = (n(x), n(note.size));
        for (line, text) in note.lines.iter().enumerate() {
            let (y, text) = (n(row.y + 4.0 + line as f64 * note.leading), escape(text));
            self.put(format_args!(
                r#"<text class="note" x="{x}" y="{y}" text-anchor="{anchor}" font-size="{size}">{text}</text>"#
            ));
        }
    }

    fn divider(&mut self, row: &Row, label: &str) {
        let (size, left, width) = match self.layout.options.device {
            Device::Wide => (12.0, 24.0, (Face::mono(12.0).width(label) + 16.0).max(24.0)),
            Device::Phone => {
                let width = Face::mono(11.0).width(label) + 12.0;
                (11.0, self.layout.width - 4.0 - width, width)
            }
        };
        let (x, top, w, y) = (n(left), n(row.y - 10.0), n(width), n(row.y + 4.2));
        let (middle, label) = (n(left + width / 2.0), escape(label));
        self.put(format_args!(
            r#"<g data-step="{label}"><rect class="pill" x="{x}" y="{top}" width="{w}" height="20" rx="10"/><text class="step" x="{middle}" y="{y}" text-anchor="middle" font-size="{size}">{label}</text></g>"#
        ));
    }

    /// A slanted cut through the bands, and the sentence once it has come to pass.
    fn fold(&mut self, row: &Row, fold: &FoldRow, tense: Tense) {
        self.put(format_args!(r#"<g data-fold="{}" data-state="{}">"#, fold.id.0, fold.state.word()));
        if fold.state == FoldState::Closed && row.bottom > row.top {
            let half = 7.0;
            let layout = self.layout;
            for (column, lifeline) in layout.lifelines.iter().enumerate() {
                if matches!(Shape::of(layout.state_at_height(column, row.y)), Shape::Line | Shape::Dashed) {
                    continue;
                }
                let (left, right) = (n(lifeline.x - half), n(lifeline.x + half));
                let (a, b, c, d) = (n(row.y + 4.5), n(row.y - 3.5), n(row.y + 0.5), n(row.y + 8.5));
                let d = format!("M{left} {a}L{right} {b}V{c}L{left} {d}Z");
                self.put(format_args!(r#"<path class="cut" d="{d}"/>"#));
            }
        }
        if tense == Tense::Past && !fold.words.is_empty() {
            let (x, y, words) = (n(fold.space.x), n(row.y + 4.0), escape(&fold.words));
            self.put(format_args!(r#"<text class="fold" x="{x}" y="{y}">{words}</text>"#));
        }
        self.put(format_args!("</g>"));
    }

    pub(super) fn heads(&mut self) {
        let bottom = n(self.heads_height() - 0.5);
        let width = n(self.layout.width);
        self.put(format_args!(r#"<path class="rule-line" d="M0 {bottom}H{width}"/>"#));
        let xs: Vec<f64> = self.layout.lifelines.iter().map(|lifeline| lifeline.x).collect();
        for (column, head) in self.figure.heads.iter().enumerate().take(xs.len()) {
            let left = column.checked_sub(1).map_or(2.0 * xs[column] - 4.0, |left| xs[column] - xs[left]);
            let right =
                xs.get(column + 1).map_or(2.0 * (self.layout.width - xs[column]) - 4.0, |next| next - xs[column]);
            self.head(head, xs[column], left.min(right) - 8.0);
        }
    }

    fn head(&mut self, head: &Head, x: f64, room: f64) {
        let wide = self.layout.options.device == Device::Wide;
        let face = Face::system(13.5);
        let title = head.name.split(" · ").next().unwrap_or_default();
        let names = if wide { [head.name.as_str(), title] } else { [head.short.as_str(); 2] };
        let fitting = names.into_iter().find(|name| face.width(name) + 16.0 <= room);
        let name = fitting.unwrap_or(&head.short);
        let tag = head.tag.filter(|tag| face.width(&format!("{name} ({tag})")) + 16.0 <= room);
        let whole = tag.map_or_else(|| name.to_owned(), |tag| format!("{name} ({tag})"));
        let width = face.width(&whole);
        let baseline = if wide { 20.0 } else { 17.0 };
        let left = x - (width + 16.0) / 2.0;
        self.swatch(left, baseline - 10.0, head);
        let tag = tag.map(|tag| format!(r#"<tspan class="tag"> ({tag})</tspan>"#)).unwrap_or_default();
        self.put(format_args!(
            r#"<text class="head" x="{}" y="{}">{}{tag}</text>"#,
            n(left + 16.0),
            n(baseline),
            escape(name)
        ));
        let words = if wide { &head.words } else { &head.brief };
        let words = escape(&Face::system(11.5).cut(words, room));
        let below = if wide { 37.0 } else { 33.0 };
        self.put(format_args!(
            r#"<text class="words" x="{}" y="{}" text-anchor="middle">{words}</text>"#,
            n(x),
            n(below)
        ));
        if wide {
            self.meters(&head.meters, x, room);
        }
    }

    /// The state as a square of 10 px.
    fn swatch(&mut self, left: f64, top: f64, head: &Head) {
        let class = color_class(head.color, Shape::of(head.state));
        let (x, y, p) = (n(left), n(top), self.figure.prefix);
        let fill = match Shape::of(head.state) {
            Shape::Solid | Shape::Thin => r#"class="solid"#.to_owned(),
            Shape::Hatched => format!(r#"fill="url(#{p}hatch-{class})" class="hatched"#),
            Shape::Rungs => format!(r#"fill="url(#{p}rungs-{class})" class="rungs"#),
            Shape::Hollow => r#"class="hollow"#.to_owned(),
            Shape::Line | Shape::Dashed => r#"stroke-dasharray="3 2" class="hollow"#.to_owned(),
        };
        self.put(format_args!(r#"<rect {fill} {class}" x="{x}" y="{y}" width="10" height="10" rx="1.5"/>"#));
    }

    fn meters(&mut self, meters: &[Meter], x: f64, room: f64) {
        let face = Face::mono(11.0);
        let label_face = Face::system(11.5);
        let wide = |meter: &Meter| {
            let bar = if meter.left.is_some() { 38.0 } else { 4.0 };
            label_face.width(&meter.label) + bar + face.width(&meter.text)
        };
        let between = 10.0;
        let mut fitting = meters.len();
        let total =
            |count: usize| meters[..count].iter().map(wide).sum::<f64>() + between * count.saturating_sub(1) as f64;
        while fitting > 1 && total(fitting) > room {
            fitting -= 1;
        }
        let mut left = x - total(fitting) / 2.0;
        for meter in &meters[..fitting] {
            self.meter(meter, left, label_face.width(&meter.label));
            left += wide(meter) + between;
        }
    }

    fn meter(&mut self, meter: &Meter, left: f64, label: f64) {
        let y = 53.0;
        self.put(format_args!(r#"<text class="words" x="{}" y="{}">{}</text>"#, n(left), n(y), escape(&meter.label)));
        let mut at = left + label + 4.0;
        if let Some(share) = meter.left {
            let class = color_class(meter.color, Shape::Solid);
            let (x, top) = (n(at), n(y - 6.0));
            self.put(format_args!(
                r#"<rect class="track" x="{x}" y="{top}" width="30" height="4" rx="2"/><rect class="fill {class}" x="{x}" y="{top}" width="{}" height="4" rx="2"/>"#,
                n(30.0 * share)
            ));
            at += 34.0;
        }
        self.put(format_args!(r#"<text class="num" x="{}" y="{}">{}</text>"#, n(at), n(y), escape(&meter.text)));
    }
}
