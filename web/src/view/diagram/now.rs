//! The now line, its flag, the hairlines of the steps, and the rule carried out last.

use groupscope_core::diagram::{Content, Device, Layout, LitRule, Row, Scene};
use yew::prelude::*;

use super::px;

/// The yellow under the now line; bands and words lie over it.
pub(super) fn bed(layout: &Layout, scene: &Scene) -> Html {
    html! { <rect class="bed" x="0" y={px(scene.now_y - 4.0)} width={px(layout.width)} height="8" /> }
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
            Some(html! { <path class="rule-line" d={format!("M{} {}H{}", px(from), px(row.y), px(to))} /> })
        }
        Content::Message(_) | Content::Close(_) | Content::Notes(_) | Content::Fold(_) => None,
    };
    html! { <g>{ for layout.rows.iter().filter_map(line) }</g> }
}

/// The now line over everything, with the time.
pub(super) fn line(layout: &Layout, scene: &Scene) -> Html {
    let width = 12.0 + 7.4 * scene.flag.chars().count() as f64;
    let left = match layout.options.device {
        Device::Wide => 24.0,
        Device::Phone => widest_gap(layout) - width / 2.0,
    };
    html! {
        <g>
            <path class="now" d={format!("M0 {}H{}", px(scene.now_y), px(layout.width))} />
            <rect class="flag" x={px(left)} y={px(scene.now_y - 10.0)} width={px(width)} height="20" rx="4" />
            <text class="k on middle" x={px(left + width / 2.0)} y={px(scene.now_y + 4.0)} font-size="12">{ &scene.flag }</text>
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
    let left = layout.width - 24.0 - width;
    let middle = px(left + width / 2.0);
    let bar = (lit.bottom > lit.top + 14.0).then(|| {
        html! { <path class="bar" d={format!("M{middle} {}V{}", px(lit.top + 12.0), px(lit.bottom + 6.0))} /> }
    });
    html! {
        <g>
            { bar }
            <rect class="chip" x={px(left)} y={px(lit.top - 9.0)} width={px(width)} height="18" rx="4" />
            <text class="rule on middle" x={middle.clone()} y={px(lit.top + 4.0)}>{ &lit.label }</text>
        </g>
    }
}
