//! The plan of a session, to be looked into by names.

use std::collections::BTreeMap;

use crate::event::{Binding, BindingId, Header};

/// Where bindings and their steps stand in the plan.
#[derive(Debug, Default)]
pub(super) struct Planned {
    bindings: BTreeMap<BindingId, usize>,
    /// Of each binding the places of each name among its steps.
    steps: Vec<BTreeMap<String, Vec<usize>>>,
}

impl Planned {
    pub fn of(header: &Header) -> Self {
        let mut all = Self::default();
        for (at, binding) in header.plan.bindings.iter().enumerate() {
            all.bindings.entry(binding.id.clone()).or_insert(at);
            let mut steps: BTreeMap<String, Vec<usize>> = BTreeMap::new();
            for (at, step) in binding.steps.iter().enumerate() {
                steps.entry(step.name.clone()).or_default().push(at);
            }
            all.steps.push(steps);
        }
        all
    }

    pub fn binding<'a>(&self, header: &'a Header, id: &BindingId) -> Option<&'a Binding> {
        header.plan.bindings.get(*self.bindings.get(id)?)
    }

    /// How many steps of the plan are behind after one of this name, where so many were before.
    pub fn behind(&self, binding: &BindingId, before: usize, name: &str) -> usize {
        let steps = self.bindings.get(binding);
        let steps = steps.and_then(|at| self.steps.get(*at));
        let places = steps
            .and_then(|steps| steps.get(name))
            .map_or(&[][..], |all| all);
        let next = places.partition_point(|place| *place < before);
        places.get(next).map_or(before, |place| place + 1)
    }
}
