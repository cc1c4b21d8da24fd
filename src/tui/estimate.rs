//! How long still, and how fast: from what this session has measured, never from a guess.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use crate::event::{EndState, Nanos, Progress};
use crate::session::{RunStage, RunView, Session, StepView, median};

/// Rates are taken over this much of the latest progress.
const WINDOW: Duration = Duration::from_secs(10);

/// How long still, and how that is known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Left {
    /// How long.
    pub time: Duration,
    /// How it was made, in words.
    pub how: String,
}

/// How long the session still takes: for each run to come the median of the earlier good runs of
/// the same binding, each machine on its own. Nothing as long as one of them has none.
#[must_use]
pub fn session_left(session: &Session, now: Nanos) -> Option<Left> {
    if session.end.is_some() {
        return None;
    }
    // After a run that did not end well its machines begin no other.
    let is_bad = |run: &&RunView| matches!(run.state, RunStage::Ended(end, _) if !end.is_good());
    let bad = session.runs.iter().filter(is_bad);
    let broken: BTreeSet<&str> = bad.flat_map(|run| machines(session, run)).collect();
    // Seconds until each machine has nothing to do.
    let mut busy: BTreeMap<&str, f64> = BTreeMap::new();
    let mut all = 0.0_f64;
    let mut earlier = usize::MAX;
    for run in &session.runs {
        let machines = machines(session, run);
        if matches!(run.state, RunStage::Ended(..)) || !machines.is_disjoint(&broken) {
            continue;
        }
        let durations = durations(session, run);
        earlier = earlier.min(durations.len());
        let median = median(&durations)?;
        let gone = run
            .started
            .map_or(0.0, |started| now.since(started).as_secs_f64());
        let free = machines.iter().filter_map(|machine| busy.get(machine));
        let end = free.copied().fold(0.0, f64::max) + (median - gone).max(0.0);
        busy.extend(machines.into_iter().map(|machine| (machine, end)));
        all = all.max(end);
    }
    let how = match earlier {
        usize::MAX => return None,
        1 => "by one earlier run of each".to_owned(),
        n => format!("by the medians of {n} or more earlier runs of each"),
    };
    Some(Left {
        time: Duration::try_from_secs_f64(all).ok()?,
        how,
    })
}

/// The machines that a run needs, by the name of a host on each.
fn machines<'a>(session: &'a Session, run: &RunView) -> BTreeSet<&'a str> {
    let told = |host: &str| {
        let facts = session.hosts.get(host)?.facts.as_ref()?;
        Some(facts.machine.as_str()).filter(|machine| !machine.is_empty())
    };
    let machine = |host: &'a String| {
        let mine = told(host);
        let same = |other: &&'a String| mine.is_some() && told(other) == mine;
        session.hosts.keys().find(same).unwrap_or(host).as_str()
    };
    let binding = session.binding(&run.binding);
    let hosts = binding
        .into_iter()
        .flat_map(|binding| binding.roles.values());
    hosts.map(machine).collect()
}

/// Seconds that good runs of the same binding took, from start to end.
fn durations(session: &Session, like: &RunView) -> Vec<f64> {
    session
        .runs
        .iter()
        .filter(|run| run.binding == like.binding && is_good(run))
        .filter_map(|run| Some(run.ended?.since(run.started?).as_secs_f64()))
        .collect()
}

fn is_good(run: &RunView) -> bool {
    matches!(
        run.state,
        RunStage::Ended(EndState::Ok | EndState::Warnings, _)
    )
}

/// What the same step took in the last good run of the same binding: seconds and resolution.
#[must_use]
pub fn last_time(session: &Session, run: &RunView, name: &str) -> Option<(f64, f64)> {
    session
        .runs
        .iter()
        .rev()
        .filter(|other| other.run != run.run && other.binding == run.binding && is_good(other))
        .flat_map(|other| other.steps.iter())
        .filter(|step| step.planned.name == name)
        .find_map(|step| {
            let end = step.end.as_ref()?;
            Some((end.seconds?, end.resolution))
        })
}

/// For how long a step has told of no more bytes, where that is longer than rates are taken over.
#[must_use]
pub fn stalled(step: &StepView, now: Nanos) -> Option<Duration> {
    let (last, _) = *step.rate.last()?;
    let silent = now.since(last);
    (silent > WINDOW).then_some(silent)
}

/// Bytes a second, over the last seconds of progress; none where that is long ago.
#[must_use]
pub fn rate(step: &StepView, now: Nanos) -> Option<f64> {
    if stalled(step, now).is_some() {
        return None;
    }
    let (end, done) = *step.rate.last()?;
    let (start, before) = step
        .rate
        .iter()
        .rev()
        .skip(1)
        .take_while(|(at, _)| end.since(*at) <= WINDOW)
        .last()
        .or_else(|| step.rate.iter().rev().nth(1))?;
    let seconds = end.since(*start).as_secs_f64();
    (seconds > 0.0).then(|| done.saturating_sub(*before) as f64 / seconds)
}

