//! Verdicts and placement in words, for people.

mod many;

use std::collections::{HashMap, HashSet};

use crate::event::{EndState, Place, Placement};
use crate::session::{Row, Says, Series, Verdict, labelled, place_name, range_holds_median};

use super::comparison::Comparison;
use super::figures::{Scale, trim};
use super::layout::together;

/// Where figures do not come from this program.
pub(super) const PUBLISHED: &str = "figures of a publication, not measured by this program";

/// A sentence of a comparison.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sentence {
    /// Whether it says that one is faster.
    pub is_verdict: bool,
    /// In words.
    pub text: String,
}

/// More pairs than this are told together, a sentence for each row.
const MOST_PAIRS: usize = 6;

/// What is said of each pair of rows, grouped by time: a name, and its sentences.
pub(super) fn verdicts(compared: &Comparison) -> Vec<(String, Vec<String>)> {
    let mut names: Vec<String> = Vec::new();
    let mut of_name: Vec<Vec<&Verdict>> = Vec::new();
    let mut known: HashMap<String, usize> = HashMap::new();
    for verdict in &compared.verdicts {
        let name = time_name(verdict);
        let at = *known.entry(name.clone()).or_insert(names.len());
        if at == names.len() {
            names.push(name);
            of_name.push(Vec::new());
        }
        if let Some(all) = of_name.get_mut(at) {
            all.push(verdict);
        }
    }
    let sentences = |all: Vec<&Verdict>| -> Vec<String> {
        let all = said(compared, &all).into_iter();
        all.map(|sentence| sentence.text).collect()
    };
    let all = names.into_iter().zip(of_name);
    let all = all.map(|(name, verdicts)| (name, sentences(verdicts)));
    all.filter(|(_, sentences)| !sentences.is_empty()).collect()
}

/// What is said of the pairs of some verdicts on one time. Those that may not be compared are not
/// among it.
#[must_use]
pub fn said(compared: &Comparison, of: &[&Verdict]) -> Vec<Sentence> {
    let is_said = |verdict: &&Verdict| !matches!(verdict.says, Says::NotComparable(_));
    let all: Vec<&Verdict> = of.iter().copied().filter(is_said).collect();
    if all.len() > MOST_PAIRS {
        return many::told(compared, &all);
    }
    all.into_iter()
        .filter_map(|verdict| {
            Some(Sentence {
                is_verdict: matches!(verdict.says, Says::Faster | Says::Slower),
                text: sentence(compared, verdict)?,
            })
        })
        .collect()
}

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

/// Times that a sentence names.
const MOST_TIMES: usize = 12;

/// Two rows, and why they may not be compared.
type Pair<'a> = (usize, usize, &'a [String]);

/// Pairs that may not be compared, and why, with the times that it is about. Pairs of different
/// machines share a sentence: there may be very many.
#[must_use]
pub fn not_comparable(compared: &Comparison) -> Vec<String> {
    let mut all: Vec<(Pair<'_>, Vec<String>)> = Vec::new();
    let mut known: HashMap<Pair<'_>, usize> = HashMap::new();
    for verdict in &compared.verdicts {
        let Says::NotComparable(why) = &verdict.says else {
            continue;
        };
        let key = (verdict.a, verdict.b, why.as_slice());
        let at = *known.entry(key).or_insert(all.len());
        match all.get_mut(at) {
            Some((_, times)) => times.push(time_name(verdict)),
            None => all.push((key, vec![time_name(verdict)])),
        }
    }
    let name = |at: usize| {
        let row = compared.rows.get(at);
        row.map_or(String::new(), |row| compared.name(row))
    };
    let mut sentences: Vec<String> = all
        .into_iter()
        .map(|((a, b, why), times)| {
            format!(
                "{} and {}: {} {} ({})",
                name(a),
                name(b),
                together("not comparable:"),
                why.join("; "),
                first_of(&times, MOST_TIMES)
            )
        })
        .collect();
    sentences.extend(compared.is_too_many().then(|| {
        format!(
            "{} rows: too many to be compared two by two.",
            compared.rows.len()
        )
    }));
    sentences.extend(machines_apart(compared));
    sentences
}

// Between machines there are no verdicts, only this.
fn machines_apart(compared: &Comparison) -> Option<String> {
    let machines = compared.machines();
    let first = |rows: &Vec<usize>| Some(compared.rows.get(*rows.first()?)?.host.clone());
    let mut hosts: Vec<String> = machines.iter().filter_map(first).collect();
    if hosts.len() < 2 {
        return None;
    }
    let more = hosts.len().saturating_sub(MOST_HOSTS);
    hosts.truncate(MOST_HOSTS);
    if more > 0 {
        hosts.push(format!("{more} more"));
    }
    Some(format!(
        "{} are different machines: no verdict between them.",
        listed(&hosts)
    ))
}

/// Hosts that a sentence names.
const MOST_HOSTS: usize = 8;

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

fn time_name(verdict: &Verdict) -> String {
    let mut name = verdict.time.clone();
    for (key, value) in &verdict.labels {
        name = format!("{name} ({})", labelled(key, value));
    }
    name
}

fn series<'a>(compared: &'a Comparison, verdict: &Verdict) -> Option<(&'a Series, &'a Series)> {
    let of = |row: usize, column: usize| {
        let row = compared.rows.get(row)?;
        Some(&row.times.get(column)?.series)
    };
    Some((
        of(verdict.a, verdict.column_a)?,
        of(verdict.b, verdict.column_b)?,
    ))
}

