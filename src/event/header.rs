//! The first line of a recording.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{Facts, Plan, SessionId};

/// The first event: what this recording is, and what was going to be done.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Header {
    /// `comeback-recording/1`.
    pub format: String,
    /// Name and version of the program that wrote it.
    pub program: String,
    /// Where the figures come from.
    pub origin: Origin,
    /// Wall time of the start.
    pub started: chrono::DateTime<chrono::Utc>,
    /// Short name of the session; part of every name it makes on a host.
    pub session: SessionId,
    /// What was going to run.
    pub plan: Plan,
    /// Facts of each host, as probed before the start.
    #[serde(default)]
    pub facts: BTreeMap<String, Facts>,
    /// What is masked in this recording.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub masked: Vec<String>,
}

/// Where a recording's figures come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Origin {
    /// Measured by this program.
    Captured,
    /// Taken from a publication.
    Published,
}
