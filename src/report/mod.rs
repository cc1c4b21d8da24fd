//! Tables and files made of sessions. Nothing here depends on the present time: the same
//! recording gives the same report, byte for byte.
//!
//! `docs/report.md` describes the formats for programs.

mod at_once;
mod comparison;
mod csv;
mod environment;
mod figures;
mod harmless;
mod headline;
mod json;
mod layout;
mod markdown;
mod overview;
mod projection;
mod sheet;
mod stamps;
mod story;
mod table;
mod times;
mod transcript;
mod verdicts;
mod words;

use std::fmt;
use std::str::FromStr;

use crate::session::Session;
pub use at_once::at_once;
pub use comparison::Comparison;
pub use figures::Scale;
pub use headline::{headline, main_times};
pub use overview::{Cell, Overview, Sort, overview};
pub use projection::{
    LineKind, lasting, projection_lines, render_projection, render_projection_width,
};
pub use stamps::{Stamped, Stamps};
pub use story::story;
pub use times::{Time, times};
pub use transcript::{Saved, Wanted, save};
pub use verdicts::{Sentence, not_comparable, said};
pub use words::{conditions, counted, counts, fails_with, one_machine, proofs, same_disk, trust};

/// Width of a table where nobody says how wide the terminal is.
pub const WIDTH: usize = 100;
/// No table is narrower.
pub const LEAST_WIDTH: usize = 80;

/// How a report looks.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Format {
    /// Aligned text for a terminal.
    #[default]
    Table,
    /// Markdown tables.
    Markdown,
    /// A line a sample.
    Csv,
    /// `comeback-report/1`.
    Json,
}

impl Format {
    /// All of them, as they are typed.
    pub const ALL: [(&'static str, Self); 4] = [
        ("table", Self::Table),
        ("markdown", Self::Markdown),
        ("csv", Self::Csv),
        ("json", Self::Json),
    ];
}

/// A format that is none.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is no report format: expected table, markdown, csv or json")]
pub struct UnknownFormat(pub String);

impl FromStr for Format {
    type Err = UnknownFormat;

    fn from_str(text: &str) -> Result<Self, UnknownFormat> {
        Self::ALL
            .iter()
            .find(|(name, _)| *name == text)
            .map(|(_, format)| *format)
            .ok_or_else(|| UnknownFormat(text.to_owned()))
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = Self::ALL.iter().find(|(_, format)| format == self);
        f.pad(name.map_or("", |(name, _)| *name))
    }
}

/// A report of one session, or of several put together: their rows stay apart and are named by
/// their sessions. It ends with a line feed.
#[must_use]
pub fn render(format: Format, sessions: &[&Session]) -> String {
    render_width(format, sessions, WIDTH)
}

/// The same for a terminal of so many columns (at least 80); only a table minds.
#[must_use]
pub fn render_width(format: Format, sessions: &[&Session], width: usize) -> String {
    match format {
        Format::Table => table::render(&sheet::Sheet::of(sessions), width.max(LEAST_WIDTH)),
        Format::Markdown => markdown::render(&sheet::Sheet::of(sessions)),
        Format::Csv => csv::render(sessions),
        Format::Json => json::render(&sheet::Sheet::of(sessions)),
    }
}

#[cfg(test)]
mod tests;
