//! What a recording is about and what came out, told without folding all of it.

use std::collections::BTreeMap;
use std::fs::{File, TryLockError};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use chrono::{DateTime, Utc};

use super::lines::{Line, Lines};
use super::{MOST_HEADER, MOST_LINE, Reader};
use crate::event::{
    BindingId, Bytes, Event, Header, Labels, Leave, LeaveKind, LeaveState, Nanos, Origin,
    RunChange, RunId, RunState, Subject, What, parse_later_line, parse_line,
};
use crate::session::RunStage;

/// Events that a summary is made of; all others are passed over unread.
const TELLING: [&str; 7] = ["host", "run", "sample", "space", "proof", "leave", "end"];

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
    pub end: Option<crate::event::End>,
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
        let mut summary = Self {
            path: path.to_owned(),
            ..Self::default()
        };
        match regular(path) {
            Ok((file, size)) => {
                summary.size = size;
                summary.in_use = is_locked(&file);
                summary.take(file);
            }
            Err(why) => summary.trouble = Some(why),
        }
        summary
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
            (Some(end), _) if end.exit == 0 => Outcome::Done,
            (Some(_), _) => Outcome::Failed,
        }
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
            (_, _, Some(end)) => end.reason.clone(),
            (_, _, None) => format!("cut: {of}"),
        }
    }

    fn take(&mut self, file: File) {
        // The header has a reader already, that knows versions and says what is wrong.
        let name = self.path.display().to_string();
        let header = match Reader::new(&name, &file).map(|mut reader| reader.next()) {
            Ok(Some(Ok(Event {
                what: What::Header(header),
                ..
            }))) => header,
            Ok(_) => return,
            Err(why) => {
                let why = why.to_string();
                let short = why
                    .strip_prefix(name.as_str())
                    .map_or(why.as_str(), str::trim_start);
                self.trouble = Some(short.to_owned());
                return;
            }
        };
        let later = crate::event::is_later(&header.format);
        let mut told = Told::new(self, &header);
        if let Err(why) = std::io::Seek::rewind(&mut &file)
            .map_err(|why| why.to_string())
            .and_then(|()| told.rest(file, later))
        {
            told.summary.trouble = Some(why);
        }
        told.finish();
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

/// Whether a session writes this file: it holds a lock on it as long as it lives.
pub(super) fn is_locked(file: &File) -> bool {
    match file.try_lock_shared() {
        Ok(()) => {
            let _ = file.unlock();
            false
        }
        Err(TryLockError::WouldBlock) => true,
        Err(TryLockError::Error(_)) => false,
    }
}

/// A summary that is being made.
struct Told<'a> {
    summary: &'a mut Summary,
    bounds: BTreeMap<BindingId, Arc<BoundSummary>>,
    index: BTreeMap<RunId, usize>,
    started: BTreeMap<RunId, Nanos>,
    /// Names of each run's copies.
    copies: BTreeMap<RunId, Vec<String>>,
    /// Bytes that were read of something, by run and name: logical, stored.
    read: BTreeMap<(RunId, String), CopyBytes>,
}

impl<'a> Told<'a> {
    fn new(summary: &'a mut Summary, header: &Header) -> Self {
        summary.started = Some(header.started);
        summary.program.clone_from(&header.program);
        summary.origin = Some(header.origin);
        let mut told = Self {
            summary,
            bounds: BTreeMap::new(),
            index: BTreeMap::new(),
            started: BTreeMap::new(),
            copies: BTreeMap::new(),
            read: BTreeMap::new(),
        };
        for (name, facts) in &header.facts {
            told.host(name, Some(facts));
        }
        for binding in &header.plan.bindings {
            for host in binding.roles.values() {
                told.host(host, None);
            }
            if !told.summary.methods.contains(&binding.method) {
                told.summary.methods.push(binding.method.clone());
            }
            let bound = BoundSummary {
                binding: binding.id.clone(),
                method: binding.method.clone(),
                host: binding.host().to_owned(),
                roles: binding.roles.clone(),
                subject: binding.subject.clone(),
                settings: binding.settings.clone(),
                labels: binding.labels.clone(),
            };
            told.bounds.insert(binding.id.clone(), Arc::new(bound));
        }
        for planned in &header.plan.runs {
            told.run(&planned.run, Some(&planned.binding)).rep = planned.rep;
        }
        told
    }

    fn rest(&mut self, file: impl Read, later: bool) -> Result<(), String> {
        let mut lines = Lines::new(file);
        let parse = if later { parse_later_line } else { parse_line };
        let mut most = MOST_HEADER;
        loop {
            let line = lines.next(most).map_err(|why| why.to_string())?;
            let at = lines.number;
            most = MOST_LINE;
            match line {
                Line::End => return Ok(()),
                Line::TooLong => return Err(format!("line {at} is too long")),
                Line::Whole | Line::Last => {}
            }
            let glance = glance(&lines.bytes);
            if let Some((t, name)) = glance
                && !TELLING.contains(&name)
            {
                self.summary.length = self.summary.length.max(t);
                continue;
            }
            let event = std::str::from_utf8(&lines.bytes)
                .map_err(|why| why.to_string())
                .and_then(|text| parse(text).map_err(|why| why.to_string()));
            match event {
                Ok(event) => self.event(event),
                // The end of the file tells that it was cut.
                Err(_) if line == Line::Last => return Ok(()),
                Err(why) => return Err(format!("line {at} is broken: {why}")),
            }
        }
    }

