//! What was compared and what came out: in a sentence, as ranges on one axis, in what may be said of
//! every two, and in one table.

mod axis;
mod chart;
mod sentences;
mod table;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::Line;

use crate::report::{Comparison, Overview, Time, main_times, overview, times};
use crate::session::{Session, Tally};

use super::super::format;
use super::super::layout;
use super::super::model::Model;
use super::super::text;
use super::super::view::{Titles, Ui};

/// What is put beside one another, and in which order.
pub(in super::super) struct Shown {
    compared: Comparison,
    pub overview: Overview,
    /// The rows, by their places.
    order: Vec<usize>,
    /// The time that it is about first.
    pub times: Vec<Time>,
}

impl Shown {
    pub fn of(model: &Model, session: &Session, tally: Tally) -> Self {
        let compared = Comparison::new(tally, &[session]);
        let overview = overview(&compared);
        let order = overview.order(&compared, model.comparing.sort.as_ref());
        let mut times = times(&compared.rows);
        times.retain(|time| {
            let mut rows = 0..compared.rows.len();
            rows.any(|row| {
                let column = time.of(&compared.rows, row);
                column.is_some_and(|column| column.series.is_known())
            })
        });
        let main = main_times(&compared);
        times.sort_by_key(|time| {
            let place = main.iter().position(|title| title == time.title());
            place.unwrap_or(usize::MAX)
        });
        Self {
            compared,
            overview,
            order,
            times,
        }
    }

    /// Views to go through: all times together, where there are several, then each.
    pub fn views(&self) -> usize {
        match self.times.len() {
            0 | 1 => 1,
            n => n + 1,
        }
    }

    /// The times of a view.
    fn times_of(&self, view: usize) -> &[Time] {
        if self.views() == 1 || view == 0 {
            return &self.times;
        }
        self.times.get(view - 1..view).unwrap_or(&self.times)
    }

    /// Cells of the longest name, within what is left to it.
    fn name_width(&self, width: usize) -> usize {
        let names = self.compared.rows.iter().map(|row| self.compared.name(row));
        let widest = names.map(|name| text::width(&name)).max();
        widest.unwrap_or_default().clamp(8, (width / 3).max(8))
    }
}

/// Draws it.
pub(in super::super) fn draw(ui: Ui<'_>, area: Rect, buffer: &mut Buffer) {
    let shown = Shown::of(ui.model, ui.session, ui.tally.clone());
    let comparing = &ui.model.comparing;
    let view = comparing.time.min(shown.views() - 1);
    let title = match shown.times_of(view) {
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
    let rows = lines(ui, &shown, usize::from(area.width.saturating_sub(2)));
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
    let tally = Tally::of(session);
    let shown = Shown::of(model, session, tally.clone());
    let ui = Ui {
        model,
        session,
        tally: &tally,
    };
    let width = usize::from(layout::screen(model).width.saturating_sub(2));
    lines(ui, &shown, width).len()
}

fn lines(ui: Ui<'_>, shown: &Shown, width: usize) -> Vec<Line<'static>> {
    let mut rows = sentences::headline(ui, shown, width);
    if shown.times.is_empty() {
        rows.extend(sentences::remarks(ui, shown, width));
        return rows;
    }
    let view = ui.model.comparing.time.min(shown.views() - 1);
    let times = shown.times_of(view);
    rows.push(Line::default());
    rows.extend(chart::lines(ui, shown, times, width));
    rows.push(Line::default());
    rows.extend(sentences::verdicts(ui, shown, times, width));
    rows.push(Line::default());
    rows.extend(table::lines(ui, shown, width));
    rows.extend(sentences::remarks(ui, shown, width));
    rows
}
