//! A recording at the pace at which it happened, or at another.

use std::time::Duration;

use super::idle::{self, Idle};
use super::reel::{Events, Reading, Reel};
use crate::event::{Event, Nanos};
use crate::session::Session;

/// Slowest and fastest pace.
const SPEEDS: (f64, f64) = (0.01, 100_000.0);
/// Events that are given at once; who folds them is not to be busy for long.
const BATCH: usize = 1024;
/// How often one looks whether more of the recording is known.
const LOOK: Duration = Duration::from_millis(30);
/// How long the end stays on the screen before it begins anew.
const REST: Duration = Duration::from_secs(5);

/// Plays a recording, on a clock that the caller reads: each call is told what that clock shows.
#[derive(Debug)]
pub struct Player {
    reel: Reel,
    ahead: Option<Events>,
    /// Position in the recording when the caller's clock showed `since`.
    at: Nanos,
    since: Duration,
    speed: f64,
    paused: bool,
    /// Whether idle times are passed over.
    cut: bool,
    looping: bool,
    /// When the end was reached.
    over: Option<Duration>,
    trouble: Option<String>,
}

/// What happened to the session since the last look.
#[derive(Debug)]
pub enum Change {
    /// Nothing.
    Nothing,
    /// These events, one after the other.
    More(Vec<Event>),
    /// It is another one: that of another moment.
    Moment(Box<Session>),
}

/// Where a player stands.
#[derive(Debug, Clone, PartialEq)]
pub struct Standing {
    /// The moment of the recording.
    pub at: Nanos,
    /// When its last event is due, as far as is known.
    pub length: Nanos,
    /// So many times as fast as it happened.
    pub speed: f64,
    /// So many times as fast at this moment: 0 where it holds, more where an idle time is passed
    /// over.
    pub pace: f64,
    /// Whether it holds.
    pub paused: bool,
    /// Whether it begins anew after its end.
    pub looping: bool,
    /// Whether idle times are passed over.
    pub cut: bool,
    /// The length of the idle time that is passed over at this moment.
    pub passing: Option<Duration>,
    /// Whether all of the recording is known.
    pub reading: Reading,
    /// Why it does not go on.
    pub trouble: Option<String>,
}

impl Player {
    /// At the beginning, at the pace of the recording, from when the caller's clock shows 0.
    #[must_use]
    pub fn new(reel: Reel) -> Self {
        Self {
            reel,
            ahead: None,
            at: Nanos(0),
            since: Duration::ZERO,
            speed: 1.0,
            paused: false,
            cut: false,
            looping: false,
            over: None,
            trouble: None,
        }
    }

    /// The recording.
    #[must_use]
    pub fn reel(&self) -> &Reel {
        &self.reel
    }

    /// What happened until now, and was not given yet; where that is much, only the first of it.
    pub fn look(&mut self, now: Duration) -> Change {
        if self.trouble.is_some() {
            return Change::Nothing;
        }
        self.rests(now);
        self.begin_anew(now);
        let change = self.turn(now).unwrap_or_else(|why| {
            self.trouble = Some(why);
            Change::Nothing
        });
        // The last events may have come just now.
        self.rests(now);
        change
    }

    fn turn(&mut self, now: Duration) -> Result<Change, String> {
        let due = self.reel.due_at(self.position(now));
        let given = self.given();
        if due == given {
            return Ok(Change::Nothing);
        }
        if due < given || self.reel.is_far(given, due) {
            let (session, ahead) = self.reel.seen(due).map_err(|why| why.to_string())?;
            self.ahead = Some(ahead);
            return Ok(Change::Moment(Box::new(session)));
        }
        if self.ahead.is_none() {
            self.ahead = Some(self.reel.seen(0).map_err(|why| why.to_string())?.1);
        }
        let ahead = self.ahead.iter_mut().flatten();
        let events: Result<Vec<Event>, _> = ahead.take((due - given).min(BATCH)).collect();
        let events = events.map_err(|why| why.to_string())?;
        if events.is_empty() {
            return Err("the recording is shorter than it was".to_owned());
        }
        Ok(Change::More(events))
    }

    fn rests(&mut self, now: Duration) {
        let is_at_end = self.is_over() && !self.paused;
        self.over = is_at_end.then(|| self.over.unwrap_or(now));
    }

    fn begin_anew(&mut self, now: Duration) {
        if self.looping
            && let Some(over) = self.over
            && now.saturating_sub(over) >= REST
        {
            self.seek(now, Nanos(0));
        }
    }

    fn given(&self) -> usize {
        self.ahead.as_ref().map_or(0, |ahead| ahead.behind)
    }

