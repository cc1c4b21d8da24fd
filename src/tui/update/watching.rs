//! Keys of the watching screen.

use crate::event::{Binding, RunId};
use crate::session::{RunStage, RunView, Session};

use super::super::counted;
use super::super::keys::Action;
use super::super::lanes;
use super::super::layout;
use super::super::message::Effect;
use super::super::model::{
    Decision, Dialog, Entry, Figures, Layer, Leave, Model, Pane, Purpose, Screen,
};
use super::super::query::{Query, Syntax};
use super::super::runlog::At;
use super::{copying, freeze, log, picking};

pub(super) fn act(model: &mut Model, session: &Session, action: Action) -> Vec<Effect> {
    match action {
        Action::Stop => stop(model, session),
        Action::Pause if session.is_paused() => return vec![Effect::Resume],
        Action::Pause => return vec![Effect::PauseAfterRun],
        Action::Marker => entry(model, Purpose::Marker, "Name of the marker", String::new()),
        Action::Again => model.screen = Screen::Picking,
        Action::Search => {
            model.watching.pane = Pane::Log;
            let query = model.watching.log.search.as_ref().map(|found| &found.query);
            let (syntax, before) = typed_before(query);
            entry(
                model,
                Purpose::Search(syntax),
                "Search what was printed",
                before,
            );
        }
        Action::FilterLog => {
            let query = model.watching.log.filter.as_ref().map(|found| &found.query);
            let (syntax, before) = typed_before(query);
            entry(model, Purpose::FilterLog(syntax), "Only lines with", before);
        }
        Action::Copy => copying::begin(model, session),
        Action::Save => return log::save(model, session),
        Action::Open => open(model, session),
        Action::NextMatch => log::again(model, session, true),
        Action::PreviousMatch => log::again(model, session, false),
        Action::Wrap => {
            let view = &mut model.watching.log;
            view.wrap = !view.wrap;
            if let Some((_, at)) = &mut view.top {
                at.row = 0;
            }
        }
        Action::Timestamps => {
            let view = &mut model.watching.log;
            view.times = view.times.next();
        }
        Action::Compare => model.screen = Screen::Comparing,
        Action::NextPane => focus(model, session, true),
        Action::PreviousPane => focus(model, session, false),
        Action::Beside => beside(model, session),
        Action::Zoom if log::close(model) => {}
        Action::Zoom => model.watching.zoom = !model.watching.zoom,
        Action::Swap => {
            let pane = match model.watching.figures {
                Figures::Medians => Pane::Bytes,
                Figures::Bytes => Pane::Medians,
            };
            enter(model, pane);
        }
        Action::Follow => {
            freeze::thaw(model);
            follow(model);
            // A host that has nothing to do any more is not what goes on.
            let is_busy = |host: &String| lanes::is_busy(session, host);
            model.watching.host = model.watching.host.take().filter(is_busy);
        }
        Action::Back => back(model, session),
        Action::PreviousRun | Action::NextRun if model.watching.log.alone.is_some() => {
            log::other_run(model, session, action == Action::NextRun);
        }
        Action::PreviousRun => look(model, session, false),
        Action::NextRun => look(model, session, true),
        _ => scroll(model, session, action),
    }
    Vec::new()
}

/// What was typed for a query.
fn typed_before(query: Option<&Query>) -> (Syntax, String) {
    query.map_or_else(Default::default, |query| {
        (query.syntax(), query.text().to_owned())
    })
}

/// The log of the step under the cursor, or at the top of the log, alone.
fn open(model: &mut Model, session: &Session) {
    if model.watching.pane == Pane::Log {
        log::open_here(model, session);
        return;
    }
    let run = model.run(session).filter(|run| !run.steps.is_empty());
    let Some(run) = run else {
        model.say = Some("No step has begun yet.".to_owned());
        return;
    };
    let step = model.watching.step.unwrap_or_else(|| moving(run));
    log::open(model, run.run.clone(), step, false);
}

