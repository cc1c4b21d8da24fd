//! Figures as people and programs read them.

use serde_json::{Number, Value};

use crate::session::{Series, can_be};

/// Binary prefixes of bytes.
const PREFIXES: [&str; 6] = ["", "Ki", "Mi", "Gi", "Ti", "Pi"];
/// From here on a float has no room for nine decimals.
const EXACT: f64 = 1e6;
/// Whole numbers up to here are exact in a float.
const WHOLE: f64 = 9_007_199_254_740_992.0;

/// How all figures of a series are written: one unit, so many decimals.
#[derive(Debug, Clone, PartialEq)]
pub struct Scale {
    unit: String,
    divide: f64,
    decimals: usize,
    resolution: f64,
}

impl Scale {
    /// For a series: bytes in the unit of the largest, seconds as fine as their clock and their
    /// size deserve.
    #[must_use]
    pub fn of(series: &Series) -> Self {
        // Before a run counts, the values of those that do not are all there are.
        let out = series.out.iter().map(|(_, value)| *value);
        let out = out.filter(|value| series.n() == 0 && can_be(*value, &series.unit));
        let all = series.values.iter().copied().chain(out);
        let printed = [series.published, series.published_min, series.published_max];
        let largest = all
            .chain(printed.into_iter().flatten())
            .fold(0.0, |largest: f64, value| largest.max(value.abs()));
        match series.unit.as_str() {
            "s" => Self {
                unit: "s".to_owned(),
                divide: 1.0,
                decimals: second_decimals(largest, series.resolution),
                resolution: series.resolution,
            },
            "B" => Self::bytes(largest, ""),
            "B/s" => Self::bytes(largest, "/s"),
            unit => Self {
                unit: unit.to_owned(),
                divide: 1.0,
                decimals: usize::from(largest < 1e5) * 2,
                resolution: 0.0,
            },
        }
    }

    fn bytes(largest: f64, per: &str) -> Self {
        let mut divide = 1.0;
        let mut prefix = "";
        for next in PREFIXES {
            prefix = next;
            if largest / divide < 1024.0 {
                break;
            }
            if next != "Pi" {
                divide *= 1024.0;
            }
        }
        Self {
            unit: format!("{prefix}B{per}"),
            divide,
            decimals: if divide > 1.0 { 2 } else { 0 },
            resolution: 0.0,
        }
    }

    /// The unit that figures are written in.
    #[must_use]
    pub fn unit(&self) -> &str {
        &self.unit
    }

    /// What a figure is divided by to be in that unit.
    pub(super) fn divisor(&self) -> f64 {
        self.divide
    }

    /// A figure without its unit. What a whole-second clock calls 0 is at most 1: `<=1`.
    #[must_use]
    pub fn bare(&self, value: f64) -> String {
        if self.is_nothing(value) {
            return format!("<={}", trim(self.resolution, 0));
        }
        let scaled = value / self.divide;
        if scaled.abs() >= 1e15 {
            // Nothing is so large; all of its digits would tell no more.
            return format!("{scaled:e}");
        }
        if self.decimals == 0 {
            // The mean of two whole numbers.
            return trim(scaled, 1);
        }
        if scaled == 0.0 {
            return "0".to_owned();
        }
        if self.unit == "s" || self.divide > 1.0 {
            format!("{scaled:.*}", self.decimals)
        } else {
            trim(scaled, self.decimals)
        }
    }

    /// A figure with its unit, and how far off it may be where its clock counts whole seconds:
    /// `28 ±1 s`.
    #[must_use]
    pub fn full(&self, value: f64) -> String {
        if self.unit.is_empty() {
            return self.with_error(value);
        }
        format!("{} {}", self.with_error(value), self.unit)
    }

    /// The same without the unit: `28 ±1`, `<= 1`.
    #[must_use]
    pub fn with_error(&self, value: f64) -> String {
        if self.is_nothing(value) {
            return format!("<= {}", trim(self.resolution, 0));
        }
        let bare = self.bare(value);
        if self.is_coarse() {
            return format!("{bare} ±{}", trim(self.resolution, 0));
        }
        bare
    }

    /// Two figures as a range, without their unit.
    #[must_use]
    pub fn range(&self, low: f64, high: f64) -> String {
        let nothing = self.is_nothing(low) && high <= self.resolution;
        let (low, high) = (self.bare(low), self.bare(high));
        if low == high || nothing {
            low
        } else {
            format!("{low}–{high}")
        }
    }

    // A whole-second clock that counts less than one says only that.
    fn is_nothing(&self, value: f64) -> bool {
        self.is_coarse() && value < self.resolution
    }

    fn is_coarse(&self) -> bool {
        self.unit == "s" && self.resolution >= 1.0
    }
}

// Three figures that count, but none that the clock cannot tell.
fn second_decimals(largest: f64, resolution: f64) -> usize {
    let by_size = match largest {
        value if value < 0.001 => 6,
        value if value < 0.1 => 4,
        value if value < 10.0 => 3,
        value if value < 100.0 => 2,
        _ => 1,
    };
    let by_clock = if resolution > 0.0 {
        (-resolution.log10()).ceil().max(0.0) as usize
    } else {
        by_size
    };
    by_size.min(by_clock)
}

