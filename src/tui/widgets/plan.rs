//! The plan: methods × repetitions, each with its state.

use std::collections::BTreeSet;

use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use ratatui::text::Line;
use ratatui::widgets::Block;

use crate::event::{Binding, BindingId, Plan};
use crate::session::{RunStage, RunView};

use super::super::model::Pane;
use super::super::theme::Role;
use super::super::view::{Titles, Ui};
use super::super::{estimate, format, layout, signs, text};
use super::row::Row;

/// The pane.
pub(crate) fn draw(ui: Ui<'_>, area: Rect, buffer: &mut Buffer) {
    let Some(plan) = plan(ui) else {
        let titles = Titles {
            left: "Plan",
            ..Titles::default()
        };
        ui.pane(area, buffer, ui.model.watching.pane == Pane::Plan, titles);
        return;
    };
    let how = estimate::session_left(ui.session, ui.model.now).map(|left| left.how);
    let titles = Titles {
        left: "Plan",
        right: &summary(plan),
        foot: how.as_deref().unwrap_or_default(),
    };
    let inner = ui.pane(area, buffer, ui.model.watching.pane == Pane::Plan, titles);
    let rows = rows(ui, plan, usize::from(inner.width));
    ui.rows(inner, buffer, &rows.lines, rows.first(area));
}

/// The method that stands in a row of the pane.
pub(crate) fn binding_at(ui: Ui<'_>, area: Rect, at: Position) -> Option<BindingId> {
    let inner = Block::bordered().inner(area);
    if !inner.contains(at) {
        return None;
    }
    let rows = rows(ui, plan(ui)?, usize::from(inner.width));
    let row = rows.first(area) + usize::from(at.y - inner.y);
    rows.bindings.get(row).cloned().flatten()
}

/// The rows of a plan.
struct Rows {
    lines: Vec<Line<'static>>,
    /// The row of the run that is looked at.
    here: usize,
    /// The method of each row that has one.
    bindings: Vec<Option<BindingId>>,
}

impl Rows {
    /// The first row that is seen.
    fn first(&self, area: Rect) -> usize {
        let height = layout::inner_height(area);
        let most = self.lines.len().saturating_sub(height);
        (self.here + 2).saturating_sub(height).min(most)
    }
}

fn plan(ui: Ui<'_>) -> Option<&Plan> {
    ui.session.header.as_ref().map(|header| &header.plan)
}

fn summary(plan: &Plan) -> String {
    format!("{} × {}, {}", plan.bindings.len(), plan.reps, plan.order)
}

fn rows(ui: Ui<'_>, plan: &Plan, width: usize) -> Rows {
    let looked_at = ui.model.run(ui.session);
    let mut rows = Vec::new();
    let mut bindings = Vec::new();
    let mut at = 0;
    let mut group = String::new();
    // Each machine has its own time left; of one alone the first line says it.
    let left = estimate::machines_left(ui.session, ui.model.now);
    let machines = estimate::machines(ui.session);
    let left = |host: &str| left.get(*machines.get(host)?).copied();
    let mut hosts: Vec<&str> = plan.bindings.iter().map(Binding::host).collect();
    hosts.dedup();
    let several = hosts.iter().any(|host| Some(host) != hosts.first());
    let mut told = BTreeSet::new();
    for binding in &plan.bindings {
        let title = format!("{}  {}", binding.host(), binding.subject);
        if title != group {
            let mut row = Row::new(ui, width);
            row.text(&title, Role::Muted);
            let is_first = several && told.insert(binding.host());
            if let Some(left) = is_first.then(|| left(binding.host())).flatten() {
                row.end(
                    &format!("≈{}", format::rough(left.as_secs_f64())),
                    Role::Accent,
                );
            }
            rows.push(row.line());
            group = title;
        }
        let is_here = looked_at.is_some_and(|run| run.binding == binding.id);
        if is_here {
            at = rows.len();
        }
        let mut row = Row::new(ui, width);
        row.gap(1);
        let name = text::width(&binding.method).min(16);
        let room = width.saturating_sub(name + 3);
        states(ui, &mut row, binding, looked_at, room);
        let role = if is_here { Role::Running } else { Role::Text };
        row.gap(1).text(&binding.method, role);
        bindings.resize(rows.len(), None);
        bindings.push(Some(binding.id.clone()));
        rows.push(row.line());
    }
    Rows {
        lines: rows,
        here: at,
        bindings,
    }
}

