//! What came out so far: every value, the median, the range, n, proofs; failed runs stay in sight.

mod details;
mod table;
mod values;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use crate::session::Row as Figures;

use super::super::keys::{Action, Context};
use super::super::model::Pane;
use super::super::theme::Role;
use super::super::view::{Titles, Ui};
use super::super::{format, layout};
use super::row::Row;
use table::Table;

/// The pane.
pub(crate) fn draw(ui: Ui<'_>, area: Rect, buffer: &mut Buffer) {
    let has_keys = ui.model.watching.pane == Pane::Medians;
    let rows = &ui.figures.tally.rows;
    let shared = !layout::has_both_figures(ui.model);
    let height = list_height(ui, layout::inner_height(area));
    let (cursor, _) = ui.model.watching.median;
    let focus = if has_keys { cursor } else { current(ui) };
    let from = (focus + 1).saturating_sub(height);
    let hidden = format::below(ui.figures.tally.rows.len(), height + from);
    let shared_by_all = ui
        .figures
        .conditions
        .as_ref()
        .filter(|text| !text.is_empty());
    let title = match shared_by_all {
        Some(conditions) => format!("Medians, seconds · {conditions}"),
        None => "Medians, seconds".to_owned(),
    };
    let swap = if shared {
        ui.model.keys.says(Context::Watching, Action::Swap, "bytes")
    } else {
        String::new()
    };
    let titles = Titles {
        left: &title,
        right: &swap,
        foot: hidden.trim_end_matches(" below"),
    };
    let inner = ui.pane(area, buffer, has_keys, titles);
    let width = usize::from(inner.width);
    let names = &ui.figures.times;
    if ui.figures.tally.rows.is_empty() || inner.height < 3 {
        let mut row = Row::new(ui, width);
        let is_known = ui.figures.are_of(ui.session) || inner.height < 3;
        let says = if is_known {
            "Nothing has been measured yet."
        } else {
            "So much came out that it is still being counted."
        };
        row.text(says, Role::Muted);
        ui.line(Rect { height: 1, ..inner }, buffer, &row.line());
        return;
    }
    let from = from.min(rows.len().saturating_sub(height));
    let seen = from..(from + height).min(rows.len());
    let table = Table::of(ui, seen, width);
    ui.line(Rect { height: 1, ..inner }, buffer, &table.head());
    let list = Rect {
        y: inner.y + 1,
        height: u16::try_from(height)
            .unwrap_or(inner.height)
            .min(inner.height - 2),
        ..inner
    };
    ui.rows(list, buffer, &table.rows(has_keys.then_some(cursor)), 0);
    let foot = Rect {
        y: list.bottom(),
        height: inner.bottom().saturating_sub(list.bottom()),
        ..inner
    };
    let details = details::lines(ui, names, focus, (width, usize::from(foot.height)));
    ui.rows(foot, buffer, &details, 0);
}

/// Rows of the table: under its head, above what is said of one of them.
fn list_height(ui: Ui<'_>, inner: usize) -> usize {
    let room = inner.saturating_sub(1);
    let details = if room >= 5 { 2 } else { 1 };
    ui.figures
        .tally
        .rows
        .len()
        .min(room.saturating_sub(details))
        .max(1)
}

/// The row of the method that goes on.
fn current(ui: Ui<'_>) -> usize {
    let Some(run) = ui.model.run(ui.session) else {
        return 0;
    };
    let is_same = |row: &Figures| row.binding == run.binding.as_str();
    ui.figures
        .tally
        .rows
        .iter()
        .position(is_same)
        .unwrap_or_default()
}
