//! The last line: the keys that matter here, what was said last, or a search that is typed.

use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use ratatui::text::Line;
use ratatui::widgets::{Clear, Widget};

use super::super::keys::{Action, Bound, Context};
use super::super::model::{Entry, Layer, Purpose, Screen, is_active};
use super::super::query::Syntax;
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
    if let Some(say) = &ui.model.say {
        said(ui, area, buffer, say);
        return None;
    }
    let mut row = Row::new(ui, width);
    row.gap(1);
    commands(ui, &mut row);
    ui.line(area, buffer, &row.line());
    None
}

/// What was said last, until the next key.
fn said(ui: Ui<'_>, area: Rect, buffer: &mut Buffer, say: &str) {
    let bottom = Rect {
        y: area.bottom(),
        ..area
    };
    above(ui, bottom, buffer, say, Role::Accent);
}

/// Words over the rows above a line. They are never cut: a path that is not seen whole is of no use.
fn above(ui: Ui<'_>, line: Rect, buffer: &mut Buffer, words: &str, role: Role) {
    let width = usize::from(line.width);
    let parts = text::wrap_words(&text::clean(words), width.saturating_sub(1).max(1));
    let rows: Vec<Line<'_>> = parts
        .iter()
        .map(|part| {
            let mut row = Row::new(ui, width);
            row.gap(1).text(part, role);
            row.line()
        })
        .collect();
    let height = u16::try_from(rows.len()).unwrap_or(u16::MAX);
    let height = height.clamp(1, 6).min(line.y);
    let area = Rect {
        y: line.y - height,
        height,
        ..line
    };
    Clear.render(area, buffer);
    ui.rows(area, buffer, &rows, 0);
}

/// Whether a line is typed in the bar, where what it is about stays in sight.
pub(crate) fn is_in_bar(entry: &Entry) -> bool {
    matches!(
        entry.purpose,
        Purpose::Search(_) | Purpose::FilterLog(_) | Purpose::Filter | Purpose::FilterRecordings
    )
}

fn typed(ui: Ui<'_>, area: Rect, buffer: &mut Buffer, entry: &Entry) -> Position {
    let width = usize::from(area.width);
    let mut row = Row::new(ui, width);
    row.gap(1)
        .text(&format!("{}: ", prompt(ui, entry)), Role::Key);
    let start = row.width();
    let cells = row.room().saturating_sub(1);
    let scroll = entry.input.visual_scroll(cells);
    row.text(
        &text::window(entry.input.value(), scroll, cells),
        if entry.selected {
            Role::Selection
        } else {
            Role::Text
        },
    );
    ui.line(area, buffer, &row.line());
    if let Some(problem) = &entry.problem {
        above(ui, area, buffer, problem, Role::Error);
    }
    let cursor = start + entry.input.visual_cursor().saturating_sub(scroll);
    Position::new(area.x + cursor.min(width.saturating_sub(1)) as u16, area.y)
}

/// What is asked for; for the log, how it will be understood and the key that changes that.
fn prompt(ui: Ui<'_>, entry: &Entry) -> String {
    let (Purpose::Search(syntax) | Purpose::FilterLog(syntax)) = entry.purpose else {
        return entry.title.clone();
    };
    let key = ui.model.keys.name(&[Context::Entry], Action::Syntax);
    let (now, other) = match syntax {
        Syntax::Text => ("text", "regex"),
        Syntax::Regex => ("regex", "text"),
    };
    if ui.model.size.0 < 60 || key.is_empty() {
        format!("{} {now}", entry.title)
    } else {
        format!("{} {now} ({key} {other})", entry.title)
    }
}

