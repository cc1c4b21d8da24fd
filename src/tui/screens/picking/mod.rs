//! What to run: hosts, what is protected there, methods, how often, and exactly what it would do.

mod how;
mod methods;
mod preview;
mod subject;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::Line;

use super::super::layout;
use super::super::model::PickPane;
use super::super::offer::HostOffer;
use super::super::theme::Role;
use super::super::view::{Titles, Ui};
use super::super::widgets::row::Row;
use super::super::{format, signs, text};

pub(in super::super) use methods::method_at;
pub(in super::super) use preview::preview_rows;

/// Draws it.
pub(in super::super) fn draw(ui: Ui<'_>, buffer: &mut Buffer) {
    let areas = layout::picking(ui.model);
    hosts(ui, areas.hosts, buffer);
    subject::draw(ui, areas.subject, buffer);
    methods::draw(ui, areas.methods, buffer);
    how::draw(ui, areas.how, buffer);
    preview::draw(ui, areas.preview, buffer);
}

fn hosts(ui: Ui<'_>, area: Rect, buffer: &mut Buffer) {
    if area.is_empty() {
        return;
    }
    let picking = &ui.model.picking;
    let has_keys = picking.pane == PickPane::Hosts;
    let inner = ui.pane(
        area,
        buffer,
        has_keys,
        Titles {
            left: "Hosts",
            ..Titles::default()
        },
    );
    let width = usize::from(inner.width);
    let Some(offer) = &picking.offer else {
        let mut row = Row::new(ui, width);
        row.text("asking the hosts…", Role::Muted);
        ui.line(inner, buffer, &row.line());
        return;
    };
    let rows: Vec<Line<'_>> = offer
        .hosts
        .iter()
        .enumerate()
        .map(|(at, host)| {
            let row = host_row(ui, host, at == picking.host, width);
            if has_keys && at == picking.host {
                row.line_in(ui.style(Role::Selection))
            } else {
                row.line()
            }
        })
        .collect();
    ui.rows(
        inner,
        buffer,
        &rows,
        layout::first(picking.host, usize::from(inner.height)),
    );
}

fn host_row<'a>(ui: Ui<'a>, host: &HostOffer, is_here: bool, width: usize) -> Row<'a> {
    let sign = signs::of_host(host.state);
    let mut row = Row::new(ui, width);
    // Where it stands is not cut off, however long its name is.
    let state = match &host.doing {
        Some((doing, since)) => text::width(doing) + 1 + text::width(&format::elapsed(*since)),
        None if sign.role != Role::Ok => text::width(sign.word),
        None => 0,
    };
    let room = width.saturating_sub(5 + state).max(6);
    row.text(if is_here { "▸ " } else { "  " }, Role::Accent)
        .text(&text::name(&text::clean(&host.name), room), Role::Text)
        .gap(1)
        .text(sign.glyph, sign.role)
        .gap(1);
    match &host.doing {
        Some((doing, since)) => {
            row.text(&format!("{doing} {}", format::elapsed(*since)), sign.role)
                .gap(1);
        }
        None if sign.role != Role::Ok => {
            row.text(sign.word, sign.role).gap(1);
        }
        None => {}
    }
    if host.legacy {
        row.text("legacy", Role::Warn).gap(1);
    }
    row.text(&host.facts, Role::Muted);
    row
}
