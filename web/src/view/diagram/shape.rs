//! The few shapes that the picture is made of.

use yew::prelude::*;
use yew::virtual_dom::VText;

/// A length as an attribute has it: to a hundredth of a pixel, without what is not needed.
#[must_use]
pub fn px(length: f64) -> String {
    let hundredths = (length * 100.0).round() as i64;
    let sign = if hundredths < 0 { "-" } else { "" };
    let (whole, part) = (hundredths.abs() / 100, hundredths.abs() % 100);
    match (part, part % 10) {
        (0, _) => format!("{sign}{whole}"),
        (part, 0) => format!("{sign}{whole}.{}", part / 10),
        (part, _) => format!("{sign}{whole}.{part:02}"),
    }
}

/// A line or an outline.
pub(super) fn path(class: impl Into<AttrValue>, d: String) -> Html {
    path_of(class.into(), d.into())
}

fn path_of(class: AttrValue, d: AttrValue) -> Html {
    html! { <path {class} {d} /> }
}

/// A rectangle with round corners.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Rect {
    pub(super) x: f64,
    pub(super) y: f64,
    pub(super) width: f64,
    pub(super) height: f64,
    pub(super) radius: f64,
}

impl Rect {
    /// So far inwards: an outline lies on both sides of its edge.
    pub(super) fn inset(self, by: f64) -> Self {
        Self {
            x: self.x + by,
            y: self.y + by,
            width: self.width - 2.0 * by,
            height: (self.height - 2.0 * by).max(0.5),
            radius: self.radius,
        }
    }

    /// It, in a class and, where it has one, a pattern.
    pub(super) fn view(self, class: impl Into<AttrValue>, fill: Option<String>) -> Html {
        self.view_of(class.into(), fill.map(AttrValue::from))
    }

    fn view_of(self, class: AttrValue, fill: Option<AttrValue>) -> Html {
        let [x, y, width, height, rx] = [self.x, self.y, self.width, self.height, self.radius].map(px);
        match fill {
            Some(fill) => html! { <rect {class} {x} {y} {width} {height} {rx} {fill} /> },
            None => html! { <rect {class} {x} {y} {width} {height} {rx} /> },
        }
    }
}

/// Words from, up to or around a point; `size` is that of their letters, px.
pub(super) fn text(class: &'static str, at: (f64, f64), size: f64, words: &str) -> Html {
    rich_text(class, at, size, VText::new(words.to_owned()).into())
}

/// The same with parts that differ.
pub(super) fn rich_text(class: &'static str, (x, y): (f64, f64), size: f64, words: Html) -> Html {
    let [x, y, size] = [x, y, size].map(px);
    html! { <text {class} {x} {y} font-size={size}>{ words }</text> }
}

/// A disc or a ring.
pub(super) fn circle(class: &'static str, x: f64, y: f64, radius: f64) -> Html {
    let [cx, cy, r] = [x, y, radius].map(px);
    html! { <circle {class} {cx} {cy} {r} /> }
}

/// A cross, `reach` px in each direction from its middle.
pub(super) fn cross(x: f64, y: f64, reach: f64) -> Html {
    let [left, right, top, bottom] = [x - reach, x + reach, y - reach, y + reach].map(px);
    path("cross", format!("M{left} {top}L{right} {bottom}M{left} {bottom}L{right} {top}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_are_short() {
        for (length, text) in
            [(12.0, "12"), (12.5, "12.5"), (12.345, "12.35"), (-0.5, "-0.5"), (0.001, "0"), (7.05, "7.05")]
        {
            assert_eq!(px(length), text);
        }
    }
}
