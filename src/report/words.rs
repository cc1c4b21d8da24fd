//! Rows, placement and counts in words, for people.

use std::collections::HashSet;

use crate::event::{EndState, Place, Placement};
use crate::session::{Row, Series, labelled, place_name, range_holds_median};

use super::comparison::Comparison;
use super::layout::together;

/// Where figures do not come from this program.
pub(super) const PUBLISHED: &str = "figures of a publication, not measured by this program";

/// `a`, `a and b`, `a, b and c`.
#[must_use]
pub(super) fn listed(names: &[String]) -> String {
    match names {
        [] => String::new(),
        [one] => one.clone(),
        [all @ .., last] => format!("{} and {last}", all.join(", ")),
    }
}

/// The first names, and how many more there are. A name may have commas in it.
pub(super) fn first_of(names: &[String], most: usize) -> String {
    match names.split_at_checked(most) {
        Some((first, rest)) if !rest.is_empty() => {
            format!("{} and {} more", first.join(" · "), rest.len())
        }
        _ => names.join(" · "),
    }
}

/// Names that are one machine, a sentence each.
#[must_use]
pub fn one_machine(compared: &Comparison) -> Vec<String> {
    let names = |rows: &Vec<usize>| -> Vec<String> {
        let hosts = compared.hosts(rows).into_iter();
        hosts.map(str::to_owned).collect()
    };
    compared
        .machines()
        .iter()
        .map(names)
        .filter(|names| names.len() > 1)
        .map(|names| format!("{} are names of one machine.", listed(&names)))
        .collect()
}

/// How many runs have a value: `4`; where one has several, `9 values in 3 runs`.
#[must_use]
pub fn counts(series: &Series) -> String {
    match (series.n(), series.in_runs()) {
        (values, runs) if values == runs => values.to_string(),
        (values, 1) => format!("{values} values in 1 run"),
        (values, runs) => format!("{values} values in {runs} runs"),
    }
}

/// The same in a column: `4`, `9 in 3`.
pub(super) fn short_counts(series: &Series) -> String {
    match (series.n(), series.in_runs()) {
        (values, runs) if values == runs => values.to_string(),
        (values, runs) => format!("{values} in {runs}"),
    }
}

/// How far the ranges of each number of values can be trusted: one sentence.
#[must_use]
pub fn trust(rows: &[Row]) -> Option<String> {
    let times = rows.iter().flat_map(|row| &row.times);
    let mut all: Vec<usize> = times
        .map(|time| time.series.in_runs())
        .filter(|n| *n >= 2)
        .collect();
    all.sort_unstable();
    all.dedup();
    let parts: Vec<String> = all
        .into_iter()
        .take(6)
        .filter_map(|n| {
            let percent = range_holds_median(n)? * 100.0;
            // 100 % is never reached.
            let percent = percent.round().min(99.0);
            Some(together(&format!("{percent} % at n = {n}")))
        })
        .collect();
    (!parts.is_empty()).then(|| {
        format!(
            "The range from lowest to highest holds the true median with {}.",
            parts.join(", ")
        )
    })
}

/// Original and copy: `sda → nas:sdb`.
pub(super) fn placement(placement: &Placement) -> String {
    let (original, copy) = places(placement);
    let told = |text: Option<String>| text.unwrap_or_else(|| "?".to_owned());
    format!("{} → {}", told(original), told(copy))
}

/// Names of original and copy, with their hosts where these differ; none where nothing is known.
pub(super) fn places(placement: &Placement) -> (Option<String>, Option<String>) {
    let apart = placement.original.host != placement.copy.host;
    let name = |place: &Place| {
        let name = place_name(place);
        match () {
            () if name.is_empty() => None,
            () if apart && !place.host.is_empty() => Some(format!("{}:{name}", place.host)),
            () => Some(name),
        }
    };
    (name(&placement.original), name(&placement.copy))
}

