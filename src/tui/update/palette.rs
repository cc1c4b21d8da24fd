//! Keys of the palette.

use tui_input::InputRequest;

use crate::session::Session;

use super::super::keys::Action;
use super::super::layout;
use super::super::message::Effect;
use super::super::model::{Layer, Model};
use super::super::palette::shown;
use super::picking::moved;

pub(super) fn act(model: &mut Model, session: &Session, action: Action) -> Vec<Effect> {
    let Some(Layer::Palette(palette)) = model.layers.last() else {
        return Vec::new();
    };
    let rows = shown(model, session, palette);
    let at = palette.at.min(rows.len().saturating_sub(1));
    match action {
        Action::Back => {
            model.layers.pop();
        }
        Action::Accept => {
            if let Some(row) = rows.get(at) {
                model.layers.pop();
                return super::act(model, session, row.bind.action);
            }
            model.say = Some("No action here has this in its name.".to_owned());
        }
        _ => {
            let to = match action {
                // Around the ends: it is a short list.
                Action::Up if at == 0 => rows.len().saturating_sub(1),
                Action::Down if at + 1 >= rows.len() => 0,
                _ => moved(at, rows.len(), layout::palette_list(model), action),
            };
            if let Some(Layer::Palette(palette)) = model.layers.last_mut() {
                palette.at = to;
            }
        }
    }
    Vec::new()
}

/// What is typed narrows the list.
pub(super) fn typed(model: &mut Model, request: InputRequest) {
    if let Some(Layer::Palette(palette)) = model.layers.last_mut() {
        palette.input.handle(request);
        palette.at = 0;
    }
}
