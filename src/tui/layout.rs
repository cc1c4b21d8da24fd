//! Where everything stands, by the size of the terminal alone: nothing moves because something
//! happened.

use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::widgets::Block;

use crate::report::Stamps;
use crate::session::{RunView, Session};

use super::lanes;
use super::model::{Figures, Model, Pane, Screen};
use super::runlog;

mod picking;

pub use picking::{has_how_pane, picking};

/// Smaller than this, nothing can be read.
pub const LEAST: (u16, u16) = (40, 10);

/// From this width on, plan and steps stand side by side, and so do medians and bytes.
const WIDE: u16 = 100;

/// From this width on, lists have more room.
const VERY_WIDE: u16 = 160;

/// The least width of one of several hosts, and of one that leaves room for the plan.
const HOST: u16 = 50;
const HOST_AND_PLAN: u16 = 64;
/// More hosts than this do not stand side by side.
const MOST_HOSTS: u16 = 4;

/// Cells that a time in front of a log's line takes.
pub const TIME: usize = 14;

/// The whole terminal.
#[must_use]
pub fn screen(model: &Model) -> Rect {
    Rect::new(0, 0, model.size.0, model.size.1)
}

/// Rows inside a frame.
#[must_use]
pub fn inner_height(area: Rect) -> usize {
    usize::from(area.height.saturating_sub(2))
}

/// From so many rows on, a replay has a line of its own for its chapters.
const TIMELINE: u16 = 24;

/// Head, body and command bar of every screen. The head of a replay has two lines where there is
/// room.
#[must_use]
pub fn frame(model: &Model) -> [Rect; 3] {
    let is_replay =
        model.replay.is_some() && matches!(model.screen, Screen::Watching | Screen::Comparing);
    let head = if is_replay && model.size.1 >= TIMELINE {
        2
    } else {
        1
    };
    Layout::vertical([
        Constraint::Length(head),
        Constraint::Fill(1),
        Constraint::Length(1),
    ])
    .areas(screen(model))
}

/// The watching screen. What has no place is absent.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Watching {
    /// The plan in a line.
    pub plan_line: Option<Rect>,
    /// What the hosts do that have no place.
    pub others: Option<Rect>,
    /// The plan.
    pub plan: Option<Rect>,
    /// Steps, one area a run of [`beside`].
    pub steps: Vec<Rect>,
    /// Logs, the same.
    pub logs: Vec<Rect>,
    /// Which of them is looked at.
    pub focus: usize,
    /// Medians.
    pub medians: Option<Rect>,
    /// Bytes.
    pub bytes: Option<Rect>,
}

/// Where the panes of the watching screen stand.
#[must_use]
pub fn watching(model: &Model, session: &Session) -> Watching {
    let [_, body, _] = frame(model);
    let beside = beside(model, session);
    let mut all = all(model, body, Planned::of(session), &beside);
    all.focus = beside.focus;
    let pane = model.watching.pane;
    if model.watching.zoom || !all.has(pane) {
        return alone(pane, body);
    }
    all
}

/// How much there is to show, by the plan: it does not change while the session goes on.
#[derive(Clone, Copy)]
struct Planned {
    methods: u16,
    steps: u16,
}

impl Planned {
    fn of(session: &Session) -> Self {
        let bindings = session
            .header
            .as_ref()
            .map_or(&[][..], |header| &header.plan.bindings);
        let steps = bindings.iter().map(|binding| binding.steps.len()).max();
        let rows = |n: usize| u16::try_from(n).unwrap_or(u16::MAX / 2).min(u16::MAX / 2);
        Self {
            methods: rows(bindings.len()),
            steps: rows(steps.unwrap_or_default()).max(12),
        }
    }
}

fn alone(pane: Pane, body: Rect) -> Watching {
    let mut areas = Watching::default();
    match pane {
        Pane::Plan => areas.plan = Some(body),
        Pane::Steps => areas.steps = vec![body],
        Pane::Log => areas.logs = vec![body],
        Pane::Medians => areas.medians = Some(body),
        Pane::Bytes => areas.bytes = Some(body),
    }
    areas
}

impl Watching {
    fn has(&self, pane: Pane) -> bool {
        match pane {
            Pane::Plan => self.plan.is_some(),
            Pane::Steps => !self.steps.is_empty(),
            Pane::Log => !self.logs.is_empty(),
            Pane::Medians => self.medians.is_some(),
            Pane::Bytes => self.bytes.is_some(),
        }
    }

