//! How long for other disks: measured rates, carried over to sizes that nobody has measured, with all that is assumed for it.

mod assumed;
mod older;
mod overlap;
mod pairs;
mod pipeline;

use std::collections::BTreeSet;

use super::{Row, Session, Span, Speed, TOGETHER, Tally, labelled};
use crate::event::{Origin, Phase, Published};
use pairs::{Half, Pair, measured_pairs, wanted_pairs};
use pipeline::Rates;

/// What is asked.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Wanted {
    /// Sizes of the disks, in bytes; where none is said, one as big as what was measured.
    pub disks: Vec<u64>,
    /// Two methods, the second of which begins with a disk when the first has done with it; where none are said, those that were
    /// measured together.
    pub pipeline: Option<[String; 2]>,
}

/// The answer.
#[derive(Debug, Clone)]
pub struct Projection {
    /// The session that the rates are of.
    pub session: String,
    /// Whether they are a publication's.
    pub is_published: bool,
    /// Sizes, in bytes.
    pub disks: Vec<u64>,
    /// Whether they were said; else there is one as big as what was measured.
    pub said: bool,
    /// Each method that was measured, by itself.
    pub ways: Vec<Way>,
    /// Rows whose rates are not known.
    pub without: Vec<Without>,
    /// Rows whose bytes are those that were counted or left, by name: their method did not say what a step moves.
    pub older: Vec<String>,
    /// Two methods behind each other.
    pub pipelines: Vec<Pipeline>,
    /// What a publication expects, beside what its rates give.
    pub printed: Vec<Printed>,
    /// All that is assumed, a sentence each.
    pub assumed: Vec<String>,
}

/// A row that is not carried over.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Without {
    /// Its name.
    pub name: String,
    /// Why not.
    pub why: String,
}

/// A method, carried over.
#[derive(Debug, Clone)]
pub struct Way {
    /// Method, series and what else tells it from others.
    pub name: String,
    /// Its method.
    pub method: String,
    /// What it was measured under, by its labels.
    pub under: Vec<String>,
    /// Bytes that it moved when it was measured.
    pub measured: Option<u64>,
    /// Rate of protecting.
    pub protect: Option<Speed>,
    /// Rate of bringing back.
    pub restore: Option<Speed>,
    /// Seconds to protect all disks, one after another.
    pub protecting: Option<Span>,
    /// Seconds to bring all back, one after another.
    pub restoring: Option<Span>,
}

/// Two methods behind each other.
#[derive(Debug, Clone, PartialEq)]
pub struct Pipeline {
    /// The first.
    pub first: Part,
    /// The second.
    pub then: Part,
    /// Seconds until the first has done with all disks.
    pub copied: Span,
    /// Seconds until the second one has.
    pub total: Span,
    /// Seconds in which both go on.
    pub both: Span,
}

/// One of two methods.
#[derive(Debug, Clone, PartialEq)]
pub struct Part {
    /// Name of its row.
    pub name: String,
    /// Its rate by itself.
    pub alone: Speed,
    /// Its rate beside the other one; absent where that was not measured, and then it is taken as not slowed.
    pub beside: Option<Speed>,
    /// Whether that is of the time alone in which both went on, not of the whole of its steps.
    pub at_once: bool,
}

/// What a publication expects.
#[derive(Debug, Clone, PartialEq)]
pub struct Printed {
    /// What it is about.
    pub name: String,
    /// Seconds that it prints.
    pub seconds: f64,
    /// Disks that it is about, in bytes.
    pub disks: Vec<u64>,
    /// What its own rates give for these.
    pub ours: Pipeline,
    /// The same, where the last disk goes through the first method alone, in seconds.
    pub all_but_last: Span,
}

