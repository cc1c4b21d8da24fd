//! The output of one run as one list: each step's command, then its lines.
//!
//! Nothing is copied: a place in the list is a step and a line of it, and only the lines that are
//! seen are ever read.

use crate::event::{Nanos, Stream};
use crate::session::{Direction, RunView, Session};

use super::query::Query;
use super::text;

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
}

/// The log of one run.
#[derive(Clone, Copy)]
pub struct RunLog<'a> {
    session: &'a Session,
    run: &'a RunView,
}

impl<'a> RunLog<'a> {
    /// Of a run.
    #[must_use]
    pub fn of(session: &'a Session, run: &'a RunView) -> Self {
        Self { session, run }
    }

    /// First and one past the last line number of a step's output; the number before the first
    /// stands for what was dropped.
    fn lines(&self, step: usize) -> (u64, u64) {
        let Some(view) = self.run.steps.get(step) else {
            return (1, 1);
        };
        let dropped = self.session.log.dropped(&view.step);
        let first = dropped + 1;
        (first, first + self.session.log.len(&view.step) as u64)
    }

    fn dropped(&self, step: usize) -> u64 {
        self.lines(step).0 - 1
    }

    /// The line numbers of a step after its command: first, and one past the last.
    fn span(&self, step: usize) -> (u64, u64) {
        let (first, end) = self.lines(step);
        // What was dropped is one line, just before the first that is kept.
        (if first > 1 { first - 1 } else { 1 }, end)
    }

    /// The last line of all.
    #[must_use]
    pub fn last(&self) -> At {
        let step = self.run.steps.len().saturating_sub(1);
        At {
            step,
            line: self.last_of(step),
            row: 0,
        }
    }

    fn last_of(&self, step: usize) -> u64 {
        let (start, end) = self.span(step);
        if end > start { end - 1 } else { 0 }
    }

    /// The nearest place that exists: lines may have been dropped, and a replay may go back.
    #[must_use]
    pub fn clamp(&self, at: At) -> At {
        let last = self.last();
        if at.step > last.step {
            return last;
        }
        let (start, _) = self.span(at.step);
        let line = if at.line == 0 {
            0
        } else {
            at.line.max(start).min(self.last_of(at.step))
        };
        let row = if line == at.line { at.row } else { 0 };
        At { line, row, ..at }
    }

    /// The line after this one.
    #[must_use]
    pub fn next(&self, at: At) -> Option<At> {
        let (start, _) = self.span(at.step);
        let line = if at.line == 0 { start } else { at.line + 1 };
        if line <= self.last_of(at.step) {
            return Some(At {
                step: at.step,
                line,
                row: 0,
            });
        }
        (at.step + 1 < self.run.steps.len()).then(|| At {
            step: at.step + 1,
            line: 0,
            row: 0,
        })
    }

    /// The line before this one.
    #[must_use]
    pub fn previous(&self, at: At) -> Option<At> {
        let (start, _) = self.span(at.step);
        if at.line > start {
            return Some(At {
                step: at.step,
                line: at.line - 1,
                row: 0,
            });
        }
        if at.line > 0 {
            return Some(At {
                step: at.step,
                line: 0,
                row: 0,
            });
        }
        let step = at.step.checked_sub(1)?;
        Some(At {
            step,
            line: self.last_of(step),
            row: 0,
        })
    }

