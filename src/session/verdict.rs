//! What may be said when two methods are compared, and what may not.

mod comparable;

use std::collections::{HashMap, HashSet};
use std::fmt;

use super::{Row, Series, TimeColumn};
use crate::event::{Clock, Labels};
pub use comparable::place_name;
use comparable::{incomparable, labels_apart};

/// Runs with values that each side needs before one may be called faster: with 4 against 4 and
/// ranges apart the exact two-sided p is 0.029; with 3 against 3 it is 0.10.
const ENOUGH: usize = 4;
/// Runs that each side needs before it may be said that ranges do not overlap.
pub(super) const SOME: usize = 3;
/// More rows than this are not compared two by two: nobody would read it.
pub const MOST_ROWS: usize = 200;

/// What may be said.
#[derive(Debug, Clone, PartialEq)]
pub enum Says {
    /// Ranges apart, each of at least 4 runs: `a` is faster.
    Faster,
    /// The same, the other way round: `b` is faster.
    Slower,
    /// Ranges apart, but of too few runs.
    Apart {
        /// The smaller number of runs.
        n: usize,
    },
    /// Ranges overlap, or they are of fewer than three runs.
    NoDifference,
    /// They may not be compared, and why: a reason each.
    NotComparable(Vec<String>),
}

impl fmt::Display for Says {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Faster => f.write_str("a is faster"),
            Self::Slower => f.write_str("b is faster"),
            Self::Apart { n } => write!(f, "ranges do not overlap, n = {n}"),
            Self::NoDifference => f.write_str("no difference shown"),
            Self::NotComparable(why) => write!(f, "not comparable: {}", why.join("; ")),
        }
    }
}

/// A verdict on one time of two rows.
#[derive(Debug, Clone, PartialEq)]
pub struct Verdict {
    /// Name of the time.
    pub time: String,
    /// Labels of the time, where rows have several of that name.
    pub labels: Labels,
    /// Index of the one row.
    pub a: usize,
    /// Index of the other.
    pub b: usize,
    /// What may be said.
    pub says: Says,
    /// How many times longer the slower one takes at least, rounded down; where ranges are
    /// apart.
    pub low: Option<f64>,
    /// How many times longer at most, rounded up; absent also where there is no limit, because
    /// the clock cannot tell the faster one from nothing.
    pub high: Option<f64>,
    /// Index of the column of `a` in its times.
    pub column_a: usize,
    /// Index of the column of `b` in its times.
    pub column_b: usize,
}

impl Verdict {
    /// What may be said, in the words of the report.
    #[must_use]
    pub fn says(&self) -> String {
        self.says.to_string()
    }
}

/// All verdicts: every pair of rows, for each time whose name both have. None where there are more
/// than [`MOST_ROWS`].
#[must_use]
pub fn compare(rows: &[Row]) -> Vec<Verdict> {
    compare_some(rows, |_, _| true)
}

/// Those of rows on the same machine: between machines there is nothing to say.
#[must_use]
pub fn compare_machines(rows: &[Row]) -> Vec<Verdict> {
    compare_some(rows, Row::same_machine)
}

fn compare_some(rows: &[Row], of: impl Fn(&Row, &Row) -> bool) -> Vec<Verdict> {
    let mut all = Vec::new();
    if rows.len() > MOST_ROWS {
        return all;
    }
    let columns: Vec<Columns<'_>> = rows.iter().map(Columns::of).collect();
    for ((a, one), mine) in rows.iter().enumerate().zip(&columns) {
        for (b, other) in rows.iter().enumerate().skip(a + 1) {
            if !of(one, other) {
                continue;
            }
            let against = incomparable(one, other);
            let theirs = columns.get(b).into_iter();
            for (column_a, column_b) in theirs.flat_map(|theirs| mine.pairs(theirs)) {
                let Some(verdict) = verdict((a, one, column_a), (b, other, column_b), &against)
                else {
                    continue;
                };
                all.push(verdict);
            }
        }
    }
    all
}

/// The columns of a row that have something in them.
struct Columns<'a> {
    /// By name and labels, in their order.
    alike: Vec<(&'a str, &'a Labels)>,
    /// Where these stand, each with its clock.
    places: HashMap<(&'a str, &'a Labels), Vec<(usize, Clock)>>,
    /// The first one of each name.
    named: HashMap<&'a str, usize>,
}

