//! What a run has left on its hosts, and what takes it away.

use ratatui::text::Line;

use crate::session::{Left, LeftState, RunStage};

use super::super::super::text;
use super::super::super::theme::Role;
use super::super::row::Row;
use super::List;

/// So many leftovers are named here; all of them stand among the bytes.
const MOST: usize = 20;

impl List<'_> {
    /// Rows below the steps of a run that is over.
    pub(super) fn kept(&self) -> Vec<Line<'static>> {
        if !matches!(self.run.state, RunStage::Ended(..)) {
            return Vec::new();
        }
        let session = self.ui.session;
        let is_mine = |left: &&Left| left.intended.run == self.run.run;
        // What is not gone yet may be, until all is over.
        let is_told =
            |left: &&Left| matches!(left.state, LeftState::Kept(_)) || session.end.is_some();
        let all: Vec<&Left> = session
            .ledger
            .still_out()
            .filter(is_mine)
            .filter(is_told)
            .collect();
        let Some(command) = session.ledger.recovery().filter(|_| !all.is_empty()) else {
            return Vec::new();
        };
        let some = all.iter().take(MOST);
        let mut rows: Vec<Line<'static>> = some.map(|left| self.leftover(left)).collect();
        if let Some(more) = all.len().checked_sub(MOST).filter(|more| *more > 0) {
            let mut row = Row::new(self.ui, self.width);
            row.gap(4).text(&format!("and {more} more"), Role::Warn);
            rows.push(row.line());
        }
        let says = format!("{command} lists it; with --remove it takes it away");
        let room = self.width.saturating_sub(4).max(1);
        rows.extend(
            text::wrap_words(&text::clean(&says), room)
                .iter()
                .map(|part| {
                    let mut row = Row::new(self.ui, self.width);
                    row.gap(4).text(part, Role::Info);
                    row.line()
                }),
        );
        rows
    }

    fn leftover(&self, left: &Left) -> Line<'static> {
        let word = match left.state {
            LeftState::Kept(_) => "kept",
            _ => "may be there",
        };
        let (host, name) = (&left.intended.host, &left.intended.name);
        let mut row = Row::new(self.ui, self.width);
        row.gap(2)
            .text("!", Role::Warn)
            .gap(1)
            .text(&format!("{word} on {host}: {name}"), Role::Warn);
        if let Some(found) = &left.found {
            row.gap(2).text(found, Role::Text);
        }
        row.line()
    }
}
