//! The steps of a run as a whole: kept while they come, so that nobody who draws a few of them has
//! to look at all.

use std::ops::Range;

use rpds::{RedBlackTreeMapSync, RedBlackTreeSetSync, VectorSync};

use super::StepView;
use crate::event::{EndState, Labels, Nanos};

/// What is known of the steps of a run together.
#[derive(Debug, Clone, Default)]
pub struct Course {
    /// The places of each name.
    named: RedBlackTreeMapSync<String, VectorSync<usize>>,
    /// The places of each name with its labels, where it has some.
    labelled: RedBlackTreeMapSync<(String, Labels), VectorSync<usize>>,
    /// Where each stretch of steps begins that have one name and the same kind of labels.
    stretches: VectorSync<usize>,
    /// Steps that have not ended, or not well and without warnings.
    apart: RedBlackTreeSetSync<usize>,
    /// Steps that go on in front, or did not end well.
    notable: RedBlackTreeSetSync<usize>,
    /// The step in front that was the last to go on.
    latest: Option<usize>,
    /// When the last output of any of them came.
    pub(super) heard: Option<Nanos>,
    /// How many steps of the plan are behind.
    pub(super) behind: usize,
}

impl Course {
    /// A step is planned, after another one.
    pub(super) fn planned(&mut self, at: usize, step: &StepView, before: Option<&StepView>) {
        let name = &step.planned.name;
        let labels = &step.planned.labels;
        add(&mut self.named, name.clone(), at);
        if !labels.is_empty() {
            add(&mut self.labelled, (name.clone(), labels.clone()), at);
        }
        let is_like = |other: &StepView| {
            other.planned.name == *name && other.planned.labels.keys().eq(labels.keys())
        };
        if !before.is_some_and(is_like) {
            self.stretches.push_back_mut(at);
        }
        self.apart.insert_mut(at);
    }

    /// A step has changed.
    pub(super) fn changed(&mut self, at: usize, step: &StepView) {
        let end = step.end.as_ref().map(|end| end.end);
        set(&mut self.apart, at, end != Some(EndState::Ok));
        let goes_on = step.goes_on() && !step.planned.background;
        let is_bad = end.is_some_and(|end| !end.is_good());
        set(&mut self.notable, at, goes_on || is_bad);
        if goes_on {
            self.latest = Some(at);
        }
    }

    /// The places of the steps of a name.
    pub fn named(&self, name: &str) -> impl DoubleEndedIterator<Item = usize> {
        let places = self.named.get(name).map(VectorSync::iter);
        places.into_iter().flatten().copied()
    }

    /// The places of the steps of a name with these labels: of an iteration the same one.
    pub fn like(&self, name: &str, labels: &Labels) -> impl Iterator<Item = usize> {
        let places = if labels.is_empty() {
            self.named.get(name)
        } else {
            self.labelled.get(&(name.to_owned(), labels.clone()))
        };
        places.into_iter().flatten().copied()
    }

    /// The steps around one that have its name and the same kind of labels and all ended well; empty
    /// where it did not.
    #[must_use]
    pub fn alike(&self, at: usize, steps: usize) -> Range<usize> {
        if self.apart.contains(&at) {
            return at..at;
        }
        let (mut low, mut high) = (0, self.stretches.len());
        while low < high {
            let middle = usize::midpoint(low, high);
            if self.stretches.get(middle).is_some_and(|begin| *begin <= at) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        let begin = low.checked_sub(1).and_then(|at| self.stretches.get(at));
        let end = self.stretches.get(low).copied().unwrap_or(steps);
        let before = self.apart.range(..at).next_back().map(|before| before + 1);
        let after = self.apart.range(at..).next().copied();
        let begin = begin.copied().unwrap_or_default();
        begin.max(before.unwrap_or_default())..end.min(after.unwrap_or(steps))
    }

    /// The last step that goes on in front or did not end well.
    #[must_use]
    pub fn notable(&self) -> Option<usize> {
        self.notable.last().copied()
    }

    /// The step in front that goes on, or went on last.
    #[must_use]
    pub fn latest(&self) -> Option<usize> {
        self.latest
    }

    /// Steps that have not ended, or not well and without warnings, in their order.
    #[must_use]
    pub fn apart(&self) -> impl DoubleEndedIterator<Item = usize> {
        self.apart.iter().copied()
    }

    /// When the last output of any of them came.
    #[must_use]
    pub fn heard(&self) -> Option<Nanos> {
        self.heard
    }
}

fn add<K: Ord>(all: &mut RedBlackTreeMapSync<K, VectorSync<usize>>, key: K, at: usize) {
    let mut places = all.get(&key).cloned().unwrap_or_default();
    places.push_back_mut(at);
    all.insert_mut(key, places);
}

fn set(all: &mut RedBlackTreeSetSync<usize>, at: usize, is_in: bool) {
    if is_in {
        all.insert_mut(at);
    } else {
        all.remove_mut(&at);
    }
}
