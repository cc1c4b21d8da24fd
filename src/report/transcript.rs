//! A whole log as a file of its own, out of the recording: also what a screen keeps no more.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use chrono::{DateTime, FixedOffset, Utc};

use crate::event::{
    Event, Header, LogChunk, Nanos, PlannedCommand, RunId, RunState, StepId, StepState, Stream,
    What,
};
use crate::recording::{Reader, subject_around};
use crate::session::{Lines, clean};

use super::{Stamped, Stamps};

/// A longer line is cut.
const MOST: usize = 1 << 20;

/// What is written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wanted {
    /// The run.
    pub run: RunId,
    /// One of its steps; all where there is none.
    pub step: Option<StepId>,
    /// What stands in front of lines.
    pub stamps: Stamps,
    /// The zone of times of day.
    pub zone: FixedOffset,
}

/// A file that was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Saved {
    /// Where it is, in full.
    pub path: PathBuf,
    /// Lines in it.
    pub lines: u64,
}

/// Writes the log of a run or a step, out of a recording, into the first of these folders that
/// takes a file and stands in no subject that the recording's plan names on this machine: a
/// subject is only read. No file is overwritten.
///
/// Control sequences are left out: what a host prints acts on no terminal, also not when the file
/// is looked at. A line that was rewritten stands there once, as it was last. Lines of steps that
/// went on together stand in the order in which they were complete.
///
/// # Errors
/// Where the recording cannot be read, or no folder takes a file.
pub fn save(recording: &Path, wanted: &Wanted, folders: &[PathBuf]) -> Result<Saved, String> {
    let reader = Reader::open(recording).map_err(|why| why.to_string())?;
    let mut page: Option<Page> = None;
    let saved = write(reader, wanted, folders, &mut page);
    if let (Err(_), Some(page)) = (&saved, &page) {
        // Half a log would be taken for a whole one.
        let _ = std::fs::remove_file(&page.path);
    }
    saved
}

fn write(
    reader: Reader<File>,
    wanted: &Wanted,
    folders: &[PathBuf],
    page: &mut Option<Page>,
) -> Result<Saved, String> {
    let mut head = Head::default();
    for event in reader {
        let event = event.map_err(|why| why.to_string())?;
        head.hear(&event, wanted);
        if head.is_wanted(&event, wanted) {
            if page.is_none() {
                *page = Some(Page::create(&head, wanted, folders)?);
            }
            if let Some(page) = page {
                page.hear(&head, &event).map_err(|why| page.failed(&why))?;
            }
        }
    }
    let Some(page) = page else {
        return Err("the recording has no output of it yet".to_owned());
    };
    page.finish(&head)?;
    Ok(Saved {
        path: page.path.clone(),
        lines: page.lines,
    })
}

/// What is known of the steps so far.
#[derive(Default)]
struct Head {
    header: Option<Header>,
    method: String,
    rep: u32,
    steps: BTreeMap<StepId, Begun>,
}

struct Begun {
    planned: PlannedCommand,
    at: Option<Nanos>,
}

impl Head {
    fn hear(&mut self, event: &Event, wanted: &Wanted) {
        match &event.what {
            What::Header(header) => self.header = Some((**header).clone()),
            What::Run(change) if change.run == wanted.run => {
                if let RunState::Started { binding, rep, .. } = &change.state {
                    self.rep = *rep;
                    let plan = self.header.as_ref().map(|header| &header.plan);
                    let bindings = plan.map_or(&[][..], |plan| &plan.bindings);
                    let known = bindings.iter().find(|known| known.id == *binding);
                    self.method = known.map_or_else(String::new, |known| known.method.clone());
                }
            }
            What::Step(change) => match &change.state {
                StepState::Planned(planned) if planned.run == wanted.run => {
                    let (planned, at) = (planned.clone(), None);
                    self.steps
                        .insert(change.step.clone(), Begun { planned, at });
                }
                StepState::Started => {
                    if let Some(step) = self.steps.get_mut(&change.step) {
                        step.at = Some(event.t);
                    }
                }
                _ => {}
            },
            _ => {}
        }
    }

