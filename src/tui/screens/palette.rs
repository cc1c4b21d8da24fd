//! All that can be done here: a line that is typed into, and below it what has that in its name.

use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use ratatui::text::Line;

use super::super::keys::Bound;
use super::super::layout;
use super::super::model::Palette;
use super::super::palette::shown;
use super::super::text;
use super::super::theme::Role;
use super::super::view::{Titles, Ui};
use super::super::widgets::row::Row;
use super::over;

/// Most cells for the names of actions, and for those of their keys.
const MOST: (usize, usize) = (20, 16);

/// Gives the cursor's place.
pub(super) fn draw(ui: Ui<'_>, buffer: &mut Buffer, palette: &Palette) -> Position {
    let rows = shown(ui.model, ui.session, palette);
    let at = palette.at.min(rows.len().saturating_sub(1));
    let count = format!("{} of what can be done here", rows.len());
    let titles = Titles {
        left: "Do",
        right: &count,
        ..Titles::default()
    };
    let inner = over(ui, layout::overlay(ui.model), buffer, titles);
    let width = usize::from(inner.width);
    let cells = width.saturating_sub(3);
    let scroll = palette.input.visual_scroll(cells);
    let mut typed = Row::new(ui, width);
    let window = text::window(palette.input.value(), scroll, cells);
    typed.text(": ", Role::Key).text(&window, Role::Text);
    let first = Rect { height: 1, ..inner };
    ui.line(first, buffer, &typed.line());
    let widest = |cells: &dyn Fn(&Bound) -> usize| rows.iter().map(cells).max().unwrap_or_default();
    let name = widest(&|row| row.bind.action.name().len()).min(MOST.0);
    let keys = widest(&|row| text::width(&row.names())).min(MOST.1.min(width / 4));
    let list = layout::palette_rows(ui.model);
    let lines: Vec<Line<'_>> = rows
        .iter()
        .enumerate()
        .map(|(here, row)| {
            let mut line = Row::new(ui, width);
            line.text(if here == at { "▸ " } else { "  " }, Role::Accent)
                .left(row.bind.action.name(), name, Role::Text)
                .gap(2)
                .left(&row.names(), keys, Role::Key)
                .gap(2)
                .text(row.bind.help, Role::Muted);
            if here == at {
                line.line_in(ui.style(Role::Selection))
            } else {
                line.line()
            }
        })
        .collect();
    ui.rows(
        list,
        buffer,
        &lines,
        layout::first(at, usize::from(list.height)),
    );
    let cursor = palette.input.visual_cursor().saturating_sub(scroll);
    let cursor = u16::try_from(cursor).unwrap_or(u16::MAX);
    let x = inner.x + 2 + cursor.min(inner.width.saturating_sub(3));
    Position::new(x, inner.y)
}
