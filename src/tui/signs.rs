//! One sign, one word and one role for each state: a colour never says it alone.

use super::theme::Role;
use crate::event::{EndState, HostState, Level};
use crate::session::{Outcome, RunStage, StepView};

/// How a state is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sign {
    /// One cell.
    pub glyph: &'static str,
    /// The same in a word.
    pub word: &'static str,
    /// Its style.
    pub role: Role,
}

/// Going on.
pub const RUNNING: Sign = Sign {
    glyph: "▶",
    word: "running",
    role: Role::Running,
};
/// Still to come.
pub const PENDING: Sign = Sign {
    glyph: "·",
    word: "to come",
    role: Role::Pending,
};

/// Of an end state.
#[must_use]
pub fn of_end(end: EndState) -> Sign {
    match end {
        EndState::Ok => Sign {
            glyph: "✓",
            word: "ok",
            role: Role::Ok,
        },
        EndState::Warnings => Sign {
            glyph: "!",
            word: "ok with warnings",
            role: Role::Warn,
        },
        EndState::Failed => Sign {
            glyph: "✗",
            word: "failed",
            role: Role::Error,
        },
        EndState::Stopped => Sign {
            glyph: "■",
            word: "stopped",
            role: Role::Warn,
        },
        EndState::Lost => Sign {
            glyph: "?",
            word: "lost",
            role: Role::Error,
        },
    }
}

/// Ended well, but without the proof that its method makes.
pub const UNVERIFIED: Sign = Sign {
    glyph: "□",
    word: "not verified",
    role: Role::Error,
};

/// Of a run among figures.
#[must_use]
pub fn of_outcome(outcome: Outcome) -> Sign {
    match outcome {
        Outcome::GoesOn => RUNNING,
        Outcome::Ended(end) => of_end(end),
        Outcome::Unverified => UNVERIFIED,
    }
}

/// Of a run.
#[must_use]
pub fn of_run(stage: &RunStage) -> Sign {
    match stage {
        RunStage::Queued => PENDING,
        RunStage::Running => RUNNING,
        RunStage::Ended(end, _) => of_end(*end),
    }
}

/// Of a step.
#[must_use]
pub fn of_step(step: &StepView) -> Sign {
    match &step.end {
        Some(end) => of_end(end.end),
        None if step.started.is_some() => RUNNING,
        None => PENDING,
    }
}

/// Of a connection.
#[must_use]
pub fn of_host(state: HostState) -> Sign {
    match state {
        HostState::Connecting => Sign {
            glyph: "○",
            word: "connecting",
            role: Role::Warn,
        },
        HostState::Up => Sign {
            glyph: "●",
            word: "up",
            role: Role::Ok,
        },
        HostState::Down => Sign {
            glyph: "✗",
            word: "down",
            role: Role::Error,
        },
    }
}

/// Of a note.
#[must_use]
pub fn of_level(level: Level) -> Sign {
    match level {
        Level::Remark => Sign {
            glyph: "·",
            word: "remark",
            role: Role::Info,
        },
        Level::Warning => Sign {
            glyph: "!",
            word: "warning",
            role: Role::Warn,
        },
        Level::Error => Sign {
            glyph: "✗",
            word: "error",
            role: Role::Error,
        },
    }
}

/// Signs of series, in turns; they differ in form, so that no colour is needed to tell them.
const SERIES: [&str; 6] = ["●", "■", "▲", "◆", "○", "□"];

/// The sign of a series among several that are drawn together, by its place. It has another
/// period than the colours: the pair is the same again only after twelve.
#[must_use]
pub fn of_series(at: usize) -> &'static str {
    SERIES.get(at % SERIES.len()).copied().unwrap_or("●")
}

/// Of a proof.
#[must_use]
pub fn of_proof(holds: bool) -> Sign {
    if holds {
        Sign {
            glyph: "✓",
            word: "holds",
            role: Role::Ok,
        }
    } else {
        Sign {
            glyph: "✗",
            word: "does not hold",
            role: Role::Error,
        }
    }
}
