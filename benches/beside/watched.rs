//! The sink of a session that is recorded and watched, as the dashboard has it.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use anyhow::{Context, Result};
use comeback::event::{Event, Nanos, Sink, SinkError, StepState, What};
use comeback::recording::{Reader, Writer};
use comeback::session::Session;

/// Records, folds, and notes when output began and ended.
pub struct Watched {
    inner: Mutex<Inner>,
    session: Mutex<Session>,
    began: Instant,
    path: PathBuf,
}

struct Inner {
    writer: Writer,
    next: u64,
    first: Option<Nanos>,
    last: Nanos,
}

/// What came, and what it cost.
pub struct Came {
    /// From the first step's begin to the last one's end.
    pub seconds: f64,
    /// Lines in the recording.
    pub lines: u64,
    /// Bytes of the log store.
    pub store: usize,
    /// Bytes of the recording.
    pub recording: u64,
    /// Frames a second that were drawn meanwhile.
    pub frames: f64,
}

impl Watched {
    /// With a new recording.
    pub fn create(path: &Path) -> Result<Self> {
        Ok(Self {
            inner: Mutex::new(Inner {
                writer: Writer::create(path)?,
                next: 0,
                first: None,
                last: Nanos::default(),
            }),
            session: Mutex::default(),
            began: Instant::now(),
            path: path.to_owned(),
        })
    }

    /// The session, as it is now.
    pub fn session(&self) -> MutexGuard<'_, Session> {
        locked(&self.session)
    }

    /// Ends the recording, reads it back and counts.
    pub fn came(self, frames: f64) -> Result<Came> {
        let inner = self
            .inner
            .into_inner()
            .unwrap_or_else(PoisonError::into_inner);
        drop(inner.writer);
        let session = self
            .session
            .into_inner()
            .unwrap_or_else(PoisonError::into_inner);
        let mut lines = 0;
        for event in Reader::open(&self.path)? {
            if let What::Log(chunk) = event?.what {
                let bytes = chunk.bytes().context("a chunk cannot be read")?;
                lines += memchr::memchr_iter(b'\n', &bytes).count() as u64;
            }
        }
        let first = inner.first.context("no step was begun")?;
        Ok(Came {
            seconds: (inner.last.0 - first.0) as f64 / 1e9,
            lines,
            store: session.log.bytes(),
            recording: fs::metadata(&self.path)?.len(),
            frames,
        })
    }
}

impl Sink for Watched {
    fn tell(&self, what: What) {
        let mut inner = locked(&self.inner);
        let t = Nanos(u64::try_from(self.began.elapsed().as_nanos()).unwrap_or(u64::MAX));
        if let What::Step(change) = &what {
            match change.state {
                StepState::Planned(_) => {}
                StepState::Started => inner.first = inner.first.or(Some(t)),
                StepState::Ended(_) => inner.last = t,
            }
        }
        let event = Event {
            seq: inner.next,
            t,
            what,
        };
        inner.next += 1;
        inner.writer.write(&event);
        locked(&self.session).apply(&event);
    }

    fn commit(&self) -> Result<(), SinkError> {
        locked(&self.inner).writer.commit()
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