/// At most so many decimals, without zeros at the end.
pub(super) fn trim(value: f64, decimals: usize) -> String {
    let text = format!("{value:.decimals$}");
    if !text.contains('.') {
        return text;
    }
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// A figure as a program reads it: whole bytes, everything else to nine decimals; what is whole
/// has no point.
pub(super) fn number(value: f64, unit: &str) -> Value {
    let value = match unit {
        "B" => value.round(),
        _ if value.abs() < EXACT => (value * 1e9).round() / 1e9,
        _ => value,
    };
    if value.fract() == 0.0 && value.abs() < WHOLE {
        return Value::Number(Number::from(value as i64));
    }
    if unit == "B" && (0.0..=u64::MAX as f64).contains(&value) {
        return Value::Number(Number::from(value as u64));
    }
    Number::from_f64(value).map_or(Value::Null, Value::Number)
}

/// The same as text without an exponent; nothing for what is no number.
pub(super) fn plain(value: f64, unit: &str) -> String {
    match number(value, unit) {
        Value::Number(number) => match number.as_f64() {
            Some(value) if number.is_f64() => value.to_string(),
            _ => number.to_string(),
        },
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn series(unit: &str, resolution: f64, values: &[f64]) -> Series {
        Series {
            unit: unit.to_owned(),
            resolution,
            values: values.to_vec(),
            ..Series::default()
        }
    }

    fn full(unit: &str, resolution: f64, value: f64) -> String {
        Scale::of(&series(unit, resolution, &[value])).full(value)
    }

    #[test]
    fn what_does_not_count_is_as_fine_as_what_does() {
        let mut going_on = series("s", 1e-6, &[]);
        going_on.out = vec![(0, 0.579_505), (1, 1e300)];
        let scale = Scale::of(&going_on);
        assert_eq!(scale.bare(0.579_505), "0.580");
        assert_eq!(scale.bare(1e300), "1e300");
    }

    #[test]
    fn whole_seconds_say_how_far_off_they_may_be() {
        assert_eq!(full("s", 1.0, 28.0), "28 ±1 s");
        assert_eq!(full("s", 1.0, 27.5), "27.5 ±1 s");
        assert_eq!(full("s", 1.0, 0.0), "<= 1 s");
        assert_eq!(full("s", 1.0, 4693.0), "4693 ±1 s");
    }

    #[test]
    fn finer_clocks_have_three_figures_but_none_that_they_cannot_tell() {
        assert_eq!(full("s", 1e-9, 0.000_412), "0.000412 s");
        assert_eq!(full("s", 1e-9, 0.044), "0.0440 s");
        assert_eq!(full("s", 1e-9, 0.8124), "0.812 s");
        assert_eq!(full("s", 0.0, 12.8), "12.80 s");
        assert_eq!(full("s", 0.0, 481.26), "481.3 s");
        assert_eq!(full("s", 0.01, 0.81), "0.81 s");
        assert_eq!(full("s", 0.0, 0.0), "0 s");
    }

    #[test]
    fn bytes_share_the_unit_of_the_largest() {
        let archive = series("B", 0.0, &[9_630_135_622.0, 0.0, 12_000_000.0]);
        let scale = Scale::of(&archive);
        let all: Vec<String> = archive
            .values
            .iter()
            .map(|value| scale.bare(*value))
            .collect();
        assert_eq!(all, ["8.97", "0", "0.01"]);
        assert_eq!(scale.unit(), "GiB");
        assert_eq!(full("B", 0.0, 1023.0), "1023 B");
        assert_eq!(full("B", 0.0, 1024.0), "1.00 KiB");
        assert_eq!(full("B/s", 0.0, 345.0 * 1024.0 * 1024.0), "345.00 MiB/s");
        assert_eq!(full("B", 0.0, 1e30), "888178419700125.25 PiB");
    }

    #[test]
    fn other_units_stand_as_they_are() {
        assert_eq!(full("%", 0.0, 96.4), "96.4 %");
        assert_eq!(full("files", 0.0, 2048.0), "2048 files");
    }

    #[test]
    fn a_range_of_one_value_is_that_value() {
        let scale = Scale::of(&series("s", 1.0, &[2.0]));
        assert_eq!(scale.range(2.0, 2.0), "2");
        assert_eq!(scale.range(0.0, 2.0), "<=1–2");
        assert_eq!(scale.range(0.0, 1.0), "<=1");
    }

    #[test]
    fn programs_get_whole_bytes_and_nine_decimals() {
        let text = |value, unit| number(value, unit).to_string();
        assert_eq!(text(28.0, "s"), "28");
        assert_eq!(text(0.1 + 0.2, "s"), "0.3");
        assert_eq!(text(0.123_456_789_49, "s"), "0.123456789");
        assert_eq!(text(9_628_654_680.0, "B"), "9628654680");
        assert_eq!(text(2.5, "B"), "3");
        assert_eq!(text(1e19, "B"), "10000000000000000000");
        assert_eq!(text(1e300, "x"), "1e+300");
        assert_eq!(plain(1e-6, "s"), "0.000001");
        assert_eq!(plain(9.5e9, "B"), "9500000000");
        assert_eq!(text(f64::NAN, "s"), "null");
        assert_eq!(text(-0.0, "s"), "0");
    }
}
