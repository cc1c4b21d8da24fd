//! The screen stands still, to be read or copied from; what is shown goes on meanwhile.

use std::sync::Arc;
use std::time::Duration;

use crate::event::Nanos;
use crate::session::Session;

use super::format::count;
use super::message::ReplayState;

/// A screen that stands still.
#[derive(Debug, Clone)]
pub struct Frozen {
    /// The session as it was.
    pub session: Arc<Session>,
    /// Where the replay stood, where it is one.
    pub replay: Option<ReplayState>,
    /// When that was.
    pub at: Nanos,
    /// Now, on the session's clock.
    pub now: Nanos,
    /// What has happened since.
    pub since: Since,
}

/// What has happened since the screen was frozen.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Since {
    steps: usize,
    runs: usize,
    /// Runs among them that did not end well.
    bad: usize,
    warnings: usize,
    is_over: bool,
}

impl Frozen {
    /// Of a session, now.
    #[must_use]
    pub fn of(session: &Session, now: Nanos) -> Self {
        Self {
            session: Arc::new(session.clone()),
            replay: None,
            at: now,
            now,
            since: Since::default(),
        }
    }

    /// The same, of a replay.
    #[must_use]
    pub fn with(self, replay: Option<ReplayState>) -> Self {
        Self { replay, ..self }
    }

    /// The session has gone on.
    pub fn goes_on(&mut self, session: &Session, now: Nanos) {
        self.now = now;
        self.since = Since::between(&self.session, session);
    }

    /// For how long.
    #[must_use]
    pub fn time(&self) -> Duration {
        self.now.since(self.at)
    }
}

impl Since {
    fn between(before: &Session, after: &Session) -> Self {
        let more = |figure: fn(&Session) -> usize| figure(after).saturating_sub(figure(before));
        Self {
            steps: more(Session::ended_steps),
            runs: more(Session::ended_runs),
            bad: more(Session::bad_runs),
            warnings: more(Session::grave_count),
            is_over: before.end.is_none() && after.end.is_some(),
        }
    }

    /// Whether something of it is not well.
    #[must_use]
    pub fn is_bad(&self) -> bool {
        self.bad > 0
    }

    /// In a few words, the gravest first; how many of them there is room for is for the caller.
    #[must_use]
    pub fn words(&self) -> Vec<String> {
        let some = |n: usize, what: &str| (n > 0).then(|| format!("{} ended", count(n, what)));
        let all = [
            self.is_over.then(|| "all is over".to_owned()),
            (self.bad > 0).then(|| format!("{} not well", count(self.bad, "run"))),
            some(self.runs.saturating_sub(self.bad), "run"),
            some(self.steps, "step"),
            (self.warnings > 0).then(|| count(self.warnings, "warning")),
        ];
        all.into_iter().flatten().collect()
    }
}
