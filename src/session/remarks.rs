//! What is odd about figures. Nothing is dropped; what is odd is marked.

use std::collections::BTreeMap;

use super::{Outcome, Row, RunStage, RunView, Series, Session};
use crate::event::{Level, RunId, count};

/// Remarks of a row that are taken from notes; the rest is only counted.
const MOST_NOTES: usize = 20;

/// Adds to each row of a session what is odd about it, a sentence each.
pub(super) fn add(session: &Session, rows: &mut [Row]) {
    let turns: Vec<Vec<String>> = (0..rows.len()).map(|at| turns(session, rows, at)).collect();
    for (row, turns) in rows.iter_mut().zip(turns) {
        let mut all = Vec::new();
        all.extend(missing(row));
        for series in figures(row) {
            all.extend(trend(series));
            all.extend(odd(series));
            all.extend(contradicted(series));
        }
        all.extend(clock(session, row));
        all.extend(mixed(row));
        all.extend(turns);
        all.extend(published(session, row));
        all.extend(unsettled(session, row));
        all.extend(ends(session, row));
        all.extend(unverified(row));
        all.extend(notes(session, row));
        row.remarks = all;
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
        let have = series.by_run().len();
        if have < ended {
            counts.entry(have).or_default().push(series.title());
        }
    }
    let sentence = |(have, names): (usize, Vec<String>)| {
        format!("{}: {have} of {ended} runs have a value", names.join(", "))
    };
    counts.into_iter().map(sentence).collect()
}

/// A figure as a sentence has it: at most three decimals.
fn short(value: f64) -> String {
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
    (apart > 0.03 && (printed - median).abs() > series.resolution).then(|| {
        format!(
            "{}: {} {unit} is printed, its values give {} {unit}",
            series.title(),
            short(printed),
            short(median),
            unit = series.unit
        )
    })
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

// All runs of one before all of another on the same host: drift looks like a difference.
fn turns(session: &Session, rows: &[Row], at: usize) -> Vec<String> {
    let Some(mine) = rows.get(at) else {
        return Vec::new();
    };
    let Some(span) = span(session, mine) else {
        return Vec::new();
    };
    let mut before = Vec::new();
    let mut after = Vec::new();
    for other in rows {
        let Some(theirs) = self::span(session, other) else {
            continue;
        };
        let list = match () {
            () if !other.same_machine(mine) => continue,
            () if span.1 < theirs.0 => &mut before,
            () if theirs.1 < span.0 => &mut after,
            () => continue,
        };
        let name = other.name();
        if !list.contains(&name) {
            list.push(name);
        }
    }
    let told = |list: Vec<String>, word: &str| {
        (!list.is_empty()).then(|| {
            format!(
                "all its runs came {word} all runs of {}: drift would look like a difference",
                list.join(", ")
            )
        })
    };
    told(before, "before")
        .into_iter()
        .chain(told(after, "after"))
        .collect()
}

// First and last place of a row's runs in the order; none for a single run.
fn span(session: &Session, row: &Row) -> Option<(u32, u32)> {
    let places = row.runs.iter().filter_map(|run| session.run_view(run));
    let places: Vec<u32> = places.map(|run| run.order).collect();
    let (first, last) = (*places.iter().min()?, *places.iter().max()?);
    (places.len() >= 2).then_some((first, last))
}

// Statistics that have no place in a row.
fn published(session: &Session, row: &Row) -> Vec<String> {
    let others = session.published.iter().filter(|figure| {
        figure.binding.as_str() == row.binding
            && figure.series == row.series
            && !matches!(figure.statistic.as_str(), "median" | "min" | "max")
    });
    others
        .map(|figure| {
            format!(
                "{}: {} {} {} is printed",
                figure.name,
                figure.statistic,
                short(figure.value),
                figure.unit
            )
        })
        .collect()
}

fn unsettled(session: &Session, row: &Row) -> Vec<String> {
    let mut all = Vec::new();
    for space in &session.spaces {
        let run = session.run_view(&space.run);
        let series = match run {
            Some(run) if space.series.is_empty() => &run.series,
            _ => &space.series,
        };
        if space.settled && space.why.is_none() || *series != row.series {
            continue;
        }
        if let Some(at) = place(row, &space.run) {
            let why = space.why.as_deref().unwrap_or("two readings differ");
            let state = if space.settled { "" } else { "not settled: " };
            all.push(format!("{}, run {at}: {state}{why}", space.name));
        }
    }
    all
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
        let cause = cause.as_deref().unwrap_or("no cause is known");
        Some(format!("run {} {end}: {cause}", at + 1))
    };
    row.runs.iter().enumerate().filter_map(of_run).collect()
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

// Remarks and warnings that were made about its runs, each text once.
fn notes(session: &Session, row: &Row) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    let mut more = 0;
    for (_, note) in &session.notes {
        if note.level == Level::Error {
            continue;
        }
        let of_row = session
            .run_of(note)
            .is_some_and(|run| row.runs.contains(run));
        if !of_row || all.contains(&note.text) {
            continue;
        }
        if all.len() < MOST_NOTES {
            all.push(note.text.clone());
        } else {
            more += 1;
        }
    }
    if more > 0 {
        all.push(format!("and {}", count(more, "more note")));
    }
    all
}

fn place(row: &Row, run: &RunId) -> Option<usize> {
    let at = row.runs.iter().position(|one| one == run)?;
    Some(at + 1)
}

#[cfg(test)]
mod tests;
