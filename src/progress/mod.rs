//! How each tool's output is understood: one file a tool, pure functions.
//!
//! A reader is fed lines (see [`lines`]) and says what it found. It gives the same whatever
//! pieces the output came in, and unknown text is never an error.

use crate::event::{ProgressKind, Stream};

/// What a tool's output says.
#[derive(Debug, Clone, PartialEq)]
pub enum Finding {
    /// How far it is. `percent` only where the tool says no bytes.
    Progress {
        /// How this is known.
        kind: ProgressKind,
        /// Bytes done.
        done: Option<u64>,
        /// Bytes in all.
        total: Option<u64>,
        /// Percent.
        percent: Option<f64>,
    },
    /// A named moment (`100 %`, `freeze`), timed by when its line came, or by the seconds since
    /// the begin that the line itself tells.
    Mark {
        /// Its name.
        name: &'static str,
        /// Seconds since the tool's begin, where the line tells.
        at: Option<f64>,
    },
    /// A named value, for later steps: an archive's name.
    Value {
        /// Its name, as `gives` uses it.
        name: &'static str,
        /// The value.
        value: String,
    },
    /// A figure that the tool printed.
    Figure {
        /// Its name.
        name: &'static str,
        /// Value in `unit`.
        value: f64,
        /// `s`, `B` or `B/s`.
        unit: &'static str,
        /// How fine it was printed, in `unit`.
        resolution: f64,
    },
    /// The tool warns.
    Warning(String),
    /// The tool says why it fails: the first of these is the root cause.
    Cause(String),
}

/// A whole line of a tool's output, without its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Line<'a> {
    /// Where it came from.
    pub stream: Stream,
    /// Text; what is not UTF-8 has been replaced. Long lines are cut.
    pub text: &'a str,
    /// Ended by a carriage return: the next line overwrites it.
    pub rewritten: bool,
}

/// Understands one tool's output.
pub trait Reader: Send {
    /// Takes a line, adds what it says to `found`.
    fn line(&mut self, line: Line<'_>, found: &mut Vec<Finding>);

    /// The output is over.
    fn finish(&mut self, found: &mut Vec<Finding>) {
        let _ = found;
    }
}

/// Names of all readers.
#[must_use]
pub fn known() -> &'static [&'static str] {
    &[
        "rsync",
        "tar",
        "vzdump",
        "qmrestore",
        "vmkfstools",
        "curl",
        "btrfs",
        "zfs-send",
    ]
}

/// Values that a reader can give.
#[must_use]
pub fn gives(reader: &str) -> &'static [&'static str] {
    if reader == "vzdump" {
        &["archive"]
    } else {
        &[]
    }
}
