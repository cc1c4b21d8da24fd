//! What to run: hosts, methods, how often, and exactly what it would do.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::Line;

use super::super::layout;
use super::super::model::{Model, PickPane};
use super::super::offer::{HostOffer, MethodOffer, Room};
use super::super::theme::Role;
use super::super::view::{Titles, Ui};
use super::super::widgets::row::Row;
use super::super::{format, signs, text};
use crate::session::{Session, Tally};

/// Draws it.
pub(in super::super) fn draw(ui: Ui<'_>, buffer: &mut Buffer) {
    let areas = layout::picking(ui.model);
    hosts(ui, areas.hosts, buffer);
    methods(ui, areas.methods, buffer);
    how(ui, areas.how, buffer);
    preview(ui, areas.preview, buffer);
}

fn hosts(ui: Ui<'_>, area: Rect, buffer: &mut Buffer) {
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
    ui.rows(inner, buffer, &rows, scroll_to(picking.host, inner));
}

fn host_row<'a>(ui: Ui<'a>, host: &HostOffer, is_here: bool, width: usize) -> Row<'a> {
    let sign = signs::of_host(host.state);
    let mut row = Row::new(ui, width);
    row.text(if is_here { "▸ " } else { "  " }, Role::Accent)
        .text(&host.name, Role::Text)
        .gap(1)
        .text(sign.sign, sign.role)
        .gap(1);
    if sign.role != Role::Ok {
        row.text(sign.word, sign.role).gap(1);
    }
    row.text(&host.facts, Role::Muted);
    row
}

fn scroll_to(at: usize, area: Rect) -> usize {
    (at + 1).saturating_sub(usize::from(area.height))
}

