//! What was measured and what was proved.

use serde::{Deserialize, Serialize};

use super::{BindingId, Bytes, Clock, Labels, RunId, StepId};

/// One measured value.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Sample {
    /// The run.
    pub run: RunId,
    /// The step, where it is one step's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step: Option<StepId>,
    /// What was measured.
    pub name: String,
    /// Series.
    pub series: String,
    /// The value.
    pub value: f64,
    /// `s`, `B`, `B/s`, …
    pub unit: String,
    /// The clock, where it is a time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clock: Option<Clock>,
    /// How fine it is, in the sample's unit.
    #[serde(default)]
    pub resolution: f64,
    /// Labels.
    #[serde(default, skip_serializing_if = "Labels::is_empty")]
    pub labels: Labels,
}

/// A byte figure, with when and whether it is true.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Space {
    /// The run.
    pub run: RunId,
    /// The step.
    pub step: StepId,
    /// What was read.
    pub name: String,
    /// Series.
    pub series: String,
    /// Bytes as the reader of the files sees them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub logical: Option<Bytes>,
    /// Bytes that are allocated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stored: Option<Bytes>,
    /// Bytes that only a snapshot keeps.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub held: Option<Bytes>,
    /// Whether two readings agreed.
    pub settled: bool,
    /// Why not, or why there is no figure.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
}

/// How full a pool is, or a file system that stands for one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pool {
    /// The host that it is on.
    pub host: String,
    /// As its operator knows it: `thin pool pve/data`, `/var/tmp`.
    pub pool: String,
    /// Its data.
    pub data: Fill,
    /// Its metadata, where they have room of their own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metadata: Option<Fill>,
}

/// How much of a room is taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fill {
    /// Bytes taken.
    pub used: Bytes,
    /// Bytes there are.
    pub total: Bytes,
}

impl Fill {
    /// From 0 to 100; none of a room of no size.
    #[must_use]
    pub fn percent(self) -> Option<f64> {
        (self.total.0 > 0).then(|| self.used.0 as f64 / self.total.0 as f64 * 100.0)
    }

    /// Bytes that are left.
    #[must_use]
    pub fn free(self) -> Bytes {
        Bytes(self.total.0.saturating_sub(self.used.0))
    }
}

/// What shows that a copy can bring the subject back, or that it did.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Proof {
    /// The run.
    pub run: RunId,
    /// The step.
    pub step: StepId,
    /// What is proved: a copy (its leave id), or `restored`.
    pub of: String,
    /// `readable`, `sha256`, `sha256+metadata`.
    pub by: String,
    /// Series of what was brought back, where it is not the run's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub series: Option<String>,
    /// Whether it holds.
    pub verdict: bool,
    /// What was expected.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expected: Option<String>,
    /// What was got.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub got: Option<String>,
    /// Bytes that were compared.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes: Option<Bytes>,
    /// Of what share of the subject, in words.
    pub share: String,
    /// The first differences, where it does not hold.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub differences: Vec<String>,
}

/// A figure that a publication prints without its values.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Published {
    /// The binding it belongs to.
    pub binding: BindingId,
    /// What was measured.
    pub name: String,
    /// Series.
    pub series: String,
    /// `median`, `min`, `max`, …
    pub statistic: String,
    /// The figure.
    pub value: f64,
    /// Unit.
    pub unit: String,
    /// Where it is printed.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub source: String,
    /// What it is about, where it is the time that a publication expects other disks to take.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub projected: Option<Projected>,
}

/// Disks that a publication expects two methods to move, the second one beginning with a disk when the first one has
/// done with it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Projected {
    /// Size of each disk.
    pub disks: Vec<Bytes>,
    /// The second method; the first one is the figure's.
    pub then: BindingId,
}
