//! What a command says, understood and told: output, progress, marks, figures, the cause of a
//! failure.

use std::time::Instant;

use crate::event::{
    Clock, Gap, HostChange, HostState, Level, Mark, Nanos, Progress, ProgressKind, Stream, What,
};
use crate::host::supervisor::{Heard, StopProof};
use crate::progress::Finding;
use crate::progress::clamp::Clamp;
use crate::progress::lines::Lines;

use super::command::{Ending, Followed, Following};
use super::mask::Mask;
use super::output::Batch;
use super::teller::About;

/// How much standard output is kept for `gives`.
const KEEP: usize = 64 * 1024;
/// How many marks and figures of one command count: a flood of them is no measurement.
const MOST: usize = 1000;

/// A command that is listened to.
pub(super) struct Hearing {
    pub follow: Following,
    masks: (Mask, Mask),
    lines: Lines,
    pub out: Batch,
    pub err: Batch,
    clamp: Clamp,
    pub done: Followed,
    last_error: Option<String>,
    started: Instant,
    pub moved: u64,
}

impl Hearing {
    /// `at` is when it began, in seconds since the session's begin.
    pub fn new(follow: Following, at: f64, started: Instant) -> Self {
        Self {
            masks: (Mask::new(&follow.secrets), Mask::new(&follow.secrets)),
            lines: Lines::default(),
            out: Batch::new(Stream::Out),
            err: Batch::new(Stream::Err),
            clamp: Clamp::new(follow.step.clone()),
            done: Followed::nothing(at),
            last_error: None,
            started,
            moved: 0,
            follow,
        }
    }

    // A status says that the command has ended; not that everything has that it started.
    pub fn proved(&self, proof: Option<StopProof>) {
        let Some(proof) = proof else { return };
        // Of a task it is the node that says so.
        if !proof.gone && self.follow.ending == Ending::Kill {
            let left = if proof.left.is_empty() {
                "nobody knows what is left of it".to_owned()
            } else {
                format!("still there: {}", proof.left.join(", "))
            };
            self.note(Level::Error, format!("the command was stopped; {left}"));
        }
    }

    pub fn hear(&mut self, heard: Heard) {
        match heard {
            Heard::Output {
                stream,
                offset,
                bytes,
            } => {
                let mask = if stream == Stream::Out {
                    &mut self.masks.0
                } else {
                    &mut self.masks.1
                };
                let (offset, bytes) = mask.take(offset, &bytes);
                self.output(stream, offset, &bytes);
            }
            Heard::Gap {
                stream,
                offset,
                bytes,
            } => {
                self.unmask();
                self.flush(true);
                self.gap(stream, offset, bytes);
            }
            // We cut it ourselves.
            Heard::LinkLost { .. } if self.done.halted || self.is_stopped_side() => {}
            Heard::LinkLost { why } => {
                // Of a stream it is the end, and told as such.
                if self.follow.part_of.is_none() {
                    self.note(
                        Level::Warning,
                        "the connection was lost; the command goes on, and is followed again"
                            .to_owned(),
                    );
                }
                self.link(HostState::Connecting, Some(why));
            }
            Heard::LinkBack => self.link(HostState::Up, None),
            Heard::Ended(_) => {}
        }
    }

    fn is_stopped_side(&self) -> bool {
        self.follow.part_of.is_some() && self.done.stopped
    }

    fn gap(&self, stream: Stream, offset: u64, bytes: Option<u64>) {
        let tell = |offset| {
            self.follow.teller.tell(What::Gap(Gap {
                step: self.follow.step.clone(),
                stream,
                offset,
                bytes,
            }));
        };
        match &self.follow.part_of {
            Some(part_of) => part_of.place(stream, bytes.unwrap_or(0), tell),
            None => tell(offset),
        }
    }

    fn link(&self, state: HostState, reason: Option<String>) {
        self.follow.teller.tell(What::Host(Box::new(HostChange {
            host: self.follow.host.clone(),
            state,
            phase: None,
            reason,
            facts: None,
        })));
    }

    fn output(&mut self, stream: Stream, offset: u64, bytes: &[u8]) {
        if bytes.is_empty() {
            return;
        }
        let part_of = self.follow.part_of.as_ref();
        if let (Stream::Out, Some(talk)) = (stream, part_of.and_then(|part| part.talk.as_ref())) {
            let room = KEEP.saturating_sub(talk.borrow().len());
            talk.send_modify(|said| said.extend(bytes.iter().take(room)));
            return;
        }
        let batch = match stream {
            Stream::Out => &mut self.out,
            Stream::Err => &mut self.err,
        };
        batch.push(offset, bytes);
        let full = batch.is_full();
        if stream == Stream::Out {
            let room = KEEP.saturating_sub(self.done.out.len());
            self.done.out.extend(bytes.iter().take(room));
        }
        let mut found = Vec::new();
        let (reader, last) = (&mut self.follow.reader, &mut self.last_error);
        self.lines.feed(stream, bytes, |line| {
            if stream == Stream::Err && !line.text.trim().is_empty() {
                *last = Some(line.text.trim().to_owned());
            }
            if let Some(reader) = reader {
                reader.line(line, &mut found);
            }
        });
        self.found(found);
        if full {
            self.flush(false);
        }
    }

