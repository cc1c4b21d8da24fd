//! What came out so far: every value, the median, the range, n, proofs; failed runs stay in sight.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::Line;

use crate::session::{Row as Figures, Series, TimeColumn};

use super::super::model::Pane;
use super::super::theme::Role;
use super::super::times::{Time, label, times};
use super::super::view::{Titles, Ui};
use super::super::{format, signs, text};
use super::row::Row;

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

/// The pane.
pub(crate) fn draw(ui: Ui<'_>, area: Rect, buffer: &mut Buffer) {
    let has_keys = ui.model.watching.pane == Pane::Medians;
    let shared = !super::super::layout::has_both_figures(ui.model);
    let titles = Titles {
        left: "Medians, seconds",
        right: if shared { "b bytes" } else { "" },
        ..Titles::default()
    };
    let inner = ui.pane(area, buffer, has_keys, titles);
    let width = usize::from(inner.width);
    let names = times(ui.tally);
    if ui.tally.rows.is_empty() {
        let mut row = Row::new(ui, width);
        row.text("Nothing has been measured yet.", Role::Muted);
        ui.line(inner, buffer, &row.line());
        return;
    }
    let table = Table::of(ui, &names, width);
    if inner.height < 2 {
        return;
    }
    ui.line(Rect { height: 1, ..inner }, buffer, &table.head());
    let (cursor, _) = ui.model.watching.median;
    let rows: Vec<Line<'_>> = ui
        .tally
        .rows
        .iter()
        .enumerate()
        .map(|(at, row)| table.row(row, has_keys && at == cursor))
        .collect();
    let has_foot = inner.height > 3;
    let list = Rect {
        y: inner.y + 1,
        height: inner.height - 1 - u16::from(has_foot),
        ..inner
    };
    let focus = if has_keys { cursor } else { table.current() };
    ui.rows(
        list,
        buffer,
        &rows,
        (focus + 1).saturating_sub(usize::from(list.height)),
    );
    if has_foot {
        let foot = Rect {
            y: inner.bottom() - 1,
            height: 1,
            ..inner
        };
        ui.line(foot, buffer, &table.values(focus));
    }
}

struct Table<'a> {
    ui: Ui<'a>,
    /// The times that have a column.
    names: Vec<Time>,
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
    fn of(ui: Ui<'a>, names: &[Time], width: usize) -> Self {
        let (_, first) = ui.model.watching.median;
        let first = first.min(names.len().saturating_sub(1));
        let name = ui
            .tally
            .rows
            .iter()
            .map(|row| text::width(&label(ui.tally, row)))
            .max()
            .unwrap_or_default()
            .clamp(8, (width / 4).max(8));
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

    fn head(&self) -> Line<'static> {
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

    fn row(&self, figures: &Figures, chosen: bool) -> Line<'static> {
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

    /// The row of the method that goes on.
    fn current(&self) -> usize {
        let Some(run) = self.ui.model.run(self.ui.session) else {
            return 0;
        };
        let is_same = |row: &Figures| row.binding == run.binding.as_str();
        self.ui
            .tally
            .rows
            .iter()
            .position(is_same)
            .unwrap_or_default()
    }

    /// Every value of one series, in the order of the runs, and how well it is proved.
    fn values(&self, at: usize) -> Line<'static> {
        let mut row = Row::new(self.ui, self.width);
        let Some(figures) = self.ui.tally.rows.get(at) else {
            return row.line();
        };
        let column = self
            .names
            .iter()
            .find_map(|name| name.of(figures).filter(|column| is_timed(column)));
        row.text(&format!("{}: ", label(self.ui.tally, figures)), Role::Muted);
        if let Some(column) = column {
            let series = &column.series;
            let values: Vec<_> = series
                .values
                .iter()
                .map(|value| format::figure(*value, series.resolution))
                .collect();
            row.text(&format!("{} ", series.title()), Role::Muted)
                .text(&values.join(" "), Role::Text)
                .text(&format!(" ({} clock)", column.clock), Role::Muted);
        }
        proved(&mut row, figures);
        row.line()
    }
}

fn is_timed(column: &TimeColumn) -> bool {
    !column.series.values.is_empty()
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

/// Lowest to highest.
pub(crate) fn range(series: &Series) -> String {
    match (series.min(), series.max()) {
        (Some(low), Some(high)) => format::range(low, high, series.resolution),
        _ => String::new(),
    }
}

/// How many runs count, of how many.
pub(crate) fn count(row: &Figures) -> String {
    let good = row.states.iter().filter(|state| state.is_good()).count();
    if good == row.states.len() {
        good.to_string()
    } else {
        format!("{good} of {}", row.states.len())
    }
}

/// A sign a run, in their order; what failed stays in sight.
pub(crate) fn states(row: &mut Row<'_>, figures: &Figures) {
    for state in &figures.states {
        let sign = signs::of_end(*state);
        row.text(sign.sign, sign.role);
    }
}

/// How many runs are proved, and of what share.
pub(crate) fn proved(row: &mut Row<'_>, figures: &Figures) {
    if figures.of > 0 {
        let all = figures.matched == figures.of;
        let says = format!("proved {} of {}", figures.matched, figures.of);
        row.whole(&says, if all { Role::Ok } else { Role::Error });
    }
}
