//! Messages: a solid line with a filled head for a request, a dashed one with an open head for an answer; a closed
//! channel; and what becomes of them.

use groupscope_core::diagram::{Arrow, Content, Direction, Heading, Label, LabelStyle, Layout, Row, Shape, Travel};
use groupscope_core::id::NodeId;
use yew::prelude::*;

use super::band::class;
use super::markup::{Markup, Rect, Way};

/// What a row sends: a message or, where the coordinator closes a channel, that.
#[derive(Clone, Copy, Debug)]
struct Sending<'a> {
    y: f64,
    id: u32,
    class: &'static str,
    what: What,
    from: &'a str,
    to: &'a str,
    label: &'a Label,
}

#[derive(Clone, Copy, Debug)]
enum What {
    /// The word for its kind, and which way it goes.
    Message(&'static str, Direction),
    /// The number of the channel.
    Close(u32),
}

impl What {
    /// The class of the line.
    const fn line(self) -> &'static str {
        match self {
            Self::Message(_, direction) => direction.word(),
            Self::Close(_) => "close",
        }
    }
}

fn sending<'a>(layout: &'a Layout, row: &'a Row) -> Option<Sending<'a>> {
    let (color, from, to, label, what) = match &row.content {
        Content::Message(message) => {
            let what = What::Message(message.kind.word(), message.direction);
            (message.color, message.from, message.to, &message.label, what)
        }
        Content::Close(close) => (close.color, close.from, close.to, &close.label, What::Close(close.connection.0)),
        Content::Notes(_) | Content::Divider(_) | Content::Fold(_) => return None,
    };
    let (from, to) = (name(layout, from), name(layout, to));
    Some(Sending { y: row.y, id: row.id.0, class: class(Some(color), Shape::Solid), what, from, to, label })
}

fn name(layout: &Layout, node: NodeId) -> &str {
    layout.lifeline(node).map_or("", |column| &layout.lifelines[column].id)
}

/// What has arrived, is lost, or is still to come, as markup. What is not sent yet is drawn without words, and is not
/// marked as a message.
pub(super) fn still(layout: &Layout, row: &Row, arrow: &Arrow, out: &mut Markup) {
    let Some(sending) = sending(layout, row) else { return };
    match arrow.state.word() {
        None => out.open(&format!("{} future", sending.class), &[]),
        Some(state) => sending.open(state, out),
    }
    sending.draw(arrow, out);
    if arrow.state != Travel::Ahead {
        sending.label(out);
    }
    out.close();
}

/// What is on its way, as a node whose moving parts alone are drawn again.
pub(super) fn flying(layout: &Layout, row: &Row, arrow: &Arrow) -> Option<Html> {
    let sending = sending(layout, row)?;
    let state = arrow.state.word()?;
    let (mut drawn, mut label) = (Markup::default(), Markup::default());
    sending.draw(arrow, &mut drawn);
    label.open("row", &[]);
    sending.label(&mut label);
    label.close();
    let id = sending.id.to_string();
    let inside = html! { <>{ drawn.into_html() }{ label.into_html() }</> };
    let Sending { class, from, to, .. } = sending;
    let (from, to) = (from.to_owned(), to.to_owned());
    Some(match sending.what {
        What::Message(kind, direction) => html! {
            <g key={id.clone()} {class} data-message={kind} data-kind={direction.word()} data-from={from} data-to={to}
                data-state={state} data-id={id}>{ inside }</g>
        },
        What::Close(channel) => html! {
            <g key={id.clone()} {class} data-channel={channel.to_string()} data-from={from} data-to={to}
                data-state={state} data-id={id}>{ inside }</g>
        },
    })
}

