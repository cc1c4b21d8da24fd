//! Byte figures as tools print them.
//!
//! `bytesize` reads neither a comma nor how fine a figure was printed, and its `GB` is decimal
//! where most tools here mean GiB: each reader says which of the two its tool means.

use super::numbers::{Printed, fraction};

/// What a unit such as `M`, `MB` or `MByte` is worth.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Base {
    /// 1024 (`MiB` is read as this in any case).
    Binary,
    /// 1000.
    Decimal,
}

/// A size or a rate in bytes: `982.4 MiB`, `71,3GiB`, `8.97GB`, `33555416K`, `15.6T`, `0 B/s`,
/// `29184 MB`, `60.0 MiByte`.
#[must_use]
pub fn size(text: &str, base: Base) -> Option<Printed> {
    let text = text.trim();
    let text = text.strip_suffix("/s").unwrap_or(text).trim_end();
    let text = text
        .strip_suffix("Byte")
        .or_else(|| text.strip_suffix("bytes"))
        .or_else(|| text.strip_suffix('B'))
        .unwrap_or(text)
        .trim_end();
    let (text, base) = match text.strip_suffix('i') {
        Some(text) => (text, Base::Binary),
        None => (text, base),
    };
    let (number, power) = match text.chars().next_back().map(|c| (c, power_of(c))) {
        Some((c, Some(power))) => (text.strip_suffix(c)?, power),
        _ => (text, 0),
    };
    let step = match base {
        Base::Binary => 1024f64,
        Base::Decimal => 1000f64,
    };
    Some(fraction(number)?.times(step.powi(power)))
}

fn power_of(unit: char) -> Option<i32> {
    match unit {
        'k' | 'K' => Some(1),
        'm' | 'M' => Some(2),
        'g' | 'G' => Some(3),
        't' | 'T' => Some(4),
        'p' | 'P' => Some(5),
        'e' | 'E' => Some(6),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn binary(text: &str) -> u64 {
        size(text, Base::Binary).unwrap().whole()
    }

    #[test]
    fn binary_whatever_the_tool_calls_it() {
        assert_eq!(binary("8.97GB"), 9_631_464_161);
        assert_eq!(binary("8.97 GiB"), 9_631_464_161);
        assert_eq!(binary("71,3GiB"), 76_557_792_051);
        assert_eq!(binary("636MB"), 636 << 20);
        assert_eq!(binary("33555416K"), 34_360_745_984);
        assert_eq!(binary("20604M"), 21_604_859_904);
        assert_eq!(binary("528.0 KiB"), 528 << 10);
        assert_eq!(binary("9.39M"), 9_846_128);
        assert_eq!(binary("60.0 MiByte"), 60 << 20);
        assert_eq!(binary("29184 MB"), 30_601_641_984);
        assert_eq!(binary("0 B/s"), 0);
        assert_eq!(binary("512"), 512);
        assert_eq!(binary("0   B"), 0);
    }

    #[test]
    fn decimal_where_the_tool_means_it() {
        let read = |text| size(text, Base::Decimal).unwrap();
        assert_eq!(read("54.00M").whole(), 54_000_000);
        assert_eq!(read("54,02M bytes").whole(), 54_020_000);
        assert!((read("1.9 GB/s").value - 1.9e9).abs() < 1.0);
        assert_eq!(read("1.5 GiB").whole(), 1_610_612_736);
    }

    #[test]
    fn the_last_digit_tells_how_fine() {
        let fine = |text| size(text, Base::Binary).unwrap().resolution;
        assert!((fine("8.97GB") - 10_737_418.24).abs() < 0.01);
        assert!((fine("258MB") - 1_048_576.0).abs() < 0.01);
        assert!((fine("1595801600") - 1.0).abs() < 1e-9);
    }

    #[test]
    fn what_is_no_size_is_none() {
        for text in ["", "B", "GiB", "--.-KB/s", "abc", "1 2 x", "-5M", "i"] {
            assert_eq!(size(text, Base::Binary), None, "{text}");
        }
    }
}
