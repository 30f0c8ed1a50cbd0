//! A picture as an SVG that stands by itself: no script, no foreign object, no font, nothing to fetch.
//!
//! # Classes
//! Everything hangs below `.gs`. Whoever draws a scene otherwise, as a page does, uses the same names:
//!
//! | class | on |
//! |---|---|
//! | `c1` to `c6`, `n`, `ne` | what has a consumer's colour; a broker's fill; a broker's outline and hatch |
//! | `life` | a lifeline's hairline |
//! | `solid`, `thin`, `hollow`, `hatched`, `rungs`, `dashed` | a stretch of a band, by [`Shape`] |
//! | `paper`, `halo` | the ground; the paper around a band |
//! | `future` | what is still to come |
//! | `request`, `response`, `close` | an arrow's line, `flying` while it is in flight; `ahead` its dots onward |
//! | `tip`, `chevron`, `bars` | an arrow's head: of a request, of a response, of a close |
//! | `rail`, `open` | a held join; the circle at its end |
//! | `dot`, `ring`, `cross` | a message in flight and its ring; a cross |
//! | `k`, `d` | a label's words in bold, and after them |
//! | `code`, `refused`, `bad` | the outline of a code; of one that refuses; the words in that |
//! | `note`, `call`, `box`, `tick` | words at a lifeline; a callback's name and its box; the tick that leads to them |
//! | `step`, `pill`, `rule-line` | a step's number, its pill, its hairline |
//! | `fold`, `cut` | a fold's sentence; the cut through the bands |
//! | `time`, `rule`, `chip`, `bar` | gutters; the lit rule and the bar down its rows |
//! | `head`, `tag`, `words`, `num`, `track`, `fill` | heads: name, word after it, state, number, a timer's bar and what is left |
//! | `bed`, `now`, `flag`, `on` | the now line: its yellow, its ink, its flag, words on yellow |
//!
//! Groups carry `data-message`, `data-kind`, `data-from`, `data-to`, `data-state` and `data-id` (a message), `data-node`
//! and `data-state` (a lifeline), `data-channel` (a closed channel), `data-step`, `data-callback` and `data-fold`.

mod marks;
mod style;

use std::fmt::Write as _;

use super::head::Head;
use super::layout::{Content, Device, Layout};
use super::measure::Face;
use super::scene::{RailState, Scene, Shape, ShownRail, Start, Tense, Window};
use crate::cast::broker_name;
use crate::id::NodeId;
use crate::time::Time;
use crate::view::NodeState;

/// What an SVG shows.
#[derive(Clone, Copy, Debug)]
pub struct Figure<'a> {
    /// The picture.
    pub layout: &'a Layout,
    /// The heads at the moment shown.
    pub heads: &'a [Head],
    /// The moment shown. At the end of the run there is no now line: nothing is to come.
    pub now: Time,
    /// What it is, for those who do not see it.
    pub title: &'a str,
    /// What it shows, for those who do not see it.
    pub description: &'a str,
    /// Its colours.
    pub theme: Theme,
    /// Begins every id in it: pictures that stand in one document need different ones.
    pub prefix: &'a str,
}

/// Which colours.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Theme {
    /// Light, or dark where the reader prefers it.
    Auto,
    /// Light.
    Light,
    /// Dark.
    Dark,
}

impl Figure<'_> {
    /// The SVG, as text.
    #[must_use]
    pub fn to_svg(&self) -> String {
        Writer::new(self).figure()
    }
}

/// The heights of the heads, px.
const HEADS: f64 = 66.0;
const HEADS_PHONE: f64 = 42.0;

struct Writer<'a> {
    figure: &'a Figure<'a>,
    layout: &'a Layout,
    scene: Scene,
    out: String,
}

/// A number for markup: at most one decimal.
fn n(value: f64) -> String {
    let rounded = (value * 10.0).round() / 10.0;
    if rounded == rounded.trunc() { format!("{}", rounded as i64) } else { format!("{rounded:.1}") }
}

