//! Lifelines: who is in which state, by pattern; and the joins that the coordinator holds.

use groupscope_core::diagram::{Device, Layout, Lifeline, Piece, RailState, Scene, Shape, ShownRail, Start, Tense};
use groupscope_core::view::NodeState;
use yew::prelude::*;

use super::shape::{Rect, circle, cross, path, px};

/// The class of a colour as a shape needs it: `c1` to `c6`; for brokers `n` where it is filled, `ne` where it is not.
pub(super) fn class(color: Option<u8>, shape: Shape) -> &'static str {
    const CLASSES: [&str; 6] = ["c1", "c2", "c3", "c4", "c5", "c6"];
    match (color, shape) {
        (Some(color), _) => CLASSES[usize::from(color) % CLASSES.len()],
        (None, Shape::Solid | Shape::Thin) => "n",
        (None, Shape::Line | Shape::Hollow | Shape::Hatched | Shape::Rungs | Shape::Dashed) => "ne",
    }
}

/// The word for a shape in style sheets.
pub(super) const fn word(shape: Shape) -> &'static str {
    match shape {
        Shape::Line => "life",
        Shape::Solid => "solid",
        Shape::Thin => "thin",
        Shape::Hollow => "hollow",
        Shape::Hatched => "hatched",
        Shape::Rungs => "rungs",
        Shape::Dashed => "dashed",
    }
}

/// The patterns, in each colour.
pub(super) fn patterns() -> Html {
    let mut markup = String::new();
    for who in ["ne", "c1", "c2", "c3", "c4", "c5", "c6"] {
        markup.push_str(&format!(
            r#"<g class="{who}"><pattern id="hatched-{who}" width="5" height="5" patternUnits="userSpaceOnUse" patternTransform="rotate(45)"><path class="halo" d="M0 0h5v5H0z"/><path class="solid" d="M0 0h2.2v5H0z"/></pattern><pattern id="rungs-{who}" width="6" height="6" patternUnits="userSpaceOnUse"><path class="halo" d="M0 0h6v6H0z"/><path class="solid" d="M0 0h6v3.4H0z"/></pattern></g>"#
        ));
    }
    html! { <defs>{ Html::from_html_unchecked(markup.into()) }</defs> }
}

/// The hairlines of the lifelines, behind everything.
pub(super) fn hairlines(layout: &Layout) -> Html {
    let line = |lifeline: &Lifeline| path("life", format!("M{} 0V{}", px(lifeline.x), px(layout.height)));
    html! { <g>{ for layout.lifelines.iter().map(line) }</g> }
}

/// Every lifeline with its bands, and the held joins beside the coordinator's.
pub(super) fn lifelines(layout: &Layout, scene: &Scene) -> Html {
    let lifelines = layout.lifelines.iter().zip(&scene.lifelines).map(|(lifeline, shown)| {
        let pieces = shown.pieces.iter().enumerate().map(|(i, piece)| stretch(layout, lifeline, i, piece));
        html! {
            <g key={lifeline.id.clone()} data-node={lifeline.id.clone()} data-state={shown.state.word()}>{ for pieces }</g>
        }
    });
    html! { <><g>{ for lifelines }</g><g>{ for scene.rails.iter().map(rail) }</g></> }
}

fn stretch(layout: &Layout, lifeline: &Lifeline, position: usize, piece: &Piece) -> Html {
    let shape = Shape::of(piece.state);
    let half = match layout.options.device {
        Device::Wide => 4.5,
        Device::Phone => 4.0,
    };
    let x = lifeline.x;
    // A stretch of another shape is another node: which attributes a node has must not depend on what it was before.
    let key = format!("{position}-{}", word(shape));
    let height = (piece.bottom - piece.top).max(0.0);
    let bar = Rect { x: x - half, y: piece.top, width: 2.0 * half, height, radius: 2f64.min(height / 2.0) };
    let halo = Rect { x: bar.x - 2.5, width: bar.width + 5.0, radius: 0.0, ..bar };
    let look = paint(lifeline.color, shape, piece.tense);
    let body = match shape {
        Shape::Line => return html! { <g {key} /> },
        Shape::Dashed => path(look.0, format!("M{} {}V{}", px(x), px(piece.top), px(piece.bottom))),
        Shape::Solid | Shape::Rungs => bar.view(look.0, look.1),
        Shape::Thin => Rect { x: x - 1.5, width: 3.0, ..bar }.view(look.0, look.1),
        Shape::Hollow | Shape::Hatched => bar.inset(0.75).view(look.0, look.1),
    };
    let ends = piece.state == NodeState::Down && piece.tense == Tense::Past && piece.starts == Start::Begins;
    html! { <g {key}>{ halo.view("halo", None) }{ body }{ for ends.then(|| cross(x, piece.top + 8.0, 5.0)) }</g> }
}

/// The classes of a shape, and its pattern if it has one.
pub(super) fn paint(color: Option<u8>, shape: Shape, tense: Tense) -> (String, Option<String>) {
    let (word, class) = (word(shape), class(color, shape));
    let future = match tense {
        Tense::Past => "",
        Tense::Future => " future",
    };
    let fill = match shape {
        Shape::Hatched | Shape::Rungs => Some(format!("url(#{word}-{class})")),
        Shape::Line | Shape::Solid | Shape::Thin | Shape::Hollow | Shape::Dashed => None,
    };
    (format!("{word} {class}{future}"), fill)
}

fn rail(rail: &ShownRail) -> Html {
    let [x, top, edge] = [rail.x, rail.top, rail.lifeline_x - 6.0].map(px);
    let (d, end) = match rail.state {
        RailState::Ended => (format!("M{edge} {top}H{x}V{}H{edge}", px(rail.bottom)), None),
        RailState::Held => {
            let end = circle("rail open", rail.x, (rail.bottom - 3.0).max(rail.top), 3.0);
            (format!("M{edge} {top}H{x}V{}", px((rail.bottom - 6.0).max(rail.top))), Some(end))
        }
    };
    let class = class(Some(rail.color), Shape::Solid);
    html! { <g key={format!("{}-{top}", rail.consumer.0)} {class}>{ path("rail", d) }{ for end }</g> }
}