/// Why no pipeline can be told.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PipelineError {
    /// A method of it has no rate.
    #[error(
        "no rate of {method} is in the recording, so nothing can be told of a pipeline with it; there are rates of {known}"
    )]
    NoRate {
        /// The method.
        method: String,
        /// Methods that have one.
        known: String,
    },
    /// More bytes than a number here holds.
    #[error("the disks have more than 16 EiB together; name fewer or smaller ones")]
    TooMuch,
    /// It is of one method.
    #[error(
        "a pipeline is of two different methods, not of {0} twice: how much a method slows itself was not measured; name another one"
    )]
    Twice(String),
}

/// Pipelines that are shown where several rows of the two methods could be meant.
const MOST_PIPELINES: usize = 16;

impl Projection {
    /// From all that is measured.
    ///
    /// # Errors
    /// A method of the pipeline that is wanted has no rate.
    pub fn of(session: &Session, wanted: &Wanted) -> Result<Self, PipelineError> {
        Self::of_rows(session, Tally::of(session).rows, wanted)
    }

    /// The same, from the session's rows where they are known already.
    ///
    /// # Errors
    /// A method of the pipeline that is wanted has no rate.
    pub fn of_rows(
        session: &Session,
        mut rows: Vec<Row>,
        wanted: &Wanted,
    ) -> Result<Self, PipelineError> {
        let sum = wanted.disks.iter();
        if sum.fold(0, |sum: u128, disk| sum + u128::from(*disk)) > u128::from(u64::MAX) {
            return Err(PipelineError::TooMuch);
        }
        let older = older::add(session, &mut rows);
        let disks = if wanted.disks.is_empty() {
            rows.iter()
                .filter_map(|row| row.subject_bytes.last().copied())
                .max()
                .into_iter()
                .collect()
        } else {
            wanted.disks.clone()
        };
        let alone: Vec<&Row> = rows.iter().filter(|row| is_alone(row)).collect();
        let ways: Vec<Way> = alone
            .iter()
            .filter_map(|row| Way::of(row, &disks))
            .collect();
        let without = alone.iter().filter(|row| !older::has_rate(row));
        let without = without.map(|row| Without {
            name: row.name(),
            why: older::why(row),
        });
        let without = without.collect();
        let pairs = match &wanted.pipeline {
            Some([first, then]) if first == then => {
                return Err(PipelineError::Twice(first.clone()));
            }
            Some([first, then]) => {
                for method in [first, then] {
                    known(&ways, method)?;
                }
                wanted_pairs(&rows, first, then)
            }
            None => measured_pairs(&rows),
        };
        let pipelines: Vec<Pipeline> = pairs
            .into_iter()
            .filter_map(|pair| Pipeline::of(session, &pair, &disks))
            .take(MOST_PIPELINES)
            .collect();
        let printed = session.published.iter();
        let printed: Vec<Printed> = printed
            .filter_map(|figure| Printed::of(figure, session, &rows))
            .collect();
        let header = session.header.as_ref();
        let mut all = Self {
            session: header.map_or(String::new(), |header| header.session.to_string()),
            is_published: header.is_some_and(|header| header.origin == Origin::Published),
            disks,
            said: !wanted.disks.is_empty(),
            ways,
            without,
            older,
            pipelines,
            printed,
            assumed: Vec::new(),
        };
        all.assumed = assumed::of(&all);
        Ok(all)
    }

    /// All bytes together.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        sum(&self.disks)
    }
}

fn sum(disks: &[u64]) -> u64 {
    disks.iter().fold(0, |sum, disk| sum.saturating_add(*disk))
}

fn is_alone(row: &Row) -> bool {
    !row.labels.contains_key(TOGETHER) && !row.mixed.contains_key(TOGETHER)
}

fn known(ways: &[Way], method: &str) -> Result<(), PipelineError> {
    let has_rate = |way: &&Way| way.protect.is_some();
    let mut all = ways.iter().filter(has_rate);
    if all.any(|way| way.method == method) {
        return Ok(());
    }
    let mut known: Vec<&str> = ways
        .iter()
        .filter(has_rate)
        .map(|way| way.method.as_str())
        .collect();
    known.dedup();
    Err(PipelineError::NoRate {
        method: method.to_owned(),
        known: if known.is_empty() {
            "no method".to_owned()
        } else {
            known.join(", ")
        },
    })
}

