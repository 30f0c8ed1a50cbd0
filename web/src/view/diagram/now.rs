//! The now line, its flag, the hairlines of the steps, and the rule carried out last.

use groupscope_core::diagram::{Content, Device, Layout, LitRule, Scene};

use super::markup::{Markup, Rect, Way};

/// The yellow under the now line; bands and words lie over it.
pub(super) fn bed(layout: &Layout, scene: &Scene) -> Markup {
    let mut out = Markup::default();
    out.rect("bed", Rect { x: 0.0, y: scene.now_y - 4.0, width: layout.width, height: 8.0, radius: 0.0 }, None);
    out
}

/// The hairlines of the steps, behind the bands.
pub(super) fn rule_lines(layout: &Layout, out: &mut Markup) {
    for row in &layout.rows {
        let Content::Divider(label) = &row.content else { continue };
        let pill = super::pill(layout, label);
        let (from, to) = match layout.options.device {
            Device::Wide => (pill.left + pill.width + 8.0, layout.width - 24.0),
            Device::Phone => (12.0, pill.left - 8.0),
        };
        out.path("rule-line", &Way::from(from, row.y).across(to));
    }
}

/// The now line over everything, with the time, and the rule carried out last.
pub(super) fn line(layout: &Layout, scene: &Scene) -> Markup {
    let mut out = Markup::default();
    if let (Some(lit), Device::Wide) = (&scene.lit, layout.options.device) {
        lit_rule(layout, lit, &mut out);
    }
    let (y, width) = (scene.now_y, 12.0 + 7.4 * scene.flag.chars().count() as f64);
    let x = match layout.options.device {
        Device::Wide => 24.0,
        Device::Phone => widest_gap(layout) - width / 2.0,
    };
    out.path("now", &Way::from(0.0, y).across(layout.width));
    out.rect("flag", Rect { x, y: y - 10.0, width, height: 20.0, radius: 4.0 }, None);
    out.text("k on middle", (x + width / 2.0, y + 4.0), 12.0, &scene.flag);
    out
}

/// The middle of the widest gap between lifelines; of several the last.
fn widest_gap(layout: &Layout) -> f64 {
    let gaps = layout.lifelines.windows(2).map(|pair| (pair[1].x - pair[0].x, f64::midpoint(pair[0].x, pair[1].x)));
    gaps.max_by(|a, b| a.0.total_cmp(&b.0)).map_or(layout.width / 2.0, |(_, middle)| middle)
}

/// A chip, and a bar down the rows that it covers.
fn lit_rule(layout: &Layout, lit: &LitRule, out: &mut Markup) {
    let width = 14.0 + 6.7 * lit.label.chars().count() as f64;
    let (x, middle) = (layout.width - 24.0 - width, layout.width - 24.0 - width / 2.0);
    if lit.bottom > lit.top + 14.0 {
        out.path("bar", &Way::from(middle, lit.top + 12.0).along(lit.bottom + 6.0));
    }
    out.rect("chip", Rect { x, y: lit.top - 9.0, width, height: 18.0, radius: 4.0 }, None);
    out.text("rule on middle", (middle, lit.top + 4.0), 11.0, &lit.label);
}
