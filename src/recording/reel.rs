//! A recording that can be seen at any of its moments: read once, in the background.

mod filler;

use std::fmt;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

use self::filler::Filler;
use super::chapters::Chapter;
use super::idle::Idle;
use super::load::Warning;
use super::reader::{ReadError, Reader, Spot};
use super::source::{At, Source};
use crate::event::Nanos;
use crate::session::{MOST_BYTES, Session};

/// Events between two checkpoints: so many are folded anew at most to see a moment.
const SPACING: usize = 2048;
/// Bytes that all checkpoints together may take; where they would take more, there are fewer.
const BUDGET: usize = 256 << 20;
/// What a checkpoint takes beside the lines of its logs: what changed since the one before.
const LIGHT: usize = 64 << 10;
/// Bytes at the end of a file that its last event is looked for in.
const TAIL: u64 = 2 << 20;

/// A recording, and what is known of it so far.
pub struct Reel {
    source: Source,
    name: String,
    later: bool,
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

struct Shared {
    known: Mutex<Known>,
    stop: AtomicBool,
}

/// What was found out so far.
struct Known {
    /// When each event is due; never falls, also where stamps do.
    due: Vec<Nanos>,
    checkpoints: Vec<Checkpoint>,
    spacing: usize,
    /// When the last event is due, as far as the end of the file tells.
    length: Nanos,
    chapters: Arc<[Chapter]>,
    idle: Arc<Vec<Idle>>,
    warnings: Vec<Warning>,
    reading: Reading,
}

/// Whether all of a recording is known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reading {
    /// It is being read; so much of it was, in percent.
    GoesOn(u8),
    /// It was read to its end.
    Done,
    /// What comes then cannot be read, and why.
    Broken(String),
}

/// The session after so many events, and where the next one stands.
#[derive(Clone)]
struct Checkpoint {
    events: usize,
    spot: Spot,
    session: Session,
}

impl Reel {
    /// Opens a recording and begins to read it. Its header is read before this returns.
    ///
    /// # Errors
    /// Where it cannot be read, or does not begin with the header of a known version.
    pub fn open(path: &Path) -> Result<Self, ReadError> {
        let name = path.display().to_string();
        let source = Source::open(path).map_err(|why| ReadError::Io {
            file: name.clone(),
            why: why.to_string(),
        })?;
        let (mut reel, filler) = Self::of(&name, source)?;
        let thread = std::thread::Builder::new()
            .name("reading".to_owned())
            .spawn(move || filler.fill())
            .map_err(|why| ReadError::Io {
                file: name,
                why: why.to_string(),
            })?;
        reel.thread = Some(thread);
        Ok(reel)
    }

    fn of(name: &str, source: Source) -> Result<(Self, Filler), ReadError> {
        let reader = Reader::new(name, source.at(0))?;
        let later = reader.is_later();
        let length = last_moment(&source);
        let shared = Arc::new(Shared {
            known: Mutex::new(Known {
                due: Vec::new(),
                checkpoints: Vec::new(),
                spacing: SPACING,
                length,
                chapters: Arc::default(),
                idle: Arc::default(),
                warnings: Vec::new(),
                reading: Reading::GoesOn(0),
            }),
            stop: AtomicBool::new(false),
        });
        let filler = Filler::new(reader, source.size(), Arc::clone(&shared));
        let reel = Self {
            source,
            name: name.to_owned(),
            later,
            shared,
            thread: None,
        };
        Ok((reel, filler))
    }

    /// Whether all of it is known.
    #[must_use]
    pub fn reading(&self) -> Reading {
        self.shared.lock().reading.clone()
    }

    /// When its last event is due, as far as is known.
    #[must_use]
    pub fn length(&self) -> Nanos {
        self.shared.lock().length()
    }

    /// Moments to go to, as far as is known.
    #[must_use]
    pub fn chapters(&self) -> Arc<[Chapter]> {
        Arc::clone(&self.shared.lock().chapters)
    }

    /// Long times in which nothing happened, as far as is known.
    #[must_use]
    pub fn idle(&self) -> Arc<Vec<Idle>> {
        Arc::clone(&self.shared.lock().idle)
    }

    /// What is odd about it, once all of it is known.
    #[must_use]
    pub fn warnings(&self) -> Vec<Warning> {
        self.shared.lock().warnings.clone()
    }

    /// Events that are due at a moment, of those that are known.
    #[must_use]
    pub fn due_at(&self, at: Nanos) -> usize {
        self.shared.lock().due.partition_point(|due| *due <= at)
    }

