//! Every step's output as lines, in bounded memory.

use crate::event::{Gap, LogChunk, Nanos, StepId, Stream};

/// Lines of all steps; the oldest go when the store is full.
#[derive(Debug, Default)]
pub struct LogStore {}

/// One line, ready to be shown: no control character is left in it.
#[derive(Debug, Clone, Copy)]
pub struct LogLine<'a> {
    /// When its first byte came.
    pub at: Nanos,
    /// Which stream.
    pub stream: Stream,
    /// Text.
    pub text: &'a str,
}

impl LogStore {
    /// Takes a chunk.
    pub fn push(&mut self, t: Nanos, chunk: &LogChunk) {
        let _ = (t, chunk);
    }

    /// Marks that output is missing.
    pub fn gap(&mut self, t: Nanos, gap: &Gap) {
        let _ = (t, gap);
    }

    /// How many lines of a step are kept.
    #[must_use]
    pub fn len(&self, step: &StepId) -> usize {
        let _ = step;
        0
    }

    /// How many of its lines were dropped before the first one kept.
    #[must_use]
    pub fn dropped(&self, step: &StepId) -> u64 {
        let _ = step;
        0
    }

    /// Line `at` of a step, from 0.
    #[must_use]
    pub fn line(&self, step: &StepId, at: usize) -> Option<LogLine<'_>> {
        let _ = (step, at);
        None
    }

    /// Bytes that the store takes.
    #[must_use]
    pub fn bytes(&self) -> usize {
        0
    }
}
