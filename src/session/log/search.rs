//! Finding a text in a step's lines.

use regex::{Regex, RegexBuilder};

use super::{LogStore, Step};
use crate::event::StepId;

/// Which way a search goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// Towards newer lines.
    Forward,
    /// Towards older lines.
    Backward,
}

impl LogStore {
    /// The line nearest to line `from` (which counts) that has `needle` in it. Case counts only
    /// where the needle has a capital letter.
    #[must_use]
    pub fn search(
        &self,
        step: &StepId,
        needle: &str,
        from: usize,
        direction: Direction,
    ) -> Option<usize> {
        if needle.is_empty() {
            return None;
        }
        let finder = RegexBuilder::new(&regex::escape(needle))
            .case_insensitive(!needle.chars().any(char::is_uppercase))
            .build()
            .ok()?;
        let step = self.steps.get(step)?;
        match direction {
            Direction::Forward => step.forward(&finder, from),
            Direction::Backward => step.backward(&finder, from),
        }
    }
}

impl Step {
    // A page whose text does not have the needle has no line that has it, and one look at a
    // page costs little more than one at a line.
    fn forward(&self, finder: &Regex, from: usize) -> Option<usize> {
        let kept = self.pages.len();
        self.pages
            .from(from)
            .filter(|(_, page)| finder.is_match(page.text()))
            .flat_map(|(first, page)| first..first + page.len())
            .chain(kept..self.len())
            .filter(|&at| at >= from)
            .find(|&at| self.has(finder, at))
    }

    fn backward(&self, finder: &Regex, from: usize) -> Option<usize> {
        let kept = self.pages.len();
        let pages = self
            .pages
            .back_from(from)
            .filter(|(_, page)| finder.is_match(page.text()))
            .flat_map(|(first, page)| (first..first + page.len()).rev());
        (kept..self.len())
            .rev()
            .chain(pages)
            .filter(|&at| at <= from)
            .find(|&at| self.has(finder, at))
    }

    fn has(&self, finder: &Regex, at: usize) -> bool {
        self.line(at).is_some_and(|line| finder.is_match(line.text))
    }
}
