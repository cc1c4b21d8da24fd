//! Finished lines of one step: text in pages, without an allocation a line.

use std::collections::VecDeque;
use std::sync::Arc;

use super::LogLine;
use crate::event::{Nanos, Stream};

/// Lines of a page. All pages but the last are full, so a line's page is a division away.
const LINES: usize = 256;

/// Lines, oldest first; the oldest page can be dropped. Clones share their pages.
#[derive(Default)]
pub(super) struct Pages {
    pages: VecDeque<Arc<Page>>,
    /// Bytes of all pages but the last, which still grows.
    full: usize,
}

#[derive(Default)]
pub(super) struct Page {
    text: String,
    /// Where each line ends in `text`.
    ends: Vec<u32>,
    /// When each line came, in nanoseconds, times two; plus one for standard error.
    came: Vec<u64>,
}

// A clone takes as much room as what it is a clone of: what is dropped, and when, goes by it.
impl Clone for Pages {
    fn clone(&self) -> Self {
        let mut pages = VecDeque::with_capacity(self.pages.capacity());
        pages.extend(self.pages.iter().map(Arc::clone));
        Self {
            pages,
            full: self.full,
        }
    }
}

impl Clone for Page {
    fn clone(&self) -> Self {
        let mut page = Self {
            text: String::with_capacity(self.text.capacity()),
            ends: Vec::with_capacity(self.ends.capacity()),
            came: Vec::with_capacity(self.came.capacity()),
        };
        page.text.push_str(&self.text);
        page.ends.extend_from_slice(&self.ends);
        page.came.extend_from_slice(&self.came);
        page
    }
}

impl Pages {
    pub fn push(&mut self, at: Nanos, stream: Stream, text: &str) {
        if self.pages.back().is_none_or(|page| page.len() == LINES) {
            if let Some(page) = self.pages.back_mut() {
                Arc::make_mut(page).shrink();
                self.full += page.bytes();
            }
            self.pages.push_back(Arc::default());
        }
        if let Some(page) = self.pages.back_mut() {
            Arc::make_mut(page).push(at, stream, text);
        }
    }

    pub fn len(&self) -> usize {
        self.pages.back().map_or(0, |last| {
            (self.pages.len().saturating_sub(1)) * LINES + last.len()
        })
    }

    pub fn line(&self, at: usize) -> Option<LogLine<'_>> {
        self.pages.get(at / LINES)?.line(at % LINES)
    }

    /// Drops the oldest page; says how many lines that were.
    pub fn drop_first(&mut self) -> usize {
        let Some(page) = self.pages.pop_front() else {
            return 0;
        };
        if self.pages.is_empty() {
            // It was the last one, which is not counted in `full`.
            self.pages.shrink_to_fit();
        } else {
            self.full = self.full.saturating_sub(page.bytes());
        }
        page.len()
    }

    pub fn bytes(&self) -> usize {
        self.full
            + self.pages.back().map_or(0, |page| page.bytes())
            + self.pages.capacity() * size_of::<Arc<Page>>()
            // A shared page has two counters in front.
            + self.pages.len() * (size_of::<Page>() + 2 * size_of::<usize>())
    }

    /// The lines from line `at` on, with their numbers.
    pub fn lines(&self, at: usize) -> impl Iterator<Item = (usize, LogLine<'_>)> {
        let pages = self.pages.iter().enumerate().skip(at / LINES);
        pages.flat_map(move |(number, page)| {
            let first = number * LINES;
            (at.saturating_sub(first)..page.len())
                .filter_map(move |line| Some((first + line, page.line(line)?)))
        })
    }
}

impl Page {
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    pub fn line(&self, at: usize) -> Option<LogLine<'_>> {
        let from = match at.checked_sub(1) {
            Some(before) => *self.ends.get(before)?,
            None => 0,
        };
        let to = *self.ends.get(at)?;
        let came = *self.came.get(at)?;
        Some(LogLine {
            at: Nanos(came >> 1),
            stream: if came & 1 == 0 {
                Stream::Out
            } else {
                Stream::Err
            },
            text: self.text.get(from as usize..to as usize)?,
        })
    }

    fn push(&mut self, at: Nanos, stream: Stream, text: &str) {
        self.text.push_str(text);
        self.ends.push(self.text.len() as u32);
        self.came.push(at.0 << 1 | u64::from(stream == Stream::Err));
    }

    fn shrink(&mut self) {
        self.text.shrink_to_fit();
        self.ends.shrink_to_fit();
        self.came.shrink_to_fit();
    }

    fn bytes(&self) -> usize {
        // What an allocator adds to four blocks is counted, too.
        self.text.capacity()
            + self.ends.capacity() * size_of::<u32>()
            + self.came.capacity() * size_of::<u64>()
            + size_of::<Self>()
            + 80
    }
}
