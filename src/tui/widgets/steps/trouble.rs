//! Is anything wrong with a step that goes on? In words, where it stands.

use std::time::Duration;

use ratatui::text::Line;

use crate::event::{HostState, Shows};
use crate::session::{StepView, clean};

use super::super::super::theme::Role;
use super::super::super::{estimate, format, text};
use super::super::row::Row;
use super::List;

/// A silence that is worth a word.
const SILENT: Duration = Duration::from_secs(15);
/// A silence that is worth a second look. Never a reason to stop: restores are quiet.
const VERY_SILENT: Duration = Duration::from_mins(2);

impl List<'_> {
    /// What is wrong, the gravest alone, in at most two rows.
    pub(super) fn trouble(&self, step: &StepView) -> Vec<Line<'static>> {
        let found = self
            .connection(step)
            .or_else(|| self.stall(step))
            .or_else(|| self.silence(step));
        let Some((says, role)) = found else {
            return Vec::new();
        };
        let sign = if role == Role::Muted { "·" } else { "!" };
        let room = self.width.saturating_sub(4).max(1);
        let rows = text::wrap_words(&clean(&says), room);
        let line = |(at, part): (usize, &String)| {
            let mut row = Row::new(self.ui, self.width);
            row.gap(2)
                .text(if at == 0 { sign } else { " " }, role)
                .gap(1)
                .text(part, role);
            row.line()
        };
        rows.iter().take(2).enumerate().map(line).collect()
    }

    fn connection(&self, step: &StepView) -> Option<(String, Role)> {
        let name = &step.planned.host;
        let host = self.ui.session.hosts.get(name)?;
        let change = host.change.as_ref()?;
        let since = format::elapsed(self.ui.model.now.since(host.at));
        match change.state {
            HostState::Up => None,
            HostState::Connecting => {
                // What only waits or streams ends with its connection.
                let is_command = matches!(
                    step.planned.action.as_str(),
                    "run" | "pipe" | "hash" | "payload"
                );
                let goes_on = if is_command && step.planned.shows != Some(Shows::Stream) {
                    "; the command goes on there"
                } else {
                    ""
                };
                let says = format!("connection to {name} lost {since} ago, reconnecting{goes_on}");
                Some((says, Role::Warn))
            }
            HostState::Down => {
                let reason = change.reason.as_deref().unwrap_or("no reason is known");
                Some((
                    format!("{name} is gone since {since}: {reason}"),
                    Role::Error,
                ))
            }
        }
    }

    fn stall(&self, step: &StepView) -> Option<(String, Role)> {
        let (session, now) = (self.ui.session, self.ui.model.now);
        let stall = estimate::stall(session, self.run, step, now)?;
        let still = format::elapsed(stall.still);
        let what = match step.planned.shows {
            Some(Shows::Target | Shows::Stream) => "no byte",
            Some(Shows::Output) | None => "no progress",
        };
        let before = stall.before.map(format::elapsed);
        Some(match before {
            Some(before) if stall.is_usual() => {
                let says = format!(
                    "{what} for {still}; earlier runs stood still here, too, for up to {before}"
                );
                (says, Role::Muted)
            }
            Some(before) => {
                let says =
                    format!("{what} for {still}, longer than in earlier runs (up to {before})");
                (says, Role::Warn)
            }
            None => (format!("{what} for {still}"), Role::Warn),
        })
    }

    /// A silence, and whether that is the tool's nature. Where bytes are seen to move, none is
    /// worth a word.
    fn silence(&self, step: &StepView) -> Option<(String, Role)> {
        let (session, now) = (self.ui.session, self.ui.model.now);
        let silent = step.silent(now);
        let moves = step
            .pace
            .moved()
            .is_some_and(|moved| now.since(moved) < SILENT);
        if silent < SILENT || moves {
            return None;
        }
        let time = format::elapsed(silent);
        let before = estimate::longest_quiet(session, self.run, step);
        if let Some(before) = before.filter(|before| *before >= silent) {
            let before = format::elapsed(before);
            let says = format!(
                "no line for {time}; earlier runs were silent here, too, for up to {before}"
            );
            return Some((says, Role::Muted));
        }
        let (says, is_odd) = match step.planned.shows {
            Some(Shows::Output) => ("though its tool prints how far it is", true),
            Some(Shows::Target) => (
                "as always: its tool prints none; nothing has been written yet",
                false,
            ),
            Some(Shows::Stream) => ("and no byte has gone through yet", true),
            None => ("and nothing else tells how far it is", false),
        };
        let role = if is_odd || silent >= VERY_SILENT {
            Role::Warn
        } else {
            Role::Muted
        };
        Some((format!("no line for {time}, {says}"), role))
    }
}
