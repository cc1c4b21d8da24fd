//! Moments of a run, and the clocks between them.

use std::collections::BTreeMap;

use crate::event::{Clock, HostStamps, Labels, RunId, Sample, Stamp};
use crate::method::ClockDef;

/// A moment, by every clock that saw it.
#[derive(Debug, Clone, PartialEq)]
struct Moment {
    /// Host, a stamp of its wall clock, and seconds after that stamp.
    host: Option<(String, Stamp, f64)>,
    /// Seconds since the session's begin.
    here: f64,
    /// Resolution of the host's clock, in seconds.
    resolution: f64,
}

/// Moments by name: `STEP start`, `STEP end`, `STEP MARK`.
#[derive(Debug, Default)]
pub(super) struct Moments {
    all: BTreeMap<String, Moment>,
}

/// Resolution of this machine's clock as far as a step's begin is known here, in seconds.
pub(super) const HERE_RESOLUTION: f64 = 0.001;

impl Moments {
    /// Keeps both ends of a step.
    pub fn step(
        &mut self,
        name: &str,
        host: &str,
        stamps: Option<&HostStamps>,
        resolution: f64,
        here: (f64, f64),
    ) {
        let moment = |stamp: Option<Stamp>, here: f64| Moment {
            host: stamp.map(|stamp| (host.to_owned(), stamp, 0.0)),
            here,
            resolution,
        };
        let start = moment(stamps.map(|stamps| stamps.start), here.0);
        let end = moment(stamps.map(|stamps| stamps.end), here.1);
        self.all.insert(format!("{name} start"), start);
        self.all.insert(format!("{name} end"), end);
    }

    /// Keeps a mark: seconds since the step's begin, by the clock that told it.
    pub fn mark(&mut self, step: &str, mark: &str, at: f64, resolution: f64) {
        let Some(start) = self.all.get(&format!("{step} start")).cloned() else {
            return;
        };
        let moment = Moment {
            host: start
                .host
                .map(|(host, stamp, after)| (host, stamp, after + at)),
            here: start.here + at,
            resolution: resolution.max(start.resolution),
        };
        self.all.insert(format!("{step} {mark}"), moment);
    }

    /// Seconds between two moments, the clock they share, and its resolution.
    pub fn between(&self, from: &str, to: &str) -> Option<(f64, Clock, f64)> {
        let (a, b) = (self.all.get(from)?, self.all.get(to)?);
        match (&a.host, &b.host) {
            (Some((one, start, after)), Some((other, end, later))) if one == other => Some((
                end.seconds_since(*start) + later - after,
                Clock::Host,
                a.resolution.max(b.resolution),
            )),
            // Two machines share no clock but this one.
            _ => Some((b.here - a.here, Clock::Here, HERE_RESOLUTION)),
        }
    }

    /// The sample of a method's clock; absent where one of its ends did not happen.
    pub fn sample(
        &self,
        clock: &ClockDef,
        run: &RunId,
        series: &str,
        labels: &Labels,
    ) -> Option<Sample> {
        let (value, kind, resolution) = self.between(&clock.from, &clock.to)?;
        Some(Sample {
            run: run.clone(),
            step: None,
            name: clock.name.clone(),
            series: series.to_owned(),
            value,
            unit: "s".to_owned(),
            clock: Some(kind),
            resolution,
            labels: labels.clone(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stamps(start: u64, end: u64) -> HostStamps {
        HostStamps {
            start: Stamp(start * 1_000_000_000),
            end: Stamp(end * 1_000_000_000),
            uptime: 0.0,
        }
    }

    #[test]
    fn stamps_are_subtracted_only_within_one_clock() {
        let mut moments = Moments::default();
        moments.step("a", "one", Some(&stamps(100, 110)), 0.01, (1.0, 11.0));
        moments.step("b", "one", Some(&stamps(120, 130)), 0.02, (21.0, 31.0));
        moments.step("c", "two", Some(&stamps(900, 910)), 0.01, (41.0, 51.0));
        assert_eq!(
            moments.between("a start", "b end"),
            Some((30.0, Clock::Host, 0.02))
        );
        assert_eq!(
            moments.between("a start", "c end"),
            Some((50.0, Clock::Here, HERE_RESOLUTION))
        );
        assert_eq!(moments.between("a start", "nowhere"), None);
        moments.mark("b", "100 %", 4.0, 1.0);
        assert_eq!(
            moments.between("b 100 %", "b end"),
            Some((6.0, Clock::Host, 1.0))
        );
    }
}