    /// The area of a pane; of the run that is looked at where there are several.
    #[must_use]
    pub fn area(&self, pane: Pane) -> Option<Rect> {
        match pane {
            Pane::Plan => self.plan,
            Pane::Steps => self.steps.get(self.focus).copied(),
            Pane::Log => self.logs.get(self.focus).copied(),
            Pane::Medians => self.medians,
            Pane::Bytes => self.bytes,
        }
    }
}

fn all(model: &Model, body: Rect, plan: Planned, beside: &Beside<'_>) -> Watching {
    let is_wide = body.width >= WIDE;
    let mut areas = Watching::default();
    let runs = beside.runs.len().max(1);
    let plan_width = if body.width >= VERY_WIDE { 44 } else { 34 };
    let each = body.width.saturating_sub(plan_width) / u16::try_from(runs).unwrap_or(1);
    let has_plan = is_wide && (runs == 1 || each >= HOST_AND_PLAN);
    let line = u16::from(!has_plan);
    let others = u16::from(beside.has_others && body.height >= 18);
    let left = body.height.saturating_sub(line + others);
    // What the plan needs, within what the terminal has.
    let figures = match left {
        0..17 => 0,
        // A method may have several series, and so rows.
        _ => (plan.methods + 6).clamp(7, (left / 3).max(7)),
    };
    let steps = match left {
        0..17 => left.saturating_sub(if left >= 10 { 5 } else { 3 }),
        _ => (plan.steps + 6).clamp(8, (left * 9 / 20).max(8)),
    };
    let [plan_line, others_line, top, log, bottom] = Layout::vertical([
        Constraint::Length(line),
        Constraint::Length(others),
        Constraint::Length(steps),
        Constraint::Fill(1),
        Constraint::Length(figures),
    ])
    .areas(body);
    areas.others = (others > 0).then_some(others_line);
    if has_plan {
        let [plan, steps] =
            Layout::horizontal([Constraint::Length(plan_width), Constraint::Fill(1)]).areas(top);
        areas.plan = Some(plan);
        areas.steps = columns(steps, runs);
    } else {
        areas.plan_line = Some(plan_line);
        areas.steps = columns(top, runs);
    }
    areas.logs = columns(log, runs);
    if is_wide {
        let [medians, bytes] =
            Layout::horizontal([Constraint::Fill(3), Constraint::Fill(2)]).areas(bottom);
        areas.medians = Some(medians);
        areas.bytes = Some(bytes);
    } else {
        match model.watching.figures {
            _ if figures == 0 => {}
            Figures::Medians => areas.medians = Some(bottom),
            Figures::Bytes => areas.bytes = Some(bottom),
        }
    }
    areas
}

fn columns(area: Rect, runs: usize) -> Vec<Rect> {
    Layout::horizontal(vec![Constraint::Fill(1); runs])
        .split(area)
        .to_vec()
}

/// Whether medians and bytes both have a place of their own.
#[must_use]
pub fn has_both_figures(model: &Model) -> bool {
    model.size.0 >= WIDE && !model.watching.zoom
}

/// Runs that are shown side by side.
#[derive(Debug, Clone, Default)]
pub struct Beside<'a> {
    /// The runs, one a host.
    pub runs: Vec<&'a RunView>,
    /// Which of them is looked at.
    pub focus: usize,
    /// Whether other hosts have no place.
    pub has_others: bool,
}

/// How many hosts there is room for side by side.
#[must_use]
pub fn room_beside(model: &Model) -> usize {
    if model.size.0 < WIDE {
        return 1;
    }
    usize::from((model.size.0 / HOST).min(MOST_HOSTS))
}

/// The runs that are shown side by side: one a host, as many as there is room for, the one that is
/// looked at among them. How many that are follows from plan and size alone.
#[must_use]
pub fn beside<'a>(model: &Model, session: &'a Session) -> Beside<'a> {
    let Some(here) = model.run(session) else {
        return Beside::default();
    };
    let lanes = lanes::lanes(session);
    let watching = &model.watching;
    let room = if watching.one || watching.zoom {
        1
    } else {
        room_beside(model).min(lanes.len()).max(1)
    };
    let at = lanes::place(session, &lanes, here);
    // Page by page, so that a step to the next host moves as little as possible.
    let from = (at / room * room).min(lanes.len().saturating_sub(room));
    let mut runs: Vec<&RunView> = lanes
        .iter()
        .skip(from)
        .take(room)
        .map(|lane| lane.run)
        .collect();
    match runs.get_mut(at - from) {
        Some(run) => *run = here,
        None => runs = vec![here],
    }
    Beside {
        focus: (at - from).min(runs.len() - 1),
        has_others: lanes.len() > runs.len(),
        runs,
    }
}

