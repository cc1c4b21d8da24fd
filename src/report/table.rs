//! A report as aligned text for a terminal.

use std::fmt::Write as _;

use crate::event::Origin;
use crate::session::{Row, Series, TimeColumn, labelled};

use super::environment;
use super::figures::Scale;
use super::headline::headline;
use super::layout::{Side, apart, cells, cut, fit, hang, name, together, wrap};
use super::sheet::{Head, Sheet};
use super::verdicts;
use super::words;

/// Cells of figures' names, where a line has no more room than that.
const MOST_NAME: usize = 24;
/// Pairs that may not be compared are listed up to here.
const MOST_PAIRS: usize = 20;

pub(super) fn render(sheet: &Sheet, width: usize) -> String {
    let mut out = String::new();
    for head in &sheet.heads {
        top(&mut out, head, width);
    }
    out.push_str(&hang("", &headline(&sheet.compared), width));
    let columns = Columns::of(&sheet.compared.rows, width);
    for row in &sheet.compared.rows {
        out.push('\n');
        block(&mut out, sheet, row, &columns, width);
    }
    verdicts(&mut out, sheet, width);
    at_once(&mut out, sheet, width);
    for head in &sheet.heads {
        bottom(&mut out, head, width);
    }
    hosts(&mut out, sheet, width);
    out
}

fn top(out: &mut String, head: &Head, width: usize) {
    let mut parts = vec![
        head.program.clone(),
        head.session.clone(),
        head.started.clone(),
    ];
    if head.reps > 0 {
        parts.push(format!("{} × each, {}", head.reps, head.order));
    }
    parts.extend(head.first.map(|first| format!("at once: {first}")));
    if head.origin == Origin::Published {
        parts.push(together(words::PUBLISHED));
    }
    parts.retain(|part| !part.is_empty());
    out.push_str(&hang("", &parts.join(" · "), width));
    for warning in &head.warnings {
        out.push_str(&hang("! ", warning, width));
    }
    if let Some(end) = &head.end {
        out.push_str(&hang("! ", end, width));
    }
}

/// Widths that all blocks share, so that figures stand under each other.
struct Columns {
    name: usize,
    median: usize,
    range: usize,
    n: usize,
}

/// One figure of a row, written.
struct Line {
    name: String,
    clock: String,
    median: String,
    range: String,
    n: String,
    values: String,
}

impl Columns {
    fn of(rows: &[Row], width: usize) -> Self {
        let most = MOST_NAME.max(width / 3);
        let mut widths = Self {
            name: 4,
            median: 6,
            range: 5,
            n: 2,
        };
        for line in rows.iter().flat_map(lines) {
            widths.name = widths.name.max(cells(&line.name)).min(most);
            widths.median = widths.median.max(cells(&line.median));
            widths.range = widths.range.max(cells(&line.range));
            widths.n = widths.n.max(cells(&line.n));
        }
        widths
    }

    /// A line without its values; these begin right after it.
    fn begin(&self, line: &Line) -> String {
        format!(
            "  {}  {}  {}  {}  {}  ",
            fit(&name(&line.name, self.name), self.name, Side::Left),
            fit(&line.clock, 5, Side::Left),
            fit(&line.median, self.median, Side::Right),
            fit(&line.range, self.range, Side::Right),
            fit(&line.n, self.n, Side::Right),
        )
    }
}

fn lines(row: &Row) -> Vec<Line> {
    let known = |time: &&TimeColumn| time.series.is_known();
    let times = ordered(&row.times).into_iter().filter(known).map(|time| {
        let clock = if time.stated {
            time.clock.to_string()
        } else {
            String::new()
        };
        line(&time.series, clock)
    });
    let space = row.space.iter().filter(|series| series.is_known());
    let space = space.map(|series| line(series, String::new()));
    times.chain(space).collect()
}

// Where a whole-second clock took less than ten seconds, a finer one of the same name goes first.
fn ordered(times: &[TimeColumn]) -> Vec<&TimeColumn> {
    let mut all: Vec<&TimeColumn> = times.iter().collect();
    for at in 1..all.len() {
        let Some([before, this]) = all.get(at - 1..=at) else {
            continue;
        };
        let (coarse, fine) = (&before.series, &this.series);
        let short = coarse.median().is_some_and(|median| median < 10.0);
        let finer = coarse.resolution >= 1.0 && fine.resolution < 1.0;
        if short && finer && coarse.title() == fine.title() {
            all.swap(at - 1, at);
        }
    }
    all
}

fn line(series: &Series, clock: String) -> Line {
    let scale = Scale::of(series);
    let full = |value: Option<f64>| value.map_or(String::new(), |value| scale.full(value));
    let range = |low: Option<f64>, high: Option<f64>| match (low, high) {
        (Some(low), Some(high)) => scale.range(low, high),
        _ => String::new(),
    };
    if series.n() == 0 {
        return Line {
            name: series.title(),
            clock,
            median: full(series.published),
            range: range(series.published_min, series.published_max),
            n: "–".to_owned(),
            values: "printed without its values".to_owned(),
        };
    }
    let values: Vec<String> = series
        .values
        .iter()
        .map(|value| scale.bare(*value))
        .collect();
    Line {
        name: series.title(),
        clock,
        median: full(series.median()),
        range: range(series.min(), series.max()),
        n: words::short_counts(series),
        values: values.join(" "),
    }
}

