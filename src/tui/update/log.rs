//! Scrolling and searching the log.

use crate::event::RunId;
use crate::session::Session;

use super::super::keys::Action;
use super::super::layout;
use super::super::model::Model;
use super::super::query::Query;
use super::super::runlog::{At, RunLog};
use super::super::text;

/// Cells of one step to the side.
const SIDE: usize = 8;

/// Moves the window over the log.
pub(super) fn scroll(model: &mut Model, session: &Session, action: Action) {
    let Some(run) = model.log_run(session) else {
        return;
    };
    let log = RunLog::of(session, run);
    let id = run.run.clone();
    let page = layout::log_page(model, session);
    let end = log.last_page(page.height, page.wrap);
    let top = top(model, session, &log);
    let to = match action {
        Action::Up => log.up(top, 1, page.wrap),
        Action::PageUp => log.up(top, page.height.max(2) - 1, page.wrap),
        Action::Top => At::default(),
        // Following stays following: there is nothing further down.
        Action::Down | Action::PageDown if model.watching.log.top.is_none() => return,
        Action::Down => log.down(top, 1, page.wrap).min(end),
        Action::PageDown => log.down(top, page.height.max(2) - 1, page.wrap).min(end),
        Action::Bottom => {
            follow(model);
            return;
        }
        Action::Left => {
            let left = &mut model.watching.log.left;
            *left = left.saturating_sub(SIDE);
            return;
        }
        Action::Right => {
            let widest = widest(&log, top, page.height);
            let left = &mut model.watching.log.left;
            *left = (*left + SIDE).min(widest.saturating_sub(1).max(*left));
            return;
        }
        _ => return,
    };
    model.watching.log.top = Some((id, to));
}

/// Follows the end again; the offset to the side stays.
pub(super) fn follow(model: &mut Model) {
    model.watching.log.top = None;
    model.watching.log.hit = None;
}

/// The first row that is shown.
fn top(model: &Model, session: &Session, log: &RunLog<'_>) -> At {
    let page = layout::log_page(model, session);
    match &model.watching.log.top {
        Some((_, at)) => log.clamp(*at),
        None => log.last_page(page.height, page.wrap),
    }
}

fn widest(log: &RunLog<'_>, top: At, height: usize) -> usize {
    let mut at = Some(top);
    let mut widest = 0;
    for _ in 0..height {
        let Some(here) = at else { break };
        widest = widest.max(text::width(&log.text(here)));
        at = log.next(here);
    }
    widest
}

/// Searches for what was typed: from what is on the screen on, or back from the end where that is
/// followed.
pub(super) fn search(model: &mut Model, session: &Session, text: &str) {
    model.watching.log.query = Query::new(text);
    model.watching.log.hit = None;
    let Some(run) = model.log_run(session) else {
        return;
    };
    let log = RunLog::of(session, run);
    let following = model.watching.log.top.is_none();
    let from = if following {
        // A match in the last line counts: look from beyond it.
        At::default()
    } else {
        let top = top(model, session, &log);
        log.previous(top).unwrap_or_else(|| log.last())
    };
    let id = run.run.clone();
    go(model, session, &log, id, from, !following);
}

/// To the next match, or to the one before.
pub(super) fn again(model: &mut Model, session: &Session, forward: bool) {
    let Some(run) = model.log_run(session) else {
        return;
    };
    let log = RunLog::of(session, run);
    let from = match &model.watching.log.hit {
        Some((of, at)) if *of == run.run => *at,
        _ => top(model, session, &log),
    };
    let id = run.run.clone();
    go(model, session, &log, id, from, forward);
}

fn go(model: &mut Model, session: &Session, log: &RunLog<'_>, run: RunId, from: At, forward: bool) {
    let Some(query) = model.watching.log.query.clone() else {
        model.say = Some("Nothing is searched for yet: / searches.".to_owned());
        return;
    };
    let Some((hit, wrapped)) = log.find(from, forward, &query) else {
        model.say = Some(format!("{:?} is not in this run's log.", query.text()));
        return;
    };
    if wrapped && model.watching.log.hit.is_some() {
        let end = if forward { "end" } else { "begin" };
        model.say = Some(format!("The search went on past the {end} of the log."));
    }
    let page = layout::log_page(model, session);
    show_column(model, log, hit, &query, page.width);
    let end = log.last_page(page.height, page.wrap);
    let top = log.up(hit, page.height / 3, page.wrap).min(end);
    model.watching.log.top = Some((run.clone(), top));
    model.watching.log.hit = Some((run, hit));
}

/// Moves the window to the side where the match would not be seen.
fn show_column(model: &mut Model, log: &RunLog<'_>, hit: At, query: &Query, width: usize) {
    let line = log.text(hit);
    let Some((from, to)) = query.matches(&line).first().copied() else {
        return;
    };
    let start = text::width(line.get(..from).unwrap_or_default());
    let end = start + text::width(line.get(from..to).unwrap_or_default());
    let left = &mut model.watching.log.left;
    if start < *left || end > *left + width {
        *left = end.saturating_sub(width * 2 / 3).min(start);
    }
}
