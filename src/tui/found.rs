//! Which lines have what is searched for: looked at once, as they come, so that a frame and a jump
//! cost the same in a log of 100 lines and of 1,000,000.

use std::collections::VecDeque;
use std::ops::Range;

use crate::event::{RunId, StepId};
use crate::session::{RunView, Session};

use super::query::Query;
use super::runlog;
use super::text;

/// What is searched for, and the lines that have it.
#[derive(Debug, Clone)]
pub struct Found {
    /// What is searched for.
    pub query: Query,
    /// Only among lines that have this, too.
    within: Option<Query>,
    runs: Vec<(RunId, Vec<Lines>)>,
}

/// The lines of one step.
#[derive(Debug, Clone, Default)]
pub struct Lines {
    step: Option<StepId>,
    /// Whether its command has it.
    pub head: bool,
    /// Numbers of its lines, counted from 1.
    pub lines: VecDeque<u64>,
    /// Lines below this one have been looked at, and will not change.
    seen: u64,
}

impl Found {
    /// Nothing has been looked at yet.
    #[must_use]
    pub fn new(query: Query, within: Option<Query>) -> Self {
        Self {
            query,
            within,
            runs: Vec::new(),
        }
    }

    /// Looks at what these runs have printed since the last time; forgets other runs.
    pub fn look(&mut self, session: &Session, runs: &[&RunView]) {
        self.runs
            .retain(|(id, _)| runs.iter().any(|run| run.run == *id));
        for run in runs {
            if !self.runs.iter().any(|(id, _)| *id == run.run) {
                self.runs.push((run.run.clone(), Vec::new()));
            }
            let (query, within) = (&self.query, self.within.as_ref());
            let known = self.runs.iter_mut().find(|(id, _)| *id == run.run);
            let Some((_, steps)) = known else { continue };
            steps.resize_with(run.steps.len(), Lines::default);
            let has =
                |line: &str| query.is_in(line) && within.is_none_or(|within| within.is_in(line));
            for (lines, step) in steps.iter_mut().zip(&run.steps) {
                if lines.step.as_ref() != Some(&step.step) {
                    *lines = Lines {
                        step: Some(step.step.clone()),
                        head: has(&runlog::head(step)),
                        ..Lines::default()
                    };
                }
                lines.look(session, &step.step, &has);
            }
        }
    }

    /// The lines of each step of a run.
    #[must_use]
    pub fn of(&self, run: &RunId) -> &[Lines] {
        let known = self.runs.iter().find(|(id, _)| id == run);
        known.map_or(&[], |(_, steps)| steps)
    }
}

impl Lines {
    fn look(&mut self, session: &Session, step: &StepId, has: &impl Fn(&str) -> bool) {
        let log = &session.log;
        let first = log.dropped(step) + 1;
        let finished = first + log.finished(step) as u64;
        if self.seen > finished {
            // A replay went back.
            self.lines.clear();
            self.seen = 0;
        }
        while self.lines.front().is_some_and(|line| *line < first) {
            self.lines.pop_front();
        }
        // A line that was still being written may be another one now.
        while self.lines.back().is_some_and(|line| *line >= self.seen) {
            self.lines.pop_back();
        }
        let from = self.seen.max(first);
        let at = usize::try_from(from - first).unwrap_or(usize::MAX);
        let new = log
            .lines(step, at)
            .filter(|(_, line)| has(&text::clean(line.text)));
        self.lines.extend(new.map(|(at, _)| first + at as u64));
        self.seen = finished;
    }
}

/// What a search found in the lines that are shown, in their order.
pub(super) struct Hits<'a> {
    steps: Range<usize>,
    has_heads: bool,
    found: &'a [Lines],
}

impl<'a> Hits<'a> {
    pub fn new(found: &'a [Lines], steps: Range<usize>, has_heads: bool) -> Self {
        Self {
            steps,
            has_heads,
            found,
        }
    }

    fn of(&self, step: usize) -> Option<(bool, &'a VecDeque<u64>)> {
        let lines = self.found.get(step)?;
        Some((self.has_heads && lines.head, &lines.lines))
    }

    fn len_of(&self, step: usize) -> u64 {
        self.of(step)
            .map_or(0, |(head, lines)| u64::from(head) + lines.len() as u64)
    }

    pub fn len(&self) -> u64 {
        self.steps.clone().map(|step| self.len_of(step)).sum()
    }

    pub fn after(&self, (step, line): (usize, u64)) -> Option<(usize, u64)> {
        self.after_or_at((step, line + 1))
    }

    pub fn after_or_at(&self, (step, line): (usize, u64)) -> Option<(usize, u64)> {
        (step.max(self.steps.start)..self.steps.end).find_map(|here| {
            let (head, lines) = self.of(here)?;
            let from = if here == step { line } else { 0 };
            if head && from == 0 {
                return Some((here, 0));
            }
            let at = lines.partition_point(|known| *known < from);
            Some((here, *lines.get(at)?))
        })
    }

    pub fn before(&self, (step, line): (usize, u64)) -> Option<(usize, u64)> {
        let end = step.saturating_add(1).min(self.steps.end);
        (self.steps.start..end).rev().find_map(|here| {
            let (head, lines) = self.of(here)?;
            let end = if here == step { line } else { u64::MAX };
            let at = lines.partition_point(|known| *known < end);
            match at.checked_sub(1) {
                Some(at) => Some((here, *lines.get(at)?)),
                None => (head && end > 0).then_some((here, 0)),
            }
        })
    }

    pub fn place(&self, (step, line): (usize, u64)) -> Option<u64> {
        let (head, lines) = self.of(step)?;
        let before: u64 = (self.steps.start..step).map(|step| self.len_of(step)).sum();
        if line == 0 {
            return head.then_some(before + 1);
        }
        let at = lines.binary_search(&line).ok()?;
        Some(before + u64::from(head) + at as u64 + 1)
    }
}
