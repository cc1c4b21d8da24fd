//! The chapters of a recording: runs, the steps of the one in sight, failures, markers.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::Line;

use crate::recording::ChapterKind;

use super::super::keys::{Action, Context};
use super::super::theme::Role;
use super::super::view::{Titles, Ui};
use super::super::widgets::row::Row;
use super::super::{chapters, format, layout};
use super::over;

pub(super) fn draw(ui: Ui<'_>, buffer: &mut Buffer, at: usize) {
    let Some(replay) = ui.model.replay_shown() else {
        return;
    };
    let all = chapters::chapters(ui.model, ui.session);
    let area = layout::overlay(ui.model);
    let page = layout::overlay_height(ui.model);
    let top = (at + page / 2 + 1)
        .saturating_sub(page)
        .min(all.len().saturating_sub(page));
    let reading = replay.read.map(|read| format!("reading {read} %"));
    let keys = &ui.model.keys;
    let says = format!(
        "{} goes there, {} closes",
        keys.name(&[Context::Chapters], Action::Accept),
        keys.name(&[Context::Chapters], Action::Back)
    );
    let titles = Titles {
        left: "Chapters",
        right: reading.as_deref().unwrap_or(&says),
        foot: &format::below(all.len(), top + page),
    };
    let inner = over(ui, area, buffer, titles);
    let width = usize::from(inner.width);
    let here = chapters::current(&all, replay.at);
    let mut rows: Vec<Line<'_>> = Vec::new();
    for (place, chapter) in all.iter().enumerate() {
        let sign = chapters::sign(chapter.kind);
        let is_within = matches!(chapter.kind, ChapterKind::Step | ChapterKind::Failure(_));
        let mut row = Row::new(ui, width);
        row.text(if place == here { "→" } else { " " }, Role::Accent)
            .right(&format::moment(chapter.at), 8, Role::Muted)
            .gap(if is_within { 4 } else { 2 })
            .text(sign.glyph, sign.role)
            .gap(1);
        let role = match chapter.kind {
            ChapterKind::Step => Role::Muted,
            ChapterKind::Run => Role::Title,
            ChapterKind::RunEnd(end) if end.is_good() => Role::Text,
            _ => sign.role,
        };
        row.text(&chapter.text, role);
        rows.push(if place == at {
            row.line_in(ui.style(Role::Selection))
        } else {
            row.line()
        });
    }
    if rows.is_empty() {
        let mut row = Row::new(ui, width);
        row.text("There are none yet.", Role::Muted);
        rows.push(row.line());
    }
    ui.rows(Rect { ..inner }, buffer, &rows, top);
}
