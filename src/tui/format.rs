//! Figures as text: seconds with their clock's error, bytes, rates, shares, ages.

use std::time::Duration;

pub use crate::event::count;
use crate::event::{Bytes, Nanos, noun};
use crate::session::short;

/// A count, its digits in threes.
#[must_use]
pub fn many(n: u64) -> String {
    let digits = n.to_string();
    let mut all = String::with_capacity(digits.len() * 4 / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            all.push(',');
        }
        all.push(digit);
    }
    all
}

/// How many decimals a value of this size deserves, but never finer than its clock.
fn decimals(value: f64, resolution: f64) -> usize {
    let by_size: usize = match value.abs() {
        v if v < 10.0 => 2,
        v if v < 100.0 => 1,
        _ => 0,
    };
    let by_clock: usize = match resolution {
        r if r >= 1.0 => 0,
        r if r >= 0.1 => 1,
        _ => 2,
    };
    by_size.min(by_clock)
}

/// Whether the clock's error is worth saying: a whole second always is, a finer one where it is
/// more than a hundredth of the value.
fn is_coarse(value: f64, resolution: f64) -> bool {
    resolution >= 1.0 || (resolution > 0.0 && resolution > value.abs() / 100.0)
}

fn error(resolution: f64) -> String {
    let places = match resolution {
        r if r >= 1.0 => 0,
        r if r >= 0.1 => 1,
        r if r >= 0.01 => 2,
        _ => 3,
    };
    format!("±{resolution:.places$}")
}

/// A bare figure, as precise as its size and its clock allow.
#[must_use]
pub fn figure(value: f64, resolution: f64) -> String {
    format!("{value:.*}", decimals(value, resolution))
}

/// A figure with the clock's error where it matters: `57 ±1`, `0.31`, `<= 1`.
#[must_use]
pub fn figure_with_error(value: f64, resolution: f64) -> String {
    if resolution >= 1.0 && value < resolution {
        // A whole-second clock that reads 0 says only this much.
        return format!("<= {resolution:.0}");
    }
    let shown = figure(value, resolution);
    if is_coarse(value, resolution) && error(resolution) != "±0.000" {
        format!("{shown} {}", error(resolution))
    } else {
        shown
    }
}

/// Seconds with their unit and the clock's error: `28 s ±1`, `0.31 s`, `<= 1 s`.
#[must_use]
pub fn seconds(value: f64, resolution: f64) -> String {
    match figure_with_error(value, resolution).split_once(" ±") {
        Some((shown, error)) => format!("{shown} s ±{error}"),
        None => format!("{} s", figure_with_error(value, resolution)),
    }
}

/// Time that goes on, in whole seconds: `41 s`, `3 min 05 s`, `2 h 04 min`.
#[must_use]
pub fn elapsed(time: Duration) -> String {
    let all = time.as_secs();
    match all {
        0..100 => format!("{all} s"),
        100..3600 => format!("{} min {:02} s", all / 60, all % 60),
        _ => format!("{} h {:02} min", all / 3600, all / 60 % 60),
    }
}

/// A rough time, for an estimate: `14 s`, `4 min`, `2 h 10 min`. Rounded up.
#[must_use]
pub fn rough(seconds: f64) -> String {
    let all = seconds.max(0.0).ceil() as u64;
    match all {
        0..100 => format!("{all} s"),
        100..5400 => format!("{} min", all.div_ceil(60)),
        _ => {
            let tens = all.div_ceil(600) * 10;
            format!("{} h {:02} min", tens / 60, tens % 60)
        }
    }
}

/// A moment of a session, `m:ss`.
#[must_use]
pub fn moment(at: Nanos) -> String {
    let all = at.0 / 1_000_000_000;
    if all >= 3600 {
        format!("{}:{:02}:{:02}", all / 3600, all / 60 % 60, all % 60)
    } else {
        format!("{}:{:02}", all / 60, all % 60)
    }
}

