//! The keys, those of the place one is in first.

use ratatui::text::Line;

use super::super::keys::Context;
use super::super::layout;
use super::super::theme::Role;
use super::super::view::Ui;
use super::super::widgets::row::Row;

/// Cells for the names of keys.
const NAMES: usize = 18;

pub(super) fn rows(ui: Ui<'_>) -> Vec<Line<'static>> {
    let width = usize::from(layout::overlay(ui.model).width.saturating_sub(2));
    let here = ui.model.contexts_below(ui.session);
    let elsewhere = Context::ALL
        .iter()
        .copied()
        .filter(|context| !here.contains(context));
    let mut rows = Vec::new();
    for context in here.iter().copied().chain(elsewhere) {
        if !rows.is_empty() {
            rows.push(Line::default());
        }
        let mut title = Row::new(ui, width);
        title.text(context.title(), Role::Title);
        rows.push(title.line());
        for bound in ui.model.keys.rows(&[context]) {
            let mut row = Row::new(ui, width);
            row.gap(1)
                .left(&bound.names(), NAMES, Role::Key)
                .gap(1)
                .text(bound.bind.help, Role::Text);
            rows.push(row.line());
        }
    }
    rows
}
