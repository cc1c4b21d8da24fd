//! Samples into rows: what may share a median, in run order.

mod columns;
mod groups;
mod outcome;
mod row;

use std::collections::BTreeMap;

use crate::event::{Clock, EndState, Labels, Phase, Placement, RunId, Subject};

use super::series::Counts;
use super::{Series, Session, remarks};
pub(super) use columns::seconds_of;
pub use columns::space_figures;
pub use outcome::Outcome;

/// All rows of a session.
#[derive(Debug, Clone, Default)]
pub struct Tally {
    /// A row a host, method and series (and what else differs between bindings), in the order
    /// of the plan.
    pub rows: Vec<Row>,
}

/// Runs that may share a median.
#[derive(Debug, Clone, Default)]
pub struct Row {
    /// Session it comes from.
    pub session: String,
    /// Host.
    pub host: String,
    /// The machine behind the host's name, as its facts tell: system, kernel, processor,
    /// memory. Empty where nothing is known.
    pub machine: String,
    /// Which running machines the hosts that it names are, by host, where their facts tell.
    pub machines: BTreeMap<String, String>,
    /// Method.
    pub method: String,
    /// Series.
    pub series: String,
    /// Binding it comes from.
    pub binding: String,
    /// What tells it from other bindings of the same method on the same host: settings, the
    /// hosts of roles, `subject`.
    pub settings: BTreeMap<String, String>,
    /// What is protected.
    pub subject: Subject,
    /// How many bytes that were, as far as its runs tell: each figure once, in order.
    pub subject_bytes: Vec<u64>,
    /// Labels that all its runs share.
    pub labels: Labels,
    /// Labels that its runs do not share: the value of each run, empty where it has none.
    pub mixed: BTreeMap<String, Vec<String>>,
    /// Its runs that were started, in their order.
    pub runs: Vec<RunId>,
    /// End states of its runs so far, in run order.
    pub states: Vec<EndState>,
    /// What came of each of its runs, in run order.
    pub outcomes: Vec<Outcome>,
    /// Times, in the order in which the method takes them.
    pub times: Vec<TimeColumn>,
    /// Byte and other figures.
    pub space: Vec<Series>,
    /// Placement.
    pub placement: Option<Placement>,
    /// The final proof of each run: whether it held; absent where there is none.
    pub proofs: Vec<Option<bool>>,
    /// Final proofs that held, of how many runs.
    pub matched: usize,
    /// Runs that came to a final proof, or should have.
    pub of: usize,
    /// Of which series the copies are that its runs brought back instead: nothing of this row was
    /// restored, and nothing proved.
    pub restored_of: Vec<String>,
    /// How it was proved: `sha256`, `sha256+metadata`.
    pub by: String,
    /// Share that was proved, in words.
    pub share: String,
    /// What is odd, a sentence each.
    pub remarks: Vec<String>,
}

/// A series of times, and the clock that it was taken with.
#[derive(Debug, Clone)]
pub struct TimeColumn {
    /// The clock.
    pub clock: Clock,
    /// Whether the clock is known: that of a published or a computed figure is not, and then
    /// `clock` says [`Clock::Log`].
    pub stated: bool,
    /// The values.
    pub series: Series,
}

impl Tally {
    /// Of all that is known so far. Values count from runs that ended well or with warnings, and
    /// were verified where their method verifies.
    #[must_use]
    pub fn of(session: &Session) -> Self {
        let mut rows = row::all(session);
        remarks::add(session, &mut rows);
        Self { rows }
    }

    /// Of several sessions: their rows one after the other, each with its session's name.
    #[must_use]
    pub fn of_all(sessions: &[&Session]) -> Self {
        Self {
            rows: sessions
                .iter()
                .flat_map(|session| Self::of(session).rows)
                .collect(),
        }
    }
}

impl Row {
    /// Whether original and copy share a disk; absent where that cannot be told. Two names of
    /// one machine are one machine.
    #[must_use]
    pub fn same_disk(&self) -> Option<bool> {
        self.placement.as_ref()?.same_disk(&self.machines)
    }

    /// Which machine a host is: what its facts tell, else its name.
    #[must_use]
    pub fn machine_of<'a>(&'a self, host: &'a str) -> &'a str {
        self.machines.get(host).map_or(host, String::as_str)
    }

    /// Whether two rows are of one running machine, whatever their hosts are called. Across
    /// recordings the same name stands for the same machine where its facts agree.
    #[must_use]
    pub fn same_machine(&self, other: &Self) -> bool {
        if self.machine_of(&self.host) == other.machine_of(&other.host) {
            let told = self.machines.contains_key(&self.host);
            return told || self.session == other.session || self.has_facts_of(other);
        }
        self.host == other.host && self.session != other.session && self.has_facts_of(other)
    }

    fn has_facts_of(&self, other: &Self) -> bool {
        self.machine == other.machine && !self.machine.is_empty()
    }

    /// Runs that are over, and of these the ones whose values count.
    #[must_use]
    pub fn counted(&self) -> (usize, usize) {
        let over = self.outcomes.iter().filter(|one| one.is_over()).count();
        let good = self.outcomes.iter().filter(|one| one.counts()).count();
        (over, good)
    }

    /// What is stored by the copy: what was read where the method accounts for it.
    #[must_use]
    pub fn stored(&self) -> Option<&Series> {
        let is_stored = |one: &&Series| one.counts == Counts::Stored && one.n() > 0;
        let mut all = self.space.iter().filter(is_stored);
        all.find(|one| matches!(one.phase, None | Some(Phase::Account)))
    }

    /// What only a snapshot keeps: as read, else as the method computes it.
    #[must_use]
    pub fn held(&self) -> Option<&Series> {
        let known = |one: &&Series| one.n() > 0 && one.unit == "B";
        let mut read = self.space.iter().filter(known);
        let mut told = self.space.iter().filter(known);
        read.rfind(|one| one.counts == Counts::Held)
            .or_else(|| told.find(|one| one.name.starts_with("held")))
    }

    /// How the row is called where host and session are clear: method, series and what else
    /// tells it from its like. A method's name may end with that of its series.
    #[must_use]
    pub fn name(&self) -> String {
        let mut name = self.method.clone();
        let mut parts = self.method.rsplit('-');
        if !self.series.is_empty()
            && self.series != self.method
            && parts.next() != Some(self.series.as_str())
        {
            name = format!("{name} {}", self.series);
        }
        for (key, value) in &self.settings {
            name = format!("{name} {key}={value}");
        }
        name
    }
}

#[cfg(test)]
mod tests;
