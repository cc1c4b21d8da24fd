//! How fast a step is, and was.

use std::time::Duration;

use crate::event::{Nanos, Progress};
use crate::session::StepView;

/// Rates are taken over this much of the latest progress.
pub(super) const WINDOW: Duration = Duration::from_secs(10);

/// For how long its bytes have not grown, where that is longer than rates are taken over and than
/// its tool needs between two figures.
pub(super) fn stands_still(step: &StepView, now: Nanos) -> Option<Duration> {
    let still = now.since(step.pace.moved()?);
    (still > WINDOW.max(step.pace.still() * 2)).then_some(still)
}

/// Bytes a second, over the last seconds of progress; none where it stands still.
#[must_use]
pub fn rate(step: &StepView, now: Nanos) -> Option<f64> {
    if stands_still(step, now).is_some() {
        return None;
    }
    let (end, done) = step.pace.last()?;
    let (start, before) = step
        .pace
        .latest()
        .rev()
        .skip(1)
        .take_while(|(at, _)| end.since(*at) <= WINDOW)
        .last()
        .or_else(|| step.pace.latest().rev().nth(1))?;
    let seconds = end.since(start).as_secs_f64();
    (seconds > 0.0).then(|| done.saturating_sub(before) as f64 / seconds)
}

/// How far a step is, in percent: what its tool said, else its share of the bytes. Nothing where
/// more is done than there was to do: the total was wrong then.
#[must_use]
pub fn percent(progress: &Progress) -> Option<f64> {
    if let (Some(done), Some(total)) = (progress.done, progress.total)
        && done > total
    {
        return None;
    }
    progress.percent.or_else(|| {
        let total = progress.total.filter(|total| total.0 > 0)?;
        Some(progress.done?.0 as f64 / total.0 as f64 * 100.0)
    })
}

/// Rates in `slots` equal parts of the time that a step's progress covers.
#[must_use]
pub fn rates(step: &StepView, slots: usize) -> Vec<f64> {
    let whole = step.pace.whole();
    let (Some((start, _)), Some((end, _))) = (whole.first(), whole.last()) else {
        return Vec::new();
    };
    let span = end.since(*start).as_secs_f64();
    let slots = slots.min(whole.len().saturating_sub(1));
    if slots == 0 || span <= 0.0 {
        return Vec::new();
    }
    let width = span / slots as f64;
    let done_at = |seconds: f64| {
        // Between two readings the rate is taken as even.
        let after = whole
            .iter()
            .position(|(at, _)| at.since(*start).as_secs_f64() >= seconds);
        let at = after.unwrap_or(whole.len().saturating_sub(1));
        let (t1, b1) = whole.get(at).copied().unwrap_or_default();
        let before = whole.get(at.saturating_sub(1)).copied();
        let (t0, b0) = before.unwrap_or((t1, b1));
        let (x0, x1) = (
            t0.since(*start).as_secs_f64(),
            t1.since(*start).as_secs_f64(),
        );
        let share = if x1 > x0 {
            ((seconds - x0) / (x1 - x0)).clamp(0.0, 1.0)
        } else {
            1.0
        };
        b0 as f64 + share * (b1 as f64 - b0 as f64)
    };
    (0..slots)
        .map(|slot| {
            let from = done_at(width * slot as f64);
            let to = done_at(width * (slot + 1) as f64);
            ((to - from) / width).max(0.0)
        })
        .collect()
}

/// A step with readings at these seconds, of 1000 bytes in all.
#[cfg(test)]
pub(super) fn sample(readings: &[(u64, u64)]) -> StepView {
    use crate::event::{Bytes, Labels, Phase, PlannedCommand, ProgressKind};
    use crate::session::Pace;

    let mut pace = Pace::default();
    for (second, done) in readings {
        pace.push(Nanos(second * 1_000_000_000), *done);
    }
    let last = readings.last().map(|(_, done)| Bytes(*done));
    StepView {
        step: "s".into(),
        planned: PlannedCommand {
            run: "r".into(),
            name: "restore".into(),
            phase: Phase::Restore,
            host: "local".into(),
            action: "run".into(),
            command: "true".into(),
            timed: true,
            destroys: None,
            background: false,
            shows: None,
            labels: Labels::new(),
        },
        started: Some(Nanos(0)),
        end: None,
        ended: None,
        progress: last.map(|done| Progress {
            step: "s".into(),
            kind: ProgressKind::Exact,
            percent: None,
            done: Some(done),
            total: Some(Bytes(1000)),
            says: None,
        }),
        pace,
        marks: Vec::new(),
        task: None,
        highest: 0.0,
        last_output: None,
        quiet: Duration::ZERO,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_needs_two_readings_and_uses_the_latest() {
        let rate = |step: &StepView| rate(step, step.pace.last().unwrap().0);
        assert_eq!(rate(&sample(&[(1, 100)])), None);
        assert_eq!(
            rate(&sample(&[(0, 0), (100, 100), (105, 600)])),
            Some(100.0)
        );
        assert_eq!(rate(&sample(&[(0, 0), (60, 600)])), Some(10.0));
        assert_eq!(rate(&sample(&[(5, 0), (5, 600)])), None);
    }

    #[test]
    fn a_tool_that_tells_seldom_does_not_stand_still_between_two_figures() {
        let later = |seconds: u64| Nanos(seconds * 1_000_000_000);
        let quick = sample(&[(0, 0), (6, 600)]);
        assert_eq!(
            stands_still(&quick, later(18)),
            None,
            "it told after 6 s before"
        );
        assert_eq!(
            stands_still(&quick, later(19)),
            Some(Duration::from_secs(13))
        );
        assert_eq!(rate(&quick, later(19)), None);
        let seldom = sample(&[(0, 0), (60, 100), (120, 200)]);
        assert_eq!(stands_still(&seldom, later(230)), None);
        assert!(rate(&seldom, later(230)).is_some());
        assert!(stands_still(&seldom, later(241)).is_some());
        // What is told again and again without a byte more stands still as well.
        let told = sample(&[(0, 0), (1, 100), (5, 100), (9, 100), (12, 100)]);
        assert!(stands_still(&told, later(12)).is_some());
    }

    #[test]
    fn rates_cover_the_whole_time_evenly() {
        assert_eq!(
            rates(&sample(&[(0, 0), (2, 200), (4, 200), (8, 1000)]), 4).len(),
            3
        );
        let even = rates(&sample(&[(0, 0), (1, 100), (2, 100), (3, 400)]), 3);
        assert_eq!(even, [100.0, 0.0, 300.0]);
        assert!(rates(&sample(&[(3, 1), (3, 2)]), 3).is_empty());
    }
}
