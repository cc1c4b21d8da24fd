//! What a report shows, with nothing in it that could act on a terminal.

use chrono::SecondsFormat;

use crate::event::{First, Level, Origin, count};
use crate::session::{LeftState, Session, Verdict, clean, compare};

use super::comparison::Comparison;
use super::environment::{self, Host};

/// Notes of a session that are shown; the rest is only counted.
const MOST_NOTES: usize = 50;

/// Sessions, put together.
pub(super) struct Sheet {
    pub heads: Vec<Head>,
    pub hosts: Vec<Host>,
    pub compared: Comparison,
    /// Of every two rows, also of those on different machines.
    pub verdicts: Vec<Verdict>,
}

/// What is said of a session as a whole.
pub(super) struct Head {
    pub session: String,
    pub program: String,
    pub origin: Origin,
    /// In UTC, to the second.
    pub started: String,
    /// The same by RFC 3339.
    pub stamp: String,
    pub order: String,
    pub reps: u32,
    /// What the one of two at once does that is done first, where two run at once.
    pub first: Option<First>,
    /// What is wrong with the recording.
    pub warnings: Vec<String>,
    /// Warnings and errors that belong to no row.
    pub notes: Vec<String>,
    /// What may still be on a host.
    pub left: Vec<String>,
    /// How it ended, where that was not well.
    pub end: Option<String>,
}

impl Sheet {
    pub fn of(sessions: &[&Session]) -> Self {
        let compared = Comparison::of(sessions);
        let verdicts = compare(&compared.rows);
        Self {
            heads: sessions.iter().map(|session| head(session)).collect(),
            hosts: environment::hosts(sessions),
            compared,
            verdicts,
        }
    }

    /// Whether rows have to be named by their sessions.
    pub fn has_many_sessions(&self) -> bool {
        self.heads.len() > 1
    }
}

fn head(session: &Session) -> Head {
    let header = session.header.as_ref();
    Head {
        session: header.map_or(String::new(), |header| {
            clean(header.session.as_str()).into_owned()
        }),
        program: header.map_or(String::new(), |header| clean(&header.program).into_owned()),
        origin: header.map_or(Origin::Captured, |header| header.origin),
        started: header.map_or(String::new(), |header| {
            header.started.format("%Y-%m-%d %H:%M:%S UTC").to_string()
        }),
        stamp: header.map_or(String::new(), |header| {
            header.started.to_rfc3339_opts(SecondsFormat::Secs, true)
        }),
        order: header.map_or(String::new(), |header| header.plan.order.to_string()),
        reps: header.map_or(0, |header| header.plan.reps),
        first: header
            .map(|header| &header.plan.together)
            .filter(|together| !together.is_empty())
            .map(|together| together.first),
        warnings: session
            .warnings()
            .iter()
            .map(|text| cleaned(text))
            .collect(),
        notes: notes(session),
        left: left(session),
        end: session.end.as_ref().and_then(|end| {
            let ending = session.ending().filter(|ending| !ending.is_good)?;
            let (exit, text) = (end.exit, clean(&ending.text));
            Some(format!("it ended with exit code {exit}: {text}"))
        }),
    }
}

// Errors, and warnings about no run: the others stand with their row.
fn notes(session: &Session) -> Vec<String> {
    let mut all = Vec::new();
    let mut more = 0;
    for (_, note) in &session.notes {
        let shown = match note.level {
            Level::Error => true,
            Level::Warning | Level::Remark => session.run_of(note).is_none(),
        };
        if !shown {
            continue;
        }
        let text = match &note.host {
            Some(host) => format!("{}: {}", clean(host), clean(&note.text)),
            None => cleaned(&note.text),
        };
        if all.contains(&text) {
            continue;
        }
        if all.len() < MOST_NOTES {
            all.push(text);
        } else {
            more += 1;
        }
    }
    if more > 0 {
        all.push(format!("and {}", count(more, "more note")));
    }
    all
}

fn left(session: &Session) -> Vec<String> {
    let still_out = session.ledger.still_out().map(|left| {
        let state = match &left.state {
            LeftState::Intended => "may have been made".to_owned(),
            LeftState::Found(_) => "there".to_owned(),
            LeftState::Kept(why) => format!("kept: {}", clean(why)),
            LeftState::Undone => "undone".to_owned(),
        };
        let (host, name) = (clean(&left.intended.host), clean(&left.intended.name));
        match &left.found {
            Some(place) => format!("{host}: {name} at {}, {state}", clean(place)),
            None => format!("{host}: {name}, {state}"),
        }
    });
    let recovery = session.ledger.recovery().map(|command| {
        let command = clean(&command).into_owned();
        format!(
            "`{command}` lists what is left and how it is undone; with --remove it takes it away"
        )
    });
    still_out.chain(recovery).collect()
}

pub(super) fn cleaned(text: &str) -> String {
    clean(text).into_owned()
}
