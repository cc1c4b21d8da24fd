//! Methods × times, with as much of each series as there is room for.

use ratatui::text::Line;

use crate::report::{Time, conditions};
use crate::session::{Row as Figures, TimeColumn};

use super::super::super::text;
use super::super::super::theme::Role;
use super::super::super::times::label;
use super::super::super::view::Ui;
use super::super::figures::{count, median, range, states, states_width};
use super::super::row::Row;
use super::values::{self, Token};

/// Cells for how many runs counted.
const COUNT: usize = 7;
/// Cells of signs of runs at most.
const SIGNS: usize = 14;
/// Cells of the conditions at most.
const CONDITIONS: usize = 12;
/// Blanks between columns.
const GAP: usize = 2;
/// Fewer cells than these show hardly a value beside how many there are.
const LEAST: usize = 14;

/// The conditions of all rows, where these are the same.
pub(super) fn shared_conditions(rows: &[Figures]) -> Option<String> {
    let mut all = rows.iter().map(conditions);
    let first = all.next()?;
    all.all(|other| other == first).then_some(first)
}

/// A series as text.
struct Cell {
    median: String,
    range: String,
    values: Vec<Token>,
}

impl Cell {
    fn of(figures: &Figures, column: &TimeColumn) -> Self {
        let series = &column.series;
        Self {
            median: median(series),
            range: if series.n() == 1 {
                String::new()
            } else {
                range(series)
            },
            values: values::tokens(figures, column),
        }
    }
}

/// A time, its text in each row, and the cells of each part of it.
struct Column {
    name: String,
    cells: Vec<Option<Cell>>,
    median: usize,
    range: usize,
    values: usize,
}

impl Column {
    /// With its median alone.
    fn of(ui: Ui<'_>, time: &Time) -> Self {
        let rows = &ui.tally.rows;
        let cell = |(at, figures): (usize, &Figures)| Some(Cell::of(figures, time.of(rows, at)?));
        let cells: Vec<Option<Cell>> = rows.iter().enumerate().map(cell).collect();
        let widest = cells.iter().flatten().map(|cell| text::width(&cell.median));
        let name = time.name();
        Self {
            median: widest
                .max()
                .unwrap_or_default()
                .max(text::width(&name).min(12)),
            name,
            cells,
            range: 0,
            values: 0,
        }
    }

    fn width(&self) -> usize {
        let part = |cells: usize| if cells > 0 { cells + GAP } else { 0 };
        self.median + part(self.range) + part(self.values)
    }

    /// Takes what more it can use of so many cells; gives what is left.
    fn grow(&mut self, room: usize) -> usize {
        let mut room = room;
        let widest = |of: &dyn Fn(&Cell) -> usize| self.cells.iter().flatten().map(of).max();
        let range = widest(&|cell| text::width(&cell.range)).unwrap_or_default();
        let values = widest(&|cell| match cell.values.as_slice() {
            // One good value is its median.
            [one] if one.words.is_empty() => 0,
            all => values::width(all),
        });
        let values = values.unwrap_or_default();
        if range > 0 && range + GAP <= room {
            self.range = range;
            room -= range + GAP;
        }
        if values > 0 && room >= values.min(LEAST) + GAP {
            self.values = values.min(room - GAP);
            room -= self.values + GAP;
        }
        room
    }
}

/// The table, fitted to its width.
pub(super) struct Table<'a> {
    ui: Ui<'a>,
    columns: Vec<Column>,
    /// Times that have no column, at either side.
    hidden: (usize, usize),
    labels: Vec<String>,
    conditions: Vec<String>,
    name: usize,
    condition: usize,
    width: usize,
}

impl<'a> Table<'a> {
    /// Of the times from the one under the cursor on.
    pub fn of(ui: Ui<'a>, times: &[Time], width: usize) -> Self {
        let (_, first) = ui.model.watching.median;
        let first = first.min(times.len().saturating_sub(1));
        let rows = &ui.tally.rows;
        let labels: Vec<String> = rows.iter().map(|row| label(ui.tally, row)).collect();
        let conditions: Vec<String> = rows.iter().map(conditions).collect();
        let widest = |all: &[String]| all.iter().map(|text| text::width(text)).max();
        let name = widest(&labels).unwrap_or_default();
        let name = name.clamp(8, (width / 3).max(8));
        let condition = match shared_conditions(rows) {
            // Said once, in the title.
            Some(_) => 0,
            None if width < 60 => 0,
            None => widest(&conditions).unwrap_or_default().min(CONDITIONS),
        };
        let signs = rows.iter().map(states_width).max();
        let end = COUNT + signs.unwrap_or_default().min(SIGNS) + 1;
        let front = name + if condition > 0 { condition + 1 } else { 0 };
        let mut room = width.saturating_sub(front + end);
        let mut columns = Vec::new();
        for time in times.get(first..).unwrap_or_default() {
            let column = Column::of(ui, time);
            if column.width() + GAP > room && !columns.is_empty() {
                break;
            }
            room = room.saturating_sub(column.width() + GAP);
            columns.push(column);
        }
        for column in &mut columns {
            room = column.grow(room);
        }
        Self {
            ui,
            hidden: (first, times.len().saturating_sub(first + columns.len())),
            columns,
            labels,
            conditions,
            name,
            condition,
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
        if self.condition > 0 {
            row.gap(self.condition + 1);
        }
        for column in &self.columns {
            row.gap(GAP).left(&column.name, column.width(), Role::Muted);
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
        if self.condition > 0 {
            let condition = self.conditions.get(at).map_or("", String::as_str);
            row.gap(1).left(condition, self.condition, Role::Info);
        }
        for column in &self.columns {
            row.gap(GAP);
            let start = row.width();
            match column.cells.get(at).and_then(Option::as_ref) {
                Some(cell) => {
                    row.left(&cell.median, column.median, Role::Accent);
                    if column.range > 0 {
                        row.gap(GAP).left(&cell.range, column.range, Role::Text);
                    }
                    if column.values > 0 {
                        row.gap(GAP);
                        values::draw(&mut row, &cell.values, column.values);
                    }
                }
                None => {
                    row.text("·", Role::Pending);
                }
            }
            row.to(start + column.width());
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
