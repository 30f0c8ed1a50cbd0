//! Messages: a solid line with a filled head for a request, a dashed one with an open head for an answer; a closed
//! channel; and what becomes of them.

use groupscope_core::diagram::{
    Arrow, CloseRow, Direction, Heading, Label, LabelStyle, Layout, MessageRow, Row, Shape, Travel,
};
use groupscope_core::id::NodeId;
use yew::prelude::*;

use super::band::class;
use super::shape::{Rect, circle, cross, path, px, rich_text, text};

/// A message. What is not sent yet is drawn without words, and is not marked as a message.
pub(super) fn message(layout: &Layout, row: &Row, message: &MessageRow, arrow: &Arrow, key: String) -> Html {
    let class = class(Some(message.color), Shape::Solid);
    let kind = message.direction.word();
    let drawn = html! { <>{ line(row.y, arrow, kind) }{ end(row.y, arrow, message.direction) }</> };
    match arrow.state.word() {
        None => html! { <g {key} class={format!("{class} future")}>{ drawn }</g> },
        Some(state) => html! {
            <g {key} class={format!("row {class}")} data-message={message.kind.word()} data-kind={kind}
                data-from={name(layout, message.from)} data-to={name(layout, message.to)} data-state={state} data-id={row.id.0.to_string()}>
                { drawn }{ label(row.y, &message.label) }
            </g>
        },
    }
}

/// A channel that the coordinator closes.
pub(super) fn close(layout: &Layout, row: &Row, close: &CloseRow, arrow: &Arrow, key: String) -> Html {
    let class = class(Some(close.color), Shape::Solid);
    let (x, heading) = arrow.tip;
    let second = match heading {
        Heading::Left => x + 4.0,
        Heading::Right => x - 4.0,
    };
    let [first, second, up] = [x, second, row.y - 5.5].map(px);
    let bars = path("bars", format!("M{first} {up}v11M{second} {up}v11"));
    let drawn = html! { <>{ line(row.y, arrow, "close") }{ bars }{ dot(row.y, arrow) }</> };
    match arrow.state.word() {
        None => html! { <g {key} class={format!("{class} future")}>{ drawn }</g> },
        Some(state) => html! {
            <g {key} class={format!("row {class}")} data-channel={close.connection.0.to_string()} data-from={name(layout, close.from)}
                data-to={name(layout, close.to)} data-state={state} data-id={row.id.0.to_string()}>
                { drawn }{ label(row.y, &close.label) }
            </g>
        },
    }
}

fn name(layout: &Layout, node: NodeId) -> String {
    layout.lifeline(node).map(|column| layout.lifelines[column].id.clone()).unwrap_or_default()
}

/// The line as far as the message has come, and dots onward.
fn line(y: f64, arrow: &Arrow, kind: &'static str) -> Html {
    let along = |stretches: &[(f64, f64)]| -> String {
        stretches.iter().map(|(from, to)| format!("M{} {}H{}", px(*from), px(y), px(*to))).collect()
    };
    let flying = match arrow.state {
        Travel::InFlight { .. } => " flying",
        Travel::Ahead | Travel::Delivered | Travel::Lost { .. } => "",
    };
    let ahead = (!arrow.ahead.is_empty()).then(|| path("ahead", along(&arrow.ahead)));
    html! { <>{ path(format!("{kind}{flying}"), along(&arrow.travelled)) }{ for ahead }</> }
}

fn end(y: f64, arrow: &Arrow, direction: Direction) -> Html {
    match arrow.state {
        Travel::Ahead | Travel::Delivered => tip(y, arrow, direction, ""),
        Travel::InFlight { .. } => html! { <>{ tip(y, arrow, direction, " faint") }{ dot(y, arrow) }</> },
        Travel::Lost { x } => {
            let (class, at) = match arrow.tip.1 {
                Heading::Left => ("words end", x - 10.0),
                Heading::Right => ("words", x + 10.0),
            };
            html! { <>{ cross(x, y, 5.0) }{ text(class, (at, y + 4.0), 11.5, "lost") }</> }
        }
    }
}

fn tip(y: f64, arrow: &Arrow, direction: Direction, faint: &'static str) -> Html {
    let (x, heading) = arrow.tip;
    let (class, length, half) = match direction {
        Direction::Request => ("tip", 9.0, 4.2),
        Direction::Response => ("chevron", 8.0, 4.6),
    };
    let base = match heading {
        Heading::Left => x + length,
        Heading::Right => x - length,
    };
    let [x, y, base, up, down] = [x, y, base, y - half, y + half].map(px);
    let d = match direction {
        Direction::Request => format!("M{x} {y}L{base} {up}V{down}Z"),
        Direction::Response => format!("M{base} {up}L{x} {y}L{base} {down}"),
    };
    path(format!("{class}{faint}"), d)
}

/// From an arrow's end to a message that begins or ends its way, px.
const BESIDE: f64 = 8.5;

/// A message on its way.
fn dot(y: f64, arrow: &Arrow) -> Html {
    match arrow.state {
        Travel::InFlight { progress, x } => {
            // At either end it stays beside the band instead of half behind it.
            let inwards = BESIDE * (1.0 - 2.0 * progress);
            let x = match arrow.tip.1 {
                Heading::Left => x - inwards,
                Heading::Right => x + inwards,
            };
            html! { <>{ circle("ring", x, y, 6.0) }{ circle("dot", x, y, 4.6) }</> }
        }
        Travel::Ahead | Travel::Delivered | Travel::Lost { .. } => html! {},
    }
}

/// A label: plain words end at the right edge of their room, a code stands in its outline. It stays where it is
/// whether the message is on its way or has arrived.
fn label(y: f64, label: &Label) -> Html {
    let (space, size) = (label.space, label.size);
    let middle = space.y + space.height / 2.0;
    let base = middle + size * 0.34;
    let outline = Rect { x: space.x, y: space.y, width: space.width, height: space.height, radius: 4.0 }.inset(0.5);
    match label.style {
        LabelStyle::Plain => {
            let detail = |detail: &String| html! { <tspan class="d">{ format!(" {detail}") }</tspan> };
            let detail = Some(&label.detail).filter(|detail| !detail.is_empty()).map(detail);
            let words = html! { <><tspan class="k">{ &label.strong }</tspan>{ for detail }</> };
            rich_text("label", (space.right(), y - 11.0), size, words)
        }
        LabelStyle::Code => {
            let words = text("k middle", (space.x + space.width / 2.0, base), size, &label.strong);
            html! { <>{ outline.view("code", None) }{ words }</> }
        }
        LabelStyle::Refused => {
            let words = text("bad middle", (space.x + (space.width + 13.0) / 2.0, base), size, &label.strong);
            html! { <>{ outline.view("refused", None) }{ cross(space.x + 10.0, middle, 3.5) }{ words }</> }
        }
    }
}
