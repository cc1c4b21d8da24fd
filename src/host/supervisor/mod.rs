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
//! | `sup`, `pid` | supervisor; command, and whether its group is its own |
//! | `cut.out`, `cut.err` | the stream was cut back |
//! | `status` | status, stamps, sizes; made by rename, so it is there as a whole or not |
//!
//! Processes are known by a token in their environment (`COMEBACK_STEP`) or arguments, never
//! by a pid alone.

mod job;
mod keeper;
mod names;
mod pipe;
mod stop;
mod wire;

use std::fmt;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use self::wire::{Control, Line};
use super::facts::HostClock;
use super::sh::{self, Vars};
use super::{Answer, Exit, HostError, SharedHost, ask};
use crate::event::{HostStamps, Stream};

pub use self::job::Job;
pub use self::keeper::Keeper;
pub use self::pipe::pipe_script;
pub use self::stop::{StopProof, Stopper};

/// How long a short script may take.
const PATIENCE: Duration = Duration::from_secs(60);

/// How much of a short script's answer is kept.
const ANSWER: usize = 1 << 20;

/// Runs the commands of one session on one host.
#[derive(Clone)]
pub struct Supervisor {
    inner: Arc<Inner>,
}

struct Inner {
    host: SharedHost,
    dir: String,
    shell: String,
    clock: OnceLock<HostClock>,
    calibrations: AtomicU32,
}

/// How a command is run.
#[derive(Clone, Default)]
pub struct Launch {
    /// What it reads; nothing, where absent. It is on the host's disk, for the user's eyes
    /// only, until the command has opened it.
    pub stdin: Option<Vec<u8>>,
    /// It dies with the session: see [`Supervisor::keeper`]. It is followed from the first
    /// [`Job::next`] on only.
    pub load: bool,
    /// Follow it from the first [`Job::next`] on only, so that it takes no channel meanwhile.
    pub at_join: bool,
    /// How much of its output is kept.
    pub caps: Caps,
}

impl fmt::Debug for Launch {
    /// Without the input, which may be a secret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Launch")
            .field("stdin", &self.stdin.as_ref().map(Vec::len))
            .field("load", &self.load)
            .field("at_join", &self.at_join)
            .field("caps", &self.caps)
            .finish()
    }
}

/// How much of each stream is kept, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Caps {
    /// From its beginning.
    pub head: u64,
    /// And from its end, where it is longer.
    pub tail: u64,
    /// The size at which the host cuts its file back to the head (and 64 KiB of its end);
    /// looked at once a second.
    pub file: u64,
}

impl Default for Caps {
    fn default() -> Self {
        Self {
            head: 64 << 20,
            tail: 64 << 10,
            file: 256 << 20,
        }
    }
}

/// What is heard of a step.
#[derive(Debug, Clone, PartialEq)]
pub enum Heard {
    /// At most 64 KiB of output.
    Output {
        /// Which stream.
        stream: Stream,
        /// Offset of its first byte.
        offset: u64,
        /// As they came.
        bytes: Vec<u8>,
    },
    /// Output that is not kept.
    Gap {
        /// Which stream.
        stream: Stream,
        /// Where it begins.
        offset: u64,
        /// How much; absent where nobody counted.
        bytes: Option<u64>,
    },
    /// The connection is gone; the command is not. It is tried again, for ever.
    LinkLost {
        /// Why.
        why: String,
    },
    /// It is back, and nothing is missing.
    LinkBack,
    /// The step is over: the last that is heard.
    Ended(Outcome),
}

/// How a step ended.
#[derive(Debug, Clone, PartialEq)]
pub struct Outcome {
    /// Exit status, of each member where it was a pipe; 128 + n after signal n. Empty where it,
    /// or that of a member, is not known.
    pub status: Vec<i32>,
    /// Stamps of the host's clock, right before and after the command.
    pub stamps: Option<HostStamps>,
    /// The finest step of that clock, in seconds.
    pub resolution: f64,
    /// Whether the command was begun.
    pub begun: bool,
    /// Whether nobody knows how it ended: the processes are gone, and there is no status.
    pub lost: bool,
    /// Processes that outlived the command in its group, and were ended.
    pub survivors: u32,
}

impl Outcome {
    fn unknown() -> Self {
        Self {
            status: Vec::new(),
            stamps: None,
            resolution: 0.0,
            begun: true,
            lost: false,
            survivors: 0,
        }
    }

    fn lost() -> Self {
        Self {
            lost: true,
            ..Self::unknown()
        }
    }

    fn void() -> Self {
        Self {
            begun: false,
            ..Self::unknown()
        }
    }

    /// Seconds by the host's clock.
    #[must_use]
    pub fn seconds(&self) -> Option<f64> {
        self.stamps
            .map(|stamps| stamps.end.seconds_since(stamps.start))
    }
}

