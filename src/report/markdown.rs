//! A report as Markdown.

use std::fmt::Write as _;

use crate::event::Origin;
use crate::session::{Row, Series, labelled};

use super::environment;
use super::figures::Scale;
use super::headline::headline;
use super::overview::overview;
use super::sheet::{Head, Sheet};
use super::verdicts;
use super::words;

pub(super) fn render(sheet: &Sheet) -> String {
    let mut out = String::new();
    for head in &sheet.heads {
        top(&mut out, head);
    }
    let _ = writeln!(out, "{}\n", escape(&headline(&sheet.compared)));
    beside(&mut out, sheet);
    runs(&mut out, sheet);
    figures(&mut out, sheet);
    let remarks = sheet.compared.rows.iter().flat_map(|row| {
        let name = sheet.compared.name(row);
        let sentence = move |remark| format!("{name}: {remark}");
        row.remarks.iter().map(sentence)
    });
    list(&mut out, "Remarks", remarks);
    let said = verdicts::by_time(&sheet.compared)
        .into_iter()
        .flat_map(|(time, sentences)| {
            let sentence = move |sentence| format!("{time}: {sentence}");
            sentences.into_iter().map(sentence)
        });
    list(
        &mut out,
        "Compared",
        said.chain(verdicts::not_comparable(&sheet.compared)),
    );
    let at_once = super::at_once(&sheet.compared);
    let at_once = at_once.into_iter().flat_map(|pair| {
        let title = pair.title;
        let sentence = move |sentence| format!("{title}: {sentence}");
        pair.sentences.into_iter().map(sentence)
    });
    list(&mut out, "At once", at_once);
    list(&mut out, "Still out", all(sheet, |head| &head.left));
    list(&mut out, "Notes", all(sheet, |head| &head.notes));
    let hosts = sheet
        .hosts
        .iter()
        .map(|host| format!("{}: {}", host.name, environment::line(host)));
    list(
        &mut out,
        "Measured on",
        hosts.chain(words::trust(&sheet.compared.rows)),
    );
    out.truncate(out.trim_end().len());
    out.push('\n');
    out
}

fn all<'a>(
    sheet: &'a Sheet,
    texts: impl Fn(&'a Head) -> &'a Vec<String>,
) -> impl Iterator<Item = String> {
    sheet.heads.iter().flat_map(texts).cloned()
}

fn top(out: &mut String, head: &Head) {
    let _ = writeln!(
        out,
        "# {} {}\n",
        escape(&head.program),
        escape(&head.session)
    );
    let mut parts = vec![head.started.clone()];
    if head.reps > 0 {
        parts.push(format!("{} × each, {}", head.reps, head.order));
    }
    parts.extend(head.first.map(|first| format!("at once: {first}")));
    if head.origin == Origin::Published {
        parts.push(words::PUBLISHED.to_owned());
    }
    parts.retain(|part| !part.is_empty());
    let _ = writeln!(out, "{}\n", escape(&parts.join(" · ")));
    for warning in head.warnings.iter().chain(&head.end) {
        let _ = writeln!(out, "> **Warning:** {}\n", escape(warning));
    }
}

pub(super) fn line(out: &mut String, cells: &[String]) {
    out.push('|');
    for cell in cells {
        let _ = write!(out, " {} |", escape(cell));
    }
    out.push('\n');
}

fn heading(out: &mut String, cells: &[&str]) {
    let _ = writeln!(out, "| {} |", cells.join(" | "));
    let _ = writeln!(out, "|{}", " --- |".repeat(cells.len()));
}

// All of it in one table, as the dashboard compares.
fn beside(out: &mut String, sheet: &Sheet) {
    let overview = overview(&sheet.compared);
    if overview.rows.is_empty() {
        return;
    }
    let titles: Vec<String> = overview.columns.iter().map(|title| escape(title)).collect();
    let titles: Vec<&str> = titles.iter().map(String::as_str).collect();
    heading(out, &titles);
    for row in overview.rows {
        let cells: Vec<String> = row.into_iter().map(|cell| cell.text).collect();
        line(out, &cells);
    }
    out.push('\n');
}

fn runs(out: &mut String, sheet: &Sheet) {
    let columns = [
        "runs",
        "subject",
        "ended",
        "verified",
        "original → copy",
        "same disk",
    ];
    heading(out, &columns);
    for row in &sheet.compared.rows {
        let same_disk = match row.same_disk() {
            Some(true) => "same disk",
            Some(false) => "no",
            None => "not known",
        };
        let placement = row.placement.as_ref().map(words::placement);
        line(
            out,
            &[
                titled(sheet, row),
                row.subject.to_string(),
                words::states(&row.states),
                words::proofs(row).unwrap_or_default(),
                placement.unwrap_or_default(),
                same_disk.to_owned(),
            ],
        );
    }
    out.push('\n');
}

// With its labels, which the table of figures has no column for.
fn titled(sheet: &Sheet, row: &Row) -> String {
    let mut name = sheet.compared.name(row);
    for (key, value) in &row.labels {
        name = format!("{name}, {}", labelled(key, value));
    }
    name
}

fn figures(out: &mut String, sheet: &Sheet) {
    heading(
        out,
        &["runs", "figure", "clock", "median", "range", "n", "values"],
    );
    for row in &sheet.compared.rows {
        for time in row.times.iter().filter(|time| time.series.is_known()) {
            let clock = time.stated.then(|| time.clock.to_string());
            figure(
                out,
                sheet.compared.name(row),
                &time.series,
                clock.unwrap_or_default(),
            );
        }
        for series in row.space.iter().filter(|series| series.is_known()) {
            figure(out, sheet.compared.name(row), series, String::new());
        }
    }
    out.push('\n');
}

fn figure(out: &mut String, name: String, series: &Series, clock: String) {
    let scale = Scale::of(series);
    let median = series.median().or(series.published);
    let low = series.min().or(series.published_min);
    let high = series.max().or(series.published_max);
    let range = low.zip(high).map(|(low, high)| scale.range(low, high));
    let values: Vec<String> = series
        .values
        .iter()
        .map(|value| scale.bare(*value))
        .collect();
    let (n, values) = if values.is_empty() {
        ("–".to_owned(), "printed without its values".to_owned())
    } else {
        (words::short_counts(series), values.join(" "))
    };
    line(
        out,
        &[
            name,
            series.title(),
            clock,
            median.map_or(String::new(), |value| scale.full(value)),
            range.unwrap_or_default(),
            n,
            values,
        ],
    );
}

fn list(out: &mut String, title: &str, items: impl Iterator<Item = String>) {
    let mut items = items.peekable();
    if items.peek().is_none() {
        return;
    }
    let _ = writeln!(out, "## {title}\n");
    for item in items {
        let _ = writeln!(out, "- {}", escape(&item));
    }
    out.push('\n');
}

// Text of hosts and operators must not become a table's end, a link or HTML.
pub(super) fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\\' | '|' | '`' | '*' | '[' | ']' => {
                out.push('\\');
                out.push(c);
            }
            '<' => out.push_str("&lt;"),
            '&' => out.push_str("&amp;"),
            '\u{a0}' => out.push(' '),
            c => out.push(c),
        }
    }
    out
}
