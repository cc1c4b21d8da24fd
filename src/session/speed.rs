//! How fast bytes were moved, by own bytes and own time; and how runs are named that went on beside others.

use crate::event::Phase;

use super::{Row, Series, TimeColumn};

/// The label of a run that went on at the same time as a run of another method: which one.
pub const TOGETHER: &str = "together";

/// The label of a run that was started again beside one that still went on: it is a load, and nothing of it is measured.
pub const RESTARTED: &str = "restarted";

/// The series of such a run: values of runs that had the machine for themselves are others.
#[must_use]
pub fn beside(series: &str, other: &str) -> String {
    format!("{series} beside {other}")
}

/// The name of a rate that a tool or a publication tells, beside the one that is made of bytes and time.
#[must_use]
pub fn as_told(name: &str) -> String {
    format!("{name}, as told")
}

/// From the shortest time to the longest, in seconds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Span {
    /// The shortest.
    pub low: f64,
    /// The longest.
    pub high: f64,
}

/// Rates of several runs, in bytes a second: as wide as their clock leaves open.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Speed {
    /// The lowest.
    pub slow: f64,
    /// The highest.
    pub fast: f64,
    /// The median, which no clock widens.
    pub median: f64,
    /// How many runs these are of.
    pub n: usize,
}

impl Speed {
    /// Of what a row moved in a phase: of several steps, one after the other. Nothing where a time of it has no rate, for then
    /// not all that takes time is known to grow with the bytes.
    #[must_use]
    pub fn of(row: &Row, phase: Phase) -> Option<Self> {
        let is_its =
            |time: &&TimeColumn| time.series.phase == Some(phase) && time.series.is_known();
        let times: Vec<&TimeColumn> = row.times.iter().filter(is_its).collect();
        // Of two clocks of one time, the finer one.
        let is_finest = |time: &&&TimeColumn| {
            !times.iter().any(|other| {
                other.series.title() == time.series.title()
                    && other.series.resolution < time.series.resolution
            })
        };
        let finest = times.iter().filter(is_finest);
        let mut all = finest.map(|time| Self::of_time(row, &time.series));
        let first = all.next()??;
        all.try_fold(first, |sum, next| Some(sum.then(next?)))
    }

    fn of_time(row: &Row, time: &Series) -> Option<Self> {
        let is_its = |series: &&Series| {
            series.unit == "B/s" && series.name == time.name && series.labels == time.labels
        };
        let rate = row.space.iter().find(is_its)?;
        let (least, most) = (time.min()?, time.max()?);
        // A time that the clock cannot tell from none gives no highest rate.
        let shortest = Some(least - time.resolution).filter(|short| *short > 0.0)?;
        let speed = Self {
            slow: rate.min()? * most / (most + time.resolution),
            fast: rate.max()? * least / shortest,
            median: rate.median()?,
            n: rate.in_runs(),
        };
        (speed.slow > 0.0 && speed.fast.is_finite()).then_some(speed)
    }

    // The same bytes, moved by both in turn.
    fn then(self, next: Self) -> Self {
        let sum = |one: f64, other: f64| 1.0 / (1.0 / one + 1.0 / other);
        Self {
            slow: sum(self.slow, next.slow),
            fast: sum(self.fast, next.fast),
            median: sum(self.median, next.median),
            n: self.n.min(next.n),
        }
    }

    /// How long so many bytes take.
    #[must_use]
    pub fn seconds(self, bytes: u64) -> Span {
        Span {
            low: bytes as f64 / self.fast,
            high: bytes as f64 / self.slow,
        }
    }

    /// What is left of it beside something else: from the least to the most, as a share of `alone`.
    #[must_use]
    pub fn share_of(self, alone: Self) -> (f64, f64) {
        (self.slow / alone.fast, self.fast / alone.slow)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::Clock;

    fn time(name: &str, phase: Phase, resolution: f64, values: &[f64]) -> TimeColumn {
        TimeColumn {
            clock: Clock::Host,
            stated: true,
            series: Series {
                name: name.to_owned(),
                unit: "s".to_owned(),
                phase: Some(phase),
                resolution,
                values: values.to_vec(),
                runs: (0..values.len()).collect(),
                ..Series::default()
            },
        }
    }

    fn rate(name: &str, values: &[f64]) -> Series {
        Series {
            name: name.to_owned(),
            unit: "B/s".to_owned(),
            values: values.to_vec(),
            runs: (0..values.len()).collect(),
            ..Series::default()
        }
    }

    #[test]
    fn a_speed_is_as_wide_as_its_runs_and_their_clock() {
        let mut row = Row {
            times: vec![time("backup", Phase::Protect, 1.0, &[10.0, 20.0])],
            space: vec![rate("backup", &[100.0, 50.0])],
            ..Row::default()
        };
        let speed = Speed::of(&row, Phase::Protect).unwrap();
        assert_eq!(speed.n, 2);
        assert!((speed.median - 75.0).abs() < 1e-9);
        assert!((speed.slow - 1000.0 / 21.0).abs() < 1e-9, "{speed:?}");
        assert!((speed.fast - 1000.0 / 9.0).abs() < 1e-9, "{speed:?}");
        assert_eq!(Speed::of(&row, Phase::Restore), None);
        let span = speed.seconds(1000);
        assert!((span.low - 9.0).abs() < 1e-9 && (span.high - 21.0).abs() < 1e-9);

        // A second step takes its time, too; one without a rate leaves it open.
        row.times
            .push(time("pack", Phase::Protect, 0.0, &[10.0, 20.0]));
        assert_eq!(Speed::of(&row, Phase::Protect), None);
        row.space.push(rate("pack", &[100.0, 50.0]));
        let both = Speed::of(&row, Phase::Protect).unwrap();
        assert!((both.median - 37.5).abs() < 1e-9, "{both:?}");
    }

    #[test]
    fn a_time_that_its_clock_cannot_tell_from_none_has_no_speed() {
        let row = Row {
            times: vec![time("backup", Phase::Protect, 1.0, &[1.0])],
            space: vec![rate("backup", &[100.0])],
            ..Row::default()
        };
        assert_eq!(Speed::of(&row, Phase::Protect), None);
    }
}