/// How many times longer the slower one takes, never as one bare figure: `18x–67x`, `up to 1.6x`,
/// `at least 28x`.
fn ratio(verdict: &Verdict) -> Option<String> {
    let x = |ratio: f64| format!("{}x", trim(ratio, 1));
    let low = verdict.low.filter(|low| *low > 1.0);
    Some(match (low, verdict.high) {
        (Some(low), Some(high)) if x(low) == x(high) => x(low),
        (Some(low), Some(high)) => format!("{}–{}", x(low), x(high)),
        (Some(low), None) => format!("at least {}", x(low)),
        // Ranges that hardly part: 1x would read as if there were none.
        (None, Some(high)) => format!("up to {}", x(high)),
        (None, None) => return None,
    })
}

fn sentence(compared: &Comparison, verdict: &Verdict) -> Option<String> {
    let (one, other) = (compared.rows.get(verdict.a)?, compared.rows.get(verdict.b)?);
    let (first, second) = series(compared, verdict)?;
    let (a, b) = (compared.name(one), compared.name(other));
    let figures = |x: &Series, y: &Series| {
        let ranges = format!("{} and {} s", range(x)?, range(y)?);
        let n = if (x.n(), x.in_runs()) == (y.n(), y.in_runs()) {
            format!("n = {}", counts(x))
        } else {
            format!("n = {} and {}", counts(x), counts(y))
        };
        Some((together(&ranges), together(&n)))
    };
    let faster = |fast: &str, slow: &str, (ranges, n): (String, String)| {
        let takes = match ratio(verdict) {
            Some(ratio) => format!(", which takes {} as long", together(&ratio)),
            None => String::new(),
        };
        format!("{fast} is faster than {slow}{takes} ({ranges}, {n})")
    };
    let (ranges, n) = figures(first, second)?;
    let says = together(&verdict.says());
    Some(match &verdict.says {
        Says::NotComparable(_) => return None,
        Says::NoDifference => {
            let is_few = first.in_runs().min(second.in_runs()) < 3;
            let is_repeated = [first, second]
                .iter()
                .any(|series| series.n() > series.in_runs());
            let few = match (is_few, is_repeated) {
                (false, _) => "",
                (true, false) => ", too few values",
                (true, true) => ", too few runs",
            };
            format!("{a} and {b}: {says} ({ranges}, {n}{few})")
        }
        Says::Apart { .. } => {
            let ratio = ratio(verdict).map_or(String::new(), |ratio| format!(", {ratio}"));
            format!("{a} and {b}: {says}{} ({ranges})", together(&ratio))
        }
        Says::Faster => faster(&a, &b, (ranges, n)),
        Says::Slower => faster(&b, &a, figures(second, first)?),
    })
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

fn range(series: &Series) -> Option<String> {
    Some(Scale::of(series).range(series.min()?, series.max()?))
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
