//! What steps leave behind on hosts.

use serde::{Deserialize, Serialize};

use super::{LeaveId, RunId, StepId};

/// Something a step leaves on a host.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Leave {
    /// Its id, unique in the recording.
    pub leave: LeaveId,
    /// What became of it.
    #[serde(flatten)]
    pub state: LeaveState,
}

/// What became of a leftover.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "state", rename_all = "kebab-case")]
pub enum LeaveState {
    /// About to be made; on disk here and in the host's journal before it is.
    Intended(Intended),
    /// There: what `find` printed.
    Found {
        /// What `find` printed.
        found: String,
    },
    /// Taken away, and looked for again in vain.
    Undone,
    /// Still there.
    Kept {
        /// Why.
        why: String,
    },
}

/// All that is needed to find and undo a leftover, without the method file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Intended {
    /// The run.
    pub run: RunId,
    /// The step.
    pub step: StepId,
    /// Host it is on.
    pub host: String,
    /// Name in the method file.
    pub name: String,
    /// What it is.
    pub kind: LeaveKind,
    /// Shell text that prints what is there, or nothing.
    pub find: String,
    /// Shell text that takes `$found` away.
    pub undo: String,
    /// Shell text that says how the subject is brought back from `$found`, as long as it is not there:
    /// so long nothing takes it away. It only reads.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub back: Option<String>,
}

/// What kind of thing is left; decides when it is taken away.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LeaveKind {
    /// A copy, snapshot or archive: kept until what it protects is proved.
    Copy,
    /// Where a subject or a copy lives: kept as long as a copy in it is.
    Sandbox,
    /// A temporary file or folder: always taken away.
    Temp,
    /// A background load: always ended.
    Load,
    /// A server started for the session: always ended.
    Server,
    /// A lock: always given back.
    Lock,
}

impl LeaveKind {
    /// Whether it is kept while a failed restore may still need it.
    #[must_use]
    pub fn holds_data(self) -> bool {
        matches!(self, Self::Copy | Self::Sandbox)
    }
}
