//! Why a session, or a part of it, cannot go on.

use crate::event::SinkError;
use crate::host::HostError;
use crate::method::MethodError;

/// Why something cannot go on.
#[derive(Debug, Clone, thiserror::Error)]
pub enum EngineError {
    /// A host cannot be reached, logged into or trusted.
    #[error(transparent)]
    Host(#[from] HostError),
    /// A method file or what was asked of it is wrong.
    #[error(transparent)]
    Method(#[from] MethodError),
    /// The recording cannot be written.
    #[error(transparent)]
    Sink(#[from] SinkError),
    /// The guard or a preflight check refuses.
    #[error("{0}")]
    Refused(String),
    /// A small script on a host failed.
    #[error("{host}: {what}: {why}")]
    Script {
        /// The host.
        host: String,
        /// What it was for.
        what: String,
        /// What it said.
        why: String,
    },
}

impl EngineError {
    /// The exit code: 2 a file, 3 a host, 4 refused, 1 all else.
    #[must_use]
    pub fn exit(&self) -> i32 {
        match self {
            Self::Host(_) => 3,
            Self::Method(_) => 2,
            Self::Sink(_) | Self::Script { .. } => 1,
            Self::Refused(_) => 4,
        }
    }
}
