//! What a step says while it runs, and what is understood of it.

use serde::{Deserialize, Serialize};

use super::{Bytes, Clock, RunId, StepId};

/// Standard output or standard error.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Stream {
    /// Standard output.
    Out,
    /// Standard error.
    Err,
}

/// A chunk of a step's output, as it came: at most 64 KiB.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LogChunk {
    /// The step.
    pub step: StepId,
    /// Which stream.
    pub stream: Stream,
    /// Offset of its first byte in that stream.
    pub offset: u64,
    /// The bytes, where they are UTF-8.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// The bytes in base64, where they are not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base64: Option<String>,
}

/// Output that is not in the recording.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Gap {
    /// The step.
    pub step: StepId,
    /// Which stream.
    pub stream: Stream,
    /// Where it begins.
    pub offset: u64,
    /// How much is missing; absent where nobody counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes: Option<u64>,
}

/// How far a step is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Progress {
    /// The step.
    pub step: StepId,
    /// Exact, estimated or unknown.
    pub kind: ProgressKind,
    /// Percent: never falls, and is below 100 until the step has ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub percent: Option<f64>,
    /// Bytes done.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub done: Option<Bytes>,
    /// Bytes in all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub total: Option<Bytes>,
    /// What the tool says of how it goes, in a few words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub says: Option<String>,
}

/// How a progress figure is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ProgressKind {
    /// Done and total are both known.
    Exact,
    /// The total is an estimate.
    Estimated,
    /// There is no total.
    Unknown,
}

/// A named moment of a step.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Mark {
    /// The step.
    pub step: StepId,
    /// Its name.
    pub name: String,
    /// Seconds since the step's begin.
    pub at: f64,
    /// By which clock.
    pub clock: Clock,
    /// Its resolution, in seconds.
    pub resolution: f64,
}

/// A value that a step captured.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Captured {
    /// The run.
    pub run: RunId,
    /// The step.
    pub step: StepId,
    /// Name, as later steps use it.
    pub name: String,
    /// The value.
    pub value: String,
}
