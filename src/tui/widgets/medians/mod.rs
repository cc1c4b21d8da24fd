//! What came out so far: every value, the median, the range, n, proofs; failed runs stay in sight.

mod table;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::Line;

use crate::session::Row as Figures;

use super::super::model::Pane;
use super::super::theme::Role;
use super::super::times::{Time, label, times};
use super::super::view::{Titles, Ui};
use super::super::{format, layout};
use super::figures::proved;
use super::row::Row;
use table::Table;

/// The pane.
pub(crate) fn draw(ui: Ui<'_>, area: Rect, buffer: &mut Buffer) {
    let has_keys = ui.model.watching.pane == Pane::Medians;
    let shared = !layout::has_both_figures(ui.model);
    // Under the head, above the values of one row.
    let height = layout::inner_height(area).saturating_sub(2);
    let hidden = format::below(ui.tally.rows.len(), height);
    let titles = Titles {
        left: "Medians, seconds",
        right: if shared { "b bytes" } else { "" },
        foot: hidden.trim_end_matches(" below"),
    };
    let inner = ui.pane(area, buffer, has_keys, titles);
    let width = usize::from(inner.width);
    let names = times(ui.tally);
    if ui.tally.rows.is_empty() || inner.height < 3 {
        let mut row = Row::new(ui, width);
        row.text("Nothing has been measured yet.", Role::Muted);
        ui.line(Rect { height: 1, ..inner }, buffer, &row.line());
        return;
    }
    let table = Table::of(ui, &names, width);
    ui.line(Rect { height: 1, ..inner }, buffer, &table.head());
    let (cursor, _) = ui.model.watching.median;
    let rows = table.rows(has_keys.then_some(cursor));
    let focus = if has_keys { cursor } else { current(ui) };
    let list = Rect {
        y: inner.y + 1,
        height: inner.height - 2,
        ..inner
    };
    ui.rows(list, buffer, &rows, (focus + 1).saturating_sub(height));
    let foot = Rect {
        y: inner.bottom() - 1,
        height: 1,
        ..inner
    };
    ui.line(foot, buffer, &values(ui, &names, focus, width));
}

/// The row of the method that goes on.
fn current(ui: Ui<'_>) -> usize {
    let Some(run) = ui.model.run(ui.session) else {
        return 0;
    };
    let is_same = |row: &Figures| row.binding == run.binding.as_str();
    ui.tally.rows.iter().position(is_same).unwrap_or_default()
}

/// Every value of one series, in the order of the runs, and how well it is proved.
fn values(ui: Ui<'_>, names: &[Time], at: usize, width: usize) -> Line<'static> {
    let mut row = Row::new(ui, width);
    let Some(figures) = ui.tally.rows.get(at) else {
        return row.line();
    };
    row.text(&format!("{}: ", label(ui.tally, figures)), Role::Muted);
    // The first time that the table shows and this row has.
    let (_, first) = ui.model.watching.median;
    let measured = |time: &Time| time.of(ui.tally, at).filter(|column| column.series.n() > 0);
    match names.iter().skip(first).find_map(measured) {
        Some(column) => {
            let series = &column.series;
            let value = |value: &f64| format::figure(*value, series.resolution);
            let values: Vec<_> = series.values.iter().map(value).collect();
            row.text(&format!("{} ", series.title()), Role::Muted)
                .text(&values.join(" "), Role::Text)
                .text(&format!(" ({} clock)", column.clock), Role::Muted);
        }
        None => {
            row.text("nothing yet", Role::Muted);
        }
    }
    proved(&mut row, figures);
    row.line()
}
