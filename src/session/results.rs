//! What was measured and proved, by the step or the run that it is of.

use rpds::{RedBlackTreeMapSync, VectorSync};

use super::Session;
use crate::event::{Labels, Proof, RunId, Sample, Space, StepId};

/// Places of all that is of one step, or of one run.
#[derive(Debug, Clone, Default)]
pub(super) struct Results {
    samples: VectorSync<usize>,
    /// Samples that are bytes.
    bytes: VectorSync<usize>,
    spaces: VectorSync<usize>,
    proofs: VectorSync<usize>,
}

pub(super) type ByStep = RedBlackTreeMapSync<StepId, Results>;
pub(super) type ByRun = RedBlackTreeMapSync<RunId, Results>;

fn change<K: Ord + Clone>(
    all: &mut RedBlackTreeMapSync<K, Results>,
    key: &K,
    change: impl FnOnce(&mut Results),
) {
    if !all.contains_key(key) {
        all.insert_mut(key.clone(), Results::default());
    }
    if let Some(results) = all.get_mut(key) {
        change(results);
    }
}

impl Session {
    pub(super) fn sample(&mut self, sample: &Sample) {
        let at = self.samples.len();
        let add = |results: &mut Results| {
            results.samples.push_back_mut(at);
            if sample.unit == "B" {
                results.bytes.push_back_mut(at);
            }
        };
        change(&mut self.results_of_run, &sample.run, add);
        if let Some(step) = &sample.step {
            change(&mut self.results_of_step, step, add);
        }
        self.samples.push_back_mut(sample.clone());
    }

    pub(super) fn space(&mut self, space: &Space) {
        let at = self.spaces.len();
        let add = |results: &mut Results| results.spaces.push_back_mut(at);
        change(&mut self.results_of_run, &space.run, add);
        change(&mut self.results_of_step, &space.step, add);
        self.spaces.push_back_mut(space.clone());
    }

    pub(super) fn proof(&mut self, proof: &Proof) {
        let at = self.proofs.len();
        let add = |results: &mut Results| results.proofs.push_back_mut(at);
        change(&mut self.results_of_step, &proof.step, add);
        if !proof.verdict {
            self.disproved.insert_mut(proof.run.clone());
        } else if proof.of == "restored" {
            self.proved.insert_mut(proof.run.clone());
        } else {
            // That a copy can be read says nothing of what came back.
        }
        self.proofs.push_back_mut(proof.clone());
    }

    /// What was measured of a step, as it came.
    pub fn samples_of(&self, step: &StepId) -> impl Iterator<Item = &Sample> {
        let all = self.results_of_step.get(step).into_iter();
        let all = all.flat_map(|results| &results.samples);
        all.filter_map(|at| self.samples.get(*at))
    }

    /// The byte figures of a step, as they came.
    pub fn spaces_of(&self, step: &StepId) -> impl Iterator<Item = &Space> {
        let all = self.results_of_step.get(step).into_iter();
        let all = all.flat_map(|results| &results.spaces);
        all.filter_map(|at| self.spaces.get(*at))
    }

    /// The labels of what is read in a step: those of the step.
    #[must_use]
    pub fn labels_of(&self, step: &StepId) -> Labels {
        let step = self.step_view(step);
        step.map_or_else(Labels::new, |step| step.planned.labels.clone())
    }

    /// The proofs of a step, as they came.
    pub fn proofs_of(&self, step: &StepId) -> impl Iterator<Item = &Proof> {
        let all = self.results_of_step.get(step).into_iter();
        let all = all.flat_map(|results| &results.proofs);
        all.filter_map(|at| self.proofs.get(*at))
    }

    /// What was measured of a run, as it came.
    pub fn samples_of_run(&self, run: &RunId) -> impl Iterator<Item = &Sample> {
        let all = self.results_of_run.get(run).into_iter();
        let all = all.flat_map(|results| &results.samples);
        all.filter_map(|at| self.samples.get(*at))
    }

    /// What of it is bytes.
    pub fn bytes_of_run(&self, run: &RunId) -> impl Iterator<Item = &Sample> {
        let all = self.results_of_run.get(run).into_iter();
        let all = all.flat_map(|results| &results.bytes);
        all.filter_map(|at| self.samples.get(*at))
    }

    /// How many of these there are.
    #[must_use]
    pub fn count_bytes_of_run(&self, run: &RunId) -> usize {
        let results = self.results_of_run.get(run);
        results.map_or(0, |results| results.bytes.len())
    }

    /// The byte figures of a run, as they came.
    pub fn spaces_of_run(&self, run: &RunId) -> impl Iterator<Item = &Space> {
        let all = self.results_of_run.get(run).into_iter();
        let all = all.flat_map(|results| &results.spaces);
        all.filter_map(|at| self.spaces.get(*at))
    }
}
