//! Rates of recordings whose methods did not say what a step moves: of the bytes that are told of it, where these are all of
//! the subject; and why there are none elsewhere.

use super::{Row, Session, Speed};
use crate::event::{Phase, RunId, StepId};
use crate::session::{RunView, Series, StepView, TimeColumn};

/// Figures in which a tool or a pipe counts what a step has moved.
const COUNTED: [&str; 2] = ["transferred size", "through"];
/// A step that moved less than this share of its subject moved a part of it, or had little to do: it has no rate.
const WHOLE: f64 = 0.9;

/// Adds rates to rows that have none of a time; names those that have got one.
pub(super) fn add(session: &Session, rows: &mut [Row]) -> Vec<String> {
    let mut all = Vec::new();
    for row in rows {
        let rates: Vec<Series> = lacking(row)
            .filter_map(|time| rate(session, row, time))
            .collect();
        if !rates.is_empty() {
            row.space.extend(rates);
            all.push(row.name());
        }
    }
    all
}

/// Why a row has no rate of protecting and none of bringing back.
pub(super) fn why(row: &Row) -> String {
    let titles: Vec<String> = lacking(row).map(|time| time.series.title()).collect();
    let (_, good) = row.counted();
    if !titles.is_empty() {
        format!(
            "of {} no bytes are told that are all of the subject",
            titles.join(" and ")
        )
    } else if good == 0 {
        "no run of it has ended well".to_owned()
    } else if row.times.iter().any(is_its) {
        "no time in it is long enough for its clock".to_owned()
    } else {
        "no time of protecting or bringing back is told".to_owned()
    }
}

fn is_its(time: &TimeColumn) -> bool {
    let phase = time.series.phase;
    time.series.is_known() && matches!(phase, Some(Phase::Protect | Phase::Restore))
}

// Times of protecting and bringing back that no rate stands beside.
fn lacking(row: &Row) -> impl Iterator<Item = &TimeColumn> {
    let has_none = |time: &&TimeColumn| {
        let is_rate = |one: &Series| {
            one.unit == "B/s" && one.name == time.series.name && one.labels == time.series.labels
        };
        !row.space.iter().any(is_rate)
    };
    let times = row.times.iter().filter(|time| is_its(time));
    times.filter(has_none)
}

fn rate(session: &Session, row: &Row, time: &TimeColumn) -> Option<Series> {
    let series = &time.series;
    let subject = *row.subject_bytes.first()? as f64;
    let mut values = Vec::new();
    for (at, seconds) in series.runs.iter().zip(&series.values) {
        let run = session.run_view(row.runs.get(*at)?)?;
        let bytes = moved(session, run, &series.name)?;
        if bytes < WHOLE * subject || *seconds <= 0.0 {
            return None;
        }
        values.push(bytes / seconds);
    }
    (!values.is_empty()).then(|| Series {
        name: series.name.clone(),
        unit: "B/s".to_owned(),
        labels: series.labels.clone(),
        phase: series.phase,
        runs: series.runs.clone(),
        values,
        ..Series::default()
    })
}

// What the one step of this name has moved: as it was counted, else what it left, as that was read.
fn moved(session: &Session, run: &RunView, name: &str) -> Option<f64> {
    let mut steps = run.steps.iter().filter(|step| step.planned.name == name);
    let (step, None) = (steps.next()?, steps.next()) else {
        return None;
    };
    counted(session, step).or_else(|| left(session, &run.run, &step.step))
}

fn counted(session: &Session, step: &StepView) -> Option<f64> {
    let figure = |name: &&str| {
        session
            .samples_of(&step.step)
            .find(|one| one.name == **name && one.unit == "B")
    };
    COUNTED.iter().find_map(figure).map(|sample| sample.value)
}

fn left(session: &Session, run: &RunId, step: &StepId) -> Option<f64> {
    let mut entries = session.ledger.entries.iter();
    let left = entries.find(|left| left.intended.run == *run && left.intended.step == *step)?;
    let read = session
        .spaces_of_run(run)
        .find(|space| space.name == left.intended.name)?;
    read.logical.map(|bytes| bytes.0 as f64)
}

/// Whether a row has a rate of protecting or of bringing back.
pub(super) fn has_rate(row: &Row) -> bool {
    [Phase::Protect, Phase::Restore]
        .iter()
        .any(|phase| Speed::of(row, *phase).is_some())
}