const UNITS: [&str; 7] = ["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];

/// Bytes in three digits and a binary unit: `8.97 GiB`, `512 MiB`.
#[must_use]
pub fn bytes(bytes: Bytes) -> String {
    scaled(bytes.0 as f64)
}

fn scaled(value: f64) -> String {
    let mut value = value;
    let mut unit = 0;
    // 999.5 and more would need a fourth digit.
    while value >= 999.5 && unit + 1 < UNITS.len() {
        value /= 1024.0;
        unit += 1;
    }
    let places = match value {
        _ if unit == 0 => 0,
        v if v < 9.995 => 2,
        v if v < 99.95 => 1,
        _ => 0,
    };
    format!(
        "{value:.places$} {}",
        UNITS.get(unit).copied().unwrap_or("B")
    )
}

/// Bytes a second: `329 MiB/s`.
#[must_use]
pub fn rate(bytes_a_second: f64) -> String {
    format!("{}/s", scaled(bytes_a_second.max(0.0)))
}

/// Done of all, `12.2 of 16.0 GiB`, the unit once where both have it; `about` stands in front of a
/// total that is an estimate.
#[must_use]
pub fn of(done: Bytes, total: Bytes, about: &str) -> String {
    let (done, total) = (bytes(done), bytes(total));
    match (done.split_once(' '), total.split_once(' ')) {
        (Some((value, unit)), Some((_, same))) if unit == same => {
            format!("{value} of {about}{total}")
        }
        _ => format!("{done} of {about}{total}"),
    }
}

/// Percent, cut: 99.9 is `99 %`.
#[must_use]
pub fn percent(percent: f64) -> String {
    format!("{:.0} %", percent.clamp(0.0, 100.0).floor())
}

/// A measured value in its unit; seconds and bytes as above.
#[must_use]
pub fn value(value: f64, unit: &str, resolution: f64) -> String {
    match unit {
        "s" => seconds(value, resolution),
        "B" => scaled(value),
        "B/s" => rate(value),
        "" => figure(value, resolution),
        _ => format!("{} {unit}", figure(value, resolution)),
    }
}

/// A value that nothing can have given: `-5 s cannot be`, `1e300 B cannot be`.
#[must_use]
pub fn impossible(value: f64, unit: &str) -> String {
    format!(
        "{} cannot be",
        format!("{} {unit}", short(value)).trim_end()
    )
}

/// The same of things: `1 line`, `3,000 lines`.
#[must_use]
pub fn many_of(n: u64, what: &str) -> String {
    format!("{} {}", many(n), noun(n, what))
}

/// What lies below a window of rows, for the foot of its frame; nothing where all is seen.
#[must_use]
pub fn below(rows: usize, seen: usize) -> String {
    match rows.saturating_sub(seen) {
        0 => String::new(),
        more => format!("{} below", count(more, "row")),
    }
}

/// How long ago, in whole seconds: `now`, `3 s ago`.
#[must_use]
pub fn ago(age: Duration) -> String {
    if age.as_secs() == 0 {
        "now".to_owned()
    } else {
        format!("{} ago", elapsed(age))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seconds_say_their_clock() {
        assert_eq!(seconds(28.0, 1.0), "28 s ±1");
        assert_eq!(seconds(0.0, 1.0), "<= 1 s");
        assert_eq!(seconds(0.312_44, 1e-9), "0.31 s");
        assert_eq!(seconds(0.31, 0.01), "0.31 s ±0.01");
        assert_eq!(seconds(57.04, 0.01), "57.0 s");
        assert_eq!(seconds(655.4, 1e-6), "655 s");
    }

    #[test]
    fn bytes_have_three_digits() {
        assert_eq!(bytes(Bytes(0)), "0 B");
        assert_eq!(bytes(Bytes(999)), "999 B");
        assert_eq!(bytes(Bytes(1000)), "0.98 KiB");
        assert_eq!(bytes(Bytes(9_630_135_622)), "8.97 GiB");
        assert_eq!(bytes(Bytes(u64::MAX)), "16.0 EiB");
        assert_eq!(
            of(Bytes(13_058_441_216), Bytes(17_179_869_184), ""),
            "12.2 of 16.0 GiB"
        );
        assert_eq!(
            of(Bytes(5_000_000), Bytes(17_179_869_184), "≈"),
            "4.77 MiB of ≈16.0 GiB"
        );
        assert_eq!(rate(-1.0), "0 B/s");
    }

    #[test]
    fn times_are_read_at_a_glance() {
        assert_eq!(elapsed(Duration::from_millis(41_900)), "41 s");
        assert_eq!(elapsed(Duration::from_secs(185)), "3 min 05 s");
        assert_eq!(elapsed(Duration::from_mins(125)), "2 h 05 min");
        assert_eq!(rough(13.2), "14 s");
        assert_eq!(rough(200.0), "4 min");
        assert_eq!(rough(7_500.0), "2 h 10 min");
        assert_eq!(moment(Nanos(151_000_000_000)), "2:31");
        assert_eq!(percent(99.99), "99 %");
        assert_eq!(ago(Duration::from_millis(900)), "now");
        assert_eq!(
            (count(1, "row"), count(0, "run")),
            ("1 row".into(), "0 runs".into())
        );
        assert_eq!(
            (below(5, 4), below(4, 5)),
            ("1 row below".into(), String::new())
        );
    }

    #[test]
    fn odd_figures_are_still_text() {
        for odd in [f64::NAN, f64::INFINITY, -1.0, 1e300] {
            for text in [seconds(odd, odd), rate(odd), percent(odd), rough(odd)] {
                assert!(!text.is_empty());
            }
        }
    }
}
