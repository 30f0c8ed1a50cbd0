//! The now line, its flag, the hairlines of the steps, and the rule carried out last.

use groupscope_core::diagram::{Content, Device, Layout, LitRule, Row, Scene};
use yew::prelude::*;

use super::shape::{Rect, path, px, text};

/// The yellow under the now line; bands and words lie over it.
pub(super) fn bed(layout: &Layout, scene: &Scene) -> Html {
    Rect { x: 0.0, y: scene.now_y - 4.0, width: layout.width, height: 8.0, radius: 0.0 }.view("bed", None)
}

/// The hairlines of the steps, behind the bands.
pub(super) fn rule_lines(layout: &Layout) -> Html {
    let line = |row: &Row| match &row.content {
        Content::Divider(label) => {
            let pill = super::pill(layout, label);
            let (from, to) = match layout.options.device {
                Device::Wide => (pill.left + pill.width + 8.0, layout.width - 24.0),
                Device::Phone => (12.0, pill.left - 8.0),
            };
            Some(path("rule-line", format!("M{} {}H{}", px(from), px(row.y), px(to))))
        }
        Content::Message(_) | Content::Close(_) | Content::Notes(_) | Content::Fold(_) => None,
    };
    html! { <g>{ for layout.rows.iter().filter_map(line) }</g> }
}

/// The now line over everything, with the time.
pub(super) fn line(layout: &Layout, scene: &Scene) -> Html {
    let (y, width) = (scene.now_y, 12.0 + 7.4 * scene.flag.chars().count() as f64);
    let x = match layout.options.device {
        Device::Wide => 24.0,
        Device::Phone => widest_gap(layout) - width / 2.0,
    };
    html! {
        <g>
            { path("now", format!("M0 {}H{}", px(y), px(layout.width))) }
            { Rect { x, y: y - 10.0, width, height: 20.0, radius: 4.0 }.view("flag", None) }
            { text("k on middle", (x + width / 2.0, y + 4.0), 12.0, &scene.flag) }
        </g>
    }
}

/// The middle of the widest gap between lifelines; of several the last.
fn widest_gap(layout: &Layout) -> f64 {
    let gaps = layout.lifelines.windows(2).map(|pair| (pair[1].x - pair[0].x, f64::midpoint(pair[0].x, pair[1].x)));
    gaps.max_by(|a, b| a.0.total_cmp(&b.0)).map_or(layout.width / 2.0, |(_, middle)| middle)
}

/// The chip of the rule carried out last, and a bar down the rows that it covers.
pub(super) fn lit_rule(layout: &Layout, lit: &LitRule) -> Html {
    if layout.options.device == Device::Phone {
        return html! {};
    }
    let width = 14.0 + 6.7 * lit.label.chars().count() as f64;
    let (x, middle) = (layout.width - 24.0 - width, layout.width - 24.0 - width / 2.0);
    let bar = (lit.bottom > lit.top + 14.0)
        .then(|| path("bar", format!("M{} {}V{}", px(middle), px(lit.top + 12.0), px(lit.bottom + 6.0))));
    html! {
        <g>
            { for bar }
            { Rect { x, y: lit.top - 9.0, width, height: 18.0, radius: 4.0 }.view("chip", None) }
            { text("rule on middle", (middle, lit.top + 4.0), 11.0, &lit.label) }
        </g>
    }
}
