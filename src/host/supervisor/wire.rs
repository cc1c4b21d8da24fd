//! What the scripts say, read.

use super::Outcome;
use crate::event::{HostStamps, Stamp};
use crate::host::facts::{ClockSource, HostClock};

/// How a step ended, with the sizes of its streams.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Ended {
    pub outcome: Outcome,
    /// Final size of standard output and error, in bytes.
    pub sizes: [u64; 2],
    /// Whether the host cut the stream back.
    pub cut: [bool; 2],
}

/// A line behind the mark.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Line {
    /// The command is being run.
    Started,
    /// It is over.
    Ended(Ended),
    /// So many bytes of both streams follow.
    Inline([u64; 2]),
    /// It was never begun, and never will be.
    Void,
    /// Its folder is not there any more.
    Missing,
    /// The machine has started anew since the session began.
    Restarted,
    /// The host refused, and why.
    Refused(String),
    /// Anything else that a script says: a word and the rest.
    Other(String, String),
}

impl Line {
    pub(super) fn parse(text: &str, clock: HostClock) -> Self {
        let (word, rest) = text.split_once(' ').unwrap_or((text, ""));
        match word {
            "started" => Self::Started,
            "void" => Self::Void,
            "missing" => Self::Missing,
            "restarted" => Self::Restarted,
            "refused" => Self::Refused(plain(rest)),
            "ended" => Self::Ended(ended(rest, clock).unwrap_or_else(|| lost(""))),
            "lost" => Self::Ended(lost(rest)),
            "inline" => match pair(rest) {
                Some(sizes) => Self::Inline(sizes),
                None => Self::Other(word.to_owned(), plain(rest)),
            },
            _ => Self::Other(plain(word), plain(rest)),
        }
    }
}

/// Foreign text, fit for a message.
pub(super) fn plain(text: &str) -> String {
    let text: String = text
        .chars()
        .take(300)
        .map(|c| if c.is_control() { ' ' } else { c })
        .collect();
    text.trim().to_owned()
}

fn pair(text: &str) -> Option<[u64; 2]> {
    let (out, err) = text.trim().split_once(' ')?;
    Some([out.parse().ok()?, err.parse().ok()?])
}

/// The end of a step of which nobody knows how it ended.
fn lost(text: &str) -> Ended {
    let mut words = text.split_ascii_whitespace();
    let mut size = || words.next().and_then(|word| word.parse().ok()).unwrap_or(0);
    Ended {
        outcome: Outcome::lost(),
        sizes: [size(), size()],
        cut: [words.next() == Some("1"), words.next() == Some("1")],
    }
}

/// Reads the line of a status file, as `run.sh` writes it.
fn ended(text: &str, clock: HostClock) -> Option<Ended> {
    let mut words = text.split_ascii_whitespace();
    let status = words.next()?;
    let wall = [words.next()?, words.next()?];
    let uptime = [words.next()?, words.next()?];
    let sizes = [words.next()?.parse().ok()?, words.next()?.parse().ok()?];
    let cut = [words.next()? == "1", words.next()? == "1"];
    let survivors = words.next()?.parse().ok()?;
    // A status of a member that nobody knows makes the whole unknown.
    let status: Vec<i32> = status
        .split(',')
        .map(|code| code.parse().ok())
        .collect::<Option<_>>()
        .unwrap_or_default();
    Some(Ended {
        outcome: Outcome {
            status,
            stamps: stamps(wall, uptime, clock.source),
            resolution: clock.resolution,
            begun: true,
            lost: false,
            restarted: false,
            survivors,
        },
        sizes,
        cut,
    })
}

fn stamps(wall: [&str; 2], uptime: [&str; 2], source: ClockSource) -> Option<HostStamps> {
    let [start, end] = wall.map(|text| stamp(text, source));
    let (start, end) = (start?, end?);
    let uptime = uptime.map(around);
    let wall = end.seconds_since(start);
    // Where the host has no uptime, nothing can be said about a change of its clock.
    let [Some((start_low, start_high)), Some((end_low, end_high))] = uptime else {
        return Some(HostStamps {
            start,
            end,
            uptime: wall,
        });
    };
    // The finer clock gives the end; where both disagree the clock was set, and that shows.
    let inner = end_low - start_high;
    let is_coarse = source == ClockSource::Uptime;
    let end = if is_coarse && (wall - inner).abs() <= 1.5 && inner >= 0.0 {
        Stamp(start.0.saturating_add((inner * 1e9) as u64))
    } else {
        end
    };
    // The wall clock was read between the two: what lies between them agrees with it.
    let uptime = if is_coarse {
        inner
    } else {
        wall.min(end_high - start_low).max(inner)
    };
    Some(HostStamps { start, end, uptime })
}

/// `BEFORE~AFTER`: the uptime on both sides of a reading.
fn around(text: &str) -> Option<(f64, f64)> {
    let (before, after) = text.split_once('~').unwrap_or((text, text));
    let seconds = |text: &str| text.parse::<f64>().ok().filter(|s| s.is_finite());
    Some((seconds(before)?, seconds(after)?))
}

