//! Runs commands on a host so that a lost connection stops nothing, a stop reaches every
//! process, and each is timed where it runs.
//!
//! The host's side is one small POSIX shell text (`sh/run.sh`). It keeps a folder a step:
//!
//! | file | what |
//! |---|---|
//! | `cmd` | the command's text, run as `sh cmd` |
//! | `out`, `err` | its streams, opened for appending |
//! | `cmd.n`, `cmd.1`, … | members of a pipe and their statuses |
//! | `go` | exists from when the step may begin; made once, by whoever comes first |
//! | `void` | it never began, and will not |
//! | `load` | it ends with the session |
//! | `title`, `stake` | what it is called, and what would be lost where it is ended |
//! | `whole` | all of the stream that it reads has arrived: it may see its end |
//! | `sup`, `pid` | supervisor; command, and whether its group is its own |
//! | `cut.out`, `cut.err` | the stream was cut back |
//! | `status` | status, stamps, sizes; made by rename, so it is there as a whole or not |
//!
//! Processes are known by a token in their environment (`COMEBACK_STEP`) or arguments, never
//! by a pid alone.

mod backoff;
mod control;
mod follow;
mod frame;
mod heard;
mod job;
mod keeper;
mod launch;
mod names;
mod output;
mod pipe;
mod place;
mod side;
mod stop;
mod wire;

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use self::place::Inner;
use self::wire::Line;
use super::facts::HostClock;
use super::sh;
use super::{HostError, SharedHost};

pub use self::heard::{Heard, Outcome};
pub use self::job::Job;
pub use self::keeper::Keeper;
pub use self::launch::{Caps, Launch};
pub use self::pipe::pipe_script;
pub use self::side::{Ends, Entry, Link, Part, Side, Whole};
pub use self::stop::{StopProof, Stopper};

/// Why nothing goes on where `Outcome::restarted` is told.
pub const RESTARTED: &str = "it has restarted since the session began: what was mounted, attached or \
                             running there is gone";

/// How long a short script may take.
const PATIENCE: Duration = Duration::from_mins(1);

/// Runs the commands of one session on one host.
#[derive(Clone)]
pub struct Supervisor {
    inner: Arc<Inner>,
}

/// What of a session still lives on a host.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Living {
    /// Whether a program keeps it: see [`Supervisor::keeper`].
    pub kept: bool,
    /// Steps that run.
    pub running: Vec<Running>,
}

/// A step that runs.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Running {
    /// Its id.
    pub step: String,
    /// What it is called; empty where it was not told.
    pub title: String,
    /// What would be lost where it is ended; empty where nothing would.
    pub stake: String,
    /// The command that ends it there; empty where its processes are no group of their own.
    pub ends: String,
}

/// What becomes of the session's journal at the end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Journal {
    /// It has open entries.
    Keep,
    /// Nothing is left of the session.
    Remove,
}

impl Supervisor {
    /// For a session whose folder on the host is `session_dir`: an absolute path that ends in
    /// the session's id.
    #[must_use]
    pub fn new(host: SharedHost, session_dir: String) -> Self {
        Self::with_shell(host, session_dir, "/bin/sh")
    }

    /// The same with another shell than `/bin/sh`, which the host's `exec` has to use, too.
    #[must_use]
    pub fn with_shell(host: SharedHost, session_dir: String, shell: &str) -> Self {
        Self {
            inner: Arc::new(Inner {
                host,
                dir: session_dir,
                shell: shell.to_owned(),
                clock: OnceLock::new(),
                calibrations: AtomicU32::new(0),
            }),
        }
    }

    /// The host.
    #[must_use]
    pub fn host(&self) -> &SharedHost {
        &self.inner.host
    }

    /// The session's folder there.
    #[must_use]
    pub fn dir(&self) -> &str {
        &self.inner.dir
    }

    /// The clock that times steps there; whole seconds before [`prepare`](Self::prepare).
    #[must_use]
    pub fn clock(&self) -> HostClock {
        self.inner.clock()
    }

    /// Makes the session's folder (mode 0700), puts the supervisor there and finds the clock.
    ///
    /// # Errors
    /// Where the folder cannot be made, or the host not be reached.
    pub async fn prepare(&self) -> Result<(), HostError> {
        let inner = &self.inner;
        let text = [sh::COMMON, sh::MEMBERS, sh::RUN].concat();
        let script = inner
            .session_vars()?
            .number("all_bytes", text.len() as u64)
            .script(&[sh::COMMON, sh::CLOCK, sh::PREPARE]);
        let said = inner.ask(&script, text.as_bytes(), PATIENCE).await?;
        let mut ready = false;
        for line in said.lines {
            match line {
                Line::Other(word, rest) if word == "clock" => {
                    if let Some(clock) = HostClock::parse(&rest) {
                        let _ = inner.clock.set(clock);
                    }
                }
                Line::Other(word, _) if word == "ready" => ready = true,
                Line::Refused(why) => {
                    return Err(inner.refused(format!(
                        "the state folder {} cannot be made: {why}; set another `state` folder for \
                         this host in the configuration",
                        inner.dir
                    )));
                }
                _ => {}
            }
        }
        if ready {
            Ok(())
        } else {
            Err(inner.refused(format!(
                "the state folder {} could not be made ready: {}",
                inner.dir, said.rest
            )))
        }
    }

