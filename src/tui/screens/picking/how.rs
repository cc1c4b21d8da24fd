//! How often and in which order, what it comes to, how long that takes, and what it destroys.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::Line;

use super::super::super::forecast::forecast;
use super::super::super::keys::{Action, Context};
use super::super::super::theme::Role;
use super::super::super::view::{Titles, Ui};
use super::super::super::widgets::row::Row;
use super::super::super::{format, layout, text};

/// A pane where there is room; else as many rows as there are, those that matter most.
pub(super) fn draw(ui: Ui<'_>, area: Rect, buffer: &mut Buffer) {
    if layout::has_how_pane(ui.model) {
        let titles = Titles {
            left: "How",
            ..Titles::default()
        };
        let inner = ui.pane(area, buffer, false, titles);
        let width = usize::from(inner.width);
        let mut rows = vec![turns(ui, width).line()];
        rows.extend(wrapped(ui, &size(ui), Role::Text, width));
        for pair in at_once(ui) {
            rows.extend(wrapped(ui, &pair, Role::Text, width));
        }
        rows.extend(
            time(ui)
                .iter()
                .flat_map(|text| wrapped(ui, text, Role::Text, width)),
        );
        rows.extend(
            harm(ui)
                .iter()
                .flat_map(|(text, role)| wrapped(ui, text, *role, width)),
        );
        ui.rows(inner, buffer, &rows, 0);
        return;
    }
    let width = usize::from(area.width);
    let mut first = turns(ui, width);
    let is_whole = first.whole(&size(ui), Role::Text);
    let one = |text: &str, role| {
        let mut row = Row::new(ui, width);
        row.gap(1).text(text, role);
        row.line()
    };
    let harm = harm(ui);
    let rows: Vec<Line<'_>> = match area.height {
        0..=1 => match &harm {
            Some((text, role @ (Role::Destroys | Role::Warn))) => vec![one(text, *role)],
            _ => vec![one(&short(ui), Role::Text)],
        },
        2 => {
            let mut rows = vec![if is_whole {
                first.line()
            } else {
                one(&short(ui), Role::Text)
            }];
            rows.extend(harm.iter().map(|(text, role)| one(text, *role)));
            rows
        }
        _ => {
            let mut rows = vec![first.line()];
            let said = match (time(ui), is_whole) {
                (Some(time), true) => time,
                (Some(time), false) => format!("{}: {time}", size(ui)),
                (None, true) => String::new(),
                (None, false) => size(ui),
            };
            rows.push(one(&said, Role::Text));
            rows.extend(harm.iter().map(|(text, role)| one(text, *role)));
            rows
        }
    };
    ui.rows(area, buffer, &rows, 0);
}

fn wrapped(ui: Ui<'_>, text: &str, role: Role, width: usize) -> Vec<Line<'static>> {
    let rows = text::wrap_words(&text::clean(text), width.saturating_sub(2).max(1));
    let line = |part: &String| {
        let mut row = Row::new(ui, width);
        row.gap(1).text(part, role);
        row.line()
    };
    rows.iter().map(line).collect()
}

fn turns(ui: Ui<'_>, width: usize) -> Row<'_> {
    let picking = &ui.model.picking;
    let mut row = Row::new(ui, width);
    row.gap(1)
        .text("repetitions ", Role::Muted)
        .text(&picking.reps.0.to_string(), Role::Accent)
        .text(" – +", Role::Key)
        .gap(3)
        .text("order ", Role::Muted)
        .text(&picking.order.to_string(), Role::Accent)
        .text(" o", Role::Key);
    row
}

/// The size of the plan.
fn size(ui: Ui<'_>) -> String {
    let picking = &ui.model.picking;
    let chosen = picking.chosen();
    if chosen.is_empty() {
        return "nothing picked yet".to_owned();
    }
    let mut hosts: Vec<&str> = chosen.iter().map(|method| method.host.as_str()).collect();
    hosts.dedup();
    let on = match hosts.len() {
        1 => String::new(),
        n => format!(" on {}", format::count(n, "host")),
    };
    let pairs = picking.pairs().len();
    let mut methods = format::count(chosen.len(), "method");
    if pairs > 0 {
        methods = format!("{methods} and {} at once", format::count(pairs, "pair"));
    }
    let runs = (chosen.len() + 2 * pairs) * picking.reps.0 as usize;
    let runs = format::count(runs, "run");
    let left_out = match picking.picked.len() - chosen.len() {
        0 => String::new(),
        n => format!(" ({n} picked cannot run)"),
    };
    format!("{methods} × {} = {runs}{on}{left_out}", picking.reps.0)
}

/// What runs at once, and what the one does that is done first.
fn at_once(ui: Ui<'_>) -> Vec<String> {
    let picking = &ui.model.picking;
    let key = ui.model.keys.name(&[Context::Picking], Action::First);
    let pairs = picking.pairs();
    let says = pairs.iter().map(|[one, other]| {
        format!(
            "at once: {} and {}; {} ({key})",
            one.method, other.method, picking.first
        )
    });
    says.collect()
}

fn time(ui: Ui<'_>) -> Option<String> {
    Some(forecast(&ui.model.picking)?.says())
}

/// All of it in one row.
fn short(ui: Ui<'_>) -> String {
    let picking = &ui.model.picking;
    let size = size(ui);
    if let Some(known) = forecast(picking) {
        return format!("{size}, {}", known.short());
    }
    let reps = format::count(picking.reps.0, "repetition");
    format!("{size} · {reps}, {}", picking.order)
}

/// What is destroyed, or that nothing is; nothing where nothing is picked.
fn harm(ui: Ui<'_>) -> Option<(String, Role)> {
    let picking = &ui.model.picking;
    let named = picking.named();
    if picking.offer.is_some() && !picking.is_current() {
        return Some(("what would run is being worked out…".to_owned(), Role::Warn));
    }
    if !named.is_empty() {
        let all: Vec<_> = named
            .iter()
            .map(|named| format!("{} {} on {}", named.what, named.name, named.host))
            .collect();
        let says = format!("destroys {}; asks for the name first", all.join(", "));
        return Some((says, Role::Destroys));
    }
    if picking.chosen().is_empty() {
        return None;
    }
    Some((
        "destroys nothing but what it makes itself".to_owned(),
        Role::Ok,
    ))
}
