//! Medians, and ranges as bars on one logarithmic axis.

use ratatui::text::Line;

use crate::session::Series;

use super::super::super::format;
use super::super::super::text;
use super::super::super::theme::Role;
use super::super::super::times::Time;
use super::super::super::view::Ui;
use super::super::super::widgets::figures::{proved, states};
use super::super::super::widgets::row::Row;
use super::{name, name_width};

/// Cells for a median with its error.
const MEDIAN: usize = 11;
/// A bar that is shorter says nothing.
const LEAST: usize = 12;

pub(super) fn lines(ui: Ui<'_>, time: &Time, width: usize) -> Vec<Line<'static>> {
    let front = name_width(ui, width) + 2 + MEDIAN + 2;
    let rows = &ui.tally.rows;
    let signs = rows
        .iter()
        .map(|row| row.states.len())
        .max()
        .unwrap_or_default();
    let cells = width.saturating_sub(front + signs + 16);
    let of = |at| time.of(ui.tally, at).map(|column| &column.series);
    let all: Vec<&Series> = (0..rows.len()).filter_map(of).collect();
    let axis = axis(&all, cells);
    let mut lines: Vec<Line<'static>> = rows
        .iter()
        .enumerate()
        .map(|(at, figures)| {
            let mut row = Row::new(ui, width);
            row.left(&name(ui, figures), name_width(ui, width), Role::Text)
                .gap(2);
            let series = of(at);
            row.right(&median(series), MEDIAN, Role::Accent).gap(2);
            if let Some(axis) = &axis {
                let bar = series.map_or_else(String::new, |series| axis.bar(series));
                row.left(&bar, cells, Role::Gauge);
            }
            row.gap(1);
            states(&mut row, figures);
            row.to(front + axis.as_ref().map_or(0, |_| cells) + 1 + signs);
            proved(&mut row, figures);
            row.line()
        })
        .collect();
    if let Some(axis) = axis {
        let mut row = Row::new(ui, width);
        row.gap(front).text(&axis.scale(), Role::Muted);
        lines.push(row.line());
    }
    lines
}

fn median(series: Option<&Series>) -> String {
    let known = series.and_then(|series| {
        let median = series.median().or(series.published)?;
        Some(format::figure_with_error(median, series.resolution))
    });
    known.unwrap_or_else(|| "·".to_owned())
}

/// Places on a logarithmic axis: a ratio is the same distance everywhere.
struct Axis {
    low: f64,
    high: f64,
    cells: usize,
}

/// The axis that holds every range; none where there is nothing to draw, or no room.
fn axis(all: &[&Series], cells: usize) -> Option<Axis> {
    let all = || all.iter().copied();
    // What a clock cannot tell from nothing has no place on a logarithmic axis but its resolution.
    let least = |series: &Series| Some(series.min()?.max(series.resolution).max(1e-3));
    let low = all().filter_map(least).reduce(f64::min)?;
    let high = all().filter_map(Series::max).reduce(f64::max)?;
    (cells >= LEAST && high.is_finite()).then(|| Axis {
        low: low * 0.9,
        high: high.max(low * 1.5) * 1.1,
        cells,
    })
}

impl Axis {
    fn place(&self, value: f64) -> usize {
        let last = self.cells.saturating_sub(1) as f64;
        let share = (value.max(self.low) / self.low).ln() / (self.high / self.low).ln();
        (share.clamp(0.0, 1.0) * last).round() as usize
    }

    /// `├──●──┤`, from the lowest over the median to the highest.
    fn bar(&self, series: &Series) -> String {
        let (Some(low), Some(median), Some(high)) = (series.min(), series.median(), series.max())
        else {
            return String::new();
        };
        let (from, at, to) = (self.place(low), self.place(median), self.place(high));
        (0..=to)
            .map(|cell| match cell {
                cell if cell == at => '●',
                cell if cell == from => '├',
                cell if cell == to => '┤',
                cell if cell > from => '─',
                _ => ' ',
            })
            .collect()
    }

    /// Round figures under the axis, as many as do not touch.
    fn scale(&self) -> String {
        let mut line = String::new();
        let round = (-3..7).flat_map(|power| [1.0, 2.0, 5.0].map(|step| step * 10_f64.powi(power)));
        for value in round.filter(|value| *value >= self.low && *value <= self.high) {
            let at = self.place(value);
            let taken = text::width(&line);
            let label = if value < 1.0 {
                format!("{value:.3}")
            } else {
                format!("{value:.0}")
            };
            let label = if value < 1.0 {
                label.trim_end_matches('0')
            } else {
                &label
            };
            if (taken == 0 || at > taken) && at + label.len() <= self.cells {
                line.push_str(&" ".repeat(at.saturating_sub(taken)));
                line.push_str(label);
            }
        }
        line
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bar_reaches_from_the_lowest_to_the_highest() {
        let axis = Axis {
            low: 1.0,
            high: 100.0,
            cells: 21,
        };
        let series = Series {
            values: vec![1.0, 10.0, 100.0],
            ..Series::default()
        };
        assert_eq!(axis.bar(&series), "├─────────●─────────┤");
        let one = Series {
            values: vec![10.0],
            ..Series::default()
        };
        assert_eq!(axis.bar(&one), "          ●");
        assert_eq!(axis.bar(&Series::default()), "");
    }

    #[test]
    fn round_figures_stand_under_the_axis() {
        let axis = Axis {
            low: 0.9,
            high: 130.0,
            cells: 44,
        };
        assert_eq!(
            axis.scale().split_whitespace().collect::<Vec<_>>(),
            ["1", "2", "5", "10", "20", "50", "100"]
        );
        let axis = Axis {
            low: 0.004,
            high: 0.06,
            cells: 44,
        };
        assert_eq!(
            axis.scale().split_whitespace().collect::<Vec<_>>(),
            ["0.005", "0.01", "0.02", "0.05"]
        );
    }
}