    pub fn flush(&mut self, end: bool) {
        let step = &self.follow.step;
        let chunks = self
            .out
            .take(step, end)
            .into_iter()
            .chain(self.err.take(step, end));
        for mut chunk in chunks {
            let Some(part_of) = &self.follow.part_of else {
                self.follow.teller.tell(What::Log(chunk));
                continue;
            };
            let bytes = chunk.bytes().map_or(0, |bytes| bytes.len() as u64);
            part_of.place(chunk.stream, bytes, |offset| {
                chunk.offset = offset;
                self.follow.teller.tell(What::Log(chunk));
            });
        }
    }

    fn note(&self, level: Level, text: String) {
        let about = About {
            step: Some(&self.follow.step),
            ..About::default()
        };
        self.follow.teller.note(level, text, about);
    }

    fn found(&mut self, found: Vec<Finding>) {
        for finding in found {
            match finding {
                Finding::Progress { .. } => self.progress(&finding),
                Finding::Mark { name, at } => {
                    let told = at.is_some();
                    let seconds = at.unwrap_or_else(|| self.started.elapsed().as_secs_f64());
                    let resolution = if told { 1.0 } else { 0.1 };
                    if self.done.marks.len() >= MOST {
                        continue;
                    }
                    self.done.marks.push((name, seconds, resolution));
                    self.follow.teller.tell(What::Mark(Mark {
                        step: self.follow.step.clone(),
                        name: name.to_owned(),
                        at: seconds,
                        clock: if told { Clock::Log } else { Clock::Here },
                        resolution,
                    }));
                }
                Finding::Value { name, value } => {
                    self.done.values.insert(name, value);
                }
                Finding::Figure {
                    name,
                    value,
                    unit,
                    resolution,
                } => {
                    if self.done.figures.len() < MOST {
                        self.done.figures.push((name, value, unit, resolution));
                    }
                }
                Finding::Says(text) => self.clamp.says(text),
                Finding::Warning(text) => self.note(Level::Warning, text),
                Finding::Cause(text) => {
                    self.done.cause.get_or_insert(text);
                }
            }
        }
    }

    fn progress(&mut self, finding: &Finding) {
        let Finding::Progress {
            kind,
            done,
            total,
            percent,
        } = finding
        else {
            return;
        };
        // A stream is counted where it goes through.
        if self.follow.part_of.is_some() {
            return;
        }
        if let Some(done) = done {
            self.moved = self.moved.max(*done);
        }
        // A tool that tells no total is measured against what is expected.
        let expected = Finding::Progress {
            kind: if total.is_none() && percent.is_none() && self.follow.expect.is_some() {
                ProgressKind::Estimated
            } else {
                *kind
            },
            done: *done,
            total: total.or(self.follow.expect),
            percent: *percent,
        };
        let now = Nanos(u64::try_from(self.started.elapsed().as_nanos()).unwrap_or(u64::MAX));
        if let Some(progress) = self.clamp.take(now, &expected) {
            self.tell_progress(progress);
        }
    }

    fn tell_progress(&self, progress: Progress) {
        self.follow.teller.tell(What::Progress(progress));
    }

    pub fn looked(&mut self, bytes: u64) {
        let finding = Finding::Progress {
            kind: ProgressKind::Unknown,
            done: Some(bytes),
            total: None,
            percent: None,
        };
        self.progress(&finding);
    }

    fn unmask(&mut self) {
        let (offset, bytes) = self.masks.0.finish();
        self.output(Stream::Out, offset, &bytes);
        let (offset, bytes) = self.masks.1.finish();
        self.output(Stream::Err, offset, &bytes);
    }

    pub fn finish(mut self) -> Followed {
        self.unmask();
        let mut found = Vec::new();
        let (reader, last) = (&mut self.follow.reader, &mut self.last_error);
        self.lines.finish(|line| {
            if line.stream == Stream::Err && !line.text.trim().is_empty() {
                *last = Some(line.text.trim().to_owned());
            }
            if let Some(reader) = reader {
                reader.line(line, &mut found);
            }
        });
        if let Some(reader) = &mut self.follow.reader {
            reader.finish(&mut found);
        }
        self.found(found);
        self.flush(true);
        if self.done.outcome.survivors > 0 {
            let many = self.done.outcome.survivors;
            self.note(
                Level::Warning,
                format!("{many} processes of the command went on after its end, and were ended"),
            );
        }
        self.done.here.1 = self.follow.began.elapsed().as_secs_f64();
        // Weak, but better than a number: the last thing that was complained of.
        self.done.cause = self.done.cause.take().or(self.last_error.take());
        self.done
    }
}
