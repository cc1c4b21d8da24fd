//! Keys of the picking screen.

use crate::event::Order;

use super::super::keys::Action;
use super::super::layout;
use super::super::message::Effect;
use super::super::model::{Entry, Layer, Model, PickPane, Picking, Purpose};
use super::super::offer::{Choice, Named};
use super::super::screens;

/// More repetitions than this are a typing error.
const MOST_REPS: u32 = 99;

pub(super) fn act(model: &mut Model, action: Action) -> Vec<Effect> {
    match action {
        Action::Start => return start(model),
        Action::Refresh => {
            model.picking.revision += 1;
            model.say = Some("Probing the hosts…".to_owned());
            return vec![Effect::Refresh {
                revision: model.picking.revision,
            }];
        }
        Action::Mark => mark(model),
        Action::More => model.picking.reps.0 = (model.picking.reps.0 + 1).min(MOST_REPS),
        Action::Less => model.picking.reps.0 = model.picking.reps.0.saturating_sub(1).max(1),
        Action::Order => {
            model.picking.order = match model.picking.order {
                Order::Interleaved => Order::ByMethod,
                Order::ByMethod => Order::Interleaved,
            };
        }
        Action::Whole => {
            model.picking.whole = !model.picking.whole;
            model.picking.scroll = 0;
        }
        Action::Settings => {
            if let Some(method) = model.picking.current() {
                let picked = method.picked();
                model.layers.push(Layer::Settings(picked, 0));
            }
        }
        Action::Filter => {
            let entry = Entry {
                purpose: Purpose::Filter,
                title: "Show methods with".to_owned(),
                lines: Vec::new(),
                input: model.picking.filter.clone().into(),
                problem: None,
            };
            model.layers.push(Layer::Entry(Box::new(entry)));
        }
        Action::NextPane => model.picking.pane = pane_after(model.picking.pane),
        Action::PreviousPane => model.picking.pane = pane_after(pane_after(model.picking.pane)),
        _ => scroll(model, action),
    }
    Vec::new()
}

fn pane_after(pane: PickPane) -> PickPane {
    match pane {
        PickPane::Hosts => PickPane::Methods,
        PickPane::Methods => PickPane::Preview,
        PickPane::Preview => PickPane::Hosts,
    }
}

fn mark(model: &mut Model) {
    let Some(method) = model.picking.current() else {
        return;
    };
    let picked = method.picked();
    if let Err(why) = &method.runnable {
        model.say = Some(format!(
            "{} cannot run on {}: {why}",
            method.name, method.host
        ));
        return;
    }
    if !model.picking.picked.remove(&picked) {
        model.picking.picked.insert(picked);
    }
}

fn scroll(model: &mut Model, action: Action) {
    let areas = layout::picking(model);
    let (at, len, page) = match model.picking.pane {
        PickPane::Hosts => {
            let len = model
                .picking
                .offer
                .as_ref()
                .map_or(0, |offer| offer.hosts.len());
            (model.picking.host, len, layout::inner_height(areas.hosts))
        }
        PickPane::Methods => (
            model.picking.method,
            model.picking.shown().len(),
            layout::inner_height(areas.methods),
        ),
        PickPane::Preview => {
            let rows = screens::picking::preview_rows(model);
            let page = layout::inner_height(areas.preview);
            // The last page is the last place to scroll to.
            (model.picking.scroll, rows.saturating_sub(page) + 1, page)
        }
    };
    let to = moved(at, len, page, action);
    match model.picking.pane {
        PickPane::Hosts if to != at => {
            model.picking.host = to;
            model.picking.method = 0;
            model.picking.scroll = 0;
        }
        PickPane::Methods if to != at => {
            model.picking.method = to;
            model.picking.scroll = 0;
        }
        PickPane::Preview => model.picking.scroll = to,
        PickPane::Hosts | PickPane::Methods => {}
    }
}

/// Where a cursor in a list goes.
pub(super) fn moved(at: usize, len: usize, page: usize, action: Action) -> usize {
    let last = len.saturating_sub(1);
    let to = match action {
        Action::Up => at.saturating_sub(1),
        Action::Down => at.saturating_add(1),
        Action::PageUp => at.saturating_sub(page.max(1)),
        Action::PageDown => at.saturating_add(page.max(1)),
        Action::Top => 0,
        Action::Bottom => last,
        _ => at,
    };
    to.min(last)
}

/// Keeps cursors within what there is.
pub(super) fn keep_cursors(picking: &mut Picking) {
    let hosts = picking.offer.as_ref().map_or(0, |offer| offer.hosts.len());
    picking.host = picking.host.min(hosts.saturating_sub(1));
    picking.method = picking.method.min(picking.shown().len().saturating_sub(1));
}

/// Starts, or says why not, or asks for the first name.
fn start(model: &mut Model) -> Vec<Effect> {
    let picking = &model.picking;
    let chosen = picking.chosen();
    let problem = if picking.starting {
        Some("It is starting already.".to_owned())
    } else if !picking.is_current() {
        Some(
            "What would run is still being worked out; it starts once that is on the screen."
                .to_owned(),
        )
    } else if chosen.is_empty() {
        Some("Nothing is picked: Space picks the method under the cursor.".to_owned())
    } else {
        chosen.iter().find_map(|method| {
            let setting = method
                .settings
                .iter()
                .find(|setting| setting.problem.is_some())?;
            let problem = setting.problem.as_deref().unwrap_or_default();
            Some(format!(
                "{}, setting {}: {problem}",
                method.name, setting.name
            ))
        })
    };
    if let Some(problem) = problem {
        model.say = Some(problem);
        return Vec::new();
    }
    let choice = Choice {
        revision: picking.revision,
        methods: chosen.iter().map(|method| method.picked()).collect(),
        reps: picking.reps.0,
        order: picking.order,
        destroy: Vec::new(),
    };
    go_on(model, choice)
}

/// Asks for the next name that is still missing; starts where none is.
pub(super) fn go_on(model: &mut Model, choice: Choice) -> Vec<Effect> {
    // A new offer may have come while a name was typed: what it destroys has to be seen first.
    if !model.picking.is_current() || choice.revision != model.picking.revision {
        model.say = Some("What would run has changed; look at it again, then start.".to_owned());
        return Vec::new();
    }
    let missing = model
        .picking
        .named()
        .into_iter()
        .find(|named| !choice.destroy.contains(named));
    if let Some(named) = missing {
        let entry = name_entry(named, choice);
        model.layers.push(Layer::Entry(Box::new(entry)));
        return Vec::new();
    }
    model.picking.starting = true;
    model.say = Some("Starting…".to_owned());
    vec![Effect::Start(choice)]
}

fn name_entry(named: Named, choice: Choice) -> Entry {
    Entry {
        title: format!("Type the name of {} on {}", named.what, named.host),
        lines: vec![
            format!(
                "Its name is {}. This run destroys it, and restores it from its copy.",
                named.name
            ),
            "Esc, or an empty line, changes nothing.".to_owned(),
        ],
        purpose: Purpose::Destroy(named, choice),
        input: tui_input::Input::default(),
        problem: None,
    }
}
