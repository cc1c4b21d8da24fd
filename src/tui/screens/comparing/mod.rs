//! What came out: one time as ranges on one axis, what may be said, and the whole table.

mod chart;
mod sentences;
mod table;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::Line;

use crate::session::{Row as Figures, Session, Tally};

use super::super::format;
use super::super::layout;
use super::super::model::Model;
use super::super::text;
use super::super::theme::Role;
use super::super::times::{label, times};
use super::super::view::{Titles, Ui};
use super::super::widgets::row::Row;

/// Draws it.
pub(in super::super) fn draw(ui: Ui<'_>, area: Rect, buffer: &mut Buffer) {
    let times = times(ui.tally);
    let at = ui.model.comparing.time.min(times.len().saturating_sub(1));
    let title = match times.get(at) {
        Some(time) => format!("Comparison · {}, seconds", time.name()),
        None => "Comparison".to_owned(),
    };
    let right = match times.len() {
        0 | 1 => String::new(),
        all => format!("time {} of {all}, Tab for the next", at + 1),
    };
    let rows = lines(ui, usize::from(area.width.saturating_sub(2)));
    let scroll = ui.model.comparing.scroll;
    let titles = Titles {
        left: &title,
        right: &right,
        foot: &format::below(rows.len(), layout::inner_height(area) + scroll),
    };
    let inner = ui.pane(area, buffer, true, titles);
    ui.rows(inner, buffer, &rows, scroll);
}

/// How many rows it has.
pub(in super::super) fn rows(model: &Model, session: &Session) -> usize {
    let tally = Tally::of(session);
    let ui = Ui {
        model,
        session,
        tally: &tally,
    };
    lines(
        ui,
        usize::from(layout::screen(model).width.saturating_sub(2)),
    )
    .len()
}

fn lines(ui: Ui<'_>, width: usize) -> Vec<Line<'static>> {
    let times = times(ui.tally);
    let at = ui.model.comparing.time.min(times.len().saturating_sub(1));
    let Some(time) = times.get(at) else {
        let mut row = Row::new(ui, width);
        row.text("Nothing has been measured yet.", Role::Muted);
        return vec![row.line()];
    };
    let mut rows = chart::lines(ui, time, width);
    rows.push(Line::default());
    rows.extend(sentences::verdicts(ui, time, width));
    rows.extend(sentences::same_disk(ui, width));
    rows.extend(sentences::proofs(ui, width));
    rows.push(Line::default());
    rows.extend(table::lines(ui, &times, width));
    rows.extend(sentences::remarks(ui, width));
    rows
}

/// The name of a row among all: with its host where there are several.
fn name(ui: Ui<'_>, row: &Figures) -> String {
    let several = ui.tally.rows.iter().any(|other| other.host != row.host);
    let name = label(ui.tally, row);
    if several {
        format!("{} {name}", row.host)
    } else {
        name
    }
}

fn name_width(ui: Ui<'_>, width: usize) -> usize {
    let rows = ui.tally.rows.iter();
    let widest = rows.map(|row| text::width(&name(ui, row))).max();
    widest.unwrap_or_default().clamp(8, (width / 3).max(8))
}