// Labels, those that its runs do not share with all values.
fn under(row: &Row) -> Vec<String> {
    let shared = row.labels.iter();
    let shared = shared.map(|(key, value)| labelled(key, value));
    let mixed = row.mixed.iter().map(|(key, values)| {
        let values: BTreeSet<&str> = values.iter().map(String::as_str).collect();
        let values = values.into_iter();
        let values: Vec<&str> = values
            .map(|value| if value.is_empty() { "not told" } else { value })
            .collect();
        labelled(key, &values.join(" or "))
    });
    shared.chain(mixed).collect()
}

impl Way {
    fn of(row: &Row, disks: &[u64]) -> Option<Self> {
        let protect = Speed::of(row, Phase::Protect);
        let restore = Speed::of(row, Phase::Restore);
        if protect.is_none() && restore.is_none() {
            return None;
        }
        let bytes = sum(disks);
        Some(Self {
            name: row.name(),
            method: row.method.clone(),
            under: under(row),
            measured: row.subject_bytes.last().copied(),
            protect,
            restore,
            protecting: protect.map(|speed| speed.seconds(bytes)),
            restoring: restore.map(|speed| speed.seconds(bytes)),
        })
    }
}

impl Pipeline {
    fn of(session: &Session, pair: &Pair<'_>, disks: &[u64]) -> Option<Self> {
        let [first, then] = pair;
        Self::through(first.part(session)?, then.part(session)?, disks)
    }

    fn through(first: Part, then: Part, disks: &[u64]) -> Option<Self> {
        Self::through_some(first, then, disks, disks.len())
    }

    fn through_some(first: Part, then: Part, disks: &[u64], sent: usize) -> Option<Self> {
        if disks.is_empty() {
            return None;
        }
        let rates = |part: &Part, of: &dyn Fn(Speed) -> f64| Rates {
            alone: of(part.alone),
            beside: of(part.beside.unwrap_or(part.alone)),
        };
        let went = |of: &dyn Fn(Speed) -> f64| {
            pipeline::run(disks, sent, rates(&first, of), rates(&then, of))
        };
        let fast = went(&|speed| speed.fast);
        let slow = went(&|speed| speed.slow);
        let span = |low: f64, high: f64| Span {
            low: low.min(high),
            high: high.max(low),
        };
        Some(Self {
            copied: span(fast.first, slow.first),
            total: span(fast.total, slow.total),
            both: span(fast.both, slow.both),
            first,
            then,
        })
    }

    /// Whether the two were measured beside each other.
    #[must_use]
    pub fn is_measured(&self) -> bool {
        self.first.beside.is_some() && self.then.beside.is_some()
    }
}

impl Printed {
    fn of(figure: &Published, session: &Session, rows: &[Row]) -> Option<Self> {
        let projected = figure.projected.as_ref()?;
        let first = session.binding(&figure.binding)?;
        let then = session.binding(&projected.then)?;
        let row = |binding: &str| {
            let is_it = |row: &&Row| row.binding == binding && row.series == figure.series;
            rows.iter().find(is_it)
        };
        let one = Half::of(rows, row(figure.binding.as_str())?, &then.method).part(session)?;
        let two = Half::of(rows, row(projected.then.as_str())?, &first.method).part(session)?;
        let disks: Vec<u64> = projected.disks.iter().map(|bytes| bytes.0).collect();
        let sent = disks.len().saturating_sub(1);
        let fewer = Pipeline::through_some(one.clone(), two.clone(), &disks, sent)?;
        let ours = Pipeline::through(one, two, &disks)?;
        Some(Self {
            name: figure.name.clone(),
            seconds: figure.value,
            disks,
            ours,
            all_but_last: fewer.total,
        })
    }
}

#[cfg(test)]
mod tests;
