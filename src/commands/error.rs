//! Why a command fails, and the one table of exit codes.

use crate::config::ConfigError;
use crate::engine::{EngineError, ExamineError};
use crate::event::SinkError;
use crate::host::HostError;
use crate::method::MethodError;
use crate::recording::{CreateError, ReadError};
use crate::session::PipelineError;
use crate::tui::{ThemeError, TuiError};

/// Why a command fails, in one sentence.
#[derive(Debug, thiserror::Error)]
pub enum CommandError {
    /// The arguments are wrong.
    #[error("{0}")]
    Arguments(String),
    /// The configuration is wrong.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// A method file, or what was asked of it, is wrong.
    #[error(transparent)]
    Method(#[from] MethodError),
    /// A recording cannot be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// A recording cannot be made.
    #[error(transparent)]
    Create(#[from] CreateError),
    /// A recording cannot be written.
    #[error(transparent)]
    Sink(#[from] SinkError),
    /// No pipeline can be told from a recording.
    #[error(transparent)]
    Pipeline(#[from] PipelineError),
    /// A theme is wrong.
    #[error(transparent)]
    Theme(#[from] ThemeError),
    /// A host cannot be used.
    #[error(transparent)]
    Host(#[from] HostError),
    /// The engine cannot go on.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// The operator ended the program before anything was begun.
    #[error("stopped; nothing was begun")]
    Stopped,
    /// The guard or a preflight check refuses.
    #[error("{0}")]
    Refused(String),
    /// The terminal, or standard output, is gone.
    #[error("{0}")]
    Terminal(String),
    /// A part of the program failed unexpectedly.
    #[error("{0}")]
    Broken(String),
}

impl From<ExamineError> for CommandError {
    fn from(why: ExamineError) -> Self {
        match why {
            ExamineError::Host(why) => Self::Host(why),
            ExamineError::Method(why) => Self::Method(why),
        }
    }
}

impl From<TuiError> for CommandError {
    fn from(why: TuiError) -> Self {
        match why {
            TuiError::NoTerminal | TuiError::Dumb | TuiError::Terminal(_) => {
                Self::Terminal(why.to_string())
            }
            TuiError::Panicked | TuiError::Deserted => Self::Broken(why.to_string()),
        }
    }
}

impl CommandError {
    /// The exit code: 2 arguments or a file, 3 a host, 4 refused, 1 all else.
    #[must_use]
    pub fn exit(&self) -> i32 {
        match self {
            Self::Arguments(_)
            | Self::Config(_)
            | Self::Method(_)
            | Self::Read(_)
            | Self::Create(_)
            | Self::Pipeline(_)
            | Self::Theme(_)
            | Self::Terminal(_) => 2,
            Self::Host(_) => 3,
            Self::Refused(_) => 4,
            Self::Stopped => 130,
            Self::Sink(_) | Self::Broken(_) => 1,
            Self::Engine(why) => why.exit(),
        }
    }
}