/// A text for markup.
fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            // XML has no way to write most control characters.
            c if c.is_control() => escaped.push(' '),
            c => escaped.push(c),
        }
    }
    escaped
}

/// The class of a colour.
fn color_class(color: Option<u8>, shape: Shape) -> String {
    match color {
        Some(color) => format!("c{}", color + 1),
        None if matches!(shape, Shape::Solid | Shape::Thin) => "n".to_owned(),
        None => "ne".to_owned(),
    }
}

impl<'a> Writer<'a> {
    fn new(figure: &'a Figure<'a>) -> Self {
        let scene = figure.layout.scene(figure.now, Window::ALL);
        Self { figure, layout: figure.layout, scene, out: String::new() }
    }

    /// Appends a line.
    fn put(&mut self, line: std::fmt::Arguments<'_>) {
        // Writing to a string cannot fail.
        let _ = self.out.write_fmt(line);
        self.out.push('\n');
    }

    fn figure(mut self) -> String {
        let (width, heads) = (self.layout.width, self.heads_height());
        let height = self.layout.height + heads;
        let (w, h, p) = (n(width), n(height), self.figure.prefix);
        let (title, description) = (escape(self.figure.title), escape(self.figure.description));
        self.put(format_args!(
            r#"<svg xmlns="http://www.w3.org/2000/svg" class="gs" viewBox="0 0 {w} {h}" width="{w}" height="{h}" role="img" aria-labelledby="{p}title {p}desc">"#
        ));
        self.put(format_args!(r#"<title id="{p}title">{title}</title>"#));
        self.put(format_args!(r#"<desc id="{p}desc">{description}</desc>"#));
        let style = style::css(self.figure.theme);
        self.put(format_args!("<style>{style}</style>"));
        self.patterns();
        self.put(format_args!(r#"<rect class="paper" width="{w}" height="{h}"/>"#));
        self.heads();
        self.put(format_args!(r#"<g transform="translate(0 {})">"#, n(heads)));
        self.backdrop();
        self.lifelines();
        self.rails();
        self.rows();
        self.lit_rule();
        self.now_line();
        self.out.push_str("</g>\n</svg>\n");
        self.out
    }

    fn is_finished(&self) -> bool {
        self.figure.now >= self.layout.end
    }

    fn heads_height(&self) -> f64 {
        match self.layout.options.device {
            Device::Wide => HEADS,
            Device::Phone => HEADS_PHONE,
        }
    }

    /// The left edge of everything but labels.
    fn margin(&self) -> f64 {
        match self.layout.options.device {
            Device::Wide => 24.0,
            Device::Phone => 8.0,
        }
    }

    fn patterns(&mut self) {
        self.put(format_args!("<defs>"));
        let mut used: Vec<Option<u8>> = self.layout.lifelines.iter().map(|lifeline| lifeline.color).collect();
        used.sort_unstable();
        used.dedup();
        for color in used {
            let (class, p) = (color_class(color, Shape::Hatched), self.figure.prefix);
            self.put(format_args!(
                r#"<pattern id="{p}hatch-{class}" class="{class}" width="5" height="5" patternUnits="userSpaceOnUse" patternTransform="rotate(45)"><rect class="halo" width="5" height="5"/><rect class="solid" width="2.2" height="5"/></pattern>"#
            ));
            self.put(format_args!(
                r#"<pattern id="{p}rungs-{class}" class="{class}" width="6" height="6" patternUnits="userSpaceOnUse"><rect class="halo" width="6" height="6"/><rect class="solid" width="6" height="3.4"/></pattern>"#
            ));
        }
        self.put(format_args!("</defs>"));
    }

    /// Hairlines that lie behind everything.
    fn backdrop(&mut self) {
        let (layout, width) = (self.layout, self.layout.width);
        for row in &layout.rows {
            if let Content::Divider(_) = &row.content {
                let (y, left) = (n(row.y), self.margin());
                self.put(format_args!(r#"<path class="rule-line" d="M{} {y}H{}"/>"#, n(left), n(width - left)));
            }
        }
        for lifeline in &layout.lifelines {
            self.put(format_args!(r#"<path class="life" d="M{} 0V{}"/>"#, n(lifeline.x), n(layout.height)));
        }
    }

    fn lifelines(&mut self) {
        let layout = self.layout;
        let shown = std::mem::take(&mut self.scene.lifelines);
        for (lifeline, shown) in layout.lifelines.iter().zip(&shown) {
            let (id, state) = (escape(&lifeline.id), shown.state.word());
            self.put(format_args!(r#"<g data-node="{id}" data-state="{state}">"#));
            for piece in &shown.pieces {
                let (x, color) = (lifeline.x, lifeline.color);
                let tense = match piece.tense {
                    Tense::Past => "",
                    Tense::Future => " future",
                };
                self.band((x, piece.top, piece.bottom), color, piece.state, tense);
                if piece.state == NodeState::Down && piece.tense == Tense::Past && piece.starts == Start::Begins {
                    self.cross(x, piece.top + 8.0);
                }
            }
            self.put(format_args!("</g>"));
        }
        self.scene.lifelines = shown;
    }

    /// A stretch of a band, or a swatch of one.
    fn band(&mut self, (x, top, bottom): (f64, f64, f64), color: Option<u8>, state: NodeState, tense: &str) {
        let shape = Shape::of(state);
        let class = color_class(color, shape);
        let half = self.half_band();
        let (y, height) = (n(top), n(bottom - top));
        if !matches!(shape, Shape::Line) {
            let (left, width) = (n(x - half - 2.5), n(2.0 * half + 5.0));
            self.put(format_args!(r#"<rect class="halo" x="{left}" y="{y}" width="{width}" height="{height}"/>"#));
        }
        let p = self.figure.prefix;
        match shape {
            Shape::Line => {}
            Shape::Dashed => {
                self.put(format_args!(r#"<path class="dashed {class}{tense}" d="M{} {y}V{}"/>"#, n(x), n(bottom)));
            }
            Shape::Thin | Shape::Solid => {
                let (half, word) = if shape == Shape::Thin { (1.5, "thin") } else { (half, "solid") };
                self.put(format_args!(
                    r#"<rect class="{word} {class}{tense}" x="{}" y="{y}" width="{}" height="{height}" rx="{}"/>"#,
                    n(x - half),
                    n(2.0 * half),
                    n(half.min(2.0).min((bottom - top) / 2.0))
                ));
            }
            Shape::Hollow | Shape::Hatched | Shape::Rungs => {
                let (word, fill, inset) = match shape {
                    Shape::Hatched => ("hatched", format!(r#" fill="url(#{p}hatch-{class})""#), 0.75),
                    Shape::Rungs => ("rungs", format!(r#" fill="url(#{p}rungs-{class})""#), 0.0),
                    Shape::Line | Shape::Dashed | Shape::Thin | Shape::Solid | Shape::Hollow => {
                        ("hollow", String::new(), 0.75)
                    }
                };
                let height = (bottom - top - 2.0 * inset).max(0.5);
                self.put(format_args!(
                    r#"<rect class="{word} {class}{tense}"{fill} x="{}" y="{}" width="{}" height="{}" rx="1.5"/>"#,
                    n2(x - half + inset),
                    n2(top + inset),
                    n2(2.0 * (half - inset)),
                    n2(height)
                ));
            }
        }
    }

    fn half_band(&self) -> f64 {
        match self.layout.options.device {
            Device::Wide => 4.5,
            Device::Phone => 4.0,
        }
    }

    fn cross(&mut self, x: f64, y: f64) {
        let (left, right, top, bottom) = (n(x - 5.0), n(x + 5.0), n(y - 5.0), n(y + 5.0));
        self.put(format_args!(
            r#"<path class="cross" d="M{left} {top}L{right} {bottom}M{left} {bottom}L{right} {top}"/>"#
        ));
    }

    fn rails(&mut self) {
        for rail in std::mem::take(&mut self.scene.rails) {
            self.rail(&rail);
        }
    }

    fn rail(&mut self, rail: &ShownRail) {
        let (class, x, edge) = (color_class(Some(rail.color), Shape::Solid), n(rail.x), n(rail.lifeline_x - 6.0));
        let (top, bottom) = (n(rail.top), n(rail.bottom));
        match rail.state {
            RailState::Ended => {
                self.put(format_args!(r#"<path class="rail {class}" d="M{edge} {top}H{x}V{bottom}H{edge}"/>"#));
            }
            RailState::Held => {
                let end = n((rail.bottom - 6.0).max(rail.top));
                self.put(format_args!(r#"<path class="rail {class}" d="M{edge} {top}H{x}V{end}"/>"#));
                self.put(format_args!(
                    r#"<circle class="rail open {class}" cx="{x}" cy="{}" r="3"/>"#,
                    n(rail.bottom - 3.0)
                ));
            }
        }
    }

    fn lit_rule(&mut self) {
        let Some(lit) = self.scene.lit.clone().filter(|_| !self.is_finished()) else { return };
        if self.layout.options.device == Device::Phone {
            return;
        }
        let width = Face::mono(11.0).width(&lit.label) + 14.0;
        let (x, y) = (self.layout.width - 24.0 - width, lit.top - 9.0);
        let middle = n(x + width / 2.0);
        self.put(format_args!(
            r#"<rect class="chip" x="{}" y="{}" width="{}" height="18" rx="4"/>"#,
            n(x),
            n(y),
            n(width)
        ));
        let label = escape(&lit.label);
        self.put(format_args!(
            r#"<text class="rule on" x="{middle}" y="{}" text-anchor="middle">{label}</text>"#,
            n(lit.top + 4.0)
        ));
        if lit.bottom > lit.top + 14.0 {
            self.put(format_args!(
                r#"<path class="bar" d="M{middle} {}V{}"/>"#,
                n(lit.top + 11.0),
                n(lit.bottom + 6.0)
            ));
        }
    }

    fn now_line(&mut self) {
        if self.is_finished() {
            return;
        }
        let (y, width) = (n(self.scene.now_y), n(self.layout.width));
        self.put(format_args!(r#"<path class="bed" d="M0 {y}H{width}"/><path class="now" d="M0 {y}H{width}"/>"#));
        let face = Face::mono(12.0);
        let flag_width = face.width(&self.scene.flag) + 14.0;
        let left = match self.layout.options.device {
            Device::Wide => 24.0,
            Device::Phone => self.widest_free_gap(flag_width),
        };
        let (text, top) = (escape(&self.scene.flag), n(self.scene.now_y - 10.0));
        self.put(format_args!(
            r#"<rect class="flag" x="{}" y="{top}" width="{}" height="20" rx="4"/>"#,
            n(left),
            n(flag_width)
        ));
        self.put(format_args!(
            r#"<text class="k on" x="{}" y="{}" text-anchor="middle">{text}</text>"#,
            n(left + flag_width / 2.0),
            n(self.scene.now_y + 4.0)
        ));
    }

    /// Where a phone has most room for the flag: the middle of the widest gap.
    fn widest_free_gap(&self, flag: f64) -> f64 {
        let xs: Vec<f64> = self.layout.lifelines.iter().map(|lifeline| lifeline.x).collect();
        let widest = xs.windows(2).max_by(|a, b| (a[1] - a[0]).total_cmp(&(b[1] - b[0])));
        widest.map_or(24.0, |gap| (gap[0] + gap[1] - flag) / 2.0)
    }

    fn node_id(&self, node: NodeId) -> String {
        let lifeline = self.layout.lifeline(node).map(|column| self.layout.lifelines[column].id.clone());
        lifeline.or_else(|| node.broker().map(broker_name)).map_or_else(String::new, |id| escape(&id))
    }
}

/// A number for markup with two decimals: outlines lie on half pixels.
fn n2(value: f64) -> String {
    let rounded = (value * 100.0).round() / 100.0;
    format!("{rounded}")
}
