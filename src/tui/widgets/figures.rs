//! What is said of a row of figures wherever it is shown.

use crate::report::{Scale, counted};
use crate::session::{Row as Figures, Series};

use super::super::signs;
use super::super::theme::Role;
use super::row::Row;

/// Lowest to highest.
pub(crate) fn range(series: &Series) -> String {
    let low = series.min().or(series.published_min);
    let high = series.max().or(series.published_max);
    match (low, high) {
        (Some(low), Some(high)) => Scale::of(series).range(low, high),
        _ => String::new(),
    }
}

/// The median, or what is printed for it, with its clock's error.
pub(crate) fn median(series: &Series) -> String {
    let median = series.median().or(series.published);
    median.map_or_else(
        || "·".to_owned(),
        |median| Scale::of(series).with_error(median),
    )
}

/// How many runs count, of how many.
pub(crate) fn count(row: &Figures) -> String {
    counted(row)
}

/// A sign a run, in their order; what failed stays in sight.
pub(crate) fn states(row: &mut Row<'_>, figures: &Figures) {
    for outcome in &figures.outcomes {
        let sign = signs::of_outcome(*outcome);
        row.text(sign.glyph, sign.role);
    }
}

/// How many runs are proved, of how many.
pub(crate) fn proofs(figures: &Figures) -> (String, Role) {
    match (figures.matched, figures.of) {
        (_, 0) => (String::new(), Role::Muted),
        (held, all) if held == all => (format!("✓ {held}/{all}"), Role::Ok),
        (held, all) => (format!("✗ {held}/{all}"), Role::Error),
    }
}
