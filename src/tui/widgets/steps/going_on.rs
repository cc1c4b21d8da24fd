//! A step that goes on: how far, how fast, how long still. What is exact, what is estimated and
//! what is not known look different, and say so.

use std::time::Duration;

use ratatui::text::Line;

use crate::event::{Progress, ProgressKind};
use crate::session::{StepView, median};

use super::super::super::estimate::{self, How, StepLeft};
use super::super::super::theme::Role;
use super::super::super::{format, text};
use super::super::gauge;
use super::super::row::Row;
use super::List;

/// A shorter bar says nothing.
const LEAST: usize = 5;
/// So many earlier runs are told one by one; of more, the range.
const FEW: usize = 3;
/// A step that earlier runs did in less needs no bar of its time.
const SHORT: f64 = 3.0;
/// A byte that is older than this is worth saying when it came.
const OLD: Duration = Duration::from_secs(3);

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
        let left = estimate::step_left(self.ui.session, self.run, step, now);
        let known = step
            .progress
            .as_ref()
            .filter(|progress| progress.kind != ProgressKind::Unknown);
        match known.and_then(|progress| Some((progress, estimate::percent(progress)?))) {
            Some((progress, percent)) => Self::share(row, progress, percent, left),
            None => self.unknown(row, step, gone, left),
        }
        let mut below = self.trouble(step);
        below.extend(self.speed(step));
        below.extend(self.below(|row| {
            self.history(row, step, gone);
            if let Some(left) = left {
                row.whole(&how(left), Role::Muted);
            }
            Self::marks(row, step);
            self.to_come(row, step);
        }));
        // Its node is in it, and it is what a node's own list calls it.
        let task = step.task.as_deref();
        below.extend(task.and_then(|task| self.below(|row| _ = row.whole(task, Role::Muted))));
        below
    }

    /// A row under the step's own; none where nothing is in it.
    pub(super) fn below(&self, fill: impl FnOnce(&mut Row<'_>)) -> Option<Line<'static>> {
        let mut row = Row::new(self.ui, self.width);
        row.to(self.under());
        let empty = row.width();
        fill(&mut row);
        (row.width() > empty).then(|| row.line())
    }

    /// The bar and the percent, and how long still.
    fn share(row: &mut Row<'_>, progress: &Progress, percent: f64, left: Option<StepLeft>) {
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
        Self::left(row, left, is_estimate);
    }

    /// Nobody knows how much there is to do: where earlier runs tell how long it takes, the time
    /// that has gone of that.
    fn unknown(&self, row: &mut Row<'_>, step: &StepView, gone: Duration, left: Option<StepLeft>) {
        let all = estimate::totals(self.ui.session, self.run, step);
        let usual = median(&all).filter(|usual| *usual >= SHORT);
        let cells = row.room().saturating_sub(28).min(32);
        match usual {
            Some(usual) => {
                let share = gone.as_secs_f64() / usual;
                if cells >= LEAST {
                    row.gap(2);
                    gauge::time(row, share, cells);
                }
                if share < 1.0 {
                    let of = format!(
                        "{:.0} of ≈{}",
                        gone.as_secs_f64().floor(),
                        format::rough(usual)
                    );
                    row.whole(&of, Role::Running);
                }
                Self::left(row, left, true);
            }
            None if step.progress.is_some() => {
                if cells >= LEAST {
                    row.gap(2);
                    gauge::time(row, 0.0, cells);
                }
                row.whole("no percent", Role::Warn);
            }
            None => {}
        }
    }

    fn left(row: &mut Row<'_>, left: Option<StepLeft>, is_estimate: bool) {
        let Some(left) = left else { return };
        let about = if is_estimate || left.how != How::Rate {
            "≈"
        } else {
            ""
        };
        let time = format::rough(left.time.as_secs_f64());
        row.whole(&format!("{about}{time} left"), Role::Text);
    }

    /// Bytes, their rate, and the rate over all the time.
    fn speed(&self, step: &StepView) -> Option<Line<'static>> {
        let progress = step.progress.as_ref()?;
        let now = self.ui.model.now;
        let is_known = progress.kind != ProgressKind::Unknown;
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
            if let Some(rate) = estimate::rate(step, now) {
                row.whole(&format!("{:>9}", format::rate(rate)), Role::Text);
            }
            if let Some(says) = &progress.says {
                row.whole(says, Role::Text);
            }
            let old = step.pace.moved().map(|moved| now.since(moved));
            let old = old.filter(|old| *old >= OLD);
            let says = old.map(|old| format!("last byte {}", format::ago(old)));
            let beside = if row.room() > 64 {
                40
            } else {
                says.as_ref().map_or(0, |says| text::width(says) + 2)
            };
            // The shape says more than when the last byte came, and than its highest point.
            let room = row.room().saturating_sub(3);
            let slots = match room.saturating_sub(beside) {
                0..LEAST => room,
                slots => slots,
            };
            let rates = estimate::rates(step, slots.min(32));
            row.whole(&gauge::spark(&rates), Role::Spark);
            if let Some(says) = says {
                row.whole(&says, Role::Muted);
            }
            Self::extremes(row, step);
        })
    }

    /// Mean and peak, where there is room.
    pub(super) fn extremes(row: &mut Row<'_>, step: &StepView) {
        let says = |name: &str, rate: Option<f64>| {
            rate.map(|rate| format!("{name} {}", format::rate(rate)))
        };
        let all = [
            says("mean", step.pace.mean()),
            says("peak", step.pace.peak()),
        ];
        for says in all.into_iter().flatten() {
            row.whole(&says, Role::Muted);
        }
    }

    /// Moments that are still to come, with when the last run came to them.
    fn to_come(&self, row: &mut Row<'_>, step: &StepView) {
        for mark in estimate::marks_to_come(self.ui.session, self.run, step) {
            let at = format::seconds(mark.at, mark.resolution);
            row.whole(&format!("· {} {at} last time", mark.name), Role::Pending);
        }
    }

    /// What earlier runs still needed at this point.
    fn history(&self, row: &mut Row<'_>, step: &StepView, gone: Duration) {
        let (session, now) = (self.ui.session, self.ui.model.now);
        let all = estimate::from_here(session, self.run, step, now);
        if all.is_empty() {
            return;
        }
        if all.iter().any(|seconds| *seconds > 0.0) {
            let who = if all.len() == 1 {
                "earlier run"
            } else {
                "earlier runs"
            };
            let _ = row.whole(&format!("{who}: {} from here", several(&all)), Role::Text)
                || row.whole(&format!("earlier: {}", several(&all)), Role::Text);
        } else if gone.as_secs_f64() >= SHORT {
            let all = estimate::totals(session, self.run, step);
            row.whole(
                &format!("longer than earlier runs: {}", several(&all)),
                Role::Warn,
            );
        }
    }
}

/// Seconds of several runs, in their order; their range where they are many.
fn several(all: &[f64]) -> String {
    let time = |seconds: &f64| format::rough(*seconds);
    if all.len() <= FEW {
        return all.iter().map(time).collect::<Vec<_>>().join(", ");
    }
    let low = all.iter().copied().fold(f64::INFINITY, f64::min);
    let high = all.iter().copied().fold(0.0, f64::max);
    let runs = format::count(all.len(), "run");
    format!("{} to {} ({runs})", time(&low), time(&high))
}

/// How a time was made, in words.
fn how(left: StepLeft) -> String {
    match left.how {
        How::Rate => "at this rate".to_owned(),
        How::RateAndTail(tail) => {
            let tail = format::rough(tail.as_secs_f64());
            format!("at this rate, then {tail} as before")
        }
        How::Share => "by its percent so far".to_owned(),
        // What they needed stands beside it.
        How::Earlier(_) => String::new(),
    }
}
