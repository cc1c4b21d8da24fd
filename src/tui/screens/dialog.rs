//! Questions: with choices, or with a line that is typed into.

use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use ratatui::text::Line;

use super::super::layout;
use super::super::model::{Dialog, Entry, Purpose};
use super::super::text;
use super::super::theme::Role;
use super::super::view::{Titles, Ui};
use super::super::widgets::row::Row;
use super::over;

const WIDTH: u16 = 68;

fn wrapped(ui: Ui<'_>, lines: &[String], width: usize, role: Role) -> Vec<Line<'static>> {
    lines
        .iter()
        .flat_map(|line| text::wrap_words(&text::clean(line), width.max(1)))
        .map(|line| {
            let mut row = Row::new(ui, width + 1);
            row.gap(1).text(&line, role);
            row.line()
        })
        .collect()
}

/// A box around some rows and a last one of its own; gives the rows' area.
fn frame(ui: Ui<'_>, buffer: &mut Buffer, title: &str, rows: usize) -> Rect {
    let all = layout::screen(ui.model);
    let height = u16::try_from(rows + 4).unwrap_or(u16::MAX);
    let area = layout::centred(all, WIDTH, height);
    let title = text::clean(title);
    over(
        ui,
        area,
        buffer,
        Titles {
            left: &title,
            ..Titles::default()
        },
    )
}

pub(super) fn draw(ui: Ui<'_>, buffer: &mut Buffer, dialog: &Dialog) {
    let width = usize::from(WIDTH.min(ui.model.size.0)).saturating_sub(4);
    let rows = wrapped(ui, &dialog.lines, width, Role::Text);
    let inner = frame(ui, buffer, &dialog.title, rows.len());
    let list = Rect {
        height: inner.height.saturating_sub(1),
        ..inner
    };
    ui.rows(list, buffer, &rows, 0);
    let mut row = Row::new(ui, width + 1);
    for (at, (choice, _)) in dialog.choices.iter().enumerate() {
        let chosen = at == dialog.at;
        let style = ui.style(if chosen { Role::Selection } else { Role::Text });
        // The brackets say the same as the style.
        let label = if chosen {
            format!("[ {choice} ]")
        } else {
            format!("  {choice}  ")
        };
        row.gap(1).styled(&label, style);
    }
    if inner.height > 0 {
        ui.line(
            Rect {
                y: inner.bottom() - 1,
                height: 1,
                ..inner
            },
            buffer,
            &row.line(),
        );
    }
}

/// Gives the cursor's place.
pub(super) fn draw_entry(ui: Ui<'_>, buffer: &mut Buffer, entry: &Entry) -> Position {
    let width = usize::from(WIDTH.min(ui.model.size.0)).saturating_sub(4);
    let mut rows = wrapped(ui, &entry.lines, width, Role::Text);
    if let Some(problem) = &entry.problem {
        rows.extend(wrapped(
            ui,
            std::slice::from_ref(problem),
            width,
            Role::Error,
        ));
    }
    let inner = frame(ui, buffer, &entry.title, rows.len());
    let list = Rect {
        height: inner.height.saturating_sub(1),
        ..inner
    };
    ui.rows(list, buffer, &rows, 0);
    let cells = width.saturating_sub(3);
    let scroll = entry.input.visual_scroll(cells);
    let is_secret = matches!(entry.purpose, Purpose::Secret(_));
    let (shown, cursor) = if is_secret {
        // As many dots for every secret: not even its length is shown.
        let dots = if entry.input.value().is_empty() { 0 } else { 8 };
        ("•".repeat(dots), dots)
    } else {
        let shown = text::window(entry.input.value(), scroll, cells);
        (shown, entry.input.visual_cursor().saturating_sub(scroll))
    };
    let mut row = Row::new(ui, width + 1);
    row.gap(1).text("> ", Role::Key).text(&shown, Role::Text);
    let y = inner.bottom().saturating_sub(1);
    ui.line(
        Rect {
            y,
            height: inner.height.min(1),
            ..inner
        },
        buffer,
        &row.line(),
    );
    let x = inner.x
        + 3
        + u16::try_from(cursor)
            .unwrap_or(u16::MAX)
            .min(inner.width.saturating_sub(4));
    Position::new(x, y)
}