    /// How long until there is something to look at; nothing where there will be nothing.
    #[must_use]
    pub fn wait(&self, now: Duration) -> Option<Duration> {
        if self.trouble.is_some() {
            return None;
        }
        let position = self.position(now);
        let due = self.reel.due_at(position);
        if due != self.given() {
            return Some(Duration::ZERO);
        }
        let goes_on = matches!(self.reel.reading(), Reading::GoesOn(_));
        if self.paused {
            return goes_on.then_some(LOOK);
        }
        let Some(next) = self.reel.due(due) else {
            let rest = REST.saturating_sub(now.saturating_sub(self.over.unwrap_or(now)));
            let anew = self.looping.then_some(rest);
            return if goes_on { Some(LOOK) } else { anew };
        };
        let idle = self.idle();
        let ahead = idle::shown(&idle, next).since(idle::shown(&idle, position));
        // One more nanosecond, so that rounding never wakes anybody too early.
        let wait = ahead.div_f64(self.speed) + Duration::from_nanos(1);
        Some(if goes_on { wait.min(LOOK * 8) } else { wait })
    }

    /// Where it is in the recording; never behind its end.
    #[must_use]
    pub fn position(&self, now: Duration) -> Nanos {
        if self.paused {
            return self.at;
        }
        let passed = now.saturating_sub(self.since);
        // A pace of 1 keeps every nanosecond.
        let passed = if (self.speed - 1.0).abs() < f64::EPSILON {
            nanos(passed)
        } else {
            Nanos((passed.as_secs_f64() * self.speed * 1e9) as u64)
        };
        let idle = self.idle();
        let shown = idle::shown(&idle, self.at).0.saturating_add(passed.0);
        idle::told(&idle, Nanos(shown)).min(self.reel.length())
    }

    /// Idle times that are passed over.
    fn idle(&self) -> std::sync::Arc<Vec<Idle>> {
        if self.cut {
            self.reel.idle()
        } else {
            std::sync::Arc::default()
        }
    }

    /// Whether all events were given.
    #[must_use]
    pub fn is_over(&self) -> bool {
        let is_known = !matches!(self.reel.reading(), Reading::GoesOn(_));
        is_known && self.reel.due(self.given()).is_none()
    }

    /// Where it stands.
    #[must_use]
    pub fn standing(&self, now: Duration) -> Standing {
        let at = self.position(now);
        let idle = self.idle();
        let passing = idle::around(&idle, at).filter(|_| !self.paused);
        let shortened = passing.map_or(1.0, |idle| {
            let shown = idle::shown(&[*idle], idle.to).since(idle.from);
            idle.length().as_secs_f64() / shown.as_secs_f64()
        });
        let holds = self.paused || self.is_over() || self.trouble.is_some();
        Standing {
            at,
            length: self.reel.length(),
            speed: self.speed,
            pace: if holds { 0.0 } else { self.speed * shortened },
            paused: self.paused,
            looping: self.looping,
            cut: self.cut,
            passing: passing.map(Idle::length),
            reading: self.reel.reading(),
            trouble: self.trouble.clone(),
        }
    }

    /// Goes on at another pace, from 0.01 to 100 000; what is no number changes nothing.
    pub fn set_speed(&mut self, now: Duration, speed: f64) {
        self.hold(now);
        if !speed.is_nan() {
            self.speed = speed.clamp(SPEEDS.0, SPEEDS.1);
        }
    }

    /// Passes over idle times from now on, or shows them as long as they were.
    pub fn set_cut(&mut self, now: Duration, cut: bool) {
        self.hold(now);
        self.cut = cut;
    }

    /// Begins anew after its end, or stays there.
    pub fn set_loop(&mut self, looping: bool) {
        self.looping = looping;
    }

    /// Stands still.
    pub fn pause(&mut self, now: Duration) {
        self.hold(now);
        self.paused = true;
        self.over = None;
    }

    /// Goes on.
    pub fn resume(&mut self, now: Duration) {
        self.hold(now);
        self.paused = false;
    }

    /// Goes to a position. While the recording is still read, one that is not reached yet comes
    /// nearer as more is known.
    pub fn seek(&mut self, now: Duration, to: Nanos) {
        let goes_on = matches!(self.reel.reading(), Reading::GoesOn(_));
        self.at = if goes_on {
            to
        } else {
            to.min(self.reel.length())
        };
        self.since = now;
        self.over = None;
    }

    /// Stands still at the next moment at which something happened, or at the one before.
    pub fn step(&mut self, now: Duration, forward: bool) {
        self.pause(now);
        let to = if forward {
            self.reel.moment_after(self.at)
        } else {
            Some(self.reel.moment_before(self.at).unwrap_or_default())
        };
        if let Some(to) = to {
            self.seek(now, to);
        }
    }

    fn hold(&mut self, now: Duration) {
        self.at = self.position(now);
        self.since = now;
    }
}

fn nanos(duration: Duration) -> Nanos {
    Nanos(u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests;
