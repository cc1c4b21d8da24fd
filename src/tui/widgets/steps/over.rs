//! A step that is over: what it took and what it brought.

use ratatui::text::Line;

use crate::event::{Bytes, EndState, Sample, Space, StepEnd};
use crate::session::{StepView, bytes_can_be, can_be, sample_can_be};

use super::super::super::estimate;
use super::super::super::signs;
use super::super::super::theme::Role;
use super::super::super::{format, text};
use super::super::gauge;
use super::super::row::Row;
use super::{FIGURES, List};

/// No row has room for more figures of bytes.
const MANY: usize = 100;

impl List<'_> {
    pub(super) fn over(
        &self,
        row: &mut Row<'_>,
        step: &StepView,
        end: &StepEnd,
        role: Role,
    ) -> Vec<Line<'static>> {
        let sign = signs::of_end(end.end);
        let is_odd = end.seconds.is_some_and(|seconds| !can_be(seconds, "s"));
        let taken = end
            .seconds
            .filter(|_| !is_odd)
            .map(|seconds| self.took(seconds, end.resolution));
        let seconds = if step.planned.timed {
            role
        } else {
            Role::Muted
        };
        row.right(&taken.unwrap_or_default(), self.seconds, seconds);
        if let Some(seconds) = end.seconds.filter(|_| is_odd) {
            row.whole(&format::impossible(seconds, "s"), Role::Warn);
        }
        if end.end != EndState::Ok {
            let status: Vec<_> = end.status.iter().map(i32::to_string).collect();
            let status = if end.end.is_good() || status.is_empty() {
                String::new()
            } else {
                format!(", exit {}", status.join(" "))
            };
            row.whole(&format!("{}{status}", sign.word), sign.role);
        }
        if let Some(destroys) = &step.planned.destroys {
            let word = if end.end.is_good() {
                "destroyed"
            } else {
                "may have destroyed"
            };
            row.whole(&format!("{word} {}", destroys.what), Role::Destroys);
        }
        self.results(row, step);
        end.cause
            .as_ref()
            .map_or_else(Vec::new, |cause| self.cause(sign, cause))
    }

    /// Seconds, with the clock's error where there is room for it.
    pub(super) fn took(&self, seconds: f64, resolution: f64) -> String {
        let all = format::seconds(seconds, resolution);
        match all.split_once(" ±") {
            Some((bare, _)) if text::width(&all) > self.seconds => bare.to_owned(),
            _ => all,
        }
    }

    /// How its bytes went, over all of its time.
    pub(super) fn course(&self, step: &StepView) -> Option<Line<'static>> {
        let (_, done) = step.pace.last()?;
        self.below(|row| {
            row.whole(&format::bytes(Bytes(done)), Role::Text);
            Self::extremes(row, step);
            let slots = row.room().saturating_sub(3).min(32);
            let rates = estimate::rates(step, slots);
            row.whole(&gauge::spark(&rates), Role::Spark);
        })
    }

    /// Proofs, figures, named moments.
    fn results(&self, row: &mut Row<'_>, step: &StepView) {
        let session = self.ui.session;
        for proof in session.proofs_of(&step.step).take(FIGURES) {
            let sign = signs::of_proof(proof.verdict);
            let word = if proof.verdict { "" } else { " differs:" };
            let short = format!("{} {}{word}", sign.glyph, proof.by);
            // The verdict is shown, whatever room there is.
            let is_told = row.whole(&format!("{short} {}", proof.share), sign.role)
                || row.whole(short.trim_end_matches(':'), sign.role);
            if !is_told {
                row.gap(1).text(sign.glyph, sign.role);
            }
        }
        // The step's own seconds stand in their column.
        let is_own = |sample: &Sample| sample.unit == "s" && sample.name == step.planned.name;
        let of_step = session.samples_of(&step.step);
        for sample in of_step.filter(|sample| !is_own(sample)).take(FIGURES) {
            let (value, role) = if sample_can_be(sample) {
                let value = format::value(sample.value, &sample.unit, sample.resolution);
                (value, Role::Text)
            } else {
                (format::impossible(sample.value, &sample.unit), Role::Warn)
            };
            row.whole(&format!("{} {value}", sample.name), role);
        }
        let mut spaces: Vec<&Space> = Vec::new();
        for space in session.spaces_of(&step.step).take(MANY) {
            spaces.retain(|known| known.name != space.name);
            spaces.push(space);
        }
        for space in spaces {
            if let Some(bytes) = space.stored.or(space.held).or(space.logical) {
                let (value, role) = if bytes_can_be(bytes) {
                    (format::bytes(bytes), Role::Text)
                } else {
                    (format::impossible(bytes.0 as f64, "B"), Role::Warn)
                };
                row.whole(&format!("{} {value}", space.name), role);
            }
        }
        Self::marks(row, step);
    }
}
