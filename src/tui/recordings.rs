//! The list of recordings, as it is looked at.

use std::path::{Path, PathBuf};

use chrono::FixedOffset;

use crate::recording::Summary;

use super::model::Screen;

/// The list of recordings.
#[derive(Debug, Clone, Default)]
pub struct Recordings {
    /// The folder that they stand in.
    pub folder: PathBuf,
    /// All of them, the newest first.
    pub rows: Vec<Recording>,
    /// Whether the folder was looked through, if only for names.
    pub listed: bool,
    /// Whether all of them were read.
    pub all_read: bool,
    /// The row under the cursor, among those that are shown.
    pub at: usize,
    /// Only recordings with this text are shown.
    pub filter: String,
    /// Where one came from, where that is no recording that was opened from here.
    pub home: Option<Screen>,
    /// Why there is nothing.
    pub trouble: Option<String>,
}

/// A recording.
#[derive(Debug, Clone)]
pub struct Recording {
    /// Its file.
    pub path: PathBuf,
    /// What it is about, once it was read.
    pub summary: Option<Summary>,
}

impl Recording {
    /// Its file's name.
    #[must_use]
    pub fn name(&self) -> String {
        let name = self.path.file_name().unwrap_or_default();
        name.to_string_lossy().into_owned()
    }

    /// When it started, in the operator's zone.
    #[must_use]
    pub fn date(&self, zone: FixedOffset) -> Option<String> {
        let started = self.summary.as_ref()?.started?;
        Some(
            started
                .with_timezone(&zone)
                .format("%Y-%m-%d %H:%M")
                .to_string(),
        )
    }

    /// Its hosts in one line.
    #[must_use]
    pub fn hosts(&self) -> String {
        let hosts = self.summary.iter().flat_map(|summary| &summary.hosts);
        let names: Vec<&str> = hosts.map(|host| host.name.as_str()).collect();
        names.join(", ")
    }

    /// Its methods in one line.
    #[must_use]
    pub fn methods(&self) -> String {
        self.summary
            .as_ref()
            .map_or_else(String::new, |summary| summary.methods.join(", "))
    }

    fn has(&self, wanted: &str, zone: FixedOffset) -> bool {
        let result = self.summary.as_ref().map(Summary::result);
        [
            Some(self.name()),
            self.date(zone),
            Some(self.hosts()),
            Some(self.methods()),
            result,
        ]
        .into_iter()
        .flatten()
        .any(|text| text.to_lowercase().contains(wanted))
    }
}

impl Recordings {
    /// Those that pass the filter.
    #[must_use]
    pub fn shown(&self, zone: FixedOffset) -> Vec<&Recording> {
        let wanted = self.filter.to_lowercase();
        let rows = self.rows.iter();
        rows.filter(|row| wanted.is_empty() || row.has(&wanted, zone))
            .collect()
    }

    /// The one under the cursor.
    #[must_use]
    pub fn current(&self, zone: FixedOffset) -> Option<&Recording> {
        self.shown(zone).get(self.at).copied()
    }

    /// Puts the cursor on a file, where that is shown; else keeps it within the list.
    pub fn put_cursor(&mut self, on: Option<&Path>, zone: FixedOffset) {
        let shown = self.shown(zone);
        let at = on.and_then(|path| shown.iter().position(|row| row.path == path));
        self.at = at.unwrap_or(self.at).min(shown.len().saturating_sub(1));
    }

    /// How many of them were read.
    #[must_use]
    pub fn read(&self) -> usize {
        self.rows.iter().filter(|row| row.summary.is_some()).count()
    }
}
