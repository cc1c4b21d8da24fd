//! What the hosts do that have no place on the screen, in a line.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use crate::session::{RunStage, RunView};

use super::super::lanes::{Lane, lanes};
use super::super::layout::Beside;
use super::super::theme::Role;
use super::super::view::Ui;
use super::super::{estimate, format, signs, text};
use super::row::Row;

pub(crate) fn draw(ui: Ui<'_>, area: Rect, buffer: &mut Buffer, beside: &Beside<'_>) {
    let is_shown = |run: &RunView| beside.runs.iter().any(|shown| shown.run == run.run);
    let here = beside.runs.get(beside.focus);
    let shown_host = here.and_then(|run| ui.session.binding(&run.binding));
    let is_here = |lane: &Lane<'_>| {
        is_shown(lane.run)
            // An earlier run is looked at in the place of its host.
            || beside.runs.len() == 1 && shown_host.is_some_and(|binding| binding.host() == lane.host)
    };
    let mut all = lanes(ui.session);
    all.retain(|lane| !is_here(lane));
    // Those that need a look first, then those that work.
    all.sort_by_key(|lane| match lane.run.state {
        RunStage::Ended(end, _) if !end.is_good() => 0,
        RunStage::Running => 1,
        RunStage::Queued => 2,
        RunStage::Ended(..) => 3,
    });
    let mut row = Row::new(ui, usize::from(area.width).saturating_sub(1));
    for (at, lane) in all.iter().enumerate() {
        let sign = signs::of_run(&lane.run.state);
        let what = what(ui, lane.run);
        let need = text::width(lane.host) + text::width(&what) + 5;
        // The last cells are for the count of those that have no room.
        let reserved = if at + 1 < all.len() { 5 } else { 0 };
        if need + reserved > row.room() && at > 0 {
            row.whole(&format!("+{}", all.len() - at), Role::Muted);
            break;
        }
        row.gap(if at == 0 { 1 } else { 3 })
            .text(sign.glyph, sign.role)
            .gap(1)
            .text(lane.host, Role::Text)
            .gap(1)
            .text(&what, Role::Muted);
    }
    ui.line(area, buffer, &row.line());
}

/// What a run does, in a few words.
fn what(ui: Ui<'_>, run: &RunView) -> String {
    let binding = ui.session.binding(&run.binding);
    let method = binding.map_or("", |binding| binding.method.as_str());
    let is_going = run.state == RunStage::Running;
    let going = Some(run).filter(|_| is_going).and_then(RunView::going_on);
    let Some(step) = going else {
        return format!("{method} {}", signs::of_run(&run.state).word);
    };
    let percent = step.progress.as_ref().and_then(estimate::percent);
    let percent = percent.map_or_else(String::new, |percent| {
        format!(" {}", format::percent(percent))
    });
    let left = estimate::step_left(ui.session, run, step, ui.model.now);
    let left = left.map_or_else(String::new, |left| {
        format!(", {} left", format::rough(left.time.as_secs_f64()))
    });
    format!("{method}: {}{percent}{left}", step.planned.name)
}
