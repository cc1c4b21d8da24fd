//! Iterations of a step that are all well take one row.

use std::ops::Range;

use ratatui::text::Line;

use crate::event::{EndState, Phase};
use crate::session::{RunView, Series, StepView};

use super::super::super::signs;
use super::super::super::theme::Role;
use super::super::figures::range;
use super::List;

/// So few have a row each.
const FEW: usize = 3;

/// The iterations from `at` on that are shown as one; none where they are few, or where the cursor
/// is on one of them.
pub(super) fn of(run: &RunView, at: usize, cursor: Option<usize>) -> Option<Range<usize>> {
    let first = run.steps.get(at)?;
    let is_like = |step: &&StepView| {
        step.planned.name == first.planned.name
            && step.planned.labels.keys().eq(first.planned.labels.keys())
            && step.end.as_ref().is_some_and(|end| end.end == EndState::Ok)
    };
    let count = run.steps.iter().skip(at).take_while(is_like).count();
    let range = at..at + count;
    let is_open = cursor.is_some_and(|cursor| range.contains(&cursor));
    (count > FEW && !first.planned.labels.is_empty() && !is_open).then_some(range)
}

impl List<'_> {
    /// One row for several.
    pub(super) fn folded(&self, steps: Range<usize>, phase: Option<Phase>) -> Line<'static> {
        let all = || self.run.steps.iter().skip(steps.start).take(steps.len());
        let name = all().next().map_or("", |step| &step.planned.name);
        let ends = || all().filter_map(|step| step.end.as_ref());
        let series = Series {
            unit: "s".to_owned(),
            values: ends().filter_map(|end| end.seconds).collect(),
            resolution: ends().map(|end| end.resolution).fold(0.0, f64::max),
            ..Series::default()
        };
        let sign = signs::of_end(EndState::Ok);
        let mut row = self.head(sign, phase, &format!("{name} ×{}", steps.len()), Role::Text);
        let middle = series.median();
        let middle = middle.map(|middle| self.took(middle, series.resolution));
        row.right(&middle.unwrap_or_default(), self.seconds, Role::Text);
        if series.n() > 0 {
            row.whole(&format!("median of {} s", range(&series)), Role::Muted);
        }
        row.line()
    }
}
