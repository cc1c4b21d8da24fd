//! Exactly what would run.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::Line;

use crate::event::{HostState, Place, Placement};
use crate::session::Session;

use super::super::super::counted::Counted;
use super::super::super::keys::{Action, Context};
use super::super::super::model::{Model, PickPane, Picking};
use super::super::super::offer::{MethodOffer, PreviewLine, Room};
use super::super::super::theme::Role;
use super::super::super::view::{Titles, Ui};
use super::super::super::widgets::row::Row;
use super::super::super::{forecast, format, layout, text};
use super::subject;

pub(super) fn draw(ui: Ui<'_>, area: Rect, buffer: &mut Buffer) {
    let picking = &ui.model.picking;
    let has_keys = picking.pane == PickPane::Preview;
    let rows = preview_lines(ui, usize::from(area.width.saturating_sub(2)));
    let titles = Titles {
        left: "What will run",
        right: "",
        foot: &format::below(rows.len(), layout::inner_height(area) + picking.scroll),
    };
    let inner = ui.pane(area, buffer, has_keys, titles);
    ui.rows(inner, buffer, &rows, picking.scroll);
}

/// How many rows the preview has.
pub(in super::super::super) fn preview_rows(model: &Model) -> usize {
    let (session, figures) = (Session::default(), Counted::default());
    let ui = Ui {
        model,
        session: &session,
        figures: &figures,
    };
    preview_lines(
        ui,
        usize::from(layout::picking(model).preview.width.saturating_sub(2)),
    )
    .len()
}

