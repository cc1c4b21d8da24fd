//! One row a method: its times, bytes and proofs. The name stays where columns go sideways.

use ratatui::text::Line;

use crate::report::{Cell, Sort};

use super::super::super::text;
use super::super::super::theme::Role;
use super::super::super::view::Ui;
use super::super::super::widgets::row::Row;
use super::Shown;

/// Blanks between columns.
const GAP: usize = 2;
/// Cells between the name and the first column: for a sign that there are columns before.
const FRONT: usize = 3;
/// Cells of a column at most, where there is no more room than for a few.
const MOST: usize = 26;

pub(super) fn lines(
    ui: Ui<'_>,
    shown: &Shown,
    order: &[usize],
    width: usize,
) -> Vec<Line<'static>> {
    let overview = &shown.overview;
    let sort = ui.model.comparing.sort.as_ref();
    let titles: Vec<String> = overview
        .columns
        .iter()
        .map(|name| title(name, sort))
        .collect();
    let widths: Vec<usize> = titles
        .iter()
        .enumerate()
        .map(|(at, title)| {
            let rows = order.iter().filter_map(|at| overview.rows.get(*at));
            let cells = rows.filter_map(|row| row.get(at));
            let cells = cells.map(|cell| text::width(&text::clean(&cell.text)));
            cells
                .max()
                .unwrap_or_default()
                .max(text::width(title))
                .min(MOST.max(width / 4))
        })
        .collect();
    let name = shown
        .name_width(width)
        .max(titles.first().map_or(0, |title| text::width(title)));
    // The first column that is shown, and how many fit from it on.
    let last = widths.len().saturating_sub(1);
    let left = 1 + ui.model.comparing.left.min(last.saturating_sub(1));
    let mut room = width.saturating_sub(name + FRONT + 1);
    let fits = |cells: &&usize| {
        let need = **cells + GAP;
        let fits = need <= room;
        room = room.saturating_sub(need);
        fits
    };
    let count = widths.iter().skip(left).take_while(fits).count().max(1);
    let columns = || left..(left + count).min(widths.len());
    let more = (left > 1, left + count < widths.len());
    let mut lines = Vec::new();
    let mut head = Row::new(ui, width);
    let name_title = titles.first().map_or("", String::as_str);
    head.left(name_title, name, title_role(0, shown, sort))
        .text(if more.0 { " < " } else { "   " }, Role::Key);
    for at in columns() {
        let (title, cells) = (
            titles.get(at).map_or("", String::as_str),
            width_of(&widths, at),
        );
        head.right(title, cells, title_role(at, shown, sort))
            .gap(GAP);
    }
    if more.1 {
        head.text(">", Role::Key);
    }
    lines.push(head.line());
    for row in order.iter().filter_map(|at| overview.rows.get(*at)) {
        let mut line = Row::new(ui, width);
        let label = row.first().map_or("", |cell| cell.text.as_str());
        line.name(label, name, Role::Text).gap(FRONT);
        for at in columns() {
            let cells = width_of(&widths, at);
            match row.get(at) {
                Some(cell) if !cell.text.is_empty() => {
                    line.right(&cell.text, cells, role(cell, overview.columns.get(at)));
                }
                _ => {
                    line.right("·", cells, Role::Pending);
                }
            }
            line.gap(GAP);
        }
        lines.push(line.line());
    }
    lines
}

fn width_of(widths: &[usize], at: usize) -> usize {
    widths.get(at).copied().unwrap_or_default()
}

/// Its name, and where rows are sorted by it, in which way.
fn title(name: &str, sort: Option<&Sort>) -> String {
    match sort {
        Some(sort) if sort.column == name => {
            format!("{name} {}", if sort.falls { "v" } else { "^" })
        }
        _ => name.to_owned(),
    }
}

fn title_role(at: usize, shown: &Shown, sort: Option<&Sort>) -> Role {
    let name = shown.overview.columns.get(at);
    match sort {
        Some(sort) if Some(&sort.column) == name => Role::Accent,
        _ => Role::Muted,
    }
}

/// What is not proved in full is not shown like what is.
fn role(cell: &Cell, column: Option<&String>) -> Role {
    match column.map(String::as_str) {
        Some("verified") if cell.figure.is_some_and(|share| share >= 1.0) => Role::Ok,
        Some("verified") => Role::Error,
        _ => Role::Text,
    }
}
