//! Questions: with choices, or with a line that is typed into.

use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use ratatui::text::Line;
use ratatui::widgets::Block;

use super::super::layout;
use super::super::model::{Dialog, Entry, Model, Purpose};
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

/// A box around some rows and a last one of its own.
fn area(model: &Model, rows: usize) -> Rect {
    let height = u16::try_from(rows + 4).unwrap_or(u16::MAX);
    layout::centred(layout::screen(model), WIDTH, height)
}

/// Draws the box; gives the rows' area.
fn frame(ui: Ui<'_>, buffer: &mut Buffer, title: &str, rows: usize) -> Rect {
    let title = text::clean(title);
    let titles = Titles {
        left: &title,
        ..Titles::default()
    };
    over(ui, area(ui.model, rows), buffer, titles)
}

/// Cells for the text of a question.
fn room(model: &Model) -> usize {
    usize::from(WIDTH.min(model.size.0)).saturating_sub(4)
}

/// Where the choices of a question stand.
pub(in super::super) fn choices(model: &Model, dialog: &Dialog) -> Vec<Rect> {
    let lines = dialog.lines.iter();
    let rows = lines.flat_map(|line| text::wrap_words(&text::clean(line), room(model).max(1)));
    let inner = Block::bordered().inner(area(model, rows.count()));
    let mut x = inner.x + 1;
    let mut areas = Vec::new();
    for (choice, _) in &dialog.choices {
        let cells = u16::try_from(text::width(&text::clean(choice)) + 4).unwrap_or(u16::MAX);
        let choice = Rect::new(x, inner.bottom().saturating_sub(1), cells, 1);
        areas.push(choice.intersection(inner));
        x = x.saturating_add(cells).saturating_add(1);
    }
    areas
}

pub(super) fn draw(ui: Ui<'_>, buffer: &mut Buffer, dialog: &Dialog) {
    let width = room(ui.model);
    let rows = wrapped(ui, &dialog.lines, width, Role::Text);
    let inner = frame(ui, buffer, &dialog.title, rows.len());
    let list = Rect {
        height: inner.height.saturating_sub(1),
        ..inner
    };
    ui.rows(list, buffer, &rows, 0);
    let places = choices(ui.model, dialog);
    for (at, ((choice, _), place)) in dialog.choices.iter().zip(places).enumerate() {
        let chosen = at == dialog.at;
        let style = ui.style(if chosen { Role::Selection } else { Role::Text });
        // The brackets say the same as the style.
        let label = if chosen {
            format!("[ {choice} ]")
        } else {
            format!("  {choice}  ")
        };
        let mut row = Row::new(ui, usize::from(place.width));
        row.styled(&label, style);
        ui.line(place, buffer, &row.line());
    }
}

/// Gives the cursor's place.
pub(super) fn draw_entry(ui: Ui<'_>, buffer: &mut Buffer, entry: &Entry) -> Position {
    let width = room(ui.model);
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
        ("●".repeat(dots), dots)
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
