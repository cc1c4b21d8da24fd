//! What is odd about figures. Nothing is dropped; what is odd is marked.

mod told;
mod turns;

use std::collections::BTreeMap;

use super::{Outcome, Row, RunStage, RunView, Series, Session, as_told};
use crate::event::{EndState, RunId};
use told::Told;

/// What is printed and what its values give may differ by this share.
const FAR_OFF: f64 = 0.03;
const MIB: f64 = 1_048_576.0;
/// Names that a sentence lists; more are counted.
const MOST_NAMES: usize = 6;
/// Remarks of one kind on a row; the rest is only counted.
const MOST_FIGURES: usize = 20;

/// Adds to each row of a session what is odd about it, a sentence each.
pub(super) fn add(session: &Session, rows: &mut [Row]) {
    let turns = turns::of(session, rows);
    let told = Told::of(session, rows);
    for ((row, turns), told) in rows.iter_mut().zip(turns).zip(told.rows) {
        let mut all = Vec::new();
        all.extend(missing(row));
        let of_figure = |series: &Series| {
            let mut all = impossible(row, series);
            all.extend(trend(series));
            all.extend(odd(series));
            all.extend(contradicted(series));
            all
        };
        all.extend(some(figures(row).flat_map(of_figure)));
        all.extend(told_otherwise(row));
        all.extend(clock(session, row));
        all.extend(mixed(row));
        all.extend(turns);
        all.extend(told.published);
        all.extend(told.unsettled);
        all.extend(ends(session, row));
        all.extend(unverified(row));
        all.extend(not_restored(row));
        all.extend(told.notes);
        row.remarks = all;
    }
}

/// The first ones, and how many more there are.
fn some(remarks: impl Iterator<Item = String>) -> Vec<String> {
    let mut remarks = remarks.fuse();
    let mut all: Vec<String> = remarks.by_ref().take(MOST_FIGURES).collect();
    match remarks.count() {
        0 => {}
        more => all.push(format!("and {more} more remarks like these")),
    }
    all
}

/// The first names, and how many more there are. A name may have commas in it.
fn listed(names: &[String]) -> String {
    match names.split_at_checked(MOST_NAMES) {
        Some((first, rest)) if !rest.is_empty() => {
            format!("{} and {} more", first.join(" · "), rest.len())
        }
        _ => names.join(" · "),
    }
}

fn figures(row: &Row) -> impl Iterator<Item = &Series> {
    let times = row.times.iter().map(|time| &time.series);
    times.chain(&row.space)
}

// "3 of 4": runs that are over and have no value here; figures with the same count share a
// sentence.
fn missing(row: &Row) -> Vec<String> {
    let ended = row.states.len();
    let mut counts: BTreeMap<usize, Vec<String>> = BTreeMap::new();
    for series in figures(row).filter(|series| series.n() > 0) {
        let have = series.in_runs();
        if have < ended {
            counts.entry(have).or_default().push(series.title());
        }
    }
    let sentence = |(have, names): (usize, Vec<String>)| {
        format!("{}: {have} of {ended} runs have a value", listed(&names))
    };
    counts.into_iter().map(sentence).collect()
}

// A value of a run that counts, and that is out all the same: no clock can have given it.
fn impossible(row: &Row, series: &Series) -> Vec<String> {
    let counts = |run: usize| row.outcomes.get(run).is_some_and(|one| one.counts());
    let all = series.out.iter().filter(|(run, _)| counts(*run));
    let sentence = |(run, value): &(usize, f64)| {
        let (name, unit) = (series.title(), &series.unit);
        let (run, value) = (run + 1, short(*value));
        format!("{name}: {value} {unit} of run {run} cannot be: out of the medians")
    };
    all.map(sentence).collect()
}

/// A figure as a sentence has it: at most three decimals, and no more digits than can be read.
#[must_use]
pub fn short(value: f64) -> String {
    if value.abs() >= 1e15 {
        return format!("{value:e}");
    }
    ((value * 1000.0).round() / 1000.0).to_string()
}

fn trend(series: &Series) -> Option<String> {
    series
        .slows()
        .then(|| format!("{}: each run slower than the one before", series.title()))
}

