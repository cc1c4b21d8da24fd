//! Numbers as tools print them, in any locale, with how fine they are printed.

/// A printed number and the worth of its last digit.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Printed {
    /// The value.
    pub value: f64,
    /// How fine it is.
    pub resolution: f64,
}

impl Printed {
    /// A number that was printed to the last unit.
    #[must_use]
    pub fn exact(value: u64) -> Self {
        Self {
            value: value as f64,
            resolution: 1.0,
        }
    }

    /// In another unit, `factor` of which make one of this.
    #[must_use]
    pub fn times(self, factor: f64) -> Self {
        Self {
            value: self.value * factor,
            resolution: self.resolution * factor,
        }
    }

    /// Whole units, cut.
    #[must_use]
    pub fn whole(self) -> u64 {
        self.value as u64
    }
}

/// Digits behind the decimal sign, at most: no tool here prints finer.
const FINEST: usize = 12;

/// No figure here is larger: an exabyte.
const LARGEST: f64 = 1e18;

/// A number with a fraction: its decimal sign is the last `.` or `,`. `1,062.76`, `1.062,76`
/// and `71,3` are read alike; `20.751.360` has no fraction, `19,43` has.
///
/// A single sign with three digits behind it (`1,234`) is taken for a fraction, as tools that
/// print fractions do not group; use [`grouped`] where the number is known to be whole.
#[must_use]
pub fn fraction(text: &str) -> Option<Printed> {
    let text = text.trim();
    if !text.ends_with(|c: char| c.is_ascii_digit()) {
        return None;
    }
    let sign = text.rfind(['.', ',']);
    let groups = |c: char| text.matches(c).count() > 1;
    let (whole, behind) = match sign.and_then(|at| text.split_at_checked(at)) {
        Some((_, tail)) if tail.starts_with('.') && groups('.') => (text, ""),
        Some((_, tail)) if tail.starts_with(',') && groups(',') => (text, ""),
        Some((whole, tail)) => (whole, tail.trim_start_matches(['.', ','])),
        None => (text, ""),
    };
    let plain = format!("{}.{behind}", without_groups(whole)?);
    let value: f64 = plain.parse().ok()?;
    let sane = value <= LARGEST && behind.len() <= FINEST;
    (sane && behind.bytes().all(|b| b.is_ascii_digit())).then(|| Printed {
        value,
        resolution: 10f64.powi(-i32::try_from(behind.len()).unwrap_or(0)),
    })
}

/// A whole number with or without groups: `54,000,000`, `54.000.000`, `54 000 000`.
#[must_use]
pub fn grouped(text: &str) -> Option<u64> {
    without_groups(text.trim())?.parse().ok()
}

/// The digits of a number whose groups are set apart by a point, comma, apostrophe or blank.
fn without_groups(text: &str) -> Option<String> {
    let mut digits = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '0'..='9' => digits.push(c),
            '.' | ',' | '\'' | '’' | ' ' | '\u{a0}' | '\u{202f}' if !digits.is_empty() => {}
            _ => return None,
        }
    }
    (!digits.is_empty() && text.ends_with(|c: char| c.is_ascii_digit())).then_some(digits)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Option<(f64, f64)> {
        fraction(text).map(|printed| (printed.value, printed.resolution))
    }

    #[test]
    fn fractions_in_both_locales() {
        assert_eq!(read("71.3"), Some((71.3, 0.1)));
        assert_eq!(read("71,3"), Some((71.3, 0.1)));
        assert_eq!(read("15,062.76"), Some((15062.76, 0.01)));
        assert_eq!(read("15.062,76"), Some((15062.76, 0.01)));
        assert_eq!(read("0,00687449"), Some((0.006_874_49, 1e-8)));
        assert_eq!(read("67"), Some((67.0, 1.0)));
        assert_eq!(read("20.751.360"), Some((20_751_360.0, 1.0)));
    }

    #[test]
    fn whole_numbers_with_groups() {
        for text in [
            "54,000,000",
            "54.000.000",
            "54 000 000",
            "54\u{202f}000\u{202f}000",
        ] {
            assert_eq!(grouped(text), Some(54_000_000), "{text}");
        }
        assert_eq!(grouped("1,234"), Some(1234));
    }

    #[test]
    fn what_is_no_number_is_none() {
        for text in [
            "", ".", ",5", "-3", "1e5", "12x", "--:--", "5.", "nan", "1.2.x",
        ] {
            assert_eq!(read(text), None, "{text}");
            assert_eq!(grouped(text), None, "{text}");
        }
        assert_eq!(grouped("99999999999999999999999"), None);
        let digits = "9".repeat(400);
        assert_eq!(read(&digits), None, "never infinite");
        assert_eq!(read(&format!("0.{digits}")), None);
    }
}
