//! A step as it would go on a host: a function of the time.

use std::time::Duration;

use tokio::time::Instant;

use super::Act;

/// A step that was begun.
#[derive(Debug, Clone)]
pub(super) struct Step {
    pub name: String,
    pub begun: Instant,
    acts: Vec<Act>,
    /// When it was stopped.
    stopped: Option<Instant>,
}

/// How it ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum End {
    Status(Vec<i32>),
    Gone,
}

impl Step {
    pub(super) fn new(name: &str, acts: Vec<Act>) -> Self {
        Self {
            name: name.to_owned(),
            begun: Instant::now(),
            acts,
            stopped: None,
        }
    }

    /// Ends it now, as TERM would, if it still runs.
    pub(super) fn stop(&mut self) {
        if self.end().is_none_or(|(at, _)| at > Instant::now()) {
            self.stopped = Some(Instant::now());
        }
    }

    /// When it ends, and how; absent where it never does.
    pub(super) fn end(&self) -> Option<(Instant, End)> {
        if let Some(stopped) = self.stopped {
            return Some((stopped, End::Status(vec![143])));
        }
        self.moments().find_map(|(at, act)| match act {
            Act::Exit(status) => Some((at, End::Status(status.clone()))),
            Act::Vanish => Some((at, End::Gone)),
            _ => None,
        })
    }

    /// Every act with its moment.
    fn moments(&self) -> impl Iterator<Item = (Instant, &Act)> {
        let mut at = self.begun;
        self.acts.iter().map(move |act| {
            if let Act::Wait(time) = act {
                at += *time;
            }
            (at, act)
        })
    }

    /// When the connection is lost, and for how long.
    pub(super) fn losses(&self) -> Vec<(Instant, Duration)> {
        self.moments()
            .filter_map(|(at, act)| match act {
                Act::LoseLink(time) => Some((at, *time)),
                _ => None,
            })
            .collect()
    }

    /// Both streams as they are at a moment.
    pub(super) fn streams(&self, now: Instant) -> [Vec<u8>; 2] {
        let now = self.end().map_or(now, |(end, _)| end.min(now));
        let (mut out, mut err) = (Vec::new(), Vec::new());
        for (at, act) in self.moments() {
            match act {
                _ if at > now => break,
                Act::Out(bytes) => out.extend(bytes),
                Act::Err(bytes) => err.extend(bytes),
                Act::Exit(_) | Act::Vanish => break,
                Act::Wait(_) | Act::LoseLink(_) => {}
            }
        }
        [out, err]
    }

    /// The next moment at which a stream may grow.
    pub(super) fn next_moment(&self, now: Instant) -> Option<Instant> {
        self.moments().map(|(at, _)| at).find(|at| *at > now)
    }
}
