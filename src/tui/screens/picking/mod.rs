//! What to run: hosts, what is protected there, methods, how often, and exactly what it would do.

mod how;
mod preview;
mod subject;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::Line;

use crate::event::HostState;

use super::super::layout;
use super::super::model::{PickPane, Picking};
use super::super::offer::{HostOffer, MethodOffer};
use super::super::theme::Role;
use super::super::view::{Titles, Ui};
use super::super::widgets::row::Row;
use super::super::{format, signs, text};

pub(in super::super) use preview::preview_rows;

/// Draws it.
pub(in super::super) fn draw(ui: Ui<'_>, buffer: &mut Buffer) {
    let areas = layout::picking(ui.model);
    hosts(ui, areas.hosts, buffer);
    subject::draw(ui, areas.subject, buffer);
    methods(ui, areas.methods, buffer);
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
        .text(&text::cut(&text::clean(&host.name), room), Role::Text)
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

fn methods(ui: Ui<'_>, area: Rect, buffer: &mut Buffer) {
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
    let width = usize::from(inner.width);
    let shown = picking.shown();
    if shown.is_empty() && picking.offer.is_some() {
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
    let name = shown
        .iter()
        .map(|method| text::width(&method.name))
        .max()
        .unwrap_or_default()
        .min(width / 2);
    let rows: Vec<Line<'_>> = shown
        .iter()
        .enumerate()
        .map(|(at, method)| {
            let row = method_row(ui, method, at == picking.method, name, width);
            if has_keys && at == picking.method {
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
        layout::first(picking.method, usize::from(inner.height)),
    );
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

fn method_row<'a>(
    ui: Ui<'a>,
    method: &MethodOffer,
    is_here: bool,
    name: usize,
    width: usize,
) -> Row<'a> {
    let picked = ui.model.picking.picked.contains(&method.picked());
    let mut row = Row::new(ui, width);
    row.text(if is_here { "▸ " } else { "  " }, Role::Accent);
    match &method.runnable {
        Ok(()) => {
            let (mark, role) = if picked {
                ("[x] ", Role::Accent)
            } else {
                ("[ ] ", Role::Text)
            };
            row.text(mark, role).left(&method.name, name, Role::Text);
            if !method.named.is_empty() {
                row.whole("destroys", Role::Destroys);
            }
            row.gap(2).text(&method.title, Role::Muted);
            row.end(&method.family, Role::Muted);
        }
        Err(why) => {
            row.text(" –  ", Role::Pending)
                .left(&method.name, name, Role::Pending);
            row.gap(2).text(why, Role::Warn);
        }
    }
    row
}
