//! Copying from the log: a line is marked, then what is wanted of it or around it.

use crate::session::{RunView, Session};

use super::super::clipboard::MOST;
use super::super::format;
use super::super::keys::{Action, Context};
use super::super::layout;
use super::super::message::Effect;
use super::super::model::{Copying, Layer, Model};
use super::super::runlog::{At, RunLog};
use super::super::text;
use super::log;

/// Marks a line: the one that the search stands at where it is in sight, else the last one that is.
pub(super) fn begin(model: &mut Model, session: &Session) {
    let Some(run) = model.log_run(session).filter(|run| !run.steps.is_empty()) else {
        model.say = Some("There is no log yet.".to_owned());
        return;
    };
    let id = run.run.clone();
    let followed = model.watching.log.top.is_none();
    let (top, at) = {
        let log = RunLog::seen(session, run, &model.watching.log);
        let (top, bottom) = (
            log::top(model, session, &log),
            log::bottom(model, session, &log),
        );
        let hit = model.watching.log.hit.as_ref();
        let hit = hit.filter(|(of, at)| *of == id && (top..=bottom).contains(at));
        (top, hit.map_or(At { row: 0, ..bottom }, |(_, at)| *at))
    };
    // What is chosen from stands still.
    model.watching.log.top = Some((id, top));
    let copying = Copying { at, followed };
    model.layers.push(Layer::Copying(copying));
}

/// Keys while a line is marked.
pub(super) fn act(model: &mut Model, session: &Session, action: Action) -> Vec<Effect> {
    let Some(Layer::Copying(copying)) = model.layers.last().cloned() else {
        return Vec::new();
    };
    let run = model.log_run(session);
    let Some(run) = run.filter(|_| action != Action::Back) else {
        end(model, copying);
        return Vec::new();
    };
    let taken = match action {
        Action::CopyLine => Ok(line(model, session, run, copying.at)),
        Action::CopyMatch => found(model, session, run, copying.at),
        Action::CopyCommand => command(run, copying.at),
        Action::CopyLog => whole(model, session, run, copying.at),
        _ => {
            mark(model, session, copying, action);
            return Vec::new();
        }
    };
    match taken {
        Ok((text, what)) => {
            end(model, copying);
            model.say = Some(format!(
                "Copied {what}. If it does not arrive, the terminal does not allow it (OSC 52)."
            ));
            vec![Effect::Copy(text)]
        }
        Err(why) => {
            model.say = Some(why);
            Vec::new()
        }
    }
}

fn end(model: &mut Model, copying: Copying) {
    model.layers.pop();
    if copying.followed {
        model.watching.log.top = None;
    }
}

/// Marks another line, and brings it into sight.
fn mark(model: &mut Model, session: &Session, copying: Copying, action: Action) {
    let Some(run) = model.log_run(session) else {
        return;
    };
    let page = layout::log_page(model, session);
    let (at, top) = {
        let log = RunLog::seen(session, run, &model.watching.log);
        let now = log.clamp(copying.at);
        let line = |at: Option<At>| at.unwrap_or(now);
        let many = |mut at: At, step: &dyn Fn(At) -> Option<At>| {
            for _ in 1..page.height.max(2) {
                at = step(at).unwrap_or(at);
            }
            at
        };
        let at = match action {
            Action::Up => line(log.previous(now)),
            Action::Down => line(log.next(now)),
            Action::PageUp => many(now, &|at| log.previous(at)),
            Action::PageDown => many(now, &|at| log.next(at)),
            Action::Top => log.first(),
            Action::Bottom => log.last(),
            _ => now,
        };
        let at = At { row: 0, ..at };
        let (top, bottom) = (
            log::top(model, session, &log),
            log::bottom(model, session, &log),
        );
        let top = if at < top {
            at
        } else if at > (At { row: 0, ..bottom }) {
            log.up(at, page.height - 1, page.wrap)
        } else {
            top
        };
        (at, top)
    };
    if matches!(
        action,
        Action::Left | Action::Right | Action::FarLeft | Action::FarRight
    ) {
        log::scroll(model, session, action);
    }
    model.watching.log.top = Some((run.run.clone(), top));
    if let Some(Layer::Copying(copying)) = model.layers.last_mut() {
        copying.at = at;
    }
}

/// What is copied, and what it is called.
type Taken = Result<(String, String), String>;

fn line(model: &Model, session: &Session, run: &RunView, at: At) -> (String, String) {
    let log = RunLog::seen(session, run, &model.watching.log);
    let line = log.text(log.clamp(at));
    let what = format!("the line, {}", characters(&line));
    (line, what)
}

fn found(model: &Model, session: &Session, run: &RunView, at: At) -> Taken {
    let view = &model.watching.log;
    let Some(found) = view.search.as_ref().or(view.filter.as_ref()) else {
        let key = model.keys.name(&[Context::Watching], Action::Search);
        return Err(format!("Nothing is searched for: {key} searches."));
    };
    let log = RunLog::seen(session, run, view);
    let line = log.text(log.clamp(at));
    let hit = found.query.matches(&line).first().copied();
    let Some(text) = hit.and_then(|(from, to)| line.get(from..to)) else {
        return Err(format!("{:?} is not in this line.", found.query.text()));
    };
    Ok((text.to_owned(), format!("the match, {}", characters(text))))
}

fn command(run: &RunView, at: At) -> Taken {
    let step = run.steps.get(at.step).ok_or("There is no step.")?;
    let lines = step.planned.command.trim_end().lines();
    let lines: Vec<_> = lines.map(text::clean).collect();
    let (text, name) = (lines.join("\n"), text::clean(&step.planned.name));
    let what = format!("the command of {name}, {}", characters(&text));
    Ok((text, what))
}

/// The end of what a step has printed, as much of it as terminals take.
fn whole(model: &Model, session: &Session, run: &RunView, at: At) -> Taken {
    let step = run.steps.get(at.step).ok_or("There is no step.")?;
    let kept = session.log.len(&step.step);
    let mut lines = Vec::new();
    let mut bytes = 0;
    for at in (0..kept).rev() {
        let Some(line) = session.log.line(&step.step, at) else {
            break;
        };
        let line = text::clean(line.text);
        bytes += line.len() + 1;
        if bytes > MOST {
            break;
        }
        lines.push(line);
    }
    lines.reverse();
    let all = session.log.dropped(&step.step) + kept as u64;
    let name = text::clean(&step.planned.name);
    let what = if lines.len() as u64 == all {
        format!("all {} of {name}", format::many_of(all, "line"))
    } else {
        let key = model.keys.name(&[Context::Log], Action::Save);
        format!(
            "the last {} of {} of {name} ({key} saves all)",
            format::many(lines.len() as u64),
            format::many_of(all, "line")
        )
    };
    if lines.is_empty() {
        return Err(format!("{name} has printed nothing."));
    }
    let mut text = lines.join("\n");
    text.push('\n');
    Ok((text, what))
}

fn characters(text: &str) -> String {
    let n = text.chars().count();
    format::count(n, "character")
}