    fn start(&self) -> Option<DateTime<Utc>> {
        self.header.as_ref().map(|header| header.started)
    }

    /// Whether an event is written down.
    fn is_wanted(&self, event: &Event, wanted: &Wanted) -> bool {
        let step = match &event.what {
            What::Log(chunk) => &chunk.step,
            What::Gap(gap) => &gap.step,
            What::Step(change) if matches!(change.state, StepState::Started) => &change.step,
            _ => return false,
        };
        let is_meant = wanted.step.as_ref().is_none_or(|meant| meant == step);
        is_meant && self.steps.contains_key(step)
    }

    /// A name that tells session, run and step.
    fn name(&self, wanted: &Wanted) -> String {
        let session = self
            .header
            .as_ref()
            .map_or("", |header| header.session.as_str());
        let step = wanted.step.as_ref().and_then(|step| self.steps.get(step));
        let rep = self.rep.to_string();
        let parts = [
            session,
            &self.method,
            &rep,
            step.map_or("", |step| &step.planned.name),
        ];
        let parts: Vec<String> = parts
            .iter()
            .map(|part| plain(part))
            .filter(|part| !part.is_empty())
            .collect();
        parts.join("-")
    }
}

/// What every file system takes, and no shell minds.
fn plain(text: &str) -> String {
    let harmless = |c: char| {
        if c.is_ascii_alphanumeric() || c == '.' || c == '_' {
            c
        } else {
            '-'
        }
    };
    let all: String = text.chars().take(60).map(harmless).collect();
    let parts: Vec<&str> = all.split('-').filter(|part| !part.is_empty()).collect();
    parts.join("-").trim_start_matches('.').to_owned()
}

/// The file.
struct Page {
    path: PathBuf,
    out: BufWriter<File>,
    stamps: Stamps,
    zone: FixedOffset,
    lines: u64,
    streams: BTreeMap<(StepId, Stream), Lines>,
    /// When the last line of each step came.
    last: BTreeMap<StepId, Nanos>,
    /// The step whose lines were written last.
    step: Option<StepId>,
}

impl Page {
    fn create(head: &Head, wanted: &Wanted, folders: &[PathBuf]) -> Result<Self, String> {
        let name = head.name(wanted);
        let mut whys = Vec::new();
        let plan = head.header.as_ref().map(|header| &header.plan);
        let bindings = plan.map_or(&[][..], |plan| &plan.bindings);
        for folder in folders {
            if let Some(subject) = subject_around(folder, bindings) {
                whys.push(format!(
                    "{} stands in the subject {}, which is only read",
                    folder.display(),
                    clean(&subject.id)
                ));
                continue;
            }
            match create(folder, &name) {
                Ok((path, file)) => {
                    let mut page = Self {
                        path,
                        out: BufWriter::new(file),
                        stamps: wanted.stamps,
                        zone: wanted.zone,
                        lines: 0,
                        streams: BTreeMap::new(),
                        last: BTreeMap::new(),
                        step: None,
                    };
                    page.begin(head).map_err(|why| page.failed(&why))?;
                    return Ok(page);
                }
                Err(why) => whys.push(format!("{}: {why}", folder.display())),
            }
        }
        Err(whys.join("; "))
    }

    fn failed(&self, why: &io::Error) -> String {
        format!("{}: {why}", self.path.display())
    }

    fn begin(&mut self, head: &Head) -> io::Result<()> {
        let session = head
            .header
            .as_ref()
            .map_or("", |header| header.session.as_str());
        let method = clean(&head.method);
        self.put(&format!(
            "# {}, {method}, repetition {}",
            clean(session),
            head.rep
        ))?;
        self.put(
            "# control sequences are left out; a line that was rewritten stands as it was last",
        )
    }

    /// One line.
    fn put(&mut self, line: &str) -> io::Result<()> {
        self.lines += 1;
        writeln!(self.out, "{line}")
    }

