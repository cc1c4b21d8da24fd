//! A session and a step on their host: where they are, and scripts about them.

use std::sync::atomic::AtomicU32;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use tokio::time::Instant;

use super::control::Control;
use super::names;
use super::wire::{self, Line};
use crate::host::facts::HostClock;
use crate::host::sh::Vars;
use crate::host::{Answer, Beside, Channel, Exit, HostError, SharedHost, ask, until_reached};

/// How much of a short script's answer is kept.
const ANSWER: usize = 1 << 20;

/// A session on its host.
pub(super) struct Inner {
    pub host: SharedHost,
    pub dir: String,
    pub shell: String,
    pub clock: OnceLock<HostClock>,
    /// How many calibrations there were.
    pub calibrations: AtomicU32,
}

/// What a short script said.
pub(super) struct Told {
    pub lines: Vec<Line>,
    /// Why it may have failed, for a message.
    pub rest: String,
}

impl Inner {
    pub fn clock(&self) -> HostClock {
        self.clock.get().copied().unwrap_or_default()
    }

    /// The same, where commands wait for no others: see [`Host::exec_beside`].
    ///
    /// [`Host::exec_beside`]: crate::host::Host::exec_beside
    pub fn beside(&self) -> Arc<Self> {
        Arc::new(Self {
            host: Beside::of(&self.host),
            dir: self.dir.clone(),
            shell: self.shell.clone(),
            clock: self.clock.clone(),
            calibrations: AtomicU32::new(0),
        })
    }

    pub fn refused(&self, why: impl Into<String>) -> HostError {
        HostError::Refused {
            host: self.host.name().to_owned(),
            why: why.into(),
        }
    }

    pub fn session(&self) -> Result<&str, HostError> {
        names::session_of(&self.dir).map_err(|why| self.refused(why))
    }

    /// The mark of lines that are about the session.
    pub fn mark(&self) -> Result<String, HostError> {
        Ok(format!("comeback:{}", self.session()?))
    }

    pub fn session_vars(&self) -> Result<Vars, HostError> {
        let session = self.session()?;
        let set = || {
            Vars::default()
                .set("s", &self.dir)?
                .set("name", session)?
                .set("mark", &format!("comeback:{session}"))
        };
        set().map_err(|error| self.refused(error.to_string()))
    }

    /// Runs a short script, which may be run twice, and reads its lines.
    pub async fn ask(
        &self,
        script: &str,
        stdin: &[u8],
        patience: Duration,
    ) -> Result<Told, HostError> {
        let mark = self.mark()?;
        until_reached(|| self.ask_marked(&mark, script, stdin, patience)).await
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
    pub fn at(self: &Arc<Self>, step: &str) -> Result<At, HostError> {
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
                dir,
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

/// One step on its host.
#[derive(Clone)]
pub(super) struct At {
    pub inner: Arc<Inner>,
    pub vars: Vars,
    pub mark: String,
    pub dir: String,
}

impl At {
    /// The same, where commands wait for no others.
    pub fn beside(&self) -> Self {
        Self {
            inner: self.inner.beside(),
            ..self.clone()
        }
    }

    /// Runs a short script about this step.
    pub async fn ask(&self, script: &str, patience: Duration) -> Result<Told, HostError> {
        self.inner
            .ask_marked(&self.mark, script, b"", patience)
            .await
    }

    /// The same, of a script that reads something.
    pub async fn send(
        &self,
        script: &str,
        stdin: &[u8],
        patience: Duration,
    ) -> Result<Told, HostError> {
        self.inner
            .ask_marked(&self.mark, script, stdin, patience)
            .await
    }

    /// Listens to a script that says lines about this step, since when it was asked for.
    pub fn listen(&self, channel: Channel, asked: Instant) -> Control {
        Control::new(channel, asked, &self.mark, self.inner.clock())
    }

    /// Begins a script that says lines about this step.
    pub async fn control(&self, script: &str) -> Result<Control, HostError> {
        let asked = Instant::now();
        let channel = self.inner.host.exec(script).await?;
        Ok(self.listen(channel, asked))
    }
}
