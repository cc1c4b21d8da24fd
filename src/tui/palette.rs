//! All that can be done in a place, to be found by typing a part of its name.

use crate::session::Session;

use super::keys::{Action, Bound};
use super::model::{Model, Palette};

/// The actions of the place below the palette that have all words that were typed, in their name,
/// their help or their keys; each once, the nearest first.
#[must_use]
pub fn shown(model: &Model, session: &Session, palette: &Palette) -> Vec<Bound> {
    let typed = palette.input.value().to_lowercase();
    let words: Vec<&str> = typed.split_whitespace().collect();
    let mut rows: Vec<Bound> = Vec::new();
    for row in model.keys.here(&model.contexts_below(session)) {
        let action = row.bind.action;
        let known = rows.iter_mut().find(|known| known.bind.action == action);
        match known {
            // `Ctrl-C` and `q` are one action.
            Some(known) => known.keys.extend(row.keys),
            None if action == Action::Palette => {}
            None => rows.push(row),
        }
    }
    rows.retain(|row| {
        let names = row.names();
        let text = format!("{} {} {names}", row.bind.action.name(), row.bind.help);
        let text = text.to_lowercase();
        words.iter().all(|word| text.contains(word))
    });
    // What has the words in its name comes before what has them in its help.
    let is_named = |row: &Bound| {
        words
            .iter()
            .all(|word| row.bind.action.name().contains(word))
    };
    rows.sort_by_key(|row| !is_named(row));
    rows
}
