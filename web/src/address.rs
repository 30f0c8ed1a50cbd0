//! The page's address: `#lesson=rebalance-new-consumer&t=4.61s`.
//!
//! What stands after the `#` is read at load and whenever it changes. `#bench=1000` is for the benchmark, see
//! [`bench`](crate::bench).

/// The lesson that the start page shows.
pub use groupscope_core::lessons::FIRST as START_LESSON;
use groupscope_core::time::{Span, Time};

/// What an address asks for.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Address {
    /// A lesson, paused at a time; without one at the lesson's own opening.
    Lesson {
        /// The lesson's id.
        id: String,
        /// Where to land.
        at: Option<Time>,
    },
    /// A diagram of that many messages, drawn once and timed.
    Bench {
        /// How many.
        messages: u32,
    },
}

impl Address {
    /// That of a lesson at its opening.
    #[must_use]
    pub fn lesson(id: &str) -> Self {
        Self::Lesson { id: id.to_owned(), at: None }
    }
}

/// Reads the part of an address after the page, with or without its `#`.
///
/// # Errors
/// What is wrong with it, in a sentence for the reader who followed the link.
pub fn parse(hash: &str) -> Result<Address, String> {
    let (mut lesson, mut at, mut bench) = (None, None, None);
    for pair in hash.trim_start_matches('#').split('&').filter(|pair| !pair.is_empty()) {
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        let slot = match name {
            "lesson" => &mut lesson,
            "t" => &mut at,
            "bench" => &mut bench,
            _ => return Err(format!("It has “{name}”, which this page does not know.")),
        };
        if slot.replace(value).is_some() {
            return Err(format!("It has “{name}” twice."));
        }
    }
    if let Some(messages) = bench {
        return messages
            .parse()
            .map(|messages| Address::Bench { messages })
            .map_err(|_| format!("“bench={messages}” is not a number of messages."));
    }
    let at = at.map(time).transpose()?;
    Ok(Address::Lesson { id: lesson.unwrap_or(START_LESSON).to_owned(), at })
}

fn time(text: &str) -> Result<Time, String> {
    Span::parse(text)
        .map(|span| Time::ZERO + span)
        .map_err(|_| format!("“t={text}” is not a time of the run: write for instance “t=4.61s”."))
}

/// The address of a lesson.
#[must_use]
pub fn of_lesson(id: &str) -> String {
    format!("#lesson={id}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lesson(id: &str, micros: Option<u64>) -> Result<Address, String> {
        Ok(Address::Lesson { id: id.to_owned(), at: micros.map(Time) })
    }

    #[test]
    fn lessons_and_times_are_read() {
        assert_eq!(parse("#lesson=heartbeat&t=4.61s"), lesson("heartbeat", Some(4_610_000)));
        assert_eq!(parse("#t=250ms&lesson=rejoin"), lesson("rejoin", Some(250_000)));
        assert_eq!(parse("lesson=rejoin"), lesson("rejoin", None));
        assert_eq!(parse(&of_lesson("rejoin")), lesson("rejoin", None));
    }

    #[test]
    fn nothing_is_the_start_page() {
        for empty in ["", "#", "#&"] {
            assert_eq!(parse(empty), lesson(START_LESSON, None));
        }
        assert_eq!(parse("#t=1s"), lesson(START_LESSON, Some(1_000_000)));
    }

    #[test]
    fn a_bad_link_says_what_is_wrong_with_it() {
        for (hash, part) in [
            ("#lesson=rejoin&t=soon", "t=soon"),
            ("#t=4.61", "t=4.61"),
            ("#t=-1s", "t=-1s"),
            ("#t=", "t="),
            ("#lessons=rejoin", "lessons"),
            ("#lesson=a&lesson=b", "twice"),
            ("#bench=many", "bench=many"),
        ] {
            let error = parse(hash).expect_err(hash);
            assert!(error.contains(part), "{hash}: {error}");
        }
    }

    #[test]
    fn the_benchmark_has_an_address() {
        assert_eq!(parse("#bench=1000"), Ok(Address::Bench { messages: 1000 }));
    }
}
