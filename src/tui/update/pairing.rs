//! Methods of which two also run at once.

use crate::event::First;

use super::super::keys::{Action, Context};
use super::super::model::{Model, Picking};

/// Makes a pair of the method under the cursor and the one that was marked before; marks it where none was, and takes a pair
/// apart.
pub(super) fn pair(model: &mut Model) {
    let Some(method) = model.picking.current() else {
        return;
    };
    if let Err(why) = &method.runnable {
        model.say = Some(format!(
            "{} cannot run on {}: {why}",
            method.name, method.host
        ));
        return;
    }
    let picked = method.picked();
    let picking = &mut model.picking;
    picking.picked.insert(picked.clone());
    if let Some(at) = picking
        .together
        .iter()
        .position(|pair| pair.contains(&picked))
    {
        let [one, other] = picking.together.remove(at);
        model.say = Some(format!(
            "{} and {} run one after the other alone.",
            one.method, other.method
        ));
        return;
    }
    match picking.half.take() {
        Some(half) if half == picked => model.say = None,
        Some(half) if half.host == picked.host => {
            model.say = Some(format!(
                "{} and {}: each alone, and both at once.",
                half.method, picked.method
            ));
            picking.together.push([half, picked]);
        }
        _ => {
            let says = "makes a pair of it with the method under the cursor.";
            let keys = model.keys.says(Context::Methods, Action::AtOnce, says);
            model.say = Some(
                format!("{}: at once with which other one? {keys}", picked.method)
                    .trim_end()
                    .to_owned(),
            );
            model.picking.half = Some(picked);
        }
    }
}

/// What the one does that is done first.
pub(super) fn first(picking: &mut Picking) {
    picking.first = match picking.first {
        First::Waits => First::Restarts,
        First::Restarts => First::Waits,
    };
}

/// Keeps pairs of what is picked.
pub(super) fn keep(picking: &mut Picking) {
    let Picking {
        picked,
        together,
        half,
        ..
    } = picking;
    together.retain(|pair| pair.iter().all(|one| picked.contains(one)));
    half.take_if(|half| !picked.contains(half));
}
