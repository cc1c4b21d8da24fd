//! The output of one run as one list: each step's command, then its lines. Or that of one step
//! alone, whose command then stands above the list.
//!
//! Nothing is copied: a place in the list is a step and a line of it, and only the lines that are
//! seen are ever read.

mod body;
mod rows;

use std::ops::Range;

use crate::event::{Nanos, Stream, count};
use crate::session::{RunView, Session, StepView};

use super::found::{Found, Hits, Lines};
use super::model::LogView;
use super::text;
use body::Body;

/// A place in a run's log.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct At {
    /// The step, by its place in the run.
    pub step: usize,
    /// 0 is the command; line n of the output, counted from its begin, is n + 1.
    pub line: u64,
    /// Row of the line, where it is wrapped.
    pub row: usize,
}

impl At {
    /// Whether both are of the same line.
    #[must_use]
    pub fn is_line(self, other: Self) -> bool {
        (self.step, self.line) == (other.step, other.line)
    }
}

/// What stands at a place.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Entry<'a> {
    /// A step's name, host and command.
    Command {
        /// The step.
        name: &'a str,
        /// Where it runs.
        host: &'a str,
        /// The exact shell text.
        command: &'a str,
        /// When it was sent.
        at: Option<Nanos>,
    },
    /// A line of output.
    Line {
        /// When it came.
        at: Nanos,
        /// Which stream.
        stream: Stream,
        /// Its text.
        text: &'a str,
    },
    /// So many earlier lines are not kept any more.
    Dropped(u64),
    /// There is no line, or none that is shown.
    Nothing,
}

/// The log of one run, or of one of its steps.
#[derive(Clone)]
pub struct RunLog<'a> {
    session: &'a Session,
    run: &'a RunView,
    /// The steps whose lines are in it.
    steps: Range<usize>,
    /// Whether commands are lines of it.
    has_heads: bool,
    /// Only these lines are in it.
    only: Option<&'a [Lines]>,
    /// Whether there is no line in it; a place is always one that can be looked at, though.
    is_empty: bool,
}

impl<'a> RunLog<'a> {
    /// What is shown of a run: one step where it is looked at alone; the lines that the filter
    /// lets through.
    #[must_use]
    pub fn seen(session: &'a Session, run: &'a RunView, view: &'a LogView) -> Self {
        let only = view.filter.as_ref().map(|found| found.of(&run.run));
        match view.alone_in(run) {
            Some(step) => Self::with(session, run, step..step + 1, false, only),
            None => Self::with(session, run, 0..run.steps.len(), true, only),
        }
    }

    fn with(
        session: &'a Session,
        run: &'a RunView,
        steps: Range<usize>,
        has_heads: bool,
        only: Option<&'a [Lines]>,
    ) -> Self {
        let mut log = Self {
            session,
            run,
            steps,
            has_heads,
            only,
            is_empty: false,
        };
        log.is_empty = log.steps.clone().all(|step| log.len_of(step) == 0);
        log
    }

    /// How many lines of a step were dropped.
    fn dropped(&self, step: usize) -> u64 {
        let view = self.run.steps.get(step);
        view.map_or(0, |view| self.session.log.dropped(&view.step))
    }

    /// Whether lines of it are not kept any more.
    #[must_use]
    pub fn is_cut(&self) -> bool {
        self.steps.clone().any(|step| self.dropped(step) > 0)
    }

