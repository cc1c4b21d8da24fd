//! Reaching a machine: this one, one over SSH, or a scripted one in tests.

mod again;
mod r#become;
mod beside;
pub mod facts;
pub mod hashing;
mod local;
pub mod scripted;
mod sh;
pub mod ssh;
pub mod supervisor;

use std::sync::Arc;
use std::time::Duration;

use futures_util::future::BoxFuture;
use tokio::io::AsyncWrite;
use tokio::sync::mpsc;

use crate::event::Became;

pub use self::again::{ask_again, until_reached};
pub use self::r#become::Become;
use self::beside::Beside;
pub use self::local::LocalHost;

/// A machine that runs POSIX shell text.
///
/// Reconnecting is the host's own business: a call after a lost connection tries again, with a
/// time limit on each phase.
pub trait Host: Send + Sync {
    /// As the operator named it.
    fn name(&self) -> &str;

    /// Address under which other hosts can reach it; absent for this machine.
    fn address(&self) -> Option<String>;

    /// User and port under which it is logged into; absent for this machine.
    fn login(&self) -> Option<(String, u16)> {
        None
    }

    /// Runs `/bin/sh -c script` there, attached: it may die with the connection. What is to
    /// outlive it goes through the supervisor. The script has `LC_ALL=C` and a `PATH` with all
    /// usual folders, whatever the login shell is.
    fn exec<'a>(&'a self, script: &'a str) -> BoxFuture<'a, Result<Channel, HostError>>;

    /// The same, whatever else runs there: what `exec` runs may wait for its turn. It is for what
    /// others wait for, which would wait for ever behind them: sides of a stream, a stop.
    fn exec_beside<'a>(&'a self, script: &'a str) -> BoxFuture<'a, Result<Channel, HostError>> {
        self.exec(script)
    }

    /// Whether it is this machine, as the user of this process: what can be read here need not
    /// go through a shell.
    fn is_local(&self) -> bool {
        false
    }

    /// Who logged in, where scripts run as somebody else.
    fn became(&self) -> Option<Became> {
        None
    }
}

/// A host that several parts share.
pub type SharedHost = Arc<dyn Host>;

/// A running `sh`, attached.
pub struct Channel {
    /// Its standard input; dropping it (or shutting it down) sends the end of file.
    pub stdin: Box<dyn AsyncWrite + Send + Unpin>,
    /// What it says, in order, from one task that drains the connection at once. After
    /// [`Said::Exit`] comes nothing. An end without it is a lost connection.
    pub output: mpsc::Receiver<Said>,
}

/// What a channel says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Said {
    /// Bytes of standard output.
    Out(Vec<u8>),
    /// Bytes of standard error.
    Err(Vec<u8>),
    /// How the shell ended; told after all output.
    Exit(Exit),
}

/// How a shell ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Exit {
    /// With a status.
    Code(i32),
    /// By a signal.
    Signal(String),
    /// The server did not say: unknown, never 0.
    Unknown,
}

/// What a short script said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// Standard output.
    pub out: Vec<u8>,
    /// Standard error.
    pub err: Vec<u8>,
    /// How it ended.
    pub exit: Exit,
}

/// Why a host cannot be used.
#[derive(Debug, Clone, thiserror::Error)]
pub enum HostError {
    /// Not reached, or lost. Worth another try.
    #[error("{host}: {phase}: {why}")]
    Down {
        /// The host.
        host: String,
        /// Phase (resolve, connect, banner, host key, login, exec).
        phase: &'static str,
        /// Why, and what to do.
        why: String,
    },
    /// The host key is unknown or changed. Never worth another try.
    #[error("{host}: host key: {why}")]
    Untrusted {
        /// The host.
        host: String,
        /// Which key, with its fingerprint, and what to do.
        why: String,
    },
    /// Login refused.
    #[error("{host}: login: {why}")]
    Login {
        /// The host.
        host: String,
        /// What was tried, and what to do.
        why: String,
    },
    /// Something on the host refuses the work: no shell, no state folder.
    #[error("{host}: {why}")]
    Refused {
        /// The host.
        host: String,
        /// What, and what to do.
        why: String,
    },
}

impl HostError {
    /// Whether the same call may go through later.
    #[must_use]
    pub fn is_transient(&self) -> bool {
        matches!(self, Self::Down { .. })
    }

    /// The host.
    #[must_use]
    pub fn host(&self) -> &str {
        match self {
            Self::Down { host, .. }
            | Self::Untrusted { host, .. }
            | Self::Login { host, .. }
            | Self::Refused { host, .. } => host,
        }
    }

    /// The phase of connecting that failed; absent where the host refuses the work.
    #[must_use]
    pub fn phase(&self) -> Option<&'static str> {
        match self {
            Self::Down { phase, .. } => Some(phase),
            Self::Untrusted { .. } => Some("host key"),
            Self::Login { .. } => Some("login"),
            Self::Refused { .. } => None,
        }
    }

    /// The same, with something added to why.
    pub(in crate::host) fn and(mut self, more: &str) -> Self {
        match &mut self {
            Self::Down { why, .. }
            | Self::Untrusted { why, .. }
            | Self::Login { why, .. }
            | Self::Refused { why, .. } => why.push_str(more),
        }
        self
    }

    /// Why, without the host and the phase.
    #[must_use]
    pub fn why(&self) -> &str {
        match self {
            Self::Down { why, .. }
            | Self::Untrusted { why, .. }
            | Self::Login { why, .. }
            | Self::Refused { why, .. } => why,
        }
    }
}

/// Runs a short script with the given standard input and gathers what it says, at most
/// `limit` bytes of each stream.
///
/// # Errors
/// [`HostError::Down`] where the connection is lost, or nothing is heard within `patience`.
pub async fn ask(
    host: &dyn Host,
    script: &str,
    stdin: &[u8],
    limit: usize,
    patience: Duration,
) -> Result<Answer, HostError> {
    use tokio::io::AsyncWriteExt;

    let down = |why: &str| HostError::Down {
        host: host.name().to_owned(),
        phase: "exec",
        why: why.to_owned(),
    };
    let work = async {
        let Channel {
            stdin: mut pipe,
            mut output,
        } = host.exec(script).await?;
        let feed = async {
            // A script that ends without reading its input breaks this pipe; its exit tells.
            let _ = pipe.write_all(stdin).await;
            let _ = pipe.shutdown().await;
            drop(pipe);
        };
        let read = async {
            let mut answer = Answer {
                out: Vec::new(),
                err: Vec::new(),
                exit: Exit::Unknown,
            };
            let mut ended = false;
            while let Some(said) = output.recv().await {
                match said {
                    Said::Out(bytes) => keep(&mut answer.out, &bytes, limit),
                    Said::Err(bytes) => keep(&mut answer.err, &bytes, limit),
                    Said::Exit(exit) => {
                        answer.exit = exit;
                        ended = true;
                    }
                }
            }
            if ended {
                Ok(answer)
            } else {
                Err(down("the connection was lost"))
            }
        };
        tokio::join!(feed, read).1
    };
    tokio::time::timeout(patience, work)
        .await
        .unwrap_or_else(|_| Err(down(&format!("no answer within {} s", patience.as_secs()))))
}

fn keep(all: &mut Vec<u8>, more: &[u8], limit: usize) {
    let room = limit.saturating_sub(all.len());
    all.extend(more.iter().take(room));
}
