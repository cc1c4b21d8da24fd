//! `comeback report`

use std::io::IsTerminal;
use std::path::Path;

use crate::cli::{Format, ReportArgs};
use crate::recording;
use crate::session::Session;

use super::{CommandError, output};

/// Reports on recordings.
pub(super) fn report(args: &ReportArgs) -> Result<i32, CommandError> {
    let mut sessions = Vec::new();
    for file in &args.files {
        sessions.push(load(file)?);
    }
    let all: Vec<&Session> = sessions.iter().collect();
    output::data(&rendered(args.format, &all))?;
    Ok(0)
}

/// A report, as wide as the terminal that it goes to.
pub(super) fn rendered(format: Format, sessions: &[&Session]) -> String {
    crate::report::render_width(format.into(), sessions, width())
}

/// Columns of the terminal that a table goes to.
pub(super) fn width() -> usize {
    let stdout = std::io::stdout();
    let size = stdout
        .is_terminal()
        .then(|| crossterm::terminal::size().ok())
        .flatten();
    size.map_or(crate::report::WIDTH, |(columns, _)| usize::from(columns))
}

/// Reads a recording, and says what is damaged in it.
pub(super) fn load(file: &Path) -> Result<Session, CommandError> {
    let (session, warnings) = recording::load(file)?;
    for warning in warnings {
        output::talk(&format!("comeback: {}: {warning}", file.display()));
    }
    Ok(session)
}

impl From<Format> for crate::report::Format {
    fn from(format: Format) -> Self {
        match format {
            Format::Table => Self::Table,
            Format::Markdown => Self::Markdown,
            Format::Csv => Self::Csv,
            Format::Json => Self::Json,
        }
    }
}
