//! Virtual time: whole microseconds since the start of the run (decision 15).

use std::fmt;
use std::ops::{Add, AddAssign, Sub};

/// A moment of the run, in microseconds since its start.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Time(pub u64);

/// A length of time in microseconds.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Span(pub u64);

/// The longest length of time that a scenario may name: 24 hours.
pub const LONGEST_SPAN: Span = Span::from_secs(24 * 60 * 60);

impl Time {
    /// The start of the run.
    pub const ZERO: Self = Self(0);
    /// Later than everything that happens in a run.
    pub const MAX: Self = Self(u64::MAX);

    /// The time since an earlier moment; zero if `earlier` is later.
    #[must_use]
    pub const fn since(self, earlier: Self) -> Span {
        Span(self.0.saturating_sub(earlier.0))
    }

    /// The moment in whole microseconds.
    #[must_use]
    pub const fn as_micros(self) -> u64 {
        self.0
    }

    /// The moment in seconds, for drawing only: the simulation never computes with it.
    #[must_use]
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 / 1e6
    }
}

impl Span {
    /// No time at all.
    pub const ZERO: Self = Self(0);

    /// A number of microseconds.
    #[must_use]
    pub const fn from_micros(micros: u64) -> Self {
        Self(micros)
    }

    /// A number of milliseconds.
    #[must_use]
    pub const fn from_millis(millis: u64) -> Self {
        Self(millis * 1_000)
    }

    /// A number of seconds.
    #[must_use]
    pub const fn from_secs(secs: u64) -> Self {
        Self(secs * 1_000_000)
    }

    /// The length in whole microseconds.
    #[must_use]
    pub const fn as_micros(self) -> u64 {
        self.0
    }

    /// The length in seconds, for drawing only.
    #[must_use]
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 / 1e6
    }

    /// `numerator / denominator` of it, rounded down (decision 15). `denominator` is not zero.
    #[must_use]
    pub const fn fraction(self, numerator: u64, denominator: u64) -> Self {
        Self((self.0 as u128 * numerator as u128 / denominator as u128) as u64)
    }

    /// Reads a length as people write it: a number and a unit, `10s`, `250ms`, `1.5s`, `2m`, `1h`, `400us`.
    ///
    /// # Errors
    /// What is wrong with the text, in a sentence that says what would be right.
    pub fn parse(text: &str) -> Result<Self, String> {
        let trimmed = text.trim();
        let split = trimmed.find(|c: char| c.is_ascii_alphabetic() || c == 'µ').unwrap_or(trimmed.len());
        let (number, unit) = trimmed.split_at(split);
        let micros_per_unit: u64 = match unit.trim() {
            "us" | "µs" => 1,
            "ms" => 1_000,
            "s" => 1_000_000,
            "m" | "min" => 60_000_000,
            "h" => 3_600_000_000,
            "" => {
                return Err(format!("`{text}` has no unit: write for instance \"10s\" or \"250ms\""));
            }
            other => {
                return Err(format!(
                    "`{other}` is not a unit of time: use us, ms, s, m or h, as in \"10s\" or \"250ms\""
                ));
            }
        };
        let span = decimal(number.trim(), micros_per_unit)
            .ok_or_else(|| format!("`{text}` is not a length of time: write for instance \"10s\" or \"250ms\""))?;
        if span > LONGEST_SPAN.0 {
            return Err(format!("`{text}` is longer than 24h, the longest length of time allowed"));
        }
        Ok(Self(span))
    }
}

/// `digits[.digits]` times `scale`, exactly; `None` if it is no number, not a whole result, or too large.
fn decimal(number: &str, scale: u64) -> Option<u64> {
    let (whole, part) = number.split_once('.').unwrap_or((number, ""));
    let all_digits = |s: &str| s.bytes().all(|b| b.is_ascii_digit());
    if whole.len() + part.len() == 0 || part.len() > 18 || !all_digits(whole) || !all_digits(part) {
        return None;
    }
    let value = |s: &str| {
        if s.is_empty() { Some(0) } else { s.parse::<u64>().ok().map(u128::from) }
    };
    let ten_to = 10u128.pow(part.len() as u32);
    let scaled = (value(whole)? * ten_to + value(part)?) * u128::from(scale);
    if scaled.is_multiple_of(ten_to) { u64::try_from(scaled / ten_to).ok() } else { None }
}

impl Add<Span> for Time {
    type Output = Self;
    fn add(self, span: Span) -> Self {
        Self(self.0.saturating_add(span.0))
    }
}

impl AddAssign<Span> for Time {
    fn add_assign(&mut self, span: Span) {
        *self = *self + span;
    }
}

impl Add for Span {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }
}

impl Sub for Span {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }
}

impl fmt::Display for Span {
    /// The shortest exact text that [`Span::parse`] reads back: `10s`, `250ms`, `1500us`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            0 => f.write_str("0s"),
            n if n % 1_000_000 == 0 => write!(f, "{}s", n / 1_000_000),
            n if n % 1_000 == 0 => write!(f, "{}ms", n / 1_000),
            n => write!(f, "{n}us"),
        }
    }
}

impl fmt::Display for Time {
    /// Seconds with as many decimals as it takes, at least two: `4.61`, `0.00`, `1.000250`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (secs, micros) = (self.0 / 1_000_000, self.0 % 1_000_000);
        if micros % 10_000 == 0 {
            write!(f, "{secs}.{:02}", micros / 10_000)
        } else if micros % 1_000 == 0 {
            write!(f, "{secs}.{:03}", micros / 1_000)
        } else {
            write!(f, "{secs}.{micros:06}")
        }
    }
}

impl fmt::Debug for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}s")
    }
}

impl fmt::Debug for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl serde::Serialize for Span {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl schemars::JsonSchema for Span {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Span".into()
    }
    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({
            "type": "string",
            "description": "A length of time: a number and a unit (us, ms, s, m, h), at most 24h.",
            "pattern": r"^\s*(\d+\.?\d*|\.\d+)\s*(us|µs|ms|s|m|min|h)\s*$",
            "examples": ["10s", "250ms", "1.5s"]
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_are_read_exactly() {
        for (text, micros) in [
            ("10s", 10_000_000),
            ("250ms", 250_000),
            ("1.5s", 1_500_000),
            ("2m", 120_000_000),
            ("0.000001s", 1),
            ("1.5m", 90_000_000),
            ("400us", 400),
            ("0s", 0),
            ("24h", 86_400_000_000),
        ] {
            assert_eq!(Span::parse(text), Ok(Span(micros)), "{text}");
        }
    }

    #[test]
    fn bad_spans_say_what_would_be_right() {
        for text in ["10", "ten", "s", "", "-1s", "1.2.3s", "1 parsec", "25h", "0.0000001s", "99999999999999999999s"] {
            let error = Span::parse(text).expect_err(text);
            assert!(error.contains("10s") || error.contains("24h"), "{error}");
        }
    }

    #[test]
    fn spans_print_as_they_are_read() {
        for micros in [0, 1, 999, 1_000, 250_000, 1_500_000, 10_000_000, 86_400_000_000] {
            assert_eq!(Span::parse(&Span(micros).to_string()), Ok(Span(micros)));
        }
    }

    #[test]
    fn fractions_round_down() {
        assert_eq!(Span(10_000_000).fraction(1, 3), Span(3_333_333));
        assert_eq!(Span(10_000_000).fraction(2, 3), Span(6_666_666));
    }
}
