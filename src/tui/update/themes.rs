//! The theme that is in use, changed while the dashboard goes on.

use super::super::keys::Action;
use super::super::layout;
use super::super::message::ThemeWish;
use super::super::model::{Layer, Model, Themes};
use super::super::theme::Theme;
use super::picking;

/// Takes the themes that were read.
pub(super) fn take(model: &mut Model, wish: ThemeWish, all: Vec<Theme>, wrong: Vec<String>) {
    let at = all.iter().position(|theme| theme.name == model.theme.name);
    match wish {
        ThemeWish::Next => {
            let next = at.map_or(0, |at| (at + 1) % all.len().max(1));
            let Some(theme) = all.into_iter().nth(next) else {
                return;
            };
            model.say = Some(if theme.name == model.theme.name {
                "There is no other theme here: colours are off.".to_owned()
            } else {
                format!("Theme: {}", theme.name)
            });
            model.theme = theme;
        }
        ThemeWish::List => {
            let before = model.theme.clone();
            model.layers.push(Layer::Themes(Box::new(Themes {
                all,
                wrong,
                at: at.unwrap_or(0),
                before,
            })));
        }
    }
}

/// A key in the list of themes.
pub(super) fn act(model: &mut Model, action: Action) {
    let page = layout::overlay_height(model);
    let Some(Layer::Themes(themes)) = model.layers.last_mut() else {
        return;
    };
    match action {
        Action::Accept => {
            model.say = Some(format!(
                "Theme: {0}. To have it always: theme = \"{0}\" in config.toml",
                model.theme.name
            ));
            model.layers.pop();
        }
        Action::Back => {
            model.theme = themes.before.clone();
            model.layers.pop();
        }
        Action::NextTheme => at(model, |at, count| (at + 1) % count.max(1)),
        _ => at(model, |at, count| picking::moved(at, count, page, action)),
    }
}

/// Moves the cursor, and takes the theme under it.
fn at(model: &mut Model, moved: impl Fn(usize, usize) -> usize) {
    if let Some(Layer::Themes(themes)) = model.layers.last_mut() {
        themes.at = moved(themes.at, themes.all.len());
        if let Some(theme) = themes.all.get(themes.at) {
            model.theme = theme.clone();
        }
    }
}
