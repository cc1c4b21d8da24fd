//! Keys of the picking screen.

use crate::event::Order;
use crate::method::{Own, SubjectKind, SubjectSpec};

use super::super::keys::{Action, Context, Keymap};
use super::super::layout;
use super::super::message::Effect;
use super::super::model::{Entry, Form, Layer, Model, PickPane, Picking, Purpose};
use super::super::offer::{Choice, Named, Offer, SubjectOffer};
use super::super::screens;
use super::{pairing, watching};

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
        Action::Mark if model.picking.pane == PickPane::Subject => return choose(model),
        Action::Mark => mark(model),
        Action::AtOnce => pairing::pair(model),
        Action::First => pairing::first(&mut model.picking),
        Action::Subject => type_subject(model),
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
                let form = Form {
                    of: method.picked(),
                    at: 0,
                    typing: None,
                };
                model.layers.push(Layer::Settings(form));
            }
        }
        Action::Filter => {
            let before = model.picking.filter.clone();
            watching::entry(model, Purpose::Filter, "Show methods with", before);
        }
        Action::NextPane => model.picking.pane = pane_from(model.picking.pane, 1),
        Action::PreviousPane => model.picking.pane = pane_from(model.picking.pane, PANES.len() - 1),
        _ => scroll(model, action),
    }
    Vec::new()
}

/// In the order of Tab.
const PANES: [PickPane; 4] = [
    PickPane::Hosts,
    PickPane::Subject,
    PickPane::Methods,
    PickPane::Preview,
];

fn pane_from(pane: PickPane, on: usize) -> PickPane {
    let at = PANES.iter().position(|known| *known == pane).unwrap_or(0);
    PANES
        .get((at + on) % PANES.len())
        .copied()
        .unwrap_or_default()
}

/// Chooses the subject under the cursor.
fn choose(model: &mut Model) -> Vec<Effect> {
    let picking = &model.picking;
    let Some(host) = picking.host() else {
        return Vec::new();
    };
    let subject = match picking.subject.checked_sub(1) {
        None => None,
        Some(at) => match host.subjects.get(at) {
            Some(subject) => Some(subject.spec.clone()),
            None => return Vec::new(),
        },
    };
    if subject == host.subject {
        return Vec::new();
    }
    let host = host.name.clone();
    protect(model, host, subject)
}

/// Has this subject protected on a host.
pub(super) fn protect(
    model: &mut Model,
    host: String,
    subject: Option<SubjectSpec>,
) -> Vec<Effect> {
    model.picking.revision += 1;
    vec![Effect::Protect {
        revision: model.picking.revision,
        host,
        subject,
    }]
}

fn type_subject(model: &mut Model) {
    let Some(host) = model.picking.host() else {
        return;
    };
    let host = host.name.clone();
    let example = match takes(&model.picking, &host).first() {
        Some(SubjectKind::Dir) | None => "dir:/srv/data".to_owned(),
        Some(SubjectKind::Vm | SubjectKind::Ct) => "vm:9001".to_owned(),
        Some(kind) => format!("{kind}:/srv/data"),
    };
    let entry = Entry {
        title: format!("What is protected on {host}"),
        lines: vec![format!(
            "KIND:ID, e.g. {example}. It is only read, unless it bears comeback's mark (of a folder: a file .comeback-subject in it)."
        )],
        input: tui_input::Input::default(),
        selected: false,
        problem: None,
        purpose: Purpose::Subject(host),
    };
    model.layers.push(Layer::Entry(Box::new(entry)));
}

/// The kinds of subjects that some method of a host takes.
fn takes(picking: &Picking, host: &str) -> Vec<SubjectKind> {
    let methods = picking.offer.iter().flat_map(|offer| &offer.methods);
    let mut kinds: Vec<SubjectKind> = methods
        .filter(|method| method.host == host && method.own != Own::Always)
        .map(|method| method.kind)
        .collect();
    kinds.sort_unstable();
    kinds.dedup();
    kinds
}