fn odd(series: &Series) -> Vec<String> {
    let first = series.by_run().first().map(|(run, _)| *run);
    let sentence = |(run, value): (usize, f64)| {
        let which = if Some(run) == first {
            "the first run".to_owned()
        } else {
            format!("run {}", run + 1)
        };
        let (name, value) = (series.title(), short(value));
        format!("{name}: {which} ({value} s) is far from the others")
    };
    series.far().into_iter().map(sentence).collect()
}

// A printed figure that its own values do not give.
fn contradicted(series: &Series) -> Option<String> {
    let printed = series.published?;
    let median = series.median()?;
    let apart = (printed - median).abs() / median.abs().max(f64::MIN_POSITIVE);
    (apart > FAR_OFF && (printed - median).abs() > series.resolution).then(|| {
        format!(
            "{}: {} {unit} is printed, its values give {} {unit}",
            series.title(),
            short(printed),
            short(median),
            unit = series.unit
        )
    })
}

// A rate that a tool or a publication tells beside that of own bytes and own time.
fn told_otherwise(row: &Row) -> Vec<String> {
    let rates = || row.space.iter().filter(|series| series.unit == "B/s");
    let sentence = |own: &Series| {
        let told = rates()
            .find(|series| series.name == as_told(&own.name) && series.labels == own.labels)?;
        let (own_rate, told_rate) = (own.median()?, told.median()?);
        let apart = (told_rate - own_rate).abs() / own_rate.max(f64::MIN_POSITIVE);
        (apart > FAR_OFF).then(|| {
            format!(
                "{}: {} MiB/s is told, its bytes and its time give {} MiB/s",
                own.title(),
                short(told_rate / MIB),
                short(own_rate / MIB),
            )
        })
    };
    rates().filter_map(sentence).collect()
}

// Durations are taken on one clock; what shows a date of the host's (a snapshot's name, a log) does not fit.
fn clock(session: &Session, row: &Row) -> Option<String> {
    let facts = session.hosts.get(&row.host)?.facts.as_ref()?;
    let differs = facts.clock_differs()?;
    let host = &row.host;
    Some(format!(
        "the clock of {host} is {differs}; durations hold, dates of that host do not"
    ))
}

fn mixed(row: &Row) -> impl Iterator<Item = String> {
    row.mixed.iter().map(|(key, values)| {
        let values: Vec<&str> = values
            .iter()
            .map(|value| if value.is_empty() { "not told" } else { value })
            .collect();
        format!("its runs differ in {key}: {}", values.join(", "))
    })
}

// The root cause of each run that did not end well.
fn ends(session: &Session, row: &Row) -> Vec<String> {
    let of_run = |(at, run): (usize, &RunId)| {
        let RunView { state, .. } = session.run_view(run)?;
        let RunStage::Ended(end, cause) = state else {
            return None;
        };
        if end.is_good() {
            return None;
        }
        let unknown = match end {
            EndState::Stopped => "by the operator",
            _ => "no cause is known",
        };
        let cause = cause.as_deref().unwrap_or(unknown);
        Some(format!("run {} {end}: {cause}", at + 1))
    };
    row.runs.iter().enumerate().filter_map(of_run).collect()
}

// What was brought back is another series' copy.
fn not_restored(row: &Row) -> Option<String> {
    (!row.restored_of.is_empty()).then(|| {
        format!(
            "not restored: its runs brought back copies of the series {}",
            row.restored_of.join(", ")
        )
    })
}

// Runs that ended well, but without the proof that their method makes.
fn unverified(row: &Row) -> Option<String> {
    let runs: Vec<String> = row
        .outcomes
        .iter()
        .enumerate()
        .filter(|(_, outcome)| **outcome == Outcome::Unverified)
        .map(|(at, _)| (at + 1).to_string())
        .collect();
    let (word, are) = match runs.len() {
        0 => return None,
        1 => ("run", "is"),
        _ => ("runs", "are"),
    };
    Some(format!(
        "{word} {} {are} not verified: out of the medians",
        runs.join(", ")
    ))
}

#[cfg(test)]
mod tests;