/// Nanoseconds since 1970.
fn stamp(text: &str, source: ClockSource) -> Option<Stamp> {
    let nanos = match source {
        ClockSource::EpochRealtime => {
            let (seconds, micros) = text.split_once('.')?;
            if micros.len() != 6 {
                return None;
            }
            let micros: u64 = micros.parse().ok()?;
            let seconds: u64 = seconds.parse().ok()?;
            seconds
                .checked_mul(1_000_000)?
                .checked_add(micros)?
                .checked_mul(1000)?
        }
        ClockSource::DateNanos => text.parse().ok()?,
        ClockSource::Uptime | ClockSource::Seconds => {
            text.parse::<u64>().ok()?.checked_mul(1_000_000_000)?
        }
    };
    Some(Stamp(nanos))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn clock(source: ClockSource) -> HostClock {
        HostClock {
            source,
            resolution: 0.01,
        }
    }

    fn of(text: &str, source: ClockSource) -> Ended {
        ended(text, clock(source)).unwrap()
    }

    #[test]
    fn a_status_line_is_read() {
        let end = of(
            "3 1700000000.250000 1700000001.500000 10.00 11.25 7 0 0 1 2",
            ClockSource::EpochRealtime,
        );
        assert_eq!(end.outcome.status, [3]);
        assert_eq!(end.sizes, [7, 0]);
        assert_eq!(end.cut, [false, true]);
        assert_eq!(end.outcome.survivors, 2);
        let stamps = end.outcome.stamps.unwrap();
        assert!((stamps.end.seconds_since(stamps.start) - 1.25).abs() < 1e-6);
        assert!((stamps.uptime - 1.25).abs() < 1e-9);
    }

    #[test]
    fn the_time_that_reading_the_clock_takes_is_no_change_of_it() {
        let line = |up_start, up_end| {
            let text = format!("0 1000000000 2400000000 {up_start} {up_end} 0 0 0 0 0");
            of(&text, ClockSource::DateNanos).outcome.stamps.unwrap()
        };
        // Each date took 0.2 s, and told the time in the middle of it.
        let stamps = line("10.00~10.20", "11.50~11.70");
        assert!((stamps.uptime - 1.4).abs() < 1e-9, "{}", stamps.uptime);
        let stamps = line("10.00~10.20", "13.50~13.70");
        assert!((stamps.uptime - 3.3).abs() < 1e-9, "{}", stamps.uptime);
    }

    #[test]
    fn an_unknown_member_makes_the_status_unknown() {
        let line = |status| format!("{status} 1 2 - - 0 0 0 0 0");
        assert_eq!(
            of(&line("0,1"), ClockSource::Seconds).outcome.status,
            [0, 1]
        );
        assert_eq!(
            of(&line("0,?"), ClockSource::Seconds).outcome.status,
            [] as [i32; 0]
        );
        assert_eq!(
            of(&line("?"), ClockSource::Seconds).outcome.status,
            [] as [i32; 0]
        );
    }

    #[test]
    fn uptime_gives_the_finer_end_and_a_set_clock_shows() {
        let end = of("0 100 102 5.00 6.25 0 0 0 0 0", ClockSource::Uptime);
        let stamps = end.outcome.stamps.unwrap();
        assert!((stamps.end.seconds_since(stamps.start) - 1.25).abs() < 1e-6);
        let end = of("0 100 50 5.00 6.25 0 0 0 0 0", ClockSource::Uptime);
        let stamps = end.outcome.stamps.unwrap();
        assert!(stamps.end < stamps.start);
        assert!((stamps.uptime - 1.25).abs() < 1e-9);
    }

    #[test]
    fn a_clock_that_says_nonsense_gives_no_stamps() {
        assert_eq!(
            of("0 1700000000%N 1 - - 0 0 0 0 0", ClockSource::DateNanos)
                .outcome
                .stamps,
            None
        );
        assert_eq!(
            of(
                "0 99999999999999999999 1 - - 0 0 0 0 0",
                ClockSource::Seconds
            )
            .outcome
            .stamps,
            None
        );
    }

    #[test]
    fn a_broken_status_is_lost_and_never_0() {
        let Line::Ended(end) = Line::parse("ended ", HostClock::default()) else {
            panic!("not an end");
        };
        assert!(end.outcome.lost && end.outcome.status.is_empty());
    }

    proptest! {
        #[test]
        fn nothing_that_a_host_says_is_a_panic(text in "\\PC{0,200}", line in "[-0-9.?, a-z]{0,80}") {
            for source in [ClockSource::EpochRealtime, ClockSource::DateNanos, ClockSource::Uptime, ClockSource::Seconds] {
                Line::parse(&text, clock(source));
                Line::parse(&format!("ended {line}"), clock(source));
                Line::parse(&format!("inline {line}"), clock(source));
            }
        }
    }
}
