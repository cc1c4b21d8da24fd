//! Which times rows have, and what they are called beside one another.

use crate::event::Clock;
use crate::session::{Row, TimeColumn};

/// A time that is a column.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Time {
    title: String,
    /// The clock, where a row has this title by several.
    clock: Option<Clock>,
    /// Where it stands in the times of each row.
    places: Vec<Option<usize>>,
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

    /// Where it stands in the times of a row.
    #[must_use]
    pub fn place(&self, row: usize) -> Option<usize> {
        *self.places.get(row)?
    }

    /// Its column in a row.
    #[must_use]
    pub fn of<'a>(&self, rows: &'a [Row], row: usize) -> Option<&'a TimeColumn> {
        rows.get(row)?.times.get(self.place(row)?)
    }

    /// Its name, whatever the clock.
    #[must_use]
    pub fn title(&self) -> &str {
        &self.title
    }
}

/// All times, in the order in which they first come.
#[must_use]
pub fn times(rows: &[Row]) -> Vec<Time> {
    let titles = |row: &Row| -> Vec<(String, Clock)> {
        let columns = row.times.iter();
        columns
            .map(|column| (column.series.title(), column.clock))
            .collect()
    };
    let rows: Vec<Vec<(String, Clock)>> = rows.iter().map(titles).collect();
    let has_several = |title: &String| {
        rows.iter()
            .any(|row| row.iter().filter(|(other, _)| other == title).count() > 1)
    };
    let mut all: Vec<Time> = Vec::new();
    for (title, clock) in rows.iter().flatten() {
        let known =
            |time: &Time| time.title == *title && time.clock.is_none_or(|other| other == *clock);
        if all.iter().any(known) {
            continue;
        }
        let clock = has_several(title).then_some(*clock);
        let is_it = |(other, by): &(String, Clock)| {
            other == title && clock.is_none_or(|clock| clock == *by)
        };
        all.push(Time {
            title: title.clone(),
            clock,
            places: rows.iter().map(|row| row.iter().position(is_it)).collect(),
        });
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::Series;

    fn row(times: &[(&str, Clock)]) -> Row {
        let column = |(name, clock): &(&str, Clock)| TimeColumn {
            clock: *clock,
            stated: true,
            series: Series {
                name: (*name).to_owned(),
                ..Series::default()
            },
        };
        Row {
            times: times.iter().map(column).collect(),
            ..Row::default()
        }
    }

    #[test]
    fn a_time_by_two_clocks_is_two_columns() {
        let rows = vec![
            row(&[("backup", Clock::Host)]),
            row(&[
                ("restore", Clock::Task),
                ("restore", Clock::Host),
                ("backup", Clock::Task),
            ]),
        ];
        let times = times(&rows);
        let names: Vec<_> = times.iter().map(Time::name).collect();
        assert_eq!(names, ["backup", "restore (task)", "restore (host)"]);
        assert_eq!((times[0].place(0), times[0].place(1)), (Some(0), Some(2)));
        assert_eq!((times[2].place(0), times[2].place(1)), (None, Some(1)));
        assert!(times[2].of(&rows, 1).is_some() && times[2].of(&rows, 7).is_none());
    }
}
