//! All runs of one row before all of another on the same machine: drift looks like a difference.

use std::collections::{BTreeSet, HashMap};

use super::listed;
use crate::session::verdict::MOST_ROWS;
use crate::session::{Row, Session};

/// The remarks of each row.
pub(super) fn of(session: &Session, rows: &[Row]) -> Vec<Vec<String>> {
    if rows.len() > MOST_ROWS {
        // No two of them are compared.
        return vec![Vec::new(); rows.len()];
    }
    let spans: Vec<Option<(u32, u32)>> = rows.iter().map(|row| span(session, row)).collect();
    let mut by_machine: HashMap<&str, Vec<usize>> = HashMap::new();
    for (at, row) in rows.iter().enumerate() {
        let machine = row.machine_of(&row.host);
        by_machine.entry(machine).or_default().push(at);
    }
    let names: Vec<String> = rows.iter().map(Row::name).collect();
    rows.iter()
        .zip(&spans)
        .map(|(row, mine)| {
            let Some(mine) = mine else {
                return Vec::new();
            };
            let others = by_machine.get(row.machine_of(&row.host));
            let others = || others.into_iter().flatten().copied();
            let span = |at: usize| spans.get(at).copied().flatten();
            let told = |is_so: &dyn Fn((u32, u32)) -> bool, word: &str| {
                let apart = others().filter(|at| span(*at).is_some_and(is_so));
                let mut known = BTreeSet::new();
                let all: Vec<String> = apart
                    .filter_map(|at| names.get(at))
                    .filter(|name| known.insert(name.as_str()))
                    .cloned()
                    .collect();
                (!all.is_empty()).then(|| {
                    format!(
                        "all its runs came {word} all runs of {}: drift would look like a difference",
                        listed(&all)
                    )
                })
            };
            let before = told(&|theirs| mine.1 < theirs.0, "before");
            let after = told(&|theirs| theirs.1 < mine.0, "after");
            before.into_iter().chain(after).collect()
        })
        .collect()
}

// First and last place of a row's runs in the order; none for a single run.
fn span(session: &Session, row: &Row) -> Option<(u32, u32)> {
    let places = row.runs.iter().filter_map(|run| session.run_view(run));
    let places: Vec<u32> = places.map(|run| run.order).collect();
    let (first, last) = (*places.iter().min()?, *places.iter().max()?);
    (places.len() >= 2).then_some((first, last))
}
