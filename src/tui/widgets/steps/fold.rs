//! Iterations of a step that are all well take one row.

use std::ops::Range;

use ratatui::text::Line;

use crate::event::{EndState, Phase};
use crate::session::{RunView, StepView, median};

use super::super::super::theme::Role;
use super::super::super::{format, signs};
use super::List;

/// So few have a row each.
const FEW: usize = 3;

/// The iterations from `at` on that are shown as one; none where they are few, or where the cursor
/// is on one of them.
pub(super) fn of(run: &RunView, at: usize, cursor: Option<usize>) -> Option<Range<usize>> {
    let all = run.steps.get(at..)?;
    let first = all.first()?;
    let is_like = |step: &&StepView| {
        step.planned.name == first.planned.name
            && step.planned.labels.keys().eq(first.planned.labels.keys())
            && step.end.as_ref().is_some_and(|end| end.end == EndState::Ok)
    };
    let count = all.iter().take_while(is_like).count();
    let range = at..at + count;
    let is_open = cursor.is_some_and(|cursor| range.contains(&cursor));
    (count > FEW && !first.planned.labels.is_empty() && !is_open).then_some(range)
}

impl List<'_> {
    /// One row for several.
    pub(super) fn folded(&self, range: Range<usize>, phase: Option<Phase>) -> Line<'static> {
        let steps = self.run.steps.get(range).unwrap_or_default();
        let name = steps.first().map_or("", |step| step.planned.name.as_str());
        let ends = || steps.iter().filter_map(|step| step.end.as_ref());
        let seconds: Vec<f64> = ends().filter_map(|end| end.seconds).collect();
        let resolution = ends().map(|end| end.resolution).fold(0.0, f64::max);
        let sign = signs::of_end(EndState::Ok);
        let mut row = self.head(sign, phase, &format!("{name} ×{}", steps.len()), Role::Text);
        let middle = median(&seconds).map(|median| self.took(median, resolution));
        row.right(&middle.unwrap_or_default(), self.seconds, Role::Text);
        let low = seconds.iter().copied().fold(f64::INFINITY, f64::min);
        let high = seconds.iter().copied().fold(0.0, f64::max);
        if !seconds.is_empty() {
            let range = format::range(low, high, resolution);
            row.whole(&format!("median of {range} s"), Role::Muted);
        }
        row.line()
    }
}
