//! What stands in front of the lines of a log.

use chrono::{DateTime, FixedOffset, Utc};

use crate::event::Nanos;

/// What stands in front of the lines of a log.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Stamps {
    /// The time of day when the line came.
    #[default]
    OfDay,
    /// How long its step had been going on.
    SinceBegin,
    /// How long after the line before it: where the time goes.
    SinceLast,
    /// Nothing.
    Off,
}

/// When a line came, counted from the session's begin.
#[derive(Debug, Clone, Copy, Default)]
pub struct Stamped {
    /// The line.
    pub came: Nanos,
    /// The line before it, of the same step.
    pub last: Option<Nanos>,
    /// The step.
    pub began: Nanos,
    /// The session's begin, where its time of day is known.
    pub start: Option<DateTime<Utc>>,
}

impl Stamps {
    /// Cells that a stamp takes, or more after a hundred hours.
    pub const WIDTH: usize = 12;

    /// The next one.
    #[must_use]
    pub fn next(self) -> Self {
        match self {
            Self::OfDay => Self::SinceBegin,
            Self::SinceBegin => Self::SinceLast,
            Self::SinceLast => Self::Off,
            Self::Off => Self::OfDay,
        }
    }

    /// The stamp of a line.
    #[must_use]
    pub fn of(self, line: Stamped, zone: FixedOffset) -> String {
        let Stamped {
            came,
            last,
            began,
            start,
        } = line;
        let since = |began: Nanos| format!("{:>1$}", stopwatch(came, began), Self::WIDTH);
        match self {
            Self::Off => String::new(),
            Self::SinceBegin => since(began),
            Self::SinceLast => since(last.unwrap_or(began)),
            Self::OfDay => {
                let offset = i64::try_from(came.0)
                    .ok()
                    .map(chrono::Duration::nanoseconds);
                let moment = start
                    .zip(offset)
                    .and_then(|(start, offset)| start.checked_add_signed(offset));
                moment.map_or_else(
                    || since(Nanos::default()),
                    |moment| {
                        moment
                            .with_timezone(&zone)
                            .format("%H:%M:%S%.3f")
                            .to_string()
                    },
                )
            }
        }
    }
}

/// `+41.203`, `+2:05.017`, `+1:02:05.017`.
fn stopwatch(came: Nanos, began: Nanos) -> String {
    let gone = came.since(began);
    let (seconds, millis) = (gone.as_secs(), gone.subsec_millis());
    let (hours, minutes, seconds) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    match (hours, minutes) {
        (0, 0) => format!("+{seconds}.{millis:03}"),
        (0, _) => format!("+{minutes}:{seconds:02}.{millis:03}"),
        _ => format!("+{hours}:{minutes:02}:{seconds:02}.{millis:03}"),
    }
}

#[cfg(test)]
mod tests {
    use chrono::Offset as _;

    use super::*;

    #[test]
    fn a_stamp_is_a_time_of_day_or_since_the_step_began() {
        let start = DateTime::from_timestamp(1_790_000_000, 0);
        let (zone, began) = (Utc.fix(), Nanos(5_000_000_000));
        let of = |stamps: Stamps, seconds: f64| {
            let line = Stamped {
                came: Nanos((seconds * 1e9) as u64),
                last: Some(Nanos(40_000_000_000)),
                began,
                start,
            };
            stamps.of(line, zone)
        };
        assert_eq!(of(Stamps::OfDay, 41.203), "14:14:01.203");
        assert_eq!(of(Stamps::SinceBegin, 46.203), "     +41.203");
        assert_eq!(of(Stamps::SinceBegin, 130.5), "   +2:05.500");
        assert_eq!(of(Stamps::SinceBegin, 3730.5), "+1:02:05.500");
        assert_eq!(of(Stamps::Off, 1.0), "");
        assert_eq!(of(Stamps::SinceLast, 46.203), "      +6.203");
        let line = Stamped {
            came: Nanos(1_500_000_000),
            ..Stamped::default()
        };
        let unknown = Stamps::OfDay.of(line, zone);
        assert_eq!(unknown, "      +1.500");
    }
}
