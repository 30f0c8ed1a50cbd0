//! How fast the wall clock moves the cursor.

use groupscope_core::time::Span;

/// A speed of playing.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub enum Speed {
    /// A quarter of the wall clock: what travels for a tenth of a second can be followed.
    #[default]
    Quarter,
    /// Half of it.
    Half,
    /// A second of the run in a second.
    Normal,
    /// Twice as fast.
    Double,
    /// Four times.
    Quadruple,
    /// Eight times.
    Octuple,
}

impl Speed {
    /// Every speed, slowest first.
    pub const ALL: [Self; 6] = [Self::Quarter, Self::Half, Self::Normal, Self::Double, Self::Quadruple, Self::Octuple];

    /// As the page writes it.
    #[must_use]
    pub const fn label(self) -> &'static str {
        match self {
            Self::Quarter => "0.25×",
            Self::Half => "0.5×",
            Self::Normal => "1×",
            Self::Double => "2×",
            Self::Quadruple => "4×",
            Self::Octuple => "8×",
        }
    }

    /// Quarters of a microsecond of the run for each microsecond of the wall clock.
    const fn quarters(self) -> u64 {
        match self {
            Self::Quarter => 1,
            Self::Half => 2,
            Self::Normal => 4,
            Self::Double => 8,
            Self::Quadruple => 16,
            Self::Octuple => 32,
        }
    }

    /// The next faster one; the fastest stays.
    #[must_use]
    pub fn faster(self) -> Self {
        Self::ALL.into_iter().find(|speed| *speed > self).unwrap_or(self)
    }

    /// The next slower one; the slowest stays.
    #[must_use]
    pub fn slower(self) -> Self {
        Self::ALL.into_iter().rev().find(|speed| *speed < self).unwrap_or(self)
    }

    /// The speed with a label.
    #[must_use]
    pub fn find(label: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|speed| speed.label() == label)
    }
}

/// What is left of a microsecond of the run between two ticks, in quarters.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Remainder(u8);

impl Remainder {
    /// The run's time for a stretch of the wall clock. Many short stretches come to the same as one long one.
    #[must_use]
    pub fn advance(self, wall: Span, speed: Speed) -> (Span, Self) {
        let quarters = wall.0.saturating_mul(speed.quarters()).saturating_add(u64::from(self.0));
        (Span(quarters / 4), Self((quarters % 4) as u8))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn faster_and_slower_stop_at_the_ends() {
        assert_eq!(Speed::Normal.faster(), Speed::Double);
        assert_eq!(Speed::Normal.slower(), Speed::Half);
        assert_eq!(Speed::Octuple.faster(), Speed::Octuple);
        assert_eq!(Speed::Quarter.slower(), Speed::Quarter);
    }

    #[test]
    fn labels_lead_back() {
        for speed in Speed::ALL {
            assert_eq!(Speed::find(speed.label()), Some(speed));
        }
    }

    #[test]
    fn how_a_stretch_is_cut_makes_no_difference() {
        for speed in Speed::ALL {
            let whole = Remainder::default().advance(Span(1_000_003), speed);
            for frame in [1, 7, 6_944, 16_667, 33_333] {
                let (mut sum, mut rest, mut left) = (Span::ZERO, Remainder::default(), 1_000_003);
                while left > 0 {
                    let step = frame.min(left);
                    let (advanced, remainder) = rest.advance(Span(step), speed);
                    (sum, rest, left) = (sum + advanced, remainder, left - step);
                }
                assert_eq!((sum, rest), whole, "{} in frames of {frame} us", speed.label());
            }
        }
    }
}
