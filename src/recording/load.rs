//! A whole recording into a session.

use std::fmt;
use std::path::Path;

use super::reader::{ReadError, Reader};
use crate::event::count_with;
use crate::session::Session;

/// What is odd about a recording that can be read all the same.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Warning {
    /// Its last line is cut, and left out.
    Cut {
        /// The line, from 1.
        line: u64,
    },
    /// It has no end event.
    NoEnd,
    /// Events are missing.
    Missing {
        /// The line before which.
        line: u64,
        /// How many.
        events: u64,
    },
    /// An event has a number that was there before.
    Disorder {
        /// The line.
        line: u64,
        /// Its number.
        seq: u64,
    },
    /// A header that is not the first line.
    Header {
        /// The line.
        line: u64,
    },
    /// It was written by a later version.
    Later {
        /// Its format.
        format: String,
    },
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Cut { line } => write!(f, "line {line} is cut, and left out"),
            Self::NoEnd => f.write_str("the recording ends early: it has no end event"),
            Self::Missing { line, events } => {
                let events = count_with(*events, "event", ("is", "are"));
                write!(f, "{events} missing before line {line}")
            }
            Self::Disorder { line, seq } => {
                write!(f, "line {line} is out of order: event {seq} came before")
            }
            Self::Header { line } => write!(f, "line {line} is a second header"),
            Self::Later { format } => write!(
                f,
                "it was written by a later version ({format}): what this one does not know is left out"
            ),
        }
    }
}

/// Reads a recording into a session.
///
/// # Errors
/// Where it cannot be read, is no recording, is of another major version, or a line in its
/// middle is broken.
pub fn load(path: &Path) -> Result<(Session, Vec<Warning>), ReadError> {
    let mut reader = Reader::open(path)?;
    let mut session = Session::default();
    for event in reader.by_ref() {
        session.apply(&event?);
    }
    let mut warnings = reader.warnings().to_vec();
    if session.end.is_none() {
        warnings.push(Warning::NoEnd);
    }
    Ok((session, warnings))
}

#[cfg(test)]
mod tests;
