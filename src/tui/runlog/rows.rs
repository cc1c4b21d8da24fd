//! Rows of a log: one a line, or as many as a line takes where it is wrapped.

use super::super::text;
use super::{At, RunLog};

impl RunLog<'_> {
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
}
