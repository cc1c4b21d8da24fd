//! Methods beside one another in one table: how long each way of bringing back takes, what it
//! stores, what it proves, and what takes original and copy together.

use std::cmp::Ordering;
use std::collections::HashMap;

use crate::event::Phase;
use crate::session::{Row, Series};

use super::comparison::Comparison;
use super::figures::Scale;
use super::times::{Time, times};
use super::words::{conditions, counted, fails_with};

/// The table.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Overview {
    /// Names of its columns; the first one is of the rows themselves.
    pub columns: Vec<String>,
    /// A row a method and series, in the order of the comparison.
    pub rows: Vec<Vec<Cell>>,
}

/// A cell, and what it is sorted by.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Cell {
    /// What stands in it; empty where there is nothing.
    pub text: String,
    /// Its figure, where it has one.
    pub figure: Option<f64>,
}

/// By which column rows are sorted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sort {
    /// Name of the column.
    pub column: String,
    /// Whether the highest comes first.
    pub falls: bool,
}

impl From<String> for Cell {
    fn from(text: String) -> Self {
        Self { text, figure: None }
    }
}

impl Cell {
    fn median(series: Option<&Series>) -> Self {
        let figure = series.and_then(|series| series.median().or(series.published));
        let text = series
            .zip(figure)
            .map(|(series, figure)| Scale::of(series).full(figure));
        Self {
            text: text.unwrap_or_default(),
            figure,
        }
    }
}

/// Times that have a column.
const MOST_TIMES: usize = 60;

/// Makes it. Times stand in the order in which the subject goes away and comes back.
#[must_use]
pub fn overview(compared: &Comparison) -> Overview {
    let mut times = times(&compared.rows);
    times.retain(|time| of_time(compared, time).any(Series::is_known));
    times.sort_by_key(|time| {
        let phase = of_time(compared, time).find_map(|series| series.phase);
        rank(phase)
    });
    // More columns than these are no table that anybody reads: all of it is in the others.
    let more = times.len().saturating_sub(MOST_TIMES);
    times.truncate(MOST_TIMES);
    let before = times.partition_point(|time| {
        let phase = of_time(compared, time).find_map(|series| series.phase);
        rank(phase) <= rank(Some(Phase::Account))
    });
    let has = |of: fn(&Row) -> Option<&Series>| compared.rows.iter().any(|row| of(row).is_some());
    let (stores, holds) = (has(Row::stored), has(Row::held));
    let mut columns = vec!["method".to_owned()];
    columns.extend(times.iter().take(before).map(Time::name));
    columns.extend(stores.then(|| "stored".to_owned()));
    columns.extend(holds.then(|| "held".to_owned()));
    columns.extend(times.iter().skip(before).map(Time::name));
    columns.extend((more > 0).then(|| format!("and {more} more times")));
    columns.extend(["runs", "verified", "share", "fails with"].map(str::to_owned));
    let told = compared.rows.iter().any(|row| !conditions(row).is_empty());
    columns.extend(told.then(|| "conditions".to_owned()));
    let row = |(at, row): (usize, &Row)| {
        let time = |time: &Time| {
            let column = time.of(&compared.rows, at);
            Cell::median(column.map(|column| &column.series))
        };
        let mut cells = vec![Cell::from(compared.name(row))];
        cells.extend(times.iter().take(before).map(time));
        cells.extend(stores.then(|| Cell::median(row.stored())));
        cells.extend(holds.then(|| Cell::median(row.held())));
        cells.extend(times.iter().skip(before).map(time));
        cells.extend((more > 0).then(Cell::default));
        cells.push(Cell {
            text: counted(row),
            figure: Some(row.counted().1 as f64),
        });
        let share = (row.of > 0).then(|| row.matched as f64 / row.of as f64);
        cells.push(Cell {
            text: match share {
                Some(_) => format!("{}/{}", row.matched, row.of),
                None if !row.restored_of.is_empty() => "not restored".to_owned(),
                None => "nothing".to_owned(),
            },
            figure: share,
        });
        cells.push(row.share.clone().into());
        cells.push(fails_with(row).into());
        cells.extend(told.then(|| conditions(row).into()));
        cells
    };
    Overview {
        columns,
        rows: compared.rows.iter().enumerate().map(row).collect(),
    }
}

fn of_time<'a>(compared: &'a Comparison, time: &'a Time) -> impl Iterator<Item = &'a Series> + 'a {
    let rows = time.rows();
    rows.filter_map(|row| Some(&time.of(&compared.rows, row)?.series))
}

fn rank(phase: Option<Phase>) -> u8 {
    match phase {
        Some(Phase::Protect) => 0,
        Some(Phase::Account) => 1,
        Some(Phase::Damage) => 2,
        Some(Phase::Restore) => 3,
        Some(Phase::Ready) => 4,
        Some(Phase::Verify) => 5,
        // Between steps: to 100 %, usable, space back.
        None => 6,
        Some(Phase::Prepare) => 7,
        Some(Phase::Cleanup) => 8,
    }
}

impl Overview {
    /// The order of its rows. Without a column the order of the plan, with the same method of
    /// several machines side by side. What has nothing in the column comes last.
    #[must_use]
    pub fn order(&self, compared: &Comparison, sort: Option<&Sort>) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.rows.len()).collect();
        let column = sort.and_then(|sort| {
            let at = self.columns.iter().position(|name| *name == sort.column)?;
            Some((at, sort.falls))
        });
        let Some((column, falls)) = column else {
            let method = |at: usize| compared.rows.get(at).map(|row| &row.method);
            let mut first = HashMap::new();
            for at in &order {
                first.entry(method(*at)).or_insert(*at);
            }
            order.sort_by_key(|at| first.get(&method(*at)).copied());
            return order;
        };
        let cell = |at: &usize| self.rows.get(*at).and_then(|row| row.get(column));
        order.sort_by(|a, b| beside(cell(a), cell(b), falls));
        order
    }

    /// The column after one, in a circle through the order of the plan.
    #[must_use]
    pub fn next(&self, sort: Option<&Sort>) -> Option<Sort> {
        let at = sort.and_then(|sort| self.columns.iter().position(|name| *name == sort.column));
        let next = at.map_or(0, |at| at + 1);
        self.columns.get(next).map(|column| Sort {
            column: column.clone(),
            falls: false,
        })
    }
}

fn beside(a: Option<&Cell>, b: Option<&Cell>, falls: bool) -> Ordering {
    let (Some(a), Some(b)) = (a, b) else {
        return Ordering::Equal;
    };
    let turned = |order: Ordering| if falls { order.reverse() } else { order };
    match (a.figure, b.figure) {
        (Some(x), Some(y)) => turned(x.total_cmp(&y)),
        (Some(_), None) => Ordering::Less,
        (None, Some(_)) => Ordering::Greater,
        (None, None) => match (a.text.is_empty(), b.text.is_empty()) {
            (false, false) => turned(a.text.cmp(&b.text)),
            (x, y) => x.cmp(&y),
        },
    }
}
