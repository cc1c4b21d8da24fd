//! The methods of the host under the cursor: which of them are picked, and why one cannot run.

use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use ratatui::text::Line;
use ratatui::widgets::Block;

use crate::event::HostState;

use super::super::super::method_rows::MethodRows;
use super::super::super::model::{Model, PickPane, Picking};
use super::super::super::offer::{HostOffer, MethodOffer, Picked};
use super::super::super::theme::Role;
use super::super::super::view::{Titles, Ui};
use super::super::super::widgets::row::Row;
use super::super::super::{format, layout, text};

pub(super) fn draw(ui: Ui<'_>, area: Rect, buffer: &mut Buffer) {
    if area.is_empty() {
        return;
    }
    let picking = &ui.model.picking;
    let has_keys = picking.pane == PickPane::Methods;
    let title = picking
        .host_name()
        .map_or_else(|| "Methods".to_owned(), |host| format!("Methods on {host}"));
    let filter = if picking.filter.is_empty() {
        String::new()
    } else {
        format!("with {:?}", picking.filter)
    };
    let titles = Titles {
        left: &title,
        right: &filter,
        ..Titles::default()
    };
    let inner = ui.pane(area, buffer, has_keys, titles);
    let shown = picking.shown();
    if shown.is_empty() && picking.offer.is_some() {
        let width = usize::from(inner.width);
        let (says, role) = nothing_to_show(picking, filter.is_empty());
        let lines = text::wrap_words(&text::clean(&says), width.max(1));
        let rows: Vec<Line<'_>> = lines
            .iter()
            .map(|line| {
                let mut row = Row::new(ui, width);
                row.text(line, role);
                row.line()
            })
            .collect();
        ui.rows(inner, buffer, &rows, 0);
        return;
    }
    let rows = MethodRows::fitting(&shown, inner);
    let lines: Vec<Line<'_>> = shown
        .iter()
        .enumerate()
        .flat_map(|(at, method)| {
            let is_chosen = has_keys && at == picking.method;
            let parts = rows.parts(method).into_iter().enumerate();
            parts.map(move |(part, says)| {
                let row = row(ui, rows, method, (part, &says), at == picking.method);
                if is_chosen {
                    row.line_in(ui.style(Role::Selection))
                } else {
                    row.line()
                }
            })
        })
        .collect();
    // Where one takes several rows, all are in sight.
    let first = layout::first(picking.method, usize::from(inner.height));
    ui.rows(
        inner,
        buffer,
        &lines,
        if rows.are_wrapped { 0 } else { first },
    );
}

/// The method that stands in a row of the pane.
pub(in super::super::super) fn method_at(model: &Model, at: Position) -> Option<usize> {
    let inner = Block::bordered().inner(layout::picking(model).methods);
    if !inner.contains(at) {
        return None;
    }
    let picking = &model.picking;
    let shown = picking.shown();
    let rows = MethodRows::fitting(&shown, inner);
    let row = usize::from(at.y - inner.y);
    if !rows.are_wrapped {
        let row = row + layout::first(picking.method, usize::from(inner.height));
        return (row < shown.len()).then_some(row);
    }
    let mut next = 0;
    shown.iter().position(|method| {
        next += rows.parts(method).len();
        row < next
    })
}

/// Why no method is shown: of a host that is not there, all of the reason.
fn nothing_to_show(picking: &Picking, is_whole: bool) -> (String, Role) {
    match picking.host() {
        Some(host) if host.state == HostState::Down => (host.facts.clone(), Role::Warn),
        Some(HostOffer {
            doing: Some((doing, since)),
            ..
        }) => (format!("{doing}… {}", format::elapsed(*since)), Role::Muted),
        _ if is_whole => ("No method is known for this host.".to_owned(), Role::Muted),
        _ => ("No method has this text.".to_owned(), Role::Muted),
    }
}

/// A row of a method: the part of what is said of it.
fn row<'a>(
    ui: Ui<'a>,
    rows: MethodRows,
    method: &MethodOffer,
    (part, says): (usize, &str),
    is_here: bool,
) -> Row<'a> {
    let picked = ui.model.picking.picked.contains(&method.picked());
    let mut row = Row::new(ui, rows.width);
    if part > 0 {
        let role = match method.runnable {
            Ok(()) => Role::Muted,
            Err(_) => Role::Warn,
        };
        row.gap(rows.front(method)).text(says, role);
        return row;
    }
    row.text(if is_here { "▸ " } else { "  " }, Role::Accent);
    if method.runnable.is_ok() {
        let picking = &ui.model.picking;
        let is_it = |one: &Picked| one.host == method.host && one.method == method.name;
        let (mark, role) = if picking.half.as_ref().is_some_and(is_it) {
            ("[?] ", Role::Accent)
        } else if picking.together.iter().flatten().any(is_it) {
            ("[=] ", Role::Accent)
        } else if picked {
            ("[x] ", Role::Accent)
        } else {
            ("[ ] ", Role::Text)
        };
        row.text(mark, role)
            .name(&method.name, rows.name, Role::Text);
        if MethodRows::asks(method) {
            row.whole(MethodRows::DESTROYS, Role::Destroys);
        }
        row.gap(2).text(says, Role::Muted);
        row.end(&method.family, Role::Muted);
    } else {
        row.text(" –  ", Role::Pending)
            .name(&method.name, rows.name, Role::Pending);
        row.gap(2).text(says, Role::Warn);
    }
    row
}
