//! What may be said when two methods are compared, and what may not.

use std::fmt;

use super::{Row, Series, Tally, TimeColumn};
use crate::event::{Labels, Place};

/// Values that each side needs before one may be called faster: with 4 against 4 and ranges
/// apart the exact two-sided p is 0.029; with 3 against 3 it is 0.10.
const ENOUGH: usize = 4;
/// Values that each side needs before it may be said that ranges do not overlap.
const SOME: usize = 3;
/// Two readings of the same subject's size that differ by less than this share are the same:
/// files are written to while methods take turns.
const SAME_SIZE: f64 = 0.01;

/// What may be said.
#[derive(Debug, Clone, PartialEq)]
pub enum Says {
    /// Ranges apart, each n at least 4: `a` is faster.
    Faster,
    /// The same, the other way round: `b` is faster.
    Slower,
    /// Ranges apart, but too few values.
    Apart {
        /// The smaller n.
        n: usize,
    },
    /// Ranges overlap, or there are fewer than three values.
    NoDifference,
    /// They may not be compared, and why.
    NotComparable(String),
}

impl fmt::Display for Says {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Faster => f.write_str("a is faster"),
            Self::Slower => f.write_str("b is faster"),
            Self::Apart { n } => write!(f, "ranges do not overlap, n = {n}"),
            Self::NoDifference => f.write_str("no difference shown"),
            Self::NotComparable(why) => write!(f, "not comparable: {why}"),
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

/// All verdicts of a tally: every pair of rows, for each time whose name both have.
#[must_use]
pub fn compare(tally: &Tally) -> Vec<Verdict> {
    let mut all = Vec::new();
    for (a, one) in tally.rows.iter().enumerate() {
        for (b, other) in tally.rows.iter().enumerate().skip(a + 1) {
            let against = incomparable(one, other);
            for (column_a, column_b) in pairs(one, other) {
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

// Columns of the same name and labels, the same clock where both have it. Where the labels of a
// name never meet, its first columns, so that it is said that they may not be compared.
fn pairs(one: &Row, other: &Row) -> Vec<(usize, usize)> {
    let mut all = Vec::new();
    let mut done: Vec<&Series> = Vec::new();
    for (at, column) in one.times.iter().enumerate() {
        let series = &column.series;
        let alike = |known: &&Series| known.name == series.name && known.labels == series.labels;
        if done.iter().any(alike) {
            continue;
        }
        done.push(series);
        let mine = || columns_of(one, series);
        let theirs = || columns_of(other, series);
        let same_clock = mine().find_map(|(a, clock)| {
            let (b, _) = theirs().find(|(_, of)| *of == clock)?;
            Some((a, b))
        });
        all.extend(same_clock.or_else(|| Some((at, theirs().next()?.0))));
    }
    for (a, column) in one.times.iter().enumerate() {
        let name = &column.series.name;
        let named = |times: &[TimeColumn], at: usize| {
            times
                .get(at)
                .is_some_and(|column| column.series.name == *name)
        };
        if all.iter().any(|&(known, _)| named(&one.times, known)) {
            continue;
        }
        let b = (0..other.times.len()).find(|&at| named(&other.times, at));
        all.extend(b.map(|b| (a, b)));
    }
    all
}

fn columns_of<'a>(
    row: &'a Row,
    like: &'a Series,
) -> impl Iterator<Item = (usize, crate::event::Clock)> + 'a {
    row.times
        .iter()
        .enumerate()
        .filter(|(_, column)| {
            column.series.name == like.name && column.series.labels == like.labels
        })
        .map(|(at, column)| (at, column.clock))
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
        (Says::NotComparable(against.join("; ")), None, None)
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
    let n = x.n().min(y.n());
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
fn outwards(ratio: f64, round: impl Fn(f64) -> f64) -> f64 {
    if ratio >= 10.0 {
        round(ratio)
    } else {
        round(ratio * 10.0) / 10.0
    }
}

// Why two rows may not be compared, whatever the time.
fn incomparable(one: &Row, other: &Row) -> Vec<String> {
    if one.host != other.host {
        return vec![format!("different hosts ({}, {})", one.host, other.host)];
    }
    if one.session != other.session && (one.machine != other.machine || one.machine.is_empty()) {
        return vec![format!(
            "{} is not the same machine in both recordings",
            one.host
        )];
    }
    let mut all = Vec::new();
    all.extend(devices_apart(one, other));
    all.extend(bytes_apart(one, other));
    all
}

fn devices_apart(one: &Row, other: &Row) -> Option<String> {
    let (x, y) = match (&one.placement, &other.placement) {
        (Some(x), Some(y)) => (x, y),
        // The same host, and nothing known that would tell them apart.
        (None, None) => return None,
        (Some(_), None) => return Some(format!("the devices of {} are not known", other.name())),
        (None, Some(_)) => return Some(format!("the devices of {} are not known", one.name())),
    };
    let apart = |what: &str, x: &Place, y: &Place| {
        let (mut x_name, mut y_name) = (place_name(x), place_name(y));
        if x.host != y.host {
            x_name = format!("{}:{x_name}", x.host);
            y_name = format!("{}:{y_name}", y.host);
        }
        let differ = x_name != y_name;
        differ.then(|| {
            let (x, y) = (told(&x_name), told(&y_name));
            format!("{what} on different devices ({x}, {y})")
        })
    };
    apart("originals", &x.original, &y.original).or_else(|| apart("copies", &x.copy, &y.copy))
}

fn told(text: &str) -> &str {
    if text.is_empty() { "not known" } else { text }
}

/// What a place is called: its host's disks, else what is mounted there. Empty where nothing
/// is known.
#[must_use]
pub fn place_name(place: &Place) -> String {
    if !place.disks.is_empty() {
        return place.disks.join("+");
    }
    let known = [&place.source, &place.at, &place.filesystem];
    known
        .into_iter()
        .find(|text| !text.is_empty())
        .cloned()
        .unwrap_or_default()
}

fn bytes_apart(one: &Row, other: &Row) -> Option<String> {
    let same_subject = one.subject == other.subject;
    let ends = |row: &Row| Some((*row.subject_bytes.first()?, *row.subject_bytes.last()?));
    match (ends(one), ends(other)) {
        (Some(x), Some(y)) if x == y => None,
        (Some(x), Some(y)) => {
            let (low, high) = (x.0.min(y.0), x.1.max(y.1));
            let near = (high - low) as f64 <= SAME_SIZE * high as f64;
            (!(same_subject && near))
                .then(|| format!("different subject bytes ({}, {})", span(x), span(y)))
        }
        // It is the same thing, however big.
        _ if same_subject => None,
        (None, _) => Some(format!("the subject bytes of {} are not known", one.name())),
        (_, None) => Some(format!(
            "the subject bytes of {} are not known",
            other.name()
        )),
    }
}

fn span((low, high): (u64, u64)) -> String {
    if low == high {
        low.to_string()
    } else {
        format!("{low}–{high}")
    }
}

// Cache state, load and all other labels must be the same, and the same in all runs.
fn labels_apart(one: &Row, x: &Series, other: &Row, y: &Series) -> Vec<String> {
    let all_of = |row: &Row, series: &Series| {
        let mut all = row.labels.clone();
        all.extend(series.labels.clone());
        all
    };
    let mut all = Vec::new();
    for row in [one, other] {
        for key in row.mixed.keys() {
            all.push(format!("the runs of {} differ in {key}", row.name()));
        }
    }
    let (x, y) = (all_of(one, x), all_of(other, y));
    let mut keys: Vec<&String> = x.keys().chain(y.keys()).collect();
    keys.sort_unstable();
    keys.dedup();
    for key in keys {
        if one.mixed.contains_key(key) || other.mixed.contains_key(key) {
            continue;
        }
        let (x, y) = (x.get(key), y.get(key));
        if x != y {
            let told = |value: Option<&String>| value.map_or("not told", String::as_str).to_owned();
            all.push(format!("different {key} ({}, {})", told(x), told(y)));
        }
    }
    all
}

#[cfg(test)]
mod tests;
