//! What a recording is about and what came out, told without folding all of it.

mod told;

use std::collections::BTreeMap;
use std::fs::{File, TryLockError};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use chrono::{DateTime, Utc};

use self::told::Told;
pub(super) use self::told::glance;
use super::{ReadError, Reader};
use crate::event::{
    BindingId, Bytes, End, Event, Labels, Nanos, Origin, RunId, Subject, What, is_later,
};
use crate::session::{Ending, RESTARTED, RunStage, ToldOfRuns};

/// A recording in short.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Summary {
    /// The file.
    pub path: PathBuf,
    /// Its size.
    pub size: Bytes,
    /// When it started; absent where not even the header could be read.
    pub started: Option<DateTime<Utc>>,
    /// Name and version of the program that wrote it.
    pub program: String,
    /// Where its figures come from.
    pub origin: Option<Origin>,
    /// Hosts that its plan names, and those that were asked for in vain.
    pub hosts: Vec<HostSummary>,
    /// Names of its methods, each once, in the order of the plan.
    pub methods: Vec<String>,
    /// All runs, in the order of the plan.
    pub runs: Vec<RunSummary>,
    /// When its last event happened.
    pub length: Nanos,
    /// How it ended; absent where the file was cut or is still being written.
    pub end: Option<End>,
    /// Leftovers that may still be on a host: no event tells that they were taken away.
    pub still_out: usize,
    /// Whether a session writes it at this moment.
    pub in_use: bool,
    /// Why not all of it could be read.
    pub trouble: Option<String>,
}

/// A host of a recording.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct HostSummary {
    /// As the operator named it.
    pub name: String,
    /// Its operating system, where it was told.
    pub system: String,
    /// Which machine it was; empty where that was not told.
    pub machine: String,
}

/// What a run was of: a method bound to hosts, subject and settings.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct BoundSummary {
    /// Its id.
    pub binding: BindingId,
    /// The method.
    pub method: String,
    /// The host that a report names it by.
    pub host: String,
    /// Role → host.
    pub roles: BTreeMap<String, String>,
    /// What was protected and brought back.
    pub subject: Subject,
    /// Settings, as text.
    pub settings: BTreeMap<String, String>,
    /// Labels of every run of it.
    pub labels: Labels,
}

/// A run of a recording.
#[derive(Debug, Clone, PartialEq)]
pub struct RunSummary {
    /// Its id.
    pub run: RunId,
    /// What was run.
    pub bound: Arc<BoundSummary>,
    /// Repetition, from 1.
    pub rep: u32,
    /// Its series, as far as it was known at its start; empty where it never started.
    pub series: String,
    /// Its labels, as told at its start.
    pub labels: Labels,
    /// Where it stands at the end of the recording.
    pub stage: RunStage,
    /// Seconds from its start to its end, by this machine's clock.
    pub seconds: Option<f64>,
    /// What its copies took.
    pub copies: CopyBytes,
    /// How big the subject was, as its final proof compared it.
    pub subject_bytes: Option<Bytes>,
    /// Final proofs that held.
    pub proved: u32,
    /// Final proofs that did not hold.
    pub disproved: u32,
}

/// Bytes of the copies that a run made, as far as the recording tells.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CopyBytes {
    /// As the reader of their files sees them.
    pub logical: Option<Bytes>,
    /// That were allocated for them.
    pub stored: Option<Bytes>,
}

/// What a recording came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// All was done and verified.
    Done,
    /// A run or a proof failed, or something else did.
    Failed,
    /// The operator stopped it.
    Stopped,
    /// A session writes it at this moment.
    GoingOn,
    /// It has no end: the file was cut, or the program was.
    Cut,
    /// Figures of a publication: nothing was run.
    Published,
    /// Not even its header could be read.
    Unreadable,
}

impl RunSummary {
    /// Whether it ended well and every final proof of it held; at least one did.
    #[must_use]
    pub fn is_verified(&self) -> bool {
        self.is_good() && self.proved > 0 && self.disproved == 0
    }

    /// Whether it ended well: only such a run enters a median.
    #[must_use]
    pub fn is_good(&self) -> bool {
        matches!(&self.stage, RunStage::Ended(end, _) if end.is_good())
    }
}

impl Summary {
    /// Reads a file once. What cannot be read is told in [`Summary::trouble`], beside what could.
    #[must_use]
    pub fn read(path: &Path) -> Self {
        Self::read_while(path, &|| true).unwrap_or_default()
    }

