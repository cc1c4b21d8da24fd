//! Is anything wrong? One line, in words.

use ratatui::text::Line;

use crate::event::{Binding, Nanos, Note};
use crate::session::{RunView, Session};

use super::super::model::is_active;
use super::super::signs::{self, Sign};
use super::super::theme::Role;
use super::super::view::Ui;
use super::super::{format, text};
use super::row::Row;

/// Which part of the session a line speaks of.
pub(crate) struct About<'a> {
    /// The host; all of them where one run is shown.
    host: Option<&'a str>,
    /// Whether questions, and what is about no host, are said here.
    is_here: bool,
}

impl<'a> About<'a> {
    /// A run: of several side by side each speaks for its host.
    pub fn of(ui: Ui<'a>, run: &RunView, is_here: bool, several: bool) -> Self {
        let binding = ui.session.binding(&run.binding).filter(|_| several);
        Self {
            host: binding.map(Binding::host),
            is_here,
        }
    }

    fn takes(&self, session: &Session, note: &Note) -> bool {
        let Some(host) = self.host else { return true };
        let of_run = || {
            let run = session.run_view(session.run_of(note)?)?;
            Some(session.binding(&run.binding)?.host())
        };
        match of_run().or(note.host.as_deref()) {
            Some(other) => other == host,
            None => self.is_here,
        }
    }
}

/// The newest warning or error and how many there are, in at most so many rows; a question that
/// waits goes first. Nothing where there is nothing to say.
pub(crate) fn lines(
    ui: Ui<'_>,
    about: &About<'_>,
    width: usize,
    most: usize,
) -> Vec<Line<'static>> {
    let ask = ui.session.asks.first().filter(|_| about.is_here);
    let (sign, says, tail) = if let Some(ask) = ask {
        let says = format!("waits for the operator: {}", ask.text);
        (ASKS, says, String::new())
    } else if let Some((at, note, all)) = newest(ui, about) {
        let when = if is_active(ui.session) {
            format::ago(ui.model.now.since(at))
        } else {
            format!("at {}", format::moment(at))
        };
        let more = if all > 1 {
            format!("  ! shows all {all}")
        } else {
            String::new()
        };
        let place = note.host.as_ref();
        let place = place.map_or_else(String::new, |host| format!("{host}: "));
        let says = format!("{place}{}", note.text);
        (
            signs::of_level(note.level),
            says,
            format!("  ({when}){more}"),
        )
    } else {
        return Vec::new();
    };
    let says = text::clean(&says);
    let room = width.saturating_sub(2).max(1);
    let mut parts = text::wrap_words(&says, room);
    // The tail stands in the last row that is shown, in one of its own where there is one.
    let is_full = parts
        .last()
        .is_some_and(|part| text::width(part) + text::width(&tail) > room);
    if is_full && parts.len() < most {
        parts.push(String::new());
    }
    let last = parts.len().min(most.max(1)) - 1;
    let rest = parts.split_off(last).join(" ");
    let rest = text::cut(&rest, room.saturating_sub(text::width(&tail)));
    parts.push(rest.into_owned());
    let line = |(at, part): (usize, &String)| {
        let mut row = Row::new(ui, width);
        row.text(if at == 0 { sign.glyph } else { " " }, sign.role)
            .gap(1)
            .text(part, sign.role);
        if at == last {
            row.text(&tail, Role::Muted);
        }
        row.line()
    };
    parts.iter().enumerate().map(line).collect()
}

const ASKS: Sign = Sign {
    glyph: "?",
    word: "question",
    role: Role::Warn,
};

/// The newest warning or error, and how many there are.
fn newest<'a>(ui: Ui<'a>, about: &About<'_>) -> Option<(Nanos, &'a Note, usize)> {
    let session = ui.session;
    let count = |all: &mut dyn Iterator<Item = &'a (Nanos, Note)>| {
        let (at, note) = all.next()?;
        Some((*at, note, 1 + all.count()))
    };
    if about.host.is_none() {
        let (at, note) = session.grave_notes().next_back()?;
        return Some((*at, note, session.grave_count()));
    }
    // Of very many only the newest are told apart by their hosts.
    let newest = session.grave_notes().rev().take(MANY);
    count(&mut newest.filter(|(_, note)| about.takes(session, note)))
}

/// So many of the newest warnings are looked through for those of one host.
const MANY: usize = 200;
