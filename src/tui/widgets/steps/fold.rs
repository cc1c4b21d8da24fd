//! Iterations of a step that are all well take one row.

use std::ops::Range;

use ratatui::text::Line;

use crate::event::{EndState, Phase};
use crate::session::{RunView, Series, StepView, can_be};

use super::super::super::signs;
use super::super::super::theme::Role;
use super::super::figures::range;
use super::List;

/// So few have a row each.
const FEW: usize = 3;
/// So many of the latest ones make the median that is shown.
const LATEST: usize = 200;

/// The steps that stand in one row with a step: itself alone, or so many iterations that are shown as
/// one. None are where the cursor is on one of them, but for those after it.
pub(super) fn around(run: &RunView, at: usize, cursor: Option<usize>) -> Range<usize> {
    let alone = at..at + 1;
    let mut range = run.course.alike(at, run.steps.len());
    let has_labels = |step: &StepView| !step.planned.labels.is_empty();
    if let Some(cursor) = cursor.filter(|cursor| range.contains(cursor)) {
        if at <= cursor {
            return alone;
        }
        range.start = cursor + 1;
    }
    if range.len() > FEW && run.steps.get(at).is_some_and(has_labels) {
        range
    } else {
        alone
    }
}

impl List<'_> {
    /// One row for several.
    pub(super) fn folded(&self, steps: Range<usize>, phase: Option<Phase>) -> Line<'static> {
        // The latest of very many tell enough of how long they take.
        let latest = steps.end.saturating_sub(LATEST).max(steps.start)..steps.end;
        let all = || latest.clone().filter_map(|at| self.run.steps.get(at));
        let name = all().next().map_or("", |step| &step.planned.name);
        let ends = || all().filter_map(|step| step.end.as_ref());
        let seconds = ends().filter_map(|end| end.seconds);
        let seconds = seconds.filter(|seconds| can_be(*seconds, "s"));
        let series = Series {
            unit: "s".to_owned(),
            values: seconds.collect(),
            resolution: ends().map(|end| end.resolution).fold(0.0, f64::max),
            ..Series::default()
        };
        let sign = signs::of_end(EndState::Ok);
        let mut row = self.head(sign, phase, &format!("{name} ×{}", steps.len()), Role::Text);
        let middle = series.median();
        let middle = middle.map(|middle| self.took(middle, series.resolution));
        row.right(&middle.unwrap_or_default(), self.seconds, Role::Text);
        if series.n() > 0 {
            let of = if latest.len() < steps.len() {
                format!("the last {LATEST}, ")
            } else {
                String::new()
            };
            row.whole(&format!("median of {of}{} s", range(&series)), Role::Muted);
        }
        row.line()
    }
}
