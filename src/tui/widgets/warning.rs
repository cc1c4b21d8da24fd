//! Is anything wrong? One line, in words.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use crate::event::{Level, Nanos, Note};

use super::super::model::is_active;
use super::super::theme::Role;
use super::super::view::Ui;
use super::super::{format, signs};
use super::row::Row;

/// Whether there is anything to say.
pub(crate) fn is_there(ui: Ui<'_>) -> bool {
    !ui.session.asks.is_empty() || newest(ui).is_some()
}

/// The newest warning or error, and how many there are; a question that waits goes first.
pub(crate) fn draw(ui: Ui<'_>, area: Rect, buffer: &mut Buffer) {
    let mut row = Row::new(ui, usize::from(area.width));
    if let Some(ask) = ui.session.asks.first() {
        row.text("? waits for the operator: ", Role::Warn)
            .text(&ask.text, Role::Warn);
    } else if let Some((at, note, all)) = newest(ui) {
        let sign = signs::of_level(note.level);
        let more = if all > 1 {
            format!("  ! shows all {all}")
        } else {
            String::new()
        };
        row.text(sign.sign, sign.role).gap(1);
        let when = if is_active(ui.session) {
            format::ago(ui.model.now.since(at))
        } else {
            format!("at {}", format::moment(at))
        };
        let place = note
            .host
            .as_ref()
            .map_or_else(String::new, |host| format!("{host}: "));
        let tail = format!("  ({when}){more}");
        let room = row.room().saturating_sub(tail.chars().count());
        let says = super::super::text::clean(&format!("{place}{}", note.text)).into_owned();
        row.text(&super::super::text::cut(&says, room), sign.role)
            .text(&tail, Role::Muted);
    } else {
        return;
    }
    ui.line(area, buffer, &row.line());
}

/// The newest warning or error, and how many there are.
fn newest<'a>(ui: Ui<'a>) -> Option<(Nanos, &'a Note, usize)> {
    let grave = || {
        ui.session
            .notes
            .iter()
            .filter(|(_, note)| note.level != Level::Remark)
    };
    let (at, note) = grave().next_back()?;
    Some((*at, note, grave().count()))
}
