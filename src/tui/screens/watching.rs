//! What goes on: plan, steps, log, medians, bytes.

use ratatui::buffer::Buffer;

use super::super::layout;
use super::super::view::Ui;
use super::super::widgets::{bytes, log, medians, others, plan, steps};

/// Draws it.
pub(in super::super) fn draw(ui: Ui<'_>, buffer: &mut Buffer) {
    let areas = layout::watching(ui.model, ui.session);
    let beside = layout::beside(ui.model, ui.session);
    if let Some(area) = areas.plan_line {
        plan::draw_line(ui, area, buffer);
    }
    if let Some(area) = areas.others {
        others::draw(ui, area, buffer, &beside);
    }
    if let Some(area) = areas.plan {
        plan::draw(ui, area, buffer);
    }
    for (at, area) in areas.steps.iter().enumerate() {
        let place = steps::Place::of(&beside, at);
        steps::draw(ui, *area, buffer, beside.runs.get(at).copied(), place);
    }
    for (at, area) in areas.logs.iter().enumerate() {
        let run = if at == beside.focus {
            ui.model.log_run(ui.session)
        } else {
            beside.runs.get(at).copied()
        };
        log::draw(ui, *area, buffer, run);
    }
    if let Some(area) = areas.medians {
        medians::draw(ui, area, buffer);
    }
    if let Some(area) = areas.bytes {
        bytes::draw(ui, area, buffer);
    }
}
