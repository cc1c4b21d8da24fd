//! Samples into series: values in run order, medians, minima, maxima.

use crate::event::{Clock, EndState, Placement};

use super::Session;

/// All rows of a session.
#[derive(Debug, Clone, Default)]
pub struct Tally {
    /// A row a host, method and series.
    pub rows: Vec<Row>,
}

/// Runs that may share a median.
#[derive(Debug, Clone, Default)]
pub struct Row {
    /// Host.
    pub host: String,
    /// Method.
    pub method: String,
    /// Series.
    pub series: String,
    /// Binding it comes from.
    pub binding: String,
    /// End states of its runs so far, in run order.
    pub states: Vec<EndState>,
    /// Times, in the order in which the method takes them.
    pub times: Vec<TimeColumn>,
    /// Byte and other figures.
    pub space: Vec<Series>,
    /// Placement.
    pub placement: Option<Placement>,
    /// Final proofs that held, of how many runs.
    pub matched: usize,
    /// Runs that came to a final proof, or should have.
    pub of: usize,
    /// Share that was proved, in words.
    pub share: String,
}

/// A series of times, and the clock that it was taken with.
#[derive(Debug, Clone)]
pub struct TimeColumn {
    /// The clock.
    pub clock: Clock,
    /// The values.
    pub series: Series,
}

/// Values of good runs, in run order.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Series {
    /// What was measured.
    pub name: String,
    /// Unit.
    pub unit: String,
    /// How fine, in `unit`.
    pub resolution: f64,
    /// The values, in run order.
    pub values: Vec<f64>,
    /// A published median, where no values are known.
    pub published: Option<f64>,
}

impl Series {
    /// The median: the middle value, or the mean of the two.
    #[must_use]
    pub fn median(&self) -> Option<f64> {
        let _ = self;
        None
    }

    /// The lowest.
    #[must_use]
    pub fn min(&self) -> Option<f64> {
        None
    }

    /// The highest.
    #[must_use]
    pub fn max(&self) -> Option<f64> {
        None
    }
}

impl Tally {
    /// Of all that is known so far.
    #[must_use]
    pub fn of(session: &Session) -> Self {
        let _ = session;
        Self::default()
    }
}
