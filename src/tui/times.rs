//! What a row of figures is called beside the others.

use crate::session::{Row, Tally};

/// Its method, where that alone tells it from them; with its host where there are several.
#[must_use]
pub fn label(tally: &Tally, row: &Row) -> String {
    let mut rows = tally.rows.iter().filter(|other| other.host == row.host);
    let name = if rows
        .by_ref()
        .filter(|other| other.method == row.method)
        .count()
        > 1
    {
        row.name()
    } else {
        row.method.clone()
    };
    if tally.rows.iter().any(|other| other.host != row.host) {
        format!("{} {name}", row.host)
    } else {
        name
    }
}
