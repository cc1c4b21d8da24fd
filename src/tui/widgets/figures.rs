//! What is said of a row of figures wherever it is shown.

use crate::report::{Scale, counted};
use crate::session::{Outcome, Row as Figures, Series};

use super::super::signs;
use super::super::text;
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

/// The same of one time, where runs have several values of it each: `9 in 3`. A figure that is
/// printed without its values has no n.
pub(crate) fn count_of(row: &Figures, series: &Series) -> String {
    if series.n() == 0 && series.is_published() {
        return "–".to_owned();
    }
    if series.n() > series.in_runs() {
        return format!("{} in {}", series.n(), counted(row));
    }
    count(row)
}

/// Runs that have a sign each; of more, those that are alike are counted.
const SIGNS: usize = 8;

/// A sign a run, in their order, `✓✓✗✓`; of many `9✓ 1✗ 4✓`. What failed stays in sight.
pub(crate) fn states(row: &mut Row<'_>, figures: &Figures) {
    for (text, role) in signs(figures) {
        row.text(&text, role);
    }
}

/// Cells that these take.
pub(crate) fn states_width(figures: &Figures) -> usize {
    let all = signs(figures);
    all.iter().map(|(text, _)| text::width(text)).sum()
}

/// Said once behind the signs where all are alike: empty boxes alone tell nobody what is missing.
const UNPROVED: &str = " unproved";

fn signs(figures: &Figures) -> Vec<(String, Role)> {
    let mut over = figures
        .outcomes
        .iter()
        .filter(|one| one.is_over())
        .peekable();
    let unproved = over.peek().is_some() && over.all(|one| *one == Outcome::Unverified);
    let unproved = unproved.then(|| (UNPROVED.to_owned(), signs::UNVERIFIED.role));
    let is_long = figures.outcomes.len() > SIGNS;
    let alike = figures.outcomes.chunk_by(|one, next| one == next);
    alike
        .enumerate()
        .filter_map(|(at, some)| {
            let sign = signs::of_outcome(*some.first()?);
            let text = if is_long {
                let gap = if at > 0 { " " } else { "" };
                format!("{gap}{}{}", some.len(), sign.glyph)
            } else {
                sign.glyph.repeat(some.len())
            };
            Some((text, sign.role))
        })
        .chain(unproved)
        .collect()
}

/// How many runs are proved, of how many.
pub(crate) fn proofs(figures: &Figures) -> (String, Role) {
    match (figures.matched, figures.of) {
        (_, 0) if !figures.restored_of.is_empty() => ("not restored".to_owned(), Role::Muted),
        (_, 0) => (String::new(), Role::Muted),
        (held, all) if held == all => (format!("✓ {held}/{all}"), Role::Ok),
        (held, all) => (format!("✗ {held}/{all}"), Role::Error),
    }
}
