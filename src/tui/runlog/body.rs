//! The lines of one step: all that are kept, or those that a filter lets through.

use std::ops::Range;

use super::super::found::Lines;

/// Lines of a step after its command.
pub(super) enum Body<'a> {
    All(Range<u64>),
    Some(&'a Lines),
}

impl Body<'_> {
    pub fn len(&self) -> u64 {
        match self {
            Self::All(lines) => lines.end.saturating_sub(lines.start),
            Self::Some(some) => some.lines.len() as u64,
        }
    }

    /// The first one at a line or after it.
    pub fn from(&self, line: u64) -> Option<u64> {
        match self {
            Self::All(lines) => Some(line.max(lines.start)).filter(|line| *line < lines.end),
            Self::Some(some) => {
                let at = some.lines.partition_point(|known| *known < line);
                some.lines.get(at).copied()
            }
        }
    }

    /// The last one before a line.
    pub fn before(&self, line: u64) -> Option<u64> {
        match self {
            Self::All(lines) => {
                let last = line.min(lines.end).checked_sub(1)?;
                Some(last).filter(|line| lines.contains(line))
            }
            Self::Some(some) => {
                let at = some.lines.partition_point(|known| *known < line);
                some.lines.get(at.checked_sub(1)?).copied()
            }
        }
    }

    /// How many come after a line.
    pub fn after(&self, line: u64) -> u64 {
        match self {
            Self::All(lines) => lines.end.saturating_sub(lines.start.max(line + 1)),
            Self::Some(some) => {
                let at = some.lines.partition_point(|known| *known <= line);
                (some.lines.len() - at) as u64
            }
        }
    }
}
