//! Where every byte went: how full the pools are, what was stored and moved, what a snapshot holds,
//! what is still out and what came back.

mod about;
mod items;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::Line;

use crate::event::{Sample, Space};
use crate::session::{Left, LeftState, PoolView, Session, bytes_can_be, labelled, sample_can_be};

use super::super::keys::{Action, Context};
use super::super::model::{Model, Pane};
use super::super::theme::Role;
use super::super::view::{Titles, Ui};
use super::super::{counted, format, layout, text};
use super::gauge;
use super::row::Row;
use items::{Item, items};

/// Cells of a gauge at most.
const GAUGE: usize = 14;

/// The pane.
pub(crate) fn draw(ui: Ui<'_>, area: Rect, buffer: &mut Buffer) {
    let has_keys = ui.model.watching.pane == Pane::Bytes;
    let shared = !layout::has_both_figures(ui.model);
    let all = items(ui.model, ui.session, ui.figures);
    let cursor = ui.model.watching.bytes.min(all.len().saturating_sub(1));
    let inner_height = layout::inner_height(area);
    // What is said of the row under the cursor.
    let foot = match inner_height {
        _ if !has_keys => 0,
        0..4 => 0,
        4..8 => 1,
        _ => 2,
    };
    let height = inner_height - foot;
    let from = if has_keys {
        (cursor + 1).saturating_sub(height)
    } else {
        0
    };
    let swap = if shared {
        ui.model
            .keys
            .says(Context::Watching, Action::Swap, "medians")
    } else {
        String::new()
    };
    let titles = Titles {
        left: "Bytes",
        right: &swap,
        foot: &format::below(all.len(), height + from),
    };
    let inner = ui.pane(area, buffer, has_keys, titles);
    let width = usize::from(inner.width);
    let name = name_width(&all, width);
    let from = from.min(all.len().saturating_sub(height));
    let seen = all.iter().enumerate().skip(from).take(height);
    let rows: Vec<Line<'_>> = seen
        .map(|(at, item)| {
            let mut row = Row::new(ui, width);
            draw_item(ui, &mut row, item, name);
            if has_keys && at == cursor {
                row.line_in(ui.style(Role::Selection))
            } else {
                row.line()
            }
        })
        .collect();
    let foot = u16::try_from(foot).unwrap_or_default();
    let list = Rect {
        height: inner.height.saturating_sub(foot),
        ..inner
    };
    ui.rows(list, buffer, &rows, 0);
    let says = all.get(cursor).map(|item| about::about(ui, item));
    let says = text::wrap_words(&text::clean(&says.unwrap_or_default()), width);
    let rows: Vec<Line<'_>> = says
        .iter()
        .map(|part| {
            let mut row = Row::new(ui, width);
            row.text(part, Role::Info);
            row.line()
        })
        .collect();
    let foot = Rect {
        y: list.bottom(),
        height: foot,
        ..inner
    };
    ui.rows(foot, buffer, &rows, 0);
}

/// How many rows it has.
pub(crate) fn count(model: &Model, session: &Session) -> usize {
    items(model, session, &counted::seen(model, session)).len()
}

/// So many names are looked at to find the longest.
const MOST_NAMES: usize = 200;

/// Where names end and figures begin.
fn name_width(all: &[Item<'_>], width: usize) -> usize {
    let name = |item: &Item<'_>| match item {
        Item::Space(space) => text::width(&space.name),
        Item::Told(sample) => text::width(&sample.name),
        Item::Sum { name, .. } => text::width(name),
        Item::Left(left) => text::width(&left.intended.name) + 1,
        Item::Pool(pool) => text::width(&pool.latest.pool),
        _ => 0,
    };
    let widest = all
        .iter()
        .take(MOST_NAMES)
        .map(name)
        .max()
        .unwrap_or_default();
    widest.clamp(10, (width * 2 / 5).clamp(10, 22))
}

fn draw_item(ui: Ui<'_>, row: &mut Row<'_>, item: &Item<'_>, name: usize) {
    match item {
        Item::Placement(placement) => place(row, placement, name),
        Item::Pool(pool) => draw_pool(ui, row, pool, name),
        Item::Back(pool) => {
            let (taken, back) = items::came_back(pool);
            row.gap(1)
                .left("space back", name.saturating_sub(1), Role::Muted)
                .gap(2)
                .text(&format::of(back, taken, ""), Role::Text);
        }
        Item::StillOut(0) => {
            row.left("still out", name, Role::Text)
                .gap(2)
                .text("nothing", Role::Ok);
        }
        Item::StillOut(n) => {
            row.left("still out", name, Role::Text)
                .gap(2)
                .text(&format::count(*n, "leftover"), Role::Accent);
        }
        Item::Left(left) => still_out(row, left, name),
        Item::Heading(title) => {
            row.text(title, Role::Title);
        }
        Item::Space(space) => figure(ui, row, space, name),
        Item::Told(sample) => told(ui, row, sample, name),
        Item::Sum {
            name: what,
            bytes,
            runs,
        } => {
            row.left(what, name, Role::Text)
                .gap(2)
                .right(&format::bytes(*bytes), 8, Role::Accent)
                .gap(1)
                .text(&format!("in {}", format::count(*runs, "run")), Role::Muted);
        }
        Item::More(more) => {
            row.gap(1).text(&format!("and {more} more"), Role::Muted);
        }
        Item::Undone { gone, all } => {
            row.left("taken away", name, Role::Text)
                .gap(2)
                .text(&format!("{gone} of {all}"), Role::Text);
        }
    }
}

