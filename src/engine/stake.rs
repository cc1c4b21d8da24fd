//! What is told of a step to whoever finds it running when nobody follows it any more: what it is, and
//! what would be lost where it is ended.

use crate::event::Phase;
use crate::method::ExpandedStep;

use super::run::Run;

/// Its name, and the first line of its command.
pub(super) fn title(step: &ExpandedStep, command: &str) -> String {
    let first = command.trim().lines().next().unwrap_or_default();
    format!("{}: {first}", step.name)
}

impl Run<'_> {
    /// Empty where nothing would be lost: only what somebody named is at stake, and only once it was
    /// touched.
    pub(super) fn stake(&self, step: &ExpandedStep) -> String {
        let subject = &self.bound.binding.subject;
        let half = match step.step.phase {
            Phase::Damage => "destroyed",
            Phase::Restore => "restored",
            _ => "",
        };
        if subject.own || !self.destroyed || half.is_empty() {
            return String::new();
        }
        format!("{subject} would be left half {half}")
    }
}