fn methods(ui: Ui<'_>, area: Rect, buffer: &mut Buffer) {
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
        let mut row = Row::new(ui, width);
        let says = if filter.is_empty() {
            "No method is known for this host."
        } else {
            "No method has this text."
        };
        row.text(says, Role::Muted);
        ui.line(inner, buffer, &row.line());
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
    ui.rows(inner, buffer, &rows, scroll_to(picking.method, inner));
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

/// Repetitions, order, what it comes to, and what it destroys.
fn how(ui: Ui<'_>, area: Rect, buffer: &mut Buffer) {
    let picking = &ui.model.picking;
    let width = usize::from(area.width);
    let chosen = picking.chosen().len();
    let mut row = Row::new(ui, width);
    row.gap(1)
        .text("repetitions ", Role::Muted)
        .text(&picking.reps.0.to_string(), Role::Accent);
    row.text(" – +", Role::Key)
        .gap(3)
        .text("order ", Role::Muted);
    row.text(&picking.order.to_string(), Role::Accent).gap(3);
    let methods = if chosen == 1 {
        "1 method".to_owned()
    } else {
        format!("{chosen} methods")
    };
    let runs = chosen * picking.reps.0 as usize;
    let comes_to = match (chosen, runs) {
        (0, _) => "nothing picked yet".to_owned(),
        (_, 1) => format!("{methods}, 1 run"),
        _ => format!("{methods}, {runs} runs"),
    };
    row.text(
        &comes_to,
        if chosen == 0 { Role::Muted } else { Role::Text },
    );
    ui.line(Rect { height: 1, ..area }, buffer, &row.line());

    let mut row = Row::new(ui, width);
    row.gap(1);
    let named = picking.named();
    if !picking.is_current() && picking.offer.is_some() {
        row.text("what would run is being worked out…", Role::Warn);
    } else if !named.is_empty() {
        let names: Vec<_> = named
            .iter()
            .map(|named| format!("{} {}", named.what, named.name))
            .collect();
        row.text(&format!("destroys {}", names.join(", ")), Role::Destroys);
        row.text(", and asks for the name first", Role::Muted);
    } else if chosen > 0 {
        row.text("destroys nothing that it does not make itself", Role::Ok);
    } else {
        row.text("", Role::Muted);
    }
    if area.height > 1 {
        ui.line(
            Rect {
                y: area.y + 1,
                height: 1,
                ..area
            },
            buffer,
            &row.line(),
        );
    }
}

fn preview(ui: Ui<'_>, area: Rect, buffer: &mut Buffer) {
    let picking = &ui.model.picking;
    let has_keys = picking.pane == PickPane::Preview;
    let rows = preview_lines(ui, usize::from(area.width.saturating_sub(2)));
    let more = rows
        .len()
        .saturating_sub(layout::inner_height(area) + picking.scroll);
    let foot = if more > 0 {
        format!("{more} more rows below")
    } else {
        String::new()
    };
    let titles = Titles {
        left: "What will run",
        right: "",
        foot: &foot,
    };
    let inner = ui.pane(area, buffer, has_keys, titles);
    ui.rows(inner, buffer, &rows, picking.scroll);
}

/// How many rows the preview has.
pub(in super::super) fn preview_rows(model: &Model) -> usize {
    let (session, tally) = (Session::default(), Tally::default());
    let ui = Ui {
        model,
        session: &session,
        tally: &tally,
    };
    preview_lines(
        ui,
        usize::from(layout::picking(model).preview.width.saturating_sub(2)),
    )
    .len()
}

/// The method under the cursor first, then the others that are picked.
fn preview_lines(ui: Ui<'_>, width: usize) -> Vec<Line<'static>> {
    let picking = &ui.model.picking;
    let mut rows = Vec::new();
    let current = picking.current();
    let here = current.map(MethodOffer::picked);
    let others = picking
        .chosen()
        .into_iter()
        .filter(|method| Some(method.picked()) != here);
    for method in current.into_iter().chain(others) {
        if !rows.is_empty() {
            rows.push(Line::default());
        }
        method_lines(ui, method, width, &mut rows);
    }
    rows
}

fn method_lines(ui: Ui<'_>, method: &MethodOffer, width: usize, rows: &mut Vec<Line<'static>>) {
    let picked = ui.model.picking.picked.contains(&method.picked());
    let mut row = Row::new(ui, width);
    row.text(&format!("{} on {}", method.name, method.host), Role::Title);
    if !method.subject.is_empty() {
        row.text(&format!("  {}", method.subject), Role::Text);
    }
    if let Err(why) = &method.runnable {
        row.whole(&format!("cannot run: {why}"), Role::Warn);
    } else if !picked {
        row.whole("not picked", Role::Muted);
    }
    rows.push(row.line());
    for warning in &method.warnings {
        for (at, part) in text::wrap_words(&text::clean(warning), width.saturating_sub(2).max(1))
            .iter()
            .enumerate()
        {
            let mut row = Row::new(ui, width);
            row.text(if at == 0 { "! " } else { "  " }, Role::Warn)
                .text(part, Role::Warn);
            rows.push(row.line());
        }
    }
    rows.extend(method.room.iter().map(|room| room_line(ui, room, width)));
    let name = (width / 5).clamp(8, 24);
    let mut phase = None;
    for line in &method.preview {
        let is_new = phase.replace(line.phase) != Some(line.phase);
        let mut commands = line.command.lines().filter(|text| !text.trim().is_empty());
        let mut row = Row::new(ui, width);
        row.gap(1).left(
            &if is_new {
                line.phase.to_string()
            } else {
                String::new()
            },
            8,
            Role::Muted,
        );
        row.gap(1).left(&line.name, name, Role::Text).gap(1);
        let destroys = line
            .destroys
            .as_ref()
            .map(|what| format!("destroys {what}"));
        let tail = destroys.as_ref().map_or(0, |text| text::width(text) + 2);
        let room = row.room().saturating_sub(tail);
        row.left(commands.next().unwrap_or_default(), room, Role::LogCommand);
        if let Some(destroys) = destroys {
            row.gap(2).text(&destroys, Role::Destroys);
        }
        rows.push(row.line());
        for command in commands {
            let mut row = Row::new(ui, width);
            row.to(name + 11).text(command, Role::LogCommand);
            rows.push(row.line());
        }
    }
}

fn room_line(ui: Ui<'_>, room: &Room, width: usize) -> Line<'static> {
    let mut row = Row::new(ui, width);
    let needs = format!("needs {} on {}", format::bytes(room.needs), room.at);
    match room.free {
        Some(free) if free < room.needs => row.text("! ", Role::Error).text(
            &format!("{needs}: only {} free", format::bytes(free)),
            Role::Error,
        ),
        Some(free) => row
            .gap(2)
            .text(&needs, Role::Text)
            .text(&format!(", {} free", format::bytes(free)), Role::Muted),
        None => row
            .gap(2)
            .text(&needs, Role::Text)
            .text(", free room not known", Role::Muted),
    };
    row.line()
}
