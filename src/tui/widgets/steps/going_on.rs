//! A step that goes on: how far, how fast, how long still. What is exact, what is estimated and
//! what is not known look different, and say so.

use std::time::Duration;

use ratatui::text::Line;

use crate::event::{Progress, ProgressKind};
use crate::session::StepView;

use super::super::super::estimate;
use super::super::super::format;
use super::super::super::theme::Role;
use super::super::gauge;
use super::super::row::Row;
use super::List;

/// A silence that is worth a word.
const SILENT: Duration = Duration::from_secs(15);
/// A silence that is worth a second look. Never a reason to stop: restores are quiet.
const VERY_SILENT: Duration = Duration::from_mins(2);

/// A shorter bar says nothing.
const LEAST: usize = 5;

impl List<'_> {
    pub(super) fn going_on(&self, row: &mut Row<'_>, step: &StepView) -> Vec<Line<'static>> {
        let now = self.ui.model.now;
        let gone = step
            .started
            .map(|started| now.since(started))
            .unwrap_or_default();
        row.right(&format::elapsed(gone), self.seconds, Role::Running);
        if step.planned.background {
            row.whole("in the background", Role::Muted);
        }
        let mut is_known = false;
        let mut speed = None;
        if let Some(progress) = &step.progress {
            is_known = self.share(row, step, progress);
            speed = self.speed(step, progress, is_known);
        }
        // A bar takes the room beside the seconds.
        if !is_known {
            self.last_time(row, &step.planned.name);
        }
        let more = self.below(|row| {
            if is_known {
                self.last_time(row, &step.planned.name);
            }
            Self::marks(row, step);
            self.silence(row, step);
        });
        [speed, more].into_iter().flatten().collect()
    }

    /// A row under the step's own; none where nothing is in it.
    fn below(&self, fill: impl FnOnce(&mut Row<'_>)) -> Option<Line<'static>> {
        let mut row = Row::new(self.ui, self.width);
        row.to(self.detail());
        let empty = row.width();
        fill(&mut row);
        (row.width() > empty).then(|| row.line())
    }

    /// The bar and the percent; says whether there is a percent.
    fn share(&self, row: &mut Row<'_>, step: &StepView, progress: &Progress) -> bool {
        let is_known = progress.kind != ProgressKind::Unknown;
        let Some(percent) = estimate::percent(progress).filter(|_| is_known) else {
            row.whole("no percent available", Role::Warn);
            return false;
        };
        // The percent goes before the bar where there is no room for both.
        let cells = row.room().saturating_sub(24).min(32);
        let is_estimate = progress.kind == ProgressKind::Estimated;
        let about = if is_estimate { "≈" } else { "" };
        if cells >= LEAST {
            row.gap(2);
            if is_estimate {
                gauge::estimated(row, percent, cells);
            } else {
                gauge::exact(row, percent, cells);
            }
        }
        row.whole(
            &format!("{about}{}", format::percent(percent)),
            Role::Running,
        );
        if let Some(left) = estimate::step_left(step, self.ui.model.now) {
            let left = format::rough(left.as_secs_f64());
            row.whole(&format!("{about}{left} left"), Role::Text);
        }
        true
    }

    /// Bytes, their rate, and the rate over time.
    fn speed(&self, step: &StepView, progress: &Progress, is_known: bool) -> Option<Line<'static>> {
        let about = if progress.kind == ProgressKind::Estimated {
            "≈"
        } else {
            ""
        };
        self.below(|row| {
            match (progress.done, progress.total.filter(|_| is_known)) {
                (Some(done), Some(total)) => {
                    row.whole(&format::of(done, total, about), Role::Text);
                }
                (Some(done), None) => {
                    row.whole(&format::bytes(done), Role::Text);
                }
                (None, _) => {}
            }
            if let Some(still) = estimate::stalled(step, self.ui.model.now) {
                row.whole(
                    &format!("no progress for {}", format::elapsed(still)),
                    Role::Warn,
                );
            }
            if let Some(rate) = estimate::rate(step, self.ui.model.now) {
                row.whole(&format!("{:>9}", format::rate(rate)), Role::Text);
                let slots = row.room().saturating_sub(3).min(24);
                row.whole(&gauge::spark(&estimate::rates(step, slots)), Role::Spark);
            }
        })
    }

    /// For how long nothing has been heard.
    fn silence(&self, row: &mut Row<'_>, step: &StepView) {
        let Some(heard) = step.last_output.or(step.started) else {
            return;
        };
        let silent = self.ui.model.now.since(heard);
        if silent >= SILENT {
            let role = if silent >= VERY_SILENT {
                Role::Warn
            } else {
                Role::Muted
            };
            row.whole(&format!("no output for {}", format::elapsed(silent)), role);
        }
    }
}
