//! The first line: the hosts, and where the session is.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use crate::event::HostState;
use crate::session::{HostView, Session};

use super::super::model::{Leave, Screen, is_active};
use super::super::theme::Role;
use super::super::view::Ui;
use super::super::{estimate, format, signs, text};
use super::row::Row;

pub(crate) fn draw(ui: Ui<'_>, area: Rect, buffer: &mut Buffer) {
    let width = usize::from(area.width);
    let (where_it_is, role) = standing(ui);
    let end = text::cut(&where_it_is, width.saturating_sub(12)).into_owned();
    let room = width.saturating_sub(text::width(&end) + 2);
    let mut row = Row::new(ui, room);
    row.gap(1).text("comeback", Role::Title);
    if ui.model.screen != Screen::Picking {
        hosts(ui, &mut row);
    }
    let taken = row.width();
    let mut line = row.line();
    let mut rest = Row::new(ui, width - taken.min(width));
    rest.gap(width.saturating_sub(taken + text::width(&end) + 1))
        .text(&end, role);
    line.extend(rest.line());
    ui.line(area, buffer, &line);
}

/// As many hosts as there is room for, with what is known of them where it fits.
fn hosts(ui: Ui<'_>, row: &mut Row<'_>) {
    let all = &ui.session.hosts;
    let short: usize = all.keys().map(|name| text::width(name) + 5).sum();
    let has_room = short + all.len() * 14 <= row.room();
    for (at, (name, host)) in all.iter().enumerate() {
        let (sign, detail) = host_state(ui, host);
        let is_up = sign.role == Role::Ok;
        let detail = if is_up && !has_room {
            String::new()
        } else {
            detail
        };
        let need = text::width(name)
            + 2
            + if detail.is_empty() {
                0
            } else {
                text::width(&detail) + 1
            };
        if need + 3 > row.room() {
            let more = format!("+{} hosts", all.len() - at);
            row.whole(&more, Role::Muted);
            return;
        }
        row.gap(3)
            .text(name, Role::Text)
            .gap(1)
            .text(sign.sign, sign.role);
        if !detail.is_empty() {
            let role = if is_up { Role::Muted } else { sign.role };
            row.gap(1).text(&detail, role);
        }
    }
}

fn host_state(ui: Ui<'_>, host: &HostView) -> (signs::Sign, String) {
    let Some(change) = &host.change else {
        let system = host
            .facts
            .as_ref()
            .map_or_else(String::new, |facts| short_system(&facts.system));
        return (signs::of_host(HostState::Up), system);
    };
    let sign = signs::of_host(change.state);
    let detail = match change.state {
        HostState::Up => host
            .facts
            .as_ref()
            .map_or_else(String::new, |facts| short_system(&facts.system)),
        HostState::Connecting if is_active(ui.session) => {
            format!(
                "{} {}",
                sign.word,
                format::elapsed(ui.model.now.since(host.at))
            )
        }
        HostState::Connecting => sign.word.to_owned(),
        HostState::Down => match &change.reason {
            Some(reason) => format!("{}: {reason}", sign.word),
            None => sign.word.to_owned(),
        },
    };
    (sign, detail)
}

/// A system in a few words: without its code name.
fn short_system(system: &str) -> String {
    let name = system.split('(').next().unwrap_or_default();
    name.replace("GNU/Linux ", "").trim().to_owned()
}

/// Where the session is, and how long still.
fn standing(ui: Ui<'_>) -> (String, Role) {
    let (model, session) = (ui.model, ui.session);
    if let Some(replay) = &model.replay {
        let pace = if replay.paused {
            "held".to_owned()
        } else {
            format!("{}×", replay.speed)
        };
        let at = format!(
            "{} of {}",
            format::moment(replay.at),
            format::moment(replay.length)
        );
        return (
            format!(
                "replay {} · {pace} · {at} · {}",
                replay.name,
                place(session)
            ),
            Role::Info,
        );
    }
    if model.screen == Screen::Picking {
        let says = if model.picking.starting {
            "starting…"
        } else {
            "what to run"
        };
        return (says.to_owned(), Role::Muted);
    }
    if session.header.is_none() {
        return ("waiting for the first event".to_owned(), Role::Muted);
    }
    if let Some(end) = &session.end {
        let role = if end.exit == 0 { Role::Ok } else { Role::Error };
        return (format!("over: {}", end.reason), role);
    }
    let place = place(session);
    if model.leave != Leave::No {
        return (format!("stopping and undoing · {place}"), Role::Warn);
    }
    if session.is_paused() {
        return (format!("pauses after this run · {place}"), Role::Warn);
    }
    match estimate::session_left(session, model.now) {
        Some(left) => {
            let rough = format::rough(left.time.as_secs_f64());
            (format!("{place} · about {rough} left"), Role::Accent)
        }
        None => (place, Role::Accent),
    }
}

fn place(session: &Session) -> String {
    let all = session.runs.len();
    let at = session
        .current_run()
        .and_then(|current| session.runs.iter().position(|run| run.run == current.run));
    match at {
        Some(at) => format!("run {} of {all}", at + 1),
        None => format!("{all} runs to come"),
    }
}
