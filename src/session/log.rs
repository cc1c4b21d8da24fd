//! Every step's output as lines, in bounded memory.

mod pages;
mod screen;

use std::fmt;

use rpds::RedBlackTreeMapSync;

use crate::event::{Bytes, Gap, LogChunk, Nanos, StepId, Stream};
use pages::Pages;
pub use screen::Lines;

/// Most bytes that all lines, their index and what is kept to make them may take.
pub const MOST_BYTES: usize = 64 << 20;
/// A chunk is taken in pieces of this size, and room is made after each.
const PIECE: usize = 64 << 10;
/// What one piece can take at worst: as many empty lines as it has bytes (14 bytes each with
/// their share of a page), and one page that doubles its room.
const WORST: usize = 4 << 20;
/// Where the biggest step is smaller than this and the store is full, the number of steps is
/// what fills it: then the oldest steps go.
const SMALL: usize = 16 << 10;

/// Lines of all steps, each in the order in which they were completed; the oldest lines of the
/// step that has most go when the store is full.
///
/// A line that is still being written stands at the end of its step; there is at most one a
/// stream.
#[derive(Clone)]
pub struct LogStore {
    steps: RedBlackTreeMapSync<StepId, Step>,
    bytes: usize,
    most: usize,
    /// Steps that came so far: the age of one.
    born: u64,
    /// Bytes that were taken so far, also by what is dropped since.
    taken: usize,
    /// How often lines were dropped to make room.
    cleared: u64,
}

#[derive(Clone)]
struct Step {
    pages: Pages,
    out: Lines,
    err: Lines,
    dropped: u64,
    born: u64,
    /// What was counted for it in the store's `bytes`.
    counted: usize,
}

/// One line, ready to be shown: no control character is left in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LogLine<'a> {
    /// When its first character came; where it was rewritten, that of what stands now.
    pub at: Nanos,
    /// Which stream.
    pub stream: Stream,
    /// Text, at most 4 KiB; `…` at the end of one that was longer.
    pub text: &'a str,
}

impl Default for LogStore {
    fn default() -> Self {
        Self::with_most(MOST_BYTES)
    }
}

impl LogStore {
    /// A store that takes at most so many bytes; no less than 8 MiB are of use.
    #[must_use]
    pub fn with_most(bytes: usize) -> Self {
        Self {
            steps: RedBlackTreeMapSync::default(),
            bytes: 0,
            most: bytes.saturating_sub(WORST),
            born: 0,
            taken: 0,
            cleared: 0,
        }
    }

    /// Takes a chunk.
    pub fn push(&mut self, t: Nanos, chunk: &LogChunk) {
        match chunk.bytes() {
            Some(bytes) => {
                for piece in bytes.chunks(PIECE) {
                    self.change(&chunk.step, |step| step.take(t, chunk.stream, piece));
                }
            }
            None => self.change(&chunk.step, |step| {
                step.remark(t, chunk.stream, "[output that cannot be decoded]");
            }),
        }
    }

    /// Marks that output is missing, by a line of its own.
    pub fn gap(&mut self, t: Nanos, gap: &Gap) {
        let text = match gap.bytes {
            Some(bytes) => format!("[{} of output are not here]", Bytes(bytes)),
            None => "[some output is not here]".to_owned(),
        };
        self.change(&gap.step, |step| step.remark(t, gap.stream, &text));
    }

    /// How many lines of a step are kept, with those still being written.
    #[must_use]
    pub fn len(&self, step: &StepId) -> usize {
        self.steps.get(step).map_or(0, Step::len)
    }

    /// How many of its lines were dropped before the first one kept.
    #[must_use]
    pub fn dropped(&self, step: &StepId) -> u64 {
        self.steps.get(step).map_or(0, |step| step.dropped)
    }

