//! Where every byte went: what was stored, what a snapshot holds, what is still out.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::Line;

use crate::event::Space;
use crate::session::{LeftState, Session};

use super::super::format;
use super::super::layout;
use super::super::model::{Model, Pane};
use super::super::text;
use super::super::theme::Role;
use super::super::view::{Titles, Ui};
use super::row::Row;

/// The pane.
pub(crate) fn draw(ui: Ui<'_>, area: Rect, buffer: &mut Buffer) {
    let has_keys = ui.model.watching.pane == Pane::Bytes;
    let shared = !layout::has_both_figures(ui.model);
    let titles = Titles {
        left: "Bytes",
        right: if shared { "b medians" } else { "" },
        ..Titles::default()
    };
    let inner = ui.pane(area, buffer, has_keys, titles);
    let rows: Vec<Line<'_>> = lines(ui, usize::from(inner.width)).into_iter().collect();
    ui.rows(inner, buffer, &rows, ui.model.watching.bytes);
}

/// The rows, for scrolling.
pub(crate) fn rows(model: &Model, session: &Session) -> Vec<Line<'static>> {
    let tally = crate::session::Tally::default();
    lines(
        Ui {
            model,
            session,
            tally: &tally,
        },
        usize::from(model.size.0),
    )
}

fn lines(ui: Ui<'_>, width: usize) -> Vec<Line<'static>> {
    let mut rows = Vec::new();
    rows.extend(placement(ui, width));
    rows.extend(still_out(ui, width));
    rows.extend(latest(ui).into_iter().map(|space| figure(ui, space, width)));
    rows
}

/// The newest figure of each name, of the run that is looked at.
fn latest(ui: Ui<'_>) -> Vec<&Space> {
    let Some(run) = ui.model.run(ui.session) else {
        return Vec::new();
    };
    let mut latest: Vec<&Space> = Vec::new();
    for space in ui
        .session
        .spaces
        .iter()
        .filter(|space| space.run == run.run)
    {
        match latest.iter_mut().find(|known| known.name == space.name) {
            Some(known) => *known = space,
            None => latest.push(space),
        }
    }
    latest
}

/// Where names end and figures begin.
fn name_width(ui: Ui<'_>, width: usize) -> usize {
    let spaces = latest(ui).into_iter().map(|space| space.name.as_str());
    let left = ui
        .session
        .ledger
        .still_out()
        .map(|left| left.intended.name.as_str());
    let widest = spaces
        .chain(left)
        .map(text::width)
        .max()
        .unwrap_or_default()
        + 1;
    widest.clamp(10, (width / 3).clamp(10, 20))
}

fn figure(ui: Ui<'_>, space: &Space, width: usize) -> Line<'static> {
    let mut row = Row::new(ui, width);
    row.left(&space.name, name_width(ui, width), Role::Text);
    let figures = [
        (space.stored, "stored"),
        (space.held, "held"),
        (space.logical, "logical"),
    ];
    for (bytes, word) in figures {
        if let Some(bytes) = bytes {
            row.gap(2)
                .right(&format::bytes(bytes), 8, Role::Accent)
                .gap(1)
                .text(word, Role::Muted);
        }
    }
    match (&space.why, space.settled) {
        (Some(why), true) => row.gap(2).text(why, Role::Muted),
        (Some(why), false) => row.gap(2).text(&format!("not settled: {why}"), Role::Warn),
        (None, false) => row.gap(2).text("not settled", Role::Warn),
        (None, true) => &mut row,
    };
    row.line()
}

/// Where the original and the copy stand, and the badge where that is one disk.
fn placement(ui: Ui<'_>, width: usize) -> Option<Line<'static>> {
    let run = ui.model.run(ui.session)?;
    let binding = ui.session.binding(&run.binding)?;
    let placement = binding.placement.as_ref()?;
    let one_host = placement.original.host == placement.copy.host;
    let name = |place: &crate::event::Place| {
        let carrier = if place.disks.is_empty() {
            place.at.clone()
        } else {
            place.disks.join("+")
        };
        if one_host || place.host.is_empty() {
            carrier
        } else {
            format!("{} {carrier}", place.host)
        }
    };
    let mut row = Row::new(ui, width);
    match placement.same_disk() {
        Some(true) => row.text(" same disk ", Role::Badge).gap(1),
        Some(false) => row
            .left("other disk", name_width(ui, width), Role::Ok)
            .gap(2),
        None => row
            .left("disk not known", name_width(ui, width), Role::Warn)
            .gap(2),
    };
    let (original, copy) = (name(&placement.original), name(&placement.copy));
    if original == copy {
        row.text(&format!("original and copy on {original}"), Role::Text);
    } else {
        row.text(&format!("original {original}, copy {copy}"), Role::Text);
    }
    Some(row.line())
}

/// What is still on a host: how many, then each.
fn still_out(ui: Ui<'_>, width: usize) -> Vec<Line<'static>> {
    let left: Vec<_> = ui.session.ledger.still_out().collect();
    let mut head = Row::new(ui, width);
    head.left("still out", name_width(ui, width), Role::Text)
        .gap(2);
    if left.is_empty() {
        head.text("nothing", Role::Ok);
    } else {
        head.text(&left.len().to_string(), Role::Accent);
    }
    let mut rows = vec![head.line()];
    for left in left {
        let mut row = Row::new(ui, width);
        row.gap(1)
            .left(&left.intended.name, name_width(ui, width) - 1, Role::Muted)
            .gap(2);
        row.text(&format!("{}: ", left.intended.host), Role::Muted);
        match &left.state {
            LeftState::Intended => row.text("may be there", Role::Warn),
            LeftState::Found(found) => row.text(found, Role::Text),
            LeftState::Kept(why) => row.text(&format!("kept: {why}"), Role::Warn),
            LeftState::Undone => &mut row,
        };
        rows.push(row.line());
    }
    rows
}
