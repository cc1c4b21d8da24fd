//! Progress that never lies: percent never falls, and is not 100 before the end.

use std::time::Duration;

use super::Finding;
use crate::event::{Bytes, Nanos, Progress, ProgressKind, StepId};

/// A step's progress is told at most every so often: 10 times a second.
const PAUSE: Duration = Duration::from_millis(100);

/// The highest percent before a step's end: tools print 100 long before they are done.
const HIGHEST: f64 = 99.0;

/// Turns what a reader finds into the progress events of one step.
#[derive(Debug)]
pub struct Clamp {
    step: StepId,
    /// The highest percent so far.
    best: Option<f64>,
    told: Option<(Nanos, Progress)>,
    /// Found since then.
    held: Option<Progress>,
    /// What the tool said last of how it goes.
    says: Option<String>,
}

impl Clamp {
    /// For one step.
    #[must_use]
    pub fn new(step: StepId) -> Self {
        Self {
            step,
            best: None,
            told: None,
            held: None,
            says: None,
        }
    }

    /// What the tool says of how it goes: told with its next progress.
    pub fn says(&mut self, text: String) {
        self.says = Some(text);
    }

    /// Takes what a line said at `t`: gives an event, or holds it back where the last one is
    /// less than a tenth of a second old. What is no progress is passed over.
    pub fn take(&mut self, t: Nanos, finding: &Finding) -> Option<Progress> {
        let Finding::Progress {
            kind,
            done,
            total,
            percent,
        } = finding
        else {
            return None;
        };
        self.held = Some(self.clamped(*kind, *done, *total, *percent));
        self.due(t)
    }

    /// What was held back, once its time has come.
    pub fn due(&mut self, t: Nanos) -> Option<Progress> {
        let too_early = self
            .told
            .as_ref()
            .is_some_and(|(last, _)| t.since(*last) < PAUSE);
        if too_early {
            return None;
        }
        let next = self.held.take()?;
        if self.told.as_ref().is_some_and(|(_, last)| *last == next) {
            return None;
        }
        self.told = Some((t, next.clone()));
        Some(next)
    }

    /// The step has ended: what was held back, and 100 % where it ended well and a percent is
    /// shown.
    pub fn end(&mut self, well: bool) -> Option<Progress> {
        let told = self.told.take().map(|(_, last)| last);
        let held = self.held.take();
        let mut last = held.clone().or_else(|| told.clone())?;
        if well && last.percent.is_some() {
            last.percent = Some(100.0);
        }
        (told.as_ref() != Some(&last)).then_some(last)
    }

    fn clamped(
        &mut self,
        kind: ProgressKind,
        done: Option<u64>,
        total: Option<u64>,
        printed: Option<f64>,
    ) -> Progress {
        let exceeded = matches!((done, total), (Some(done), Some(total)) if done > total)
            || printed.is_some_and(|percent| !(0.0..=100.0).contains(&percent));
        // What the tool prints was computed from exact bytes and cut; the bytes that it prints
        // beside are often rounded up.
        let percent = printed
            .or_else(|| share(done?, total?))
            .filter(|_| kind != ProgressKind::Unknown && !exceeded);
        if let Some(percent) = percent {
            let best = self.best.unwrap_or(0.0).max(percent.min(HIGHEST));
            self.best = Some(best);
        }
        let known = percent.is_some();
        Progress {
            step: self.step.clone(),
            kind: if known { kind } else { ProgressKind::Unknown },
            percent: self.best.filter(|_| known),
            done: done.map(Bytes),
            total: total.filter(|_| known).map(Bytes),
            says: self.says.clone(),
        }
    }
}

