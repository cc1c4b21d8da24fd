//! Which clock times a step on a host.

use std::fmt;

/// How a host's clock is read, the best first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClockSource {
    /// The shell's own variable: microseconds, without a process.
    EpochRealtime,
    /// `date +%s%N`, where `date` knows it.
    DateNanos,
    /// `/proc/uptime`, beside whole seconds of wall time: 10 ms.
    Uptime,
    /// Whole seconds.
    Seconds,
}

impl ClockSource {
    /// By the name that facts and scripts have for it.
    #[must_use]
    pub fn by_name(name: &str) -> Option<Self> {
        [
            Self::EpochRealtime,
            Self::DateNanos,
            Self::Uptime,
            Self::Seconds,
        ]
        .into_iter()
        .find(|source| source.to_string() == name)
    }
}

impl fmt::Display for ClockSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::EpochRealtime => "EPOCHREALTIME",
            Self::DateNanos => "date +%s%N",
            Self::Uptime => "/proc/uptime",
            Self::Seconds => "date +%s",
        })
    }
}

/// A host's clock, as probed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct HostClock {
    /// How it is read.
    pub source: ClockSource,
    /// Its finest step, in seconds.
    pub resolution: f64,
}

impl Default for HostClock {
    /// What every host has.
    fn default() -> Self {
        Self {
            source: ClockSource::Seconds,
            resolution: 1.0,
        }
    }
}

impl HostClock {
    /// Reads `RESOLUTION SOURCE`, as `clock.sh` says it.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let (resolution, source) = text.split_once(' ')?;
        Some(Self {
            source: ClockSource::by_name(source)?,
            resolution: resolution
                .parse()
                .ok()
                .filter(|step: &f64| (1e-9..=1.0).contains(step))?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_probe_says_is_read() {
        let clock = HostClock::parse("0.000000001 date +%s%N").unwrap();
        assert_eq!(clock.source, ClockSource::DateNanos);
        assert!((clock.resolution - 1e-9).abs() < 1e-15);
        for odd in [
            "",
            "1",
            "x date +%s",
            "NaN date +%s",
            "-1 date +%s",
            "1 sundial",
            "0 date +%s",
        ] {
            assert_eq!(HostClock::parse(odd), None, "{odd}");
        }
    }
}
