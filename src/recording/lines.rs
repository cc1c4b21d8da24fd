//! The lines of a file, none longer than it may be.

use std::io::{self, BufRead, BufReader, Read};

/// What a line was.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Line {
    /// With its end.
    Whole,
    /// Without an end: the last one.
    Last,
    /// Longer than it may be; where it ends is not known.
    TooLong,
    /// There is no other.
    End,
}

/// Reads lines into one buffer.
#[derive(Debug)]
pub(super) struct Lines<R> {
    input: BufReader<R>,
    /// The line that was read last, without its end.
    pub bytes: Vec<u8>,
    /// Its number, from 1.
    pub number: u64,
    /// Where the next one begins.
    pub offset: u64,
}

impl<R: Read> Lines<R> {
    pub fn new(input: R) -> Self {
        Self::within(input, 0, 0)
    }

    /// Goes on with an input that begins at `offset`, after so many lines.
    pub fn within(input: R, offset: u64, number: u64) -> Self {
        Self {
            input: BufReader::with_capacity(64 << 10, input),
            bytes: Vec::new(),
            number,
            offset,
        }
    }

    /// The next line that is not blank.
    pub fn next(&mut self, most: usize) -> io::Result<Line> {
        loop {
            self.bytes.clear();
            self.number += 1;
            let line = self.any(most)?;
            let blank = self.bytes.iter().all(u8::is_ascii_whitespace);
            if !blank || matches!(line, Line::End | Line::TooLong) {
                return Ok(line);
            }
        }
    }

    fn any(&mut self, most: usize) -> io::Result<Line> {
        loop {
            let buffer = match self.input.fill_buf() {
                Err(why) if why.kind() == io::ErrorKind::Interrupted => continue,
                other => other?,
            };
            if buffer.is_empty() {
                return Ok(if self.bytes.is_empty() {
                    Line::End
                } else {
                    Line::Last
                });
            }
            let end = memchr::memchr(b'\n', buffer);
            let part = buffer.get(..end.unwrap_or(buffer.len())).unwrap_or(buffer);
            if self.bytes.len() + part.len() > most {
                return Ok(Line::TooLong);
            }
            self.bytes.extend_from_slice(part);
            let used = part.len() + usize::from(end.is_some());
            self.input.consume(used);
            self.offset += used as u64;
            if end.is_some() {
                return Ok(Line::Whole);
            }
        }
    }
}
