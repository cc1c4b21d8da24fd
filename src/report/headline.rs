//! What was compared and what came out, in a sentence or two for someone who has never seen it.
//! It says nothing that the verdicts do not.

mod came_out;

use std::collections::{BTreeMap, BTreeSet, HashMap};

use crate::event::{EndState, Phase, count as counted};
use crate::session::{Outcome, Row, Series};

use super::comparison::Comparison;
use super::figures::{Scale, trim};
use super::words::listed;
use came_out::{CameOut, printed};

/// Names that a sentence lists; more are counted.
const MOST_NAMES: usize = 4;

/// The whole of it.
#[must_use]
pub fn headline(compared: &Comparison) -> String {
    if compared.rows.is_empty() {
        return "No run has begun.".to_owned();
    }
    let has_ended = compared.rows.iter().any(|row| row.counted().0 > 0);
    let is_known = |row: &Row| row.times.iter().any(|time| time.series.is_known());
    if !has_ended && !compared.rows.iter().any(is_known) {
        return "Nothing is measured yet: no run has ended.".to_owned();
    }
    let mut sentences = Vec::new();
    let times = main_times(compared);
    sentences.push(if times.is_empty() {
        format!("{}: nothing has been measured yet.", subject(compared))
    } else {
        format!("{}: {}.", subject(compared), outcomes(compared, &times))
    });
    sentences.extend(proofs(compared));
    sentences.extend(ends(compared));
    let mut all = sentences.join(" ");
    if compared.is_published {
        all = format!("Figures of a publication, not measured here. {all}");
    }
    if is_said_first(compared) {
        return all;
    }
    format!(
        "So far, after {} of {} runs: {all}",
        compared.over, compared.planned
    )
}

// What goes on is told to be so in front of all.
fn is_said_first(compared: &Comparison) -> bool {
    compared.is_over || compared.planned == 0
}

/// The times that a comparison is about: that of bringing back, which most rows have, then those
/// of rows that bring back in another way. Where nothing is brought back, the first time.
#[must_use]
pub fn main_times(compared: &Comparison) -> Vec<String> {
    let brings_back = |series: &Series| {
        series.phase == Some(Phase::Restore)
            || series.phase.is_none() && ["restore", "rollback"].contains(&series.name.as_str())
    };
    let of_row = |row: &Row, of: &dyn Fn(&Series) -> bool| -> Vec<String> {
        let known = row.times.iter().map(|time| &time.series);
        let known = known.filter(|series| series.is_known() && of(series));
        known.map(Series::title).collect()
    };
    let rows = compared.rows.iter().map(|row| of_row(row, &brings_back));
    let mut all = most_common(&rows.collect::<Vec<_>>());
    if all.is_empty() {
        let rows = compared.rows.iter();
        all.extend(rows.flat_map(|row| of_row(row, &|_| true)).next());
    }
    all
}

// The title that most rows have, of several the first; then of the rows without it, and so on.
fn most_common(rows: &[Vec<String>]) -> Vec<String> {
    let mut titles: Vec<&str> = Vec::new();
    let mut rows_of: HashMap<&str, Vec<usize>> = HashMap::new();
    for (at, row) in rows.iter().enumerate() {
        for title in row {
            let of = rows_of.entry(title).or_insert_with(|| {
                titles.push(title);
                Vec::new()
            });
            if of.last() != Some(&at) {
                of.push(at);
            }
        }
    }
    let mut left: Vec<bool> = rows.iter().map(|row| !row.is_empty()).collect();
    let mut count: HashMap<&str, usize> = rows_of
        .iter()
        .map(|(title, rows)| (*title, rows.len()))
        .collect();
    let mut all = Vec::new();
    while all.len() < MOST_TIMES && left.contains(&true) {
        // The last one of the highest is taken, so from the end.
        let most = titles.iter().rev().max_by_key(|title| count.get(*title));
        let Some(most) = most.copied() else { break };
        all.push(most.to_owned());
        for at in rows_of.get(most).into_iter().flatten() {
            if left.get_mut(*at).is_some_and(std::mem::take) {
                for title in rows.get(*at).into_iter().flatten() {
                    if let Some(count) = count.get_mut(title.as_str()) {
                        *count = count.saturating_sub(1);
                    }
                }
            }
        }
    }
    all
}

/// So many ways to tell how long bringing back takes are told of.
const MOST_TIMES: usize = 8;

// `3 ways to bring back 1 GiB on local, 4 times each`.
fn subject(compared: &Comparison) -> String {
    let rows = &compared.rows;
    let ways: BTreeSet<_> = rows
        .iter()
        .map(|row| (&row.method, &row.settings))
        .collect();
    let ways = match ways.len() {
        1 if is_said_first(compared) => "One way".to_owned(),
        1 => "one way".to_owned(),
        n => format!("{n} ways"),
    };
    let everything: Vec<usize> = (0..rows.len()).collect();
    let hosts: Vec<String> = compared
        .hosts(&everything)
        .into_iter()
        .filter(|host| !host.is_empty())
        .map(str::to_owned)
        .collect();
    let on = match hosts.len() {
        0 => String::new(),
        n if n <= MOST_NAMES => format!(" on {}", listed(&hosts)),
        n => format!(" on {n} hosts"),
    };
    format!("{ways} to bring back {}{on}, {}", what(rows), times(rows))
}

