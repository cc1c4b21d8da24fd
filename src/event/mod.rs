//! All that can happen in a session, and the plain types it is told in.
//!
//! A recording is a file of these, a line a JSON object; `docs/recording.md`
//! describes the format. Nothing here knows of hosts, methods or screens.

mod ids;
mod plan;
mod sink;
mod units;
mod wire;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

pub use ids::{AskId, BindingId, LeaveId, RunId, SessionId, StepId};
pub use plan::{
    Binding, Destroys, Order, Place, Placement, Plan, PlannedRun, PlannedStep, Subject,
};
pub use sink::{Sink, SinkError};
pub use units::{Bytes, Clock, EndState, Nanos, Phase, Stamp};
pub use wire::{FORMAT, FormatError, check_format, parse_line, to_line};

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

/// The first event: what this recording is, and what was going to be done.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Header {
    /// `comeback-recording/1`.
    pub format: String,
    /// Name and version of the program that wrote it.
    pub program: String,
    /// Where the figures come from.
    pub origin: Origin,
    /// Wall time of the start.
    pub started: chrono::DateTime<chrono::Utc>,
    /// Short name of the session; part of every name it makes on a host.
    pub session: SessionId,
    /// What was going to run.
    pub plan: Plan,
    /// Facts of each host, as probed before the start.
    #[serde(default)]
    pub facts: BTreeMap<String, Facts>,
    /// What is masked in this recording.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub masked: Vec<String>,
}

/// Where a recording's figures come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Origin {
    /// Measured by this program.
    Captured,
    /// Taken from a publication.
    Published,
}

/// What a host is: probed, never assumed.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Facts {
    /// Operating system, as it names itself.
    #[serde(default)]
    pub system: String,
    /// Kernel name and release.
    #[serde(default)]
    pub kernel: String,
    /// Processor model.
    #[serde(default)]
    pub cpu: String,
    /// Processors online.
    #[serde(default)]
    pub cpus: u32,
    /// Memory in all.
    #[serde(default)]
    pub memory: Bytes,
    /// Login name.
    #[serde(default)]
    pub user: String,
    /// Numeric user id.
    #[serde(default)]
    pub uid: u32,
    /// The state folder that comeback uses on it.
    #[serde(default)]
    pub state: String,
    /// Whether this user can write there.
    #[serde(default)]
    pub state_writable: bool,
    /// Finest step of the clock that steps are timed with there, in seconds.
    #[serde(default)]
    pub clock_resolution: f64,
    /// How the host's clock is read (`EPOCHREALTIME`, `date +%s%N`, …).
    #[serde(default)]
    pub clock_source: String,
    /// Median seconds that a supervised `true` takes there; shown, never subtracted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub overhead: Option<f64>,
    /// Programs found, with their version line (empty where they tell none).
    #[serde(default)]
    pub tools: BTreeMap<String, String>,
    /// Mounted file systems.
    #[serde(default)]
    pub filesystems: Vec<FilesystemFact>,
    /// Disks.
    #[serde(default)]
    pub disks: Vec<DiskFact>,
    /// Where each path that was asked for stands.
    #[serde(default)]
    pub paths: BTreeMap<String, Place>,
}

/// A mounted file system.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct FilesystemFact {
    /// What is mounted.
    pub source: String,
    /// Its type.
    pub kind: String,
    /// Size.
    pub size: Bytes,
    /// Available to this user.
    pub free: Bytes,
    /// Mount point.
    pub at: String,
}

/// A disk.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct DiskFact {
    /// Kernel name.
    pub name: String,
    /// Model, as the disk names itself.
    #[serde(default)]
    pub model: String,
    /// Size.
    pub size: Bytes,
}

/// A change of a host's state.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct HostChange {
    /// The host, as the operator named it.
    pub host: String,
    /// Its state now.
    pub state: HostState,
    /// Which phase of connecting (resolve, connect, host key, login, probe).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub phase: Option<String>,
    /// Why it is down.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Facts, where they came with this change.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub facts: Option<Facts>,
}

/// State of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum HostState {
    /// On its way.
    Connecting,
    /// Ready.
    Up,
    /// Gone, or never reached.
    Down,
}

/// A question to the operator; the answer is never recorded.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Ask {
    /// Its id.
    pub ask: AskId,
    /// What is asked for (confirm, secret).
    pub kind: String,
    /// The question.
    pub text: String,
    /// Whether it has been answered.
    #[serde(default)]
    pub answered: bool,
}

/// Something the operator did.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Act {
    /// What.
    pub act: ActKind,
    /// Free text: a marker's name, a note, what was confirmed.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub text: String,
}

/// What an operator can do to a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ActKind {
    /// Stop the run that is going on, and the session with it.
    Stop,
    /// Pause after this run.
    Pause,
    /// Go on.
    Resume,
    /// A marker.
    Marker,
    /// A note.
    Note,
    /// A destruction was confirmed by name.
    Confirmed,
}

