//! What the operator is asked and does, and what is locked for them.

use serde::{Deserialize, Serialize};

use super::AskId;

/// A question to the operator; the answer is never recorded.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Ask {
    /// Its id.
    pub ask: AskId,
    /// What is asked for (confirm, secret).
    pub kind: String,
    /// The question.
    pub text: String,
    /// Whether it has been answered.
    #[serde(default)]
    pub answered: bool,
}

/// Something the operator did.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Act {
    /// What.
    pub act: ActKind,
    /// Free text: a marker's name, a note, what was confirmed.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub text: String,
}

/// What an operator can do to a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ActKind {
    /// Stop the run that is going on, and the session with it.
    Stop,
    /// Pause after this run.
    Pause,
    /// Go on.
    Resume,
    /// A marker.
    Marker,
    /// A note.
    Note,
    /// A destruction was confirmed by name.
    Confirmed,
}

/// A lock on a subject.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Lock {
    /// Host it is on.
    pub host: String,
    /// `KIND:ID` of the subject.
    pub subject: String,
    /// What became of it.
    pub state: LockState,
    /// Who holds it, when refused.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub holder: Option<String>,
    /// Since when, when refused.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since: Option<String>,
}

/// State of a lock.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LockState {
    /// Taken by this session.
    Taken,
    /// Held by somebody else.
    Refused,
    /// Given back.
    Released,
}