    /// Line `at` of a step, from 0.
    #[must_use]
    pub fn line(&self, step: &StepId, at: usize) -> Option<LogLine<'_>> {
        self.steps.get(step)?.line(at)
    }

    /// How many of the lines that are kept will not change any more.
    #[must_use]
    pub fn finished(&self, step: &StepId) -> usize {
        self.steps.get(step).map_or(0, |step| step.pages.len())
    }

    /// The lines of a step from line `at` on, with their numbers.
    pub fn lines(&self, step: &StepId, at: usize) -> impl Iterator<Item = (usize, LogLine<'_>)> {
        self.steps.get(step).into_iter().flat_map(move |step| {
            let open =
                (step.pages.len().max(at)..step.len()).filter_map(|at| Some((at, step.line(at)?)));
            step.pages.lines(at).chain(open)
        })
    }

    /// Bytes that the store takes.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Bytes that it took so far, with those of lines that were dropped since: what a clone from
    /// before and one from now keep between them.
    #[must_use]
    pub fn taken(&self) -> usize {
        self.taken
    }

    /// How often lines were dropped to make room: while this is the same, no line is gone.
    #[must_use]
    pub fn cleared(&self) -> u64 {
        self.cleared
    }

    fn change(&mut self, id: &StepId, change: impl FnOnce(&mut Step)) {
        if !self.steps.contains_key(id) {
            self.born += 1;
            self.steps.insert_mut(id.clone(), Step::new(self.born));
        }
        if let Some(step) = self.steps.get_mut(id) {
            change(step);
            let now = step.bytes() + id.as_str().len();
            self.bytes = self.bytes - step.counted + now;
            self.taken += now.saturating_sub(step.counted);
            step.counted = now;
        }
        if self.bytes > self.most {
            self.make_room();
        }
    }

    // Drops pages of the biggest step until it is no longer the biggest, then of the next.
    fn make_room(&mut self) {
        self.cleared += 1;
        while self.bytes > self.most {
            let mut sizes = self.steps.values().map(|step| step.counted);
            let Some(first) = sizes.next() else {
                return;
            };
            let (biggest, second) = sizes.fold((first, 0), |(biggest, second), size| {
                (biggest.max(size), second.max(size.min(biggest)))
            });
            let found = self.steps.iter().find(|(_, step)| step.counted == biggest);
            let Some((id, has_pages)) = found.map(|(id, step)| (id.clone(), step.pages.len() > 0))
            else {
                return;
            };
            if biggest < SMALL || !has_pages {
                self.forget_oldest();
                continue;
            }
            let Some(step) = self.steps.get_mut(&id) else {
                return;
            };
            while self.bytes > self.most && step.counted >= second && step.pages.len() > 0 {
                step.dropped += step.pages.drop_first() as u64;
                let now = step.bytes() + id.as_str().len();
                self.bytes = self.bytes - step.counted + now;
                step.counted = now;
            }
        }
    }

    fn forget_oldest(&mut self) {
        let mut ages: Vec<u64> = self.steps.values().map(|step| step.born).collect();
        ages.sort_unstable();
        let gone = (ages.len() / 4).max(1);
        let young = ages.get(gone).copied().unwrap_or(u64::MAX);
        let old = |step: &Step| step.born < young;
        let gone: Vec<StepId> = self
            .steps
            .iter()
            .filter(|(_, step)| old(step))
            .map(|(id, _)| id.clone())
            .collect();
        for id in &gone {
            self.steps.remove_mut(id);
        }
        self.bytes = self.steps.values().map(|step| step.counted).sum();
    }
}

impl fmt::Debug for LogStore {
    /// What a store holds, without its up to 64 MiB of text.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map()
            .entries(self.steps.iter().map(|(id, step)| {
                let last = step.len().checked_sub(1).and_then(|last| step.line(last));
                (id, (step.dropped, step.len(), last))
            }))
            .finish()
    }
}

impl Step {
    fn new(born: u64) -> Self {
        Self {
            pages: Pages::default(),
            out: Lines::default(),
            err: Lines::default(),
            dropped: 0,
            born,
            counted: 0,
        }
    }

    fn take(&mut self, t: Nanos, stream: Stream, bytes: &[u8]) {
        let pages = &mut self.pages;
        let screen = match stream {
            Stream::Out => &mut self.out,
            Stream::Err => &mut self.err,
        };
        screen.feed(t, bytes, &mut |at, line| pages.push(at, stream, line));
    }

    fn remark(&mut self, t: Nanos, stream: Stream, text: &str) {
        let pages = &mut self.pages;
        let screen = match stream {
            Stream::Out => &mut self.out,
            Stream::Err => &mut self.err,
        };
        screen.close(&mut |at, line| pages.push(at, stream, line));
        pages.push(t, stream, text);
    }

    fn len(&self) -> usize {
        self.pages.len()
            + usize::from(self.out.open().is_some())
            + usize::from(self.err.open().is_some())
    }

    fn line(&self, at: usize) -> Option<LogLine<'_>> {
        match at.checked_sub(self.pages.len()) {
            None => self.pages.line(at),
            Some(open) => self.open().into_iter().flatten().nth(open),
        }
    }

    // The lines still being written, in the order in which they were begun.
    fn open(&self) -> [Option<LogLine<'_>>; 2] {
        let out = open_line(Stream::Out, &self.out);
        let err = open_line(Stream::Err, &self.err);
        match (&out, &err) {
            (Some(one), Some(other)) if other.at < one.at => [err, out],
            _ => [out, err],
        }
    }

    fn bytes(&self) -> usize {
        // A map's node and its share of the tree above it come on top.
        self.pages.bytes() + self.out.bytes() + self.err.bytes() + size_of::<(StepId, Self)>() * 2
    }
}

fn open_line(stream: Stream, screen: &Lines) -> Option<LogLine<'_>> {
    let (at, text) = screen.open()?;
    Some(LogLine { at, stream, text })
}

#[cfg(test)]
mod tests;