/// How long a step still takes: its rest at its latest rate.
#[must_use]
pub fn step_left(step: &StepView, now: Nanos) -> Option<Duration> {
    let progress = step.progress.as_ref()?;
    let rest = progress.total?.0.checked_sub(progress.done?.0)?;
    let rate = rate(step, now).filter(|rate| *rate > 0.0)?;
    let (last, _) = *step.rate.last()?;
    let left = Duration::try_from_secs_f64(rest as f64 / rate).ok()?;
    Some(left.saturating_sub(now.since(last)))
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
    let (Some((start, _)), Some((end, _))) = (step.rate.first(), step.rate.last()) else {
        return Vec::new();
    };
    let span = end.since(*start).as_secs_f64();
    if slots == 0 || span <= 0.0 {
        return Vec::new();
    }
    let slots = slots.min(step.rate.len().saturating_sub(1));
    let width = span / slots as f64;
    let done_at = |seconds: f64| {
        // Between two readings the rate is taken as even.
        let after = step
            .rate
            .iter()
            .position(|(at, _)| at.since(*start).as_secs_f64() >= seconds);
        let at = after.unwrap_or(step.rate.len().saturating_sub(1));
        let (t1, b1) = step.rate.get(at).copied().unwrap_or_default();
        let (t0, b0) = step
            .rate
            .get(at.saturating_sub(1))
            .copied()
            .unwrap_or((t1, b1));
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::{Bytes, Phase, PlannedCommand, PlannedRun, ProgressKind};
    use crate::session::story::Story;

    fn step(rate: &[(u64, u64)]) -> StepView {
        let last = rate.last().map(|(_, done)| Bytes(*done));
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
                labels: crate::event::Labels::new(),
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
            rate: rate
                .iter()
                .map(|(s, b)| (Nanos(s * 1_000_000_000), *b))
                .collect(),
            marks: Vec::new(),
            highest: 0.0,
            last_output: None,
        }
    }

    /// One run each of two hosts, 100 s and 10 s long; two more on the first and one on the second
    /// are to come.
    fn two_hosts(second: EndState, machines: [&str; 2]) -> Option<Duration> {
        let mut story = Story::new();
        let (a, b) = (story.binding("a", "h1"), story.binding("b", "h2"));
        let (one, two) = (story.run(&a, "full"), story.run(&b, "full"));
        story.done(&two, second);
        story.done(&one, EndState::Ok);
        for (at, binding) in [&a, &b, &a].into_iter().enumerate() {
            story.header.plan.runs.push(PlannedRun {
                run: format!("to come {at}").as_str().into(),
                binding: binding.clone(),
                rep: 2,
            });
        }
        for (host, machine) in ["h1", "h2"].into_iter().zip(machines) {
            story.header.facts.get_mut(host).unwrap().machine = machine.to_owned();
        }
        let mut session = Session::default();
        let seconds = [0, 0, 0, 10, 100].map(|s| Nanos(s * 1_000_000_000));
        for (mut event, t) in story.events().into_iter().zip(seconds) {
            event.t = t;
            session.apply(&event);
        }
        session_left(&session, seconds[4]).map(|left| left.time)
    }

    #[test]
    fn hosts_go_on_side_by_side_and_names_of_one_machine_do_not() {
        let left = |machines| two_hosts(EndState::Ok, machines).unwrap().as_secs();
        assert_eq!(left(["", ""]), 200);
        assert_eq!(left(["m1", "m2"]), 200);
        assert_eq!(left(["m1", "m1"]), 210);
        // After a failure its machine begins nothing more.
        let left = |machines| two_hosts(EndState::Failed, machines);
        assert_eq!(left(["m1", "m2"]), Some(Duration::from_secs(200)));
        assert_eq!(left(["m1", "m1"]), None);
    }

    #[test]
    fn a_rate_needs_two_readings_and_uses_the_latest() {
        let rate = |step: &StepView| rate(step, step.rate.last().unwrap().0);
        assert_eq!(rate(&step(&[(1, 100)])), None);
        assert_eq!(rate(&step(&[(0, 0), (100, 100), (105, 600)])), Some(100.0));
        assert_eq!(rate(&step(&[(0, 0), (60, 600)])), Some(10.0));
        assert_eq!(rate(&step(&[(5, 0), (5, 600)])), None);
    }

    #[test]
    fn the_rest_goes_at_the_latest_rate() {
        let left = |step: &StepView, now: u64| step_left(step, Nanos(now * 1_000_000_000));
        let moving = step(&[(0, 0), (6, 600)]);
        assert_eq!(left(&moving, 6), Some(Duration::from_secs(4)));
        assert_eq!(left(&moving, 9), Some(Duration::from_secs(1)));
        assert_eq!(left(&moving, 12), Some(Duration::ZERO));
        assert_eq!(left(&step(&[(0, 600), (6, 600)]), 6), None);
        assert_eq!(left(&step(&[(0, 0), (6, 1600)]), 6), None);
    }

    #[test]
    fn what_moves_no_more_has_no_rate_and_no_end() {
        let step = step(&[(0, 0), (6, 600)]);
        let later = Nanos(17_000_000_000);
        assert_eq!(stalled(&step, later), Some(Duration::from_secs(11)));
        assert_eq!(rate(&step, later), None);
        assert_eq!(step_left(&step, later), None);
    }

    #[test]
    fn rates_cover_the_whole_time_evenly() {
        let rates = rates(&step(&[(0, 0), (2, 200), (4, 200), (8, 1000)]), 4);
        assert_eq!(rates.len(), 3);
        let rates = super::rates(&step(&[(0, 0), (1, 100), (2, 100), (3, 400)]), 3);
        assert_eq!(rates, [100.0, 0.0, 300.0]);
        assert!(super::rates(&step(&[(3, 1), (3, 2)]), 3).is_empty());
    }
}
