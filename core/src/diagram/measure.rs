//! How wide a text is likely to be: there is no browser here to ask, so a table of typical advances stands in, on the
//! wide side.

/// A typeface and size, in px.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Face {
    kind: Kind,
    size: f64,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Kind {
    Mono,
    System,
}

/// Advance of a monospaced character in em. Most faces of the stack have 0.60; the widest, SF Mono, has 0.62, for which
/// the room kept beside every label suffices.
const MONO_EM: f64 = 0.605;
/// System faces differ: this much on top of the table's typical advances.
const SYSTEM_SPARE: f64 = 1.08;

impl Face {
    /// The monospaced face of messages, ids and times.
    pub(crate) const fn mono(size: f64) -> Self {
        Self { kind: Kind::Mono, size }
    }

    /// The system's own face.
    pub(crate) const fn system(size: f64) -> Self {
        Self { kind: Kind::System, size }
    }

    /// The likely width of a text, in px.
    pub(crate) fn width(self, text: &str) -> f64 {
        match self.kind {
            Kind::Mono => text.chars().count() as f64 * MONO_EM * self.size,
            Kind::System => text.chars().map(system_em).sum::<f64>() * SYSTEM_SPARE * self.size,
        }
    }

    /// The text, cut with an ellipsis where it is wider than `room` px.
    pub(crate) fn cut(self, text: &str, room: f64) -> String {
        if self.width(text) <= room {
            return text.to_owned();
        }
        let mut cut: String = text.to_owned();
        while !cut.is_empty() && self.width(&cut) + self.width("…") > room {
            cut.pop();
        }
        format!("{}…", cut.trim_end())
    }

    /// The text in two lines of at most `room` px, broken after a colon; `None` where that cannot be done.
    pub(crate) fn at_colon(self, text: &str, room: f64) -> Option<Vec<String>> {
        let (head, tail) = text.split_once(": ")?;
        let lines = vec![format!("{head}:"), tail.to_owned()];
        lines.iter().all(|line| self.width(line) <= room).then_some(lines)
    }

    /// The text in lines of at most `room` px, broken at spaces; a word that is wider is cut, and so is what does not
    /// fit into `lines` lines.
    pub(crate) fn wrap(self, text: &str, room: f64, lines: usize) -> Vec<String> {
        let mut wrapped: Vec<String> = vec![String::new()];
        for word in text.split(' ') {
            let last = wrapped.len() - 1;
            let joined = if wrapped[last].is_empty() { word.to_owned() } else { format!("{} {word}", wrapped[last]) };
            if wrapped[last].is_empty() || wrapped.len() == lines || self.width(&joined) <= room {
                wrapped[last] = joined;
            } else {
                wrapped.push(word.to_owned());
            }
        }
        wrapped.iter().map(|line| self.cut(line, room)).collect()
    }
}

/// Typical advance of a character of a system face, in em.
fn system_em(c: char) -> f64 {
    match c {
        'i' | 'j' | 'l' | '.' | ',' | ':' | ';' | '\'' | '|' | '!' => 0.26,
        ' ' | 'f' | 't' | 'I' | '(' | ')' | '/' | '“' | '”' | '-' | '·' => 0.32,
        'r' => 0.37,
        'm' | 'M' | 'W' | '…' | '→' => 0.88,
        'w' => 0.75,
        'c' | 'k' | 's' | 'v' | 'x' | 'y' | 'z' => 0.52,
        'A'..='Z' => 0.67,
        _ => 0.57,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOTE: Face = Face::system(12.0);

    #[test]
    fn long_words_are_wider() {
        assert!(NOTE.width("rebalance") > NOTE.width("join"));
        assert!(Face::mono(12.0).width("join") > 4.0 * 7.2);
        assert!((NOTE.width("consumer 3 is new: rebalance") - 169.0).abs() < 16.0, "as measured in a browser");
    }

    #[test]
    fn what_is_cut_fits() {
        let cut = NOTE.cut("consumer 3 is new: rebalance", 100.0);
        assert!(cut.ends_with('…') && NOTE.width(&cut) <= 100.0, "{cut}");
        assert_eq!(NOTE.cut("join", 100.0), "join");
    }

    #[test]
    fn wrapped_lines_fit() {
        let lines = NOTE.wrap("consumer 2 not heard from for 3 s: removed, retry rebalance", 150.0, 3);
        assert!(lines.len() > 1 && lines.iter().all(|line| NOTE.width(line) <= 150.0), "{lines:?}");
        assert_eq!(NOTE.wrap("stop fetching", 500.0, 2), ["stop fetching"]);
    }
}
