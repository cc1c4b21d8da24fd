//! Verdicts and placement in words, for people.

use crate::event::{EndState, Place, Placement};
use crate::session::{Row, Says, Series, Verdict, place_name, range_holds_median};

use super::figures::{Scale, trim};
use super::layout::together;
use super::sheet::Sheet;

/// Where figures do not come from this program.
pub(super) const PUBLISHED: &str = "figures of a publication, not measured by this program";

/// What is said of each pair of rows, grouped by time: a name, and a sentence a pair.
pub(super) fn verdicts(sheet: &Sheet) -> Vec<(String, Vec<String>)> {
    let mut all: Vec<(String, Vec<String>)> = Vec::new();
    for verdict in &sheet.verdicts {
        let Some(sentence) = sentence(sheet, verdict) else {
            continue;
        };
        let time = time_name(verdict);
        match all.iter_mut().find(|(known, _)| *known == time) {
            Some((_, sentences)) => sentences.push(sentence),
            None => all.push((time, vec![sentence])),
        }
    }
    all
}

/// Two rows, and why they may not be compared.
type Pair<'a> = (usize, usize, &'a str);

/// Pairs that may not be compared, and why, with the times that it is about. Pairs on different
/// hosts are only counted in one sentence: there may be very many.
pub(super) fn not_comparable(sheet: &Sheet) -> Vec<String> {
    let mut all: Vec<(Pair<'_>, Vec<String>)> = Vec::new();
    let mut hosts = false;
    for verdict in &sheet.verdicts {
        let Says::NotComparable(why) = &verdict.says else {
            continue;
        };
        let row = |at: usize| sheet.rows.get(at);
        let (Some(a), Some(b)) = (row(verdict.a), row(verdict.b)) else {
            continue;
        };
        if a.host != b.host {
            hosts = true;
            continue;
        }
        let key = (verdict.a, verdict.b, why.as_str());
        match all.iter_mut().find(|(known, _)| *known == key) {
            Some((_, times)) => times.push(time_name(verdict)),
            None => all.push((key, vec![time_name(verdict)])),
        }
    }
    let name = |at: usize| {
        sheet
            .rows
            .get(at)
            .map_or(String::new(), |row| sheet.name(row))
    };
    let mut sentences: Vec<String> = all
        .into_iter()
        .map(|((a, b, why), times)| {
            format!(
                "{} and {}: {} {why} ({})",
                name(a),
                name(b),
                together("not comparable:"),
                times.join(", ")
            )
        })
        .collect();
    if hosts {
        sentences.push("Rows of different hosts are not comparable.".to_owned());
    }
    sentences
}

fn time_name(verdict: &Verdict) -> String {
    let mut name = verdict.time.clone();
    for (key, value) in &verdict.labels {
        name = format!("{name} ({key} {value})");
    }
    name
}

fn sentence(sheet: &Sheet, verdict: &Verdict) -> Option<String> {
    let (one, other) = (sheet.rows.get(verdict.a)?, sheet.rows.get(verdict.b)?);
    let first = &one.times.get(verdict.column_a)?.series;
    let second = &other.times.get(verdict.column_b)?.series;
    let (a, b) = (sheet.name(one), sheet.name(other));
    let ranges = together(&format!("{} and {} s", range(first)?, range(second)?));
    let ratio = match (verdict.low, verdict.high) {
        (Some(low), Some(high)) => format!(", {}x–{}x", trim(low, 1), trim(high, 1)),
        (Some(low), None) => together(&format!(", at least {}x", trim(low, 1))),
        (None, _) => String::new(),
    };
    let counts = if first.n() == second.n() {
        format!("n = {}", first.n())
    } else {
        format!("n = {} and {}", first.n(), second.n())
    };
    let n = together(&counts);
    let few = if first.n().min(second.n()) < 3 {
        ", too few values"
    } else {
        ""
    };
    Some(match &verdict.says {
        Says::NotComparable(_) => return None,
        Says::NoDifference => {
            let says = together(&verdict.says());
            format!("{a} and {b}: {says} ({ranges}, {n}{few})")
        }
        Says::Apart { .. } => {
            let says = together(&verdict.says());
            format!("{a} and {b}: {says}{ratio} ({ranges})")
        }
        Says::Faster => format!("{a} is faster than {b}{ratio} ({ranges}, {n})"),
        Says::Slower => format!("{b} is faster than {a}{ratio} ({ranges}, {n})"),
    })
}

fn range(series: &Series) -> Option<String> {
    Some(Scale::of(series).range(series.min()?, series.max()?))
}

/// How far the ranges of each number of values can be trusted: one sentence.
pub(super) fn trust(rows: &[Row]) -> Option<String> {
    let times = rows.iter().flat_map(|row| &row.times);
    let mut all: Vec<usize> = times
        .map(|time| time.series.n())
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

/// A tick a run, how many of how many, and of what: `sha256 ✓ ✓ · 2/3, 8 of 16 GiB`.
pub(super) fn proofs(row: &Row) -> Option<String> {
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
