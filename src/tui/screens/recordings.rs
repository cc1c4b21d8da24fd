//! The list of recordings.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::Line;

use crate::event::EndState;
use crate::recording::{Outcome, RunSummary, Summary};
use crate::session::RunStage;

use super::super::keys::{Action, Context};
use super::super::recordings::Recording;
use super::super::signs::{self, Sign};
use super::super::theme::Role;
use super::super::view::{Titles, Ui};
use super::super::widgets::row::Row;
use super::super::{format, layout, text};

/// Cells of a date with its time.
const DATE: usize = 16;
/// Below this width a row says the least, from the other one on all of it.
const NARROW: usize = 70;
const WIDE: usize = 110;

/// Draws it.
pub(in super::super) fn draw(ui: Ui<'_>, buffer: &mut Buffer) {
    let (area, detail) = layout::recordings(ui.model);
    let list = &ui.model.recordings;
    let shown = list.shown(ui.model.zone);
    let page = layout::inner_height(area);
    let top = (list.at + 1).saturating_sub(page);
    let right = if !list.listed {
        "looking…".to_owned()
    } else if !list.all_read {
        format!("reading {} of {}", list.read(), list.rows.len())
    } else if list.filter.is_empty() {
        format::count(list.rows.len(), "recording")
    } else {
        format!(
            "{} of {} with “{}”",
            shown.len(),
            list.rows.len(),
            list.filter
        )
    };
    let titles = Titles {
        left: "Recordings",
        right: &right,
        foot: &format::below(shown.len(), top + page),
    };
    let inner = ui.pane(area, buffer, true, titles);
    let width = usize::from(inner.width);
    let rows: Vec<Line<'_>> = if shown.is_empty() {
        nothing(ui, width)
    } else {
        shown
            .iter()
            .enumerate()
            .map(|(at, recording)| {
                let row = row(ui, width, recording);
                if at == list.at {
                    row.line_in(ui.style(Role::Selection))
                } else {
                    row.line()
                }
            })
            .collect()
    };
    ui.rows(inner, buffer, &rows, top);
    if let Some(area) = detail {
        let current = shown.get(list.at).copied();
        draw_detail(ui, area, buffer, current);
    }
}

/// Why there is nothing to see.
fn nothing(ui: Ui<'_>, width: usize) -> Vec<Line<'static>> {
    let list = &ui.model.recordings;
    let folder = list.folder.display();
    let says = match &list.trouble {
        Some(why) => why.clone(),
        None if !list.listed => "Looking through the folder…".to_owned(),
        None if !list.filter.is_empty() => {
            let key = ui.model.keys.name(&[Context::Recordings], Action::Back);
            format!("No recording has that text. {key} shows all.")
        }
        None => format!("There are none in {folder} yet: every run writes one."),
    };
    let rows = text::wrap_words(&text::clean(&says), width.saturating_sub(1).max(1));
    rows.iter()
        .map(|line| {
            let mut row = Row::new(ui, width);
            row.gap(1).text(line, Role::Muted);
            row.line()
        })
        .collect()
}

/// How the outcome of a recording is shown.
fn sign(summary: &Summary) -> Sign {
    let of = |glyph, word, role| Sign { glyph, word, role };
    match summary.outcome() {
        Outcome::Done => signs::of_end(EndState::Ok),
        Outcome::Failed => signs::of_end(EndState::Failed),
        Outcome::Stopped => signs::of_end(EndState::Stopped),
        Outcome::GoingOn => of(signs::RUNNING.glyph, "going on", Role::Running),
        Outcome::Cut => of("?", "cut", Role::Warn),
        Outcome::Published => of("·", "published", Role::Info),
        Outcome::Unreadable => of("✗", "unreadable", Role::Error),
    }
}

fn row<'a>(ui: Ui<'a>, width: usize, recording: &Recording) -> Row<'a> {
    let mut row = Row::new(ui, width);
    row.gap(1);
    let Some(summary) = &recording.summary else {
        row.text(&recording.name(), Role::Muted)
            .gap(2)
            .text("not read yet", Role::Muted);
        return row;
    };
    let Some(date) = recording.date(ui.model.zone) else {
        row.name(&recording.name(), width / 2, Role::Text)
            .gap(1)
            .text(&format!("✗ {}", summary.result()), Role::Error);
        return row;
    };
    let sign = sign(summary);
    let good = summary.runs.iter().filter(|run| run.is_good()).count();
    let runs = match summary.outcome() {
        // Whoever published figures ran what they are of.
        Outcome::Published => String::new(),
        _ => format!("{good}/{}", summary.runs.len()),
    };
    let short = format!("{} {} {runs}", sign.glyph, sign.word);
    if width < NARROW {
        // It does without the year, the hosts, and how long it is.
        row.text(date.get(5..).unwrap_or_default(), Role::Text)
            .gap(2)
            .left(&format!("{} {runs}", sign.glyph), 7, sign.role)
            .gap(1)
            .text(&recording.methods(), Role::Text);
        return row;
    }
    let is_wide = width >= WIDE;
    let end = if is_wide { 22 } else { 11 };
    let rest = width.saturating_sub(DATE + 3 + end);
    let hosts = (rest / 5).clamp(8, 24);
    let result = if is_wide {
        (rest * 9 / 20).clamp(20, 60)
    } else {
        15
    };
    row.left(&date, DATE, Role::Text)
        .gap(2)
        .left(&recording.hosts(), hosts, Role::Text)
        .gap(2)
        .left(
            &recording.methods(),
            rest.saturating_sub(hosts + result + 4),
            Role::Text,
        )
        .gap(2);
    if is_wide {
        let says = format!("{} {}", sign.glyph, summary.result());
        row.left(&says, result, sign.role);
    } else {
        row.left(&short, result, sign.role);
    }
    row.gap(2)
        .right(&format::moment(summary.length), 8, Role::Text);
    if is_wide {
        row.gap(1)
            .right(&format::bytes(summary.size), 9, Role::Muted);
    }
    row
}

