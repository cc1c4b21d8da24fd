//! All that is known of one row: every value of every time, how it was taken, how it is proved.

use std::fmt::Write as _;

use ratatui::text::Line;

use crate::report::{Time, conditions, counts, proofs};
use crate::session::{Row as Figures, TimeColumn, range_holds_median};

use super::super::super::text;
use super::super::super::theme::Role;
use super::super::super::view::Ui;
use super::super::figures::{median, range};
use super::super::row::Row;
use super::values::{EACH_SLOWER, Tokens, tokens};

/// So many of the last values are told one by one.
const MOST_VALUES: usize = 200;

/// The time under the cursor first, then the row as a whole, then its other times.
pub(super) fn lines(
    ui: Ui<'_>,
    times: &[Time],
    at: usize,
    (width, height): (usize, usize),
) -> Vec<Line<'static>> {
    let Some(figures) = ui.figures.tally.rows.get(at) else {
        return Vec::new();
    };
    let (_, first) = ui.model.watching.median;
    let first = first.min(times.len().saturating_sub(1));
    let known = |time: &&Time| time.place(at).is_some();
    let (before, from) = times.split_at_checked(first).unwrap_or((times, &[]));
    let mut order = from.iter().filter(known).chain(before.iter().filter(known));
    let name = ui.figures.labels.get(at).map_or("", String::as_str);
    let of = |time: &Time| Some((time.name(), time.of(&ui.figures.tally.rows, at)?));
    let mut all = Vec::new();
    match order.next().and_then(of) {
        Some((title, column)) => {
            let says = format!("{name}: {title} {}", says(figures, column));
            all.push((says, Role::Text));
        }
        None => all.push((format!("{name}: nothing yet"), Role::Muted)),
    }
    all.push((whole(figures), Role::Muted));
    // Each takes at least a row.
    for (title, column) in order.filter_map(of).take(height) {
        all.push((format!("{title} {}", says(figures, column)), Role::Text));
    }
    for remark in figures.remarks.iter().take(height) {
        all.push((remark.clone(), Role::Warn));
    }
    all.retain(|(says, _)| !says.is_empty());
    let rows = all.iter().take(height).flat_map(|(says, role)| {
        let parts = text::wrap_words(&text::clean(says), width);
        parts.into_iter().map(|part| {
            let mut row = Row::new(ui, width);
            row.text(&part, *role);
            row.line()
        })
    });
    rows.collect()
}

/// `57 60 66 s · median 60 ±1 s of 3, 57–66 holds the true one with 75 % · task clock, …`.
fn says(figures: &Figures, column: &TimeColumn) -> String {
    let series = &column.series;
    let Tokens { before, last } = tokens(figures, column, MOST_VALUES);
    let more = (before > 0).then(|| format!("+{before}"));
    let values = last
        .iter()
        .filter(|token| token.text != EACH_SLOWER)
        .map(|token| token.text.clone());
    let values: Vec<String> = more.into_iter().chain(values).collect();
    let mut parts = vec![format!("{} s", values.join(" "))];
    let words = last.iter().map(|token| token.words.clone());
    parts.extend(words.filter(|words| !words.is_empty()));
    if series.n() > 1 {
        let (middle, range) = (median(series), range(series));
        let mut says = format!("median {middle} s of {}, {range}", counts(series));
        // The values of one run say nothing of the next one.
        if let Some(likely) = range_holds_median(series.in_runs()) {
            let percent = (likely * 100.0).round().min(99.0);
            let _ = write!(says, " holds the true one with {percent:.0} %");
        }
        parts.push(says);
    }
    if series.n() == 0 && series.is_published() {
        parts = vec![format!("{} s, printed without its values", median(series))];
    }
    if column.stated {
        parts.push(format!(
            "{} clock{}",
            column.clock,
            resolution(series.resolution)
        ));
    }
    parts.join(" · ")
}

fn resolution(seconds: f64) -> String {
    match seconds {
        r if r >= 1.0 => format!(", whole seconds, ±{r:.0} s"),
        r if r >= 1e-3 => format!(", ±{} s", (r * 1000.0).round() / 1000.0),
        r if r > 0.0 => ", finer than 1 ms".to_owned(),
        _ => String::new(),
    }
}

// Conditions and proofs of its runs.
fn whole(figures: &Figures) -> String {
    let mut parts = vec![conditions(figures)];
    parts.extend(proofs(figures));
    parts.retain(|part| !part.is_empty());
    parts.join(" · ")
}
