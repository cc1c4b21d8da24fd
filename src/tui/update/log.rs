//! Scrolling, searching and filtering the log.

use crate::event::RunId;
use crate::report::Wanted;
use crate::session::Session;

use super::super::found::Found;
use super::super::keys::{Action, Context};
use super::super::layout;
use super::super::message::Effect;
use super::super::model::{Alone, Model, Pane, Screen};
use super::super::query::{Query, Syntax};
use super::super::runlog::{At, RunLog};
use super::super::text;

/// Cells of one step to the side.
const SIDE: usize = 8;

/// Looks at the lines that came since the last message.
pub(super) fn look(model: &mut Model, session: &Session) {
    let view = &model.watching.log;
    if model.screen != Screen::Watching || view.search.is_none() && view.filter.is_none() {
        return;
    }
    let mut runs = layout::beside(model, session).runs;
    if let Some(run) = model.log_run(session)
        && !runs.iter().any(|known| known.run == run.run)
    {
        runs.push(run);
    }
    let view = &mut model.watching.log;
    for found in [&mut view.filter, &mut view.search].into_iter().flatten() {
        found.look(session, &runs);
    }
}

/// Moves the window over the log.
pub(super) fn scroll(model: &mut Model, session: &Session, action: Action) {
    let Some(run) = model.log_run(session) else {
        return;
    };
    let log = RunLog::seen(session, run, &model.watching.log);
    let id = run.run.clone();
    let page = layout::log_page(model, session);
    let end = log.last_page(page.height, page.wrap);
    let top = top(model, session, &log);
    let to = match action {
        Action::Up => log.up(top, 1, page.wrap),
        Action::PageUp => log.up(top, page.height.max(2) - 1, page.wrap),
        Action::Top => log.first(),
        // Following stays following: there is nothing further down.
        Action::Down | Action::PageDown if model.watching.log.top.is_none() => return,
        Action::Down => log.down(top, 1, page.wrap).min(end),
        Action::PageDown => log.down(top, page.height.max(2) - 1, page.wrap).min(end),
        Action::Bottom => {
            follow(model);
            return;
        }
        Action::Left | Action::Right | Action::FarLeft | Action::FarRight => {
            let widest = widest(&log, top, page.height);
            let far = (page.width / 2).max(SIDE);
            let left = model.watching.log.left;
            model.watching.log.left = match action {
                Action::Left => left.saturating_sub(SIDE),
                Action::FarLeft => left.saturating_sub(far),
                Action::Right => (left + SIDE).min(widest.saturating_sub(1).max(left)),
                // The end of the longest line is the last thing to be seen.
                _ => (left + far).min(widest.saturating_sub(page.width).max(left)),
            };
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
pub(super) fn top(model: &Model, session: &Session, log: &RunLog<'_>) -> At {
    let page = layout::log_page(model, session);
    let end = log.last_page(page.height, page.wrap);
    match &model.watching.log.top {
        Some((_, at)) => log.clamp(*at).min(end),
        None => end,
    }
}

/// The last line of which something is shown.
pub(super) fn bottom(model: &Model, session: &Session, log: &RunLog<'_>) -> At {
    let page = layout::log_page(model, session);
    let top = top(model, session, log);
    log.down(top, page.height.saturating_sub(1), page.wrap)
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
///
/// # Errors
/// What is wrong with an expression.
pub(super) fn search(
    model: &mut Model,
    session: &Session,
    text: &str,
    syntax: Syntax,
) -> Result<(), String> {
    let within = model.watching.log.filter.as_ref();
    let within = within.map(|filter| filter.query.clone());
    let query = Query::new(text, syntax)?;
    model.watching.log.search = query.map(|query| Found::new(query, within));
    model.watching.log.hit = None;
    if model.watching.log.search.is_none() {
        return Ok(());
    }
    look(model, session);
    let following = model.watching.log.top.is_none();
    let from = |log: &RunLog<'_>, top: At| {
        if following {
            // A match in the last line counts: look from beyond it.
            log.first()
        } else {
            log.previous(top).unwrap_or_else(|| log.last())
        }
    };
    go(model, session, from, !following);
    Ok(())
}

/// Shows only lines that have what was typed; all of them where that is nothing. What was at the
/// top, or what the search stands at, stays in sight.
///
/// # Errors
/// What is wrong with an expression.
pub(super) fn filter(
    model: &mut Model,
    session: &Session,
    text: &str,
    syntax: Syntax,
) -> Result<(), String> {
    let query = Query::new(text, syntax)?;
    let view = &mut model.watching.log;
    // Where one read in the filtered lines is where one reads on, with what stands around it.
    let hit = view.hit.as_ref().map(|(run, at)| (run.clone(), *at));
    let kept = hit.or_else(|| view.top.clone());
    let search = view.search.take().map(|search| search.query);
    view.search = search.map(|search| Found::new(search, query.clone()));
    view.filter = query.map(|query| Found::new(query, None));
    look(model, session);
    let Some((id, at)) = kept else { return Ok(()) };
    let Some(run) = session.run_view(&id) else {
        return Ok(());
    };
    let at = At { row: 0, ..at };
    let (near, top) = {
        let log = RunLog::seen(session, run, &model.watching.log);
        let page = layout::log_page(model, session);
        let near = log.clamp(at);
        let end = log.last_page(page.height, page.wrap);
        (near, log.up(near, page.height / 3, page.wrap).min(end))
    };
    let view = &mut model.watching.log;
    if view.top.is_some() {
        view.top = Some((id, top));
    }
    if near != at {
        view.hit = None;
    }
    Ok(())
}

/// To the next match, or to the one before.
pub(super) fn again(model: &mut Model, session: &Session, forward: bool) {
    let run = model.log_run(session).map(|run| run.run.clone());
    let hit = model.watching.log.hit.clone();
    let hit = hit.filter(|(of, _)| Some(of) == run.as_ref());
    let from = |_: &RunLog<'_>, top: At| hit.map_or(top, |(_, at)| at);
    go(model, session, from, forward);
}

/// Goes to the next match after a place that is chosen by the log and its first row on the screen.
fn go(
    model: &mut Model,
    session: &Session,
    from: impl FnOnce(&RunLog<'_>, At) -> At,
    forward: bool,
) {
    let Some(run) = model.log_run(session) else {
        return;
    };
    let Some(search) = &model.watching.log.search else {
        let key = model.keys.name(&[Context::Watching], Action::Search);
        model.say = Some(format!("Nothing is searched for yet: {key} searches."));
        return;
    };
    let log = RunLog::seen(session, run, &model.watching.log);
    let from = from(&log, top(model, session, &log));
    let Some((hit, wrapped)) = log.find(from, forward, search) else {
        let text = search.query.text();
        model.say = Some(match &model.watching.log.filter {
            Some(filter) => {
                let with = filter.query.text();
                format!("{text:?} is in no line that has {with:?}, too.")
            }
            None if model.watching.log.alone.is_some() => {
                format!("{text:?} is not in the log of this step; its command is not searched.")
            }
            None => format!("{text:?} is not in the log of this run."),
        });
        return;
    };
    let page = layout::log_page(model, session);
    let end = log.last_page(page.height, page.wrap);
    let top = log.up(hit, page.height / 3, page.wrap).min(end);
    let left = column(model, &log.text(hit), &search.query, page.width);
    let view = &mut model.watching.log;
    if wrapped && view.hit.is_some() {
        let end = if forward { "end" } else { "begin" };
        model.say = Some(format!("The search went on past the {end} of the log."));
    }
    view.left = left;
    view.top = Some((run.run.clone(), top));
    view.hit = Some((run.run.clone(), hit));
}

/// How far the window is moved to the side so that the match is seen.
fn column(model: &Model, line: &str, query: &Query, width: usize) -> usize {
    let left = model.watching.log.left;
    let Some((from, to)) = query.matches(line).first().copied() else {
        return left;
    };
    let start = text::width(line.get(..from).unwrap_or_default());
    let end = start + text::width(line.get(from..to).unwrap_or_default());
    if start < left || end > left + width {
        end.saturating_sub(width * 2 / 3).min(start)
    } else {
        left
    }
}

/// Shows the log of one step of a run alone, followed to its end or from where it was read.
pub(super) fn open(model: &mut Model, run: RunId, step: usize, stays: bool) {
    let watching = &mut model.watching;
    if watching.log.alone.is_some() {
        return;
    }
    watching.log.alone = Some(Alone {
        run,
        step,
        pane: watching.pane,
        zoom: watching.zoom,
        top: watching.log.top.clone(),
        left: watching.log.left,
    });
    if !stays {
        watching.log.left = 0;
        watching.log.top = None;
        watching.log.hit = None;
    }
    watching.pane = Pane::Log;
    watching.zoom = true;
}

/// Shows the log of the step that is at the top alone.
pub(super) fn open_here(model: &mut Model, session: &Session) {
    let Some(run) = model.log_run(session) else {
        return;
    };
    let log = RunLog::seen(session, run, &model.watching.log);
    let follows = model.watching.log.top.is_none();
    let at = if follows {
        log.last()
    } else {
        top(model, session, &log)
    };
    if run.steps.is_empty() {
        return;
    }
    let id = run.run.clone();
    open(model, id, at.step, !follows);
}

/// Back to where the log of a step was opened; says whether one was.
pub(super) fn close(model: &mut Model) -> bool {
    let watching = &mut model.watching;
    let Some(alone) = watching.log.alone.take() else {
        return false;
    };
    watching.pane = alone.pane;
    watching.zoom = alone.zoom;
    watching.log.top = alone.top;
    watching.log.left = alone.left;
    watching.log.hit = None;
    true
}

/// The same step of the run before, or of the next one: how it went there.
pub(super) fn other_run(model: &mut Model, session: &Session, forward: bool) {
    let Some(alone) = &model.watching.log.alone else {
        return;
    };
    let at = session.runs.iter().position(|run| run.run == alone.run);
    let name = at.and_then(|at| {
        let step = session.runs.get(at)?.steps.get(alone.step)?;
        Some((at, step.planned.name.clone()))
    });
    let Some((at, name)) = name else { return };
    let has = |at: &usize| {
        let run = session.runs.get(*at)?;
        let step = run
            .steps
            .iter()
            .position(|step| step.planned.name == name)?;
        Some((run.run.clone(), step))
    };
    let to = if forward {
        (at + 1..session.runs.len()).find_map(|at| has(&at))
    } else {
        (0..at).rev().find_map(|at| has(&at))
    };
    let Some((run, step)) = to else {
        let which = if forward { "later" } else { "earlier" };
        model.say = Some(format!("No {which} run has the step {name}."));
        return;
    };
    if let Some(alone) = &mut model.watching.log.alone {
        alone.run = run;
        alone.step = step;
    }
    model.watching.log.left = 0;
    follow(model);
}

/// Has the whole log written to a file: of the step that is looked at alone, or of the run.
pub(super) fn save(model: &mut Model, session: &Session) -> Vec<Effect> {
    let Some(run) = model.log_run(session).filter(|run| !run.steps.is_empty()) else {
        model.say = Some("There is no log yet.".to_owned());
        return Vec::new();
    };
    let alone = model.watching.log.alone_in(run);
    let step = alone.and_then(|step| run.steps.get(step));
    let save = Wanted {
        run: run.run.clone(),
        step: step.map(|step| step.step.clone()),
        stamps: model.watching.log.times,
        zone: model.zone,
    };
    model.say = Some("Saving…".to_owned());
    vec![Effect::Save(save)]
}