/// The keys of this place, as many as there is room for; help always.
fn commands(ui: Ui<'_>, row: &mut Row<'_>) {
    let contexts = ui.model.contexts(ui.session);
    let bounds = ui.model.keys.here(&contexts);
    let mut shown: Vec<(usize, String, String)> = Vec::new();
    let mut help = None;
    for (at, bound) in bounds.iter().enumerate() {
        let Some(key) = bound.keys.first().filter(|_| !bound.bind.bar.is_empty()) else {
            continue;
        };
        let is_here = match (bound.bind.context, bound.bind.action) {
            (_, Action::Recordings) => has_recordings(ui),
            (Context::Watching, Action::Back) => fills_the_screen(ui),
            (Context::Dialog, Action::Right | Action::Back) => only_choice(ui).is_none(),
            _ => true,
        };
        if !is_here {
            continue;
        }
        let (name, label) = match bound.bind.bar.split_once(' ') {
            // `+/- speed`: two keys, the second one is that of the next row.
            Some((names, label)) if names.len() == 3 && names.contains('/') => {
                let other = bounds.get(at + 1).and_then(|next| next.keys.first());
                let other = other.map_or_else(String::new, |other| format!("/{other}"));
                (format!("{key}{other}"), label.to_owned())
            }
            _ => (key.to_string(), label(ui, bound)),
        };
        if bound.bind.action == Action::Help {
            help = Some((name, label));
        } else {
            shown.push((rank(ui, bound, &name), name, label));
        }
    }
    shown.sort_by_key(|(rank, ..)| *rank);
    let need = |name: &str, label: &str| text::width(name) + 1 + text::width(label) + 3;
    let reserved = help.as_ref().map_or(0, |(name, label)| need(name, label));
    for (_, name, label) in &shown {
        if need(name, label) + reserved <= row.room() {
            row.text(name, Role::Key)
                .gap(1)
                .text(label, Role::Muted)
                .gap(3);
        }
    }
    if let Some((name, label)) = help {
        row.text(&name, Role::Key).gap(1).text(&label, Role::Muted);
    }
}

/// What one came here for is never cut off: what Enter does, what stops a run, what came out. Then
/// come the keys of what fills the screen; where nothing does, those of what goes on.
fn rank(ui: Ui<'_>, bound: &Bound, name: &str) -> usize {
    let fills = fills_the_screen(ui);
    match (bound.bind.context, bound.bind.action) {
        _ if name == "Enter" => 0,
        // After the last run, this is what one came for.
        (Context::Watching, Action::Compare) if ui.session.end.is_some() => 1,
        (_, Action::Stop | Action::Pause | Action::Again) => 2,
        (Context::Watching, Action::Back) => 3,
        (Context::Steps | Context::Log | Context::Compare, _) if fills => 4,
        (Context::Live | Context::Replay, _) => 5,
        _ => 6,
    }
}

/// Whether one thing fills the screen, and what goes on stands behind it.
fn fills_the_screen(ui: Ui<'_>) -> bool {
    let watching = &ui.model.watching;
    match ui.model.screen {
        Screen::Watching => watching.zoom || watching.log.alone.is_some(),
        Screen::Comparing | Screen::Projecting => true,
        Screen::Picking | Screen::Recordings => false,
    }
}

/// Whether the list of recordings can be opened from here.
fn has_recordings(ui: Ui<'_>) -> bool {
    let goes_on = ui.model.replay.is_none() && is_active(ui.session);
    ui.model.layers.is_empty() && !goes_on
}

/// What a dialog offers that only tells something.
fn only_choice(ui: Ui<'_>) -> Option<&str> {
    match ui.model.layers.last() {
        Some(Layer::Dialog(dialog)) => match dialog.choices.as_slice() {
            [(choice, _)] => Some(choice),
            _ => None,
        },
        _ => None,
    }
}

/// What a question's key does now: what is chosen, in its own words.
fn chosen(ui: Ui<'_>) -> Option<&str> {
    match ui.model.layers.last() {
        Some(Layer::Dialog(dialog)) => {
            let (choice, _) = dialog.choices.get(dialog.at)?;
            Some(choice)
        }
        _ => None,
    }
}

/// What the bar calls a key: pausing and going on are one key.
fn label(ui: Ui<'_>, bound: &Bound) -> String {
    let replay = ui.model.replay.as_ref();
    match bound.bind.action {
        Action::Pause if ui.session.is_paused() => "go on",
        Action::Compare if ui.session.end.is_some() && ui.model.screen == Screen::Watching => {
            "what came out"
        }
        Action::Hold if replay.is_some_and(|replay| replay.paused) => "go on",
        Action::Back
            if bound.bind.context == Context::Recordings
                && !ui.model.recordings.filter.is_empty() =>
        {
            "all"
        }
        Action::Accept if bound.bind.context == Context::Dialog => {
            chosen(ui).unwrap_or(bound.bind.bar)
        }
        _ => bound.bind.bar,
    }
    .to_owned()
}