/// What of a session still lives on a host.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Living {
    /// Whether a program keeps it: see [`Supervisor::keeper`].
    pub kept: bool,
    /// Steps that run.
    pub running: Vec<String>,
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

    /// Follows a step that was begun before, from its first byte on; one that never was will
    /// never be.
    ///
    /// # Errors
    /// Where the step's id cannot be one.
    pub fn attach(&self, step: &str, caps: Caps) -> Result<Job, HostError> {
        job::attach(Arc::clone(&self.inner), step, caps)
    }

    /// Ends a step, from anywhere.
    ///
    /// # Errors
    /// Where the step's id cannot be one.
    pub fn stopper(&self, step: &str) -> Result<Stopper, HostError> {
        Ok(Stopper::new(self.inner.at(step)?))
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
                    "running" => living.running.push(names::step_of(&rest)),
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
                "step {step} still runs; its state in {} stays",
                inner.dir
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

/// What a short script said.
struct Told {
    lines: Vec<Line>,
    /// Why it may have failed, for a message.
    rest: String,
}

impl Inner {
    fn clock(&self) -> HostClock {
        self.clock.get().copied().unwrap_or_default()
    }

    fn refused(&self, why: impl Into<String>) -> HostError {
        HostError::Refused {
            host: self.host.name().to_owned(),
            why: why.into(),
        }
    }

    fn session(&self) -> Result<&str, HostError> {
        names::session_of(&self.dir).map_err(|why| self.refused(why))
    }

    /// The mark of lines that are about the session.
    fn mark(&self) -> Result<String, HostError> {
        Ok(format!("comeback:{}", self.session()?))
    }

    fn session_vars(&self) -> Result<Vars, HostError> {
        let session = self.session()?;
        let set = || {
            Vars::default()
                .set("s", &self.dir)?
                .set("name", session)?
                .set("mark", &format!("comeback:{session}"))
        };
        set().map_err(|error| self.refused(error.to_string()))
    }

    /// Runs a short script and reads its lines.
    async fn ask(&self, script: &str, stdin: &[u8], patience: Duration) -> Result<Told, HostError> {
        self.ask_marked(&self.mark()?, script, stdin, patience)
            .await
    }

    async fn ask_marked(
        &self,
        mark: &str,
        script: &str,
        stdin: &[u8],
        patience: Duration,
    ) -> Result<Told, HostError> {
        let mark = format!("{mark} ");
        let answer = ask(&*self.host, script, stdin, ANSWER, patience).await?;
        let lines = String::from_utf8_lossy(&answer.out)
            .lines()
            .filter_map(|line| line.strip_prefix(&mark))
            .map(|line| Line::parse(line, self.clock()))
            .collect();
        Ok(Told {
            lines,
            rest: rest_of(&answer),
        })
    }

    /// A step of this session.
    fn at(self: &Arc<Self>, step: &str) -> Result<At, HostError> {
        let session = self.session()?;
        let folder = names::folder(step).map_err(|why| self.refused(why))?;
        let dir = format!("{}/steps/{folder}", self.dir);
        let token = format!("{session}/steps/{folder}/");
        let mark = format!("comeback:{token}");
        let set = || {
            self.session_vars()
                .ok()
                .map(|vars| vars.set("d", &dir)?.set("tok", &token)?.set("mark", &mark))
        };
        match set() {
            Some(Ok(vars)) => Ok(At {
                inner: Arc::clone(self),
                vars,
                mark,
            }),
            _ => Err(self.refused("a step's folder cannot hold a NUL byte")),
        }
    }
}

fn rest_of(answer: &Answer) -> String {
    let said = wire::plain(&String::from_utf8_lossy(&answer.err));
    match &answer.exit {
        Exit::Code(code) if said.is_empty() => format!("status {code}"),
        Exit::Signal(signal) if said.is_empty() => format!("signal {signal}"),
        Exit::Unknown if said.is_empty() => "no status".to_owned(),
        _ => said,
    }
}

/// Waits that grow: 0.2 s, doubled up to 10 s.
#[derive(Debug, Default)]
struct Backoff(u32);

impl Backoff {
    fn next(&mut self) -> Duration {
        let wait = Duration::from_millis(200 << self.0.min(6));
        self.0 = self.0.saturating_add(1);
        wait.min(Duration::from_secs(10))
    }
}

/// One step on its host.
#[derive(Clone)]
struct At {
    inner: Arc<Inner>,
    vars: Vars,
    mark: String,
}

impl At {
    /// Runs a short script about this step.
    async fn ask(&self, script: &str, patience: Duration) -> Result<Told, HostError> {
        self.inner
            .ask_marked(&self.mark, script, b"", patience)
            .await
    }

    /// Begins a script that says lines about this step.
    async fn control(&self, script: &str) -> Result<Control, HostError> {
        let channel = self.inner.host.exec(script).await?;
        Ok(Control::new(channel, &self.mark, self.inner.clock()))
    }
}