fn stop(model: &mut Model, session: &Session) {
    if model.leave != Leave::No {
        model.say = Some("It is being stopped and undone already.".to_owned());
        return;
    }
    let several = session.current_runs().len() > 1;
    model.layers.push(Layer::Dialog(Dialog {
        title: if several {
            "Stop all runs?".to_owned()
        } else {
            "Stop this run?".to_owned()
        },
        lines: vec![if several {
            "The commands are ended on their hosts, and what the runs made is taken away. A copy stays where \
             the restore is not proved."
                .to_owned()
        } else {
            "The command is ended on its host, and what the run made is taken away. A copy stays where the \
             restore is not proved."
                .to_owned()
        }],
        choices: vec![
            ("keep going".to_owned(), Decision::Cancel),
            ("stop and undo".to_owned(), Decision::Stop),
        ],
        at: 0,
    }));
}

pub(super) fn entry(model: &mut Model, purpose: Purpose, title: &str, text: String) {
    model.layers.push(Layer::Entry(Box::new(Entry {
        purpose,
        title: title.to_owned(),
        lines: Vec::new(),
        selected: !text.is_empty(),
        input: text.into(),
        problem: None,
    })));
}

/// To the next pane, or to the one before. Of hosts that stand side by side each has its own steps
/// and its own log.
fn focus(model: &mut Model, session: &Session, forward: bool) {
    let shown = layout::beside(model, session);
    let mut stops: Vec<(Pane, Option<RunId>)> = Vec::new();
    for pane in Pane::ALL {
        match pane {
            Pane::Steps if shown.runs.len() > 1 => {
                for run in &shown.runs {
                    stops.push((Pane::Steps, Some(run.run.clone())));
                    stops.push((Pane::Log, Some(run.run.clone())));
                }
            }
            Pane::Log if shown.runs.len() > 1 => {}
            pane => stops.push((pane, None)),
        }
    }
    let here = shown.runs.get(shown.focus).map(|run| &run.run);
    let is_here = |(pane, run): &(Pane, Option<RunId>)| {
        *pane == model.watching.pane && (run.is_none() || run.as_ref() == here)
    };
    let at = stops.iter().position(is_here).unwrap_or_default();
    let by = if forward { 1 } else { stops.len() - 1 };
    let Some((pane, run)) = stops.get((at + by) % stops.len().max(1)) else {
        return;
    };
    if let Some(run) = run.as_ref().filter(|run| Some(*run) != here) {
        let to = session.runs.iter().position(|view| view.run == *run);
        look_at(model, session, to.unwrap_or_default());
    }
    enter(model, *pane);
}

/// Hosts side by side, or one.
fn beside(model: &mut Model, session: &Session) {
    let watching = &mut model.watching;
    watching.one = !watching.one;
    let why = if lanes::lanes(session).len() < 2 {
        "Only one host has something to do."
    } else if layout::room_beside(model) < 2 {
        "There is room for one host: in the steps, Left and Right go to the others."
    } else {
        return;
    };
    model.watching.one = false;
    model.say = Some(why.to_owned());
}

/// To the host beside.
fn next_host(model: &mut Model, session: &Session, forward: bool) {
    let all = lanes::lanes(session);
    let Some(here) = model.run(session) else {
        return;
    };
    let at = lanes::place(session, &all, here);
    let to = if forward {
        (at + 1).min(all.len().saturating_sub(1))
    } else {
        at.saturating_sub(1)
    };
    if let Some(lane) = all.get(to).filter(|_| to != at) {
        let run = session
            .runs
            .iter()
            .position(|view| view.run == lane.run.run);
        look_at(model, session, run.unwrap_or_default());
    }
}

pub(super) fn enter(model: &mut Model, pane: Pane) {
    log::close(model);
    model.watching.pane = pane;
    match pane {
        Pane::Medians => model.watching.figures = Figures::Medians,
        Pane::Bytes => model.watching.figures = Figures::Bytes,
        Pane::Plan | Pane::Steps | Pane::Log => {}
    }
}

pub(super) fn follow(model: &mut Model) {
    if model.watching.log.alone.is_some() {
        log::follow(model);
        return;
    }
    let watching = &mut model.watching;
    if watching.run.take().is_some() | watching.step.take().is_some() {
        watching.log.left = 0;
    }
    log::follow(model);
}

