//! Why a replay cannot go on, and all warnings and remarks, the newest first.

use ratatui::text::Line;

use super::super::layout;
use super::super::theme::Role;
use super::super::view::Ui;
use super::super::widgets::row::Row;
use super::super::{format, signs, text};
use crate::event::{Level, Nanos};

/// Cells in front of the words.
const FRONT: usize = 20;
/// So many of the newest are shown.
const MOST: usize = 500;

pub(super) fn rows(ui: Ui<'_>) -> Vec<Line<'static>> {
    let width = usize::from(layout::overlay(ui.model).width.saturating_sub(2));
    let mut rows = Vec::new();
    if let Some(replay) = ui.model.replay_shown()
        && let Some(trouble) = &replay.trouble
    {
        rows.extend(note(ui, width, replay.at, Level::Error, trouble));
    }
    for (at, said) in ui.session.notes.iter().rev().take(MOST) {
        let host = said.host.as_ref();
        let host = host.map_or_else(String::new, |host| format!("{host}: "));
        let says = format!("{host}{}", said.text);
        rows.extend(note(ui, width, *at, said.level, &says));
    }
    let more = ui.session.notes.len().saturating_sub(MOST);
    if more > 0 {
        let mut row = Row::new(ui, width);
        let says = format!("and {} before these", format::count(more, "note"));
        row.to(FRONT).text(&says, Role::Muted);
        rows.push(row.line());
    }
    if rows.is_empty() {
        let mut row = Row::new(ui, width);
        row.text(
            "None so far; what is odd about figures stands in the comparison.",
            Role::Muted,
        );
        rows.push(row.line());
    }
    rows
}

/// One of them, in as many rows as it takes.
fn note(ui: Ui<'_>, width: usize, at: Nanos, level: Level, says: &str) -> Vec<Line<'static>> {
    let sign = signs::of_level(level);
    let says = text::clean(says);
    let parts = text::wrap_words(&says, width.saturating_sub(FRONT).max(1));
    let rows = parts.iter().enumerate().map(|(at_row, part)| {
        let mut row = Row::new(ui, width);
        if at_row == 0 {
            row.right(&format::moment(at), 7, Role::Muted)
                .gap(2)
                .text(sign.glyph, sign.role)
                .gap(1)
                .left(sign.word, 8, sign.role);
        }
        row.to(FRONT).text(part, Role::Text);
        row.line()
    });
    rows.collect()
}
