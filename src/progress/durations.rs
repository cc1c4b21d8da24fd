//! Durations as tools print them.

use super::numbers::{Printed, fraction};

/// Seconds: `1m 10s`, `00:12:31`, `0:03:35`, `19.58 Minutes`, `31min 49.9sec`, `94.68s`,
/// `67 sec`, `<1 seconds` (0, and 1 s fine).
///
/// `humantime` reads neither clock shapes nor commas, and does not tell how fine a duration
/// was printed.
#[must_use]
pub fn seconds(text: &str) -> Option<Printed> {
    let text = text.trim();
    if let Some(below) = text.strip_prefix('<') {
        let limit = seconds(below)?;
        return Some(Printed {
            value: 0.0,
            resolution: limit.value,
        });
    }
    if text.contains(':') {
        return clock(text);
    }
    with_units(&text.to_ascii_lowercase())
}

/// `MM:SS` or `HH:MM:SS`, the seconds perhaps with a fraction.
fn clock(text: &str) -> Option<Printed> {
    let mut parts = text.rsplit(':');
    let last = fraction(parts.next()?)?;
    let minutes: u32 = parts.next()?.trim().parse().ok()?;
    let hours: u32 = parts
        .next()
        .map_or(Some(0), |part| part.trim().parse().ok())?;
    if parts.next().is_some() || last.value >= 60.0 || minutes >= 60 {
        return None;
    }
    Some(Printed {
        value: f64::from(hours) * 3600.0 + f64::from(minutes) * 60.0 + last.value,
        resolution: last.resolution,
    })
}

/// Numbers with units, largest first; the last one tells how fine it is.
fn with_units(text: &str) -> Option<Printed> {
    let mut sum: Option<Printed> = None;
    let mut rest = text.trim();
    while !rest.is_empty() {
        let number = take(&mut rest, |c| c.is_ascii_digit() || matches!(c, '.' | ','));
        let unit = take(&mut rest, char::is_alphabetic);
        let part = fraction(number)?.times(worth(unit)?);
        sum = Some(Printed {
            value: part.value + sum.map_or(0.0, |sum| sum.value),
            resolution: part.resolution,
        });
    }
    sum
}

/// Splits what fits off the front, and blanks behind it.
fn take<'a>(rest: &mut &'a str, fits: impl Fn(char) -> bool) -> &'a str {
    let at = rest.find(|c| !fits(c)).unwrap_or(rest.len());
    let (front, behind) = rest.split_at_checked(at).unwrap_or((rest, ""));
    *rest = behind.trim_start();
    front
}

fn worth(unit: &str) -> Option<f64> {
    Some(match unit {
        "ms" => 0.001,
        "s" | "sec" | "secs" | "second" | "seconds" => 1.0,
        "m" | "min" | "mins" | "minute" | "minutes" => 60.0,
        "h" | "hr" | "hour" | "hours" => 3600.0,
        "d" | "day" | "days" => 86400.0,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> (f64, f64) {
        let printed = seconds(text).unwrap_or_else(|| panic!("{text}"));
        (
            (printed.value * 1e6).round() / 1e6,
            (printed.resolution * 1e6).round() / 1e6,
        )
    }

    #[test]
    fn all_shapes() {
        assert_eq!(read("1m 10s"), (70.0, 1.0));
        assert_eq!(read("1h 2m 3s"), (3723.0, 1.0));
        assert_eq!(read("14s"), (14.0, 1.0));
        assert_eq!(read("00:12:31"), (751.0, 1.0));
        assert_eq!(read("0:03:35"), (215.0, 1.0));
        assert_eq!(read("30:05:00"), (108_300.0, 1.0));
        assert_eq!(read("03:35.5"), (215.5, 0.1));
        assert_eq!(read("19.58 Minutes"), (1174.8, 0.6));
        assert_eq!(read("45 Seconds"), (45.0, 1.0));
        assert_eq!(read("31min 49.9sec"), (1909.9, 0.1));
        assert_eq!(read("94.68s"), (94.68, 0.01));
        assert_eq!(read("94,68s"), (94.68, 0.01));
        assert_eq!(read("67 sec"), (67.0, 1.0));
        assert_eq!(read("<1 seconds"), (0.0, 1.0));
        assert_eq!(read("1.18128 s"), (1.18128, 1e-5));
    }

    #[test]
    fn what_is_no_duration_is_none() {
        for text in [
            "",
            "--:--:--",
            "12",
            "::",
            "1:2:3:4",
            "5 parsecs",
            "1:99",
            "s",
        ] {
            assert_eq!(seconds(text), None, "{text}");
        }
    }
}