fn what(rows: &[Row]) -> String {
    let sizes = rows
        .iter()
        .flat_map(|row| row.subject_bytes.iter().copied());
    let sizes: BTreeSet<u64> = sizes.collect();
    if let (Some(low), Some(high)) = (sizes.first(), sizes.last()) {
        return bytes(*low, *high);
    }
    let subjects: BTreeSet<String> = rows.iter().map(|row| row.subject.to_string()).collect();
    match subjects.first() {
        Some(one) if subjects.len() == 1 && one != ":" => one.clone(),
        _ => "what they protect".to_owned(),
    }
}

// `1 GiB`, `0.5–1 GiB`.
fn bytes(low: u64, high: u64) -> String {
    let scale = Scale::of(&Series {
        unit: "B".to_owned(),
        values: vec![high as f64],
        ..Series::default()
    });
    let short = |bytes: u64| trim(bytes as f64 / scale.divisor(), 2);
    let (low, high) = (short(low), short(high));
    if low == high {
        format!("{high} {}", scale.unit())
    } else {
        format!("{low}–{high} {}", scale.unit())
    }
}

// Runs that are over: what still goes on has given nothing yet.
fn times(rows: &[Row]) -> String {
    let counts: BTreeSet<usize> = rows.iter().map(|row| row.counted().0).collect();
    let times = |n: usize| match n {
        0 => "not once yet".to_owned(),
        1 => "once".to_owned(),
        2 => "twice".to_owned(),
        n => format!("{n} times"),
    };
    match (counts.first(), counts.last()) {
        (Some(0), Some(0)) | (None, _) => times(0),
        (Some(low), Some(high)) if low == high => {
            let each = if rows.len() > 1 { " each" } else { "" };
            format!("{}{each}", times(*low))
        }
        (Some(low), Some(high)) => format!("{low} to {high} times"),
        _ => times(0),
    }
}

// What came out on each machine: between machines nothing is said, nor between times.
fn outcomes(compared: &Comparison, times: &[String]) -> String {
    let machines = compared.machines();
    if machines.len() > MOST_NAMES {
        return format!("{} machines, each by itself below", machines.len());
    }
    let of_machine = |rows: &Vec<usize>| {
        let all = times.iter().map(|time| CameOut::of(compared, rows, time));
        let mut says: Vec<String> = all.filter_map(|out| out.says()).collect();
        if says.is_empty() {
            let printed = times
                .iter()
                .filter_map(|time| printed(compared, rows, time));
            let printed: Vec<String> = printed.collect();
            says.push(match rows.len() {
                _ if printed.is_empty() => format!("no {} counts yet", listed(times)),
                1 => format!("{}, without its values", printed.join(", ")),
                _ => format!(
                    "{}, without the values that would tell which is faster",
                    printed.join(", ")
                ),
            });
        }
        let says = says.join(", ");
        if machines.len() == 1 {
            return says;
        }
        let hosts = compared.hosts(rows).into_iter();
        let hosts: Vec<String> = hosts.map(str::to_owned).collect();
        format!("on {} {says}", listed(&hosts))
    };
    let all: Vec<String> = machines.iter().map(of_machine).collect();
    let apart = match times {
        [_, _, ..] => format!("; {} are not the same and not compared", listed(times)),
        _ => String::new(),
    };
    format!("{}{apart}", all.join("; "))
}

// Each run once: it may have a part in several series.
fn proofs(compared: &Comparison) -> Option<String> {
    let mut all: BTreeMap<(&str, &str), bool> = BTreeMap::new();
    let mut by = BTreeSet::new();
    for row in &compared.rows {
        if row.of == 0 {
            continue;
        }
        if !row.by.is_empty() {
            by.insert(row.by.as_str());
        }
        for ((run, outcome), proof) in row.runs.iter().zip(&row.outcomes).zip(&row.proofs) {
            if outcome.is_over() {
                let key = (row.session.as_str(), run.as_str());
                all.insert(key, *proof == Some(true));
            }
        }
    }
    let held = all.values().filter(|held| **held).count();
    let by: Vec<String> = by.into_iter().map(str::to_owned).collect();
    let by = if by.is_empty() {
        String::new()
    } else {
        format!(" by {}", listed(&by))
    };
    match (held, all.len()) {
        (_, 0) if compared.over > 0 => Some("Nothing proves what came back.".to_owned()),
        (_, 0) => None,
        (1, 1) => Some(format!("What came back is proved{by}.")),
        (held, all) if held == all => {
            Some(format!("What came back is proved{by} in all {all} runs."))
        }
        (held, all) => Some(format!(
            "What came back is proved{by} in {held} of {all} runs."
        )),
    }
}

// `1 run failed, 2 were stopped`.
fn ends(compared: &Comparison) -> Option<String> {
    let mut all: BTreeMap<(&str, &str), Outcome> = BTreeMap::new();
    for row in &compared.rows {
        for (run, outcome) in row.runs.iter().zip(&row.outcomes) {
            all.insert((row.session.as_str(), run.as_str()), *outcome);
        }
    }
    let count = |end: EndState| {
        all.values()
            .filter(|one| **one == Outcome::Ended(end))
            .count()
    };
    let parts: Vec<String> = [
        (EndState::Failed, "failed"),
        (EndState::Stopped, "stopped"),
        (EndState::Lost, "lost"),
    ]
    .into_iter()
    .filter_map(|(end, word)| match count(end) {
        0 => None,
        n => Some(format!("{} {word}", counted(n, "run"))),
    })
    .collect();
    (!parts.is_empty()).then(|| format!("{}, out of the medians.", listed(&parts)))
}

#[cfg(test)]
mod tests;
