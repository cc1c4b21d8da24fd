//! Every value of every time of every method.

use ratatui::text::Line;

use crate::session::Series;

use super::super::super::format;
use super::super::super::text;
use super::super::super::theme::Role;
use super::super::super::times::Time;
use super::super::super::view::Ui;
use super::super::super::widgets::figures::{count, range};
use super::super::super::widgets::row::Row;
use super::{name, name_width};

pub(super) fn lines(ui: Ui<'_>, times: &[Time], width: usize) -> Vec<Line<'static>> {
    let spaces = ui
        .tally
        .rows
        .iter()
        .flat_map(|row| &row.space)
        .map(Series::title);
    let titles = times.iter().map(Time::name).chain(spaces);
    let widest = titles
        .map(|title| text::width(&title))
        .max()
        .unwrap_or_default();
    let columns = Columns {
        name: name_width(ui, width),
        time: widest.clamp(8, 22),
    };
    let mut head = Row::new(ui, width);
    head.left("", columns.name, Role::Muted)
        .gap(2)
        .left("", columns.time, Role::Muted);
    head.right("median", 11, Role::Muted)
        .right("min–max", 14, Role::Muted);
    head.right("n", 8, Role::Muted)
        .gap(2)
        .text("values, in the order of the runs", Role::Muted);
    let mut rows = vec![head.line()];
    for figures in &ui.tally.rows {
        let mut title = name(ui, figures);
        let mut n = count(figures);
        for (series, clock) in figures
            .times
            .iter()
            .map(|column| (&column.series, column.stated.then_some(column.clock)))
            .chain(figures.space.iter().map(|series| (series, None)))
        {
            let mut row = columns.row(ui, width, &title, series, &n);
            if let Some(clock) = clock {
                row.whole(&format!("{clock} clock"), Role::Muted);
            }
            rows.push(row.line());
            title = String::new();
            n = String::new();
        }
    }
    rows
}

struct Columns {
    name: usize,
    time: usize,
}

impl Columns {
    fn row<'a>(&self, ui: Ui<'a>, width: usize, title: &str, series: &Series, n: &str) -> Row<'a> {
        let mut row = Row::new(ui, width);
        let is_time = series.unit == "s";
        let shown = |value: f64| {
            if is_time {
                format::figure(value, series.resolution)
            } else {
                format::value(value, &series.unit, series.resolution)
            }
        };
        let median = series.median().or(series.published).map(|median| {
            if is_time {
                format::figure_with_error(median, series.resolution)
            } else {
                shown(median)
            }
        });
        let n = if n.is_empty() {
            series.n().to_string()
        } else {
            n.to_owned()
        };
        let range = if is_time {
            range(series)
        } else {
            String::new()
        };
        let values: Vec<String> = series.values.iter().map(|value| shown(*value)).collect();
        row.left(title, self.name, Role::Text)
            .gap(2)
            .left(&series.title(), self.time, Role::Text)
            .right(&median.unwrap_or_else(|| "·".to_owned()), 11, Role::Accent)
            .right(&range, 14, Role::Text)
            .right(&n, 8, Role::Text)
            .gap(2)
            .text(
                &listed(&values, if is_time { " " } else { "  " }),
                Role::Text,
            );
        row
    }
}

/// Every value; those that are all alike once, with how many they are.
fn listed(values: &[String], gap: &str) -> String {
    match values {
        [first, .., _] if values.iter().all(|value| value == first) => {
            format!("{} × {first}", values.len())
        }
        _ => values.join(gap),
    }
}
