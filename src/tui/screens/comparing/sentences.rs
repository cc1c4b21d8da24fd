//! What may be said, in words and with the ranges; and what has to be.

use ratatui::text::Line;

use crate::session::{Row as Figures, Says, Series, Verdict, compare};

use super::super::super::format;
use super::super::super::text;
use super::super::super::theme::Role;
use super::super::super::times::Time;
use super::super::super::view::Ui;
use super::super::super::widgets::figures::range;
use super::super::super::widgets::row::Row;
use super::name;

/// Verdicts on one time of every two methods.
pub(super) fn verdicts(ui: Ui<'_>, time: &Time, width: usize) -> Vec<Line<'static>> {
    let is_of = |verdict: &Verdict| time.place(verdict.a) == Some(verdict.column_a);
    compare(ui.tally)
        .iter()
        .filter(|verdict| is_of(verdict))
        .filter_map(|verdict| sentence(ui, verdict))
        .flat_map(|(sentence, role)| wrapped(ui, &sentence, role, 0, width))
        .collect()
}

/// A sentence in rows; all but the first stand further in.
fn wrapped(
    ui: Ui<'_>,
    sentence: &str,
    role: Role,
    front: usize,
    width: usize,
) -> Vec<Line<'static>> {
    let room = width.saturating_sub(front + 2).max(1);
    text::wrap_words(&text::clean(sentence), room)
        .iter()
        .enumerate()
        .map(|(at, part)| {
            let mut row = Row::new(ui, width);
            row.gap(front + if at == 0 { 0 } else { 2 })
                .text(part, role);
            row.line()
        })
        .collect()
}

fn sentence(ui: Ui<'_>, verdict: &Verdict) -> Option<(String, Role)> {
    let one = ui.tally.rows.get(verdict.a)?;
    let other = ui.tally.rows.get(verdict.b)?;
    let (name_a, name_b) = (name(ui, one), name(ui, other));
    let x = &one.times.get(verdict.column_a)?.series;
    let y = &other.times.get(verdict.column_b)?.series;
    let (low, high) = (
        verdict.low.map(format::ratio),
        verdict.high.map(format::ratio),
    );
    let ratios = match (low, high) {
        (Some(low), Some(high)) => format!(", {low} to {high}"),
        (Some(low), None) => format!(", at least {low}"),
        (None, _) => String::new(),
    };
    let count = if x.n() == y.n() {
        format!("n = {}", x.n())
    } else {
        format!("n = {} and {}", x.n(), y.n())
    };
    let ranges = format!("{} and {} {}", spread(x), spread(y), x.unit);
    Some(match &verdict.says {
        Says::Faster => (
            format!("{name_a} is faster than {name_b}{ratios} ({ranges}, {count})"),
            Role::Ok,
        ),
        Says::Slower => (
            format!("{name_b} is faster than {name_a}{ratios} ({ranges}, {count})"),
            Role::Ok,
        ),
        Says::Apart { n } => {
            let says = format!("ranges do not overlap, n = {n}{ratios} ({ranges})");
            (format!("{name_a} and {name_b}: {says}"), Role::Text)
        }
        Says::NoDifference => (
            format!("{name_a} and {name_b}: no difference shown ({ranges}, {count})"),
            Role::Text,
        ),
        Says::NotComparable(why) => (
            format!("{name_a} and {name_b}: not comparable: {why}"),
            Role::Muted,
        ),
    })
}

fn spread(series: &Series) -> String {
    let range = range(series);
    if range.is_empty() {
        "·".to_owned()
    } else {
        range
    }
}

/// What shares a disk with its original.
pub(super) fn same_disk(ui: Ui<'_>, width: usize) -> Vec<Line<'static>> {
    let names: Vec<String> = ui
        .tally
        .rows
        .iter()
        .filter(|row| row.same_disk() == Some(true))
        .map(|row| name(ui, row))
        .collect();
    if names.is_empty() {
        return Vec::new();
    }
    let says = "the copy shares a disk with its original. One dead disk takes both.";
    let mut rows = wrapped(
        ui,
        &format!("{}: {says}", names.join(", ")),
        Role::Warn,
        12,
        width,
    );
    if let Some(first) = rows.first_mut() {
        let mut row = Row::new(ui, width);
        row.text(" same disk ", Role::Badge).gap(1);
        let mut line = row.line();
        line.extend(first.spans.drain(..).skip(1));
        *first = line;
    }
    rows
}

/// How each row was proved, and of what share.
pub(super) fn proofs(ui: Ui<'_>, width: usize) -> Vec<Line<'static>> {
    let told = |row: &&Figures| !row.by.is_empty();
    let says = |row: &Figures| {
        let share = if row.share.is_empty() {
            "share not told"
        } else {
            &row.share
        };
        format!(
            "{}: proved {} of {} by {}, {share}",
            name(ui, row),
            row.matched,
            row.of,
            row.by
        )
    };
    let rows = ui.tally.rows.iter().filter(told);
    rows.flat_map(|row| {
        let role = if row.matched == row.of {
            Role::Ok
        } else {
            Role::Error
        };
        wrapped(ui, &says(row), role, 0, width)
    })
    .collect()
}

/// What is odd about the figures: nothing is dropped, what is odd is said.
pub(super) fn remarks(ui: Ui<'_>, width: usize) -> Vec<Line<'static>> {
    let odd: Vec<&Figures> = ui
        .tally
        .rows
        .iter()
        .filter(|row| !row.remarks.is_empty())
        .collect();
    let mut rows = Vec::new();
    for figures in odd {
        let mut title = Row::new(ui, width);
        title.text(&format!("Remarks on {}", name(ui, figures)), Role::Title);
        rows.push(Line::default());
        rows.push(title.line());
        for remark in &figures.remarks {
            rows.extend(wrapped(ui, remark, Role::Text, 1, width));
        }
    }
    rows
}