/// Which disks original and copy are on, and whether these are the same.
fn place(row: &mut Row<'_>, placement: &items::Placed<'_>, name: usize) {
    match placement.same_disk {
        Some(true) => row.text(" same disk ", Role::Badge).gap(1),
        Some(false) => row.left("other disk", name, Role::Ok).gap(2),
        None => row.left("disk not known", name, Role::Warn).gap(2),
    };
    let (original, copy) = placement.names();
    if original == copy {
        row.text(&format!("original and copy on {original}"), Role::Text);
    } else {
        row.text(&format!("original {original}, copy {copy}"), Role::Text);
    }
}

/// `thin pool pve/data  61.2 % ████████▌····  meta 3.1 %  39.2 of 64.0 GiB`.
fn draw_pool(ui: Ui<'_>, row: &mut Row<'_>, pool: &PoolView, name: usize) {
    let latest = &pool.latest;
    let title = match ui.session.hosts.size() {
        0 | 1 => latest.pool.clone(),
        _ => format!("{} {}", latest.host, latest.pool),
    };
    row.left(&title, name, Role::Text).gap(2);
    let meta = latest.metadata.and_then(crate::event::Fill::percent);
    let meta = meta.map(|percent| (format!("meta {percent:.1} %"), fullness(percent)));
    match latest.data.percent() {
        Some(percent) => {
            let role = fullness(percent);
            row.right(&format!("{percent:.1} %"), 7, role).gap(1);
            let need = meta.as_ref().map_or(0, |(says, _)| text::width(says) + 2);
            gauge::exact(row, percent, row.room().saturating_sub(need).min(GAUGE));
        }
        None => {
            row.text("no size", Role::Muted);
        }
    }
    if let Some((says, role)) = meta {
        row.whole(&says, role);
    }
    let (used, total) = (latest.data.used, latest.data.total);
    row.whole(&format::of(used, total, ""), Role::Muted);
}

/// A pool that runs full stops more than this session.
fn fullness(percent: f64) -> Role {
    match percent {
        p if p >= 95.0 => Role::Error,
        p if p >= 80.0 => Role::Warn,
        _ => Role::Accent,
    }
}

fn still_out(row: &mut Row<'_>, left: &Left, name: usize) {
    row.gap(1)
        .left(&left.intended.name, name.saturating_sub(1), Role::Muted)
        .gap(2)
        .text(&format!("{}: ", left.intended.host), Role::Muted);
    match &left.state {
        LeftState::Intended => row.text("may be there", Role::Warn),
        LeftState::Found(found) => row.text(found, Role::Text),
        LeftState::Kept(why) => row.text(&format!("kept: {why}"), Role::Warn),
        LeftState::Undone => row,
    };
}

fn figure(ui: Ui<'_>, row: &mut Row<'_>, space: &Space, name: usize) {
    row.left(&space.name, name, Role::Text);
    let figures = [
        (space.stored, "stored"),
        (space.held, "held"),
        (space.logical, "logical"),
    ];
    for (bytes, word) in figures {
        if let Some(bytes) = bytes.filter(|bytes| !bytes_can_be(*bytes)) {
            row.gap(2)
                .text(&format::impossible(bytes.0 as f64, "B"), Role::Warn)
                .gap(1)
                .text(word, Role::Muted);
        } else if let Some(bytes) = bytes {
            row.gap(2)
                .right(&format::bytes(bytes), 8, Role::Accent)
                .gap(1)
                .text(word, Role::Muted);
        }
    }
    for (key, value) in ui.session.labels_of(&space.step) {
        row.gap(2).text(&labelled(&key, &value), Role::Muted);
    }
    match (&space.why, space.settled) {
        (Some(why), true) => row.gap(2).text(why, Role::Muted),
        (Some(why), false) => row.gap(2).text(&format!("not settled: {why}"), Role::Warn),
        (None, true) => row,
        (None, false) => row.gap(2).text("not settled", Role::Warn),
    };
}

fn told(ui: Ui<'_>, row: &mut Row<'_>, sample: &Sample, name: usize) {
    let step = sample.step.as_ref();
    let step = step.and_then(|step| ui.session.step_view(step));
    let by = step.map_or(items::source(sample), |step| step.planned.name.as_str());
    row.left(&sample.name, name, Role::Text).gap(2);
    if sample_can_be(sample) {
        let value = format::value(sample.value, &sample.unit, sample.resolution);
        row.right(&value, 8, Role::Accent);
    } else {
        row.text(&format::impossible(sample.value, &sample.unit), Role::Warn);
    }
    row.gap(1).text(by, Role::Muted);
}
