//! All that is known of one row: every value of every time, how it was taken, how it is proved.

use ratatui::text::Line;

use crate::report::{Time, conditions, proofs};
use crate::session::{Row as Figures, TimeColumn, range_holds_median};

use super::super::super::text;
use super::super::super::theme::Role;
use super::super::super::times::label;
use super::super::super::view::Ui;
use super::super::figures::{median, range};
use super::super::row::Row;
use super::values::tokens;

/// The time under the cursor first, then the row as a whole, then its other times.
pub(super) fn lines(ui: Ui<'_>, times: &[Time], at: usize, width: usize) -> Vec<Line<'static>> {
    let Some(figures) = ui.tally.rows.get(at) else {
        return Vec::new();
    };
    let (_, first) = ui.model.watching.median;
    let first = first.min(times.len().saturating_sub(1));
    let known = |time: &&Time| time.place(at).is_some();
    let (before, from) = times.split_at_checked(first).unwrap_or((times, &[]));
    let mut order = from.iter().filter(known).chain(before.iter().filter(known));
    let name = label(ui.tally, figures);
    let of = |time: &Time| Some((time.name(), time.of(&ui.tally.rows, at)?));
    let mut all = Vec::new();
    match order.next().and_then(of) {
        Some((title, column)) => {
            let says = format!("{name}: {title} {}", says(figures, column));
            all.push((says, Role::Text));
        }
        None => all.push((format!("{name}: nothing yet"), Role::Muted)),
    }
    all.push((whole(figures), Role::Muted));
    for (title, column) in order.filter_map(of) {
        all.push((format!("{title} {}", says(figures, column)), Role::Text));
    }
    for remark in &figures.remarks {
        all.push((remark.clone(), Role::Warn));
    }
    all.retain(|(says, _)| !says.is_empty());
    let rows = all.iter().flat_map(|(says, role)| {
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
    let tokens = tokens(figures, column);
    let values: Vec<String> = tokens
        .iter()
        .filter(|token| token.text != "slows")
        .map(|token| token.text.clone())
        .collect();
    let mut parts = vec![format!("{} s", values.join(" "))];
    let words = tokens.iter().map(|token| token.words.clone());
    parts.extend(words.filter(|words| !words.is_empty()));
    if series.n() > 1 {
        let likely = range_holds_median(series.n()).unwrap_or_default() * 100.0;
        parts.push(format!(
            "median {} s of {}, {} holds the true one with {:.0} %",
            median(series),
            series.n(),
            range(series),
            likely.round().min(99.0)
        ));
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