/// What stands under the cursor of another list, where its pane has no room for all of it.
fn under_cursor(ui: Ui<'_>, width: usize) -> Vec<Line<'static>> {
    let picking = &ui.model.picking;
    let about = match picking.pane {
        PickPane::Hosts => host(picking),
        PickPane::Subject => subject::about(picking),
        PickPane::Methods | PickPane::Preview if picking.here().is_empty() => host(picking),
        PickPane::Methods | PickPane::Preview => Vec::new(),
    };
    let wrapped = |(text, role): &(String, Role)| {
        let parts = text::wrap_words(&text::clean(text), width.max(1));
        let line = |part: String| {
            let mut row = Row::new(ui, width);
            row.text(&part, *role);
            row.line()
        };
        parts.into_iter().map(line).collect::<Vec<_>>()
    };
    about.iter().flat_map(wrapped).collect()
}

/// A host in full: what it is, or why it is not there.
fn host(picking: &Picking) -> Vec<(String, Role)> {
    let Some(host) = picking.host() else {
        return Vec::new();
    };
    match host.state {
        HostState::Down => vec![
            (format!("{} is down", host.name), Role::Title),
            (host.facts.clone(), Role::Warn),
        ],
        _ if host.facts.is_empty() => Vec::new(),
        _ => vec![(format!("{}: {}", host.name, host.facts), Role::Text)],
    }
}

/// The method under the cursor first, then the others that are picked.
fn preview_lines(ui: Ui<'_>, width: usize) -> Vec<Line<'static>> {
    let picking = &ui.model.picking;
    let mut rows = under_cursor(ui, width);
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
        row.gap(2).text(&method.subject, Role::Text);
    }
    let is_told = row.whole(&method.title, Role::Muted);
    if method.runnable.is_ok() && !picked {
        row.whole("not picked", Role::Muted);
    }
    rows.push(row.line());
    if !is_told && !method.title.is_empty() {
        rows.extend(marked(ui, ("  ", &method.title), Role::Muted, width));
    }
    if let Err(why) = &method.runnable {
        let says = format!("cannot run: {why}");
        rows.extend(marked(ui, ("! ", &says), Role::Warn, width));
    }
    for warning in &method.warnings {
        rows.extend(marked(ui, ("! ", warning), Role::Warn, width));
    }
    if method.runnable.is_ok() {
        let past = forecast::past(&method.past);
        rows.extend(marked(ui, ("  ", &past), Role::Text, width));
    }
    let rooms = method.room.iter();
    rows.extend(rooms.flat_map(|room| room_lines(ui, room, width)));
    if let Some(placement) = &method.placement {
        let same_disk = placement.same_disk(&method.machines);
        rows.extend(placement_lines(ui, (placement, same_disk), width));
    }
    let mut phase = None;
    for line in method.preview.iter() {
        let is_new = phase.replace(line.phase) != Some(line.phase);
        rows.extend(command_lines(ui, line, is_new, width));
    }
}

/// A sentence behind its sign, in as many rows as it needs.
fn marked(ui: Ui<'_>, (sign, says): (&str, &str), role: Role, width: usize) -> Vec<Line<'static>> {
    let parts = text::wrap_words(&text::clean(says), width.saturating_sub(2).max(1));
    let line = |(at, part): (usize, &String)| {
        let mut row = Row::new(ui, width);
        row.text(if at == 0 { sign } else { "  " }, role)
            .text(part, role);
        row.line()
    };
    parts.iter().enumerate().map(line).collect()
}

/// Rows of a command that are shown before all of it is asked for.
const FIRST: usize = 2;

/// A step: its command, and what it destroys. Of a command that destroys something all is shown.
fn command_lines(ui: Ui<'_>, line: &PreviewLine, is_new: bool, width: usize) -> Vec<Line<'static>> {
    let name = (width / 5).clamp(8, 24);
    let front = name + 11;
    let room = width.saturating_sub(front).max(1);
    let phase = if is_new {
        line.phase
            .map_or("beside".to_owned(), |phase| phase.to_string())
    } else {
        String::new()
    };
    let lines: Vec<_> = line.command.lines().map(text::clean).collect();
    let parts = lines.iter().filter(|line| !line.trim().is_empty());
    let mut parts: Vec<&str> = parts.flat_map(|line| text::wrap(line, room)).collect();
    let shows_all = ui.model.picking.whole || line.destroys.is_some() || parts.len() <= FIRST + 1;
    let more = if shows_all {
        String::new()
    } else {
        let rest = parts.split_off(FIRST);
        let keys = &ui.model.keys;
        let says = keys.says(Context::Picking, Action::Whole, "shows all");
        let more = format!("… {}, {says}", format::count(rest.len(), "more row"));
        more.trim_end_matches(", ").to_owned()
    };
    let mut row = Row::new(ui, width);
    row.gap(1)
        .left(&phase, 8, Role::Muted)
        .gap(1)
        .name(&line.name, name, Role::Text)
        .gap(1);
    let mut rows = Vec::new();
    for part in parts {
        row.to(front).text(part, Role::LogCommand);
        rows.push(std::mem::replace(&mut row, Row::new(ui, width)));
    }
    if !more.is_empty() {
        row.to(front).text(&more, Role::Muted);
        rows.push(row);
        row = Row::new(ui, width);
    }
    if rows.is_empty() {
        rows.push(row);
    }
    if let Some(destroys) = &line.destroys {
        let destroys = format!("destroys {destroys}");
        let is_told = rows
            .last_mut()
            .is_some_and(|last| last.whole(&destroys, Role::Destroys));
        if !is_told {
            let mut row = Row::new(ui, width);
            row.to(front).text(&destroys, Role::Destroys);
            rows.push(row);
        }
    }
    rows.into_iter().map(Row::line).collect()
}

/// Where the original and the copy are going to stand, and the badge where that is one disk.
fn placement_lines(
    ui: Ui<'_>,
    (placement, same_disk): (&Placement, Option<bool>),
    width: usize,
) -> Vec<Line<'static>> {
    let name = |place: &Place| {
        let carrier = if place.disks.is_empty() {
            format!("{} at {}", place.filesystem, place.at)
        } else {
            place.disks.join(" + ")
        };
        if placement.original.host == placement.copy.host {
            carrier
        } else {
            format!("{carrier} of {}", place.host)
        }
    };
    let (original, copy) = (name(&placement.original), name(&placement.copy));
    let says = if original == copy && same_disk == Some(true) {
        format!("original and copy on {original}: one dead disk takes both")
    } else {
        format!("original on {original}, copy on {copy}")
    };
    let mut row = Row::new(ui, width);
    row.gap(2);
    match same_disk {
        Some(true) => row.text(" same disk ", Role::Badge),
        Some(false) => row.text("other disk", Role::Ok),
        None => row.text("disk not known", Role::Warn),
    };
    if row.whole(&says, Role::Text) {
        return vec![row.line()];
    }
    let mut rows = vec![row.line()];
    rows.extend(marked(ui, ("  ", &says), Role::Text, width));
    rows
}

fn room_lines(ui: Ui<'_>, room: &Room, width: usize) -> Vec<Line<'static>> {
    let needs = format!("needs {} on {}", format::bytes(room.needs), room.at);
    let (sign, says, role) = match room.free {
        Some(free) if free < room.needs => (
            "! ",
            format!("{needs}: only {} free", format::bytes(free)),
            Role::Error,
        ),
        Some(free) => (
            "  ",
            format!("{needs}, {} free", format::bytes(free)),
            Role::Text,
        ),
        None => ("  ", format!("{needs}, free room not known"), Role::Text),
    };
    marked(ui, (sign, &says), role, width)
}
