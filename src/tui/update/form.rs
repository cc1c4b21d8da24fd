//! Keys of a method's settings: choices go round, other values are typed in place.

use crossterm::event::KeyEvent;

use super::super::keys::Action;
use super::super::layout;
use super::super::message::Effect;
use super::super::model::{Form, Layer, Model, Typing};
use super::super::offer::SettingOffer;
use super::{layers, picking};

pub(super) fn act(model: &mut Model, action: Action) -> Vec<Effect> {
    let page = layout::overlay_height(model);
    let known = settings(model);
    let Some(form) = form(model) else {
        return Vec::new();
    };
    if form.typing.is_some() {
        return match action {
            Action::Accept => accept(model),
            Action::Back => {
                form.typing = None;
                Vec::new()
            }
            _ => Vec::new(),
        };
    }
    let setting = known.get(form.at);
    match (action, setting) {
        (Action::Back, _) => {
            model.layers.pop();
        }
        (Action::Accept, Some(setting)) => match setting.step(1) {
            Some(next) => return set(model, Some(next)),
            None => {
                form.typing = Some(Typing {
                    input: setting.value.clone().into(),
                    problem: setting.problem.clone(),
                });
            }
        },
        (Action::Left | Action::Right, Some(setting)) => {
            let by = if action == Action::Right { 1 } else { -1 };
            if let Some(next) = setting.step(by) {
                return set(model, Some(next));
            }
        }
        (Action::Reset, Some(setting)) if setting.is_changed() => return set(model, None),
        _ => form.at = picking::moved(form.at, known.len(), page, action),
    }
    Vec::new()
}

/// A key that is part of a value; what it makes of it is checked at once.
pub(super) fn typed(model: &mut Model, event: KeyEvent) {
    if let Some(request) = layers::request(event)
        && let Some(typing) = form(model).and_then(|form| form.typing.as_mut())
    {
        layers::edit(&mut typing.input, request);
        check(model);
    }
}

/// Text that was pasted.
pub(super) fn pasted(model: &mut Model, text: &str) {
    if let Some(typing) = form(model).and_then(|form| form.typing.as_mut()) {
        layers::insert(&mut typing.input, text);
        check(model);
    }
}

fn form(model: &mut Model) -> Option<&mut Form> {
    match model.layers.last_mut() {
        Some(Layer::Settings(form)) => Some(form),
        _ => None,
    }
}

fn settings(model: &mut Model) -> Vec<SettingOffer> {
    let of = form(model).map(|form| form.of.clone());
    let offer = model.picking.offer.as_ref();
    of.and_then(|of| offer?.method(&of))
        .map_or_else(Vec::new, |method| method.settings.clone())
}

/// The value is read the way the method reads it.
fn check(model: &mut Model) {
    let known = settings(model);
    if let Some(form) = form(model)
        && let Some(typing) = &mut form.typing
        && let Some(setting) = known.get(form.at)
    {
        typing.problem = setting.kind.parse(typing.input.value()).err();
    }
}

fn accept(model: &mut Model) -> Vec<Effect> {
    check(model);
    let Some(typing) = form(model).and_then(|form| form.typing.as_ref()) else {
        return Vec::new();
    };
    // What is wrong stands below, and stays there until it is put right or given up.
    if typing.problem.is_some() {
        return Vec::new();
    }
    let value = typing.input.value().to_owned();
    set(model, Some(value))
}

fn set(model: &mut Model, value: Option<String>) -> Vec<Effect> {
    let known = settings(model);
    let Some(form) = form(model) else {
        return Vec::new();
    };
    form.typing = None;
    let Some(setting) = known.get(form.at) else {
        return Vec::new();
    };
    let (of, key) = (form.of.clone(), setting.name.clone());
    model.picking.revision += 1;
    vec![Effect::Set {
        revision: model.picking.revision,
        host: of.host,
        method: of.method,
        key,
        value: value.filter(|value| *value != setting.default),
    }]
}