    /// When event `at` is due, from 0; absent where there is none, or none is known yet.
    #[must_use]
    pub fn due(&self, at: usize) -> Option<Nanos> {
        self.shared.lock().due.get(at).copied()
    }

    /// The first moment after this one at which something happened.
    #[must_use]
    pub fn moment_after(&self, at: Nanos) -> Option<Nanos> {
        let known = self.shared.lock();
        let next = known.due.partition_point(|due| *due <= at);
        known.due.get(next).copied()
    }

    /// The last moment before this one at which something happened.
    #[must_use]
    pub fn moment_before(&self, at: Nanos) -> Option<Nanos> {
        let known = self.shared.lock();
        let next = known.due.partition_point(|due| *due < at);
        known.due.get(next.checked_sub(1)?).copied()
    }

    /// The session after the first `events` events, and a reader of those that follow.
    ///
    /// # Errors
    /// Where the file is not any more what it was.
    pub fn seen(&self, events: usize) -> Result<(Session, Events), ReadError> {
        let checkpoint = self.shared.lock().before(events).cloned();
        let (mut session, mut ahead) = match checkpoint {
            Some(checkpoint) => (
                checkpoint.session,
                Events {
                    reader: Reader::resume(&self.name, &self.source, checkpoint.spot, self.later),
                    behind: checkpoint.events,
                },
            ),
            None => (
                Session::default(),
                Events {
                    reader: Reader::new(&self.name, self.source.at(0))?,
                    behind: 0,
                },
            ),
        };
        while ahead.behind < events {
            let Some(event) = ahead.next() else { break };
            session.apply(&event?);
        }
        Ok((session, ahead))
    }

    /// Whether a checkpoint between these two would save much of the way.
    pub(super) fn is_far(&self, from: usize, to: usize) -> bool {
        to > from.saturating_add(SPACING)
            && self
                .shared
                .lock()
                .before(to)
                .is_some_and(|checkpoint| checkpoint.events > from + SPACING / 2)
    }

    /// Waits until all of it is known.
    pub fn wait(&mut self) {
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

impl Drop for Reel {
    fn drop(&mut self) {
        self.shared.stop.store(true, Ordering::Relaxed);
    }
}

impl fmt::Debug for Reel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reel")
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}

/// Events of a recording from one of them on.
#[derive(Debug)]
pub struct Events {
    reader: Reader<At>,
    /// How many were before the next one.
    pub(super) behind: usize,
}

impl Iterator for Events {
    type Item = Result<crate::event::Event, ReadError>;

    fn next(&mut self) -> Option<Self::Item> {
        let next = self.reader.next();
        self.behind += usize::from(matches!(next, Some(Ok(_))));
        next
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Known {
    fn length(&self) -> Nanos {
        let last = self.due.last().copied().unwrap_or_default();
        match self.reading {
            Reading::GoesOn(_) => last.max(self.length),
            Reading::Done | Reading::Broken(_) => last,
        }
    }

    fn before(&self, events: usize) -> Option<&Checkpoint> {
        let next = self
            .checkpoints
            .partition_point(|checkpoint| checkpoint.events <= events);
        self.checkpoints.get(next.checked_sub(1)?)
    }

    fn keep(&mut self, checkpoint: Checkpoint) {
        self.checkpoints.push(checkpoint);
        while self.cost() > BUDGET && self.checkpoints.len() > 2 {
            let mut at = 0;
            self.checkpoints.retain(|_| {
                at += 1;
                at % 2 == 0
            });
            self.spacing *= 2;
        }
    }

    /// What all checkpoints keep: those that follow one another share most of their lines.
    fn cost(&self) -> usize {
        let mut before = 0;
        let mut all = 0;
        for checkpoint in &self.checkpoints {
            let taken = checkpoint.session.log.taken();
            all += (taken - before).min(MOST_BYTES) + LIGHT;
            before = taken;
        }
        all
    }
}

/// When the last event happened, as the end of the file tells; 0 where it does not.
fn last_moment(source: &Source) -> Nanos {
    use std::io::Read as _;

    let from = source.size().saturating_sub(TAIL);
    let mut tail = Vec::new();
    if source.at(from).take(TAIL).read_to_end(&mut tail).is_err() {
        return Nanos(0);
    }
    let moments = tail.rsplit(|byte| *byte == b'\n').take(3);
    moments
        .filter_map(|line| Some(super::summary::glance(line)?.0))
        .max()
        .unwrap_or_default()
}

#[cfg(test)]
pub(super) mod tests;
