//! Lifelines: who is in which state, by pattern; and the joins that the coordinator holds.

use groupscope_core::diagram::{Device, Layout, Lifeline, Piece, RailState, Scene, Shape, ShownRail, Start, Tense};
use groupscope_core::view::NodeState;

use super::markup::{Markup, Rect, Way};

/// The class of a colour as a shape needs it: `c1` to `c6`; for brokers `n` where it is filled, `ne` where it is not.
pub(super) fn class(color: Option<u8>, shape: Shape) -> &'static str {
    const CLASSES: [&str; 6] = ["c1", "c2", "c3", "c4", "c5", "c6"];
    match (color, shape) {
        (Some(color), _) => CLASSES[usize::from(color) % CLASSES.len()],
        (None, Shape::Solid | Shape::Thin) => "n",
        (None, Shape::Line | Shape::Hollow | Shape::Hatched | Shape::Rungs | Shape::Dashed) => "ne",
    }
}

/// The classes of a shape, and the name of its pattern if it has one.
pub(super) fn paint(color: Option<u8>, shape: Shape, tense: Tense) -> (String, Option<String>) {
    let (word, class) = (word(shape), class(color, shape));
    let future = match tense {
        Tense::Past => "",
        Tense::Future => " future",
    };
    let pattern = match shape {
        Shape::Hatched | Shape::Rungs => Some(format!("{word}-{class}")),
        Shape::Line | Shape::Solid | Shape::Thin | Shape::Hollow | Shape::Dashed => None,
    };
    (format!("{word} {class}{future}"), pattern)
}

const fn word(shape: Shape) -> &'static str {
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

/// The patterns of the shapes, in each colour.
pub(super) fn patterns() -> String {
    let mut markup = String::new();
    for who in ["ne", "c1", "c2", "c3", "c4", "c5", "c6"] {
        markup.push_str(&format!(
            r#"<g class="{who}"><pattern id="hatched-{who}" width="5" height="5" patternUnits="userSpaceOnUse" patternTransform="rotate(45)"><path class="halo" d="M0 0h5v5H0z"/><path class="solid" d="M0 0h2.2v5H0z"/></pattern><pattern id="rungs-{who}" width="6" height="6" patternUnits="userSpaceOnUse"><path class="halo" d="M0 0h6v6H0z"/><path class="solid" d="M0 0h6v3.4H0z"/></pattern></g>"#
        ));
    }
    markup
}

/// The hairlines of the lifelines, behind everything.
pub(super) fn hairlines(layout: &Layout, out: &mut Markup) {
    for lifeline in &layout.lifelines {
        out.path("life", &Way::from(lifeline.x, 0.0).along(layout.height));
    }
}

/// Every lifeline with its bands, and the held joins beside the coordinator's.
pub(super) fn lifelines(layout: &Layout, scene: &Scene) -> Markup {
    let mut out = Markup::default();
    for (lifeline, shown) in layout.lifelines.iter().zip(&scene.lifelines) {
        out.open("lifeline", &[("node", &lifeline.id), ("state", shown.state.word())]);
        for piece in &shown.pieces {
            stretch(layout, lifeline, piece, &mut out);
        }
        out.close();
    }
    for rail in &scene.rails {
        held(rail, &mut out);
    }
    out
}

fn stretch(layout: &Layout, lifeline: &Lifeline, piece: &Piece, out: &mut Markup) {
    let shape = Shape::of(piece.state);
    let half = match layout.options.device {
        Device::Wide => 4.5,
        Device::Phone => 4.0,
    };
    let x = lifeline.x;
    let height = (piece.bottom - piece.top).max(0.0);
    let bar = Rect { x: x - half, y: piece.top, width: 2.0 * half, height, radius: 2f64.min(height / 2.0) };
    let (class, pattern) = paint(lifeline.color, shape, piece.tense);
    let pattern = pattern.as_deref();
    if shape != Shape::Line {
        out.rect("halo", Rect { x: bar.x - 2.5, width: bar.width + 5.0, radius: 0.0, ..bar }, None);
    }
    match shape {
        Shape::Line => {}
        Shape::Dashed => out.path(&class, &Way::from(x, piece.top).along(piece.bottom)),
        Shape::Solid | Shape::Rungs => out.rect(&class, bar, pattern),
        Shape::Thin => out.rect(&class, Rect { x: x - 1.5, width: 3.0, ..bar }, pattern),
        Shape::Hollow | Shape::Hatched => out.rect(&class, bar.inset(0.75), pattern),
    }
    if piece.state == NodeState::Down && piece.tense == Tense::Past && piece.starts == Start::Begins {
        out.cross(x, piece.top + 8.0, 5.0);
    }
}

fn held(rail: &ShownRail, out: &mut Markup) {
    let (x, edge) = (rail.x, rail.lifeline_x - 6.0);
    let class = class(Some(rail.color), Shape::Solid);
    let way = Way::from(edge, rail.top).across(x);
    match rail.state {
        RailState::Ended => out.path(&format!("rail {class}"), &way.along(rail.bottom).across(edge)),
        RailState::Held => {
            out.path(&format!("rail {class}"), &way.along((rail.bottom - 6.0).max(rail.top)));
            out.circle(&format!("rail open {class}"), x, (rail.bottom - 3.0).max(rail.top), 3.0);
        }
    }
}
