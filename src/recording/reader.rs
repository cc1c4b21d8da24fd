//! Lines of a recording into events.

use std::cmp::Ordering;
use std::fs::File;
use std::io::Read;
use std::path::Path;

use super::lines::{Line, Lines};
use super::load::Warning;
use super::source::{At, Source};
use super::{MOST_HEADER, MOST_LINE};
use crate::event::{Event, FORMAT, What, check_format, is_later, parse_later_line, parse_line};

/// Warnings that are kept; a file made to have more has told enough by then.
const MOST_WARNINGS: usize = 100;

/// Why a recording cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// It cannot be opened, or reading broke off.
    #[error("{file} cannot be read: {why}")]
    Io {
        /// The file.
        file: String,
        /// Why.
        why: String,
    },
    /// Its first line is no header.
    #[error("{file} is no recording: {why}; expected a header with \"format\":\"{FORMAT}\"")]
    NoHeader {
        /// The file.
        file: String,
        /// What its first line is instead.
        why: String,
    },
    /// Another format, or a major version that this program does not know.
    #[error("{file} has the format {found}; this program reads {FORMAT}: use one that reads it")]
    Version {
        /// The file.
        file: String,
        /// What its header says.
        found: String,
    },
    /// A line in its middle is no event.
    #[error("{file}, line {line} is broken: {why}")]
    Broken {
        /// The file.
        file: String,
        /// The line, from 1.
        line: u64,
        /// What is wrong with it.
        why: String,
    },
}

/// Reads a recording, event by event, the header first. It needs no more memory than a line,
/// and takes what cannot be rewound (`/dev/stdin`).
///
/// After an error comes nothing more. A last line that was cut (a crash, a copy made while it
/// is written) is left out, with a warning.
#[derive(Debug)]
pub struct Reader<R> {
    lines: Lines<R>,
    file: String,
    header: Option<Event>,
    later: bool,
    next: u64,
    warnings: Vec<Warning>,
    over: bool,
}

impl Reader<File> {
    /// Opens a file and reads its header.
    ///
    /// # Errors
    /// Where it cannot be read, or does not begin with the header of a known version.
    pub fn open(path: &Path) -> Result<Self, ReadError> {
        let name = path.display().to_string();
        match super::source::open(path) {
            Ok(file) => Self::new(&name, file),
            Err(why) => Err(ReadError::Io {
                file: name,
                why: why.to_string(),
            }),
        }
    }
}

/// Where in a recording its next event stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Spot {
    offset: u64,
    line: u64,
    next: u64,
}

impl Spot {
    /// Bytes before it.
    pub fn offset(self) -> u64 {
        self.offset
    }
}

impl Reader<At> {
    /// Goes on from a spot that another reader of the same source was at.
    pub(super) fn resume(name: &str, source: &Source, spot: Spot, later: bool) -> Self {
        Self {
            lines: Lines::within(source.at(spot.offset), spot.offset, spot.line),
            file: name.to_owned(),
            header: None,
            later,
            next: spot.next,
            warnings: Vec::new(),
            over: false,
        }
    }
}

impl<R: Read> Reader<R> {
    /// Where it is; the header is behind it.
    pub(super) fn spot(&self) -> Spot {
        Spot {
            offset: self.lines.offset,
            line: self.lines.number,
            next: self.next,
        }
    }

    /// Whether a later version wrote it.
    pub(super) fn is_later(&self) -> bool {
        self.later
    }

    /// Reads the header from `input`; errors call it `name`.
    ///
    /// # Errors
    /// Where reading fails, or it does not begin with the header of a known version.
    pub fn new(name: &str, input: R) -> Result<Self, ReadError> {
        let mut reader = Self {
            lines: Lines::new(input),
            file: name.to_owned(),
            header: None,
            later: false,
            next: 0,
            warnings: Vec::new(),
            over: false,
        };
        reader.read_header()?;
        Ok(reader)
    }

    /// What was odd so far.
    #[must_use]
    pub fn warnings(&self) -> &[Warning] {
        &self.warnings
    }

