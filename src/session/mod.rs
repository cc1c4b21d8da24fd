//! What is known so far: the fold of a session's events.
//!
//! [`Session::apply`] is the only way in. Dashboard, reports and replays are views of this.

mod answers;
mod at_once;
mod course;
mod ending;
mod ledger;
mod log;
mod pace;
mod plan;
mod pools;
mod projection;
mod remarks;
mod results;
mod runs;
mod series;
mod speed;
mod stake;
mod stamp;
#[cfg(test)]
pub(crate) mod story;
mod tally;
mod text;
mod verdict;
mod view;
mod warnings;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use rpds::{RedBlackTreeMapSync, RedBlackTreeSetSync, VectorSync};

use plan::Planned;

use crate::event::{
    Act, Ask, BindingId, End, Event, Header, HostChange, Labels, Level, Lock, Nanos, Note,
    PlannedCommand, Progress, Proof, Published, RunId, RunState, Sample, Space, StepId, StepState,
    What,
};

pub use at_once::{AtOnce, Overlap, Overlaps, Slowed, Starved};
pub use course::Course;
pub use ending::{Ending, Told as ToldOfRuns};
pub use ledger::{Ledger, Left, LeftState};
pub use log::{Lines, LogLine, LogStore, MOST_BYTES};
pub use pace::Pace;
pub use pools::{PoolView, Pools};
pub use projection::{Part, Pipeline, PipelineError, Printed, Projection, Wanted, Way, Without};
pub use remarks::short;
pub use runs::HostRuns;
pub use series::{Counts, Series, bytes_can_be, can_be, median, range_holds_median, sample_can_be};
pub use speed::{RESTARTED, Span, Speed, TOGETHER, as_told, beside};
pub use stake::Stake;
pub use stamp::Stamp;
pub use tally::{Outcome, Row, Tally, TimeColumn, space_figures};
pub use text::{clean, is_unsafe, labelled, titled};
pub use verdict::{MOST_ROWS, Says, Verdict, compare, compare_machines, place_name};
pub use view::{HostView, RunStage, RunView, StepView};

/// What is known so far.
///
/// A clone costs next to nothing, whatever it holds: it shares all that does not change any more,
/// so that a player can keep many moments of a session.
#[derive(Debug, Default, Clone)]
pub struct Session {
    /// The header, once it came.
    pub header: Option<Arc<Header>>,
    /// Hosts by name.
    pub hosts: RedBlackTreeMapSync<String, HostView>,
    /// Runs, in their order.
    pub runs: VectorSync<RunView>,
    /// Every step's output.
    pub log: LogStore,
    /// Measured values, as they came.
    pub samples: VectorSync<Sample>,
    /// Byte figures, as they came.
    pub spaces: VectorSync<Space>,
    /// How full the pools were and are.
    pub pools: Pools,
    /// Proofs, as they came.
    pub proofs: VectorSync<Proof>,
    /// Runs that were proved to have come back.
    proved: RedBlackTreeSetSync<RunId>,
    /// Runs of which a proof does not hold.
    disproved: RedBlackTreeSetSync<RunId>,
    /// Figures that a publication prints without values.
    pub published: VectorSync<Published>,
    /// What was left where.
    pub ledger: Ledger,
    /// Notes, with when they came; of more than 10 000 only how many ([`Session::notes_left_out`]).
    pub notes: VectorSync<(Nanos, Note)>,
    /// Notes that came after so many that no more are kept.
    pub notes_left_out: u64,
    /// What the operator did, with when.
    pub acts: VectorSync<(Nanos, Act)>,
    /// Questions that wait for an answer.
    pub asks: Vec<Ask>,
    /// Locks, as they came.
    pub locks: VectorSync<Lock>,
    /// How it ended; absent while it goes on, or where the recording was cut.
    pub end: Option<End>,
    /// When the last event happened.
    pub now: Nanos,
    /// How many events were applied.
    pub events: u64,
    /// Events of later versions, not understood: by name, how many.
    pub unknown: BTreeMap<String, u64>,
    /// Events of steps that nobody planned: kept out of the figures.
    pub stray: u64,
    /// The highest number of an event, plus one: so many there should be.
    pub due: u64,
    /// Which run and which of its steps each step is.
    index: RedBlackTreeMapSync<StepId, (usize, usize)>,
    /// Which run each id is.
    by_run: RedBlackTreeMapSync<RunId, usize>,
    /// Which runs of each binding ended well.
    good: RedBlackTreeMapSync<BindingId, RedBlackTreeSetSync<usize>>,
    /// The plan of the header, by names.
    planned: Arc<Planned>,
    results_of_step: results::ByStep,
    results_of_run: results::ByRun,
    /// Steps that have ended.
    ended_steps: usize,
    /// Places of warnings and errors among the notes.
    grave: VectorSync<usize>,
    known_runs: runs::Known,
    stamp: Stamp,
}

