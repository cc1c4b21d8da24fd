//! What was told of the runs of each row, and has no place in its columns: published statistics,
//! readings that did not settle, notes. All of the session is gone through once.

use std::collections::{HashMap, HashSet};

use super::{MOST_FIGURES, short, some};
use crate::event::{Level, Published, RunId};
use crate::session::tally::seconds_of;
use crate::session::{Row, Session, can_be, titled};

/// Of each row.
pub(super) struct Told {
    pub rows: Vec<OfRow>,
}

/// Of one row, a sentence each.
#[derive(Default, Clone)]
pub(super) struct OfRow {
    pub published: Vec<String>,
    pub unsettled: Vec<String>,
    pub notes: Vec<String>,
}

impl Told {
    pub fn of(session: &Session, rows: &[Row]) -> Self {
        let mut all = Self {
            rows: vec![OfRow::default(); rows.len()],
        };
        // Where each run stands: a run may have a part in several rows.
        let mut places: HashMap<&RunId, Vec<(usize, usize)>> = HashMap::new();
        for (at, row) in rows.iter().enumerate() {
            for (run, id) in row.runs.iter().enumerate() {
                places.entry(id).or_default().push((at, run));
            }
        }
        all.published(session, rows);
        all.unsettled(session, rows, &places);
        all.notes(session, &places);
        all
    }

    // Statistics that have no place in a row, and figures that cannot be.
    fn published(&mut self, session: &Session, rows: &[Row]) {
        let mut by_row: HashMap<(&str, &str), Vec<String>> = HashMap::new();
        for figure in &session.published {
            let (value, unit) = seconds_of(figure);
            let has_place = matches!(figure.statistic.as_str(), "median" | "min" | "max")
                || figure.projected.is_some();
            if !has_place || !can_be(value, unit) {
                let key = (figure.binding.as_str(), figure.series.as_str());
                by_row.entry(key).or_default().push(printed(figure));
            }
        }
        for (row, told) in rows.iter().zip(&mut self.rows) {
            let mine = by_row.remove(&(row.binding.as_str(), row.series.as_str()));
            told.published = some(mine.unwrap_or_default().into_iter());
        }
    }

    fn unsettled(
        &mut self,
        session: &Session,
        rows: &[Row],
        places: &HashMap<&RunId, Vec<(usize, usize)>>,
    ) {
        for space in &session.spaces {
            if space.settled && space.why.is_none() {
                continue;
            }
            let series = match session.run_view(&space.run) {
                Some(run) if space.series.is_empty() => &run.series,
                _ => &space.series,
            };
            for (at, run) in places.get(&space.run).into_iter().flatten() {
                let is_it = rows.get(*at).is_some_and(|row| row.series == *series);
                if let Some(told) = self.rows.get_mut(*at).filter(|_| is_it) {
                    let why = space.why.as_deref().unwrap_or("two readings differ");
                    let state = if space.settled { "" } else { "not settled: " };
                    let name = titled(&space.name, &session.labels_of(&space.step));
                    told.unsettled
                        .push(format!("{name}, run {}: {state}{why}", run + 1));
                }
            }
        }
    }

    // Remarks and warnings that were made about its runs, each text once.
    fn notes(&mut self, session: &Session, places: &HashMap<&RunId, Vec<(usize, usize)>>) {
        let mut known: HashSet<(usize, &str)> = HashSet::new();
        let mut more: HashMap<usize, usize> = HashMap::new();
        for (_, note) in &session.notes {
            if note.level == Level::Error {
                continue;
            }
            let rows = session.run_of(note).and_then(|run| places.get(run));
            for (at, _) in rows.into_iter().flatten() {
                let Some(told) = self.rows.get_mut(*at) else {
                    continue;
                };
                if !known.insert((*at, &note.text)) {
                    continue;
                }
                if told.notes.len() < MOST_FIGURES {
                    told.notes.push(note.text.clone());
                } else {
                    *more.entry(*at).or_default() += 1;
                }
            }
        }
        for (at, more) in more {
            if let Some(told) = self.rows.get_mut(at) {
                told.notes
                    .push(format!("and {}", crate::event::count(more, "more note")));
            }
        }
    }
}

fn printed(figure: &Published) -> String {
    let Published {
        name,
        statistic,
        value,
        unit,
        ..
    } = figure;
    let (seconds, of) = seconds_of(figure);
    let cannot = if can_be(seconds, of) {
        ""
    } else {
        ", which cannot be"
    };
    format!(
        "{name}: {statistic} {} {unit} is printed{cannot}",
        short(*value)
    )
}