fn block(out: &mut String, sheet: &Sheet, row: &Row, columns: &Columns, width: usize) {
    title(out, sheet, row, width);
    about(out, row, width);
    let lines = lines(row);
    if !lines.is_empty() {
        let heading = Line {
            name: String::new(),
            clock: "clock".to_owned(),
            median: "median".to_owned(),
            range: "range".to_owned(),
            n: "n".to_owned(),
            values: "values".to_owned(),
        };
        for line in std::iter::once(heading).chain(lines) {
            let begin = columns.begin(&line);
            let room = width.saturating_sub(cells(&begin));
            if room >= 12 {
                out.push_str(&hang(&begin, &line.values, width));
            } else {
                // Too little is left beside the figures.
                let _ = writeln!(out, "{}", cut(begin.trim_end(), width));
                out.push_str(&hang("      ", &line.values, width));
            }
        }
    }
    for remark in &row.remarks {
        out.push_str(&hang("  ! ", remark, width));
    }
}

fn title(out: &mut String, sheet: &Sheet, row: &Row, width: usize) {
    let mut parts = vec![row.host.clone(), row.name()];
    if sheet.has_many_sessions() {
        parts.push(row.session.clone());
    }
    parts.retain(|part| !part.is_empty());
    let badge = match row.same_disk() {
        Some(true) => "same disk",
        Some(false) | None => "",
    };
    // All of it, in as many lines as that takes: rows are told apart by it.
    let room = width.saturating_sub(cells(badge) + 2);
    let mut lines = wrap(&parts.join(" · "), room).into_iter();
    let first = fit(&lines.next().unwrap_or_default(), room, Side::Left);
    let _ = writeln!(out, "{}", format!("{first}  {badge}").trim_end());
    for line in lines {
        let _ = writeln!(out, "{line}");
    }
}

// What the figures are of: subject, placement, how the runs ended, what was proved, labels.
fn about(out: &mut String, row: &Row, width: usize) {
    let mut parts = Vec::new();
    if !row.subject.kind.is_empty() {
        parts.push(row.subject.to_string());
    }
    parts.extend(row.placement.as_ref().map(words::placement));
    parts.push(words::states(&row.states));
    parts.extend(words::proofs(row));
    for (key, value) in &row.labels {
        parts.push(labelled(key, value));
    }
    parts.retain(|part| !part.is_empty());
    if !parts.is_empty() {
        out.push_str(&hang("  ", &parts.join(" · "), width));
    }
}

fn verdicts(out: &mut String, sheet: &Sheet, width: usize) {
    let said = verdicts::by_time(&sheet.compared);
    let against = verdicts::not_comparable(&sheet.compared);
    if said.is_empty() && against.is_empty() {
        return;
    }
    out.push_str("\nCompared\n");
    for (time, sentences) in said {
        out.push_str(&hang("  ", &time, width));
        for sentence in sentences {
            out.push_str(&hang("    - ", &sentence, width));
        }
    }
    for sentence in against.iter().take(MOST_PAIRS) {
        out.push_str(&hang("  - ", sentence, width));
    }
    let more = against.len().saturating_sub(MOST_PAIRS);
    if more > 0 {
        let _ = writeln!(out, "  and {more} more pairs that are not comparable");
    }
}

fn at_once(out: &mut String, sheet: &Sheet, width: usize) {
    let told = super::at_once(&sheet.compared);
    if !told.is_empty() {
        out.push_str("\nAt once\n");
    }
    for pair in told {
        out.push_str(&hang("  ", &pair.title, width));
        for sentence in pair.sentences {
            out.push_str(&hang("    - ", &sentence, width));
        }
    }
}

fn bottom(out: &mut String, head: &Head, width: usize) {
    for (title, texts) in [("Still out", &head.left), ("Notes", &head.notes)] {
        if texts.is_empty() {
            continue;
        }
        let _ = writeln!(out, "\n{title}");
        for text in texts {
            out.push_str(&hang("  ! ", text, width));
        }
    }
}

fn hosts(out: &mut String, sheet: &Sheet, width: usize) {
    let mut sentences = Vec::new();
    sentences.extend(words::trust(&sheet.compared.rows));
    sentences.extend(words::one_machine(&sheet.compared));
    let same_disk = words::same_disk(&sheet.compared);
    sentences.extend(same_disk.map(|says| format!("same disk: {says}")));
    if !sheet.hosts.is_empty() || !sentences.is_empty() {
        out.push('\n');
    }
    for sentence in sentences {
        for line in wrap(&sentence, width) {
            let _ = writeln!(out, "{}", apart(&line));
        }
    }
    for host in &sheet.hosts {
        let first = format!("{}: ", host.name);
        let text = format!("{first}{}", environment::line(host));
        let mut lines = wrap(&text, width.saturating_sub(2)).into_iter();
        let _ = writeln!(out, "{}", lines.next().unwrap_or_default());
        for line in lines {
            let _ = writeln!(out, "  {line}");
        }
    }
}
