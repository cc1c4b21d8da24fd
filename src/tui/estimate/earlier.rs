//! What earlier good runs of the same binding did.

use std::time::Duration;

use crate::event::{Mark, Nanos};
use crate::session::{RunView, Session, StepView, can_be};

/// So many of the latest runs are asked: more make no estimate better.
const LATEST: usize = 64;

/// The other good runs of the same binding, the latest ones, in their order.
fn runs<'a>(session: &'a Session, like: &RunView) -> impl DoubleEndedIterator<Item = &'a RunView> {
    let all = session.good_runs(&like.binding).rev();
    let all = all.filter(|other| other.run != like.run);
    let latest: Vec<&RunView> = all.take(LATEST).collect();
    latest.into_iter().rev()
}

/// Seconds from one moment to another; none where the clock of the recording has fallen.
fn between(from: Option<Nanos>, to: Option<Nanos>) -> Option<f64> {
    let (from, to) = (from?, to?);
    (to >= from).then(|| to.since(from).as_secs_f64())
}

/// Seconds that they took, from start to end.
pub(super) fn durations(session: &Session, like: &RunView) -> Vec<f64> {
    let took = |run: &RunView| between(run.started, run.ended);
    runs(session, like).filter_map(took).collect()
}

/// The latest steps of a name in them, the latest first.
pub(super) fn steps<'a>(
    session: &'a Session,
    run: &RunView,
    name: &str,
) -> impl Iterator<Item = &'a StepView> {
    let of = |other: &'a RunView| {
        let named = other.course.named(name).rev();
        named.filter_map(|at| other.steps.get(at))
    };
    runs(session, run).rev().flat_map(of).take(LATEST_STEPS)
}

/// So many of the latest steps of one name are asked.
const LATEST_STEPS: usize = 256;

/// The same step in them: of an iteration the same one.
pub(super) fn like<'a>(session: &'a Session, run: &RunView, step: &StepView) -> Vec<&'a StepView> {
    let (name, labels) = (&step.planned.name, &step.planned.labels);
    let all = runs(session, run).flat_map(|other| {
        let same = other.course.like(name, labels);
        same.filter_map(|at| other.steps.get(at))
    });
    let same = all.filter(|other| other.planned.labels == *labels);
    same.take(LATEST_STEPS).collect()
}

/// Seconds that a step took on this machine's clock, with all that its end needed.
#[must_use]
pub(super) fn took(step: &StepView) -> Option<f64> {
    between(step.started, step.ended)
}

/// What the same step took in the last good run of the same binding: seconds and resolution.
#[must_use]
pub fn last_time(session: &Session, run: &RunView, name: &str) -> Option<(f64, f64)> {
    steps(session, run, name).find_map(|step| {
        let end = step.end.as_ref()?;
        let seconds = end.seconds.filter(|seconds| can_be(*seconds, "s"))?;
        Some((seconds, end.resolution))
    })
}

/// Seconds that each earlier run of a step that goes on still needed at this point: where as many
/// bytes were done, else after as long a time. Nothing was needed by one that was over by then.
#[must_use]
pub fn from_here(session: &Session, run: &RunView, step: &StepView, now: Nanos) -> Vec<f64> {
    let still = |other: &StepView| {
        let (took, ended) = (took(other)?, other.ended?);
        let by_bytes = step.pace.last().and_then(|(at, done)| {
            let there = reached(other, done)?;
            Some(ended.since(there).as_secs_f64() - now.since(at).as_secs_f64())
        });
        let gone = now.since(step.started?).as_secs_f64();
        let by_time = took - gone;
        Some(by_bytes.unwrap_or(by_time).max(0.0))
    };
    like(session, run, step)
        .into_iter()
        .filter_map(still)
        .collect()
}

/// Named moments that the last earlier run of a step came to, and that it has not come to yet.
#[must_use]
pub fn marks_to_come<'a>(session: &'a Session, run: &RunView, step: &StepView) -> Vec<&'a Mark> {
    let last = like(session, run, step).pop();
    let is_to_come = |mark: &&Mark| step.marks.iter().all(|known| known.name != mark.name);
    let marks = last.into_iter().flat_map(|last| &last.marks);
    marks.filter(is_to_come).collect()
}

/// Seconds that each earlier run of a step took for all of it.
#[must_use]
pub fn totals(session: &Session, run: &RunView, step: &StepView) -> Vec<f64> {
    let all = like(session, run, step);
    all.into_iter().filter_map(took).collect()
}

/// When a step had so many bytes done; nothing where it never told of so many.
fn reached(step: &StepView, done: u64) -> Option<Nanos> {
    let whole = step.pace.whole();
    let at = whole.iter().position(|(_, bytes)| *bytes >= done)?;
    let (t1, b1) = *whole.get(at)?;
    let Some((t0, b0)) = at.checked_sub(1).and_then(|before| whole.get(before)) else {
        return (b1 == done).then_some(t1);
    };
    // Between two readings the rate is taken as even.
    let share = done.saturating_sub(*b0) as f64 / b1.saturating_sub(*b0).max(1) as f64;
    Some(Nanos(
        t0.0 + (t1.since(*t0).as_nanos() as f64 * share) as u64,
    ))
}

/// Seconds that each of them took after its last byte.
pub(super) fn tails(session: &Session, run: &RunView, step: &StepView) -> Vec<f64> {
    let tail = |other: &StepView| between(other.pace.moved(), other.ended);
    like(session, run, step)
        .into_iter()
        .filter_map(tail)
        .collect()
}

/// The longest time in which the same step printed nothing, in earlier runs.
#[must_use]
pub fn longest_quiet(session: &Session, run: &RunView, step: &StepView) -> Option<Duration> {
    let all = like(session, run, step);
    all.into_iter().map(|other| other.quiet).max()
}

/// The longest time in which it told of no more bytes, in earlier runs.
pub(super) fn longest_still(session: &Session, run: &RunView, step: &StepView) -> Duration {
    let all = like(session, run, step).into_iter();
    let still = all.filter_map(|other| {
        let tail = other.ended?.since(other.pace.moved()?);
        Some(other.pace.still().max(tail))
    });
    still.max().unwrap_or_default()
}
