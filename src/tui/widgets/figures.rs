//! What is said of a row of figures wherever it is shown.

use crate::session::{Row as Figures, Series};

use super::super::theme::Role;
use super::super::{format, signs};
use super::row::Row;

/// Lowest to highest.
pub(crate) fn range(series: &Series) -> String {
    let low = series.min().or(series.published_min);
    let high = series.max().or(series.published_max);
    match (low, high) {
        (Some(low), Some(high)) => format::range(low, high, series.resolution),
        _ => String::new(),
    }
}

/// How many runs count, of how many that have ended; and those that go on, whose values are shown
/// already.
pub(crate) fn count(row: &Figures) -> String {
    let good = row.states.iter().filter(|state| state.is_good()).count();
    let ended = if good == row.states.len() {
        good.to_string()
    } else {
        format!("{good} of {}", row.states.len())
    };
    match going(row) {
        0 => ended,
        more => format!("{ended}+{more}"),
    }
}

/// How many runs go on.
fn going(row: &Figures) -> usize {
    row.runs.len().saturating_sub(row.states.len())
}

/// A sign a run, in their order; what failed stays in sight.
pub(crate) fn states(row: &mut Row<'_>, figures: &Figures) {
    for state in &figures.states {
        let sign = signs::of_end(*state);
        row.text(sign.glyph, sign.role);
    }
    for _ in 0..going(figures) {
        row.text(signs::RUNNING.glyph, signs::RUNNING.role);
    }
}

/// How many runs are proved, and of what share.
pub(crate) fn proved(row: &mut Row<'_>, figures: &Figures) {
    if figures.of > 0 {
        let all = figures.matched == figures.of;
        let says = format!("proved {} of {}", figures.matched, figures.of);
        row.whole(&says, if all { Role::Ok } else { Role::Error });
    }
}
