//! The picture's shapes as markup. A browser reads a large picture from markup several times faster than it can be put
//! together node by node.

use yew::prelude::*;

/// Markup being written.
#[derive(Clone, PartialEq, Debug, Default)]
pub(super) struct Markup(String);

/// The size of letters where nothing else is said, px.
const LETTERS: f64 = 12.0;

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
}

/// The way that a line takes, in the language of a path's `d`.
#[derive(Clone, PartialEq, Debug, Default)]
pub(super) struct Way(String);

impl Way {
    /// It begins at a point.
    pub(super) fn from(x: f64, y: f64) -> Self {
        Self::default().then(x, y)
    }

    /// It begins anew at a point.
    pub(super) fn then(self, x: f64, y: f64) -> Self {
        self.point('M', x, y)
    }

    /// Straight on to a point.
    pub(super) fn to(self, x: f64, y: f64) -> Self {
        self.point('L', x, y)
    }

    /// To the left or to the right.
    pub(super) fn across(self, x: f64) -> Self {
        self.number('H', x)
    }

    /// Up or down.
    pub(super) fn along(self, y: f64) -> Self {
        self.number('V', y)
    }

    /// Back to where it began.
    pub(super) fn closed(mut self) -> Self {
        self.0.push('Z');
        self
    }

    /// Another way after this one.
    pub(super) fn and(mut self, other: &Self) -> Self {
        self.0.push_str(&other.0);
        self
    }

    fn number(mut self, command: char, number: f64) -> Self {
        self.0.push(command);
        push_px(&mut self.0, number);
        self
    }

    fn point(self, command: char, x: f64, y: f64) -> Self {
        let mut way = self.number(command, x);
        way.0.push(' ');
        push_px(&mut way.0, y);
        way
    }
}

impl Markup {
    /// Begins a group with a class and data attributes.
    pub(super) fn open(&mut self, class: &str, data: &[(&str, &str)]) {
        self.start("g", class);
        for (name, value) in data {
            self.0.push_str(" data-");
            self.0.push_str(name);
            self.0.push_str("=\"");
            self.escaped(value);
            self.0.push('"');
        }
        self.0.push('>');
    }

    /// Ends the last group.
    pub(super) fn close(&mut self) {
        self.0.push_str("</g>");
    }

    /// A line or an outline.
    pub(super) fn path(&mut self, class: &str, way: &Way) {
        self.start("path", class);
        self.0.push_str(" d=\"");
        self.0.push_str(&way.0);
        self.0.push_str("\"/>");
    }

    /// A rectangle; `fill` names its pattern, if it has one.
    pub(super) fn rect(&mut self, class: &str, rect: Rect, fill: Option<&str>) {
        self.start("rect", class);
        let lengths =
            [("x", rect.x), ("y", rect.y), ("width", rect.width), ("height", rect.height), ("rx", rect.radius)];
        self.lengths(&lengths);
        if let Some(fill) = fill {
            self.0.push_str(" fill=\"url(#");
            self.0.push_str(fill);
            self.0.push_str(")\"");
        }
        self.0.push_str("/>");
    }

    /// A disc or a ring.
    pub(super) fn circle(&mut self, class: &str, x: f64, y: f64, radius: f64) {
        self.start("circle", class);
        self.lengths(&[("cx", x), ("cy", y), ("r", radius)]);
        self.0.push_str("/>");
    }

    /// A cross, `reach` px in each direction from its middle.
    pub(super) fn cross(&mut self, x: f64, y: f64, reach: f64) {
        let [left, right, top, bottom] = [x - reach, x + reach, y - reach, y + reach];
        self.path("cross", &Way::from(left, top).to(right, bottom).then(left, bottom).to(right, top));
    }

    /// Words from, up to or around a point; `size` is that of their letters, px.
    pub(super) fn text(&mut self, class: &str, at: (f64, f64), size: f64, words: &str) {
        self.text_in_parts(class, at, size, &[("", words)]);
    }

    /// The same in parts, each with a class of its own.
    pub(super) fn text_in_parts(&mut self, class: &str, (x, y): (f64, f64), size: f64, parts: &[(&str, &str)]) {
        self.start("text", class);
        self.lengths(&[("x", x), ("y", y)]);
        if size != LETTERS {
            self.lengths(&[("font-size", size)]);
        }
        self.0.push('>');
        for (class, words) in parts {
            if class.is_empty() {
                self.escaped(words);
            } else {
                self.start("tspan", class);
                self.0.push('>');
                self.escaped(words);
                self.0.push_str("</tspan>");
            }
        }
        self.0.push_str("</text>");
    }

    /// A node of the page. An empty one is drawn as nothing.
    pub(super) fn into_html(self) -> Html {
        Html::from_html_unchecked(self.0.into())
    }

    fn start(&mut self, name: &str, class: &str) {
        self.0.push('<');
        self.0.push_str(name);
        self.0.push_str(" class=\"");
        self.0.push_str(class);
        self.0.push('"');
    }

    fn lengths(&mut self, lengths: &[(&str, f64)]) {
        for (name, length) in lengths {
            self.0.push(' ');
            self.0.push_str(name);
            self.0.push_str("=\"");
            push_px(&mut self.0, *length);
            self.0.push('"');
        }
    }

    fn escaped(&mut self, text: &str) {
        for c in text.chars() {
            match c {
                '&' => self.0.push_str("&amp;"),
                '<' => self.0.push_str("&lt;"),
                '>' => self.0.push_str("&gt;"),
                '"' => self.0.push_str("&quot;"),
                c => self.0.push(c),
            }
        }
    }
}

/// A length as an attribute has it: to a hundredth of a pixel, without what is not needed.
#[must_use]
pub fn px(length: f64) -> String {
    let mut text = String::new();
    push_px(&mut text, length);
    text
}

fn push_px(out: &mut String, length: f64) {
    let hundredths = (length * 100.0).round() as i64;
    if hundredths < 0 {
        out.push('-');
    }
    let hundredths = hundredths.unsigned_abs();
    push_number(out, hundredths / 100);
    let part = (hundredths % 100) as u8;
    if part > 0 {
        out.push('.');
        out.push(char::from(b'0' + part / 10));
        if !part.is_multiple_of(10) {
            out.push(char::from(b'0' + part % 10));
        }
    }
}

fn push_number(out: &mut String, number: u64) {
    if number >= 10 {
        push_number(out, number / 10);
    }
    out.push(char::from(b'0' + (number % 10) as u8));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_are_short() {
        for (length, text) in [
            (12.0, "12"),
            (12.5, "12.5"),
            (12.345, "12.35"),
            (-0.5, "-0.5"),
            (0.001, "0"),
            (7.05, "7.05"),
            (1_234.0, "1234"),
        ] {
            assert_eq!(px(length), text);
        }
    }

    #[test]
    fn ways_are_in_the_language_of_paths() {
        let way = Way::from(1.0, 2.0).across(3.5).along(4.0).to(-1.0, 0.0).closed().and(&Way::from(0.0, 0.0));
        assert_eq!(way.0, "M1 2H3.5V4L-1 0ZM0 0");
    }

    #[test]
    fn what_people_write_stays_text() {
        let mut markup = Markup::default();
        markup.open("c1", &[("from", "\"><script>")]);
        markup.text("k", (1.0, 2.5), 12.0, "a < b & c");
        markup.close();
        assert_eq!(
            markup.0,
            "<g class=\"c1\" data-from=\"&quot;&gt;&lt;script&gt;\">\
             <text class=\"k\" x=\"1\" y=\"2.5\">a &lt; b &amp; c</text></g>"
        );
    }
}
