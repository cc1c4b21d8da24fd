//! Which times rows have, and what they are called beside one another.

use std::collections::{BTreeMap, HashMap, HashSet};

use crate::event::Clock;
use crate::session::{Row, TimeColumn};

/// A time that is a column.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Time {
    title: String,
    /// The clock, where a row has this title by several.
    clock: Option<Clock>,
    /// Where it stands in the times of each row that has it.
    places: BTreeMap<usize, usize>,
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
        self.places.get(&row).copied()
    }

    /// The rows that have it.
    pub fn rows(&self) -> impl Iterator<Item = usize> {
        self.places.keys().copied()
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
    let mut several: HashSet<&str> = HashSet::new();
    for row in &rows {
        let mut known = HashSet::new();
        let again = row
            .iter()
            .filter(|(title, _)| !known.insert(title.as_str()));
        several.extend(again.map(|(title, _)| title.as_str()));
    }
    let mut all: Vec<Time> = Vec::new();
    let mut known: HashMap<(&str, Option<Clock>), usize> = HashMap::new();
    for (at_row, row) in rows.iter().enumerate() {
        for (at, (title, clock)) in row.iter().enumerate() {
            let clock = several.contains(title.as_str()).then_some(*clock);
            let place = *known.entry((title, clock)).or_insert(all.len());
            if place == all.len() {
                all.push(Time {
                    title: title.clone(),
                    clock,
                    places: BTreeMap::new(),
                });
            }
            if let Some(time) = all.get_mut(place) {
                time.places.entry(at_row).or_insert(at);
            }
        }
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