fn share(done: u64, total: u64) -> Option<f64> {
    (total > 0).then(|| done as f64 * 100.0 / total as f64)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const SECOND: u64 = 1_000_000_000;

    fn found(done: u64, total: Option<u64>, percent: Option<f64>) -> Finding {
        Finding::Progress {
            kind: if total.is_some() || percent.is_some() {
                ProgressKind::Exact
            } else {
                ProgressKind::Unknown
            },
            done: Some(done),
            total,
            percent,
        }
    }

    fn clamp() -> Clamp {
        Clamp::new("s1".into())
    }

    #[test]
    fn percent_never_falls_and_is_not_100_before_the_end() {
        let mut clamp = clamp();
        let mut percents = Vec::new();
        for (n, done) in [10, 40, 30, 100, 100].into_iter().enumerate() {
            if let Some(event) = clamp.take(Nanos(n as u64 * SECOND), &found(done, Some(100), None))
            {
                percents.push(event.percent.unwrap());
            }
        }
        assert_eq!(percents, [10.0, 40.0, 40.0, 99.0]);
        assert_eq!(clamp.end(true).unwrap().percent, Some(100.0));
    }

    #[test]
    fn a_failed_step_never_reaches_100() {
        let mut clamp = clamp();
        assert!(clamp.take(Nanos(0), &found(100, Some(100), None)).is_some());
        assert_eq!(clamp.end(false), None);
    }

    #[test]
    fn no_total_no_percent() {
        let mut clamp = clamp();
        let event = clamp.take(Nanos(0), &found(5, None, None)).unwrap();
        assert_eq!((event.percent, event.done), (None, Some(Bytes(5))));
        assert_eq!(event.kind, ProgressKind::Unknown);
        assert_eq!(clamp.end(true), None);
    }

    #[test]
    fn an_exceeded_total_is_hidden() {
        let mut clamp = clamp();
        clamp.take(Nanos(0), &found(90, Some(100), None));
        let event = clamp
            .take(Nanos(SECOND), &found(120, Some(100), None))
            .unwrap();
        assert_eq!((event.percent, event.total), (None, None));
        assert_eq!(event.kind, ProgressKind::Unknown);
        let event = clamp
            .take(Nanos(2 * SECOND), &found(130, None, Some(329.0)))
            .unwrap();
        assert_eq!(event.percent, None);
        assert_eq!(clamp.end(true), None);
    }

    #[test]
    fn the_printed_percent_wins_over_rounded_bytes() {
        let mut clamp = clamp();
        let event = clamp
            .take(Nanos(0), &found(1 << 30, Some(1 << 30), Some(98.0)))
            .unwrap();
        assert_eq!(event.percent, Some(98.0));
    }

    #[test]
    fn ten_events_a_second_and_the_newest_is_kept() {
        let mut clamp = clamp();
        let mut told = Vec::new();
        for n in 0..1000u64 {
            // A line every 2 ms.
            told.extend(clamp.take(Nanos(n * 2_000_000), &found(n, Some(1000), None)));
        }
        assert_eq!(told.len(), 20);
        assert_eq!(clamp.due(Nanos(1_999_000_000)), None);
        let last = clamp.due(Nanos(2 * SECOND)).unwrap();
        assert_eq!(last.done, Some(Bytes(999)));
        assert_eq!(clamp.due(Nanos(9 * SECOND)), None);
    }

    #[test]
    fn the_same_again_is_no_news() {
        let mut clamp = clamp();
        assert!(clamp.take(Nanos(0), &found(5, Some(10), None)).is_some());
        assert_eq!(clamp.take(Nanos(SECOND), &found(5, Some(10), None)), None);
        assert_eq!(
            clamp.take(Nanos(SECOND), &Finding::Warning("w".into())),
            None
        );
    }

    proptest! {
        #[test]
        fn laws(all in prop::collection::vec(
            (0u64..3_000_000_000, any::<Option<u32>>(), any::<Option<u32>>(),
             prop::option::of(prop_oneof![0.0f64..130.0, any::<f64>()])), 0..50))
        {
            let mut clamp = clamp();
            let mut t = 0u64;
            let (mut last, mut best) = (None::<u64>, 0.0f64);
            for (gap, done, total, percent) in all {
                t += gap / 20;
                let finding = Finding::Progress {
                    kind: ProgressKind::Estimated,
                    done: done.map(u64::from),
                    total: total.map(u64::from),
                    percent,
                };
                let Some(event) = clamp.take(Nanos(t), &finding) else { continue };
                if let Some(before) = last {
                    prop_assert!(t - before >= 100_000_000);
                }
                last = Some(t);
                if let Some(percent) = event.percent {
                    prop_assert!((best..100.0).contains(&percent));
                    best = percent;
                }
            }
        }
    }
}
