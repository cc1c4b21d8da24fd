//! The last line: the keys that matter here, what was said last, or a search that is typed.

use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};

use super::super::keys::{self, Action};
use super::super::model::{Entry, Layer, Purpose, Screen};
use super::super::text;
use super::super::theme::Role;
use super::super::view::Ui;
use super::row::Row;

/// Draws it; gives the cursor's place where it is typed into.
pub(crate) fn draw(ui: Ui<'_>, area: Rect, buffer: &mut Buffer) -> Option<Position> {
    let width = usize::from(area.width);
    if let Some(Layer::Entry(entry)) = ui.model.layers.last()
        && is_in_bar(entry)
    {
        return Some(typed(ui, area, buffer, entry));
    }
    let mut row = Row::new(ui, width);
    row.gap(1);
    if let Some(say) = &ui.model.say {
        row.text(say, Role::Accent);
    } else {
        commands(ui, &mut row);
    }
    ui.line(area, buffer, &row.line());
    None
}

/// Whether a line is typed in the bar, where what it is about stays in sight.
pub(crate) fn is_in_bar(entry: &Entry) -> bool {
    matches!(entry.purpose, Purpose::Search | Purpose::Filter)
}

fn typed(ui: Ui<'_>, area: Rect, buffer: &mut Buffer, entry: &Entry) -> Position {
    let width = usize::from(area.width);
    let mut row = Row::new(ui, width);
    row.gap(1).text(&format!("{}: ", entry.title), Role::Key);
    let start = row.width();
    let cells = row.room().saturating_sub(1);
    let scroll = entry.input.visual_scroll(cells);
    row.text(
        &text::window(entry.input.value(), scroll, cells),
        Role::Text,
    );
    ui.line(area, buffer, &row.line());
    let cursor = start + entry.input.visual_cursor().saturating_sub(scroll);
    Position::new(area.x + cursor.min(width.saturating_sub(1)) as u16, area.y)
}

/// The keys of this place, as many as there is room for; help always.
fn commands(ui: Ui<'_>, row: &mut Row<'_>) {
    let contexts = ui.model.contexts(ui.session);
    let mut seen: Vec<&'static keys::Chord> = Vec::new();
    let mut shown: Vec<(String, String)> = Vec::new();
    let mut help = None;
    for bind in keys::rows(&contexts) {
        let Some(key) = bind.keys.iter().find(|key| !seen.contains(key)) else {
            continue;
        };
        seen.extend(bind.keys);
        if bind.bar.is_empty() {
            continue;
        }
        let (name, label) = match bind.bar.split_once(' ') {
            // `+/- speed`: the label brings the names of two keys.
            Some((names, label)) if names.contains('/') => (names.to_owned(), label.to_owned()),
            _ => (key.to_string(), label(ui, bind)),
        };
        if bind.action == Action::Help {
            help = Some((name, label));
        } else if bind.action == Action::Compare && ui.session.end.is_some() {
            // After the last run, this is what one came for.
            shown.insert(0, (name, label));
        } else {
            shown.push((name, label));
        }
    }
    // What one came here for is never cut off.
    shown.sort_by_key(|(name, _)| name != "Enter");
    let need = |(name, label): &(String, String)| text::width(name) + 1 + text::width(label) + 3;
    let reserved = help.as_ref().map_or(0, need);
    for item in &shown {
        if need(item) + reserved <= row.room() {
            row.text(&item.0, Role::Key)
                .gap(1)
                .text(&item.1, Role::Muted)
                .gap(3);
        }
    }
    if let Some((name, label)) = help {
        row.text(&name, Role::Key).gap(1).text(&label, Role::Muted);
    }
}

/// What the bar calls a key: pausing and going on are one key.
fn label(ui: Ui<'_>, bind: &keys::Bind) -> String {
    let replay = ui.model.replay.as_ref();
    match bind.action {
        Action::Pause if ui.session.is_paused() => "go on",
        Action::Compare if ui.session.end.is_some() && ui.model.screen == Screen::Watching => {
            "what came out"
        }
        Action::Hold if replay.is_some_and(|replay| replay.paused) => "go on",
        _ => bind.bar,
    }
    .to_owned()
}
