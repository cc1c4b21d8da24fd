//! The first line: the hosts, and where the session is.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use crate::event::HostState;
use crate::session::{HostView, RunStage, Session};

use super::super::freeze::Frozen;
use super::super::keys::{Action, Context};
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
    /// State, what is wrong, and why.
    Why,
    /// State, and what is wrong.
    Trouble,
    /// State.
    State,
}

/// A host in the line.
struct Item<'a> {
    name: &'a str,
    sign: signs::Sign,
    detail: String,
    is_legacy: bool,
}

impl<'a> Item<'a> {
    fn of(ui: Ui<'_>, (name, host): (&'a String, &HostView), say: Say) -> Self {
        let (sign, mut detail) = host_state(ui, host);
        let is_up = sign.role == Role::Ok;
        match say {
            Say::Why | Say::Trouble if is_up => detail.clear(),
            Say::Trouble => detail.truncate(detail.find(':').unwrap_or(detail.len())),
            Say::State => detail.clear(),
            Say::All | Say::Why => {}
        }
        Self {
            name,
            sign,
            detail,
            is_legacy: is_legacy(host),
        }
    }

    fn cells(&self) -> usize {
        let blank = usize::from(!self.detail.is_empty());
        let legacy = if self.is_legacy { 1 + LEGACY.len() } else { 0 };
        3 + text::width(self.name) + 2 + legacy + blank + text::width(&self.detail)
    }

    fn draw(&self, row: &mut Row<'_>) {
        row.gap(3)
            .text(self.name, Role::Text)
            .gap(1)
            .text(self.sign.glyph, self.sign.role);
        if self.is_legacy {
            row.gap(1).text(LEGACY, Role::Warn);
        }
        if !self.detail.is_empty() {
            let is_up = self.sign.role == Role::Ok;
            let role = if is_up { Role::Muted } else { self.sign.role };
            row.gap(1).text(&self.detail, role);
        }
    }
}

/// Cells for how many hosts have no room.
const COUNT: usize = 14;

/// All hosts, with as much of each as there is room for all of them; else those that are not up,
/// and how many the others are.
fn hosts(ui: Ui<'_>, row: &mut Row<'_>) {
    let all: Vec<(&String, &HostView)> = ui.session.hosts.iter().collect();
    for say in [Say::All, Say::Why, Say::Trouble, Say::State] {
        let items: Vec<Item<'_>> = all.iter().map(|host| Item::of(ui, *host, say)).collect();
        if items.iter().map(Item::cells).sum::<usize>() <= row.room() {
            for item in &items {
                item.draw(row);
            }
            return;
        }
    }
    let is_up = |host: &(&String, &HostView)| host_state(ui, host.1).0.role == Role::Ok;
    let (up, mut down): (Vec<_>, Vec<_>) = all.into_iter().partition(is_up);
    down.sort_by_key(|(_, host)| host_state(ui, host).0.role != Role::Error);
    let mut hidden = Vec::new();
    for host in &down {
        let fits = [Say::Why, Say::Trouble, Say::State].map(|say| Item::of(ui, *host, say));
        match fits.iter().find(|item| item.cells() + COUNT <= row.room()) {
            Some(item) => item.draw(row),
            None => hidden.push(*host),
        }
    }
    hidden.extend(up);
    for state in [HostState::Down, HostState::Connecting, HostState::Up] {
        let sign = signs::of_host(state);
        let all = hidden
            .iter()
            .filter(|(_, host)| host_state(ui, host).0 == sign);
        let count = all.count();
        if count > 0 {
            row.whole(&format!("{count} {}", sign.glyph), sign.role);
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
        HostState::Connecting | HostState::Down => {
            // What has been up once is looked for again.
            let is_back = change.state == HostState::Connecting && host.facts.is_some();
            let word = if is_back { "reconnecting" } else { sign.word };
            let since = ui.model.now.since(host.at);
            let since = if is_active(ui.session) {
                format!(" {}", format::elapsed(since))
            } else {
                String::new()
            };
            match &change.reason {
                Some(reason) => format!("{word}{since}: {reason}"),
                None => format!("{word}{since}"),
            }
        }
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
    if let Some(frozen) = &model.frozen {
        let context = match model.screen {
            Screen::Comparing => Context::Compare,
            _ => Context::Watching,
        };
        let goes_on = model.keys.says(context, Action::Freeze, "goes on");
        return (badge(frozen, &goes_on, model.size.0), Role::Selection);
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
    if let Some(ending) = session.ending() {
        let role = if ending.is_good {
            Role::Ok
        } else {
            Role::Error
        };
        return (format!("over: {}", ending.text), role);
    }
    let place = place(session);
    if model.leave != Leave::No {
        return (format!("stopping and undoing · {place}"), Role::Warn);
    }
    if session.is_paused() {
        let goes_on = !session.current_runs().is_empty();
        let says = if goes_on {
            "pauses after this run"
        } else {
            "paused"
        };
        return (format!("{says} · {place}"), Role::Warn);
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

/// That the screen stands still, since when, what has happened meanwhile, and the way out.
fn badge(frozen: &Frozen, goes_on: &str, width: u16) -> String {
    let begin = format!(" FROZEN {}", format::elapsed(frozen.time()));
    let end = match goes_on {
        "" => " ".to_owned(),
        _ => format!(" · {goes_on} "),
    };
    let mut room =
        usize::from(width * 4 / 5).saturating_sub(text::width(&begin) + text::width(&end));
    let mut words = Vec::new();
    for word in frozen.since.words() {
        let need = text::width(&word) + 3;
        if need > room {
            break;
        }
        room -= need;
        words.push(word);
    }
    if words.is_empty() {
        return format!("{begin}{end}");
    }
    format!("{begin} · {}{end}", words.join(", "))
}

/// Which run it is, and that it did not end well.
pub(super) fn place(session: &Session) -> String {
    // Until they are told one by one the plan tells how many there are.
    let planned = session.header.as_ref().map(|header| header.plan.runs.len());
    let all = session.planned_runs().max(planned.unwrap_or_default());
    let Some(current) = session.current_run() else {
        return format!("{} to come", format::count(all, "run"));
    };
    let going = session.current_runs().len();
    if going > 1 {
        let done = session.ended_runs();
        return format!("{going} runs at once · {done} of {all} ended");
    }
    let at = session.place_of(&current.run);
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
