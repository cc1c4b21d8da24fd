//! What came out in one sentence, what may be said of every two, and what has to be.

use std::ops::Range;

use ratatui::text::Line;

use crate::report;

use super::super::super::text;
use super::super::super::theme::Role;
use super::super::super::view::Ui;
use super::super::super::widgets::row::Row;
use super::Shown;

/// Pairs that may not be compared are listed up to here.
const MOST_PAIRS: usize = 12;

/// Remarks on a row that are listed.
const MOST_REMARKS: usize = 25;
/// Rows whose remarks are listed.
const MOST_ODD: usize = 20;

/// What was compared and what came out.
pub(super) fn headline(ui: Ui<'_>, shown: &Shown, width: usize) -> Vec<Line<'static>> {
    wrapped(ui, &shown.headline, Role::Accent, (0, 0), width)
}

/// Verdicts on every two methods, under the name of each time where there are several; then what
/// may not be compared, and what they share.
pub(super) fn verdicts(
    ui: Ui<'_>,
    shown: &Shown,
    times: Range<usize>,
    width: usize,
) -> Vec<Line<'static>> {
    let mut rows = Vec::new();
    let several = times.len() > 1;
    for at in times {
        let (Some(time), Some(sentences)) = (shown.times.get(at), shown.said.get(at)) else {
            continue;
        };
        if several && !sentences.is_empty() {
            let mut row = Row::new(ui, width);
            row.text(&time.name(), Role::Title);
            rows.push(row.line());
        }
        let front = if several { 2 } else { 0 };
        for sentence in sentences {
            let role = if sentence.is_verdict {
                Role::Ok
            } else {
                Role::Text
            };
            rows.extend(wrapped(ui, &sentence.text, role, (front, 2), width));
        }
    }
    let against = &shown.apart;
    let more = against.len().saturating_sub(MOST_PAIRS);
    for sentence in against.iter().take(MOST_PAIRS) {
        rows.extend(wrapped(ui, sentence, Role::Muted, (0, 2), width));
    }
    if more > 0 {
        let says = format!("and {more} more pairs that are not comparable");
        rows.extend(wrapped(ui, &says, Role::Muted, (0, 2), width));
    }
    for sentence in &shown.notes {
        rows.extend(wrapped(ui, sentence, Role::Muted, (0, 2), width));
    }
    rows.extend(at_once(ui, shown, width));
    rows.extend(same_disk(ui, shown, width));
    rows
}

/// How much methods slowed each other that ran at once.
fn at_once(ui: Ui<'_>, shown: &Shown, width: usize) -> Vec<Line<'static>> {
    let mut rows = Vec::new();
    for pair in report::at_once(&shown.compared) {
        rows.push(Line::default());
        rows.extend(wrapped(
            ui,
            &format!("At once: {}", pair.title),
            Role::Title,
            (0, 2),
            width,
        ));
        for sentence in &pair.sentences {
            rows.extend(wrapped(ui, sentence, Role::Text, (2, 2), width));
        }
    }
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
pub(super) fn remarks(
    ui: Ui<'_>,
    shown: &Shown,
    order: &[usize],
    width: usize,
) -> Vec<Line<'static>> {
    let rows = order.iter();
    let rows = rows.filter_map(|at| shown.compared.rows.get(*at));
    let mut lines = Vec::new();
    let odd = rows.filter(|row| !row.remarks.is_empty());
    for figures in odd.take(MOST_ODD) {
        let mut title = Row::new(ui, width);
        let name = shown.compared.name(figures);
        title.text(&format!("Remarks on {name}"), Role::Title);
        lines.push(Line::default());
        lines.push(title.line());
        let more = figures.remarks.len().saturating_sub(MOST_REMARKS);
        let more = (more > 0).then(|| format!("and {more} more remarks"));
        for remark in figures.remarks.iter().take(MOST_REMARKS).chain(&more) {
            lines.extend(wrapped(ui, remark, Role::Text, (1, 2), width));
        }
    }
    lines
}
