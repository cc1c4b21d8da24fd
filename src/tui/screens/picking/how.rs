//! How often and in which order, what it comes to, and what it destroys.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::Line;

use super::super::super::format;
use super::super::super::theme::Role;
use super::super::super::view::Ui;
use super::super::super::widgets::row::Row;

/// Two lines; the one that matters more where there is room for one.
pub(super) fn draw(ui: Ui<'_>, area: Rect, buffer: &mut Buffer) {
    let width = usize::from(area.width);
    let (runs, harm) = (runs(ui, width), harm(ui, width));
    let lines: Vec<Line<'_>> = match (harm, area.height) {
        (Some(harm), 0..=1) => vec![harm],
        (Some(harm), _) => vec![runs, harm],
        (None, _) => vec![runs],
    };
    ui.rows(area, buffer, &lines, 0);
}

fn runs(ui: Ui<'_>, width: usize) -> Line<'static> {
    let picking = &ui.model.picking;
    let chosen = picking.chosen().len();
    let runs = chosen * picking.reps.0 as usize;
    let mut row = Row::new(ui, width);
    row.gap(1)
        .text("repetitions ", Role::Muted)
        .text(&picking.reps.0.to_string(), Role::Accent)
        .text(" – +", Role::Key)
        .gap(3)
        .text("order ", Role::Muted)
        .text(&picking.order.to_string(), Role::Accent)
        .gap(3);
    if chosen == 0 {
        row.text("nothing picked yet", Role::Muted);
    } else {
        let methods = format::count(chosen, "method");
        let runs = format::count(runs, "run");
        row.text(&format!("{methods}, {runs}"), Role::Text);
    }
    row.line()
}

/// What is destroyed, or that nothing is; nothing where nothing is picked.
fn harm(ui: Ui<'_>, width: usize) -> Option<Line<'static>> {
    let picking = &ui.model.picking;
    let named = picking.named();
    let mut row = Row::new(ui, width);
    row.gap(1);
    if picking.offer.is_some() && !picking.is_current() {
        row.text("what would run is being worked out…", Role::Warn);
    } else if !named.is_empty() {
        let all: Vec<_> = named
            .iter()
            .map(|named| format!("{} {}", named.what, named.name))
            .collect();
        row.text(&format!("destroys {}", all.join(", ")), Role::Destroys)
            .text(", asks for the name first", Role::Muted);
    } else if picking.chosen().is_empty() {
        return None;
    } else {
        row.text("destroys nothing but what it makes itself", Role::Ok);
    }
    Some(row.line())
}
