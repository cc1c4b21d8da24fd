//! What is said of two rows beside each other, and of those that may not be compared.

mod many;

use std::collections::HashMap;

use crate::session::{Says, Series, Verdict, labelled};

use super::comparison::Comparison;
use super::figures::{Scale, trim};
use super::layout::together;
use super::words::{counts, first_of, listed};

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
pub(super) fn by_time(compared: &Comparison) -> Vec<(String, Vec<String>)> {
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

fn range(series: &Series) -> Option<String> {
    Some(Scale::of(series).range(series.min()?, series.max()?))
}
