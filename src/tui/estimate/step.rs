//! How long a step still takes, and whether it stands still.

use std::time::Duration;

use crate::event::Nanos;
use crate::session::{RunView, Session, StepView, median};

use super::{earlier, speed};

/// A tail that is shorter is no news.
const TAIL: f64 = 2.0;

/// How long a step still takes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StepLeft {
    /// How long.
    pub time: Duration,
    /// How it was made.
    pub how: How,
}

/// How a time was made.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum How {
    /// The rest of the bytes at the latest rate.
    Rate,
    /// The same, and what earlier runs needed after their last byte.
    RateAndTail(Duration),
    /// The percent that the tool told, over the time so far.
    Share,
    /// The median of what so many earlier runs needed from here on.
    Earlier(usize),
}

/// How long a step still takes. Nothing where nothing tells.
#[must_use]
pub fn step_left(
    session: &Session,
    run: &RunView,
    step: &StepView,
    now: Nanos,
) -> Option<StepLeft> {
    by_rate(session, run, step, now)
        .or_else(|| by_earlier(session, run, step, now))
        .or_else(|| by_share(step, now))
}

fn by_rate(session: &Session, run: &RunView, step: &StepView, now: Nanos) -> Option<StepLeft> {
    let progress = step.progress.as_ref()?;
    let rest = progress.total?.0.checked_sub(progress.done?.0)?;
    // All bytes are done: what comes now has no rate.
    if rest == 0 {
        return None;
    }
    let rate = speed::rate(step, now).filter(|rate| *rate > 0.0)?;
    let (last, _) = step.pace.last()?;
    let left = Duration::try_from_secs_f64(rest as f64 / rate).ok()?;
    let left = left.saturating_sub(now.since(last));
    let tail = median(&earlier::tails(session, run, step)).filter(|tail| *tail >= TAIL);
    let tail = tail.and_then(|tail| Duration::try_from_secs_f64(tail).ok());
    Some(match tail {
        None => StepLeft {
            time: left,
            how: How::Rate,
        },
        Some(tail) => StepLeft {
            time: left + tail,
            how: How::RateAndTail(tail),
        },
    })
}

fn by_share(step: &StepView, now: Nanos) -> Option<StepLeft> {
    let progress = step.progress.as_ref()?;
    // The highest one that is told before the end says nothing.
    let percent = speed::percent(progress).filter(|percent| (1.0..99.0).contains(percent))?;
    if speed::stands_still(step, now).is_some() {
        return None;
    }
    let gone = now.since(step.started?).as_secs_f64();
    let time = Duration::try_from_secs_f64(gone * (100.0 - percent) / percent).ok()?;
    Some(StepLeft {
        time,
        how: How::Share,
    })
}

fn by_earlier(session: &Session, run: &RunView, step: &StepView, now: Nanos) -> Option<StepLeft> {
    let mut all = earlier::from_here(session, run, step, now);
    let count = all.len();
    // One that was over by now says only that this one takes longer.
    all.retain(|seconds| *seconds > 0.0);
    let time = Duration::try_from_secs_f64(median(&all)?).ok()?;
    Some(StepLeft {
        time,
        how: How::Earlier(count),
    })
}

/// A step whose bytes do not grow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stall {
    /// For how long.
    pub still: Duration,
    /// The longest time that earlier runs of the step stood still, where that says something.
    pub before: Option<Duration>,
}

impl Stall {
    /// Whether earlier runs stood still for as long.
    #[must_use]
    pub fn is_usual(&self) -> bool {
        self.before.is_some_and(|before| before >= self.still)
    }
}

/// Whether a step stands still.
#[must_use]
pub fn stall(session: &Session, run: &RunView, step: &StepView, now: Nanos) -> Option<Stall> {
    let still = speed::stands_still(step, now)?;
    let before = earlier::longest_still(session, run, step);
    Some(Stall {
        still,
        before: (before >= speed::WINDOW).then_some(before),
    })
}

#[cfg(test)]
mod tests {
    use super::super::speed::sample;
    use super::*;
    use crate::event::{
        Bytes, EndState, Event, Phase, Progress, ProgressKind, RunId, StepId, What,
    };
    use crate::session::story::Story;

    const SECOND: u64 = 1_000_000_000;

    #[test]
    fn the_rest_goes_at_the_latest_rate() {
        let session = Session::default();
        let mut story = Story::new();
        let binding = story.binding("a", "h1");
        let run = story.run(&binding, "full");
        let told = story.session();
        let run = told.run_view(&run).unwrap();
        let left = |step: &StepView, now: u64| {
            step_left(&session, run, step, Nanos(now * SECOND)).map(|left| left.time.as_secs())
        };
        let moving = sample(&[(0, 0), (6, 600)]);
        assert_eq!(left(&moving, 6), Some(4));
        assert_eq!(left(&moving, 9), Some(1));
        assert_eq!(left(&moving, 12), Some(0));
        assert_eq!(left(&sample(&[(0, 0), (6, 1600)]), 6), None);
        // By its percent, where bytes have no rate.
        assert_eq!(left(&sample(&[(6, 600)]), 6), Some(4));
        assert_eq!(left(&moving, 20), None, "it stands still");
    }