/// Reads a subject that was typed for a host.
///
/// # Errors
/// What was expected.
pub(super) fn subject(picking: &Picking, host: &str, text: &str) -> Result<SubjectSpec, String> {
    let mut spec: SubjectSpec = text.trim().parse().map_err(|_why| {
        let kinds = takes(picking, host);
        let kinds: Vec<_> = kinds.iter().map(|kind| kind.name()).collect();
        format!(
            "expected KIND:ID with KIND one of {}, not {text:?}",
            kinds.join(", ")
        )
    })?;
    if let Some(other) = spec.host.take().filter(|named| named != host) {
        return Err(format!(
            "this is for {host}, not for {other}: choose the host first"
        ));
    }
    let kinds = takes(picking, host);
    if !kinds.contains(&spec.kind) {
        let kinds: Vec<_> = kinds.iter().map(|kind| kind.name()).collect();
        return Err(format!(
            "no method here takes a {}; they take: {}",
            spec.kind,
            kinds.join(", ")
        ));
    }
    spec.is_well_formed()?;
    Ok(spec)
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
    pairing::keep(&mut model.picking);
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
        PickPane::Subject => (
            model.picking.subject,
            model
                .picking
                .host()
                .map_or(0, |host| host.subjects.len() + 1),
            layout::inner_height(areas.subject),
        ),
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
            to_host(&mut model.picking, to);
        }
        PickPane::Methods if to != at => {
            model.picking.method = to;
            model.picking.scroll = 0;
        }
        PickPane::Subject => model.picking.subject = to,
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

/// Puts the cursor on another host.
pub(super) fn to_host(picking: &mut Picking, host: usize) {
    picking.host = host;
    picking.subject = chosen_row(picking);
    picking.method = 0;
    picking.scroll = 0;
}

/// The row of the subject that is chosen on the host under the cursor.
fn chosen_row(picking: &Picking) -> usize {
    let row = || {
        let host = picking.host()?;
        let is_it = |known: &SubjectOffer| Some(&known.spec) == host.subject.as_ref();
        Some(host.subjects.iter().position(is_it)? + 1)
    };
    row().unwrap_or(0)
}

/// Keeps cursors within what there is, and on what was chosen.
pub(super) fn take_offer(picking: &mut Picking, offer: Offer) {
    let before = picking.host().and_then(|host| host.subject.clone());
    picking
        .picked
        .retain(|picked| offer.method(picked).is_some());
    pairing::keep(picking);
    picking.offer = Some(offer);
    keep_cursors(picking);
    if picking.host().and_then(|host| host.subject.clone()) != before {
        picking.subject = chosen_row(picking);
    }
}

fn keep_cursors(picking: &mut Picking) {
    let hosts = picking.offer.as_ref().map_or(0, |offer| offer.hosts.len());
    picking.host = picking.host.min(hosts.saturating_sub(1));
    let subjects = picking.host().map_or(0, |host| host.subjects.len());
    picking.subject = picking.subject.min(subjects);
    picking.method = picking.method.min(picking.shown().len().saturating_sub(1));
}

/// Starts, or says why not, or asks for the first name.
fn start(model: &mut Model) -> Vec<Effect> {
    let picking = &model.picking;
    let chosen = picking.chosen();
    let problem = if picking.starting {
        Some("It is starting already.".to_owned())
    } else if !picking.is_current() {
        let key = model.keys.name(&[Context::Picking], Action::Start);
        Some(format!(
            "What would run is still being worked out: look at it, then press {key} again."
        ))
    } else if chosen.is_empty() {
        let picks = "picks the method under the cursor.";
        let picks = model.keys.says(Context::Methods, Action::Mark, picks);
        Some(format!("Nothing is picked. {picks}").trim_end().to_owned())
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
        together: picking.pairs(),
        first: picking.first,
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
        let entry = name_entry(&model.keys, named, choice);
        model.layers.push(Layer::Entry(Box::new(entry)));
        return Vec::new();
    }
    model.picking.starting = true;
    model.say = Some("Starting…".to_owned());
    vec![Effect::Start(choice)]
}

fn name_entry(keys: &Keymap, named: Named, choice: Choice) -> Entry {
    let back = keys.name(&[Context::Entry], Action::Back);
    Entry {
        title: format!("Type the name of {} on {}", named.what, named.host),
        lines: vec![
            format!(
                "Its name is {}. This run destroys it. A proved copy is there before that.",
                named.name
            ),
            format!("{back}, or an empty line, changes nothing."),
        ],
        purpose: Purpose::Destroy(named, choice),
        input: tui_input::Input::default(),
        selected: false,
        problem: None,
    }
}
