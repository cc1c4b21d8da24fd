//! What is known of a host, a run and a step.

use std::time::Duration;

use rpds::VectorSync;

use super::{Course, Pace};
use crate::event::{
    BindingId, EndState, Facts, HostChange, Labels, Mark, Nanos, PlannedCommand, Progress, RunId,
    StepEnd, StepId,
};

/// A host.
#[derive(Debug, Default, Clone)]
pub struct HostView {
    /// Its last change.
    pub change: Option<HostChange>,
    /// When that was.
    pub at: Nanos,
    /// Its facts.
    pub facts: Option<Facts>,
}

/// A run.
#[derive(Debug, Clone)]
pub struct RunView {
    /// Its id.
    pub run: RunId,
    /// What is run.
    pub binding: BindingId,
    /// Repetition, from 1.
    pub rep: u32,
    /// Place in the order, from 1; 0 before it started.
    pub order: u32,
    /// Series, as far as it was known at the start.
    pub series: String,
    /// Labels.
    pub labels: Labels,
    /// Where it stands.
    pub state: RunStage,
    /// When it started.
    pub started: Option<Nanos>,
    /// When it ended.
    pub ended: Option<Nanos>,
    /// Its steps, in the order in which they came.
    pub steps: VectorSync<StepView>,
    /// What is known of these together.
    pub course: Course,
}

/// Where a run stands.
#[derive(Debug, Clone, PartialEq)]
pub enum RunStage {
    /// In the plan.
    Queued,
    /// Going on.
    Running,
    /// Over, with the root cause where it is not good.
    Ended(EndState, Option<String>),
}

/// A step of a run.
#[derive(Debug, Clone)]
pub struct StepView {
    /// Its id.
    pub step: StepId,
    /// What was planned.
    pub planned: PlannedCommand,
    /// When it started.
    pub started: Option<Nanos>,
    /// How it ended.
    pub end: Option<StepEnd>,
    /// When that was.
    pub ended: Option<Nanos>,
    /// Its last progress; its percent never falls, and is at most 99 before the step has ended.
    pub progress: Option<Progress>,
    /// The highest percent so far, also while none can be told.
    pub highest: f64,
    /// Bytes done over time.
    pub pace: Pace,
    /// Named moments.
    pub marks: Vec<Mark>,
    /// The task of Proxmox that it has become.
    pub task: Option<String>,
    /// When its last output came.
    pub last_output: Option<Nanos>,
    /// The longest time without output, once it was over.
    pub quiet: Duration,
}

impl RunView {
    /// The last step that goes on in front.
    #[must_use]
    pub fn going_on(&self) -> Option<&StepView> {
        let steps = self.course.apart().rev();
        let mut steps = steps.filter_map(|at| self.steps.get(at));
        steps.find(|step| step.goes_on() && !step.planned.background)
    }
}

impl StepView {
    /// Output came.
    pub(super) fn heard(&mut self, t: Nanos) {
        self.quiet = self.quiet.max(self.silent(t));
        self.last_output = Some(t);
    }

    /// For how long nothing has been heard of it.
    #[must_use]
    pub fn silent(&self, now: Nanos) -> Duration {
        let heard = self.last_output.or(self.started);
        heard.map_or(Duration::ZERO, |heard| now.since(heard))
    }

    /// Whether it was started and has not ended.
    #[must_use]
    pub fn goes_on(&self) -> bool {
        self.started.is_some() && self.end.is_none()
    }
}
