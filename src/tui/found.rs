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
    runs: Vec<OfRun>,
}

/// The lines of one run.
#[derive(Debug, Clone, Default)]
struct OfRun {
    run: RunId,
    steps: Vec<Lines>,
    /// So many of its first steps are over and were looked at since: they are passed over.
    settled: usize,
    /// What of the session was looked at last; where less of it is there now, a replay went back.
    events: u64,
    /// How often the log had dropped lines then.
    cleared: u64,
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
            .retain(|known| runs.iter().any(|run| run.run == known.run));
        for run in runs {
            if !self.runs.iter().any(|known| known.run == run.run) {
                self.runs.push(OfRun {
                    run: run.run.clone(),
                    ..OfRun::default()
                });
            }
            let (query, within) = (&self.query, self.within.as_ref());
            let has =
                |line: &str| query.is_in(line) && within.is_none_or(|within| within.is_in(line));
            let known = self.runs.iter_mut().find(|known| known.run == run.run);
            if let Some(known) = known {
                known.look(session, run, &has);
            }
        }
    }

    /// The lines of each step of a run.
    #[must_use]
    pub fn of(&self, run: &RunId) -> &[Lines] {
        let known = self.runs.iter().find(|known| known.run == *run);
        known.map_or(&[], |known| &known.steps)
    }
}

impl OfRun {
    fn look(&mut self, session: &Session, run: &RunView, has: &impl Fn(&str) -> bool) {
        let (events, cleared) = (session.events, session.log.cleared());
        if events < self.events || cleared != self.cleared || run.steps.len() < self.settled {
            self.settled = 0;
        }
        (self.events, self.cleared) = (events, cleared);
        self.steps.resize_with(run.steps.len(), Lines::default);
        let mut are_over = true;
        for at in self.settled..run.steps.len() {
            let (Some(lines), Some(step)) = (self.steps.get_mut(at), run.steps.get(at)) else {
                return;
            };
            if lines.step.as_ref() != Some(&step.step) {
                *lines = Lines {
                    step: Some(step.step.clone()),
                    head: has(&runlog::head(step)),
                    ..Lines::default()
                };
            }
            lines.look(session, &step.step, has);
            are_over &= step.end.is_some();
            self.settled += usize::from(are_over);
        }
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

#[cfg(test)]
mod tests {
    use super::super::query::Syntax;
    use super::*;
    use crate::event::{EndState, Phase, Stream};
    use crate::session::story::Story;

    fn hits(found: &mut Found, session: &Session) -> Vec<Vec<u64>> {
        let run = &session.runs[0];
        found.look(session, &[run]);
        let lines = found.of(&run.run).iter();
        lines
            .map(|lines| lines.lines.iter().copied().collect())
            .collect()
    }

    /// Steps that are over are not looked at again, and what was found in them stays; where a replay
    /// goes back, it is looked at anew.
    #[test]
    fn what_is_over_is_looked_at_once() {
        let mut story = Story::new();
        let binding = story.binding("a", "h1");
        let run = story.run(&binding, "full");
        let first = story.step(&run, "one", Phase::Protect);
        story.prints(&first, Stream::Out, "here\nthere\n");
        let early = story.session();
        story.step_done(&first, EndState::Ok);
        let second = story.step(&run, "two", Phase::Restore);
        story.prints(&second, Stream::Out, "where\n");
        let mut found = Found::new(Query::new("here", Syntax::Text).unwrap().unwrap(), None);
        assert_eq!(hits(&mut found, &early), [vec![1, 2]]);
        assert_eq!(found.runs[0].settled, 0);
        let late = story.session();
        assert_eq!(hits(&mut found, &late), [vec![1, 2], vec![1]]);
        assert_eq!(found.runs[0].settled, 1);
        story.prints(&second, Stream::Out, "nowhere\n");
        assert_eq!(hits(&mut found, &story.session()), [vec![1, 2], vec![1, 2]]);
        assert_eq!(hits(&mut found, &early), [vec![1, 2]]);
        assert_eq!(found.runs[0].settled, 0);
    }
}
