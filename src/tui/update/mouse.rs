//! The mouse: the wheel scrolls what is under it, a click puts the cursor there. A click never does
//! more than that: what destroys or decides takes a key.

use crossterm::event::{MouseButton, MouseEvent, MouseEventKind};
use ratatui::layout::{Position, Rect};

use crate::session::Session;

use super::super::keys::{Action, Context};
use super::super::layout;
use super::super::message::Effect;
use super::super::model::{Layer, Model, Pane, PickPane, Screen};
use super::super::palette;
use super::super::runlog::RunLog;
use super::{act, log, watching};

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
                model.watching.pane = under;
            }
            Screen::Picking => {
                let Some(under) = pick_pane_at(model, at) else {
                    return Vec::new();
                };
                model.picking.pane = under;
            }
            Screen::Comparing => {}
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
    match model.layers.last_mut() {
        Some(Layer::Palette(_)) => {
            let rows = layout::palette_rows(model);
            if let Some(Layer::Palette(known)) = model.layers.last() {
                let len = palette::shown(model, session, known).len();
                if let Some(row) = row_at(rows, known.at.min(len.saturating_sub(1)), len, at)
                    && let Some(Layer::Palette(palette)) = model.layers.last_mut()
                {
                    palette.at = row;
                }
            }
        }
        _ => {}
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
