//! What fills the screen, and what lies over it.

mod chapters;
pub(super) mod comparing;
pub(super) mod dialog;
mod help;
mod notes;
mod palette;
pub(super) mod picking;
pub(super) mod projecting;
pub(super) mod recordings;
mod settings;
mod themes;
pub(super) mod watching;

use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use ratatui::text::Line;
use ratatui::widgets::{Clear, Widget};

use crate::session::Session;

use super::counted::Counted;
use super::format;
use super::keys::{Action, Context};
use super::layout;
use super::model::{Layer, Model};
use super::theme::Role;
use super::view::{Titles, Ui};
use super::widgets::command_bar;

/// Draws what lies over the screen; gives the cursor's place where it is typed into.
pub(super) fn layers(ui: Ui<'_>, buffer: &mut Buffer) -> Option<Position> {
    let mut cursor = None;
    for layer in &ui.model.layers {
        cursor = match layer {
            Layer::Help(scroll) => {
                text(ui, buffer, "Keys", &help::rows(ui), *scroll);
                None
            }
            Layer::Notes(scroll) => {
                text(
                    ui,
                    buffer,
                    "Warnings and remarks",
                    &notes::rows(ui),
                    *scroll,
                );
                None
            }
            Layer::Settings(form) => settings::draw(ui, buffer, form),
            Layer::Themes(all) => {
                themes::draw(ui, buffer, all);
                None
            }
            Layer::Chapters(at) => {
                chapters::draw(ui, buffer, *at);
                None
            }
            Layer::Palette(palette) => Some(palette::draw(ui, buffer, palette)),
            // The line is marked where it stands.
            Layer::Copying(_) => None,
            Layer::Dialog(dialog) => {
                dialog::draw(ui, buffer, dialog);
                None
            }
            Layer::Entry(entry) if command_bar::is_in_bar(entry) => None,
            Layer::Entry(entry) => Some(dialog::draw_entry(ui, buffer, entry)),
        };
    }
    cursor
}

/// Rows of text over the screen.
fn text(ui: Ui<'_>, buffer: &mut Buffer, title: &str, rows: &[Line<'_>], scroll: usize) {
    let area = layout::overlay(ui.model);
    let page = layout::overlay_height(ui.model);
    let titles = Titles {
        left: title,
        right: &format!(
            "{} closes",
            ui.model.keys.name(&[Context::Overlay], Action::Back)
        ),
        foot: &format::below(rows.len(), page + scroll),
    };
    let inner = over(ui, area, buffer, titles);
    ui.rows(inner, buffer, rows, scroll);
}

/// Takes away a character that stands on both sides of a column: half of it would hide what is
/// drawn over the other half.
fn part(ui: Ui<'_>, buffer: &mut Buffer, column: u16, y: u16) {
    let mut x = buffer.area.left();
    while x < column {
        let width = buffer
            .cell((x, y))
            .map_or(1, |cell| super::text::width(cell.symbol()));
        let next = x.saturating_add(u16::try_from(width.max(1)).unwrap_or(u16::MAX));
        for x in x..next {
            if next > column
                && let Some(cell) = buffer.cell_mut((x, y))
            {
                cell.set_symbol(" ").set_style(ui.style(Role::Text));
            }
        }
        x = next;
    }
}

/// A frame over what is there; gives what is inside.
fn over(ui: Ui<'_>, area: Rect, buffer: &mut Buffer, titles: Titles<'_>) -> Rect {
    for y in area.top()..area.bottom() {
        part(ui, buffer, area.left(), y);
        part(ui, buffer, area.right(), y);
    }
    Clear.render(area, buffer);
    buffer.set_style(area, ui.style(Role::Text));
    ui.pane(area, buffer, true, titles)
}

/// How many rows help or notes have.
pub(super) fn overlay_rows(model: &Model, session: &Session) -> usize {
    let figures = Counted::default();
    let ui = Ui {
        model,
        session,
        figures: &figures,
    };
    match model.layers.last() {
        Some(Layer::Help(_)) => help::rows(ui).len(),
        Some(Layer::Notes(_)) => notes::rows(ui).len(),
        _ => 0,
    }
}
