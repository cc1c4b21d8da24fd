//! Two methods at once, in words and for programs.

use serde_json::{Value, json};

use crate::event::{First, Phase, count};
use crate::session::{AtOnce, Overlaps, Slowed, Span, Starved};

use super::comparison::Comparison;
use super::figures::{number, trim};
use super::layout::together;

/// What is said of two methods that ran at once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Told {
    /// Which they are.
    pub title: String,
    /// A sentence each.
    pub sentences: Vec<String>,
}

/// Of every pair.
#[must_use]
pub fn at_once(compared: &Comparison) -> Vec<Told> {
    compared
        .at_once
        .iter()
        .map(|pair| told(compared, pair))
        .collect()
}

fn told(compared: &Comparison, pair: &AtOnce) -> Told {
    let [one, other] = &pair.methods;
    let title = if compared.has_many_hosts() {
        format!("{}: {one} and {other}", pair.host)
    } else {
        format!("{one} and {other}")
    };
    let mut sentences: Vec<String> = first(pair).into_iter().collect();
    for side in &pair.sides {
        let both = outside(side, pair.first).map_or(String::new(), |both| format!("; {both}"));
        sentences.push(format!("{}{both}", slowed(compared, pair, side)));
    }
    let starved = pair.starved.iter();
    sentences.extend(starved.map(|(phase, starved)| gave_way(pair, *phase, *starved)));
    Told { title, sentences }
}

// A publication does not say what became of the first.
fn first(pair: &AtOnce) -> Option<String> {
    let overlaps = pair.sides.iter().any(|side| side.overlap.is_some());
    if !overlaps {
        return None;
    }
    Some(match pair.first {
        First::Waits => {
            "both begin a phase together; the one that is done first waits for the other".to_owned()
        }
        First::Restarts => {
            let [once, again] = pair.restarted.map(|times| count(times, "time"));
            let [one, other] = &pair.methods;
            format!(
                "both begin to protect together; the one that is done first is started again as long as the other goes on: {one} {once}, {other} {again}. \
                 What is started again is a load, and not measured"
            )
        }
    })
}

fn slowed(compared: &Comparison, pair: &AtOnce, side: &Slowed) -> String {
    let name = |at: usize| {
        compared
            .rows
            .get(at)
            .map_or(String::new(), |row| compared.name(row))
    };
    let other = pair.method(1 - side.of);
    let times = match side.high {
        _ if !side.is_at_once() => String::new(),
        Some(high) if trim(side.low, 1) == trim(high, 1) => {
            format!(": {}", as_long(&trim(high, 1)))
        }
        Some(high) => format!(
            ": {}",
            as_long(&format!("{}–{}", trim(side.low, 1), trim(high, 1)))
        ),
        None => format!(": {}", as_long(&format!("at least {}", trim(side.low, 1)))),
    };
    format!(
        "{}, {}: {} beside {other}, {} alone{times} ({})",
        side.phase,
        name(side.alone),
        together(&seconds(side.seconds_beside)),
        together(&seconds(side.seconds_alone)),
        together(&format!("n = {}", side.n))
    )
}

fn as_long(times: &str) -> String {
    together(&format!("{times} times as long"))
}

fn outside(side: &Slowed, first: First) -> Option<String> {
    let Overlaps {
        seconds: overlap,
        share,
        ..
    } = side.overlap?;
    let percent = Span {
        low: share.low * 100.0,
        high: share.high * 100.0,
    };
    // Sums of one clock can leave a hair.
    if share.low > 0.995 {
        return Some("both worked for all of it".to_owned());
    }
    let rest = match first {
        First::Waits => "it had the machine for itself",
        First::Restarts => "the other did what is not measured, or was over",
    };
    Some(format!(
        "both worked for {} of it ({} by the clock here), for the rest {rest}",
        together(&format!("{} %", range(percent, 0))),
        together(&seconds(overlap))
    ))
}

fn gave_way(pair: &AtOnce, phase: Phase, starved: Starved) -> String {
    match starved {
        Starved::Method(at) => format!(
            "{phase}: {} is starved: it is slowed more than the other, whatever the ranges leave open",
            pair.method(at)
        ),
        Starved::Neither => format!("{phase}: neither is shown to be slowed more than the other"),
        Starved::TooFew(n) => format!(
            "{phase}: {} too few to say which one is starved",
            together(&format!("n = {n} is"))
        ),
        Starved::Apart => {
            format!("{phase}: they hardly worked at once, so which one is starved is not said")
        }
    }
}

fn range(span: Span, decimals: usize) -> String {
    let (low, high) = (trim(span.low, decimals), trim(span.high, decimals));
    if low == high {
        low
    } else {
        format!("{low}–{high}")
    }
}

fn seconds(span: Span) -> String {
    format!("{} s", range(span, 3))
}

/// For programs.
pub(super) fn json(compared: &Comparison, key: impl Fn(usize) -> Value) -> Value {
    let of = |pair: &AtOnce| {
        let starved = pair.starved.iter().map(|(phase, starved)| {
            let method = match starved {
                Starved::Method(at) => json!(pair.method(*at)),
                Starved::Neither | Starved::TooFew(_) | Starved::Apart => Value::Null,
            };
            json!({ "phase": phase.to_string(), "method": method, "says": gave_way(pair, *phase, *starved) })
        });
        json!({
            "host": pair.host,
            "methods": pair.methods,
            "first": pair.first,
            "restarted": pair.restarted,
            "sides": pair.sides.iter().map(|side| of_side(side, &key)).collect::<Vec<_>>(),
            "starved": starved.collect::<Vec<_>>(),
        })
    };
    compared.at_once.iter().map(of).collect()
}

fn of_side(side: &Slowed, key: &impl Fn(usize) -> Value) -> Value {
    let span = |span: Span, unit: &str| json!({ "low": number(span.low, unit), "high": number(span.high, unit) });
    json!({
        "row": key(side.beside),
        "phase": side.phase.to_string(),
        "unit": "s",
        "alone": span(side.seconds_alone, "s"),
        "beside": span(side.seconds_beside, "s"),
        "n": side.n,
        "slowdown": side.is_at_once().then(|| json!({ "low": number(side.low, ""), "high": side.high.map(|high| number(high, "")) })),
        "overlap": side.overlap.map(|all| span(all.seconds, "s")),
        "share": side.overlap.map(|all| span(all.share, "")),
    })
}
