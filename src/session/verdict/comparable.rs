//! Which rows may be compared: the same host, devices, subject bytes, cache state and load.

use crate::event::Place;
use crate::session::{Row, Series, TOGETHER, labelled};

/// Two readings of the same subject's size that differ by less than this share are the same:
/// files are written to while methods take turns.
const SAME_SIZE: f64 = 0.01;

/// Why two rows may not be compared, whatever the time.
pub(super) fn incomparable(one: &Row, other: &Row) -> Vec<String> {
    if !one.same_machine(other) {
        return vec![if one.host == other.host {
            format!("{} is not the same machine in both recordings", one.host)
        } else {
            format!("different hosts ({}, {})", one.host, other.host)
        }];
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
        if one.machine_of(&x.host) != other.machine_of(&y.host) && x.host != y.host {
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

/// Cache state, load and all other labels must be the same, and the same in all runs.
pub(super) fn labels_apart(one: &Row, x: &Series, other: &Row, y: &Series) -> Vec<String> {
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
        // A value may have commas in it.
        all.extend(match (x.get(key), y.get(key)) {
            (x, y) if key == TOGETHER && x != y => Some(loads_apart(x, y)),
            (Some(x), Some(y)) if x != y => Some(format!("different {key} ({x} · {y})")),
            (Some(x), None) => Some(alone(key, x, one)),
            (None, Some(y)) => Some(alone(key, y, other)),
            _ => None,
        });
    }
    all
}

// What runs beside another method has not the machine that what runs alone has.
fn loads_apart(x: Option<&String>, y: Option<&String>) -> String {
    let told =
        |with: Option<&String>| with.map_or("alone".to_owned(), |with| format!("beside {with}"));
    format!("one ran {}, the other {}", told(x), told(y))
}

// What the other one has instead is not known, or is no such thing.
fn alone(key: &str, value: &str, row: &Row) -> String {
    format!("{} is told of {} alone", labelled(key, value), row.name())
}
