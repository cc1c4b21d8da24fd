//! How a run ends: good, failed or stopped; what is undone then, and what is kept.

use crate::event::{EndState, Phase};

use super::leaving::Open;
use super::pair::Paired;
use super::run::Run;
use super::undo;

/// How a run ended.
pub(super) struct Ended {
    pub end: EndState,
    pub cause: Option<String>,
    /// The subject was proved to be what it was.
    pub proved: bool,
    pub exit: i32,
}

impl Ended {
    /// Whether it was neither done nor told to end.
    pub fn is_bad(&self) -> bool {
        !(self.end.is_good() || self.end == EndState::Stopped)
    }
}

/// Why a run goes no further.
pub(super) struct Halt {
    pub end: EndState,
    pub cause: Option<String>,
    pub phase: Phase,
    pub exit: i32,
}

impl Run<'_> {
    pub fn sum_up(&self, halt: Option<Halt>) -> Ended {
        match halt {
            Some(halt) => Ended {
                end: halt.end,
                cause: halt.cause,
                proved: false,
                exit: self.exit_of(halt.end, halt.exit),
            },
            None if self.warned => Ended {
                end: EndState::Warnings,
                cause: None,
                proved: self.restored == Some(true),
                exit: self.exit.unwrap_or(0),
            },
            None => Ended {
                end: EndState::Ok,
                cause: None,
                proved: self.restored == Some(true),
                exit: 0,
            },
        }
    }

    // One that was told to end because what it was beside is over has done what it was for, but for
    // what it could not take away.
    fn exit_of(&self, end: EndState, exit: i32) -> i32 {
        if end != EndState::Stopped || !self.ends_with_another() {
            return exit;
        }
        i32::from(self.open.iter().any(|open| !open.undone))
    }

    fn ends_with_another(&self) -> bool {
        let again = self.paired.as_ref().is_some_and(Paired::is_again);
        again && !self.shared.control.is_stopped()
    }

    /// By the operator, or because a pool was too full.
    pub fn stopped(&self, phase: Phase) -> Halt {
        let full = self
            .pools
            .reached()
            .filter(|_| !self.shared.control.is_stopped());
        let (end, exit) = if full.is_some() {
            (EndState::Failed, 1)
        } else {
            (EndState::Stopped, 130)
        };
        let alone = self
            .ends_with_another()
            .then(|| "what it was started beside is over".to_owned());
        Halt {
            end,
            cause: full.or(alone),
            phase,
            exit,
        }
    }

    /// Undoes what may be undone: everything after a good run; after a bad one what no restore
    /// can need.
    pub async fn undo(&mut self, halt: Option<&Halt>) {
        let keep = halt.and_then(|halt| self.keep(halt));
        undo::unwind(self.shared, &mut self.open, keep.as_deref()).await;
        if halt.is_none() && self.open.iter().any(|open| !open.undone) {
            self.warned = true;
            self.exit = Some(1);
        }
    }

    // Rule 3. A copy is needed as long as something may have to be brought back from it.
    fn keep(&self, halt: &Halt) -> Option<String> {
        let own = self.bound.binding.subject.own;
        // Of its own it needs nothing; and where a pool was too full, what is kept fills it.
        if own && halt.end == EndState::Stopped {
            return None;
        }
        if (own || !self.destroyed) && self.pools.reached().is_some() {
            return None;
        }
        // While a copy is made of what nothing was done to, nothing has to be brought back.
        let early = matches!(halt.phase, Phase::Prepare | Phase::Protect);
        if early && !self.damaged {
            return None;
        }
        let copies = self.open.iter().any(Open::is_copy);
        if halt.end == EndState::Stopped && !copies && !self.damaged {
            return None;
        }
        let what = if own {
            "the subject"
        } else {
            self.bound.binding.subject.id.as_str()
        };
        Some(format!(
            "the run {}; it may be needed to bring {what} back",
            halt.end
        ))
    }
}
