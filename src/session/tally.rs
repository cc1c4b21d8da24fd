//! Samples into rows: what may share a median, in run order.

mod columns;
mod groups;
mod row;

use std::collections::BTreeMap;

use crate::event::{Clock, EndState, Labels, Placement, RunId, Subject};

use super::{Series, Session, remarks};
pub use columns::space_figures;

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
    /// Of all that is known so far. Values count from runs that ended well or with warnings,
    /// and from those that still go on.
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
    /// Whether original and copy share a disk; absent where that cannot be told.
    #[must_use]
    pub fn same_disk(&self) -> Option<bool> {
        self.placement.as_ref()?.same_disk()
    }

    /// How the row is called where host and session are clear: method, series and what else
    /// tells it from its like.
    #[must_use]
    pub fn name(&self) -> String {
        let mut name = self.method.clone();
        if !self.series.is_empty() && self.series != self.method {
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
