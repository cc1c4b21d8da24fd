//! What was compared and what came out: in a sentence, as ranges on one axis, in what may be said of
//! every two, and in one table.

mod axis;
mod chart;
mod sentences;
mod table;

use std::collections::HashMap;
use std::ops::Range;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::Line;

use crate::report::{
    Comparison, Overview, Sentence, Time, headline, main_times, not_comparable, one_machine,
    overview, said, times, trust,
};
use crate::session::{MOST_ROWS, Session, Tally};

use super::super::counted;
use super::super::format;
use super::super::layout;
use super::super::model::Model;
use super::super::text;
use super::super::theme::Role;
use super::super::view::{Titles, Ui};
use super::super::widgets::row::Row;

/// What is put beside one another.
#[derive(Debug)]
pub(in super::super) struct Shown {
    compared: Comparison,
    pub overview: Overview,
    /// The time that it is about first.
    pub times: Vec<Time>,
    /// What may be said of every two in each time.
    said: Vec<Vec<Sentence>>,
    /// What else there is to know of all.
    notes: Vec<String>,
    headline: String,
    /// What may not be compared.
    apart: Vec<String>,
    /// Cells of the longest name.
    widest: usize,
}

/// Cells that figures and bars are always left.
const FIGURES: usize = 72;

/// So many lines show times together; each of the others is shown alone.
const MOST_LINES: usize = 300;

impl Shown {
    pub fn of(session: &Session, tally: Tally) -> Self {
        let compared = Comparison::new(tally, &[session]);
        let overview = overview(&compared);
        let mut times = times(&compared.rows);
        let rows = &compared.rows;
        times.retain(|time| {
            let mut rows = time.rows().filter_map(|row| time.of(rows, row));
            rows.any(|column| column.series.is_known())
        });
        let main = main_times(&compared);
        times.sort_by_key(|time| {
            let place = main.iter().position(|title| title == time.title());
            place.unwrap_or(usize::MAX)
        });
        let mut places = HashMap::new();
        for (at, time) in times.iter().enumerate() {
            for row in time.rows() {
                places.extend(time.place(row).map(|column| ((row, column), at)));
            }
        }
        let mut verdicts = vec![Vec::new(); times.len()];
        for verdict in &compared.verdicts {
            let time = places.get(&(verdict.a, verdict.column_a));
            if let Some(all) = time.and_then(|time| verdicts.get_mut(*time)) {
                all.push(verdict);
            }
        }
        let said = verdicts.iter().map(|all| said(&compared, all)).collect();
        let mut notes = one_machine(&compared);
        notes.extend(trust(rows));
        let names = rows.iter().map(|row| text::width(&compared.name(row)));
        Self {
            headline: headline(&compared),
            apart: not_comparable(&compared),
            widest: names.max().unwrap_or_default(),
            overview,
            times,
            said,
            notes,
            compared,
        }
    }

    /// The rows in the order in which they are shown, by their places.
    fn order(&self, model: &Model) -> Vec<usize> {
        self.overview
            .order(&self.compared, model.comparing.sort.as_ref())
    }

    /// Views to go through: all times together, where there are several, then each.
    pub fn views(&self) -> usize {
        match self.times.len() {
            0 | 1 => 1,
            n => n + 1,
        }
    }

    /// The times of a view, and how many more there would be.
    fn times_of(&self, view: usize) -> (Range<usize>, usize) {
        let all = self.times.len();
        if self.views() == 1 || view == 0 {
            let rows = self.compared.rows.len().clamp(1, MOST_ROWS);
            let some = all.min((MOST_LINES / rows).max(1));
            return (0..some, all - some);
        }
        (view - 1..view, 0)
    }

    /// Cells of the longest name, within what is left to it: a third, or all but what figures and
    /// bars need.
    fn name_width(&self, width: usize) -> usize {
        let most = (width / 3).max(width.saturating_sub(FIGURES)).max(8);
        self.widest.clamp(8, most)
    }
}

/// Draws it.
pub(in super::super) fn draw(ui: Ui<'_>, area: Rect, buffer: &mut Buffer) {
    let shown = ui.figures.shown(ui.session);
    let comparing = &ui.model.comparing;
    let view = comparing.time.min(shown.views() - 1);
    let (times, _) = shown.times_of(view);
    let title = match shown.times.get(times).unwrap_or_default() {
        [] => "Comparison".to_owned(),
        [time] => format!("Comparison · {}, seconds", time.name()),
        _ => "Comparison · all times, seconds".to_owned(),
    };
    let sorted = comparing.sort.as_ref().map(|sort| {
        let way = if sort.falls {
            "highest first"
        } else {
            "lowest first"
        };
        format!("sorted by {}, {way}", sort.column)
    });
    let rows = lines(ui, shown, usize::from(area.width.saturating_sub(2)));
    let scroll = comparing.scroll;
    let titles = Titles {
        left: &title,
        right: &sorted.unwrap_or_default(),
        foot: &format::below(rows.len(), layout::inner_height(area) + scroll),
    };
    let inner = ui.pane(area, buffer, true, titles);
    ui.rows(inner, buffer, &rows, scroll);
}

/// How many rows it has.
pub(in super::super) fn rows(model: &Model, session: &Session) -> usize {
    let figures = counted::seen(model, session);
    let ui = Ui {
        model,
        session,
        figures: &figures,
    };
    let width = usize::from(layout::screen(model).width.saturating_sub(2));
    lines(ui, figures.shown(session), width).len()
}

fn lines(ui: Ui<'_>, shown: &Shown, width: usize) -> Vec<Line<'static>> {
    let mut order = shown.order(ui.model);
    let hidden = order.len().saturating_sub(MOST_SHOWN);
    order.truncate(MOST_SHOWN);
    let mut rows = sentences::headline(ui, shown, width);
    if shown.times.is_empty() {
        rows.extend(sentences::remarks(ui, shown, &order, width));
        return rows;
    }
    let view = ui.model.comparing.time.min(shown.views() - 1);
    let (times, more) = shown.times_of(view);
    rows.push(Line::default());
    rows.extend(chart::lines(ui, shown, &order, times.clone(), width));
    for (count, what) in [
        (more, "times, each by itself"),
        (hidden, "rows in a report"),
    ] {
        if count > 0 {
            let mut row = Row::new(ui, width);
            row.text(&format!("and {count} more {what}"), Role::Muted);
            rows.push(row.line());
        }
    }
    rows.push(Line::default());
    rows.extend(sentences::verdicts(ui, shown, times, width));
    rows.push(Line::default());
    rows.extend(table::lines(ui, shown, &order, width));
    rows.extend(sentences::remarks(ui, shown, &order, width));
    rows
}

/// So many rows are shown, of every two of which something may be said.
const MOST_SHOWN: usize = MOST_ROWS;
