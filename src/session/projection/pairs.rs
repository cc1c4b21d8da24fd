//! Which rows of two methods make a pipeline, and with which rates.

use std::collections::BTreeSet;

use super::{Part, is_alone, overlap};
use crate::event::Phase;
use crate::session::{Overlap, Row, Session, Speed, TOGETHER, TimeColumn, beside};

/// A row of a method by itself, and one beside the other method.
#[derive(Clone, Copy)]
pub(super) struct Half<'a> {
    alone: &'a Row,
    beside: Option<&'a Row>,
}

impl<'a> Half<'a> {
    pub fn of(rows: &'a [Row], alone: &'a Row, other: &str) -> Self {
        let series = beside(&alone.series, other);
        let is_it = |row: &&Row| {
            row.session == alone.session
                && row.binding == alone.binding
                && row.series == series
                && row.labels.get(TOGETHER).is_some_and(|with| with == other)
        };
        Self {
            alone,
            beside: rows.iter().find(is_it),
        }
    }

    pub fn part(&self, session: &Session) -> Option<Part> {
        let alone = Speed::of(self.alone, Phase::Protect)?;
        let measured = |row| Some((Speed::of(row, Phase::Protect)?, met(session, row)));
        let (beside, at_once) = match self.beside.and_then(measured) {
            None | Some((_, Met::Hardly)) => (None, false),
            Some((whole, Met::Untold)) => (Some(whole), false),
            Some((whole, Met::For(share))) => match overlap::rate(whole, alone, share) {
                None => (Some(whole), false),
                rate => (rate, true),
            },
        };
        Some(Part {
            name: self.alone.name(),
            alone,
            beside,
            at_once,
        })
    }
}

// How much of their own time the runs of a row protected beside the other method.
#[derive(Clone, Copy)]
enum Met {
    // No times of day are told, as in a publication.
    Untold,
    // One of them too little to tell anything of both at once.
    Hardly,
    // The least and the most share of it.
    For((f64, f64)),
}

fn met(session: &Session, row: &Row) -> Met {
    let protects = |time: &&TimeColumn| time.series.phase == Some(Phase::Protect);
    let times = row.times.iter().filter(protects);
    let runs: BTreeSet<usize> = times.flat_map(|time| time.series.runs.clone()).collect();
    let overlap = |at: usize| {
        let run = session.run_view(row.runs.get(at)?)?;
        session.at_once(run, Phase::Protect)
    };
    let overlaps: Option<Vec<Overlap>> = runs.into_iter().map(overlap).collect();
    match overlaps {
        None => Met::Untold,
        Some(all) if all.is_empty() => Met::Untold,
        Some(all) if !all.iter().all(Overlap::is_real) => Met::Hardly,
        Some(all) => {
            let shares = || all.iter().map(Overlap::share);
            Met::For((
                shares().fold(f64::INFINITY, f64::min),
                shares().fold(0.0, f64::max),
            ))
        }
    }
}

pub(super) type Pair<'a> = [Half<'a>; 2];

// The rows of two methods, each with each; only those that were measured together, where some were.
pub(super) fn wanted_pairs<'a>(rows: &'a [Row], first: &str, then: &str) -> Vec<Pair<'a>> {
    let of = |method: &str, other: &str| -> Vec<Half<'a>> {
        let alone = rows
            .iter()
            .filter(|row| is_alone(row) && row.method == method)
            .filter(|row| Speed::of(row, Phase::Protect).is_some());
        let all: Vec<Half<'a>> = alone.map(|row| Half::of(rows, row, other)).collect();
        let measured = all.iter().any(|half| half.beside.is_some());
        all.into_iter()
            .filter(|half| half.beside.is_some() || !measured)
            .collect()
    };
    let seconds = of(then, first);
    let firsts = of(first, then).into_iter();
    firsts
        .flat_map(|one| seconds.iter().map(move |two| [one, *two]))
        .collect()
}

// Each row that was measured beside another method, and that method's; a row of the plan stands before what it was followed by.
pub(super) fn measured_pairs(rows: &[Row]) -> Vec<Pair<'_>> {
    let mut known: Vec<[&str; 2]> = Vec::new();
    for row in rows {
        if let Some(other) = row.labels.get(TOGETHER) {
            let pair = [row.method.as_str(), other.as_str()];
            let [one, two] = pair;
            if !known.contains(&pair) && !known.contains(&[two, one]) {
                known.push(pair);
            }
        }
    }
    let all = known.into_iter();
    all.flat_map(|[first, then]| wanted_pairs(rows, first, then))
        .collect()
}