impl<'a> Columns<'a> {
    fn of(row: &'a Row) -> Self {
        let mut all = Self {
            alike: Vec::new(),
            places: HashMap::new(),
            named: HashMap::new(),
        };
        for (at, TimeColumn { clock, series, .. }) in row.times.iter().enumerate() {
            if !series.is_known() {
                continue;
            }
            let key = (series.name.as_str(), &series.labels);
            let places = all.places.entry(key).or_insert_with(|| {
                all.alike.push(key);
                Vec::new()
            });
            places.push((at, *clock));
            all.named.entry(&series.name).or_insert(at);
        }
        all
    }

    // Columns of the same name and labels, the same clock where both have it. Where the labels of a
    // name never meet, its first columns, so that it is said that they may not be compared.
    fn pairs(&self, other: &Self) -> Vec<(usize, usize)> {
        let mut all = Vec::new();
        let mut met: HashSet<&str> = HashSet::new();
        for key in &self.alike {
            let (Some(mine), Some(theirs)) = (self.places.get(key), other.places.get(key)) else {
                continue;
            };
            let same_clock = mine.iter().find_map(|(a, clock)| {
                let (b, _) = theirs.iter().find(|(_, of)| of == clock)?;
                Some((*a, *b))
            });
            let first = || Some((mine.first()?.0, theirs.first()?.0));
            all.extend(same_clock.or_else(first));
            met.insert(key.0);
        }
        for (name, _) in &self.alike {
            if met.insert(name)
                && let (Some(a), Some(b)) = (self.named.get(name), other.named.get(name))
            {
                all.push((*a, *b));
            }
        }
        all
    }
}

fn verdict(
    (a, one, column_a): (usize, &Row, usize),
    (b, other, column_b): (usize, &Row, usize),
    against: &[String],
) -> Option<Verdict> {
    let x = &one.times.get(column_a)?.series;
    let y = &other.times.get(column_b)?.series;
    let mut against = against.to_vec();
    against.extend(labels_apart(one, x, other, y));
    for (row, series) in [(one, x), (other, y)] {
        if series.n() == 0 {
            against.push(format!("no values of {} are known", row.name()));
        }
    }
    let (says, low, high) = if against.is_empty() {
        ranges(x, y)?
    } else {
        (Says::NotComparable(against), None, None)
    };
    Some(Verdict {
        time: x.name.clone(),
        labels: if x.labels == y.labels {
            x.labels.clone()
        } else {
            Labels::new()
        },
        a,
        b,
        says,
        low,
        high,
        column_a,
        column_b,
    })
}

// Ranges are widened by the resolution of their clocks. The ratio lies between (slower lowest) /
// (faster highest) and (slower highest) / (faster lowest): 2, 2, 2 ±1 against 57, 60, 66 ±1 is
// 56 / 3 = 18.7 to 67 / 1 = 67, rounded outwards 18 to 67.
fn ranges(x: &Series, y: &Series) -> Option<(Says, Option<f64>, Option<f64>)> {
    let (x_low, x_high) = x.widened()?;
    let (y_low, y_high) = y.widened()?;
    let n = x.in_runs().min(y.in_runs());
    let (says, fast, slow) = if x_high < y_low {
        (Says::Faster, (x_low, x_high), (y_low, y_high))
    } else if y_high < x_low {
        (Says::Slower, (y_low, y_high), (x_low, x_high))
    } else {
        return Some((Says::NoDifference, None, None));
    };
    if n < SOME {
        return Some((Says::NoDifference, None, None));
    }
    let says = if n < ENOUGH { Says::Apart { n } } else { says };
    let low = (fast.1 > 0.0).then(|| outwards(slow.0 / fast.1, f64::floor));
    let high = (fast.0 > 0.0).then(|| outwards(slow.1 / fast.0, f64::ceil));
    Some((says, low, high))
}

// Whole numbers from 10 on, one decimal below.
pub(super) fn outwards(ratio: f64, round: impl Fn(f64) -> f64) -> f64 {
    if ratio >= 10.0 {
        round(ratio)
    } else {
        round(ratio * 10.0) / 10.0
    }
}

#[cfg(test)]
mod tests;
