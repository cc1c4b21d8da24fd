//! Which times the rows of a tally have, and what they are called beside one another.

use crate::event::Clock;
use crate::session::{Row, Tally, TimeColumn};

/// A time that is a column.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Time {
    /// Its title.
    pub title: String,
    /// The clock, where a row has this title by several.
    clock: Option<Clock>,
}

impl Time {
    /// What stands over its column.
    #[must_use]
    pub fn name(&self) -> String {
        match self.clock {
            Some(clock) => format!("{} ({clock})", self.title),
            None => self.title.clone(),
        }
    }

    /// Whether a column is of this time.
    #[must_use]
    pub fn is(&self, column: &TimeColumn) -> bool {
        column.series.title() == self.title && self.clock.is_none_or(|clock| clock == column.clock)
    }

    /// Its column in a row.
    #[must_use]
    pub fn of<'a>(&self, row: &'a Row) -> Option<&'a TimeColumn> {
        row.times.iter().find(|column| self.is(column))
    }
}

/// All times, in the order in which they first come.
#[must_use]
pub fn times(tally: &Tally) -> Vec<Time> {
    let mut all: Vec<Time> = Vec::new();
    for row in &tally.rows {
        for column in &row.times {
            let title = column.series.title();
            let several = tally.rows.iter().any(|row| {
                row.times
                    .iter()
                    .filter(|other| other.series.title() == title)
                    .count()
                    > 1
            });
            let time = Time {
                title,
                clock: several.then_some(column.clock),
            };
            if !all.contains(&time) {
                all.push(time);
            }
        }
    }
    all
}

/// What a row is called beside the others: its method, where that alone tells it from them.
#[must_use]
pub fn label(tally: &Tally, row: &Row) -> String {
    let same = tally
        .rows
        .iter()
        .filter(|other| other.host == row.host && other.method == row.method)
        .count();
    if same > 1 {
        row.name()
    } else {
        row.method.clone()
    }
}
