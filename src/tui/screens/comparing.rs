//! What came out: one time as ranges on one axis, what may be said, and the whole table.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::Line;

use crate::session::{Row as Figures, Says, Series, Session, Tally, Verdict, compare};

use super::super::format;
use super::super::layout;
use super::super::model::Model;
use super::super::text;
use super::super::theme::Role;
use super::super::view::{Titles, Ui};
use super::super::widgets::medians::{count, label, range, states, time};
use super::super::widgets::row::Row;

/// Draws it.
pub(in super::super) fn draw(ui: Ui<'_>, area: Rect, buffer: &mut Buffer) {
    let names = times(ui.tally);
    let at = ui.model.comparing.time.min(names.len().saturating_sub(1));
    let title = names.get(at).map_or_else(
        || "Comparison".to_owned(),
        |name| format!("Comparison · {name}, seconds"),
    );
    let others = format!("time {} of {}, Tab for the next", at + 1, names.len());
    let right = if names.len() > 1 { others.as_str() } else { "" };
    let inner = ui.pane(
        area,
        buffer,
        true,
        Titles {
            left: &title,
            right,
            ..Titles::default()
        },
    );
    let rows = lines(ui, usize::from(inner.width));
    ui.rows(inner, buffer, &rows, ui.model.comparing.scroll);
}

/// How many rows it has.
pub(in super::super) fn rows(model: &Model, session: &Session) -> usize {
    let tally = Tally::of(session);
    let ui = Ui {
        model,
        session,
        tally: &tally,
    };
    lines(
        ui,
        usize::from(layout::screen(model).width.saturating_sub(2)),
    )
    .len()
}

/// The names of all times, in the order in which they first come.
pub(in super::super) fn times(tally: &Tally) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for column in tally.rows.iter().flat_map(|row| &row.times) {
        if !names.contains(&column.series.name) {
            names.push(column.series.name.clone());
        }
    }
    names
}

