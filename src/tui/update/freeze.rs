//! Freezing the screen, and letting it go on.

use std::sync::Arc;

use crate::session::Session;

use super::super::freeze::Frozen;
use super::super::keys::Action;
use super::super::message::{Effect, Player};
use super::super::model::Model;

/// Freezes the screen, or lets it go on.
pub(super) fn freeze(model: &mut Model, session: &Session) {
    if !thaw(model) {
        model.frozen = Some(Frozen::of(session, model.now).with(model.replay.clone()));
    }
}

/// Lets the screen go on; says whether it stood still.
pub(super) fn thaw(model: &mut Model) -> bool {
    let Some(frozen) = model.frozen.take() else {
        return false;
    };
    model.now = frozen.now;
    true
}

/// What an action looks at where that is not the session as it is now. What acts on the session
/// looks at it as it is.
pub(super) fn shown(model: &Model, action: Action) -> Option<Arc<Session>> {
    match action {
        Action::Stop | Action::Pause | Action::Quit => None,
        _ => seen(model),
    }
}

/// What is on the screen where that is not the session as it is now.
pub(super) fn seen(model: &Model) -> Option<Arc<Session>> {
    Some(Arc::clone(&model.frozen.as_ref()?.session))
}

/// Who acts wants to see what comes of it.
pub(super) fn after(model: &mut Model, effects: &[Effect]) {
    let acts = |effect: &Effect| {
        matches!(
            effect,
            Effect::Stop
                | Effect::Start(_)
                | Effect::Replay(Player::Seek(_) | Player::Step(_))
                | Effect::Open(_)
                | Effect::CloseReplay
        )
    };
    if effects.iter().any(acts) {
        thaw(model);
    }
}