/// One thing at a time: the frozen screen, the step alone, the zoom, the search, the filter, what
/// was looked at, the host.
fn back(model: &mut Model, session: &Session) {
    if freeze::thaw(model) || log::close(model) {
        return;
    }
    let watching = &mut model.watching;
    let looks = watching.run.is_some() || watching.step.is_some() || watching.log.top.is_some();
    if watching.zoom {
        watching.zoom = false;
    } else if watching.log.search.take().is_some() {
        watching.log.hit = None;
    } else if watching.log.filter.is_some() {
        // No text lets all lines through.
        let _ = log::filter(model, session, "", Syntax::Text);
    } else if looks {
        follow(model);
    } else {
        watching.host = None;
    }
}

/// Looks at the run before or after the one that is looked at, on its host.
fn look(model: &mut Model, session: &Session, forward: bool) {
    let Some(here) = model.run(session) else {
        return;
    };
    let host = |run: &RunView| session.binding(&run.binding).map(Binding::host);
    let is_there = |(_, run): &(usize, &RunView)| host(run) == host(here);
    let all: Vec<(usize, &RunView)> = session.runs.iter().enumerate().filter(is_there).collect();
    let at = all.iter().position(|(_, run)| run.run == here.run);
    let to = match at.unwrap_or_default() {
        at if forward => (at + 1).min(all.len().saturating_sub(1)),
        at => at.saturating_sub(1),
    };
    if let Some((run, _)) = all.get(to) {
        look_at(model, session, *run);
    }
}

pub(super) fn look_at(model: &mut Model, session: &Session, to: usize) {
    let Some(run) = session.runs.get(to) else {
        return;
    };
    let host = session.binding(&run.binding).map(Binding::host);
    let is_followed = host
        .and_then(|host| lanes::of_host(session, host))
        .is_some_and(|followed| followed.run == run.run && followed.state != RunStage::Queued);
    follow(model);
    model.watching.log.left = 0;
    model.watching.host = host.map(ToOwned::to_owned);
    model.watching.run = (!is_followed).then(|| run.run.clone());
}

fn scroll(model: &mut Model, session: &Session, action: Action) {
    let page = layout::pane_height(model, session, model.watching.pane);
    match model.watching.pane {
        Pane::Plan => {
            let now = model.run(session).map(|run| run.run.clone());
            let at = session
                .runs
                .iter()
                .position(|run| Some(&run.run) == now.as_ref());
            let to = picking::moved(at.unwrap_or_default(), session.runs.len(), page, action);
            if Some(to) != at {
                look_at(model, session, to);
            }
        }
        Pane::Steps if action == Action::Left => next_host(model, session, false),
        Pane::Steps if action == Action::Right => next_host(model, session, true),
        Pane::Steps => steps(model, session, page, action),
        Pane::Log => log::scroll(model, session, action),
        Pane::Medians => {
            let figures = counted::seen(model, session);
            let (row, column) = model.watching.median;
            let times = figures.times.len();
            let column = match action {
                Action::Left => column.saturating_sub(1),
                Action::Right => (column + 1).min(times.saturating_sub(1)),
                _ => column.min(times.saturating_sub(1)),
            };
            model.watching.median = (
                picking::moved(row, figures.tally.rows.len(), page, action),
                column,
            );
        }
        Pane::Bytes => {
            let rows = super::super::widgets::bytes::count(model, session);
            model.watching.bytes = picking::moved(model.watching.bytes, rows, page, action);
        }
    }
}

/// Moves over the steps; the log goes along.
fn steps(model: &mut Model, session: &Session, page: usize, action: Action) {
    let Some(run) = model.run(session).filter(|run| !run.steps.is_empty()) else {
        return;
    };
    let at = model.watching.step.unwrap_or_else(|| moving(run));
    let to = picking::moved(at, run.steps.len(), page, action);
    let run = run.run.clone();
    choose(model, run, to);
}

/// Puts the cursor on a step; the log goes along.
pub(super) fn choose(model: &mut Model, id: RunId, to: usize) {
    model.watching.step = Some(to);
    model.watching.log.left = 0;
    model.watching.log.hit = None;
    model.watching.log.top = Some((
        id.clone(),
        At {
            step: to,
            line: 0,
            row: 0,
        },
    ));
    model.watching.run = Some(id);
}

/// The step that goes on; the last one where none does.
fn moving(run: &RunView) -> usize {
    run.steps
        .iter()
        .position(|step| step.goes_on() && !step.planned.background)
        .unwrap_or(run.steps.len().saturating_sub(1))
}
