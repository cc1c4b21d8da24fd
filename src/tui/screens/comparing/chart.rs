//! Medians, and ranges as bars: every method and every time on one axis.

use std::ops::Range;

use ratatui::text::Line;

use crate::report::Time;
use crate::session::{Row as Figures, Series};

use super::super::super::text;
use super::super::super::theme::Role;
use super::super::super::view::Ui;
use super::super::super::widgets::figures::{count_of, median, proofs, states, states_width};
use super::super::super::widgets::row::Row;
use super::Shown;
use super::axis::Axis;

/// Cells of signs of runs at most.
const SIGNS: usize = 14;

/// Where the columns stand.
struct Columns {
    name: usize,
    median: usize,
    /// How many runs count, and how many are proved.
    count: usize,
    proofs: usize,
    bar: usize,
    /// Signs of runs, where one of them did not end well.
    signs: usize,
    width: usize,
}

pub(super) fn lines(
    ui: Ui<'_>,
    shown: &Shown,
    order: &[usize],
    times: Range<usize>,
    width: usize,
) -> Vec<Line<'static>> {
    let times = shown.times.get(times).unwrap_or_default();
    let rows = &shown.compared.rows;
    let is_odd = |row: &Figures| row.outcomes.iter().any(|outcome| !outcome.counts());
    let signs = if rows.iter().any(is_odd) {
        let most = rows.iter().map(states_width).max();
        most.unwrap_or_default().min(SIGNS) + 1
    } else {
        0
    };
    let indent = usize::from(times.len() > 1) * 2;
    let name = shown.name_width(width) + indent;
    let all: Vec<&Series> = times
        .iter()
        .flat_map(|time| order.iter().filter_map(|row| time.of(rows, *row)))
        .map(|column| &column.series)
        .collect();
    let widest = |texts: &mut dyn Iterator<Item = String>, title: &str| {
        let cells = texts.map(|text| text::width(&text)).max();
        cells.unwrap_or_default().max(title.len())
    };
    let median = widest(&mut all.iter().map(|series| median(series)), "median");
    let counts = |time: &Time| {
        let of = |row: &usize| Some(count_of(rows.get(*row)?, &time.of(rows, *row)?.series));
        order.iter().filter_map(of).collect::<Vec<_>>()
    };
    let count = widest(&mut times.iter().flat_map(counts), "n");
    let proofs = widest(&mut rows.iter().map(|row| proofs(row).0), "proved");
    let taken = name + 2 + median + 2 + 1 + count + 2 + proofs + signs;
    let columns = Columns {
        name,
        median,
        count,
        proofs,
        bar: width.saturating_sub(taken),
        signs,
        width,
    };
    let axis = Axis::of(&all, columns.bar);
    let mut lines = vec![head(ui, &columns, axis.as_ref())];
    for time in times {
        if times.len() > 1 {
            let mut row = Row::new(ui, width);
            row.text(&time.name(), Role::Title);
            lines.push(row.line());
        }
        for at in order {
            // A series that has no such time is no method that lacks it.
            let column = time.of(rows, *at);
            if let (Some(figures), Some(column)) = (rows.get(*at), column) {
                let name = format!("{:indent$}{}", "", shown.compared.name(figures));
                let of = (name.as_str(), figures, &column.series);
                lines.push(line(ui, &columns, axis.as_ref(), of));
            }
        }
    }
    lines
}

fn head(ui: Ui<'_>, columns: &Columns, axis: Option<&Axis>) -> Line<'static> {
    let mut row = Row::new(ui, columns.width);
    row.left("seconds", columns.name, Role::Muted)
        .gap(2)
        .right("median", columns.median, Role::Muted)
        .gap(2);
    if let Some(axis) = axis {
        row.left(&axis.scale(), columns.bar, Role::Muted).gap(1);
    }
    row.right("n", columns.count, Role::Muted)
        .gap(2)
        .left("proved", columns.proofs, Role::Muted);
    row.line()
}

fn line(
    ui: Ui<'_>,
    columns: &Columns,
    axis: Option<&Axis>,
    (name, figures, series): (&str, &Figures, &Series),
) -> Line<'static> {
    let mut row = Row::new(ui, columns.width);
    row.name(name, columns.name, Role::Text)
        .gap(2)
        .right(&median(series), columns.median, Role::Accent)
        .gap(2);
    if let Some(axis) = axis {
        row.left(&axis.bar(series), columns.bar, Role::Gauge).gap(1);
    }
    let (proved, role) = proofs(figures);
    let n = count_of(figures, series);
    row.right(&n, columns.count, Role::Text)
        .gap(2)
        .left(&proved, columns.proofs, role);
    if columns.signs > 0 {
        row.gap(1);
        states(&mut row, figures);
    }
    row.line()
}
