//! Where a live session's events go: into the recording first, then into the fold.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use tokio::sync::watch;

use crate::event::{Event, Nanos, Sink, SinkError, What, to_line};
use crate::recording::Writer;
use crate::session::{Session, Stake};

use super::output;

/// A sink that records, folds, and wakes whoever draws.
pub(super) struct Live {
    writer: Writer,
    /// Number of the next event: held while it is written and folded, so that both keep the order.
    next: Mutex<u64>,
    events: bool,
    session: Arc<Mutex<Session>>,
    pulse: watch::Sender<u64>,
    began: Instant,
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // A fold that panicked elsewhere is still the best that is known.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Live {
    /// With `events`, the recording's lines are data on standard output as they happen.
    pub fn new(writer: Writer, session: Arc<Mutex<Session>>, events: bool) -> Self {
        Self {
            writer,
            next: Mutex::new(0),
            events,
            session,
            pulse: watch::Sender::new(0),
            began: Instant::now(),
        }
    }

    /// Sees to it that a reader of the recording finds all that has happened.
    pub fn flush(&self) {
        self.writer.flush();
    }

    /// What a stop would cost now.
    pub fn stake(&self) -> Stake {
        locked(&self.session).stake()
    }

    /// Changes whenever something happened.
    pub fn pulse(&self) -> watch::Receiver<u64> {
        self.pulse.subscribe()
    }
}

impl Sink for Live {
    fn tell(&self, what: What) {
        let mut next = locked(&self.next);
        // A question from before belongs to no session.
        if *next == 0 && matches!(what, What::Ask(_)) {
            return;
        }
        let t = u64::try_from(self.began.elapsed().as_nanos()).unwrap_or(u64::MAX);
        let event = Event {
            seq: *next,
            t: Nanos(t),
            what,
        };
        *next += 1;
        self.writer.write(&event);
        if self.events
            && let Ok(line) = to_line(&event)
        {
            let _ = output::data(&format!("{line}\n"));
        }
        locked(&self.session).apply(&event);
        self.pulse.send_modify(|count| *count += 1);
    }

    fn commit(&self) -> Result<(), SinkError> {
        self.writer.commit()
    }
}
