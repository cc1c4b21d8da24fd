//! Where the engine tells what happened.

use super::What;

/// Takes events, in order.
pub trait Sink: Send + Sync {
    /// Says that something happened. What cannot be written is remembered, and is told by
    /// the next [`Sink::commit`]: a running restore is followed to its end whatever
    /// happens to the file.
    fn tell(&self, what: What);

    /// Returns when everything told so far is on disk.
    ///
    /// # Errors
    /// Where something told so far could not be written; no destroying step may start then.
    fn commit(&self) -> Result<(), SinkError>;
}

/// A recording could not be written.
#[derive(Debug, Clone, thiserror::Error)]
#[error("the recording {file} cannot be written: {why}")]
pub struct SinkError {
    /// The file.
    pub file: String,
    /// Why.
    pub why: String,
}
