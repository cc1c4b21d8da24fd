//! Remarks, and the end.

use serde::{Deserialize, Serialize};

use super::{RunId, StepId};

/// A warning or remark.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Note {
    /// How grave.
    pub level: Level,
    /// In one sentence.
    pub text: String,
    /// The host it is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host: Option<String>,
    /// The run it is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<RunId>,
    /// The step it is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step: Option<StepId>,
}

/// How grave a note is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Level {
    /// Worth knowing; belongs with the figures.
    Remark,
    /// Something is odd.
    Warning,
    /// Something went wrong.
    Error,
}

/// The end of a session.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct End {
    /// Exit code of the program.
    pub exit: i32,
    /// In one sentence.
    pub reason: String,
}
