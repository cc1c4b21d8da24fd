//! A supervised command, followed: its output told, understood, and its end awaited.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::{mpsc, watch};
use tokio::task::JoinHandle;
use tokio::time::{Instant as Tick, sleep_until};
use tokio_util::sync::CancellationToken;

use crate::event::{
    Clock, Gap, HostChange, HostState, Level, Mark, Nanos, Progress, ProgressKind, StepId, Stream,
    What,
};
use crate::host::supervisor::{Heard, Job, Launch, Outcome, StopProof, Supervisor};
use crate::host::{HostError, SharedHost, ask};
use crate::progress::clamp::Clamp;
use crate::progress::lines::Lines;
use crate::progress::{Finding, Reader};

use super::away::Away;
use super::control::Control;
use super::mask::Mask;
use super::output::Batch;
use super::shell::text_of;
use super::teller::{About, Teller};

/// How much standard output is kept for `gives`.
const KEEP: usize = 64 * 1024;
/// How many marks and figures of one command count: a flood of them is no measurement.
const MOST: usize = 1000;
/// How long output may wait to be told.
const BATCH: Duration = Duration::from_millis(16);
/// How often a silent tool's target is looked at.
const LOOK: Duration = Duration::from_secs(2);
/// How long a stopped group may take before it is killed.
pub(super) const PATIENCE: Duration = Duration::from_secs(10);

/// How a command is followed.
pub(super) struct Following {
    pub teller: Teller,
    pub step: StepId,
    /// The host that it runs on.
    pub host: String,
    /// How long that may be away before it counts as gone.
    pub gone_after: Duration,
    pub control: Control,
    /// Secrets that its output must not tell.
    pub secrets: Vec<Vec<u8>>,
    /// The session's begin.
    pub began: Instant,
    pub reader: Option<Box<dyn Reader>>,
    /// Bytes that it is expected to move.
    pub expect: Option<u64>,
    /// Looks at the target of a silent tool.
    pub watch: Option<(SharedHost, String)>,
    /// Interrupt it after so many bytes.
    pub until: Option<u64>,
    /// What it is a part of, where it is a side of a stream.
    pub part_of: Option<PartOf>,
}

/// What the sides of a stream share.
#[derive(Clone, Default)]
pub(super) struct PartOf {
    /// Ends this side.
    pub halt: CancellationToken,
    /// Where the next byte of each of the step's streams goes: all sides write one log.
    pub log: Arc<Mutex<[u64; 2]>>,
    /// Takes the beginning of what this side prints, where that is no output but a talk.
    pub talk: Option<Arc<watch::Sender<Vec<u8>>>>,
}

impl PartOf {
    /// Tells what a side has printed at the place that comes next in the step's log.
    fn place(&self, stream: Stream, bytes: u64, tell: impl FnOnce(u64)) {
        let mut log = self.log.lock().unwrap_or_else(PoisonError::into_inner);
        let [out, err] = &mut *log;
        let next = match stream {
            Stream::Out => out,
            Stream::Err => err,
        };
        tell(*next);
        *next += bytes;
    }

    async fn halted(part_of: Option<&Self>) {
        match part_of {
            Some(part_of) => part_of.halt.cancelled().await,
            None => std::future::pending().await,
        }
    }
}