/// A sign a repetition; counted where there are too many.
fn states(
    ui: Ui<'_>,
    row: &mut Row<'_>,
    binding: &Binding,
    looked_at: Option<&RunView>,
    room: usize,
) {
    let mut runs: Vec<&RunView> = ui
        .session
        .runs
        .iter()
        .filter(|run| run.binding == binding.id)
        .collect();
    runs.sort_by_key(|run| run.rep);
    let gap = usize::from(runs.len() * 2 <= room);
    if runs.len() > room {
        let count =
            |test: fn(&RunStage) -> bool| runs.iter().filter(|run| test(&run.state)).count();
        let good = count(|state| matches!(state, RunStage::Ended(end, _) if end.is_good()));
        let bad = count(|state| matches!(state, RunStage::Ended(end, _) if !end.is_good()));
        row.text(&format!("{good}✓"), Role::Ok);
        if bad > 0 {
            row.text(&format!(" {bad}✗"), Role::Error);
        }
        if count(|state| *state == RunStage::Running) > 0 {
            row.text(&format!(" {}", signs::RUNNING.glyph), signs::RUNNING.role);
        }
        row.text(&format!(" of {} ", runs.len()), Role::Muted);
        return;
    }
    for run in runs {
        let sign = signs::of_run(&run.state);
        let mut style = ui.style(sign.role);
        let is_chosen =
            ui.model.watching.run.is_some() && looked_at.is_some_and(|at| at.run == run.run);
        if is_chosen {
            style = style.patch(ui.style(Role::Selection));
        }
        row.styled(sign.glyph, style).gap(gap);
    }
}

/// The plan in one line, for a narrow terminal: the methods from the one that goes on.
pub(crate) fn draw_line(ui: Ui<'_>, area: Rect, buffer: &mut Buffer) {
    let Some(plan) = plan(ui) else {
        return;
    };
    let width = usize::from(area.width).saturating_sub(1);
    let looked_at = ui.model.run(ui.session);
    let here = plan
        .bindings
        .iter()
        .position(|binding| looked_at.is_some_and(|run| run.binding == binding.id))
        .unwrap_or_default();
    let runs = plan.reps as usize;
    let hosts = plan.bindings.iter().map(Binding::host);
    let label = |binding: &Binding| {
        if hosts.clone().any(|host| host != binding.host()) {
            format!("{} on {}", binding.method, binding.host())
        } else {
            binding.method.clone()
        }
    };
    let need = |binding: &Binding| text::width(&label(binding)) + runs + 4;
    let first = if plan.bindings.iter().map(need).sum::<usize>() <= width {
        0
    } else {
        here
    };
    let mut row = Row::new(ui, width);
    for (at, binding) in plan.bindings.iter().enumerate().skip(first) {
        if need(binding) > row.room() && at > first {
            row.whole(&format!("+{}", plan.bindings.len() - at), Role::Muted);
            break;
        }
        row.gap(if at == first { 1 } else { 3 });
        let room = row
            .room()
            .saturating_sub(text::width(&label(binding)) + 1)
            .min(runs * 2 - runs.min(1));
        states(ui, &mut row, binding, looked_at, room.min(runs.max(8)));
        let role = if at == here {
            Role::Running
        } else {
            Role::Text
        };
        row.gap(1).text(&label(binding), role);
    }
    if let Some(left) = estimate::session_left(ui.session, ui.model.now) {
        row.end(&format!("{} ", left.how), Role::Muted);
    }
    ui.line(area, buffer, &row.line());
}