    fn hear(&mut self, head: &Head, event: &Event) -> io::Result<()> {
        match &event.what {
            What::Log(chunk) => self.chunk(head, event.t, chunk),
            What::Gap(gap) => {
                let says = gap.bytes.map_or_else(
                    || "[some output is not here]".to_owned(),
                    |bytes| format!("[{} of output are not here]", crate::event::Bytes(bytes)),
                );
                self.lines(head, &gap.step, vec![(event.t, says)])
            }
            What::Step(change) => self.of_step(head, &change.step),
            _ => Ok(()),
        }
    }

    fn chunk(&mut self, head: &Head, t: Nanos, chunk: &LogChunk) -> io::Result<()> {
        let key = (chunk.step.clone(), chunk.stream);
        let lines = self.streams.entry(key);
        let lines = lines.or_insert_with(|| Lines::with_most(MOST));
        let mut whole = Vec::new();
        match chunk.bytes() {
            Some(bytes) => lines.feed(t, &bytes, &mut |at, line| whole.push((at, line.to_owned()))),
            None => whole.push((t, "[output that cannot be decoded]".to_owned())),
        }
        self.lines(head, &chunk.step, whole)
    }

    fn lines(&mut self, head: &Head, step: &StepId, lines: Vec<(Nanos, String)>) -> io::Result<()> {
        if lines.is_empty() {
            return Ok(());
        }
        self.of_step(head, step)?;
        let began = head.steps.get(step).and_then(|step| step.at);
        for (came, line) in lines {
            let stamped = Stamped {
                came,
                last: self.last.insert(step.clone(), came),
                began: began.unwrap_or_default(),
                start: head.start(),
            };
            let stamp = self.stamps.of(stamped, self.zone);
            let gap = if stamp.is_empty() { "" } else { "  " };
            self.put(&format!("{stamp}{gap}{line}"))?;
        }
        Ok(())
    }

    /// A heading, where the lines that come are another step's.
    fn of_step(&mut self, head: &Head, id: &StepId) -> io::Result<()> {
        let Some(step) = head
            .steps
            .get(id)
            .filter(|_| self.step.as_ref() != Some(id))
        else {
            return Ok(());
        };
        let (name, host) = (clean(&step.planned.name), clean(&step.planned.host));
        let began = step.at.map_or_else(String::new, |came| {
            let stamped = Stamped {
                came,
                start: head.start(),
                ..Stamped::default()
            };
            format!(", began {}", Stamps::OfDay.of(stamped, self.zone).trim())
        });
        self.put("")?;
        self.put(&format!("# {name} on {host}{began}"))?;
        for line in step.planned.command.trim_end().lines() {
            self.put(&format!("# $ {}", clean(line)))?;
        }
        self.step = Some(id.clone());
        Ok(())
    }

    fn finish(&mut self, head: &Head) -> Result<(), String> {
        // Lines that were still being written.
        for ((step, _), mut lines) in std::mem::take(&mut self.streams) {
            let mut last = Vec::new();
            lines.close(&mut |at, line| last.push((at, line.to_owned())));
            self.lines(head, &step, last)
                .map_err(|why| self.failed(&why))?;
        }
        let flushed = self.out.flush();
        flushed.map_err(|why| self.failed(&why))
    }
}

/// A new file in a folder: `NAME.log`, or `NAME-2.log` where that is there.
fn create(folder: &Path, name: &str) -> io::Result<(PathBuf, File)> {
    std::fs::create_dir_all(folder)?;
    let folder = folder.canonicalize()?;
    for n in 1.. {
        let file = if n == 1 {
            format!("{name}.log")
        } else {
            format!("{name}-{n}.log")
        };
        let path = folder.join(file);
        let mut new = OpenOptions::new();
        // What a host prints may be for its owner alone, as the recording is.
        new.write(true).create_new(true).mode(0o600);
        match new.open(&path) {
            Ok(file) => return Ok((path, file)),
            Err(why) if why.kind() == io::ErrorKind::AlreadyExists => {}
            Err(why) => return Err(why),
        }
    }
    Err(io::Error::from(io::ErrorKind::AlreadyExists))
}

#[cfg(test)]
mod tests;