/// A lock on a subject.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Lock {
    /// Host it is on.
    pub host: String,
    /// `KIND:ID` of the subject.
    pub subject: String,
    /// What became of it.
    pub state: LockState,
    /// Who holds it, when refused.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub holder: Option<String>,
    /// Since when, when refused.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since: Option<String>,
}

/// State of a lock.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LockState {
    /// Taken by this session.
    Taken,
    /// Held by somebody else.
    Refused,
    /// Given back.
    Released,
}

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
    /// Iteration and other labels.
    #[serde(default, skip_serializing_if = "Labels::is_empty")]
    pub labels: Labels,
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
    /// Seconds by this machine's clock, from the sending to the last byte.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub here: Option<f64>,
    /// The line with the root cause.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cause: Option<String>,
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

/// Standard output or standard error.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Stream {
    /// Standard output.
    Out,
    /// Standard error.
    Err,
}

/// A chunk of a step's output, as it came: at most 64 KiB.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LogChunk {
    /// The step.
    pub step: StepId,
    /// Which stream.
    pub stream: Stream,
    /// Offset of its first byte in that stream.
    pub offset: u64,
    /// The bytes, where they are UTF-8.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// The bytes in base64, where they are not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base64: Option<String>,
}

/// Output that is not in the recording.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Gap {
    /// The step.
    pub step: StepId,
    /// Which stream.
    pub stream: Stream,
    /// Where it begins.
    pub offset: u64,
    /// How much is missing; absent where nobody counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes: Option<u64>,
}

/// How far a step is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Progress {
    /// The step.
    pub step: StepId,
    /// Exact, estimated or unknown.
    pub kind: ProgressKind,
    /// Percent: never falls, and is below 100 until the step has ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub percent: Option<f64>,
    /// Bytes done.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub done: Option<Bytes>,
    /// Bytes in all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub total: Option<Bytes>,
}

/// How a progress figure is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ProgressKind {
    /// Done and total are both known.
    Exact,
    /// The total is an estimate.
    Estimated,
    /// There is no total.
    Unknown,
}

/// A named moment of a step.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Mark {
    /// The step.
    pub step: StepId,
    /// Its name.
    pub name: String,
    /// Seconds since the step's begin.
    pub at: f64,
    /// By which clock.
    pub clock: Clock,
    /// Its resolution, in seconds.
    pub resolution: f64,
}

/// A value that a step captured.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Captured {
    /// The run.
    pub run: RunId,
    /// The step.
    pub step: StepId,
    /// Name, as later steps use it.
    pub name: String,
    /// The value.
    pub value: String,
}

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
}

/// Something a step leaves on a host.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Leave {
    /// Its id, unique in the recording.
    pub leave: LeaveId,
    /// What became of it.
    #[serde(flatten)]
    pub state: LeaveState,
}

/// What became of a leftover.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "state", rename_all = "kebab-case")]
pub enum LeaveState {
    /// About to be made; on disk here and in the host's journal before it is.
    Intended(Intended),
    /// There: what `find` printed.
    Found {
        /// What `find` printed.
        found: String,
    },
    /// Taken away, and looked for again in vain.
    Undone,
    /// Still there.
    Kept {
        /// Why.
        why: String,
    },
}

/// All that is needed to find and undo a leftover, without the method file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Intended {
    /// The run.
    pub run: RunId,
    /// The step.
    pub step: StepId,
    /// Host it is on.
    pub host: String,
    /// Name in the method file.
    pub name: String,
    /// What it is.
    pub kind: LeaveKind,
    /// Shell text that prints what is there, or nothing.
    pub find: String,
    /// Shell text that takes `$found` away.
    pub undo: String,
}

/// What kind of thing is left; decides when it is taken away.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LeaveKind {
    /// A copy, snapshot or archive: kept until what it protects is proved.
    Copy,
    /// Where a subject or a copy lives: kept as long as a copy in it is.
    Sandbox,
    /// A temporary file or folder: always taken away.
    Temp,
    /// A background load: always ended.
    Load,
    /// A server started for the session: always ended.
    Server,
    /// A lock: always given back.
    Lock,
}

impl LeaveKind {
    /// Whether it is kept while a failed restore may still need it.
    #[must_use]
    pub fn holds_data(self) -> bool {
        matches!(self, Self::Copy | Self::Sandbox)
    }
}

/// A warning or remark.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Note {
    /// How grave.
    pub level: Level,
    /// In one sentence.
    pub text: String,
    /// The host it is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host: Option<String>,
    /// The run it is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<RunId>,
    /// The step it is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step: Option<StepId>,
}

/// How grave a note is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Level {
    /// Worth knowing; belongs with the figures.
    Remark,
    /// Something is odd.
    Warning,
    /// Something went wrong.
    Error,
}

/// The end of a session.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct End {
    /// Exit code of the program.
    pub exit: i32,
    /// In one sentence.
    pub reason: String,
}
