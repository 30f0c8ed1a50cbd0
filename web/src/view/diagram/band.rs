//! Lifelines: who is in which state, by pattern; and the joins that the coordinator holds.

use groupscope_core::diagram::{
    Device, Layout, Piece, RailState, Scene, Shape, ShownLifeline, ShownRail, Start, Tense,
};
use groupscope_core::view::NodeState;
use yew::prelude::*;

use super::{Shared, cross, px};

/// The class of a colour as a shape needs it: `c1` to `c6`; for brokers `n` where it is filled, `ne` where it is not.
pub(super) fn class(color: Option<u8>, shape: Shape) -> &'static str {
    const CLASSES: [&str; 6] = ["c1", "c2", "c3", "c4", "c5", "c6"];
    match (color, shape) {
        (Some(color), _) => CLASSES[usize::from(color) % CLASSES.len()],
        (None, Shape::Solid | Shape::Thin) => "n",
        (None, Shape::Line | Shape::Hollow | Shape::Hatched | Shape::Rungs | Shape::Dashed) => "ne",
    }
}

/// The fill of a shape that has a pattern.
pub(super) fn fill(color: Option<u8>, shape: Shape) -> Option<String> {
    match shape {
        Shape::Hatched => Some(format!("url(#hatch-{})", class(color, shape))),
        Shape::Rungs => Some(format!("url(#rungs-{})", class(color, shape))),
        Shape::Line | Shape::Solid | Shape::Thin | Shape::Hollow | Shape::Dashed => None,
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
    let pattern = |who: &'static str| {
        html! {
            <g class={who} key={who}>
                <pattern id={format!("hatch-{who}")} width="5" height="5" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">
                    <rect class="halo" width="5" height="5" /><rect class="solid" width="2.2" height="5" />
                </pattern>
                <pattern id={format!("rungs-{who}")} width="6" height="6" patternUnits="userSpaceOnUse">
                    <rect class="halo" width="6" height="6" /><rect class="solid" width="6" height="3.4" />
                </pattern>
            </g>
        }
    };
    html! { <defs>{ for ["ne", "c1", "c2", "c3", "c4", "c5", "c6"].into_iter().map(pattern) }</defs> }
}

/// The hairlines of the lifelines, behind everything.
pub(super) fn hairlines(layout: &Layout) -> Html {
    let line = |x: f64| html! { <path class="life" d={format!("M{} 0V{}", px(x), px(layout.height))} /> };
    html! { <g>{ for layout.lifelines.iter().map(|lifeline| line(lifeline.x)) }</g> }
}

/// Every lifeline with its bands, and the held joins beside the coordinator's.
pub(super) fn lifelines(layout: &Shared, scene: &Scene) -> Html {
    let line = |(column, shown): (usize, &ShownLifeline)| {
        html! { <LifelineView key={column} layout={layout.clone()} {column} shown={shown.clone()} /> }
    };
    html! {
        <>
            <g>{ for scene.lifelines.iter().enumerate().map(line) }</g>
            <g>{ for scene.rails.iter().map(rail) }</g>
        </>
    }
}

#[derive(Clone, PartialEq, Properties)]
struct LifelineProps {
    layout: Shared,
    column: usize,
    shown: ShownLifeline,
}

#[component]
fn LifelineView(props: &LifelineProps) -> Html {
    let Some(lifeline) = props.layout.lifelines.get(props.column) else { return html! {} };
    let half = match props.layout.options.device {
        Device::Wide => 4.5,
        Device::Phone => 4.0,
    };
    let piece = |(i, piece): (usize, &Piece)| stretch(i, piece, lifeline.x, half, lifeline.color);
    html! {
        <g data-node={lifeline.id.clone()} data-state={props.shown.state.word()}>{ for props.shown.pieces.iter().enumerate().map(piece) }</g>
    }
}

fn stretch(position: usize, piece: &Piece, x: f64, half: f64, color: Option<u8>) -> Html {
    let shape = Shape::of(piece.state);
    // A stretch of another shape is another node: which attributes a node has must not depend on what it was before.
    let key = format!("{position}-{}", word(shape));
    let (top, bottom, height) = (piece.top, piece.bottom, (piece.bottom - piece.top).max(0.0));
    let future = match piece.tense {
        Tense::Past => None,
        Tense::Future => Some("future"),
    };
    let class = classes!(word(shape), class(color, shape), future);
    let bar = |half: f64, inset: f64, radius: f64| {
        html! {
            <rect class={class.clone()} x={px(x - half + inset)} y={px(top + inset)} width={px(2.0 * (half - inset))}
                height={px((height - 2.0 * inset).max(0.5))} rx={px(radius.min(height / 2.0))} fill={fill(color, shape)} />
        }
    };
    let body = match shape {
        Shape::Line => return html! { <g {key} /> },
        Shape::Dashed => html! { <path class={class.clone()} d={format!("M{} {}V{}", px(x), px(top), px(bottom))} /> },
        Shape::Solid => bar(half, 0.0, 2.0),
        Shape::Thin => bar(1.5, 0.0, 1.5),
        Shape::Hollow | Shape::Hatched => bar(half, 0.75, 1.5),
        Shape::Rungs => bar(half, 0.0, 1.5),
    };
    let ends = piece.state == NodeState::Down && piece.tense == Tense::Past && piece.starts == Start::Begins;
    html! {
        <g {key}>
            <rect class="halo" x={px(x - half - 2.5)} y={px(top)} width={px(2.0 * half + 5.0)} height={px(height)} />
            { body }
            { for ends.then(|| cross(x, top + 8.0, 5.0)) }
        </g>
    }
}

fn rail(rail: &ShownRail) -> Html {
    let (x, top, edge) = (px(rail.x), px(rail.top), px(rail.lifeline_x - 6.0));
    let class = class(Some(rail.color), Shape::Solid);
    let key = format!("{}-{top}", rail.consumer.0);
    match rail.state {
        RailState::Ended => {
            html! { <path {key} class={classes!("rail", class)} d={format!("M{edge} {top}H{x}V{}H{edge}", px(rail.bottom))} /> }
        }
        RailState::Held => {
            let d = format!("M{edge} {top}H{x}V{}", px((rail.bottom - 6.0).max(rail.top)));
            html! {
                <g {key} {class}>
                    <path class="rail" {d} /><circle class="rail open" cx={x} cy={px((rail.bottom - 3.0).max(rail.top))} r="3" />
                </g>
            }
        }
    }
}
