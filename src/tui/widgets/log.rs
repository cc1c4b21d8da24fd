//! The log of a run: only the lines that are seen are looked at.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::{Line, Span};

use crate::event::Stream;
use crate::report::{Stamped, Stamps};
use crate::session::{RunStage, RunView, StepView};

use super::super::found::Found;
use super::super::keys::{Action, Context};
use super::super::layout::{self, Page};
use super::super::model::{Layer, Pane};
use super::super::query::Syntax;
use super::super::runlog::{self, At, Entry, RunLog};
use super::super::theme::Role;
use super::super::view::{Titles, Ui};
use super::super::{format, text};
use super::row::Row;

/// Lines of more steps than this are not counted.
const MANY_STEPS: usize = 1_000;

/// The pane of one run.
pub(crate) fn draw(ui: Ui<'_>, area: Rect, buffer: &mut Buffer, run: Option<&RunView>) {
    let pinned = ui.model.watching.log.top.as_ref();
    let is_pinned = run.is_some_and(|run| pinned.is_some_and(|(of, _)| *of == run.run));
    let has_keys = ui.model.watching.pane == Pane::Log && (is_pinned || ui.is_looked_at(run));
    let Some(run) = run.filter(|run| !run.steps.is_empty()) else {
        ui.pane(
            area,
            buffer,
            has_keys,
            Titles {
                left: "Log",
                ..Titles::default()
            },
        );
        return;
    };
    let log = RunLog::seen(ui.session, run, &ui.model.watching.log);
    let parts = layout::log_parts(ui.model, area, Some(run));
    let page = layout::page_in(ui.model, parts.lines);
    let top = top(ui, run, &log, page);
    let (rows, last) = rows(ui, run, &log, top, page);
    let name = run
        .steps
        .get(last.step)
        .map_or("", |step| step.planned.name.as_str());
    let titles = Titles {
        left: &format!("Log · {} · {name}", title(ui, run)),
        right: &standing(ui, run, &log, last, is_pinned),
        foot: &age(ui, run, page),
    };
    ui.pane(area, buffer, has_keys, titles);
    if let Some(head) = parts.head {
        command(ui, area, head, buffer, run.steps.get(top.step));
    }
    ui.rows(parts.lines, buffer, &rows, 0);
}

/// The exact command above its lines, and a line below it.
fn command(ui: Ui<'_>, area: Rect, head: Rect, buffer: &mut Buffer, step: Option<&StepView>) {
    let Some(step) = step else { return };
    let width = usize::from(head.width);
    let rows = runlog::command(step, width);
    let room = usize::from(head.height);
    let hidden = rows.len().saturating_sub(room);
    let mut lines: Vec<Line<'_>> = rows
        .iter()
        .take(room)
        .map(|row| {
            let mut line = Row::new(ui, width);
            line.text(row, Role::LogCommand);
            line.line()
        })
        .collect();
    if hidden > 0 {
        let mut line = Row::new(ui, width);
        let says = format!(
            "  … {}: copy or save it",
            format::count(hidden + 1, "more row")
        );
        line.text(&says, Role::Muted);
        lines.pop();
        lines.push(line.line());
    }
    ui.rows(head, buffer, &lines, 0);
    ui.rule(area, buffer, head.bottom());
}

fn title(ui: Ui<'_>, run: &RunView) -> String {
    let method = ui
        .session
        .binding(&run.binding)
        .map_or("run", |binding| binding.method.as_str());
    format!("{method} {}", run.rep)
}

/// The first row that is shown.
fn top(ui: Ui<'_>, run: &RunView, log: &RunLog<'_>, page: Page) -> At {
    let end = log.last_page(page.height, page.wrap);
    match &ui.model.watching.log.top {
        Some((of, at)) if *of == run.run => log.clamp(*at).min(end),
        _ => end,
    }
}

