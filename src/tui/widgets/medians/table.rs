//! Methods × times.

use ratatui::text::Line;

use crate::session::{Row as Figures, Series};

use super::super::super::theme::Role;
use super::super::super::times::{Time, label};
use super::super::super::view::Ui;
use super::super::super::{format, text};
use super::super::figures::{count, range, states};
use super::super::row::Row;

/// How much of a series a column shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Detail {
    /// Median, range and every value.
    All,
    /// Median, and every value where they are few, else the range.
    Values,
    /// Median and range.
    Range,
    /// Median.
    Median,
}

/// Methods × times, with as much of each series as there is room for.
pub(super) struct Table<'a> {
    ui: Ui<'a>,
    /// The times that have a column.
    pub names: Vec<Time>,
    /// How many have none, at either side.
    hidden: (usize, usize),
    detail: Detail,
    name: usize,
    cells: Vec<usize>,
    width: usize,
}

/// Columns at the right: how many counted, and a sign a run.
const COUNT: usize = 7;

impl<'a> Table<'a> {
    pub fn of(ui: Ui<'a>, names: &[Time], width: usize) -> Self {
        let (_, first) = ui.model.watching.median;
        let first = first.min(names.len().saturating_sub(1));
        let name = ui
            .tally
            .rows
            .iter()
            .map(|row| text::width(&label(ui.tally, row)))
            .max()
            .unwrap_or_default()
            .clamp(8, (width / 3).max(8));
        let signs = ui
            .tally
            .rows
            .iter()
            .map(|row| row.states.len())
            .max()
            .unwrap_or_default()
            .min(12);
        let room = width.saturating_sub(name + COUNT + signs + 1);
        let rest = names.get(first..).unwrap_or_default();
        let fit = |detail: Detail| {
            let cells: Vec<usize> = rest
                .iter()
                .map(|name| column_width(ui, name, detail))
                .collect();
            let total: usize = cells.iter().map(|cells| cells + 2).sum();
            (total <= room).then_some((detail, cells))
        };
        let (detail, mut cells) = [Detail::All, Detail::Values, Detail::Range, Detail::Median]
            .into_iter()
            .find_map(fit)
            .unwrap_or_else(|| {
                let cells = rest
                    .iter()
                    .map(|name| column_width(ui, name, Detail::Median));
                (Detail::Median, cells.collect())
            });
        let mut taken = 0;
        let shown = cells
            .iter()
            .take_while(|cells| {
                taken += **cells + 2;
                taken <= room
            })
            .count();
        cells.truncate(shown);
        Self {
            ui,
            names: rest.iter().take(shown).cloned().collect(),
            hidden: (first, rest.len() - shown),
            detail,
            name,
            cells,
            width,
        }
    }

    pub fn head(&self) -> Line<'static> {
        let mut row = Row::new(self.ui, self.width);
        let more = match self.hidden {
            (0, 0) => String::new(),
            (0, right) => format!("+{right} >"),
            (left, 0) => format!("< +{left}"),
            (left, right) => format!("< +{left} +{right} >"),
        };
        row.left(&more, self.name, Role::Muted);
        for (name, cells) in self.names.iter().zip(&self.cells) {
            row.gap(2).left(&name.name(), *cells, Role::Muted);
        }
        row.gap(1).right("n", COUNT - 1, Role::Muted);
        row.line()
    }

    pub fn row(&self, figures: &Figures, chosen: bool) -> Line<'static> {
        let mut row = Row::new(self.ui, self.width);
        row.left(&label(self.ui.tally, figures), self.name, Role::Text);
        for (name, cells) in self.names.iter().zip(&self.cells) {
            row.gap(2);
            match name.of(figures) {
                Some(column) => {
                    let (median, rest) = cell(&column.series, self.detail);
                    let start = row.width();
                    row.text(&median, Role::Accent);
                    if !rest.is_empty() {
                        row.gap(2).text(&rest, Role::Text);
                    }
                    row.to(start + cells);
                }
                None => {
                    row.left("·", *cells, Role::Pending);
                }
            }
        }
        row.gap(1)
            .right(&count(figures), COUNT - 1, Role::Text)
            .gap(1);
        states(&mut row, figures);
        if chosen {
            row.line_in(self.ui.style(Role::Selection))
        } else {
            row.line()
        }
    }
}

fn column_width(ui: Ui<'_>, name: &Time, detail: Detail) -> usize {
    let widest = ui
        .tally
        .rows
        .iter()
        .filter_map(|row| name.of(row))
        .map(|column| {
            let (median, rest) = cell(&column.series, detail);
            text::width(&median)
                + if rest.is_empty() {
                    0
                } else {
                    text::width(&rest) + 2
                }
        })
        .max()
        .unwrap_or_default();
    widest.max(text::width(&name.name()).min(14))
}

/// The median, and what stands beside it.
fn cell(series: &Series, detail: Detail) -> (String, String) {
    let Some(median) = series.median() else {
        let published = series
            .published
            .map(|median| format::figure(median, series.resolution));
        return (published.unwrap_or_else(|| "·".to_owned()), String::new());
    };
    let median = format::figure_with_error(median, series.resolution);
    let values = || {
        let values: Vec<_> = series
            .values
            .iter()
            .map(|value| format::figure(*value, series.resolution))
            .collect();
        values.join(" ")
    };
    let range = range(series);
    let few = series.values.len() <= 5;
    let rest = match detail {
        _ if series.values.len() < 2 => String::new(),
        Detail::All if few => format!("{range}  ({})", values()),
        Detail::Values if few => values(),
        Detail::All | Detail::Values | Detail::Range => range,
        Detail::Median => String::new(),
    };
    (median, rest)
}
