//! The table, with the keys that the operator gave.

use std::sync::Arc;

use crossterm::event::{KeyEvent, KeyEventKind, KeyModifiers};

use super::changes::{self, Change, KeysError};
use super::{Action, Bind, Chord, Context, KEYS};

/// A row of the table with the keys that it has.
#[derive(Debug, Clone)]
pub struct Bound {
    /// The row.
    pub bind: &'static Bind,
    /// Its keys.
    pub keys: Vec<Chord>,
}

impl Bound {
    /// Its keys, as help shows them.
    #[must_use]
    pub fn names(&self) -> String {
        let names: Vec<String> = self.keys.iter().map(Chord::to_string).collect();
        names.join(" ")
    }
}

/// All keys.
#[derive(Debug, Clone)]
pub struct Keymap {
    rows: Arc<[Bound]>,
}

impl Default for Keymap {
    fn default() -> Self {
        let rows = KEYS.iter().map(|bind| Bound {
            bind,
            keys: bind.keys.to_vec(),
        });
        Self {
            rows: rows.collect(),
        }
    }
}

impl Keymap {
    /// The table with changes.
    ///
    /// # Errors
    /// [`KeysError`]: the line of a change, and what is wrong with it.
    pub fn new(wanted: &[Change<'_>]) -> Result<Self, KeysError> {
        let mut rows = Self::default().rows.to_vec();
        changes::apply(&mut rows, wanted)?;
        Ok(Self { rows: rows.into() })
    }

    /// All rows, in the order of the table.
    #[must_use]
    pub fn all(&self) -> &[Bound] {
        &self.rows
    }

    /// What a key does where these contexts hold, the nearest first.
    #[must_use]
    pub fn resolve(&self, contexts: &[Context], event: KeyEvent) -> Option<Action> {
        if event.kind == KeyEventKind::Release || event.modifiers.contains(KeyModifiers::ALT) {
            return None;
        }
        let chord = Chord::from(event);
        let rows = self.rows(contexts).find(|row| row.keys.contains(&chord));
        rows.map(|row| row.bind.action)
    }

    /// The rows of these contexts, the nearest first.
    pub fn rows(&self, contexts: &[Context]) -> impl Iterator<Item = &Bound> {
        contexts.iter().flat_map(|context| {
            self.rows
                .iter()
                .filter(move |row| row.bind.context == *context)
        })
    }

    /// The rows of these contexts that can be had, each with the keys that no nearer row takes.
    #[must_use]
    pub fn here(&self, contexts: &[Context]) -> Vec<Bound> {
        let mut taken: Vec<Chord> = Vec::new();
        let mut rows = Vec::new();
        for row in self.rows(contexts) {
            let mut keys = row.keys.clone();
            keys.retain(|key| !taken.contains(key));
            taken.extend(&keys);
            rows.push(Bound {
                bind: row.bind,
                keys,
            });
        }
        rows
    }

    /// The first key of an action anywhere, by name; empty where it has none.
    #[must_use]
    pub fn any(&self, action: Action) -> String {
        let mut rows = self.rows.iter().filter(|row| row.bind.action == action);
        rows.find_map(|row| row.keys.first())
            .map_or_else(String::new, Chord::to_string)
    }

    /// What the first key of an action does there, as `s saves all`; empty where it has no key.
    #[must_use]
    pub fn says(&self, context: Context, action: Action, does: &str) -> String {
        match self.name(&[context], action) {
            key if key.is_empty() => key,
            key => format!("{key} {does}"),
        }
    }

    /// The first key of an action, by name, in the contexts given; empty where it has none.
    #[must_use]
    pub fn name(&self, contexts: &[Context], action: Action) -> String {
        self.rows(contexts)
            .find(|row| row.bind.action == action)
            .and_then(|row| row.keys.first())
            .map_or_else(String::new, Chord::to_string)
    }
}