impl Sending<'_> {
    fn open(&self, state: &str, out: &mut Markup) {
        let id = self.id.to_string();
        let ends = [("from", self.from), ("to", self.to), ("state", state), ("id", &id)];
        match self.what {
            What::Message(kind, direction) => {
                let what = [("message", kind), ("kind", direction.word())];
                out.open(self.class, &[what[0], what[1], ends[0], ends[1], ends[2], ends[3]]);
            }
            What::Close(channel) => {
                let channel = channel.to_string();
                out.open(self.class, &[("channel", &channel), ends[0], ends[1], ends[2], ends[3]]);
            }
        }
    }

    /// The line as far as the message has come, dots onward, and its end.
    fn draw(&self, arrow: &Arrow, out: &mut Markup) {
        let y = self.y;
        let along = |stretches: &[(f64, f64)]| {
            stretches.iter().fold(Way::default(), |way, (from, to)| way.then(*from, y).across(*to))
        };
        let flying = match arrow.state {
            Travel::InFlight { .. } => " flying",
            Travel::Ahead | Travel::Delivered | Travel::Lost { .. } => "",
        };
        let line = along(&arrow.travelled);
        if let (What::Message(_, Direction::Request), Travel::Ahead | Travel::Delivered) = (self.what, arrow.state) {
            // The commonest of all is one shape.
            return out.path("request", &line.and(&self.triangle(arrow, HALF_STROKE)));
        }
        out.path(&format!("{}{flying}", self.what.line()), &line);
        if !arrow.ahead.is_empty() {
            out.path("ahead", &along(&arrow.ahead));
        }
        if let Travel::Lost { x } = arrow.state {
            out.cross(x, y, 5.0);
            match arrow.tip.1 {
                Heading::Left => out.text("words end", (x - 10.0, y + 4.0), 11.5, "lost"),
                Heading::Right => out.text("words", (x + 10.0, y + 4.0), 11.5, "lost"),
            }
        } else {
            self.head(arrow, out);
        }
        if let Travel::InFlight { progress, x } = arrow.state {
            let x = forward(arrow.tip.1, x, BESIDE * (1.0 - 2.0 * progress));
            out.circle("ring", x, y, 6.0);
            out.circle("dot", x, y, 4.6);
        }
    }

    /// The head of a request, so much smaller on each side as a stroke around it makes it larger.
    fn triangle(&self, arrow: &Arrow, stroke: f64) -> Way {
        let (tip, heading) = arrow.tip;
        let (base, half) = (forward(heading, tip, stroke - 9.0), 4.2 - stroke);
        Way::from(forward(heading, tip, -stroke), self.y).to(base, self.y - half).along(self.y + half).closed()
    }

    fn head(&self, arrow: &Arrow, out: &mut Markup) {
        let (tip, heading) = arrow.tip;
        let y = self.y;
        let faint = match arrow.state {
            Travel::InFlight { .. } => " faint",
            Travel::Ahead | Travel::Delivered | Travel::Lost { .. } => "",
        };
        let (class, way) = match self.what {
            What::Message(_, Direction::Request) => ("tip", self.triangle(arrow, 0.0)),
            What::Message(_, Direction::Response) => {
                let base = forward(heading, tip, -8.0);
                ("chevron", Way::from(base, y - 4.6).to(tip, y).to(base, y + 4.6))
            }
            What::Close(_) => {
                let second = forward(heading, tip, -4.0);
                ("bars", Way::from(tip, y - 5.5).along(y + 5.5).then(second, y - 5.5).along(y + 5.5))
            }
        };
        out.path(&format!("{class}{faint}"), &way);
    }

    /// Plain words end at the right edge of their room, a code stands in its outline. They stay where they are whether
    /// the message is on its way or has arrived.
    fn label(&self, out: &mut Markup) {
        let Label { style, strong, detail, size, space } = self.label;
        let middle = space.y + space.height / 2.0;
        let base = middle + size * 0.34;
        let outline = Rect { x: space.x, y: space.y, width: space.width, height: space.height, radius: 4.0 }.inset(0.5);
        match style {
            LabelStyle::Plain => {
                let at = (space.right(), self.y - 11.0);
                if detail.is_empty() {
                    out.text("label k", at, *size, strong);
                } else {
                    out.text_in_parts("label", at, *size, &[("k", strong), ("", &format!(" {detail}"))]);
                }
            }
            LabelStyle::Code => {
                out.rect("code", outline, None);
                out.text("k middle", (space.x + space.width / 2.0, base), *size, strong);
            }
            LabelStyle::Refused => {
                out.rect("refused", outline, None);
                out.cross(space.x + 10.0, middle, 3.5);
                out.text("bad middle", (space.x + (space.width + 13.0) / 2.0, base), *size, strong);
            }
        }
    }
}

/// Half the width of an arrow's line, px.
const HALF_STROKE: f64 = 0.75;

/// From an arrow's end to a message that begins or ends its way, px: beside the band instead of half behind it.
const BESIDE: f64 = 8.5;

/// So far onward in the direction of an arrow.
fn forward(heading: Heading, x: f64, by: f64) -> f64 {
    match heading {
        Heading::Left => x - by,
        Heading::Right => x + by,
    }
}
