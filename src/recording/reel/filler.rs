//! Reads a recording to its end, and tells what it finds on the way.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use super::super::chapters::chapters;
use super::super::idle::{self, Idle};
use super::super::load::Warning;
use super::super::reader::Reader;
use super::super::source::At;
use super::{Checkpoint, Reading, Shared};
use crate::event::{Nanos, What};
use crate::session::Session;

/// Events after which others may see what was read.
const TELL: usize = 512;
/// Reads all of a recording, once.
pub(super) struct Filler {
    size: u64,
    reader: Reader<At>,
    shared: Arc<Shared>,
    session: Session,
    /// Of the events since others were told last.
    due: Vec<Nanos>,
    latest: Nanos,
    /// When something happened last.
    happened: Nanos,
    idle: Vec<Idle>,
    events: usize,
    /// Events when the chapters were told last.
    told: usize,
}

impl Filler {
    pub fn new(reader: Reader<At>, size: u64, shared: Arc<Shared>) -> Self {
        Self {
            size,
            reader,
            shared,
            session: Session::default(),
            due: Vec::new(),
            latest: Nanos(0),
            happened: Nanos(0),
            idle: Vec::new(),
            events: 0,
            told: 0,
        }
    }

    /// Reads, until nobody wants to know any more.
    pub fn fill(mut self) {
        let mut last = 0;
        let ended = loop {
            if self.shared.stop.load(Ordering::Relaxed) {
                return;
            }
            match self.reader.next() {
                Some(Ok(event)) => {
                    let due = self.latest.max(event.t);
                    // How full a pool is comes again and again, whatever happens.
                    if !matches!(event.what, What::Pool(_)) {
                        if self.events > 0 {
                            idle::add(&mut self.idle, self.happened, due);
                        }
                        self.happened = due;
                    }
                    self.latest = due;
                    self.due.push(due);
                    self.session.apply(&event);
                    self.events += 1;
                }
                Some(Err(why)) => break Reading::Broken(why.to_string()),
                None => break Reading::Done,
            }
            if self.events.is_multiple_of(TELL) {
                let spacing = self.tell(None);
                if self.events >= last + spacing {
                    last = self.events;
                    self.shared.lock().keep(Checkpoint {
                        events: self.events,
                        spot: self.reader.spot(),
                        session: self.session.clone(),
                    });
                }
            }
        };
        self.tell(Some(ended));
    }

    fn tell(&mut self, ended: Option<Reading>) -> usize {
        // All of them are made anew each time: not too often.
        let chapters = (ended.is_some() || self.events >= self.told * 2).then(|| {
            self.told = self.events;
            chapters(&self.session).into()
        });
        let mut known = self.shared.lock();
        known.due.append(&mut self.due);
        if known.idle.len() < self.idle.len() {
            known.idle = Arc::new(self.idle.clone());
        }
        if let Some(chapters) = chapters {
            known.chapters = chapters;
        }
        if let Some(ended) = &ended {
            known.warnings = self.reader.warnings().to_vec();
            if *ended == Reading::Done && self.session.end.is_none() {
                known.warnings.push(Warning::NoEnd);
            }
        }
        known.reading = ended.unwrap_or_else(|| {
            let share = self.reader.spot().offset() as f64 / self.size.max(1) as f64;
            Reading::GoesOn((share * 100.0).clamp(0.0, 99.0) as u8)
        });
        known.spacing
    }
}