/// A tool can be made to warn without end; memory has one.
const MOST_NOTES: usize = 10_000;
/// Marks of a step that are kept.
const MOST_MARKS: usize = 1_000;
/// Names of unknown events that are kept, and how long one may be.
const MOST_NAMES: usize = 100;

impl Session {
    /// Takes one event. Any order is taken; what does not fit (a step that nobody planned) is
    /// kept out of the figures and counted.
    pub fn apply(&mut self, event: &Event) {
        self.events += 1;
        self.due = self.due.max(event.seq.saturating_add(1));
        self.now = self.now.max(event.t);
        let t = event.t;
        if is_of_figures(&event.what) {
            self.stamp = Stamp::next();
        }
        match &event.what {
            What::Header(header) => self.header(header),
            What::Host(change) => self.host(t, change),
            What::Ask(ask) => {
                self.asks.retain(|known| known.ask != ask.ask);
                if !ask.answered {
                    self.asks.push(ask.clone());
                }
            }
            What::Act(act) => self.acts.push_back_mut((t, act.clone())),
            What::Lock(lock) => self.locks.push_back_mut(lock.clone()),
            What::Run(change) => self.run(t, &change.run, &change.state),
            What::Step(change) => self.step(t, &change.step, &change.state),
            What::Log(chunk) => {
                self.with_step(&chunk.step, |step| step.heard(t));
                self.heard(&chunk.step, t);
                self.log.push(t, chunk);
            }
            What::Gap(gap) => self.log.gap(t, gap),
            What::Progress(progress) => self.progress(t, progress),
            What::Mark(mark) => self.with_step(&mark.step, |step| {
                if step.marks.len() < MOST_MARKS {
                    step.marks.push(mark.clone());
                }
            }),
            What::Value(value) if value.name == "task" => {
                self.with_step(&value.step, |step| step.task = Some(value.value.clone()));
            }
            What::Value(_) => {}
            What::Sample(sample) => self.sample(sample),
            What::Space(space) => self.space(space),
            What::Pool(pool) => self.pools.apply(t, pool),
            What::Proof(proof) => self.proof(proof),
            What::Published(figure) => self.published.push_back_mut(figure.clone()),
            What::Leave(leave) => self.ledger.apply(t, leave),
            What::Note(note) => {
                if self.notes.len() < MOST_NOTES {
                    if note.level != Level::Remark {
                        self.grave.push_back_mut(self.notes.len());
                    }
                    self.notes.push_back_mut((t, note.clone()));
                } else {
                    self.notes_left_out += 1;
                }
            }
            What::End(end) => self.end = Some(end.clone()),
            What::Unknown(map) => {
                let name = map.get("ev").and_then(|ev| ev.as_str()).unwrap_or("?");
                let mut name: String = name.chars().take(MOST_NAMES).collect();
                if self.unknown.len() >= MOST_NAMES && !self.unknown.contains_key(&name) {
                    "…".clone_into(&mut name);
                }
                *self.unknown.entry(name).or_default() += 1;
            }
        }
    }

    fn header(&mut self, header: &Header) {
        for (name, facts) in &header.facts {
            self.host_entry(name, |view| view.facts = Some(facts.clone()));
        }
        for planned in &header.plan.runs {
            if let Some((_, view)) = self.run_entry(&planned.run) {
                view.binding = planned.binding.clone();
                view.rep = planned.rep;
            }
        }
        self.header = Some(Arc::new(header.clone()));
        self.planned = Arc::new(Planned::of(header));
        self.known_runs = runs::Known::default();
        for at in 0..self.runs.len() {
            self.place_in_plan(at);
        }
    }

    // A run whose binding was not known until now: how far it is in the plan of that.
    fn place_in_plan(&mut self, at: usize) {
        if let Some(run) = self.runs.get_mut(at) {
            let steps = run.steps.iter();
            run.course.behind = steps.fold(0, |behind, step| {
                self.planned
                    .behind(&run.binding, behind, &step.planned.name)
            });
        }
    }

    fn heard(&mut self, id: &StepId, t: Nanos) {
        let run = self
            .index
            .get(id)
            .and_then(|&(run, _)| self.runs.get_mut(run));
        if let Some(run) = run {
            run.course.heard = run.course.heard.max(Some(t));
        }
    }

    fn host(&mut self, t: Nanos, change: &HostChange) {
        self.host_entry(&change.host, |view| {
            if let Some(facts) = &change.facts {
                view.facts = Some(facts.clone());
            }
            view.change = Some(change.clone());
            view.at = t;
        });
    }

    fn host_entry(&mut self, name: &str, change: impl FnOnce(&mut HostView)) {
        if !self.hosts.contains_key(name) {
            self.hosts.insert_mut(name.to_owned(), HostView::default());
        }
        if let Some(view) = self.hosts.get_mut(name) {
            change(view);
        }
    }

