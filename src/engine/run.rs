//! One repetition of one binding: its steps in order, its samples, its ledger.

use std::collections::{BTreeMap, BTreeSet};

use minijinja::Value;

use crate::event::{
    EndState, Level, Phase, PlannedCommand, PlannedRun, Proof, RunChange, RunState, StepEnd,
    StepId, StepState, What,
};
use crate::host::Host;
use crate::method::{AGREED, Bound, ExpandedStep, RunNames, Step};

use super::EngineError;
use super::acted::Acted;
use super::background::Beside;
use super::clocks::Moments;
use super::control::Control;
use super::ending::{Ended, Halt};
use super::hashing::Kept;
use super::leaving::{self, Open};
use super::pair::Paired;
use super::pools::Pools;
use super::preview::{Filling, doing};
use super::shared::Shared;
use super::teller::About;
use super::undo;

/// A run that goes on.
pub(super) struct Run<'a> {
    pub shared: &'a Shared,
    /// Stops this run alone, and is stopped with the session.
    pub control: Control,
    pub pools: Pools,
    pub bound: &'a Bound,
    pub planned: &'a PlannedRun,
    /// Its part in two at once.
    pub paired: Option<Paired>,
    pub names: RunNames,
    pub values: BTreeMap<String, Value>,
    pub secrets: BTreeMap<String, Value>,
    pub hashes: BTreeMap<String, Kept>,
    pub beside: Beside,
    pub figures: BTreeMap<String, f64>,
    pub series: String,
    pub proved: BTreeSet<String>,
    pub restored: Option<bool>,
    pub moments: Moments,
    pub identities: Option<BTreeMap<String, String>>,
    pub open: Vec<Open>,
    pub destroyed: bool,
    /// A step has begun that destroys, or that does what the copy is for.
    pub damaged: bool,
    pub warned: bool,
    /// Exit code of the error that ended a step.
    pub exit: Option<i32>,
}

impl<'a> Run<'a> {
    pub fn new(
        shared: &'a Shared,
        bound: &'a Bound,
        planned: &'a PlannedRun,
        paired: Option<Paired>,
        control: Control,
    ) -> Self {
        let session = shared.session.as_str();
        let names = RunNames::new(session, planned.run.as_str(), planned.rep, &bound.sandbox);
        let agreed = shared.agreed.contains(&bound.binding.id);
        let agreed = if agreed { "yes" } else { "no" };
        Self {
            shared,
            control,
            pools: Pools::default(),
            bound,
            planned,
            paired,
            names,
            values: [(AGREED.to_owned(), Value::from(agreed))].into(),
            secrets: BTreeMap::new(),
            hashes: BTreeMap::new(),
            beside: Beside::default(),
            figures: BTreeMap::new(),
            series: bound.method.series.clone(),
            proved: BTreeSet::new(),
            restored: None,
            moments: Moments::default(),
            identities: None,
            open: Vec::new(),
            destroyed: false,
            damaged: false,
            warned: false,
            exit: None,
        }
    }

    /// Takes all steps, then undoes what may be undone.
    pub async fn conduct(mut self, order: u32) -> Ended {
        self.series = self.in_series(self.series_now(&self.bound.method.series));
        self.tell(RunState::Started {
            binding: self.planned.binding.clone(),
            rep: self.planned.rep,
            order,
            series: self.series.clone(),
            labels: self.labels(),
        });
        self.watch_pools();
        let mut halt = None;
        for step in &self.bound.steps {
            if let Err(why) = self.take(step).await {
                halt = Some(why);
                break;
            }
        }
        if let Some(paired) = &mut self.paired {
            paired.leave();
        }
        self.end_background().await;
        match &mut halt {
            None => self.between(),
            Some(halt) => self.blame_a_pool(halt).await,
        }
        self.undo(halt.as_ref()).await;
        self.pools_at_the_end().await;
        let ended = self.sum_up(halt);
        self.tell(RunState::Ended {
            end: ended.end,
            cause: ended.cause.clone(),
        });
        ended
    }