    fn event(&mut self, event: Event) {
        self.summary.length = self.summary.length.max(event.t);
        match event.what {
            What::Host(change) => self.host(&change.host, change.facts.as_ref()),
            What::Run(change) => self.change(event.t, change),
            What::Leave(Leave {
                state: LeaveState::Intended(intended),
                ..
            }) if intended.kind == LeaveKind::Copy => {
                let names = self.copies.entry(intended.run).or_default();
                if !names.contains(&intended.name) {
                    names.push(intended.name);
                }
            }
            What::Space(space) => {
                let read = self.read.entry((space.run, space.name)).or_default();
                read.logical = space.logical.or(read.logical);
                read.stored = space.stored.or(read.stored);
            }
            // A figure that the tool told of its archive; what was read on the host goes before.
            What::Sample(sample) if sample.unit == "B" && sample.value >= 0.0 => {
                let read = self.read.entry((sample.run, sample.name)).or_default();
                read.stored = read.stored.or(Some(Bytes(sample.value as u64)));
            }
            What::Proof(proof) if proof.of == "restored" => {
                let run = self.run(&proof.run, None);
                run.subject_bytes = proof.bytes.or(run.subject_bytes);
                if proof.verdict {
                    run.proved += 1;
                } else {
                    run.disproved += 1;
                }
            }
            What::End(end) => self.summary.end = Some(end),
            _ => {}
        }
    }

    fn change(&mut self, t: Nanos, change: RunChange) {
        match change.state {
            RunState::Queued => {
                self.run(&change.run, None);
            }
            RunState::Started {
                binding,
                rep,
                series,
                labels,
                ..
            } => {
                let run = self.run(&change.run, Some(&binding));
                run.rep = rep;
                run.series = series;
                run.labels = labels;
                if run.stage == RunStage::Queued {
                    run.stage = RunStage::Running;
                }
                self.started.insert(change.run, t);
            }
            RunState::Ended { end, cause } => {
                let started = self.started.get(&change.run).copied();
                let run = self.run(&change.run, None);
                run.stage = RunStage::Ended(end, cause);
                run.seconds = started.map(|started| t.since(started).as_secs_f64());
            }
        }
    }

    fn run(&mut self, id: &RunId, binding: Option<&BindingId>) -> &mut RunSummary {
        let runs = &mut self.summary.runs;
        let at = *self.index.entry(id.clone()).or_insert_with(|| {
            runs.push(RunSummary {
                run: id.clone(),
                bound: Arc::default(),
                rep: 0,
                series: String::new(),
                labels: Labels::new(),
                stage: RunStage::Queued,
                seconds: None,
                copies: CopyBytes::default(),
                subject_bytes: None,
                proved: 0,
                disproved: 0,
            });
            runs.len() - 1
        });
        #[expect(
            clippy::indexing_slicing,
            reason = "the index is of this list, which only grows"
        )]
        let run = &mut runs[at];
        if let Some(bound) = binding.and_then(|binding| self.bounds.get(binding)) {
            run.bound = Arc::clone(bound);
        }
        run
    }

    fn host(&mut self, name: &str, facts: Option<&crate::event::Facts>) {
        let hosts = &mut self.summary.hosts;
        if !hosts.iter().any(|host| host.name == name) {
            hosts.push(HostSummary {
                name: name.to_owned(),
                ..HostSummary::default()
            });
        }
        let known = hosts.iter_mut().find(|host| host.name == name);
        if let (Some(host), Some(facts)) = (known, facts) {
            host.system.clone_from(&facts.system);
            host.machine.clone_from(&facts.machine);
        }
    }

    fn finish(self) {
        for run in &mut self.summary.runs {
            let names = self.copies.get(&run.run);
            for name in names.into_iter().flatten() {
                let Some(read) = self.read.get(&(run.run.clone(), name.clone())) else {
                    continue;
                };
                run.copies.logical = sum(run.copies.logical, read.logical);
                run.copies.stored = sum(run.copies.stored, read.stored);
            }
        }
    }
}

fn sum(one: Option<Bytes>, other: Option<Bytes>) -> Option<Bytes> {
    match (one, other) {
        (Some(one), Some(other)) => Some(Bytes(one.0.saturating_add(other.0))),
        (one, other) => one.or(other),
    }
}

/// Time and name of the event in a line that begins as this program writes it. Of any other line
/// nothing is said: it has to be read.
pub(super) fn glance(line: &[u8]) -> Option<(Nanos, &str)> {
    let rest = line.strip_prefix(b"{\"seq\":")?;
    let (_, rest) = number(rest)?;
    let rest = rest.strip_prefix(b",\"t\":")?;
    let (t, rest) = number(rest)?;
    let rest = rest.strip_prefix(b",\"ev\":\"")?;
    let end = memchr::memchr(b'"', rest.get(..rest.len().min(32))?)?;
    Some((Nanos(t), std::str::from_utf8(rest.get(..end)?).ok()?))
}

fn number(text: &[u8]) -> Option<(u64, &[u8])> {
    let digits = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let (digits, rest) = text.split_at_checked(digits)?;
    let number = std::str::from_utf8(digits).ok()?.parse().ok()?;
    Some((number, rest))
}

#[cfg(test)]
mod tests;