    fn run_entry(&mut self, run: &RunId) -> Option<(usize, &mut RunView)> {
        let at = if let Some(at) = self.by_run.get(run) {
            *at
        } else {
            self.known_runs = runs::Known::default();
            self.by_run.insert_mut(run.clone(), self.runs.len());
            self.runs.push_back_mut(RunView {
                run: run.clone(),
                binding: BindingId::default(),
                rep: 0,
                order: 0,
                series: String::new(),
                labels: Labels::new(),
                state: RunStage::Queued,
                started: None,
                ended: None,
                steps: VectorSync::default(),
                course: Course::default(),
            });
            self.runs.len() - 1
        };
        self.runs.get_mut(at).map(|view| (at, view))
    }

    fn run(&mut self, t: Nanos, run: &RunId, state: &RunState) {
        self.known_runs = runs::Known::default();
        let Some((at, view)) = self.run_entry(run) else {
            return;
        };
        let mut is_bound = false;
        match state {
            RunState::Queued => {}
            RunState::Started {
                binding,
                rep,
                order,
                series,
                labels,
            } => {
                is_bound = view.binding != *binding;
                view.binding = binding.clone();
                view.rep = *rep;
                view.order = *order;
                view.series.clone_from(series);
                view.labels.clone_from(labels);
                view.started = Some(t);
                if view.state == RunStage::Queued {
                    view.state = RunStage::Running;
                }
            }
            RunState::Ended { end, cause } => {
                view.state = RunStage::Ended(*end, cause.clone());
                view.ended = Some(t);
            }
        }
        // What is a load is none of those that were planned.
        if matches!(view.state, RunStage::Ended(end, _) if end.is_good()) && !view.is_load() {
            let binding = view.binding.clone();
            let mut runs = self.good.get(&binding).cloned().unwrap_or_default();
            runs.insert_mut(at);
            self.good.insert_mut(binding, runs);
        }
        if is_bound {
            self.place_in_plan(at);
        }
    }

    fn step(&mut self, t: Nanos, id: &StepId, state: &StepState) {
        match state {
            StepState::Planned(planned) => self.planned(id, planned),
            StepState::Started => self.with_step(id, |step| step.started = Some(t)),
            StepState::Ended(end) => {
                let mut is_new = false;
                self.with_step(id, |step| {
                    is_new = step.end.is_none();
                    step.end = Some(end.clone());
                    step.ended = Some(t);
                    step.quiet = step.quiet.max(step.silent(t));
                    step.pace.over();
                });
                self.ended_steps += usize::from(is_new);
            }
        }
        if let Some(&(run, at)) = self.index.get(id)
            && let Some(run) = self.runs.get_mut(run)
            && let Some(step) = run.steps.get(at)
        {
            run.course.changed(at, step);
        }
    }

    fn planned(&mut self, id: &StepId, planned: &PlannedCommand) {
        if self.index.contains_key(id) {
            return;
        }
        let plan = Arc::clone(&self.planned);
        let Some((at, run)) = self.run_entry(&planned.run) else {
            return;
        };
        let place = (at, run.steps.len());
        let step = StepView {
            step: id.clone(),
            planned: planned.clone(),
            started: None,
            end: None,
            ended: None,
            progress: None,
            highest: 0.0,
            pace: Pace::default(),
            marks: Vec::new(),
            task: None,
            last_output: None,
            quiet: Duration::ZERO,
        };
        run.course.planned(place.1, &step, run.steps.last());
        run.course.behind = plan.behind(&run.binding, run.course.behind, &planned.name);
        run.steps.push_back_mut(step);
        self.index.insert_mut(id.clone(), place);
    }

    fn progress(&mut self, t: Nanos, progress: &Progress) {
        self.with_step(&progress.step, |step| {
            if let Some(done) = progress.done {
                step.pace.push(t, done.0);
            }
            let mut next = progress.clone();
            next.percent = next.percent.filter(|percent| percent.is_finite());
            if let Some(percent) = &mut next.percent {
                // Whatever was recorded: it never falls, also over a time when none could be
                // told, and the end of the work is told by the step's end alone.
                let most = if step.end.is_some() { 100.0 } else { 99.0 };
                *percent = percent.min(most).max(step.highest);
                step.highest = *percent;
            }
            step.progress = Some(next);
        });
    }

    fn with_step(&mut self, id: &StepId, change: impl FnOnce(&mut StepView)) {
        let step = self
            .index
            .get(id)
            .and_then(|&(run, step)| self.runs.get_mut(run)?.steps.get_mut(step));
        match step {
            Some(step) => change(step),
            None => self.stray += 1,
        }
    }
}

/// Whether figures may be others after it. Output and progress are not among it, which come most.
fn is_of_figures(what: &What) -> bool {
    match what {
        What::Header(_)
        | What::Host(_)
        | What::Run(_)
        | What::Sample(_)
        | What::Space(_)
        | What::Proof(_)
        | What::Published(_)
        | What::Note(_)
        | What::End(_) => true,
        What::Step(change) => matches!(change.state, StepState::Planned(_)),
        _ => false,
    }
}

#[cfg(test)]
mod tests;