/// What is searched for and let through, and what is below.
fn standing(ui: Ui<'_>, run: &RunView, log: &RunLog<'_>, last: At, is_pinned: bool) -> String {
    let view = &ui.model.watching.log;
    let mut parts = Vec::new();
    let typed = |sign: &str, found: &Found| {
        let text = text::clean(found.query.text()).into_owned();
        let cut = text::cut(&text, 24).into_owned();
        match found.query.syntax() {
            Syntax::Text => format!("{sign}{cut}"),
            Syntax::Regex => format!("{sign}{cut} (regex)"),
        }
    };
    if let Some(found) = &view.filter {
        parts.push(typed("&", found));
    }
    if let Some(found) = &view.search {
        let hit = view.hit.as_ref().filter(|(of, _)| *of == run.run);
        let (at, of) = log.count(found, hit.map(|(_, at)| *at));
        let of = format::many(of);
        let count = match at {
            Some(at) => format!("{} of {of}", format::many(at)),
            None if log.is_cut() => format!("{of} found in the lines kept"),
            None => format!("{of} found"),
        };
        parts.push(format!("{} {count}", typed("/", found)));
    }
    let is_many = log.steps() > MANY_STEPS;
    let lines = if is_many {
        format!("{} steps", format::many(log.steps() as u64))
    } else if view.filter.is_some() {
        let all = lines_of(log.unfiltered());
        format!("{} of {all}", format::many(log.len()))
    } else {
        lines_of(log.len())
    };
    let follow = ui.model.keys.name(&[Context::Watching], Action::Follow);
    if is_pinned {
        if is_many {
            let at = format::many(last.step as u64 + 1);
            parts.push(format!("step {at} of {lines}"));
        } else {
            match log.below(last) {
                0 => parts.extend(["end".to_owned(), lines]),
                below => parts.push(format!("{} below", lines_of(below))),
            }
        }
        parts.push(format!("{follow} follows"));
    } else {
        // Nothing more comes where all is over.
        let word = match ui.session.end {
            Some(_) => "end",
            None => "following",
        };
        parts.extend([word.to_owned(), lines]);
    }
    parts.join(" · ")
}

fn lines_of(n: u64) -> String {
    format::many_of(n, "line")
}

/// How long ago the last line came, while more may come.
fn age(ui: Ui<'_>, run: &RunView, page: Page) -> String {
    let view = &ui.model.watching.log;
    let mut parts = Vec::new();
    if view.left > 0 && page.wrap.is_none() {
        parts.push(format!("from column {}", view.left + 1));
    }
    match view.times {
        Stamps::SinceBegin => parts.push("since the step began".to_owned()),
        Stamps::SinceLast => parts.push("since the line before".to_owned()),
        Stamps::OfDay | Stamps::Off => {}
    }
    let alone = view.alone_in(run);
    let heard = match alone.and_then(|at| run.steps.get(at)) {
        Some(step) => step.last_output,
        None => run.course.heard(),
    };
    match heard {
        Some(heard) if run.state == RunStage::Running => {
            parts.push(format!(
                "last line {}",
                format::ago(ui.model.now.since(heard))
            ));
        }
        _ => {}
    }
    parts.join(" · ")
}

/// The rows of a page, and the last place that is on it.
fn rows(
    ui: Ui<'_>,
    run: &RunView,
    log: &RunLog<'_>,
    top: At,
    page: Page,
) -> (Vec<Line<'static>>, At) {
    let mut rows = Vec::with_capacity(page.height);
    let mut at = Some(top);
    let mut last = top;
    while let Some(here) = at.filter(|_| rows.len() < page.height) {
        last = here;
        let line = log.text(here);
        let styled = styled(ui, run, log, here, &line);
        match page.wrap {
            None => {
                let left = ui.model.watching.log.left;
                let part = window(&styled, left, page.width);
                let line = with_time(ui, run, log, here, true, part);
                rows.push(marked(ui, here, line));
            }
            Some(width) => {
                let mut from = 0;
                for (row, part) in text::wrap(&line, width).enumerate() {
                    let to = from + part.len();
                    if row >= here.row && rows.len() < page.height {
                        let part = slice(&styled, from, to);
                        let line = with_time(ui, run, log, here, row == 0, part);
                        rows.push(marked(ui, here, line));
                    }
                    from = to;
                }
            }
        }
        at = log.next(here);
    }
    (rows, last)
}