/// What a command came to.
#[derive(Debug)]
pub(super) struct Followed {
    pub outcome: Outcome,
    /// Standard output, as far as it is kept.
    pub out: Vec<u8>,
    /// Values that its output gave.
    pub values: BTreeMap<&'static str, String>,
    /// Figures that it printed: name, value, unit, resolution.
    pub figures: Vec<(&'static str, f64, &'static str, f64)>,
    /// Marks: name, seconds, resolution.
    pub marks: Vec<(&'static str, f64, f64)>,
    pub cause: Option<String>,
    /// The operator stopped it.
    pub stopped: bool,
    /// It was interrupted as the method says.
    pub interrupted: bool,
    /// Its host is gone, and why: nobody knows what became of the command.
    pub gone: Option<String>,
    /// It was ended with the stream that it was a side of.
    pub halted: bool,
    /// Seconds since the session's begin.
    pub here: (f64, f64),
}

struct Hearing {
    follow: Following,
    masks: (Mask, Mask),
    lines: Lines,
    out: Batch,
    err: Batch,
    clamp: Clamp,
    done: Followed,
    last_error: Option<String>,
    started: Instant,
    moved: u64,
}

/// How often, and how long apart, a command is begun anew that never was.
pub(super) const TRIES: u32 = 8;
const APART: Duration = Duration::from_millis(200);

/// Begins a command and follows it to its end. Where the connection broke before anything was
/// begun, nothing is lost: it is begun anew, under another name.
///
/// # Errors
/// Where nothing could be begun.
pub(super) async fn run(
    supervisor: &Supervisor,
    text: &str,
    launch: &Launch,
    following: impl Fn() -> Following,
) -> Result<Followed, HostError> {
    let mut tries = 0;
    loop {
        let follows = following();
        let (step, control) = (attempt(&follows.step, tries), follows.control.clone());
        let last = tries + 1 >= TRIES || control.is_stopped();
        match supervisor.launch(&step, text, launch.clone()).await {
            Ok(job) => {
                let followed = follow(job, follows).await;
                let over = followed.stopped || followed.gone.is_some();
                if followed.outcome.begun || over || last {
                    return Ok(followed);
                }
            }
            Err(why) if !why.is_transient() || last => return Err(why),
            Err(_) => {}
        }
        again(&mut tries).await;
    }
}

/// The name of a step's folder on the host, at this try.
pub(super) fn attempt(step: &StepId, tries: u32) -> String {
    match tries {
        0 => step.to_string(),
        more => format!("{step}-again{more}"),
    }
}

/// Waits before the next try.
pub(super) async fn again(tries: &mut u32) {
    tokio::time::sleep(APART * 2u32.pow((*tries).min(5))).await;
    *tries += 1;
}

/// Follows a command to its end.
pub(super) async fn follow(mut job: Job, follow: Following) -> Followed {
    let started = Instant::now();
    let at = follow.began.elapsed().as_secs_f64();
    let mut looks = watching(&follow);
    let mut away = Away::new(follow.gone_after);
    let control = follow.control.clone();
    let part_of = follow.part_of.clone();
    let stopper = job.stopper();
    let mut hearing = Hearing {
        masks: (Mask::new(&follow.secrets), Mask::new(&follow.secrets)),
        lines: Lines::default(),
        out: Batch::new(Stream::Out),
        err: Batch::new(Stream::Err),
        clamp: Clamp::new(follow.step.clone()),
        done: Followed {
            outcome: Outcome {
                status: Vec::new(),
                stamps: None,
                resolution: 0.0,
                begun: true,
                lost: true,
                survivors: 0,
            },
            out: Vec::new(),
            values: BTreeMap::new(),
            figures: Vec::new(),
            marks: Vec::new(),
            cause: None,
            stopped: false,
            interrupted: false,
            gone: None,
            halted: false,
            here: (at, at),
        },
        last_error: None,
        started,
        moved: 0,
        follow,
    };
    let mut flush = Tick::now();
    let mut ending: Option<JoinHandle<StopProof>> = None;
    let mut proved: Option<Option<StopProof>> = None;
    let end = || {
        let stopper = stopper.clone();
        Some(tokio::spawn(async move { stopper.stop(PATIENCE).await }))
    };
    loop {
        let waits = !(hearing.out.is_empty() && hearing.err.is_empty());
        tokio::select! {
            heard = job.next() => match heard {
                Some(Heard::Ended(outcome)) => {
                    hearing.done.outcome = outcome;
                    break;
                }
                Some(heard) => {
                    if !waits {
                        flush = Tick::now() + BATCH;
                    }
                    away.hear(&heard);
                    hearing.hear(heard);
                }
                None => break,
            },
            () = sleep_until(flush), if waits => hearing.flush(false),
            () = control.stopped(), if ending.is_none() => {
                hearing.done.stopped = true;
                ending = end();
            }
            () = PartOf::halted(part_of.as_ref()), if ending.is_none() => {
                hearing.done.halted = true;
                ending = end();
            }
            Some(bytes) = looks.recv() => hearing.looked(bytes),
            why = away.for_good() => {
                hearing.done.gone = Some(why);
                break;
            }
            // A host that is not reached any more is not waited for.
            proof = proof_of(&mut ending), if proved.is_none() => {
                let gone = proof.as_ref().is_some_and(|proof| proof.gone);
                proved = Some(proof);
                if !gone {
                    break;
                }
            }
        }
        if ending.is_none()
            && hearing
                .follow
                .until
                .is_some_and(|until| hearing.moved >= until)
        {
            hearing.done.interrupted = true;
            ending = end();
        }
    }
    match (proved, ending) {
        (Some(proof), _) => hearing.proved(proof),
        (None, Some(ending)) => {
            let proof = ending.await.ok();
            hearing.proved(proof);
        }
        (None, None) => {}
    }
    hearing.finish()
}

/// What came of a stop, once one was asked for.
pub(super) async fn proof_of(ending: &mut Option<JoinHandle<StopProof>>) -> Option<StopProof> {
    match ending {
        Some(ending) => ending.await.ok(),
        None => std::future::pending().await,
    }
}

/// Looks at a silent tool's target, until nobody listens any more.
fn watching(follow: &Following) -> mpsc::Receiver<u64> {
    let (tell, looks) = mpsc::channel(1);
    if let Some((host, script)) = follow.watch.clone() {
        tokio::spawn(async move {
            loop {
                tokio::time::sleep(LOOK).await;
                let Ok(answer) = ask(host.as_ref(), &script, b"", 4096, LOOK * 5).await else {
                    continue;
                };
                if let Ok(bytes) = text_of(&answer.out).trim().parse()
                    && tell.send(bytes).await.is_err()
                {
                    return;
                }
                if tell.is_closed() {
                    return;
                }
            }
        });
    }
    looks
}

impl Hearing {
    // A status says that the command has ended; not that everything has that it started.
    fn proved(&self, proof: Option<StopProof>) {
        let Some(proof) = proof else { return };
        if !proof.gone {
            let left = if proof.left.is_empty() {
                "nobody knows what is left of it".to_owned()
            } else {
                format!("still there: {}", proof.left.join(", "))
            };
            self.note(Level::Error, format!("the command was stopped; {left}"));
        }
    }

    fn hear(&mut self, heard: Heard) {
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

    fn flush(&mut self, end: bool) {
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

    fn looked(&mut self, bytes: u64) {
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

    fn finish(mut self) -> Followed {
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