/// The window over a log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Page {
    /// Rows.
    pub height: usize,
    /// Cells of a line's text.
    pub width: usize,
    /// The same, where lines are wrapped.
    pub wrap: Option<usize>,
}

/// The parts of a log's pane.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LogParts {
    /// The command, where the log of its step is looked at alone; a line is drawn below it.
    pub head: Option<Rect>,
    /// The lines.
    pub lines: Rect,
}

/// The parts of a log's pane. A command takes no more than a third of it.
#[must_use]
pub fn log_parts(model: &Model, area: Rect, run: Option<&RunView>) -> LogParts {
    let inner = Block::bordered().inner(area);
    let alone = run.and_then(|run| run.steps.get(model.watching.log.alone_in(run)?));
    let Some(step) = alone.filter(|_| inner.height > 3) else {
        return LogParts {
            head: None,
            lines: inner,
        };
    };
    let need = runlog::command(step, usize::from(inner.width)).len();
    let most = (inner.height / 3).max(1);
    let height = u16::try_from(need).unwrap_or(u16::MAX).clamp(1, most);
    let [head, _, lines] = Layout::vertical([
        Constraint::Length(height),
        Constraint::Length(1),
        Constraint::Fill(1),
    ])
    .areas(inner);
    LogParts {
        head: Some(head),
        lines,
    }
}

/// The window over the log that has the keys.
#[must_use]
pub fn log_page(model: &Model, session: &Session) -> Page {
    let areas = watching(model, session);
    let area = areas.area(Pane::Log).unwrap_or_else(|| screen(model));
    page_in(model, log_parts(model, area, model.log_run(session)).lines)
}

/// The window over a log whose lines have an area.
#[must_use]
pub fn page_in(model: &Model, lines: Rect) -> Page {
    let time = match model.watching.log.times {
        Stamps::Off => 0,
        Stamps::OfDay | Stamps::SinceBegin | Stamps::SinceLast => TIME,
    };
    let width = usize::from(lines.width).saturating_sub(time).max(1);
    Page {
        height: usize::from(lines.height).max(1),
        width,
        wrap: model.watching.log.wrap.then_some(width),
    }
}

/// Rows inside a pane of the watching screen.
#[must_use]
pub fn pane_height(model: &Model, session: &Session, pane: Pane) -> usize {
    watching(model, session)
        .area(pane)
        .map_or(1, inner_height)
        .max(1)
}

/// The list of recordings, and what there is to know of the one under the cursor where there is
/// room for it.
#[must_use]
pub fn recordings(model: &Model) -> (Rect, Option<Rect>) {
    let [_, body, _] = frame(model);
    if body.height < 16 {
        return (body, None);
    }
    let detail = (body.height / 3).clamp(8, 16);
    let [list, detail] =
        Layout::vertical([Constraint::Fill(1), Constraint::Length(detail)]).areas(body);
    (list, Some(detail))
}

/// The area of help and notes.
#[must_use]
pub fn overlay(model: &Model) -> Rect {
    let all = screen(model);
    // The first and the last line stay: where the session is, and which keys there are.
    let height = all.height.saturating_sub(2).min(44);
    centred(all, all.width.min(100), height)
}

/// Rows inside help and notes.
#[must_use]
pub fn overlay_height(model: &Model) -> usize {
    inner_height(overlay(model)).max(1)
}

/// The rows of the palette, below the line that is typed into.
#[must_use]
pub fn palette_rows(model: &Model) -> Rect {
    let inner = Block::bordered().inner(overlay(model));
    Rect {
        y: inner.y + inner.height.min(1),
        height: inner.height.saturating_sub(1),
        ..inner
    }
}

/// How many rows of the palette are seen.
#[must_use]
pub fn palette_list(model: &Model) -> usize {
    usize::from(palette_rows(model).height).max(1)
}

/// The first row of a list that is seen, where the cursor's row is in sight.
#[must_use]
pub fn first(cursor: usize, height: usize) -> usize {
    (cursor + 1).saturating_sub(height)
}

/// An area of this size in the middle of another.
#[must_use]
pub fn centred(all: Rect, width: u16, height: u16) -> Rect {
    let (width, height) = (width.min(all.width), height.min(all.height));
    Rect {
        x: all.x + (all.width - width) / 2,
        y: all.y + (all.height - height) / 2,
        width,
        height,
    }
}
