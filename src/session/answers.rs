//! What is asked of a session: a step, a run, a binding, what is to come.

use std::collections::BTreeMap;

use crate::event::{ActKind, Binding, BindingId, Nanos, Note, PlannedStep, RunId, StepId};

use super::{RunStage, RunView, Session, Stamp, StepView};

impl Session {
    /// A step by its id.
    #[must_use]
    pub fn step_view(&self, id: &StepId) -> Option<&StepView> {
        let (run, step) = *self.index.get(id)?;
        self.runs.get(run)?.steps.get(step)
    }

    /// A run by its id.
    #[must_use]
    pub fn run_view(&self, id: &RunId) -> Option<&RunView> {
        self.runs.get(*self.by_run.get(id)?)
    }

    /// The run that a note is about: told by itself, or by its step.
    #[must_use]
    pub fn run_of<'a>(&'a self, note: &'a Note) -> Option<&'a RunId> {
        note.run
            .as_ref()
            .or_else(|| Some(&self.step_view(note.step.as_ref()?)?.planned.run))
    }

    /// The runs of a binding that ended well, in their order.
    #[must_use]
    pub fn good_runs(&self, binding: &BindingId) -> impl DoubleEndedIterator<Item = &RunView> {
        let is_good =
            |run: &&RunView| matches!(run.state, RunStage::Ended(end, _) if end.is_good());
        let all = self.good.get(binding).into_iter().flatten();
        all.filter_map(|at| self.runs.get(*at)).filter(is_good)
    }

    /// A binding of the plan.
    #[must_use]
    pub fn binding(&self, id: &BindingId) -> Option<&Binding> {
        self.planned.binding(self.header.as_ref()?, id)
    }

    /// Which machines the hosts of a binding are, as far as their facts tell.
    #[must_use]
    pub fn machines(&self, binding: &Binding) -> BTreeMap<String, String> {
        let places = binding.placement.iter();
        let places = places.flat_map(|placement| [&placement.original.host, &placement.copy.host]);
        let known = |host: &String| {
            let facts = self.hosts.get(host)?.facts.as_ref()?;
            (!facts.machine.is_empty()).then(|| (host.clone(), facts.machine.clone()))
        };
        binding
            .roles
            .values()
            .chain(places)
            .filter_map(known)
            .collect()
    }

    /// Steps of a run that the plan knows and that have not been told of yet.
    #[must_use]
    pub fn to_come(&self, run: &RunView) -> &[PlannedStep] {
        let Some(binding) = self.binding(&run.binding) else {
            return &[];
        };
        binding.steps.get(run.course.behind..).unwrap_or_default()
    }

    /// The place of a run among all.
    #[must_use]
    pub fn place_of(&self, run: &RunId) -> Option<usize> {
        self.by_run.get(run).copied()
    }

    /// Warnings and errors, as they came, with when.
    pub fn grave_notes(&self) -> impl DoubleEndedIterator<Item = &(Nanos, Note)> {
        self.grave.iter().filter_map(|at| self.notes.get(*at))
    }

    /// How many warnings and errors there are.
    #[must_use]
    pub fn grave_count(&self) -> usize {
        self.grave.len()
    }

    /// What its figures are made of: two sessions that have the same stamp have the same figures.
    #[must_use]
    pub fn stamp(&self) -> Stamp {
        self.stamp
    }

    /// How many things its figures are made of.
    #[must_use]
    pub fn weight(&self) -> usize {
        let steps = self.index.size();
        let told = self.samples.len() + self.spaces.len() + self.proofs.len() + self.notes.len();
        let bindings = self
            .header
            .as_ref()
            .map_or(0, |header| header.plan.bindings.len());
        steps + told + bindings + self.runs.len() + self.published.len()
    }

    /// Whether it is paused after the run that goes on.
    #[must_use]
    pub fn is_paused(&self) -> bool {
        self.acts
            .iter()
            .rev()
            .find(|(_, act)| matches!(act.act, ActKind::Pause | ActKind::Resume))
            .is_some_and(|(_, act)| act.act == ActKind::Pause)
    }
}