fn lines(ui: Ui<'_>, width: usize) -> Vec<Line<'static>> {
    let names = times(ui.tally);
    let Some(name) = names.get(ui.model.comparing.time.min(names.len().saturating_sub(1))) else {
        let mut row = Row::new(ui, width);
        row.text("Nothing has been measured yet.", Role::Muted);
        return vec![row.line()];
    };
    let mut rows = chart(ui, name, width);
    rows.push(Line::default());
    rows.extend(verdicts(ui, name, width));
    rows.extend(same_disk(ui, width));
    rows.push(Line::default());
    rows.extend(table(ui, &names, width));
    rows
}

/// The name of a row among all: with its host where there are several.
fn name(ui: Ui<'_>, row: &Figures) -> String {
    let several = ui.tally.rows.iter().any(|other| other.host != row.host);
    if several {
        format!("{} {}", row.host, label(row))
    } else {
        label(row)
    }
}

fn name_width(ui: Ui<'_>, width: usize) -> usize {
    let widest = ui
        .tally
        .rows
        .iter()
        .map(|row| text::width(&name(ui, row)))
        .max()
        .unwrap_or_default();
    widest.clamp(8, (width / 3).max(8))
}

/// Places on a logarithmic axis: a ratio is the same distance everywhere.
struct Axis {
    low: f64,
    high: f64,
    cells: usize,
}

impl Axis {
    fn place(&self, value: f64) -> usize {
        let last = self.cells.saturating_sub(1) as f64;
        let share = (value.max(self.low) / self.low).ln() / (self.high / self.low).ln();
        (share.clamp(0.0, 1.0) * last).round() as usize
    }
}

/// Medians, and ranges as bars on one axis.
fn chart(ui: Ui<'_>, time_name: &str, width: usize) -> Vec<Line<'static>> {
    let front = name_width(ui, width) + 2 + 12 + 2;
    let signs = ui
        .tally
        .rows
        .iter()
        .map(|row| row.states.len())
        .max()
        .unwrap_or_default();
    let cells = width.saturating_sub(front + signs + 12);
    let series = |row: &Figures| time(row, time_name).map(|column| column.series.clone());
    let all: Vec<Series> = ui.tally.rows.iter().filter_map(series).collect();
    // A whole-second clock that reads 0 has no place on a logarithmic axis but its resolution.
    let least = |series: &Series| series.min().map(|low| low.max(series.resolution.max(1e-3)));
    let low = all.iter().filter_map(least).reduce(f64::min);
    let high = all.iter().filter_map(Series::max).reduce(f64::max);
    let axis = low
        .zip(high)
        .filter(|_| cells >= 12)
        .map(|(low, high)| Axis {
            low: low * 0.9,
            high: high.max(low * 1.1) * 1.1,
            cells,
        });
    let mut rows = Vec::new();
    for figures in &ui.tally.rows {
        let mut row = Row::new(ui, width);
        row.left(&name(ui, figures), name_width(ui, width), Role::Text)
            .gap(2);
        let series = series(figures);
        let median = series
            .as_ref()
            .and_then(|series| Some((series.median()?, series.resolution)));
        let median = median.map_or_else(
            || "·".to_owned(),
            |(median, fine)| format::figure_with_error(median, fine),
        );
        row.right(&median, 12, Role::Accent).gap(2);
        if let (Some(axis), Some(series)) = (&axis, &series) {
            row.text(&bar(axis, series), Role::Gauge);
        }
        row.to(front + if axis.is_some() { cells } else { 0 })
            .gap(1);
        states(&mut row, figures);
        if figures.of > 0 {
            let role = if figures.matched == figures.of {
                Role::Ok
            } else {
                Role::Error
            };
            row.whole(&format!("proved {}/{}", figures.matched, figures.of), role);
        }
        rows.push(row.line());
    }
    if let Some(axis) = axis {
        let mut row = Row::new(ui, width);
        row.gap(front).text(&scale(&axis), Role::Muted);
        rows.push(row.line());
    }
    rows
}

/// `├──●──┤`, from the lowest over the median to the highest.
fn bar(axis: &Axis, series: &Series) -> String {
    let (Some(low), Some(median), Some(high)) = (series.min(), series.median(), series.max())
    else {
        return String::new();
    };
    let (from, at, to) = (axis.place(low), axis.place(median), axis.place(high));
    (0..axis.cells)
        .map(|cell| match cell {
            cell if cell == at => '●',
            cell if cell == from => '├',
            cell if cell == to => '┤',
            cell if cell > from && cell < to => '─',
            _ => ' ',
        })
        .collect()
}

/// Round figures under the axis, as many as do not touch.
fn scale(axis: &Axis) -> String {
    let mut line = String::new();
    let decades = (-3..7).flat_map(|power| [1.0, 2.0, 5.0].map(|step| step * 10_f64.powi(power)));
    for value in decades.filter(|value| *value >= axis.low && *value <= axis.high) {
        let at = axis.place(value);
        let taken = text::width(&line);
        let label = if value < 1.0 {
            format!("{value}")
        } else {
            format!("{value:.0}")
        };
        if (taken == 0 || at > taken) && at + label.len() <= axis.cells {
            line.push_str(&" ".repeat(at - taken));
            line.push_str(&label);
        }
    }
    line
}

/// What may be said, in words and with the ranges.
fn verdicts(ui: Ui<'_>, time_name: &str, width: usize) -> Vec<Line<'static>> {
    let mut rows = Vec::new();
    for verdict in compare(ui.tally)
        .iter()
        .filter(|verdict| verdict.time == time_name)
    {
        let Some((sentence, role)) = sentence(ui, verdict) else {
            continue;
        };
        for (at, part) in text::wrap_words(&text::clean(&sentence), width.saturating_sub(2).max(1))
            .iter()
            .enumerate()
        {
            let mut row = Row::new(ui, width);
            row.gap(if at == 0 { 0 } else { 2 }).text(part, role);
            rows.push(row.line());
        }
    }
    rows
}

fn sentence(ui: Ui<'_>, verdict: &Verdict) -> Option<(String, Role)> {
    let a = ui.tally.rows.get(verdict.a)?;
    let b = ui.tally.rows.get(verdict.b)?;
    let (name_a, name_b) = (name(ui, a), name(ui, b));
    let series = |row| time(row, &verdict.time).map(|column| &column.series);
    let (x, y) = (series(a)?, series(b)?);
    let ratios = match (verdict.low, verdict.high) {
        (Some(low), Some(high)) => format!(", {} to {}", format::ratio(low), format::ratio(high)),
        _ => String::new(),
    };
    let (n, m) = (x.values.len(), y.values.len());
    let count = if n == m {
        format!("n = {n}")
    } else {
        format!("n = {n} and {m}")
    };
    let ranges = format!("{} and {} {}", range(x), range(y), x.unit);
    Some(match &verdict.says {
        Says::Faster => (
            format!("{name_a} is faster than {name_b}{ratios} ({ranges}, {count})"),
            Role::Ok,
        ),
        Says::Slower => (
            format!("{name_b} is faster than {name_a}{ratios} ({ranges}, {count})"),
            Role::Ok,
        ),
        Says::Apart { n } => (
            format!("{name_a} and {name_b}: ranges do not overlap, n = {n}{ratios} ({ranges})"),
            Role::Text,
        ),
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

fn same_disk(ui: Ui<'_>, width: usize) -> Vec<Line<'static>> {
    let is_same = |row: &&Figures| {
        row.placement
            .as_ref()
            .and_then(|placement| placement.same_disk())
            == Some(true)
    };
    let names: Vec<String> = ui
        .tally
        .rows
        .iter()
        .filter(is_same)
        .map(|row| name(ui, row))
        .collect();
    if names.is_empty() {
        return Vec::new();
    }
    let says = format!(
        "{}: the copy shares a disk with the original. One dead disk takes both.",
        names.join(", ")
    );
    let mut rows = Vec::new();
    for (at, part) in text::wrap_words(&text::clean(&says), width.saturating_sub(12).max(1))
        .iter()
        .enumerate()
    {
        let mut row = Row::new(ui, width);
        if at == 0 {
            row.text(" same disk ", Role::Badge).gap(1);
        }
        row.to(12).text(part, Role::Warn);
        rows.push(row.line());
    }
    rows
}

/// Every value of every time of every method.
fn table(ui: Ui<'_>, names: &[String], width: usize) -> Vec<Line<'static>> {
    let first = name_width(ui, width);
    let second = names
        .iter()
        .map(|name| text::width(name))
        .max()
        .unwrap_or_default()
        .clamp(6, 18);
    let mut head = Row::new(ui, width);
    head.left("", first, Role::Muted)
        .gap(2)
        .left("time", second, Role::Muted);
    head.right("median", 12, Role::Muted)
        .right("min–max", 14, Role::Muted)
        .right("n", 8, Role::Muted);
    head.gap(2)
        .text("values in the order of the runs", Role::Muted);
    let mut rows = vec![head.line()];
    for figures in &ui.tally.rows {
        for (at, column) in figures.times.iter().enumerate() {
            let series = &column.series;
            let mut row = Row::new(ui, width);
            let title = if at == 0 {
                name(ui, figures)
            } else {
                String::new()
            };
            row.left(&title, first, Role::Text)
                .gap(2)
                .left(&series.name, second, Role::Text);
            let median = series.median().or(series.published);
            let median = median.map_or_else(
                || "·".to_owned(),
                |median| format::figure_with_error(median, series.resolution),
            );
            let n = if at == 0 {
                count(figures)
            } else {
                series.values.len().to_string()
            };
            row.right(&median, 12, Role::Accent)
                .right(&range(series), 14, Role::Text)
                .right(&n, 8, Role::Text);
            let values: Vec<_> = series
                .values
                .iter()
                .map(|value| format::figure(*value, series.resolution))
                .collect();
            row.gap(2).text(&values.join(" "), Role::Text);
            row.whole(&format!("{} clock", column.clock), Role::Muted);
            rows.push(row.line());
        }
        for series in &figures.space {
            let mut row = Row::new(ui, width);
            row.left("", first, Role::Text)
                .gap(2)
                .left(&series.name, second, Role::Text);
            let shown = |value: f64| format::value(value, &series.unit, series.resolution);
            let median = series.median().or(series.published);
            row.right(
                &median.map_or_else(|| "·".to_owned(), shown),
                12,
                Role::Accent,
            );
            row.gap(14)
                .right(&series.values.len().to_string(), 8, Role::Text);
            let values: Vec<_> = series.values.iter().map(|value| shown(*value)).collect();
            row.gap(2).text(&values.join("  "), Role::Muted);
            rows.push(row.line());
        }
    }
    rows
}