    fn body(&self, step: usize) -> Body<'a> {
        if let Some(only) = self.only {
            return only.get(step).map_or(Body::All(0..0), Body::Some);
        }
        let Some(view) = self.run.steps.get(step) else {
            return Body::All(0..0);
        };
        let dropped = self.session.log.dropped(&view.step);
        let end = dropped + 1 + self.session.log.len(&view.step) as u64;
        // What was dropped is one line, just before the first that is kept.
        Body::All(dropped.max(1)..end)
    }

    /// Whether a step's command is a line. Above lines that are let through, it says whose they are.
    fn has_head(&self, step: usize) -> bool {
        self.has_heads
            && self.only.is_none_or(|only| {
                only.get(step)
                    .is_some_and(|lines| lines.head || !lines.lines.is_empty())
            })
    }

    /// How many lines a step has here.
    fn len_of(&self, step: usize) -> u64 {
        u64::from(self.has_head(step)) + self.body(step).len()
    }

    /// The first line of a step.
    fn first_of(&self, step: usize) -> Option<At> {
        let line = if self.has_head(step) {
            0
        } else {
            self.body(step).from(0)?
        };
        Some(At { step, line, row: 0 })
    }

    /// The last line of a step.
    fn last_of(&self, step: usize) -> Option<At> {
        let line = match self.body(step).before(u64::MAX) {
            Some(line) => line,
            None if self.has_head(step) => 0,
            None => return None,
        };
        Some(At { step, line, row: 0 })
    }

    /// The first line of all.
    #[must_use]
    pub fn first(&self) -> At {
        self.steps
            .clone()
            .find_map(|step| self.first_of(step))
            .unwrap_or(At {
                step: self.steps.start,
                ..At::default()
            })
    }

    /// The last line of all.
    #[must_use]
    pub fn last(&self) -> At {
        let last = self.steps.clone().rev().find_map(|step| self.last_of(step));
        last.unwrap_or_else(|| self.first())
    }

    /// The nearest place that is shown, from this one on: lines may have been dropped or are not
    /// let through, and a replay may go back.
    #[must_use]
    pub fn clamp(&self, at: At) -> At {
        if at.step < self.steps.start {
            return self.first();
        }
        let row = |line| if line == at.line { at.row } else { 0 };
        if at.line == 0 && self.has_head(at.step) && self.steps.contains(&at.step) {
            return at;
        }
        if self.steps.contains(&at.step)
            && let Some(line) = self.body(at.step).from(at.line.max(1))
        {
            let row = row(line);
            return At { line, row, ..at };
        }
        let on = (at.step + 1..self.steps.end).find_map(|step| self.first_of(step));
        on.unwrap_or_else(|| self.last())
    }

    /// The line after this one.
    #[must_use]
    pub fn next(&self, at: At) -> Option<At> {
        if let Some(line) = self.body(at.step).from(at.line + 1)
            && !self.is_empty
        {
            return Some(At { line, row: 0, ..at });
        }
        (at.step + 1..self.steps.end).find_map(|step| self.first_of(step))
    }

    /// The line before this one.
    #[must_use]
    pub fn previous(&self, at: At) -> Option<At> {
        if let Some(line) = self.body(at.step).before(at.line) {
            return Some(At { line, row: 0, ..at });
        }
        if at.line > 0 && self.has_head(at.step) {
            return self.first_of(at.step);
        }
        (self.steps.start..at.step)
            .rev()
            .find_map(|step| self.last_of(step))
    }

    /// What stands there.
    #[must_use]
    pub fn entry(&self, at: At) -> Option<Entry<'a>> {
        if self.is_empty {
            return Some(Entry::Nothing);
        }
        let step = self.run.steps.get(at.step)?;
        if at.line == 0 {
            return Some(Entry::Command {
                name: &step.planned.name,
                host: &step.planned.host,
                command: &step.planned.command,
                at: step.started,
            });
        }
        let dropped = self.dropped(at.step);
        match (at.line - 1).checked_sub(dropped) {
            None => Some(Entry::Dropped(dropped)),
            Some(index) => {
                let line = self
                    .session
                    .log
                    .line(&step.step, usize::try_from(index).ok()?)?;
                Some(Entry::Line {
                    at: line.at,
                    stream: line.stream,
                    text: line.text,
                })
            }
        }
    }

    /// The text of a place, clean: what is shown, and what is searched.
    #[must_use]
    pub fn text(&self, at: At) -> String {
        match self.entry(at) {
            None => String::new(),
            Some(Entry::Command { .. }) => {
                self.run.steps.get(at.step).map_or_else(String::new, head)
            }
            Some(Entry::Line { text, .. }) => text::clean(text).into_owned(),
            Some(Entry::Dropped(lines)) => {
                format!(
                    "… {lines} earlier lines are not kept here; the recording has them, and a saved log"
                )
            }
            Some(Entry::Nothing) if self.only.is_some() => "no line has it".to_owned(),
            Some(Entry::Nothing) => "no output".to_owned(),
        }
    }

    /// How many steps have their lines in it.
    #[must_use]
    pub fn steps(&self) -> usize {
        self.steps.len()
    }

    /// How many lines there are in all.
    #[must_use]
    pub fn len(&self) -> u64 {
        self.steps.clone().map(|step| self.len_of(step)).sum()
    }

    /// How many there would be without a filter.
    #[must_use]
    pub fn unfiltered(&self) -> u64 {
        let all = Self {
            only: None,
            ..self.clone()
        };
        all.len()
    }

    /// When the line before a line of output came, of the same step, whether it is shown or not.
    #[must_use]
    pub fn came_before(&self, at: At) -> Option<Nanos> {
        let step = self.run.steps.get(at.step)?;
        let index = at.line.checked_sub(2 + self.dropped(at.step))?;
        let line = self
            .session
            .log
            .line(&step.step, usize::try_from(index).ok()?)?;
        Some(line.at)
    }

    /// How many lines come after this one.
    #[must_use]
    pub fn below(&self, at: At) -> u64 {
        let later: u64 = (at.step + 1..self.steps.end)
            .map(|step| self.len_of(step))
            .sum();
        self.body(at.step).after(at.line) + later
    }

    /// The next line that has what is searched for, from the line after `from` on, or before it;
    /// goes on at the other end, and says whether it did.
    #[must_use]
    pub fn find(&self, from: At, forward: bool, found: &Found) -> Option<(At, bool)> {
        let hits = self.hits(found);
        let at = |(step, line)| At { step, line, row: 0 };
        let here = (from.step, from.line);
        if forward {
            let next = hits.after(here).map(|hit| (hit, false));
            next.or_else(|| Some((hits.after_or_at((0, 0))?, true)))
        } else {
            let next = hits.before(here).map(|hit| (hit, false));
            next.or_else(|| Some((hits.before((usize::MAX, 0))?, true)))
        }
        .map(|(hit, wrapped)| (at(hit), wrapped))
    }

    /// How many lines have what is searched for, and which of them this one is, from 1.
    #[must_use]
    pub fn count(&self, found: &Found, at: Option<At>) -> (Option<u64>, u64) {
        let hits = self.hits(found);
        let place = at.and_then(|at| hits.place((at.step, at.line)));
        (place, hits.len())
    }

    fn hits<'b>(&self, found: &'b Found) -> Hits<'b> {
        Hits::new(found.of(&self.run.run), self.steps.clone(), self.has_heads)
    }
}

/// A step's name, host and command, in one line.
pub(super) fn head(step: &StepView) -> String {
    let planned = &step.planned;
    let lines = planned.command.lines().map(str::trim);
    let mut lines = lines.filter(|line| !line.is_empty());
    let first = lines.next().unwrap_or_default();
    let more = lines.count();
    let tail = if more > 0 {
        format!(" … ({})", count(more, "more line"))
    } else {
        String::new()
    };
    let (name, host) = (&planned.name, &planned.host);
    text::clean(&format!("{name} · {host} $ {first}{tail}")).into_owned()
}

/// A step's exact command in rows of so many cells.
pub(super) fn command(step: &StepView, width: usize) -> Vec<String> {
    let mut rows = Vec::new();
    for line in step.planned.command.trim_end().lines() {
        let front = if rows.is_empty() { "$ " } else { "  " };
        let line = text::clean(line);
        let parts = text::wrap(&line, width.saturating_sub(2).max(1));
        for (at, part) in parts.enumerate() {
            let front = if at == 0 { front } else { "  " };
            rows.push(format!("{front}{part}"));
        }
    }
    rows
}
