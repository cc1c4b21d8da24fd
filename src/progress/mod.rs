//! How each tool's output is understood: one file a tool, pure functions.
//!
//! A reader is fed lines (see [`lines`]) and says what it found. It gives the same whatever
//! pieces the output came in, and unknown text is never an error. [`reader`] makes one by its
//! name in a method file; [`clamp`] turns what it says about progress into events.

pub mod clamp;
pub mod escape;
pub mod lines;
pub mod task;

mod arcstats;
mod banner;
mod borg;
mod btrfs;
mod curl;
mod dd;
mod diagnostics;
mod durations;
mod fio;
mod lftp;
mod lvm;
mod numbers;
mod pattern;
mod plain;
mod prefix;
mod pv;
mod pve;
mod qmrestore;
mod registry;
mod restic;
mod room;
mod rsync;
mod scp;
mod sizes;
mod tar;
#[cfg(test)]
mod testing;
mod utf8;
mod vmkfstools;
mod vzdump;
mod zfs;
mod zstd;

use crate::event::{ProgressKind, Stream};
use numbers::Printed;

pub use clamp::Clamp;
pub use lines::Lines;
pub use registry::{figures, gives, known, marks, reader};

/// What a tool's output says.
#[derive(Debug, Clone, PartialEq)]
pub enum Finding {
    /// How far it is.
    Progress {
        /// How this is known.
        kind: ProgressKind,
        /// Bytes done.
        done: Option<u64>,
        /// Bytes in all.
        total: Option<u64>,
        /// Percent as the tool prints it, which is cut and never more than the truth; absent
        /// where it prints none, or means something else by it.
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
    /// A named value, for later steps: an archive's name. Where one name comes again, the last
    /// one holds.
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
        /// `s`, `B`, `B/s`, `%`, or `×` for a plain ratio.
        unit: &'static str,
        /// How fine it was printed, in `unit`.
        resolution: f64,
    },
    /// What it says of how it goes, for the eye: shown beside its progress.
    Says(String),
    /// The tool warns; this alone is no failure.
    Warning(String),
    /// The tool says why it fails: the first of these is the root cause. It counts only where
    /// the tool's status says that it failed; a weak one is told at the end, and only where
    /// nothing better is known.
    Cause(String),
}

impl Finding {
    fn mark(name: &'static str) -> Self {
        Self::Mark { name, at: None }
    }

    fn value(name: &'static str, value: &str) -> Self {
        Self::Value {
            name,
            value: value.to_owned(),
        }
    }

    fn figure(name: &'static str, printed: Printed, unit: &'static str) -> Self {
        Self::Figure {
            name,
            value: printed.value,
            unit,
            resolution: printed.resolution,
        }
    }

    fn bytes(name: &'static str, printed: Printed) -> Self {
        Self::figure(name, printed, "B")
    }

    fn exact_bytes(name: &'static str, bytes: u64) -> Self {
        Self::bytes(name, Printed::exact(bytes))
    }

    fn seconds(name: &'static str, printed: Printed) -> Self {
        Self::figure(name, printed, "s")
    }

    fn rate(printed: Printed) -> Self {
        Self::figure("rate", printed, "B/s")
    }
}

/// A whole line of a tool's output, without its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Line<'a> {
    /// Where it came from.
    pub stream: Stream,
    /// Text; what is not UTF-8 has been replaced, control characters but tabs are gone. Long
    /// lines are cut.
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
