//! The settings of a method, with the values they have now.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::super::layout;
use super::super::offer::Picked;
use super::super::theme::Role;
use super::super::view::{Titles, Ui};
use super::super::widgets::row::Row;
use super::over;

pub(super) fn draw(ui: Ui<'_>, buffer: &mut Buffer, picked: &Picked, at: usize) {
    let title = format!("Settings of {} on {}", picked.method, picked.host);
    let titles = Titles {
        left: &title,
        right: "Esc closes",
        ..Titles::default()
    };
    let offer = ui.model.picking.offer.as_ref();
    let known = offer
        .and_then(|offer| offer.method(picked))
        .map_or(&[][..], |method| &method.settings);
    // A row a setting, and below them what the one under the cursor takes.
    let area = layout::overlay(ui.model);
    let need = u16::try_from(known.len() + 5).unwrap_or(u16::MAX);
    let area = layout::centred(layout::screen(ui.model), area.width, area.height.min(need));
    let inner = over(ui, area, buffer, titles);
    let width = usize::from(inner.width);
    if known.is_empty() {
        let mut row = Row::new(ui, width);
        row.text("It has no settings.", Role::Muted);
        ui.line(inner, buffer, &row.line());
        return;
    }
    let list = Rect {
        height: inner.height.saturating_sub(3),
        ..inner
    };
    let mut rows = Vec::new();
    for (here, setting) in known.iter().enumerate() {
        let mut row = Row::new(ui, width);
        let name = (width / 4).clamp(8, 20);
        row.gap(1).left(&setting.name, name, Role::Text).gap(1);
        let value = if setting.value.is_empty() {
            "(empty)"
        } else {
            &setting.value
        };
        let role = if setting.problem.is_some() {
            Role::Error
        } else {
            Role::Accent
        };
        row.left(value, name, role)
            .gap(1)
            .text(&setting.help, Role::Muted);
        rows.push(if here == at {
            row.line_in(ui.style(Role::Selection))
        } else {
            row.line()
        });
    }
    ui.rows(
        list,
        buffer,
        &rows,
        (at + 1).saturating_sub(usize::from(list.height)),
    );
    let Some(setting) = known.get(at) else {
        return;
    };
    let mut hint = Row::new(ui, width);
    hint.gap(1)
        .text(&format!("takes {}", setting.kind.hint()), Role::Muted);
    let mut problem = Row::new(ui, width);
    if let Some(why) = &setting.problem {
        problem.gap(1).text(why, Role::Error);
    } else if !ui.model.picking.is_current() {
        problem
            .gap(1)
            .text("what would run is being worked out…", Role::Warn);
    } else {
        problem.gap(1);
    }
    for (row, y) in [problem.line(), hint.line()]
        .iter()
        .zip(inner.bottom().saturating_sub(2)..)
    {
        ui.line(
            Rect {
                y,
                height: 1,
                ..inner
            },
            buffer,
            row,
        );
    }
}