/// What there is to know of a recording.
fn draw_detail(ui: Ui<'_>, area: Rect, buffer: &mut Buffer, recording: Option<&Recording>) {
    let name = recording.map(Recording::name).unwrap_or_default();
    let titles = Titles {
        left: &text::clean(&name),
        ..Titles::default()
    };
    let inner = ui.pane(area, buffer, false, titles);
    let width = usize::from(inner.width);
    let Some(summary) = recording.and_then(|recording| recording.summary.as_ref()) else {
        return;
    };
    let mut rows = Vec::new();
    let sign = sign(summary);
    let mut result = Row::new(ui, width);
    result
        .gap(1)
        .text(&format!("{} {}", sign.glyph, summary.result()), sign.role);
    rows.push(result.line());
    let mut hosts = Row::new(ui, width);
    hosts.gap(1);
    for (at, host) in summary.hosts.iter().enumerate() {
        hosts
            .gap(if at == 0 { 0 } else { 3 })
            .text(&host.name, Role::Title);
        if !host.system.is_empty() {
            hosts.gap(1).text(&host.system, Role::Muted);
        }
    }
    rows.push(hosts.line());
    let methods = methods(summary);
    let name = methods.iter().map(|method| text::width(&method.name)).max();
    let name = name.unwrap_or_default().clamp(8, (width / 3).max(8));
    for method in methods {
        let mut row = Row::new(ui, width);
        row.gap(1).name(&method.name, name, Role::Text).gap(1);
        for run in &method.runs {
            let sign = signs::of_run(&run.stage);
            row.text(sign.glyph, sign.role);
        }
        row.gap(2).text(&method.says, Role::Muted);
        rows.push(row.line());
    }
    let mut foot = Row::new(ui, width);
    let program = format!(
        "written by {}, {} long, {}",
        summary.program,
        format::moment(summary.length),
        format::bytes(summary.size)
    );
    foot.gap(1).text(&program, Role::Muted);
    // The last line is always in sight.
    rows.truncate(usize::from(inner.height).saturating_sub(1));
    if summary.started.is_some() {
        rows.push(foot.line());
    }
    ui.rows(inner, buffer, &rows, 0);
}

/// A method of a recording on a subject.
struct Method<'a> {
    name: String,
    runs: Vec<&'a RunSummary>,
    says: String,
}

fn methods(summary: &Summary) -> Vec<Method<'_>> {
    let mut all: Vec<Method<'_>> = Vec::new();
    for run in &summary.runs {
        let bound = &run.bound;
        let known = all.iter_mut().find(|method| {
            method
                .runs
                .iter()
                .any(|other| other.bound.binding == bound.binding)
        });
        match known {
            Some(method) => method.runs.push(run),
            None => all.push(Method {
                name: bound.method.clone(),
                runs: vec![run],
                says: String::new(),
            }),
        }
    }
    for method in &mut all {
        method.says = says(&method.runs);
    }
    all
}

/// Seconds of the good runs, bytes of a copy, proofs, subject.
fn says(runs: &[&RunSummary]) -> String {
    let mut parts = Vec::new();
    let good = runs.iter().filter(|run| run.is_good());
    let mut seconds: Vec<f64> = good.filter_map(|run| run.seconds).collect();
    seconds.sort_by(f64::total_cmp);
    if let (Some(low), Some(high)) = (seconds.first(), seconds.last()) {
        let (low, high) = (format::figure(*low, 0.1), format::figure(*high, 0.1));
        let range = if low == high {
            low
        } else {
            format!("{low}–{high}")
        };
        parts.push(format!("{range} s a run"));
    }
    let stored = runs.iter().filter_map(|run| run.copies.stored).max();
    if let Some(stored) = stored {
        parts.push(format!("copy {}", format::bytes(stored)));
    }
    let verified = runs.iter().filter(|run| run.is_verified()).count();
    let ended = runs
        .iter()
        .filter(|run| matches!(run.stage, RunStage::Ended(..)))
        .count();
    if ended > 0 {
        parts.push(format!("{verified} of {ended} verified"));
    }
    if let Some(run) = runs.first() {
        parts.push(format!("{} on {}", run.bound.subject, run.bound.host));
    }
    parts.join(", ")
}