    /// What stands there.
    #[must_use]
    pub fn entry(&self, at: At) -> Option<Entry<'a>> {
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
            Some(Entry::Command {
                name,
                host,
                command,
                ..
            }) => {
                let mut lines = command
                    .lines()
                    .map(str::trim)
                    .filter(|line| !line.is_empty());
                let first = lines.next().unwrap_or_default();
                let more = lines.count();
                let tail = if more > 0 {
                    format!(" … ({more} more lines)")
                } else {
                    String::new()
                };
                text::clean(&format!("{name} · {host} $ {first}{tail}")).into_owned()
            }
            Some(Entry::Line { text, .. }) => text::clean(text).into_owned(),
            Some(Entry::Dropped(lines)) => {
                format!("… {lines} earlier lines are not kept here; the recording has them")
            }
        }
    }

    /// How many lines there are in all.
    #[must_use]
    pub fn len(&self) -> u64 {
        (0..self.run.steps.len())
            .map(|step| 1 + self.after(step))
            .sum()
    }

    /// Lines of a step after its command.
    fn after(&self, step: usize) -> u64 {
        let (start, end) = self.span(step);
        end.saturating_sub(start)
    }

    /// How many lines come after this one.
    #[must_use]
    pub fn below(&self, at: At) -> u64 {
        let here = if at.line == 0 {
            self.after(at.step)
        } else {
            self.last_of(at.step).saturating_sub(at.line)
        };
        let later: u64 = (at.step + 1..self.run.steps.len())
            .map(|step| 1 + self.after(step))
            .sum();
        here + later
    }

    /// How many rows a place takes, where lines are wrapped to `width` cells.
    fn rows(&self, at: At, width: Option<usize>) -> usize {
        width.map_or(1, |width| text::rows(&self.text(at), width))
    }

    /// `rows` rows further up; the first row where there are not so many.
    #[must_use]
    pub fn up(&self, mut at: At, mut rows: usize, width: Option<usize>) -> At {
        while rows > 0 {
            if at.row >= rows {
                at.row -= rows;
                return at;
            }
            rows -= at.row;
            at.row = 0;
            let Some(before) = self.previous(at) else {
                return at;
            };
            at = before;
            at.row = self.rows(at, width) - 1;
            rows -= 1;
        }
        at
    }

    /// `rows` rows further down; the last row where there are not so many.
    #[must_use]
    pub fn down(&self, mut at: At, mut rows: usize, width: Option<usize>) -> At {
        loop {
            let last = self.rows(at, width) - 1;
            let here = last.saturating_sub(at.row).min(rows);
            at.row += here;
            rows -= here;
            if rows == 0 {
                return at;
            }
            let Some(after) = self.next(at) else {
                return at;
            };
            at = after;
            rows -= 1;
        }
    }

    /// The last row of all.
    #[must_use]
    pub fn end(&self, width: Option<usize>) -> At {
        let last = self.last();
        At {
            row: self.rows(last, width) - 1,
            ..last
        }
    }

    /// The first row of the last page of `height` rows.
    #[must_use]
    pub fn last_page(&self, height: usize, width: Option<usize>) -> At {
        self.up(self.end(width), height.saturating_sub(1), width)
    }

    /// The next line that holds what is searched for, from the line after `from` on, or before it;
    /// goes on at the other end, and says whether it did.
    #[must_use]
    pub fn find(&self, from: At, forward: bool, query: &Query) -> Option<(At, bool)> {
        let from = At {
            row: 0,
            ..self.clamp(from)
        };
        let steps = self.run.steps.len();
        let near = self.search(from.step, forward, Some(from.line), query);
        if let Some(hit) = near {
            return Some((hit, false));
        }
        // Every other step, then this one again from its other end.
        (1..=steps).find_map(|far| {
            let step = if forward {
                (from.step + far) % steps
            } else {
                (from.step + steps - far) % steps
            };
            let wrapped = if forward {
                step <= from.step
            } else {
                step >= from.step
            };
            Some((self.search(step, forward, None, query)?, wrapped))
        })
    }

    /// The first line of a step that has it, after or before a line where one is given.
    fn search(&self, step: usize, forward: bool, beyond: Option<u64>, query: &Query) -> Option<At> {
        let id = &self.run.steps.get(step)?.step;
        let (first, end) = self.lines(step);
        let at = |line| At { step, line, row: 0 };
        let head = at(0);
        let in_head = || query.is_in(&self.text(head)).then_some(head);
        let in_lines = |from: u64, direction| {
            let index = usize::try_from(from.checked_sub(first)?).ok()?;
            let found = self
                .session
                .log
                .search(id, query.text(), index, direction)?;
            Some(at(first + found as u64))
        };
        if forward {
            match beyond {
                None => in_head().or_else(|| in_lines(first, Direction::Forward)),
                Some(line) => in_lines((line + 1).max(first), Direction::Forward),
            }
        } else {
            match beyond {
                Some(0) => None,
                Some(line) => in_lines(line - 1, Direction::Backward).or_else(in_head),
                None if end > first => in_lines(end - 1, Direction::Backward).or_else(in_head),
                None => in_head(),
            }
        }
    }
}
