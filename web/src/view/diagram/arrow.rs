//! Messages: a solid line with a filled head for a request, a dashed one with an open head for an answer; a closed
//! channel; and what becomes of them.

use groupscope_core::diagram::{
    Arrow, CloseRow, Direction, Heading, Label, LabelStyle, Layout, MessageRow, Row, Shape, Travel,
};
use groupscope_core::id::NodeId;
use yew::prelude::*;

use super::band::class;
use super::{cross, px};

/// A message. What is not sent yet is drawn without words, and is not marked as a message.
pub(super) fn message(layout: &Layout, row: &Row, message: &MessageRow, arrow: &Arrow, key: String) -> Html {
    let class = class(Some(message.color), Shape::Solid);
    let drawn = html! { <>{ line(row.y, arrow, message.direction.word()) }{ end(row.y, arrow, message.direction) }</> };
    match arrow.state.word() {
        None => html! { <g {key} class={classes!(class, "future")}>{ drawn }</g> },
        Some(state) => html! {
            <g {key} class={classes!("row", class)} data-message={message.kind.word()} data-kind={message.direction.word()}
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
    let bars = html! { <path class="bars" d={format!("M{first} {up}v11M{second} {up}v11")} /> };
    let drawn = html! { <>{ line(row.y, arrow, "close") }{ bars }{ dot(row.y, arrow) }</> };
    match arrow.state.word() {
        None => html! { <g {key} class={classes!(class, "future")}>{ drawn }</g> },
        Some(state) => html! {
            <g {key} class={classes!("row", class)} data-channel={close.connection.0.to_string()} data-from={name(layout, close.from)}
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
    let path = |stretches: &[(f64, f64)]| -> String {
        stretches.iter().map(|(from, to)| format!("M{} {}H{}", px(*from), px(y), px(*to))).collect()
    };
    let flying = match arrow.state {
        Travel::InFlight { .. } => Some("flying"),
        Travel::Ahead | Travel::Delivered | Travel::Lost { .. } => None,
    };
    let ahead = (!arrow.ahead.is_empty()).then(|| html! { <path class="ahead" d={path(&arrow.ahead)} /> });
    html! { <><path class={classes!(kind, flying)} d={path(&arrow.travelled)} />{ ahead }</> }
}

fn end(y: f64, arrow: &Arrow, direction: Direction) -> Html {
    match arrow.state {
        Travel::Ahead | Travel::Delivered => tip(y, arrow, direction, None),
        Travel::InFlight { .. } => html! { <>{ tip(y, arrow, direction, Some("faint")) }{ dot(y, arrow) }</> },
        Travel::Lost { x } => {
            let (class, at) = match arrow.tip.1 {
                Heading::Left => ("words end", x - 10.0),
                Heading::Right => ("words", x + 10.0),
            };
            html! { <>{ cross(x, y, 5.0) }<text {class} x={px(at)} y={px(y + 4.0)}>{ "lost" }</text></> }
        }
    }
}

fn tip(y: f64, arrow: &Arrow, direction: Direction, faint: Option<&'static str>) -> Html {
    let (x, heading) = arrow.tip;
    let back = |length: f64| match heading {
        Heading::Left => px(x + length),
        Heading::Right => px(x - length),
    };
    let (class, base, half) = match direction {
        Direction::Request => ("tip", back(9.0), 4.2),
        Direction::Response => ("chevron", back(8.0), 4.6),
    };
    let (tip, up, down) = (format!("{} {}", px(x), px(y)), px(y - half), px(y + half));
    let d = match direction {
        Direction::Request => format!("M{tip}L{base} {up}V{down}Z"),
        Direction::Response => format!("M{base} {up}L{tip}L{base} {down}"),
    };
    html! { <path class={classes!(class, faint)} {d} /> }
}

/// A message on its way.
fn dot(y: f64, arrow: &Arrow) -> Html {
    match arrow.state {
        Travel::InFlight { x, .. } => {
            let (cx, cy) = (px(x), px(y));
            html! { <><circle class="ring" cx={cx.clone()} cy={cy.clone()} r="6" /><circle class="dot" {cx} {cy} r="4.6" /></> }
        }
        Travel::Ahead | Travel::Delivered | Travel::Lost { .. } => html! {},
    }
}

/// A label: plain words end at the right edge of their room, a code stands in its outline. It stays where it is
/// whether the message is on its way or has arrived.
fn label(y: f64, label: &Label) -> Html {
    let space = label.space;
    let size = px(label.size);
    let outline = |class: &'static str| {
        html! {
            <rect {class} x={px(space.x + 0.5)} y={px(space.y + 0.5)} width={px(space.width - 1.0)} height={px(space.height - 1.0)} rx="4" />
        }
    };
    let middle = space.y + space.height / 2.0;
    let base = px(middle + label.size * 0.34);
    match label.style {
        LabelStyle::Plain => {
            let detail = |detail: &str| html! { <tspan class="d">{ format!(" {detail}") }</tspan> };
            let detail = Some(label.detail.as_str()).filter(|detail| !detail.is_empty()).map(detail);
            html! {
                <text class="label" x={px(space.right())} y={px(y - 11.0)} font-size={size}>
                    <tspan class="k">{ &label.strong }</tspan>{ detail }
                </text>
            }
        }
        LabelStyle::Code => html! {
            <>
                { outline("code") }
                <text class="k middle" x={px(space.x + space.width / 2.0)} y={base} font-size={size}>{ &label.strong }</text>
            </>
        },
        LabelStyle::Refused => html! {
            <>
                { outline("refused") }
                { cross(space.x + 10.0, middle, 3.5) }
                <text class="bad middle" x={px(space.x + (space.width + 13.0) / 2.0)} y={base} font-size={size}>{ &label.strong }</text>
            </>
        },
    }
}
