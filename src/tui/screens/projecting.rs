//! How long for other disks: each method by itself, two behind each other, and all that is assumed.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::Line;

use crate::report::{LineKind, projection_lines};
use crate::session::Session;

use super::super::counted;
use super::super::keys::{Action, Context};
use super::super::model::Model;
use super::super::theme::Role;
use super::super::view::{Titles, Ui};
use super::super::widgets::row::Row;
use super::super::{format, layout, text};

/// Draws it.
pub(in super::super) fn draw(ui: Ui<'_>, area: Rect, buffer: &mut Buffer) {
    let rows = lines(ui, usize::from(area.width.saturating_sub(2)));
    let scroll = ui.model.projecting.scroll;
    let keys = &ui.model.keys;
    let right = keys.says(Context::Project, Action::Disks, "other disks");
    let titles = Titles {
        left: "How long for yours",
        right: &right,
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
    lines(ui, width).len()
}

fn lines(ui: Ui<'_>, width: usize) -> Vec<Line<'static>> {
    let line = |role: Role, says: &str| {
        let mut row = Row::new(ui, width);
        row.text(says, role);
        row.line()
    };
    let told = ui
        .figures
        .projected(ui.session, &ui.model.projecting.wanted);
    match &*told {
        Ok(projection) => projection_lines(projection, width)
            .iter()
            .map(|(kind, says)| line(role(*kind), says))
            .collect(),
        Err(why) => {
            let parts = text::wrap_words(&text::clean(&why.to_string()), width.max(1));
            parts.iter().map(|part| line(Role::Warn, part)).collect()
        }
    }
}

fn role(kind: LineKind) -> Role {
    match kind {
        LineKind::Title => Role::Accent,
        LineKind::Heading => Role::Title,
        LineKind::Name | LineKind::Blank => Role::Text,
        LineKind::Said => Role::Muted,
        LineKind::Warning => Role::Warn,
    }
}
