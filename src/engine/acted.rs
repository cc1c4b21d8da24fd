//! What a step came to, by what was heard of it.

use std::collections::BTreeMap;
use std::time::Instant;

use crate::event::{Clock, EndState, Proof, StepEnd};

use super::clocks::HERE_RESOLUTION;
use super::command::Followed;
use super::shell::text_of;
use super::waiting::Waited;

/// Resolution of `/proc/uptime`, in seconds.
const UPTIME: f64 = 0.01;
/// From where on a difference of wall time and uptime is a stepped clock, in seconds.
pub(super) const STEP_SHOWS: f64 = 0.1;

/// What a step came to.
#[derive(Debug)]
pub(super) struct Acted {
    pub end: StepEnd,
    /// Captured values: `stdout`, or what the parser named.
    pub values: BTreeMap<String, String>,
    pub figures: Vec<(String, f64, String, f64)>,
    pub marks: Vec<(String, f64, f64)>,
    pub proof: Option<Proof>,
    /// Seconds by the host's own clock, and its resolution, where another one times the step.
    pub finer: Option<(f64, f64)>,
    /// Begin and end, in seconds since the session's begin.
    pub here: (f64, f64),
}

impl Acted {
    pub fn new(end: EndState, here: (f64, f64)) -> Self {
        let seconds = (here.1 - here.0).max(0.0);
        Self {
            end: StepEnd {
                end,
                status: Vec::new(),
                seconds: Some(seconds),
                clock: Some(Clock::Here),
                resolution: HERE_RESOLUTION,
                host: None,
                sides: Vec::new(),
                here: Some(seconds),
                cause: None,
            },
            values: BTreeMap::new(),
            figures: Vec::new(),
            marks: Vec::new(),
            proof: None,
            finer: None,
            here,
        }
    }

    /// A step that was stopped before it began.
    pub fn stopped(began: Instant) -> Self {
        let now = began.elapsed().as_secs_f64();
        Self::new(EndState::Stopped, (now, now))
    }

    /// A step that could not be carried through.
    pub fn failed(why: String, began: Instant) -> Self {
        let now = began.elapsed().as_secs_f64();
        let mut acted = Self::new(EndState::Failed, (now, now));
        acted.end.seconds = None;
        acted.end.clock = None;
        acted.end.cause = Some(why);
        acted
    }

    pub(super) fn waited(waited: Waited, here: (f64, f64)) -> Self {
        let (end, cause) = match waited {
            Waited::There => (EndState::Ok, None),
            Waited::Stopped => (EndState::Stopped, None),
            Waited::NotThere(why) => (EndState::Failed, Some(why)),
        };
        let mut acted = Self::new(end, here);
        acted.end.cause = cause;
        acted
    }

    pub(super) fn followed(followed: &Followed, clock: Option<Clock>, ok: &[i32]) -> Self {
        let here = followed.here;
        let outcome = &followed.outcome;
        let good = followed.ended_well(ok);
        let end = match () {
            () if followed.stopped => EndState::Stopped,
            () if followed.interrupted && followed.gone.is_none() => EndState::Ok,
            () if outcome.lost || outcome.status.is_empty() => EndState::Lost,
            () if !good => EndState::Failed,
            () => EndState::Ok,
        };
        let cause = match end {
            EndState::Failed => Some(match (&followed.cause, &outcome.status[..]) {
                (Some(cause), _) => cause.clone(),
                (None, codes) => format!("it ended with status {codes:?}"),
            }),
            EndState::Lost if followed.gone.is_some() => {
                let why = followed.gone.as_deref().unwrap_or_default();
                Some(format!("its host is gone: {why}"))
            }
            EndState::Lost if !outcome.begun => {
                Some("it was never begun: the connection was lost".to_owned())
            }
            EndState::Lost => Some("its status is not known: the process is gone".to_owned()),
            _ => None,
        };
        let mut acted = Self::new(end, here);
        acted.end.status.clone_from(&outcome.status);
        acted.end.cause = cause;
        acted.end.host = outcome.stamps;
        acted.time(clock, followed);
        acted.read(followed);
        acted
    }

    /// Takes what the output of a command told.
    pub fn read(&mut self, followed: &Followed) {
        let values = followed.values.iter();
        self.values
            .extend(values.map(|(name, value)| ((*name).to_owned(), value.clone())));
        self.values.insert(
            "stdout".to_owned(),
            text_of(&followed.out).trim().to_owned(),
        );
        let figures = followed.figures.iter();
        self.figures
            .extend(figures.map(|(name, value, unit, fine)| {
                ((*name).to_owned(), *value, (*unit).to_owned(), *fine)
            }));
        let marks = followed.marks.iter();
        self.marks
            .extend(marks.map(|(name, at, fine)| ((*name).to_owned(), *at, *fine)));
    }

    // The host's own clock holds no network time. Where its wall clock was stepped, its uptime
    // tells, if less finely.
    fn time(&mut self, clock: Option<Clock>, followed: &Followed) {
        if clock == Some(Clock::Here) {
            return;
        }
        if clock == Some(Clock::Log) {
            let printed = followed
                .figures
                .iter()
                .find(|(name, _, unit, _)| *unit == "s" && *name == "duration");
            if let Some((_, seconds, _, fine)) = printed {
                self.end.seconds = Some(*seconds);
                self.end.clock = Some(Clock::Log);
                self.end.resolution = *fine;
                return;
            }
        }
        let Some(stamps) = &followed.outcome.stamps else {
            return;
        };
        let wall = stamps.end.seconds_since(stamps.start);
        let stepped = (wall - stamps.uptime).abs() > STEP_SHOWS;
        self.end.seconds = Some(if stepped { stamps.uptime } else { wall });
        self.end.clock = Some(Clock::Host);
        self.end.resolution = if stepped {
            UPTIME
        } else {
            followed.outcome.resolution
        };
    }
}
