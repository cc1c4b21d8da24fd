//! The log of a run: only the lines that are seen are looked at.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::{Line, Span};

use crate::event::{Nanos, Stream};
use crate::session::{RunStage, RunView};

use super::super::layout::{self, Page};
use super::super::model::Pane;
use super::super::runlog::{At, Entry, RunLog};
use super::super::theme::Role;
use super::super::view::{Titles, Ui};
use super::super::{format, text};

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
    let log = RunLog::of(ui.session, run);
    let page = layout::page_in(ui.model, area);
    let top = top(ui, run, &log, page);
    let (rows, last) = rows(ui, run, &log, top, page);
    let follows = !is_pinned;
    let name = run
        .steps
        .get(last.step)
        .map_or("", |step| step.planned.name.as_str());
    let titles = Titles {
        left: &format!("Log · {} · {name}", title(ui, run)),
        right: &standing(ui, &log, follows, last),
        foot: &age(ui, run),
    };
    let inner = ui.pane(area, buffer, has_keys, titles);
    ui.rows(inner, buffer, &rows, 0);
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

fn standing(ui: Ui<'_>, log: &RunLog<'_>, follows: bool, last: At) -> String {
    let searched = match &ui.model.watching.log.query {
        Some(query) => format!("/{} · ", text::clean(query.text())),
        None => String::new(),
    };
    let lines = log.len();
    if follows {
        return format!("{searched}following · {lines} lines");
    }
    match log.below(last) {
        0 => format!("{searched}end · {lines} lines · f follows"),
        1 => format!("{searched}1 line below · f follows"),
        below => format!("{searched}{below} lines below · f follows"),
    }
}

/// How long ago the last line came, while more may come.
fn age(ui: Ui<'_>, run: &RunView) -> String {
    let heard = run.steps.iter().filter_map(|step| step.last_output).max();
    match heard {
        Some(heard) if run.state == RunStage::Running => {
            format!("last line {}", format::ago(ui.model.now.since(heard)))
        }
        _ => String::new(),
    }
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
                rows.push(with_time(ui, log.entry(here), true, part));
            }
            Some(width) => {
                let mut from = 0;
                for (row, part) in text::wrap(&line, width).enumerate() {
                    let to = from + part.len();
                    if row >= here.row && rows.len() < page.height {
                        rows.push(with_time(
                            ui,
                            log.entry(here),
                            row == 0,
                            slice(&styled, from, to),
                        ));
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
        Some(Entry::Dropped(_)) => Role::Muted,
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
    let matches = view
        .query
        .as_ref()
        .map(|query| query.matches(line))
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

/// Puts the time of day in front, on the first row of a line.
fn with_time(
    ui: Ui<'_>,
    entry: Option<Entry<'_>>,
    is_first: bool,
    part: Vec<Span<'static>>,
) -> Line<'static> {
    let mut line = Line::default();
    if !ui.model.watching.log.hide_times {
        let time = match entry.filter(|_| is_first) {
            Some(Entry::Command { at: Some(at), .. } | Entry::Line { at, .. }) => {
                time_of_day(ui, at)
            }
            _ => String::new(),
        };
        let style = ui.style(Role::LogTime);
        line.push_span(Span::styled(text::left(&time, layout::TIME), style));
    }
    line.extend(part);
    line
}

/// A moment as a time of day where the session began; since the begin where that is not known.
fn time_of_day(ui: Ui<'_>, at: Nanos) -> String {
    let began = ui.session.header.as_ref().map(|header| header.started);
    let offset = i64::try_from(at.0).ok().map(chrono::Duration::nanoseconds);
    match began
        .zip(offset)
        .and_then(|(began, offset)| began.checked_add_signed(offset))
    {
        Some(moment) => moment
            .with_timezone(&ui.model.zone)
            .format("%H:%M:%S%.3f")
            .to_string(),
        None => format!("{:.3}", at.seconds()),
    }
}
