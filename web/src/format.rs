//! Times as people read them.

use groupscope_core::time::Time;

/// Seconds to a hundredth, rounded down: `4.61`.
#[must_use]
pub fn seconds(time: Time) -> String {
    let hundredths = time.0 / 10_000;
    format!("{}.{:02}", hundredths / 100, hundredths % 100)
}

/// Seconds with no more decimals than it takes: `10`, `7.5`.
#[must_use]
pub fn short_seconds(time: Time) -> String {
    let text = time.to_string();
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seconds_round_down_to_hundredths() {
        assert_eq!(seconds(Time(4_619_999)), "4.61");
        assert_eq!(seconds(Time(0)), "0.00");
    }

    #[test]
    fn short_seconds_drop_zeros() {
        assert_eq!(short_seconds(Time(10_000_000)), "10");
        assert_eq!(short_seconds(Time(7_500_000)), "7.5");
        assert_eq!(short_seconds(Time(0)), "0");
    }
}