    /// The same, as long as that is wanted: absent where it was not, before the end.
    pub(super) fn read_while(path: &Path, is_wanted: &dyn Fn() -> bool) -> Option<Self> {
        let mut summary = Self {
            path: path.to_owned(),
            ..Self::default()
        };
        match regular(path) {
            Ok((file, size)) => {
                summary.size = size;
                summary.in_use = Lock::of(&file) == Lock::Held;
                summary.take(file, is_wanted)?;
                // What was started again beside another run is a load, and none of those that were planned.
                summary
                    .runs
                    .retain(|run| !run.labels.contains_key(RESTARTED));
            }
            Err(why) => summary.trouble = Some(why),
        }
        Some(summary)
    }

    /// What it came to.
    #[must_use]
    pub fn outcome(&self) -> Outcome {
        match (&self.end, self.origin) {
            (_, None) => Outcome::Unreadable,
            (_, Some(Origin::Published)) => Outcome::Published,
            (None, _) if self.in_use => Outcome::GoingOn,
            (None, _) => Outcome::Cut,
            (Some(end), _) if end.exit == 130 => Outcome::Stopped,
            (Some(end), _) if self.ending(end).is_good => Outcome::Done,
            (Some(_), _) => Outcome::Failed,
        }
    }

    fn ending(&self, end: &End) -> Ending {
        let count = |is: fn(&&RunSummary) -> bool| self.runs.iter().filter(is).count();
        let told = ToldOfRuns {
            disproved: count(|run| run.is_good() && run.disproved > 0),
            bad: count(|run| matches!(run.stage, RunStage::Ended(..)) && !run.is_good()),
            // Which methods make a proof is not read here.
            unproved: 0,
        };
        Ending::of(end, told)
    }

    /// What it came to, in words.
    #[must_use]
    pub fn result(&self) -> String {
        let good = self.runs.iter().filter(|run| run.is_good()).count();
        let of = format!("{good} of {} runs done", self.runs.len());
        match (self.outcome(), &self.trouble, &self.end) {
            (Outcome::Unreadable, Some(why), _) => why.clone(),
            (Outcome::Unreadable, None, _) => "it cannot be read".to_owned(),
            (Outcome::Published, ..) => "figures of a publication".to_owned(),
            (Outcome::GoingOn, ..) => format!("going on: {of}"),
            (_, Some(why), _) => format!("{of}; {why}"),
            (_, _, Some(end)) => self.ending(end).text,
            (_, _, None) => format!("cut: {of}"),
        }
    }

    fn take(&mut self, file: File, is_wanted: &dyn Fn() -> bool) -> Option<()> {
        // The header has a reader already, that knows versions and says what is wrong.
        let name = self.path.display().to_string();
        let header = match Reader::new(&name, &file).map(|mut reader| reader.next()) {
            Ok(Some(Ok(Event {
                what: What::Header(header),
                ..
            }))) => header,
            Ok(_) => return Some(()),
            Err(why) => {
                self.trouble = Some(match why {
                    ReadError::Io { why, .. } => format!("it cannot be read: {why}"),
                    ReadError::NoHeader { why, .. } => format!("no recording: {why}"),
                    ReadError::Version { found, .. } => format!("its format is {found}"),
                    ReadError::Broken { line, why, .. } => format!("line {line} is broken: {why}"),
                });
                return Some(());
            }
        };
        let later = is_later(&header.format);
        let mut told = Told::new(self, &header);
        let read = std::io::Seek::rewind(&mut &file)
            .map_err(|why| why.to_string())
            .and_then(|()| told.rest(file, later, is_wanted));
        match read {
            Ok(true) => {}
            Ok(false) => return None,
            Err(why) => told.summary.trouble = Some(why),
        }
        told.finish();
        Some(())
    }
}

// A pipe with a name would be waited for without end.
fn regular(path: &Path) -> Result<(File, Bytes), String> {
    let known = std::fs::metadata(path).map_err(|why| format!("it cannot be read: {why}"))?;
    if !known.is_file() {
        return Err("it is no file".to_owned());
    }
    let file = File::open(path).map_err(|why| format!("it cannot be read: {why}"))?;
    Ok((file, Bytes(known.len())))
}

/// Whether a session writes a file, as its lock tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Lock {
    /// A session holds it, as long as it lives.
    Held,
    /// Nobody does.
    Free,
    /// The file system knows no locks.
    Unknown,
}

impl Lock {
    pub fn of(file: &File) -> Self {
        match file.try_lock_shared() {
            Ok(()) => {
                let _ = file.unlock();
                Self::Free
            }
            Err(TryLockError::WouldBlock) => Self::Held,
            Err(TryLockError::Error(_)) => Self::Unknown,
        }
    }
}

#[cfg(test)]
mod tests;