    async fn take(&mut self, step: &ExpandedStep) -> Result<(), Halt> {
        let phase = step.step.phase;
        self.meet(phase).await;
        // Before the look at what goes on beside: that may end meanwhile.
        if let Some(pause) = step.pause {
            super::waiting::time(pause, &self.control).await;
        }
        if self.control.is_stopped() {
            return Err(self.stopped(phase));
        }
        if let Err(why) = self.look_beside(step).await {
            return Err(Halt {
                end: EndState::Failed,
                cause: Some(why),
                phase,
                exit: if self.lost_a_host() { 3 } else { 1 },
            });
        }
        let done = self.step(step).await;
        match done {
            Ok(end) if end.end.is_good() => {
                self.warned |= end.end == EndState::Warnings;
                Ok(())
            }
            Ok(end) if end.end == EndState::Stopped => Err(self.stopped(phase)),
            Ok(end) => {
                let cause = end.cause.map(|cause| format!("{}: {cause}", step.name));
                let exit = if self.lost_a_host() {
                    3
                } else {
                    self.exit.take().unwrap_or(1)
                };
                Err(Halt {
                    end: end.end,
                    cause,
                    phase,
                    exit,
                })
            }
            Err(why) => {
                let about = About {
                    run: Some(&self.planned.run),
                    ..About::default()
                };
                self.shared
                    .teller
                    .note(Level::Error, format!("{}: {why}", step.name), about);
                self.shared.lost_by(self.bound.host(&step.step.on), &why);
                let exit = why.exit();
                let cause = Some(format!("{}: {why}", step.name));
                Err(Halt {
                    end: EndState::Failed,
                    cause,
                    phase,
                    exit,
                })
            }
        }
    }

    fn lost_a_host(&self) -> bool {
        let mut hosts = self.bound.hosts.values();
        hosts.any(|info| self.shared.is_gone(&info.name))
    }

    /// One step, from the look at what is there to the look at what was left.
    async fn step(&mut self, step: &ExpandedStep) -> Result<StepEnd, EngineError> {
        let id = self.shared.teller.step_id();
        let context = self.context(step);
        let filling = Filling {
            bound: self.bound,
            step,
            context: &context,
        };
        let doing = doing(self.bound, step, &context, self.planned.rep)?;
        let destroys = filling.destroys()?;
        let host_name = self.bound.host(&step.step.on).to_owned();
        let host = self.connected(&host_name)?;
        self.remember_targets(step).await?;
        let first_left = self.open.len();
        self.announce(step, &id, &filling, host.as_ref()).await?;
        let info = self
            .bound
            .hosts
            .get(&step.step.on)
            .cloned()
            .unwrap_or_default();
        self.shared.teller.step(
            &id,
            StepState::Planned(PlannedCommand {
                run: self.planned.run.clone(),
                name: step.name.clone(),
                phase: step.step.phase,
                host: host_name.clone(),
                action: step.step.action.name().to_owned(),
                command: doing.text(&info),
                timed: step.step.clock.is_some(),
                destroys: destroys.clone(),
                background: step.step.background.is_some(),
                shows: doing.shows(&step.step),
                labels: step.labels.clone(),
            }),
        );
        self.shared.teller.commit().await?;
        if let Some(destroys) = &destroys {
            self.weigh(destroys, host.as_ref()).await?;
            let goes_on = self.bound.binding.subject.own || self.pools.bring_back();
            // What was stopped while it was weighed destroys nothing any more.
            if self.control.is_stopped() || !goes_on {
                let stopped = Acted::stopped(self.shared.began);
                return self.ended(step, &id, stopped, first_left).await;
            }
            self.destroyed = true;
        }
        self.damaged |= self.destroyed || step.step.phase == Phase::Damage;
        self.shared.teller.step(&id, StepState::Started);
        let acted = self.act(step, &id, doing, &context, &host_name).await;
        let acted = match acted {
            Ok(acted) => acted,
            // The step has an end in the recording, whatever happened.
            Err(why) => {
                self.shared.lost_by(&host_name, &why);
                self.exit = Some(why.exit());
                Acted::failed(why.to_string(), self.shared.began)
            }
        };
        self.ended(step, &id, acted, first_left).await
    }

    async fn announce(
        &mut self,
        step: &ExpandedStep,
        id: &StepId,
        filling: &Filling<'_>,
        host: &dyn Host,
    ) -> Result<(), EngineError> {
        let undo_context = self.undo_context(step);
        let undo = Filling {
            bound: self.bound,
            step,
            context: &undo_context,
        };
        for leaves in &step.step.leaves {
            let intended = leaving::intended(leaves, filling, &self.planned.run, id, &undo)?;
            let dir = self.shared.session_dir(host.name());
            let open = leaving::announce(&self.shared.teller, host, &dir, intended).await?;
            self.open.push(open);
        }
        Ok(())
    }

    async fn ended(
        &mut self,
        step: &ExpandedStep,
        id: &StepId,
        acted: Acted,
        first_left: usize,
    ) -> Result<StepEnd, EngineError> {
        let mut end = acted.end.clone();
        if let Some(proof) = &acted.proof {
            self.shared.teller.tell(What::Proof(proof.clone()));
        }
        if end.end.is_good() {
            self.give(step, id, &acted);
            if let Err(why) = self.proof(step, &acted, id) {
                end.end = EndState::Failed;
                end.cause = Some(why);
            }
        }
        // One that goes on beside others ends when it is joined.
        if step.step.background.is_none() || !end.end.is_good() {
            self.shared.teller.step(id, StepState::Ended(end.clone()));
        }
        if step.step.background.is_some() && end.end.is_good() {
            self.look_at_leaves(step, &end, first_left).await?;
            return Ok(end);
        }
        self.keep_moments(step, self.bound.host(&step.step.on), &acted);
        self.look_at_leaves(step, &end, first_left).await?;
        if end.end.is_good() {
            self.samples(step, id, &acted);
        }
        Ok(end)
    }

