//! Rows put beside one another: what they are called there, and what may be said of each two.

use crate::event::Origin;
use crate::session::{Row, RunStage, Session, Tally, Verdict, compare_machines};

use super::harmless::clean_row;

/// What screens and reports compare. Text in it is harmless to a terminal.
#[derive(Debug, Clone, Default)]
pub struct Comparison {
    /// In the order of the plan.
    pub rows: Vec<Row>,
    /// Of every two rows of a machine, for each time that both have.
    pub verdicts: Vec<Verdict>,
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
        let runs = || sessions.iter().flat_map(|session| &session.runs);
        Self {
            verdicts: compare_machines(&tally.rows),
            rows: tally.rows,
            many_sessions: sessions.len() > 1,
            is_published: !sessions.is_empty() && sessions.iter().all(|one| is_published(one)),
            is_over: sessions.iter().all(|session| session.end.is_some()),
            over: runs()
                .filter(|run| matches!(run.state, RunStage::Ended(..)))
                .count(),
            planned: runs().count(),
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
        let mut others = self.rows.iter().filter(|other| other.method == row.method);
        if others.any(|other| other.series != row.series || other.settings != row.settings) {
            row.name()
        } else {
            row.method.clone()
        }
    }

    /// Whether rows are of several hosts, so that each is named with its own.
    #[must_use]
    pub fn has_many_hosts(&self) -> bool {
        let mut rows = self.rows.iter();
        rows.next()
            .is_some_and(|first| rows.any(|other| other.host != first.host))
    }

    /// Rows of each machine, by their places; the machine whose row comes first is first.
    pub(super) fn machines(&self) -> Vec<Vec<usize>> {
        let mut all: Vec<Vec<usize>> = Vec::new();
        for (at, row) in self.rows.iter().enumerate() {
            let is_mine = |machine: &&mut Vec<usize>| {
                let first = machine.first().and_then(|first| self.rows.get(*first));
                first.is_some_and(|first| first.same_machine(row))
            };
            match all.iter_mut().find(is_mine) {
                Some(machine) => machine.push(at),
                None => all.push(vec![at]),
            }
        }
        all
    }

    /// The hosts of some rows, each once.
    pub(super) fn hosts(&self, rows: &[usize]) -> Vec<&str> {
        let mut all = Vec::new();
        for row in rows.iter().filter_map(|at| self.rows.get(*at)) {
            if !all.contains(&row.host.as_str()) {
                all.push(row.host.as_str());
            }
        }
        all
    }
}
