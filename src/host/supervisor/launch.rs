//! How a step is run.

use std::fmt;

use shlex::QuoteError;

use super::wire::plain;
use crate::host::sh::Vars;

/// How a command is run.
#[derive(Clone, Default)]
pub struct Launch {
    /// What it reads; nothing, where absent. It is on the host's disk, for the user's eyes
    /// only, until the command has opened it.
    pub stdin: Option<Vec<u8>>,
    /// It dies with the session: see [`Supervisor::keeper`](super::Supervisor::keeper). It is
    /// followed from the first [`Job::next`](super::Job::next) on only.
    pub load: bool,
    /// Follow it from the first [`Job::next`](super::Job::next) on only, so that it takes no channel meanwhile.
    pub at_join: bool,
    /// How much of its output is kept.
    pub caps: Caps,
    /// What it is called, for whoever finds it running when nobody follows it any more.
    pub title: String,
    /// What would be lost where it is ended; empty where nothing would.
    pub stake: String,
}

impl Launch {
    /// What is told of it, as variables of the script that puts it into its folder.
    pub(super) fn told(&self, vars: Vars) -> Result<Vars, QuoteError> {
        vars.set("title", &plain(&self.title))?
            .set("stake", &plain(&self.stake))
    }
}

impl fmt::Debug for Launch {
    /// Without the input, which may be a secret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Launch")
            .field("stdin", &self.stdin.as_ref().map(Vec::len))
            .field("load", &self.load)
            .field("at_join", &self.at_join)
            .field("caps", &self.caps)
            .field("title", &self.title)
            .field("stake", &self.stake)
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
