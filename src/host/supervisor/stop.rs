//! Ending a step: every process of it, with a proof.

use std::time::Duration;

use tokio::time::{Instant, sleep};

use super::backoff::Backoff;
use super::place::At;
use super::wire::Line;
use crate::host::HostError;
use crate::host::sh::{COMMON, MEMBERS, STOP};

/// What the host may take beyond the patience: KILL is repeated for 10 s.
const BEYOND: Duration = Duration::from_secs(45);

/// How long an unreachable host is asked again.
const UNREACHED: Duration = Duration::from_mins(1);

/// Ends a step through a channel of its own.
#[derive(Clone)]
pub struct Stopper {
    at: At,
}

/// What is left of a step that was ended.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct StopProof {
    /// Whether the host said that none of its processes lives.
    pub gone: bool,
    /// What does, or why the host could not be asked.
    pub left: Vec<String>,
    /// Why the host was not reached.
    pub unreached: Option<String>,
}

impl Stopper {
    pub(super) fn new(at: &At) -> Self {
        // What is to be stopped may have all the room there is.
        Self { at: at.beside() }
    }

    /// TERM to each process, KILL after `patience`, and a proof. A step that has not begun
    /// never will. Safe to repeat.
    ///
    /// It takes at most two minutes more than `patience`, where the host cannot be reached.
    pub async fn stop(&self, patience: Duration) -> StopProof {
        self.end(patience, "kill").await
    }

    /// TERM once to each process, and after `patience` what is left: for what has a better way
    /// to be ended than KILL.
    pub async fn terminate(&self, patience: Duration) -> StopProof {
        self.end(patience, "leave").await
    }

    /// TERM once to the group of its first process, which is to end what it began, and after
    /// `patience` what is left.
    pub async fn ask_to_end(&self, patience: Duration) -> StopProof {
        self.end(patience, "group").await
    }

    async fn end(&self, patience: Duration, finally: &'static str) -> StopProof {
        let until = Instant::now() + patience + UNREACHED;
        let mut backoff = Backoff::default();
        loop {
            match self.ask(patience, finally).await {
                Ok(proof) => return proof,
                Err(error) if Instant::now() >= until => {
                    return StopProof {
                        gone: false,
                        left: vec![error.to_string()],
                        unreached: error.is_transient().then(|| error.why().to_owned()),
                    };
                }
                Err(_) => sleep(backoff.next()).await,
            }
        }
    }

    async fn ask(&self, patience: Duration, finally: &'static str) -> Result<StopProof, HostError> {
        // The host counts whole seconds: one more, lest it be less.
        let seconds = match patience.as_millis().div_ceil(1000) {
            0 => 0,
            seconds => u64::try_from(seconds).unwrap_or(u64::MAX / 4) + 1,
        };
        let script = self
            .at
            .vars
            .clone()
            .number("patience", seconds)
            .word("finally", finally)
            .script(&[COMMON, MEMBERS, STOP]);
        let said = self.at.ask(&script, patience + BEYOND).await?;
        let mut left = Vec::new();
        let mut proved = false;
        for line in said.lines {
            if let Line::Other(word, rest) = line {
                match word.as_str() {
                    "left" => left.push(format!("process {rest}")),
                    "proved" => proved = true,
                    _ => {}
                }
            }
        }
        if proved {
            Ok(StopProof {
                gone: left.is_empty(),
                left,
                unreached: None,
            })
        } else {
            Err(self.at.inner.refused(format!(
                "the processes of a step could not be ended: {}",
                said.rest
            )))
        }
    }
}
