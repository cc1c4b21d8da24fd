//! Methods × times, with as much of each series as there is room for.

use ratatui::text::Line;

use crate::session::Series;

use super::super::super::theme::Role;
use super::super::super::times::{Time, label};
use super::super::super::view::Ui;
use super::super::super::{format, text};
use super::super::figures::{count, range, states};
use super::super::row::Row;

/// How much of a series a column shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Detail {
    /// Median, range and every value where they are few.
    All,
    /// Median, and every value where they are few, else the range.
    Values,
    /// Median and range.
    Range,
    /// Median.
    Median,
}

/// So many values stand in a row at most.
const FEW: usize = 5;
/// Cells for how many runs counted.
const COUNT: usize = 7;
/// Signs of runs that are shown at most.
const SIGNS: usize = 12;
/// Blanks between columns.
const GAP: usize = 2;

/// A series as text.
struct Cell {
    median: String,
    range: String,
    /// Empty where they are many, or one.
    values: String,
}

impl Cell {
    fn of(series: &Series) -> Self {
        let median = match (series.median(), series.published) {
            (Some(median), _) => format::figure_with_error(median, series.resolution),
            (None, Some(printed)) => format::figure(printed, series.resolution),
            (None, None) => "·".to_owned(),
        };
        let (mut range, mut values) = (String::new(), String::new());
        if series.n() > 1 {
            range = self::range(series);
            if series.n() <= FEW {
                let value = |value: &f64| format::figure(*value, series.resolution);
                let all: Vec<_> = series.values.iter().map(value).collect();
                values = all.join(" ");
            }
        }
        Self {
            median,
            range,
            values,
        }
    }

    /// What stands beside the median.
    fn rest(&self, detail: Detail) -> String {
        match detail {
            Detail::All if !self.values.is_empty() => format!("{}  ({})", self.range, self.values),
            Detail::Values if !self.values.is_empty() => self.values.clone(),
            Detail::All | Detail::Values | Detail::Range => self.range.clone(),
            Detail::Median => String::new(),
        }
    }

    fn width(&self, detail: Detail) -> usize {
        let rest = text::width(&self.rest(detail));
        text::width(&self.median) + if rest > 0 { rest + GAP } else { 0 }
    }
}

/// A time, and its text in each row.
struct Column {
    name: String,
    cells: Vec<Option<Cell>>,
    width: usize,
}

impl Column {
    fn of(ui: Ui<'_>, time: &Time) -> Self {
        let rows = 0..ui.tally.rows.len();
        let cell = |row| Some(Cell::of(&time.of(ui.tally, row)?.series));
        Self {
            name: time.name(),
            cells: rows.map(cell).collect(),
            width: 0,
        }
    }

    fn fit(&self, detail: Detail) -> usize {
        let cells = self.cells.iter().flatten();
        let widest = cells
            .map(|cell| cell.width(detail))
            .max()
            .unwrap_or_default();
        widest.max(text::width(&self.name).min(14))
    }
}

/// The table, fitted to its width.
pub(super) struct Table<'a> {
    ui: Ui<'a>,
    columns: Vec<Column>,
    /// Times that have no column, at either side.
    hidden: (usize, usize),
    detail: Detail,
    labels: Vec<String>,
    name: usize,
    width: usize,
}

impl<'a> Table<'a> {
    /// Of the times from the one under the cursor on.
    pub fn of(ui: Ui<'a>, times: &[Time], width: usize) -> Self {
        let (_, first) = ui.model.watching.median;
        let first = first.min(times.len().saturating_sub(1));
        let labels: Vec<_> = ui
            .tally
            .rows
            .iter()
            .map(|row| label(ui.tally, row))
            .collect();
        let widest = labels.iter().map(|label| text::width(label)).max();
        let name = widest.unwrap_or_default().clamp(8, (width / 3).max(8));
        let signs = ui.tally.rows.iter().map(|row| row.runs.len()).max();
        let room = width.saturating_sub(name + COUNT + signs.unwrap_or_default().min(SIGNS) + 1);
        let times = times.get(first..).unwrap_or_default();
        let mut columns: Vec<Column> = times.iter().map(|time| Column::of(ui, time)).collect();
        let need = |detail| {
            columns
                .iter()
                .map(|column| column.fit(detail) + GAP)
                .sum::<usize>()
        };
        let detail = [Detail::All, Detail::Values, Detail::Range]
            .into_iter()
            .find(|detail| need(*detail) <= room)
            .unwrap_or(Detail::Median);
        let mut taken = 0;
        for column in &mut columns {
            column.width = column.fit(detail);
        }
        columns.retain(|column| {
            taken += column.width + GAP;
            taken <= room
        });
        Self {
            ui,
            hidden: (first, times.len() - columns.len()),
            columns,
            detail,
            labels,
            name,
            width,
        }
    }

    /// The names of the times.
    pub fn head(&self) -> Line<'static> {
        let mut row = Row::new(self.ui, self.width);
        let more = match self.hidden {
            (0, 0) => String::new(),
            (0, right) => format!("+{right} >"),
            (left, 0) => format!("< +{left}"),
            (left, right) => format!("< +{left} +{right} >"),
        };
        row.left(&more, self.name, Role::Muted);
        for column in &self.columns {
            row.gap(GAP).left(&column.name, column.width, Role::Muted);
        }
        row.gap(1).right("n", COUNT - 1, Role::Muted);
        row.line()
    }

    /// Every row; the one under the cursor is marked.
    pub fn rows(&self, cursor: Option<usize>) -> Vec<Line<'static>> {
        (0..self.labels.len())
            .map(|at| self.row(at, cursor == Some(at)))
            .collect()
    }

    fn row(&self, at: usize, chosen: bool) -> Line<'static> {
        let mut row = Row::new(self.ui, self.width);
        let label = self.labels.get(at).map_or("", String::as_str);
        row.left(label, self.name, Role::Text);
        for column in &self.columns {
            row.gap(GAP);
            let start = row.width();
            match column.cells.get(at).and_then(Option::as_ref) {
                Some(cell) => {
                    row.text(&cell.median, Role::Accent);
                    row.whole(&cell.rest(self.detail), Role::Text);
                }
                None => {
                    row.text("·", Role::Pending);
                }
            }
            row.to(start + column.width);
        }
        if let Some(figures) = self.ui.tally.rows.get(at) {
            row.gap(1)
                .right(&count(figures), COUNT - 1, Role::Text)
                .gap(1);
            states(&mut row, figures);
        }
        if chosen {
            row.line_in(self.ui.style(Role::Selection))
        } else {
            row.line()
        }
    }
}
