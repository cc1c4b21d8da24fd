//! Runs and steps: queued, planned, started, ended.

use serde::{Deserialize, Serialize};

use super::{BindingId, Clock, Destroys, EndState, Labels, Phase, RunId, Stamp, StepId};

/// A change of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunChange {
    /// The run.
    pub run: RunId,
    /// Its state now.
    #[serde(flatten)]
    pub state: RunState,
}

/// State of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "state", rename_all = "kebab-case")]
pub enum RunState {
    /// In the plan.
    Queued,
    /// Going on.
    Started {
        /// What is run.
        binding: BindingId,
        /// Repetition, from 1.
        rep: u32,
        /// Place in the order, from 1.
        order: u32,
        /// Series, as far as it is known at the start.
        series: String,
        /// Idle or load, cold or warm, …
        #[serde(default, skip_serializing_if = "Labels::is_empty")]
        labels: Labels,
    },
    /// Over.
    Ended {
        /// How it ended.
        end: EndState,
        /// The line with the root cause, where it did not end well.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        cause: Option<String>,
    },
}

/// A change of a step.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StepChange {
    /// The step.
    pub step: StepId,
    /// Its state now.
    #[serde(flatten)]
    pub state: StepState,
}

/// State of a step.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "state", rename_all = "kebab-case")]
pub enum StepState {
    /// About to be sent; on disk before it is.
    Planned(PlannedCommand),
    /// Sent.
    Started,
    /// Over.
    Ended(StepEnd),
}

/// A step with its exact command.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PlannedCommand {
    /// The run it belongs to.
    pub run: RunId,
    /// Name in the method file.
    pub name: String,
    /// Phase.
    pub phase: Phase,
    /// Host it acts on.
    pub host: String,
    /// Which action (`run`, `pipe`, `wait`, `hash`, `space`, `payload`, `join`).
    pub action: String,
    /// The exact shell text.
    pub command: String,
    /// Whether its duration is a result.
    #[serde(default)]
    pub timed: bool,
    /// What it destroys.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub destroys: Option<Destroys>,
    /// Whether it goes on beside the steps that follow.
    #[serde(default)]
    pub background: bool,
    /// How it shows that it goes on; absent where nothing does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shows: Option<Shows>,
    /// Iteration and other labels.
    #[serde(default, skip_serializing_if = "Labels::is_empty")]
    pub labels: Labels,
}

/// How a step shows that it goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Shows {
    /// Its tool prints how far it is.
    Output,
    /// Its tool says nothing: what it writes is looked at.
    Target,
    /// Its bytes go through this machine, and are counted.
    Stream,
}

/// How a step ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StepEnd {
    /// End state.
    pub end: EndState,
    /// Exit status of the command; of each member of a pipe. Empty where it is not known.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub status: Vec<i32>,
    /// Seconds by the clock that times this step.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seconds: Option<f64>,
    /// Which clock that is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clock: Option<Clock>,
    /// Its resolution, in seconds.
    #[serde(default)]
    pub resolution: f64,
    /// Stamps of the host's clock.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host: Option<HostStamps>,
    /// Of a pipe between hosts, what ran on each, from the sender on. Their stamps are of
    /// different clocks.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sides: Vec<SideEnd>,
    /// Seconds by this machine's clock, from the sending to the last byte.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub here: Option<f64>,
    /// The line with the root cause.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cause: Option<String>,
}

/// How one side of a pipe between hosts ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SideEnd {
    /// Its host.
    pub host: String,
    /// Exit status of each of its commands. Empty where it is not known.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub status: Vec<i32>,
    /// Stamps of that host's clock.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stamps: Option<HostStamps>,
}

/// Stamps that the supervisor took on the host.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct HostStamps {
    /// Wall time before the command.
    pub start: Stamp,
    /// Wall time after it.
    pub end: Stamp,
    /// Seconds between the same two moments by the host's uptime, which no clock change moves.
    pub uptime: f64,
}
