//! Keys of the operator's own: what the configuration may change, and what it may not.

use super::{Action, Bound, Chord, Context};

/// One line of `[keys]` in the configuration.
#[derive(Debug, Clone, Copy)]
pub struct Change<'a> {
    /// Line in the file, from 1.
    pub line: usize,
    /// The context that was named, as in `[keys.replay]`.
    pub context: Option<&'a str>,
    /// Name of the action.
    pub action: &'a str,
    /// Names of the keys that it gets instead of those it has.
    pub keys: &'a [String],
}

/// What is wrong with a change.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {why}")]
pub struct KeysError {
    /// Line in the file, from 1.
    pub line: usize,
    /// What is wrong, and what is expected.
    pub why: String,
}

/// Where a line is typed, most keys are text: keys there are changed only where they are named.
const BY_NAME_ONLY: [Context; 3] = [Context::Entry, Context::Palette, Context::Always];

/// Nobody gets out of a place that has lost one of these.
const ESSENTIAL: [Action; 3] = [Action::Accept, Action::Back, Action::Quit];

pub(super) fn apply(rows: &mut [Bound], wanted: &[Change<'_>]) -> Result<(), KeysError> {
    // The line that gave a row its keys.
    let mut lines: Vec<Option<usize>> = vec![None; rows.len()];
    // What is said for one context holds against what is said for all.
    let is_special = |change: &&Change<'_>| change.context.is_some();
    let (special, all): (Vec<&Change<'_>>, Vec<&Change<'_>>) = wanted.iter().partition(is_special);
    for change in all.into_iter().chain(special) {
        let fail = |why: String| KeysError {
            line: change.line,
            why,
        };
        let context = context(change).map_err(fail)?;
        let places = places(rows, change, context).map_err(fail)?;
        let keys = keys(change).map_err(fail)?;
        for place in places {
            if let (Some(row), Some(line)) = (rows.get_mut(place), lines.get_mut(place)) {
                row.keys.clone_from(&keys);
                *line = Some(change.line);
            }
        }
    }
    for (place, row) in rows.iter().enumerate() {
        let line = lines.get(place).copied().flatten();
        let problem = twice(rows, place)
            .or_else(|| lost(rows, row).map(|why| (place, why)))
            .or_else(|| text(row).map(|why| (place, why)));
        if let Some((other, why)) = problem {
            let line = line.max(lines.get(other).copied().flatten());
            return Err(KeysError {
                line: line.unwrap_or(1),
                why,
            });
        }
    }
    Ok(())
}

fn context(change: &Change<'_>) -> Result<Option<Context>, String> {
    let Some(name) = change.context else {
        return Ok(None);
    };
    let known = Context::ALL.iter().find(|context| context.name() == name);
    known.copied().map(Some).ok_or_else(|| {
        let names: Vec<&str> = Context::ALL.iter().map(|context| context.name()).collect();
        format!(
            "[keys.{name}]: expected the name of an action or one of {}",
            names.join(", ")
        )
    })
}

/// The rows that a change is about.
fn places(
    rows: &[Bound],
    change: &Change<'_>,
    context: Option<Context>,
) -> Result<Vec<usize>, String> {
    let is_meant = |row: &Bound| {
        row.bind.action.name() == change.action
            && match context {
                Some(context) => row.bind.context == context,
                None => !BY_NAME_ONLY.contains(&row.bind.context),
            }
    };
    let places: Vec<usize> = (0..rows.len())
        .filter(|place| rows.get(*place).is_some_and(is_meant))
        .collect();
    if !places.is_empty() {
        return Ok(places);
    }
    let elsewhere: Vec<String> = rows
        .iter()
        .filter(|row| row.bind.action.name() == change.action)
        .map(|row| format!("[keys.{}]", row.bind.context.name()))
        .collect();
    if !elsewhere.is_empty() {
        let (action, expected) = (change.action, elsewhere.join(" or "));
        return Err(format!("{action} is no action there; expected {expected}"));
    }
    let mut names: Vec<&str> = rows
        .iter()
        .filter(|row| context.is_none_or(|context| row.bind.context == context))
        .map(|row| row.bind.action.name())
        .collect();
    names.sort_unstable();
    names.dedup();
    Err(format!(
        "no action is called {}; expected one of {}",
        change.action,
        names.join(", ")
    ))
}

fn keys(change: &Change<'_>) -> Result<Vec<Chord>, String> {
    let mut keys: Vec<Chord> = Vec::new();
    for name in change.keys {
        let key = name.parse()?;
        if keys.contains(&key) {
            return Err(format!("{}: {key} is given twice", change.action));
        }
        keys.push(key);
    }
    Ok(keys)
}

/// Another row that has a key of this one where only one of them can hold.
fn twice(rows: &[Bound], place: usize) -> Option<(usize, String)> {
    let row = rows.get(place)?;
    let others = rows.iter().enumerate().filter(|(at, other)| {
        let is_same = other.bind.context == row.bind.context && *at > place;
        // What holds everywhere holds everywhere.
        is_same || row.bind.context == Context::Always && other.bind.context != Context::Always
    });
    others.into_iter().find_map(|(at, other)| {
        let key = row.keys.iter().find(|key| other.keys.contains(key))?;
        let (one, two) = (row.bind.action.name(), other.bind.action.name());
        let place = other.bind.context.name();
        let why = if other.bind.context == row.bind.context {
            format!("in [keys.{place}], {key} is both {one} and {two}; expected one of them")
        } else {
            format!("{key} is {one} everywhere; expected another key for {two} in [keys.{place}]")
        };
        Some((at, why))
    })
}

fn lost(rows: &[Bound], row: &Bound) -> Option<String> {
    let action = row.bind.action;
    // The way back from the comparison has a name of its own.
    let is_way_back = (row.bind.context, action) == (Context::Compare, Action::Compare);
    if !(ESSENTIAL.contains(&action) || is_way_back) || !row.keys.is_empty() {
        return None;
    }
    let is_elsewhere = |other: &Bound| {
        other.bind.action == action
            && other.bind.context == Context::Always
            && !other.keys.is_empty()
    };
    if rows.iter().any(is_elsewhere) {
        return None;
    }
    Some(format!(
        "{} has no key left in [keys.{}]; expected at least one",
        action.name(),
        row.bind.context.name()
    ))
}

/// Where a line is typed, a character is text.
fn text(row: &Bound) -> Option<String> {
    let key = row.keys.iter().find(|key| key.is_text())?;
    BY_NAME_ONLY.contains(&row.bind.context).then(|| {
        format!(
            "{key} is text where a line is typed; expected another key, as Ctrl-X or F2, for {} in [keys.{}]",
            row.bind.action.name(),
            row.bind.context.name()
        )
    })
}
