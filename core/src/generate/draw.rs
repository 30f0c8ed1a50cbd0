//! Random draws from a seed.

use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg32;

use crate::scenario::{HeavyTailedLatency, Latency, UniformLatency};
use crate::time::Span;

/// Where a generated scenario's draws come from.
pub(super) struct Draw {
    random: Pcg32,
}

impl Draw {
    pub(super) fn new(seed: u64) -> Self {
        Self { random: Pcg32::seed_from_u64(seed) }
    }

    pub(super) fn any(&mut self) -> u64 {
        self.random.random()
    }

    /// A number from 0 to `count - 1`; 0 if there is none.
    pub(super) fn below(&mut self, count: u64) -> u64 {
        if count == 0 { 0 } else { self.random.random_range(0..count) }
    }

    /// A number from `least` to `most`.
    pub(super) fn between(&mut self, least: u64, most: u64) -> u64 {
        self.random.random_range(least..=most)
    }

    /// True once in so many times.
    pub(super) fn one_in(&mut self, times: u64) -> bool {
        self.below(times) == 0
    }

    /// One of a list that is not empty.
    pub(super) fn pick<T: Clone>(&mut self, list: &[T]) -> T {
        list[self.below(list.len() as u64) as usize].clone()
    }

    /// Something, once in so many times.
    pub(super) fn seldom<T>(&mut self, times: u64, draw: impl FnOnce(&mut Self) -> T) -> Option<T> {
        if self.one_in(times) { Some(draw(self)) } else { None }
    }

    /// A length of time up to `longest` milliseconds: mostly whole seconds or tenths, which often coincide.
    pub(super) fn span(&mut self, longest: u64) -> Span {
        match self.below(9) {
            0 => Span::from_micros(self.between(0, longest * 1_000)),
            1..=4 => Span::from_millis(self.between(0, longest / 100) * 100),
            _ => Span::from_secs(self.between(0, longest / 1_000)),
        }
    }

    /// A length of time up to `longest` milliseconds, and at least a tenth of a second.
    pub(super) fn interval(&mut self, longest: u64) -> Span {
        self.span(longest).max(Span::from_millis(100))
    }

    /// A latency up to `longest` milliseconds, of any kind.
    pub(super) fn latency(&mut self, longest: u64) -> Latency {
        let min = self.below(longest / 4);
        let max = Span::from_millis(min + self.below(longest - min));
        let min = Span::from_millis(min);
        match self.below(6) {
            0..=2 => Latency::Fixed(self.span(longest)),
            3 | 4 => Latency::Uniform(UniformLatency { min, max }),
            _ => {
                let min = min.max(Span::from_millis(1));
                let shape = self.between(5, 40) as f64 / 10.0;
                Latency::HeavyTailed(HeavyTailedLatency { min, max: max.max(min), shape })
            }
        }
    }
}
