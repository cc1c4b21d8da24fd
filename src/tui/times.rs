//! What rows of figures are called beside one another.

use std::collections::HashMap;

use crate::session::{Row, Tally};

/// Each by its method, where that alone tells it from the others; with its host where there are
/// several.
#[must_use]
pub fn labels(tally: &Tally) -> Vec<String> {
    let mut alike: HashMap<(&str, &str), usize> = HashMap::new();
    for row in &tally.rows {
        *alike.entry((&row.host, &row.method)).or_default() += 1;
    }
    let first = tally.rows.first().map(|row| &row.host);
    let several = tally.rows.iter().any(|row| Some(&row.host) != first);
    let label = |row: &Row| {
        let is_alone = alike.get(&(row.host.as_str(), row.method.as_str())) == Some(&1);
        let name = if is_alone {
            row.method.clone()
        } else {
            row.name()
        };
        if several {
            format!("{} {name}", row.host)
        } else {
            name
        }
    };
    tally.rows.iter().map(label).collect()
}
