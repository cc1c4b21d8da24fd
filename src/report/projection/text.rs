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

pub(super) fn table(projection: &Projection, width: usize) -> String {
    let mut out = hang("", &words::title(projection), width);
    let rows = rows(projection);
    if rows.is_empty() {
        out.push_str(&hang("! ", NOTHING, width));
    } else {
        out.push_str("\nEach method by itself\n");
        columns(&mut out, &rows, width);
    }
    section(&mut out, width, words::without(projection));
    if !projection.pipelines.is_empty() {
        out.push_str("\nOne behind the other\n");
        for pipeline in &projection.pipelines {
            out.push_str(&hang("  ", &words::pipeline_name(pipeline), width));
            for sentence in words::pipeline(pipeline) {
                out.push_str(&hang("    - ", &sentence, width));
            }
        }
    }
    if !projection.printed.is_empty() {
        out.push_str("\nAs it is printed\n");
        for printed in &projection.printed {
            out.push_str(&hang("  - ", &words::printed(printed), width));
        }
    }
    if !projection.assumed.is_empty() {
        out.push_str("\nAssumed\n");
        for sentence in &projection.assumed {
            out.push_str(&hang("  - ", &cleaned(sentence), width));
        }
    }
    out
}

// Under each other; where a line has no room for that, a sentence a method.
fn columns(out: &mut String, rows: &[[String; 6]], width: usize) {
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
            out.push_str(&hang("  ", name, width));
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
            out.push_str(&hang("    ", &sentence, width));
        }
        return;
    }
    for row in all {
        let mut text = String::new();
        for (at, (cell, width)) in row.iter().zip(&widths).enumerate() {
            let side = if at == 3 { Side::Right } else { Side::Left };
            text.push_str("  ");
            text.push_str(&fit(cell, *width, side));
        }
        let _ = writeln!(out, "{}", text.trim_end());
    }
}

fn section(out: &mut String, width: usize, text: Option<String>) {
    if let Some(text) = text {
        out.push_str(&hang("  ! ", &text, width));
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