    /// Keeps the ends and marks of a step, for clocks between them.
    pub fn keep_moments(&mut self, step: &ExpandedStep, host: &str, acted: &Acted) {
        let end = &acted.end;
        self.moments.step(
            &step.name,
            host,
            end.host.as_ref(),
            end.resolution,
            acted.here,
        );
        for (name, at, resolution) in &acted.marks {
            self.moments.mark(&step.name, name, *at, *resolution);
        }
    }

    async fn look_at_leaves(
        &mut self,
        step: &ExpandedStep,
        end: &StepEnd,
        first_left: usize,
    ) -> Result<(), EngineError> {
        let background = step.step.background.is_some();
        let shared = self.shared;
        for open in self.open.iter_mut().skip(first_left) {
            let Some(known) = shared.hosts.get(&open.intended.host) else {
                continue;
            };
            open.finished = end.end.is_good() && !background;
            // Not waited for again; it is looked for when it is undone.
            if shared.is_gone(&open.intended.host) {
                continue;
            }
            leaving::settle(&shared.teller, known.host.as_ref(), open).await?;
        }
        if let Some(undoes) = step.step.undoes.as_ref().filter(|_| end.end.is_good()) {
            for open in self
                .open
                .iter_mut()
                .filter(|open| open.intended.name == *undoes)
            {
                let Some(known) = shared.hosts.get(&open.intended.host) else {
                    continue;
                };
                let dir = shared.session_dir(&open.intended.host);
                if undo::is_gone(known.host.as_ref(), &dir, &open.id, &open.intended).await? {
                    self.proved.remove(undoes);
                    undo::gone(&shared.teller, open);
                }
            }
        }
        Ok(())
    }

    fn give(&mut self, step: &ExpandedStep, id: &StepId, acted: &Acted) {
        for (name, from) in &step.step.gives {
            let key = from
                .split_once('.')
                .map_or(from.as_str(), |(_, value)| value);
            let Some(value) = acted.values.get(key) else {
                continue;
            };
            self.values.insert(name.clone(), Value::from(value.clone()));
            self.shared.teller.tell(What::Value(crate::event::Captured {
                run: self.planned.run.clone(),
                step: id.clone(),
                name: name.clone(),
                value: value.clone(),
            }));
        }
    }

    // A hash tells its own proof; a command that proves a copy has said so by ending well.
    fn proof(&mut self, step: &ExpandedStep, acted: &Acted, id: &StepId) -> Result<(), String> {
        match (&step.step.proves, &acted.proof) {
            (Some(copy), None) => {
                self.shared.teller.tell(What::Proof(Proof {
                    run: self.planned.run.clone(),
                    step: id.clone(),
                    of: copy.clone(),
                    by: "readable".to_owned(),
                    series: None,
                    verdict: true,
                    expected: None,
                    got: None,
                    bytes: None,
                    share: "whole".to_owned(),
                    differences: Vec::new(),
                }));
                self.proved.insert(copy.clone());
            }
            (Some(copy), Some(proof)) if proof.verdict => {
                self.proved.insert(copy.clone());
            }
            (None, Some(proof)) => {
                self.restored = Some(self.restored.unwrap_or(true) && proof.verdict);
            }
            _ => {}
        }
        match &acted.proof {
            Some(proof) if !proof.verdict => Err(match proof.differences.first() {
                Some(first) => format!("it is not what it was: {first}"),
                None => "it is not what it was".to_owned(),
            }),
            _ => Ok(()),
        }
    }

    pub fn context(&self, step: &ExpandedStep) -> Value {
        self.bound
            .context(&self.names, &self.values, step.item.as_ref(), &step.step)
    }

    fn undo_context(&self, step: &ExpandedStep) -> Value {
        let mut values = self.values.clone();
        let found = Value::from_safe_string(format!("\"${}\"", crate::method::FOUND));
        values.insert(crate::method::FOUND.to_owned(), found);
        self.bound
            .context(&self.names, &values, step.item.as_ref(), &step.step)
    }

    pub(super) fn series_now(&self, text: &str) -> String {
        let Some(step) = self.bound.steps.first() else {
            return text.to_owned();
        };
        self.bound
            .templates
            .text(text, &self.context(step))
            .unwrap_or_else(|_| text.to_owned())
    }

    fn tell(&self, state: RunState) {
        self.shared.teller.tell(What::Run(RunChange {
            run: self.planned.run.clone(),
            state,
        }));
    }

    /// Name of a step's space figure, as figures use it.
    pub fn space_key(step: &Step) -> String {
        super::figures::plain(&step.name)
    }
}
