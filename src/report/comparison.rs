//! Rows put beside one another: what they are called there, and what may be said of each two.

use std::collections::{HashMap, HashSet};

use crate::event::Origin;
use crate::session::{AtOnce, MOST_ROWS, Row, Session, Tally, Verdict, compare_machines};

use super::harmless::clean_row;

/// What screens and reports compare. Text in it is harmless to a terminal.
#[derive(Debug, Clone, Default)]
pub struct Comparison {
    /// In the order of the plan.
    pub rows: Vec<Row>,
    /// Of every two rows of a machine, for each time that both have.
    pub verdicts: Vec<Verdict>,
    /// Methods that ran at once.
    pub at_once: Vec<AtOnce>,
    /// Whether they come from several recordings.
    pub(super) many_sessions: bool,
    /// Whether all figures are those of publications.
    pub(super) is_published: bool,
    /// Whether all of them have ended.
    pub(super) is_over: bool,
    /// Runs that are over.
    pub(super) over: usize,
    /// Runs of the plans.
    pub(super) planned: usize,
    /// Methods whose rows are told apart by more than their name.
    several: HashSet<String>,
    has_many_hosts: bool,
    machines: Vec<Vec<usize>>,
}

fn is_published(session: &Session) -> bool {
    let origin = session.header.as_ref().map(|header| header.origin);
    origin == Some(Origin::Published)
}

impl Comparison {
    /// Of one session, or of several.
    #[must_use]
    pub fn of(sessions: &[&Session]) -> Self {
        Self::new(Tally::of_all(sessions), sessions)
    }

    /// Of rows that are known already.
    #[must_use]
    pub fn new(mut tally: Tally, sessions: &[&Session]) -> Self {
        tally.rows.iter_mut().for_each(clean_row);
        let rows = tally.rows;
        let first = rows.first();
        Self {
            verdicts: compare_machines(&rows),
            several: several(&rows),
            has_many_hosts: rows
                .iter()
                .any(|row| Some(&row.host) != first.map(|row| &row.host)),
            machines: machines(&rows),
            many_sessions: sessions.len() > 1,
            is_published: !sessions.is_empty() && sessions.iter().all(|one| is_published(one)),
            is_over: sessions.iter().all(|session| session.end.is_some()),
            over: sessions.iter().map(|session| session.ended_runs()).sum(),
            planned: sessions.iter().map(|session| session.planned_runs()).sum(),
            at_once: sessions
                .iter()
                .flat_map(|session| session.pairs(&rows))
                .collect(),
            rows,
        }
    }

    /// What a row is called among all: its method, with what tells it from the others.
    #[must_use]
    pub fn name(&self, row: &Row) -> String {
        let mut name = self.way(row);
        if self.has_many_hosts() {
            name = format!("{} {name}", row.host);
        }
        if self.many_sessions {
            name = format!("{name} [{}]", row.session);
        }
        name
    }

    /// The same without host and session: a way to bring something back.
    #[must_use]
    pub fn way(&self, row: &Row) -> String {
        if self.several.contains(&row.method) {
            row.name()
        } else {
            row.method.clone()
        }
    }

    /// Whether rows are of several hosts, so that each is named with its own.
    #[must_use]
    pub fn has_many_hosts(&self) -> bool {
        self.has_many_hosts
    }

    /// Whether they are so many that no two of them are compared.
    #[must_use]
    pub fn is_too_many(&self) -> bool {
        self.rows.len() > MOST_ROWS
    }

    /// Rows of each machine, by their places; the machine whose row comes first is first.
    pub(super) fn machines(&self) -> &[Vec<usize>] {
        &self.machines
    }

    /// The hosts of some rows, each once.
    pub(super) fn hosts(&self, rows: &[usize]) -> Vec<&str> {
        let mut known = HashSet::new();
        let hosts = rows.iter().filter_map(|at| self.rows.get(*at));
        let hosts = hosts.map(|row| row.host.as_str());
        hosts.filter(|host| known.insert(*host)).collect()
    }
}

fn several(rows: &[Row]) -> HashSet<String> {
    let mut first: HashMap<&str, &Row> = HashMap::new();
    let mut all = HashSet::new();
    for row in rows {
        let first = *first.entry(&row.method).or_insert(row);
        if first.series != row.series || first.settings != row.settings {
            all.insert(row.method.clone());
        }
    }
    all
}

fn machines(rows: &[Row]) -> Vec<Vec<usize>> {
    let mut all: Vec<Vec<usize>> = Vec::new();
    // Within a session one name is one machine; between sessions what a machine says of itself.
    let mut known: HashMap<(&str, &str), usize> = HashMap::new();
    // Two of one machine have its name or their own in common: no others are looked at.
    let mut named: HashMap<&str, Vec<usize>> = HashMap::new();
    for (at, row) in rows.iter().enumerate() {
        let (name, host) = (row.machine_of(&row.host), row.host.as_str());
        let key = (row.session.as_str(), name);
        let is_mine = |machine: &usize| {
            let first = all.get(*machine).and_then(|all| rows.get(*all.first()?));
            first.is_some_and(|first| first.same_machine(row))
        };
        let place = known.get(&key).copied().or_else(|| {
            let alike = [name, host].into_iter().filter_map(|name| named.get(name));
            alike.flatten().copied().filter(is_mine).min()
        });
        let place = place.unwrap_or_else(|| {
            let place = all.len();
            all.push(Vec::new());
            named.entry(name).or_default().push(place);
            if host != name {
                named.entry(host).or_default().push(place);
            }
            place
        });
        known.insert(key, place);
        if let Some(machine) = all.get_mut(place) {
            machine.push(at);
        }
    }
    all
}