    /// Begins a step: `command` is any shell text.
    ///
    /// # Errors
    /// Where nothing was begun. A connection that is lost on the way is none: the job tells.
    pub async fn launch(
        &self,
        step: &str,
        command: &str,
        launch: Launch,
    ) -> Result<Job, HostError> {
        job::launch(Arc::clone(&self.inner), step, command, launch).await
    }

    /// Begins a step that is a side of a stream: what it reads or writes goes through here, and
    /// it ends with the session. `launch` says what else it reads where `ends` does not.
    ///
    /// # Errors
    /// Where nothing was begun, or nobody knows: then the step is to be stopped.
    pub async fn side(
        &self,
        step: &str,
        command: &str,
        launch: Launch,
        ends: Ends,
    ) -> Result<Side, HostError> {
        side::begin(&self.inner, step, command, launch, ends).await
    }

    /// Puts a step that reads a stream into its folder, for another host to begin it.
    ///
    /// # Errors
    /// Where it cannot be written.
    pub async fn enter(
        &self,
        step: &str,
        command: &str,
        launch: &Launch,
    ) -> Result<Entry, HostError> {
        side::enter(&self.inner, step, command, launch).await
    }

    /// The status of each command of a pipe but the last, while that may still run. Nothing
    /// where one of them is not known.
    ///
    /// # Errors
    /// Where the host cannot be reached.
    pub async fn senders(&self, step: &str) -> Result<Vec<i32>, HostError> {
        side::senders(&self.inner, step).await
    }

    /// Follows a step that was begun before, from its first byte on; one that never was will
    /// never be.
    ///
    /// # Errors
    /// Where the step's id cannot be one.
    pub fn attach(&self, step: &str, caps: Caps) -> Result<Job, HostError> {
        job::attach(&self.inner, step, caps)
    }

    /// Ends a step, from anywhere.
    ///
    /// # Errors
    /// Where the step's id cannot be one.
    pub fn stopper(&self, step: &str) -> Result<Stopper, HostError> {
        Ok(Stopper::new(&self.inner.at(step)?))
    }

    /// Shows on the host that this session lives, and ends its loads when the program or its
    /// connection is gone.
    ///
    /// # Errors
    /// Where the host cannot be reached or refuses.
    pub async fn keeper(&self) -> Result<Keeper, HostError> {
        keeper::start(Arc::clone(&self.inner)).await
    }

    /// What of this session still lives on the host.
    ///
    /// # Errors
    /// Where the host cannot be reached.
    pub async fn living(&self) -> Result<Living, HostError> {
        let inner = &self.inner;
        let script = inner
            .session_vars()?
            .script(&[sh::COMMON, sh::MEMBERS, sh::LIST]);
        let said = inner.ask(&script, b"", PATIENCE).await?;
        let mut living = Living::default();
        let mut whole = false;
        for line in said.lines {
            if let Line::Other(word, rest) = line {
                match word.as_str() {
                    "kept" => living.kept = true,
                    "running" => living.running.push(Running {
                        step: names::step_of(&rest),
                        ..Running::default()
                    }),
                    "title" | "stake" | "ends" => {
                        let Some(last) = living.running.last_mut() else {
                            continue;
                        };
                        let told = match word.as_str() {
                            "title" => &mut last.title,
                            "stake" => &mut last.stake,
                            _ => &mut last.ends,
                        };
                        *told = rest;
                    }
                    "listed" => whole = true,
                    _ => {}
                }
            }
        }
        if whole {
            Ok(living)
        } else {
            Err(inner.refused(format!("its steps cannot be listed: {}", said.rest)))
        }
    }

    /// Takes away what the supervisor left on the host.
    ///
    /// # Errors
    /// Where a step still runs, the host cannot be reached, or something stays.
    pub async fn finish(&self, journal: Journal) -> Result<(), HostError> {
        let inner = &self.inner;
        if let Some(step) = self.living().await?.running.first() {
            return Err(inner.refused(format!(
                "step {} still runs; its state in {} stays",
                step.step, inner.dir
            )));
        }
        let journal = match journal {
            Journal::Keep => "keep",
            Journal::Remove => "remove",
        };
        let script = inner
            .session_vars()?
            .set("journal", journal)
            .map_err(|error| inner.refused(error.to_string()))?
            .script(&[sh::COMMON, sh::FINISH]);
        let said = inner.ask(&script, b"", PATIENCE).await?;
        let finished = |line: &Line| matches!(line, Line::Other(word, _) if word == "finished");
        if said.lines.iter().any(finished) {
            Ok(())
        } else {
            Err(inner.refused(format!(
                "the state folder {} could not be removed: {}",
                inner.dir, said.rest
            )))
        }
    }

    /// A step id for a calibration that was not used before.
    pub(super) fn calibration(&self) -> String {
        let number = self.inner.calibrations.fetch_add(1, Ordering::Relaxed);
        format!("calibration-{number}")
    }
}
