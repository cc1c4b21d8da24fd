//! Methods × times, with as much of each series as there is room for.

use std::ops::Range;

use ratatui::text::Line;

use crate::report::{Time, conditions};
use crate::session::{Row as Figures, TimeColumn};

use super::super::super::text;
use super::super::super::theme::Role;
use super::super::super::view::Ui;
use super::super::figures::{count, median, range, states, states_width};
use super::super::row::Row;
use super::values::{self, Tokens};

/// Cells for how many runs counted.
const COUNT: usize = 7;
/// Cells of signs of runs at most.
const SIGNS: usize = 14;
/// Cells of the conditions at most, before all times have a column.
const CONDITIONS: usize = 12;
/// Blanks between columns.
const GAP: usize = 2;
/// Fewer cells than these show hardly a value beside how many there are.
const LEAST: usize = 14;

/// A series as text.
struct Cell {
    median: String,
    range: String,
    values: Tokens,
}

impl Cell {
    fn of(figures: &Figures, column: &TimeColumn, width: usize) -> Self {
        let series = &column.series;
        Self {
            median: median(series),
            range: if series.n() == 1 {
                String::new()
            } else {
                range(series)
            },
            values: values::tokens(figures, column, width),
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
    fn of(ui: Ui<'_>, time: &Time, seen: &Range<usize>, width: usize) -> Self {
        let rows = &ui.figures.tally.rows;
        let cell = |at: usize| Some(Cell::of(rows.get(at)?, time.of(rows, at)?, width));
        let cells: Vec<Option<Cell>> = seen.clone().map(cell).collect();
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
        let values = widest(&|cell| match cell.values.last.as_slice() {
            // One good value is its median.
            [one] if one.words.is_empty() => 0,
            _ => values::width(&cell.values),
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
    /// The rows that are in sight.
    seen: Range<usize>,
    conditions: Vec<String>,
    name: usize,
    condition: usize,
    width: usize,
}

impl<'a> Table<'a> {
    /// Of the rows that are in sight, and the times from the one under the cursor on.
    pub fn of(ui: Ui<'a>, seen: Range<usize>, width: usize) -> Self {
        let times = &ui.figures.times;
        let (_, first) = ui.model.watching.median;
        let first = first.min(times.len().saturating_sub(1));
        let rows = &ui.figures.tally.rows;
        let rows = rows.get(seen.clone()).unwrap_or_default();
        let labels = ui.figures.labels.get(seen.clone()).unwrap_or_default();
        let conditions: Vec<String> = rows.iter().map(conditions).collect();
        let widest = |all: &[String]| all.iter().map(|text| text::width(text)).max();
        let whole = widest(labels).unwrap_or_default();
        let name = whole.clamp(8, (width / 3).max(8));
        let whole_condition = match ui.figures.conditions {
            // Said once, in the title.
            Some(_) => 0,
            None if width < 60 => 0,
            None => widest(&conditions).unwrap_or_default(),
        };
        let condition = whole_condition.min(CONDITIONS);
        let signs = rows.iter().map(states_width).max();
        let end = COUNT + signs.unwrap_or_default().min(SIGNS) + 1;
        let front = name + if condition > 0 { condition + 1 } else { 0 };
        let mut room = width.saturating_sub(front + end);
        let mut columns = Vec::new();
        for time in times.get(first..).unwrap_or_default() {
            let column = Column::of(ui, time, &seen, width);
            if column.width() + GAP > room && !columns.is_empty() {
                break;
            }
            room = room.saturating_sub(column.width() + GAP);
            columns.push(column);
        }
        // Rows are told apart before more is said of each.
        let missing = whole.saturating_sub(name).min(room);
        let name = name + missing;
        room -= missing;
        for column in &mut columns {
            room = column.grow(room);
        }
        let condition = condition + (whole_condition - condition).min(room);
        Self {
            ui,
            hidden: (first, times.len().saturating_sub(first + columns.len())),
            columns,
            seen,
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
            row.gap(GAP).name(&column.name, column.width(), Role::Muted);
        }
        row.gap(1).right("n", COUNT - 1, Role::Muted);
        row.line()
    }

    /// Every row; the one under the cursor is marked.
    pub fn rows(&self, cursor: Option<usize>) -> Vec<Line<'static>> {
        let rows = self.seen.clone().enumerate();
        rows.map(|(at, place)| self.row(at, place, cursor == Some(place)))
            .collect()
    }

    fn row(&self, at: usize, place: usize, chosen: bool) -> Line<'static> {
        let mut row = Row::new(self.ui, self.width);
        let label = self.ui.figures.labels.get(place);
        let label = label.map_or("", String::as_str);
        row.name(label, self.name, Role::Text);
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
        if let Some(figures) = self.ui.figures.tally.rows.get(place) {
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