/// A line in its style, with what was searched for marked.
fn styled(ui: Ui<'_>, run: &RunView, log: &RunLog<'_>, at: At, line: &str) -> Vec<(String, Style)> {
    let role = match log.entry(at) {
        Some(Entry::Command { .. }) => Role::LogCommand,
        Some(Entry::Line {
            stream: Stream::Err,
            ..
        }) => Role::LogStderr,
        Some(Entry::Dropped(_) | Entry::Nothing) => Role::Muted,
        _ => Role::Log,
    };
    let base = ui.style(role);
    let view = &ui.model.watching.log;
    let is_hit = view
        .hit
        .as_ref()
        .is_some_and(|(of, hit)| *of == run.run && hit.step == at.step && hit.line == at.line);
    let found = base.patch(ui.style(if is_hit {
        Role::LogMatchCurrent
    } else {
        Role::LogMatch
    }));
    // What lets lines through is marked, too, where nothing else is.
    let matches = view
        .search
        .as_ref()
        .or(view.filter.as_ref())
        .map(|found| found.query.matches(line))
        .unwrap_or_default();
    let mut parts = Vec::with_capacity(matches.len() * 2 + 1);
    let mut from = 0;
    for (start, end) in matches {
        parts.push((line.get(from..start).unwrap_or_default().to_owned(), base));
        parts.push((line.get(start..end).unwrap_or_default().to_owned(), found));
        from = end;
    }
    parts.push((line.get(from..).unwrap_or_default().to_owned(), base));
    parts
}

/// The part of a styled line that fills `width` cells from cell `left` on.
fn window(parts: &[(String, Style)], left: usize, width: usize) -> Vec<Span<'static>> {
    let mut at = 0;
    let mut spans = Vec::new();
    for (part, style) in parts {
        let cells = text::width(part);
        let (from, to) = (
            left.saturating_sub(at),
            (left + width).saturating_sub(at).min(cells),
        );
        if from < to {
            spans.push(Span::styled(text::window(part, from, to - from), *style));
        }
        at += cells;
    }
    spans
}

/// The part of a styled line between two of its bytes.
fn slice(parts: &[(String, Style)], from: usize, to: usize) -> Vec<Span<'static>> {
    let mut at = 0;
    let mut spans = Vec::new();
    for (part, style) in parts {
        let (start, end) = (
            from.saturating_sub(at).min(part.len()),
            to.saturating_sub(at).min(part.len()),
        );
        if let Some(part) = part.get(start..end).filter(|part| !part.is_empty()) {
            spans.push(Span::styled(part.to_owned(), *style));
        }
        at += part.len();
    }
    spans
}

/// A line that is about to be copied.
fn marked(ui: Ui<'_>, at: At, line: Line<'static>) -> Line<'static> {
    match ui.model.layers.last() {
        Some(Layer::Copying(copying)) if copying.at.is_line(at) => {
            let style = ui.style(Role::Selection);
            let mut line = line.style(style);
            for span in &mut line.spans {
                span.style = span.style.patch(style);
            }
            line
        }
        _ => line,
    }
}

/// Puts a time in front, on the first row of a line.
fn with_time(
    ui: Ui<'_>,
    run: &RunView,
    log: &RunLog<'_>,
    at: At,
    is_first: bool,
    part: Vec<Span<'static>>,
) -> Line<'static> {
    let mut line = Line::default();
    let came = match log.entry(at).filter(|_| is_first) {
        Some(Entry::Command { at: came, .. }) => came,
        Some(Entry::Line { at: came, .. }) => Some(came),
        _ => None,
    };
    let times = ui.model.watching.log.times;
    if times != Stamps::Off {
        let time = came.map_or_else(String::new, |came| {
            let step = run.steps.get(at.step);
            let stamped = Stamped {
                came,
                last: log.came_before(at),
                began: step.and_then(|step| step.started).unwrap_or(came),
                start: ui.session.header.as_ref().map(|header| header.started),
            };
            times.of(stamped, ui.model.zone)
        });
        let style = ui.style(Role::LogTime);
        line.push_span(Span::styled(text::left(&time, layout::TIME), style));
    }
    line.extend(part);
    line
}