/// What takes original and copy together: the disk or the machine that they share.
#[must_use]
pub fn fails_with(row: &Row) -> String {
    let Some(placement) = &row.placement else {
        return "not known".to_owned();
    };
    let (original, copy) = (&placement.original, &placement.copy);
    let host = |place: &Place| row.machine_of(&place.host).to_owned();
    match row.same_disk() {
        Some(true) => {
            let shared: Vec<&str> = original
                .disks
                .iter()
                .filter(|disk| copy.disks.contains(disk))
                .map(String::as_str)
                .collect();
            if shared.is_empty() {
                place_name(original)
            } else {
                shared.join("+")
            }
        }
        Some(false) if host(original) == host(copy) => format!("host {}", original.host),
        Some(false) => "no one disk or host".to_owned(),
        None => "not known".to_owned(),
    }
}

/// What shares a disk with its original, in a sentence.
#[must_use]
pub fn same_disk(compared: &Comparison) -> Option<String> {
    let shares = |row: &&Row| row.same_disk() == Some(true);
    let names: Vec<String> = compared
        .rows
        .iter()
        .filter(shares)
        .map(|row| compared.name(row))
        .collect();
    let who = match names.len() {
        0 => return None,
        n if n == compared.rows.len() && n > 1 => "all of them".to_owned(),
        _ => listed(&names),
    };
    Some(format!(
        "{who}: the copy shares a disk with its original; one dead disk takes both."
    ))
}

/// A tick a run, how many of how many, and of what: `sha256 ✓ ✓ · 2/3, 8 of 16 GiB`.
#[must_use]
pub fn proofs(row: &Row) -> Option<String> {
    if !row.restored_of.is_empty() {
        return Some("not restored".to_owned());
    }
    if row.of == 0 {
        return None;
    }
    let ticks: Vec<&str> = row
        .proofs
        .iter()
        .map(|held| match held {
            Some(true) => "✓",
            Some(false) => "✗",
            None => "·",
        })
        .collect();
    let mut text = format!("{} {}/{}", ticks.join(" "), row.matched, row.of);
    if !row.by.is_empty() {
        text = format!("{} {text}", row.by);
    }
    if !row.share.is_empty() {
        text = format!("{text}, {}", row.share);
    }
    Some(text)
}

/// Under which condition its runs went: `cold`, `cold/warm`, `load fio`.
#[must_use]
pub fn conditions(row: &Row) -> String {
    let short = |key: &str, value: &str| match key {
        "cache" if value != "as it was" => value.to_owned(),
        "load" if ["idle", "none"].contains(&value) => "idle".to_owned(),
        _ => labelled(key, value),
    };
    let shared = row.labels.iter().map(|(key, value)| short(key, value));
    let mixed = row.mixed.iter().map(|(key, values)| {
        let mut known = HashSet::new();
        let values = values.iter().map(String::as_str);
        let values = values.map(|value| if value.is_empty() { "not told" } else { value });
        let distinct: Vec<&str> = values.filter(|value| known.insert(*value)).collect();
        short(key, &distinct.join("/"))
    });
    let all: Vec<String> = mixed.chain(shared).collect();
    all.join(", ")
}

/// How many of its runs count: `4`, `3 of 4`.
#[must_use]
pub fn counted(row: &Row) -> String {
    match row.counted() {
        (over, good) if over == good => good.to_string(),
        (over, good) => format!("{good} of {over}"),
    }
}

/// The end states of a row's runs: `3 × ok`, `ok, failed, ok`.
pub(super) fn states(states: &[EndState]) -> String {
    match states {
        [] => String::new(),
        [one] => one.to_string(),
        [first, rest @ ..] if rest.iter().all(|state| state == first) => {
            format!("{} × {first}", states.len())
        }
        all => {
            let names: Vec<String> = all.iter().map(ToString::to_string).collect();
            names.join(", ")
        }
    }
}
