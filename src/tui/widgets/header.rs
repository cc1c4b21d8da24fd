//! The first line: the hosts, and where the session is.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use crate::event::HostState;
use crate::session::{HostView, RunStage, RunView, Session};

use super::super::model::{Leave, Screen, is_active};
use super::super::theme::Role;
use super::super::view::Ui;
use super::super::{estimate, format, signs, text};
use super::row::Row;

pub(crate) fn draw(ui: Ui<'_>, area: Rect, buffer: &mut Buffer) {
    let width = usize::from(area.width);
    let (where_it_is, role) = standing(ui);
    let where_it_is = text::clean(&where_it_is).into_owned();
    let need = text::width(&where_it_is) + 2;
    let end = text::cut(&where_it_is, width.saturating_sub(2));
    let mut row = Row::new(ui, width.saturating_sub(need));
    if row.room() > 9 {
        row.gap(1).text("comeback", Role::Title);
        if !matches!(ui.model.screen, Screen::Picking | Screen::Recordings) {
            hosts(ui, &mut row);
        }
    }
    let taken = row.width();
    let mut line = row.line();
    let mut rest = Row::new(ui, width.saturating_sub(taken));
    rest.gap(width.saturating_sub(taken + text::width(&end) + 1))
        .text(&end, role);
    line.extend(rest.line());
    ui.line(area, buffer, &line);
    if area.height > 1 {
        let below = Rect {
            y: area.y + 1,
            height: 1,
            ..area
        };
        super::timeline::draw(ui, below, buffer);
    }
}

/// How much is said of each host.
#[derive(Clone, Copy)]
enum Say {
    /// State, and what is known of it.
    All,
    /// State, and what is wrong.
    Trouble,
    /// State.
    State,
}

/// All hosts, with as much of each as there is room for all of them; else as many as there is
/// room for, those that are not up first.
fn hosts(ui: Ui<'_>, row: &mut Row<'_>) {
    let mut all: Vec<(&String, &HostView)> = ui.session.hosts.iter().collect();
    let item = |(name, host): (&String, &HostView), say: Say| {
        let (sign, detail) = host_state(ui, host);
        let is_said = match say {
            Say::All => true,
            Say::Trouble => sign.role != Role::Ok,
            Say::State => false,
        };
        let detail = if is_said { detail } else { String::new() };
        let blank = usize::from(!detail.is_empty());
        let legacy = if is_legacy(host) { 1 + LEGACY.len() } else { 0 };
        let cells = 3 + text::width(name) + 2 + legacy + blank + text::width(&detail);
        (sign, detail, cells)
    };
    let room = row.room();
    let cells = |say| all.iter().map(|host| item(*host, say).2).sum::<usize>();
    let fits = [Say::All, Say::Trouble, Say::State]
        .into_iter()
        .find(|say| cells(*say) <= room);
    if fits.is_none() {
        all.sort_by_key(|(_, host)| host_state(ui, host).0.role == Role::Ok);
    }
    for (at, host) in all.iter().enumerate() {
        let (sign, detail, cells) = item(*host, fits.unwrap_or(Say::State));
        // The last cells are for the count of those that have no room.
        if fits.is_none() && cells + 4 > row.room() {
            row.whole(&format!("+{}", all.len() - at), Role::Muted);
            return;
        }
        row.gap(3)
            .text(host.0, Role::Text)
            .gap(1)
            .text(sign.glyph, sign.role);
        if is_legacy(host.1) {
            row.gap(1).text(LEGACY, Role::Warn);
        }
        if !detail.is_empty() {
            let role = if sign.role == Role::Ok {
                Role::Muted
            } else {
                sign.role
            };
            row.gap(1).text(&detail, role);
        }
    }
}

/// Said of a host for as long as it is on the screen: what goes there is weakly protected.
const LEGACY: &str = "legacy";

fn is_legacy(host: &HostView) -> bool {
    host.facts.as_ref().is_some_and(|facts| facts.legacy)
}

fn host_state(ui: Ui<'_>, host: &HostView) -> (signs::Sign, String) {
    let system = || {
        let facts = host.facts.as_ref();
        facts.map_or_else(String::new, |facts| short_system(&facts.system))
    };
    let Some(change) = &host.change else {
        return (signs::of_host(HostState::Up), system());
    };
    let sign = signs::of_host(change.state);
    let detail = match change.state {
        HostState::Up => system(),
        HostState::Connecting if is_active(ui.session) => {
            let since = ui.model.now.since(host.at);
            format!("{} {}", sign.word, format::elapsed(since))
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
    if model.screen == Screen::Recordings {
        return ("recordings".to_owned(), Role::Muted);
    }
    if let Some(replay) = &model.replay {
        return super::timeline::standing(ui, replay);
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
    if let Some(sign) = failed(session) {
        return (place, sign.role);
    }
    match estimate::session_left(session, model.now) {
        Some(left) => {
            let rough = format::rough(left.time.as_secs_f64());
            (format!("{place} · about {rough} left"), Role::Accent)
        }
        None => (place, Role::Accent),
    }
}

/// Which run it is, and that it did not end well.
pub(super) fn place(session: &Session) -> String {
    let all = session.runs.len();
    let Some(current) = session.current_run() else {
        return format!("{} to come", format::count(all, "run"));
    };
    let going = session.current_runs().len();
    if going > 1 {
        let ended = |run: &&RunView| matches!(run.state, RunStage::Ended(..));
        let done = session.runs.iter().filter(ended).count();
        return format!("{going} runs at once · {done} of {all} ended");
    }
    let at = session.runs.iter().position(|run| run.run == current.run);
    let place = format!("run {} of {all}", at.map_or(0, |at| at + 1));
    match failed(session) {
        Some(sign) => format!("{place} {}", sign.word),
        None => place,
    }
}

/// How the last run ended, where that was not well.
fn failed(session: &Session) -> Option<signs::Sign> {
    match session.current_run()?.state {
        RunStage::Ended(end, _) if !end.is_good() => Some(signs::of_end(end)),
        _ => None,
    }
}
