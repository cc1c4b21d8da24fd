//! The one of two runs that is done first is started again, as long as the other goes on. It is a load: nothing
//! of it is measured, and it ends with what it is beside.

use std::collections::HashMap;
use std::sync::Arc;

use crate::event::{First, PlannedRun};

use super::super::control::Control;
use super::super::ending::Ended;
use super::super::pair::Paired;
use super::super::queue::Turn;
use super::{Course, Task};

/// A run once more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Again {
    /// The run that it repeats.
    of: usize,
    /// The run that goes on.
    beside: usize,
}

/// Runs that were started again.
#[derive(Default)]
pub(super) struct Restarts {
    begun: usize,
    /// What stops the one that is beside a run.
    stops: HashMap<usize, Control>,
}

impl Restarts {
    /// A run is over, and so is what was started again beside it.
    pub fn over(&mut self, run: usize) {
        if let Some(control) = self.stops.remove(&run) {
            control.stop();
        }
    }
}

impl Course {
    /// A run has ended well: it is started again where the other goes on.
    pub(super) fn start_again(&mut self, of: usize, turn: &Arc<Turn>) {
        if let (First::Restarts, Some(beside)) = (self.first, self.partner(of)) {
            self.once_more(Again { of, beside }, turn);
        }
    }

    fn once_more(&mut self, again: Again, turn: &Arc<Turn>) {
        let Again { of, beside } = again;
        let goes_on = self
            .turns
            .values()
            .any(|(task, _)| *task == Task::Run(beside));
        if !goes_on || self.shared.control.is_stopped() {
            return;
        }
        let (Some(planned), Some(other)) = (self.runs.get(of), self.method(beside)) else {
            return;
        };
        self.again.begun += 1;
        let order = self.runs.len() + self.again.begun;
        let planned = PlannedRun {
            run: format!("r{order}").into(),
            ..planned.clone()
        };
        let control = self.shared.control.part();
        let bound = self.bound(of).and_then(|at| self.bounds.get(at));
        // What it has of a named subject might be needed: such a run is followed to its end.
        if bound.is_some_and(|bound| bound.binding.subject.own) {
            self.again.stops.insert(beside, control.clone());
        }
        let paired = Some(Paired::again(&other));
        let turn = Arc::clone(turn);
        self.run(
            (of, Some(planned)),
            order,
            (paired, control),
            Task::Again(again),
            turn,
        );
    }

    pub(super) fn ran_again(&mut self, again: Again, ended: &Ended, turn: &Arc<Turn>) {
        let name = format!("{}, started again,", self.name(again.of));
        self.outcome.ran_again(&name, ended);
        if ended.end.is_good() {
            self.once_more(again, turn);
        } else if ended.is_bad() {
            self.end_queues(turn);
        }
    }
}