    fn read_header(&mut self) -> Result<(), ReadError> {
        let no_header = |file: &str, why: &str| ReadError::NoHeader {
            file: file.to_owned(),
            why: why.to_owned(),
        };
        let line = self.next_line(MOST_HEADER)?;
        let bytes = std::mem::take(&mut self.lines.bytes);
        let text = match (&line, std::str::from_utf8(&bytes)) {
            (Line::End, _) => return Err(no_header(&self.file, "it is empty")),
            (Line::TooLong, _) => {
                return Err(no_header(&self.file, "its first line is too long"));
            }
            (Line::Whole | Line::Last, Err(_)) => {
                return Err(no_header(&self.file, "its first line is not text"));
            }
            (Line::Whole | Line::Last, Ok(text)) => text,
        };
        // The version comes first: of a later one, not even the header need be understood.
        let fields: serde_json::Map<String, serde_json::Value> = match serde_json::from_str(text) {
            Ok(fields) => fields,
            Err(_) if matches!(line, Line::Last) => {
                return Err(no_header(&self.file, "it is cut within its first line"));
            }
            Err(_) => return Err(no_header(&self.file, "its first line is no JSON object")),
        };
        let is_header = fields.get("ev").is_some_and(|ev| ev == "header");
        let format = fields.get("format").and_then(|format| format.as_str());
        let Some(format) = format.filter(|_| is_header) else {
            return Err(no_header(&self.file, "its first line is another event"));
        };
        if check_format(format).is_err() {
            return Err(ReadError::Version {
                file: self.file.clone(),
                found: format.to_owned(),
            });
        }
        if is_later(format) {
            self.later = true;
            self.warn(Warning::Later {
                format: format.to_owned(),
            });
        }
        match parse_line(text) {
            Ok(event) => {
                self.next = event.seq.saturating_add(1);
                self.header = Some(event);
                Ok(())
            }
            Err(why) => Err(self.broken(why.to_string())),
        }
    }

    fn next_event(&mut self) -> Result<Option<Event>, ReadError> {
        let line = self.next_line(MOST_LINE)?;
        let is_last = match line {
            Line::End => return Ok(None),
            Line::TooLong => {
                return Err(self.broken(format!("it is longer than {MOST_LINE} bytes")));
            }
            Line::Whole => false,
            Line::Last => true,
        };
        let parse = if self.later {
            parse_later_line
        } else {
            parse_line
        };
        let event = std::str::from_utf8(&self.lines.bytes)
            .map_err(|why| format!("it is not UTF-8 ({why})"))
            .and_then(|text| parse(text).map_err(|why| why.to_string()));
        match event {
            Ok(event) => {
                self.number(&event);
                Ok(Some(event))
            }
            Err(_) if is_last => {
                self.warn(Warning::Cut {
                    line: self.lines.number,
                });
                Ok(None)
            }
            Err(why) => Err(self.broken(why)),
        }
    }

    // Events are numbered without gaps.
    fn number(&mut self, event: &Event) {
        if matches!(event.what, What::Header(_)) {
            self.warn(Warning::Header {
                line: self.lines.number,
            });
        }
        match event.seq.cmp(&self.next) {
            Ordering::Equal => {}
            Ordering::Greater => self.warn(Warning::Missing {
                line: self.lines.number,
                events: event.seq - self.next,
            }),
            Ordering::Less => self.warn(Warning::Disorder {
                line: self.lines.number,
                seq: event.seq,
            }),
        }
        self.next = self.next.max(event.seq.saturating_add(1));
    }

    fn warn(&mut self, warning: Warning) {
        if self.warnings.len() < MOST_WARNINGS {
            self.warnings.push(warning);
        }
    }

    fn broken(&self, why: String) -> ReadError {
        ReadError::Broken {
            file: self.file.clone(),
            line: self.lines.number,
            why,
        }
    }

    // The next line that is not blank.
    fn next_line(&mut self, most: usize) -> Result<Line, ReadError> {
        self.lines.next(most).map_err(|why| ReadError::Io {
            file: self.file.clone(),
            why: why.to_string(),
        })
    }
}

impl<R: Read> Iterator for Reader<R> {
    type Item = Result<Event, ReadError>;

    fn next(&mut self) -> Option<Self::Item> {
        if let Some(header) = self.header.take() {
            return Some(Ok(header));
        }
        if self.over {
            return None;
        }
        let next = self.next_event().transpose();
        self.over = !matches!(next, Some(Ok(_)));
        next
    }
}
