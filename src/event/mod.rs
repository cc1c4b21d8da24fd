//! All that can happen in a session, and the plain types it is told in.
//!
//! A recording is a file of these, a line a JSON object; `docs/recording.md`
//! describes the format. Nothing here knows of hosts, methods or screens.

mod asking;
mod chunk;
mod closing;
mod facts;
mod figures;
mod header;
mod ids;
mod leave;
mod operator;
mod output;
mod plan;
mod sink;
mod steps;
mod units;
mod wire;
mod words;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

pub use asking::{Answer, Asker, Nobody, Question, QuestionKind, Secret};
pub use closing::{End, Level, Note};
pub use facts::{Became, DiskFact, Facts, FilesystemFact, HostChange, HostState};
pub use figures::{Fill, Pool, Projected, Proof, Published, Sample, Space};
pub use header::{Header, Origin};
pub use ids::{AskId, BindingId, LeaveId, RunId, SessionId, StepId};
pub use leave::{Intended, Leave, LeaveKind, LeaveState};
pub use operator::{Act, ActKind, Ask, Lock, LockState};
pub use output::{Captured, Gap, LogChunk, Mark, Progress, ProgressKind, Stream};
pub use plan::{
    Binding, Destroys, First, Order, Place, Placement, Plan, PlannedRun, PlannedStep, Subject,
    Together,
};
pub use sink::{Sink, SinkError};
pub use steps::{
    HostStamps, PlannedCommand, RunChange, RunState, Shows, SideEnd, StepChange, StepEnd, StepState,
};
pub use units::{Bytes, Clock, EndState, Nanos, Phase, Stamp};
pub use wire::{
    FORMAT, FormatError, check_format, is_later, parse_later_line, parse_line, to_line,
};
pub use words::{count, count_with, noun};

/// Labels of a sample or step: iteration, load, cache state.
pub type Labels = BTreeMap<String, String>;

/// One line of a recording: what happened, and when on this machine's clock.
#[derive(Debug, Clone, PartialEq)]
pub struct Event {
    /// Dense, from 0.
    pub seq: u64,
    /// Nanoseconds since the session began, on this machine's monotonic clock.
    pub t: Nanos,
    /// What happened.
    pub what: What,
}

/// What happened.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "ev", rename_all = "kebab-case")]
pub enum What {
    /// The first line of every recording.
    Header(Box<Header>),
    /// A host is being connected, up or down; facts that came later.
    Host(Box<HostChange>),
    /// A question was put to the operator.
    Ask(Ask),
    /// The operator (or the session for them) did something.
    Act(Act),
    /// A subject was locked, refused or released on its host.
    Lock(Lock),
    /// A run was queued, started or ended.
    Run(RunChange),
    /// A step was planned, started or ended.
    Step(Box<StepChange>),
    /// A chunk of a step's output.
    Log(LogChunk),
    /// Output that was cut.
    Gap(Gap),
    /// How far a step is.
    Progress(Progress),
    /// A named moment of a step.
    Mark(Mark),
    /// A captured value, for later steps.
    Value(Captured),
    /// A measured value.
    Sample(Sample),
    /// A byte figure.
    Space(Space),
    /// How full a pool is.
    Pool(Pool),
    /// A proof: expected, got, of what share.
    Proof(Proof),
    /// A figure that a publication prints without its values.
    Published(Published),
    /// What a step leaves behind, and what became of it.
    Leave(Leave),
    /// A warning or remark.
    Note(Note),
    /// The end. A recording without it was cut.
    End(End),
    /// An event of a later version: kept as it came.
    #[serde(skip)]
    Unknown(serde_json::Map<String, serde_json::Value>),
}