    /// Runs of one method: each reads 100 bytes a second and needs so long after the last one. The
    /// last one goes on and stands at so many seconds.
    fn restores(tails: &[u64], has_bytes: bool, now: u64) -> (Session, RunId, StepId) {
        let mut story = Story::new();
        let binding = story.binding("a", "h1");
        let mut times = vec![0];
        let mut last = None;
        let mut clock = 0;
        for at in 0..=tails.len() {
            let run = story.run(&binding, "full");
            let step = story.step(&run, "restore", Phase::Restore);
            times.resize(story.told.len() + 1, clock);
            let seconds = if at == tails.len() { now.min(10) } else { 10 };
            for second in 0..=seconds {
                if has_bytes {
                    story.tell(What::Progress(Progress {
                        step: step.clone(),
                        kind: ProgressKind::Exact,
                        percent: None,
                        done: Some(Bytes(second * 100)),
                        total: Some(Bytes(1000)),
                        says: None,
                    }));
                    times.push(clock + second);
                }
            }
            if let Some(tail) = tails.get(at) {
                clock += 10 + tail;
                story.step_done(&step, EndState::Ok);
                story.done(&run, EndState::Ok);
                times.resize(story.told.len() + 1, clock);
            }
            last = Some((run, step));
        }
        let mut session = Session::default();
        let events: Vec<Event> = story.events();
        for (mut event, t) in events.into_iter().zip(times) {
            event.t = Nanos(t * SECOND);
            session.apply(&event);
        }
        let (run, step) = last.unwrap();
        (session, run, step)
    }

    fn seen(tails: &[u64], has_bytes: bool, now: u64) -> (Option<StepLeft>, Vec<f64>) {
        let (session, run, step) = restores(tails, has_bytes, now);
        let began = tails.iter().map(|tail| tail + 10).sum::<u64>();
        let (run, step) = (
            session.run_view(&run).unwrap(),
            session.step_view(&step).unwrap(),
        );
        let now = Nanos((began + now) * SECOND);
        (
            step_left(&session, run, step, now),
            earlier::from_here(&session, run, step, now),
        )
    }

    fn left(seconds: u64, how: How) -> StepLeft {
        let time = Duration::from_secs(seconds);
        StepLeft { time, how }
    }

    #[test]
    fn the_last_byte_is_not_the_end() {
        let tail = |seconds| How::RateAndTail(Duration::from_secs(seconds));
        let (all, before) = seen(&[24, 26], true, 4);
        assert_eq!(all, Some(left(6 + 25, tail(25))));
        assert_eq!(before, [30.0, 32.0]);
        // All bytes are done: what is left then, earlier runs tell.
        let (all, before) = seen(&[24, 26], true, 15);
        assert_eq!(all, Some(left(20, How::Earlier(2))));
        assert_eq!(before, [19.0, 21.0]);
        // The first one has nothing to go by.
        assert_eq!(seen(&[], true, 4), (Some(left(6, How::Rate)), Vec::new()));
        assert_eq!(seen(&[], true, 15).0, None);
    }

    #[test]
    fn without_any_progress_earlier_runs_tell_by_time() {
        let (all, before) = seen(&[4, 6, 10], false, 15);
        assert_eq!(before, [0.0, 1.0, 5.0]);
        assert_eq!(all, Some(left(3, How::Earlier(3))));
        let (all, before) = seen(&[4, 6], false, 40);
        assert_eq!(
            (all, before),
            (None, vec![0.0, 0.0]),
            "it takes longer than ever"
        );
        assert_eq!(seen(&[], false, 15), (None, Vec::new()));
    }

    #[test]
    fn a_stall_that_earlier_runs_had_is_usual() {
        let (session, run, step) = restores(&[30], true, 10);
        let (run, step) = (
            session.run_view(&run).unwrap(),
            session.step_view(&step).unwrap(),
        );
        let at = |seconds: u64| stall(&session, run, step, Nanos((40 + 10 + seconds) * SECOND));
        assert_eq!(at(5), None);
        assert!(at(20).unwrap().is_usual());
        let long = at(31).unwrap();
        assert!(!long.is_usual());
        assert_eq!(long.before, Some(Duration::from_secs(30)));
        assert_eq!(long.still, Duration::from_secs(31));
    }
}
