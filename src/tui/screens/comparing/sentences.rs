//! What came out in one sentence, what may be said of every two, and what has to be.

use ratatui::text::Line;

use crate::report::{self, Time, not_comparable, one_machine, said, trust};
use crate::session::Verdict;

use super::super::super::text;
use super::super::super::theme::Role;
use super::super::super::view::Ui;
use super::super::super::widgets::row::Row;
use super::Shown;

/// Pairs that may not be compared are listed up to here.
const MOST_PAIRS: usize = 12;

/// What was compared and what came out.
pub(super) fn headline(ui: Ui<'_>, shown: &Shown, width: usize) -> Vec<Line<'static>> {
    let says = report::headline(&shown.compared);
    wrapped(ui, &says, Role::Accent, (0, 0), width)
}

/// Verdicts on every two methods, under the name of each time where there are several; then what
/// may not be compared, and what they share.
pub(super) fn verdicts(
    ui: Ui<'_>,
    shown: &Shown,
    times: &[Time],
    width: usize,
) -> Vec<Line<'static>> {
    let compared = &shown.compared;
    let mut rows = Vec::new();
    for time in times {
        let is_of = |verdict: &Verdict| time.place(verdict.a) == Some(verdict.column_a);
        let sentences = said(compared, is_of);
        if times.len() > 1 && !sentences.is_empty() {
            let mut row = Row::new(ui, width);
            row.text(&time.name(), Role::Title);
            rows.push(row.line());
        }
        let front = if times.len() > 1 { 2 } else { 0 };
        for sentence in sentences {
            let role = if sentence.is_verdict {
                Role::Ok
            } else {
                Role::Text
            };
            rows.extend(wrapped(ui, &sentence.text, role, (front, 2), width));
        }
    }
    let against = not_comparable(compared);
    let more = against.len().saturating_sub(MOST_PAIRS);
    for sentence in against.iter().take(MOST_PAIRS) {
        rows.extend(wrapped(ui, sentence, Role::Muted, (0, 2), width));
    }
    if more > 0 {
        let says = format!("and {more} more pairs that are not comparable");
        rows.extend(wrapped(ui, &says, Role::Muted, (0, 2), width));
    }
    for sentence in one_machine(compared).iter().chain(&trust(&compared.rows)) {
        rows.extend(wrapped(ui, sentence, Role::Muted, (0, 2), width));
    }
    rows.extend(same_disk(ui, shown, width));
    rows
}

/// A sentence in rows, so many cells from the left; all but the first stand further in.
fn wrapped(
    ui: Ui<'_>,
    sentence: &str,
    role: Role,
    (front, hang): (usize, usize),
    width: usize,
) -> Vec<Line<'static>> {
    let room = width.saturating_sub(front + hang).max(1);
    text::wrap_words(&text::clean(sentence), room)
        .iter()
        .enumerate()
        .map(|(at, part)| {
            let mut row = Row::new(ui, width);
            row.gap(front + if at == 0 { 0 } else { hang })
                .text(part, role);
            row.line()
        })
        .collect()
}

/// What shares a disk with its original.
fn same_disk(ui: Ui<'_>, shown: &Shown, width: usize) -> Vec<Line<'static>> {
    let Some(says) = report::same_disk(&shown.compared) else {
        return Vec::new();
    };
    let badge = " same disk ";
    let front = text::width(badge) + 1;
    let mut rows = wrapped(ui, &says, Role::Warn, (front, 0), width);
    if let Some(first) = rows.first_mut() {
        let mut row = Row::new(ui, width);
        row.text(badge, Role::Badge).gap(1);
        let mut line = row.line();
        line.extend(first.spans.drain(..).skip(1));
        *first = line;
    }
    rows
}

/// What is odd about the figures: nothing is dropped, what is odd is said.
pub(super) fn remarks(ui: Ui<'_>, shown: &Shown, width: usize) -> Vec<Line<'static>> {
    let rows = shown.order.iter();
    let rows = rows.filter_map(|at| shown.compared.rows.get(*at));
    let mut lines = Vec::new();
    for figures in rows.filter(|row| !row.remarks.is_empty()) {
        let mut title = Row::new(ui, width);
        let name = shown.compared.name(figures);
        title.text(&format!("Remarks on {name}"), Role::Title);
        lines.push(Line::default());
        lines.push(title.line());
        for remark in &figures.remarks {
            lines.extend(wrapped(ui, remark, Role::Text, (1, 2), width));
        }
    }
    lines
}
