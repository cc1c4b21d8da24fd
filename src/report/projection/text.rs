//! A projection for people: a table for a terminal, and Markdown.

use std::fmt::Write as _;

use super::words;
use crate::report::layout::{Side, cells, fit, hang, together};
use crate::report::markdown::{escape, line};
use crate::report::sheet::cleaned;
use crate::session::Projection;

const HEADING: [&str; 6] = [
    "method",
    "protects at",
    "brings back at",
    "runs",
    "protect all",
    "bring all back",
];

fn rows(projection: &Projection) -> Vec<[String; 6]> {
    let ways = projection.ways.iter();
    ways.map(|way| {
        let runs = [way.protect, way.restore].into_iter().flatten();
        let runs = runs.map(|speed| speed.n).min().unwrap_or(0);
        [
            cleaned(&way.name),
            words::rate_or_not(way.protect),
            words::rate_or_not(way.restore),
            runs.to_string(),
            words::span_or_not(way.protecting),
            words::span_or_not(way.restoring),
        ]
    })
    .collect()
}

const NOTHING: &str = "Nothing in this recording tells how fast bytes were moved: no run of it ended well and has a rate.";

/// What a line of a projection is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LineKind {
    /// What it is about.
    Title,
    /// The name of a section, or of columns.
    Heading,
    /// A method, with its figures where these have room.
    Name,
    /// What is said of it.
    Said,
    /// What there is no answer to.
    Warning,
    /// Nothing.
    Blank,
}

/// Lines, each of a kind.
#[derive(Default)]
struct Lines(Vec<(LineKind, String)>);

impl Lines {
    fn add(&mut self, kind: LineKind, text: &str) {
        let lines = text.trim_end_matches('\n').split('\n');
        self.0.extend(lines.map(|line| (kind, line.to_owned())));
    }

    fn heading(&mut self, text: &str) {
        self.0.push((LineKind::Blank, String::new()));
        self.add(LineKind::Heading, text);
    }
}

/// A projection in lines of so many columns.
pub(super) fn lines(projection: &Projection, width: usize) -> Vec<(LineKind, String)> {
    use LineKind::{Name, Said, Title, Warning};
    let mut out = Lines::default();
    out.add(Title, &hang("", &words::title(projection), width));
    let rows = rows(projection);
    if rows.is_empty() {
        out.add(Warning, &hang("! ", NOTHING, width));
    } else {
        out.heading("Each method by itself");
        columns(&mut out, &rows, width);
    }
    if let Some(text) = words::without(projection) {
        out.add(Warning, &hang("  ! ", &text, width));
    }
    if !projection.pipelines.is_empty() {
        out.heading("One behind the other");
    }
    for pipeline in &projection.pipelines {
        out.add(Name, &hang("  ", &words::pipeline_name(pipeline), width));
        for sentence in words::pipeline(pipeline) {
            out.add(Said, &hang("    - ", &sentence, width));
        }
    }
    let printed: Vec<String> = projection.printed.iter().map(words::printed).collect();
    for (heading, sentences) in [
        ("As it is printed", &printed),
        ("Assumed", &projection.assumed),
    ] {
        if !sentences.is_empty() {
            out.heading(heading);
        }
        for sentence in sentences {
            out.add(Said, &hang("  - ", &cleaned(sentence), width));
        }
    }
    out.0
}

pub(super) fn table(projection: &Projection, width: usize) -> String {
    let lines = lines(projection, width).into_iter();
    lines.map(|(_, line)| line + "\n").collect()
}

// Under each other; where a line has no room for that, a sentence a method.
fn columns(out: &mut Lines, rows: &[[String; 6]], width: usize) {
    let heading = HEADING.map(str::to_owned);
    let all: Vec<&[String; 6]> = std::iter::once(&heading).chain(rows).collect();
    let widest = |at: usize| {
        let of_column = all.iter().filter_map(|row| row.get(at));
        of_column.map(|text| cells(text)).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..HEADING.len()).map(widest).collect();
    let whole: usize = widths.iter().map(|width| width + 2).sum();
    if whole > width {
        for [name, protects, brings, runs, protecting, restoring] in rows {
            out.add(LineKind::Name, &hang("  ", name, width));
            let runs = if runs == "1" {
                "1 run".to_owned()
            } else {
                format!("{runs} runs")
            };
            let at = |time: &str, rate: &str| {
                if time == rate {
                    // Neither is known.
                    return time.to_owned();
                }
                format!("{} (at {rate})", together(time))
            };
            let sentence = format!(
                "protect all: {}; bring all back: {}; {}",
                at(protecting, protects),
                at(restoring, brings),
                together(&runs)
            );
            out.add(LineKind::Said, &hang("    ", &sentence, width));
        }
        return;
    }
    for (line, row) in all.into_iter().enumerate() {
        let mut text = String::new();
        for (at, (cell, width)) in row.iter().zip(&widths).enumerate() {
            let side = if at == 3 { Side::Right } else { Side::Left };
            text.push_str("  ");
            text.push_str(&fit(cell, *width, side));
        }
        let kind = if line == 0 {
            LineKind::Heading
        } else {
            LineKind::Name
        };
        out.add(kind, text.trim_end());
    }
}

pub(super) fn markdown(projection: &Projection) -> String {
    let mut out = String::new();
    let _ = writeln!(out, "# {}\n", escape(&words::title(projection)));
    let rows = rows(projection);
    if rows.is_empty() {
        let _ = writeln!(out, "{NOTHING}\n");
    } else {
        line(&mut out, &HEADING.map(str::to_owned));
        line(&mut out, &["---"; 6].map(str::to_owned));
        for row in &rows {
            line(&mut out, row);
        }
        out.push('\n');
    }
    if let Some(text) = words::without(projection) {
        let _ = writeln!(out, "{}\n", escape(&text));
    }
    for pipeline in &projection.pipelines {
        let _ = writeln!(out, "## {}\n", escape(&words::pipeline_name(pipeline)));
        items(&mut out, words::pipeline(pipeline));
    }
    if !projection.printed.is_empty() {
        out.push_str("## As it is printed\n\n");
        items(
            &mut out,
            projection.printed.iter().map(words::printed).collect(),
        );
    }
    if !projection.assumed.is_empty() {
        out.push_str("## Assumed\n\n");
        items(
            &mut out,
            projection
                .assumed
                .iter()
                .map(|text| cleaned(text))
                .collect(),
        );
    }
    out.truncate(out.trim_end().len());
    out.push('\n');
    out
}

fn items(out: &mut String, all: Vec<String>) {
    for item in all {
        let _ = writeln!(out, "- {}", escape(&item));
    }
    out.push('\n');
}
