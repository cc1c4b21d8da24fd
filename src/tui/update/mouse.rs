//! The mouse: the wheel scrolls what is under it, a click puts the cursor there. A click never does
//! more than that: what destroys or decides takes a key.

use crossterm::event::{MouseButton, MouseEvent, MouseEventKind};
use ratatui::layout::{Position, Rect};
use ratatui::widgets::Block;

use crate::event::RunId;
use crate::session::{RunStage, RunView, Session};

use super::super::counted::Counted;
use super::super::keys::{Action, Context};
use super::super::layout;
use super::super::message::Effect;
use super::super::model::{Layer, Model, Pane, PickPane, Screen};
use super::super::palette;
use super::super::runlog::{At, RunLog};
use super::super::screens::{self, dialog};
use super::super::view::Ui;
use super::super::widgets::{plan, steps};
use super::{act, copying, log};

/// Rows that a turn of the wheel moves by.
const WHEEL: usize = 3;

/// Takes the mouse, or leaves it to the terminal.
pub(super) fn turn(model: &mut Model) -> Vec<Effect> {
    model.mouse = !model.mouse;
    let key = model.keys.name(&[Context::Everywhere], Action::Mouse);
    model.say = Some(if model.mouse {
        format!(
            "The wheel scrolls, a click puts the cursor. {key} gives the mouse back to the terminal, to select text."
        )
    } else {
        format!(
            "The mouse selects text, as in any terminal. {key} makes it scroll and click again."
        )
    });
    vec![Effect::Mouse(model.mouse)]
}

/// Takes a click or a turn of the wheel.
pub(super) fn take(model: &mut Model, session: &Session, event: MouseEvent) -> Vec<Effect> {
    let at = Position::new(event.column, event.row);
    match event.kind {
        MouseEventKind::ScrollUp => wheel(model, session, at, Action::Up),
        MouseEventKind::ScrollDown => wheel(model, session, at, Action::Down),
        MouseEventKind::Down(MouseButton::Left) => {
            model.say = None;
            click(model, session, at);
            Vec::new()
        }
        _ => Vec::new(),
    }
}

/// Scrolls what is under the pointer; the pane that has the keys keeps them.
fn wheel(model: &mut Model, session: &Session, at: Position, action: Action) -> Vec<Effect> {
    if matches!(
        model.layers.last(),
        Some(Layer::Dialog(_) | Layer::Entry(_))
    ) {
        return Vec::new();
    }
    let (pane, picking) = (model.watching.pane, model.picking.pane);
    if model.layers.is_empty() {
        match model.screen {
            Screen::Watching => {
                let Some(under) = pane_at(model, session, at) else {
                    return Vec::new();
                };
                focus(model, session, at);
                model.watching.pane = under;
            }
            Screen::Picking => {
                let Some(under) = pick_pane_at(model, at) else {
                    return Vec::new();
                };
                model.picking.pane = under;
            }
            Screen::Comparing | Screen::Projecting | Screen::Recordings => {}
        }
    }
    let effects = (0..WHEEL)
        .flat_map(|_| act(model, session, action))
        .collect();
    model.watching.pane = pane;
    model.picking.pane = picking;
    effects
}

fn click(model: &mut Model, session: &Session, at: Position) {
    match model.layers.last() {
        Some(Layer::Palette(known)) => {
            let len = palette::shown(model, session, known).len();
            let cursor = known.at.min(len.saturating_sub(1));
            let row = row_at(layout::palette_rows(model), cursor, len, at);
            if let (Some(row), Some(Layer::Palette(palette))) = (row, model.layers.last_mut()) {
                palette.at = row;
            }
        }
        Some(Layer::Dialog(dialog)) => {
            let places = dialog::choices(model, dialog);
            let choice = places.iter().position(|place| place.contains(at));
            if let (Some(choice), Some(Layer::Dialog(dialog))) = (choice, model.layers.last_mut()) {
                dialog.at = choice;
            }
        }
        Some(Layer::Copying(_)) => {
            let line = line_at(model, session, at);
            if let (Some(line), Some(Layer::Copying(copying))) = (line, model.layers.last_mut()) {
                copying.at = line;
            }
        }
        Some(_) => {}
        None => match model.screen {
            Screen::Watching => watching(model, session, at),
            Screen::Picking => picking(model, at),
            Screen::Comparing | Screen::Projecting => {}
            Screen::Recordings => {
                let rows = Block::bordered().inner(layout::recordings(model).0);
                let len = model.recordings.shown(model.zone).len();
                if let Some(row) = row_at(rows, model.recordings.at, len, at) {
                    model.recordings.at = row;
                }
            }
        },
    }
}

fn watching(model: &mut Model, session: &Session, at: Position) {
    let Some(pane) = pane_at(model, session, at) else {
        return;
    };
    let moved = focus(model, session, at);
    let had_keys = model.watching.pane == pane && !moved;
    let step = step_at(model, session, at);
    let run = run_at(model, session, at);
    if !had_keys {
        super::watching::enter(model, pane);
    }
    if let Some((run, step)) = step {
        super::watching::choose(model, run, step);
    }
    if let Some(run) = run {
        super::watching::look_at(model, session, run);
    }
    // The first click only says which pane is meant.
    if pane == Pane::Log
        && had_keys
        && let Some(line) = line_at(model, session, at)
    {
        copying::begin(model, session);
        if let Some(Layer::Copying(copying)) = model.layers.last_mut() {
            copying.at = line;
        }
    }
}

