//! The plan: methods × repetitions, each with its state.

use std::collections::HashSet;

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
    let rows = Rows::of(ui, plan);
    let seen = rows.all.iter().skip(rows.first(area));
    let seen = seen.take(usize::from(inner.height));
    let lines = lines(ui, plan, seen, usize::from(inner.width));
    ui.rows(inner, buffer, &lines, 0);
}

/// The method that stands in a row of the pane.
pub(crate) fn binding_at(ui: Ui<'_>, area: Rect, at: Position) -> Option<BindingId> {
    let inner = Block::bordered().inner(area);
    if !inner.contains(at) {
        return None;
    }
    let plan = plan(ui)?;
    let rows = Rows::of(ui, plan);
    let row = rows.first(area) + usize::from(at.y - inner.y);
    match rows.all.get(row)? {
        Item::Title { .. } => None,
        Item::Method(at) => Some(plan.bindings.get(*at)?.id.clone()),
    }
}

/// A row of the plan; of which binding, by its place.
enum Item {
    /// What is protected, of which host; flag: whether it is the first one of its host.
    Title { of: usize, is_first: bool },
    /// A method and its runs.
    Method(usize),
}

/// The rows of a plan.
struct Rows {
    all: Vec<Item>,
    /// The row of the run that is looked at.
    here: usize,
}

impl Rows {
    fn of(ui: Ui<'_>, plan: &Plan) -> Self {
        let looked_at = ui.model.run(ui.session);
        let mut rows = Self {
            all: Vec::with_capacity(plan.bindings.len() * 2),
            here: 0,
        };
        let mut told = HashSet::new();
        let mut before: Option<&Binding> = None;
        for (of, binding) in plan.bindings.iter().enumerate() {
            let is_same = before.is_some_and(|before| {
                before.host() == binding.host()
                    && before.subject.kind == binding.subject.kind
                    && before.subject.id == binding.subject.id
            });
            if !is_same {
                let is_first = told.insert(binding.host());
                rows.all.push(Item::Title { of, is_first });
            }
            before = Some(binding);
            if looked_at.is_some_and(|run| run.binding == binding.id) {
                rows.here = rows.all.len();
            }
            rows.all.push(Item::Method(of));
        }
        rows
    }

    /// The first row that is seen.
    fn first(&self, area: Rect) -> usize {
        let height = layout::inner_height(area);
        let most = self.all.len().saturating_sub(height);
        (self.here + 2).saturating_sub(height).min(most)
    }
}

fn plan(ui: Ui<'_>) -> Option<&Plan> {
    ui.session.header.as_ref().map(|header| &header.plan)
}

fn summary(plan: &Plan) -> String {
    format!("{} × {}, {}", plan.bindings.len(), plan.reps, plan.order)
}

fn has_several_hosts(plan: &Plan) -> bool {
    let mut hosts = plan.bindings.iter().map(Binding::host);
    let first = hosts.next();
    hosts.any(|host| Some(host) != first)
}

fn lines<'a>(
    ui: Ui<'_>,
    plan: &Plan,
    rows: impl Iterator<Item = &'a Item>,
    width: usize,
) -> Vec<Line<'static>> {
    let looked_at = ui.model.run(ui.session);
    // Each machine has its own time left; of one alone the first line says it.
    let left = estimate::machines_left(ui.session, ui.model.now);
    let machines = estimate::machines(ui.session);
    let left = |host: &str| left.get(*machines.get(host)?).copied();
    let several = has_several_hosts(plan);
    let line = |item: &Item| {
        let mut row = Row::new(ui, width);
        match item {
            Item::Title { of, is_first } => {
                let binding = plan.bindings.get(*of)?;
                let title = format!("{}  {}", binding.host(), binding.subject);
                row.text(&title, Role::Muted);
                let is_told = several && *is_first;
                if let Some(left) = is_told.then(|| left(binding.host())).flatten() {
                    row.end(
                        &format!("≈{}", format::rough(left.as_secs_f64())),
                        Role::Accent,
                    );
                }
            }
            Item::Method(of) => {
                let binding = plan.bindings.get(*of)?;
                let is_here = looked_at.is_some_and(|run| run.binding == binding.id);
                row.gap(1);
                let name = text::width(&binding.method).min(16);
                let room = width.saturating_sub(name + 3);
                states(ui, &mut row, binding, looked_at, room);
                let role = if is_here { Role::Running } else { Role::Text };
                row.gap(1);
                let room = row.room().min(text::width(&binding.method));
                row.name(&binding.method, room, role);
            }
        }
        Some(row.line())
    };
    rows.filter_map(line).collect()
}

/// A sign a repetition; counted where there are too many.
fn states(
    ui: Ui<'_>,
    row: &mut Row<'_>,
    binding: &Binding,
    looked_at: Option<&RunView>,
    room: usize,
) {
    let runs = ui.session.runs_of(&binding.id);
    let runs: Vec<&RunView> = runs.filter(|run| !run.is_load()).collect();
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
    let several = has_several_hosts(plan);
    let label = |binding: &Binding| {
        if several {
            format!("{} on {}", binding.method, binding.host())
        } else {
            binding.method.clone()
        }
    };
    let need = |binding: &Binding| text::width(&label(binding)) + runs + 4;
    // Each needs at least a cell: more than these have no room whatever they are called.
    let front = plan.bindings.iter().take(width + 1);
    let first = if front.map(need).sum::<usize>() <= width {
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
        row.gap(1);
        let room = row.room().min(text::width(&label(binding)));
        row.name(&label(binding), room, role);
    }
    if let Some(left) = estimate::session_left(ui.session, ui.model.now) {
        row.end(&format!("{} ", left.how), Role::Muted);
    }
    ui.line(area, buffer, &row.line());
}
