//! Where the now line stands: a monotone map from time to height, and back.

use crate::time::{Span, Time};

/// Something happens at a moment: the now line comes as far as `before` without it, and goes on from `after` with it.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Knot {
    pub(crate) at: Time,
    pub(crate) before: f64,
    pub(crate) after: f64,
}

/// The map: linear between knots, with a step at each.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Clock {
    knots: Vec<Knot>,
}

impl Clock {
    /// The map through some knots, given in order of time; several of one moment become one.
    pub(crate) fn new(knots: impl IntoIterator<Item = Knot>) -> Self {
        let mut monotone: Vec<Knot> = Vec::new();
        for knot in knots {
            match monotone.last_mut() {
                Some(last) if last.at >= knot.at => last.after = last.after.max(knot.after),
                Some(last) => {
                    let before = knot.before.max(last.after);
                    monotone.push(Knot { at: knot.at, before, after: knot.after.max(before) });
                }
                None => monotone.push(Knot { after: knot.after.max(knot.before), ..knot }),
            }
        }
        Self { knots: monotone }
    }

    /// The height at a time.
    pub(crate) fn y(&self, at: Time) -> f64 {
        let next = self.knots.partition_point(|knot| knot.at <= at);
        match (next.checked_sub(1).and_then(|last| self.knots.get(last)), self.knots.get(next)) {
            (Some(last), Some(next)) => {
                let share = at.since(last.at).as_secs_f64() / next.at.since(last.at).as_secs_f64();
                last.after + (next.before - last.after) * share
            }
            (Some(last), None) => last.after,
            (None, Some(next)) => next.before,
            (None, None) => 0.0,
        }
    }

    /// The time at a height; within a step the moment of the step.
    pub(crate) fn time(&self, y: f64) -> Time {
        let next = self.knots.partition_point(|knot| knot.before <= y);
        let Some(last) = next.checked_sub(1).and_then(|last| self.knots.get(last)) else {
            return self.knots.first().map_or(Time::ZERO, |knot| knot.at);
        };
        let Some(next) = self.knots.get(next) else { return last.at };
        let (travelled, room) = (y - last.after, next.before - last.after);
        if travelled <= 0.0 || room <= 0.0 {
            return last.at;
        }
        let micros = next.at.since(last.at).as_micros() as f64 * (travelled / room);
        last.at + Span::from_micros(micros as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn clock() -> Clock {
        let knot = |secs, before, after| Knot { at: Time::ZERO + Span::from_secs(secs), before, after };
        Clock::new([knot(0, 0.0, 4.0), knot(1, 24.0, 34.0), knot(1, 40.0, 56.0), knot(3, 50.0, 80.0)])
    }

    #[test]
    fn heights_grow_with_time() {
        let clock = clock();
        let heights: Vec<f64> = (0..=40).map(|tenth| clock.y(Time(tenth * 100_000))).collect();
        assert!(heights.windows(2).all(|pair| pair[0] <= pair[1]), "{heights:?}");
        assert_eq!(clock.y(Time(500_000)), 14.0);
        assert_eq!(clock.y(Time(1_000_000)), 56.0, "everything of that moment has happened");
        assert_eq!(clock.y(Time(9_000_000)), 80.0);
    }

    #[test]
    fn a_height_leads_back_to_its_time() {
        let clock = clock();
        for micros in [0, 250_000, 999_000, 3_000_000] {
            let back = clock.time(clock.y(Time(micros)));
            assert!(back.as_micros().abs_diff(micros) <= 1, "{micros} {back}");
        }
        assert_eq!(clock.time(30.0), Time(1_000_000), "within a step");
        assert_eq!(clock.time(-5.0), Time::ZERO);
        assert_eq!(clock.time(500.0), Time(3_000_000));
    }
}