/// To the host under the pointer, of those side by side; says whether that is another one.
fn focus(model: &mut Model, session: &Session, at: Position) -> bool {
    let areas = layout::watching(model, session);
    let has = |area: &Rect| area.contains(at);
    let steps = areas.steps.iter().position(has);
    let under = steps.or_else(|| areas.logs.iter().position(has));
    let beside = layout::beside(model, session);
    let run = under.filter(|under| *under != beside.focus && beside.runs.len() > 1);
    let run = run.and_then(|under| beside.runs.get(under));
    let place = run.and_then(|run| session.runs.iter().position(|view| view.run == run.run));
    if let Some(place) = place {
        super::watching::look_at(model, session, place);
    }
    place.is_some()
}

/// The step under the pointer.
fn step_at(model: &Model, session: &Session, at: Position) -> Option<(RunId, usize)> {
    let figures = Counted::default();
    let ui = Ui {
        model,
        session,
        figures: &figures,
    };
    let areas = layout::watching(model, session).steps;
    let beside = layout::beside(model, session);
    let runs = beside.runs.iter().enumerate();
    areas
        .into_iter()
        .zip(runs)
        .find_map(|(area, (place, run))| {
            let step = steps::step_at(ui, area, run, steps::Place::of(&beside, place), at)?;
            Some((run.run.clone(), step))
        })
}

/// The run under the pointer, by its place among all: of the method in a row of the plan the one
/// that began last, or the first that is to come.
fn run_at(model: &Model, session: &Session, at: Position) -> Option<usize> {
    let figures = Counted::default();
    let ui = Ui {
        model,
        session,
        figures: &figures,
    };
    let area = layout::watching(model, session).plan?;
    let binding = plan::binding_at(ui, area, at)?;
    let runs = || session.runs.iter().enumerate();
    let is_of = |run: &RunView| run.binding == binding;
    let began = |run: &RunView| is_of(run) && run.state != RunStage::Queued;
    runs()
        .rev()
        .find(|(_, run)| began(run))
        .or_else(|| runs().find(|(_, run)| is_of(run)))
        .map(|(place, _)| place)
}

/// The line of the log under the pointer.
fn line_at(model: &Model, session: &Session, at: Position) -> Option<At> {
    let area = layout::watching(model, session).area(Pane::Log)?;
    let run = model.log_run(session)?;
    let lines = layout::log_parts(model, area, Some(run)).lines;
    if !lines.contains(at) || run.steps.is_empty() {
        return None;
    }
    let log = RunLog::seen(session, run, &model.watching.log);
    let page = layout::log_page(model, session);
    let top = log::top(model, session, &log);
    let line = log.down(top, usize::from(at.y - lines.y), page.wrap);
    Some(At { row: 0, ..line })
}

fn picking(model: &mut Model, at: Position) {
    let Some(pane) = pick_pane_at(model, at) else {
        return;
    };
    let areas = layout::picking(model);
    let method = screens::picking::method_at(model, at);
    let picking = &mut model.picking;
    picking.pane = pane;
    match pane {
        PickPane::Hosts => {
            let len = picking.offer.as_ref().map_or(0, |offer| offer.hosts.len());
            let rows = Block::bordered().inner(areas.hosts);
            if let Some(row) = row_at(rows, picking.host, len, at)
                && row != picking.host
            {
                super::picking::to_host(picking, row);
            }
        }
        PickPane::Subject => {
            let len = picking.host().map_or(0, |host| host.subjects.len() + 1);
            let rows = Block::bordered().inner(areas.subject);
            if let Some(row) = row_at(rows, picking.subject, len, at) {
                picking.subject = row;
            }
        }
        PickPane::Methods => {
            if let Some(method) = method {
                picking.method = method;
                picking.scroll = 0;
            }
        }
        PickPane::Preview => {}
    }
}

/// The pane of the watching screen under the pointer.
fn pane_at(model: &Model, session: &Session, at: Position) -> Option<Pane> {
    let areas = layout::watching(model, session);
    let has = |area: &Rect| area.contains(at);
    if areas.steps.iter().any(has) {
        Some(Pane::Steps)
    } else if areas.logs.iter().any(has) {
        Some(Pane::Log)
    } else {
        [Pane::Plan, Pane::Medians, Pane::Bytes]
            .into_iter()
            .find(|pane| areas.area(*pane).is_some_and(|area| area.contains(at)))
    }
}

fn pick_pane_at(model: &Model, at: Position) -> Option<PickPane> {
    let areas = layout::picking(model);
    [
        (areas.hosts, PickPane::Hosts),
        (areas.subject, PickPane::Subject),
        (areas.methods, PickPane::Methods),
        (areas.preview, PickPane::Preview),
    ]
    .into_iter()
    .find(|(area, _)| area.contains(at))
    .map(|(_, pane)| pane)
}

/// The row of a list under the pointer, where the list keeps its cursor's row in sight.
fn row_at(rows: Rect, cursor: usize, len: usize, at: Position) -> Option<usize> {
    let first = layout::first(cursor, usize::from(rows.height));
    let row = first + usize::from(at.y.checked_sub(rows.y)?);
    (rows.contains(at) && row < len).then_some(row)
}
