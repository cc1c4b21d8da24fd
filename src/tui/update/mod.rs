//! What a message does to the model, and what goes out. Pure: nothing is read or written but the
//! arguments.

mod comparing;
mod copying;
mod form;
mod freeze;
mod layers;
mod log;
mod mouse;
mod pairing;
mod palette;
mod picking;
mod projecting;
mod recordings;
mod replay;
mod themes;
mod watching;

use crate::session::{Session, Stake};

use super::keys::Action;
use super::message::{Effect, Ended, Message, ThemeWish};
use super::model::{Decision, Dialog, Layer, Leave, Model, Palette, Screen, is_active};
use super::offer::Offer;

/// Takes one message. The session is only looked at: a search reads its log.
pub fn update(model: &mut Model, session: &Session, message: Message) -> Vec<Effect> {
    let effects = take(model, session, message);
    freeze::after(model, &effects);
    next_question(model);
    let shown = freeze::seen(model);
    log::look(model, shown.as_deref().unwrap_or(session));
    effects
}

fn take(model: &mut Model, session: &Session, message: Message) -> Vec<Effect> {
    match message {
        Message::Key(event) => {
            model.say = None;
            match model.keys.resolve(&model.contexts(session), event) {
                Some(action) => act(model, session, action),
                None => layers::typed(model, event),
            }
        }
        Message::Mouse(event) => {
            let shown = freeze::seen(model);
            mouse::take(model, shown.as_deref().unwrap_or(session), event)
        }
        Message::Paste(text) => layers::pasted(model, &text),
        Message::Resize(columns, rows) => {
            model.size = (columns, rows);
            Vec::new()
        }
        Message::Changed(now) | Message::Tick(now) => {
            match &mut model.frozen {
                Some(frozen) => frozen.goes_on(session, now),
                None => model.now = now,
            }
            replay::present(model, session);
            over(model, session)
        }
        Message::Offer(offer) => take_offer(model, *offer),
        Message::Began => {
            began(model);
            Vec::new()
        }
        Message::Ask(ask, question) => {
            model.questions.push_back((ask, question));
            Vec::new()
        }
        Message::Settled(ask) => {
            model
                .layers
                .retain(|layer| layers::ask_of(layer) != Some(&ask));
            model.questions.retain(|(known, _)| *known != ask);
            Vec::new()
        }
        Message::Say(text) => {
            model.say = Some(text);
            Vec::new()
        }
        Message::Trouble(text) => {
            model.picking.starting = false;
            model.layers.push(Layer::Dialog(Dialog {
                title: "That did not work".to_owned(),
                lines: text.lines().map(str::to_owned).collect(),
                choices: vec![("close".to_owned(), Decision::Cancel)],
                at: 0,
            }));
            Vec::new()
        }
        Message::Themes(wish, all, wrong) => {
            themes::take(model, wish, all, wrong);
            Vec::new()
        }
        Message::Replay(state) => {
            replay::stands(model, state);
            Vec::new()
        }
        Message::ReplayClosed => {
            model.replay = None;
            Vec::new()
        }
        Message::Recordings(found) => {
            recordings::found(model, found);
            Vec::new()
        }
        Message::Ended(ended) => vec![Effect::Quit(ended)],
    }
}

/// Puts the next question. It never covers something else that is open: what is being typed
/// there would become its answer.
fn next_question(model: &mut Model) {
    if model.questions.is_empty() {
        return;
    }
    match model.layers.last() {
        None => {
            if let Some((ask, question)) = model.questions.pop_front() {
                model.layers.push(layers::layer_of(ask, question));
            }
        }
        Some(open) if layers::ask_of(open).is_none() => {
            model.say = Some("A question waits until this is closed.".to_owned());
        }
        Some(_) => {}
    }
}

/// A session begins: it is shown from its begin, the way the last one was looked at.
fn began(model: &mut Model) {
    model.watching = model.watching.afresh();
    model.picking.starting = false;
    model.say = None;
    model.leave = Leave::No;
    model.frozen = None;
    model.screen = Screen::Watching;
}

/// Ends the dashboard where the operator only waited for the session's end.
fn over(model: &mut Model, session: &Session) -> Vec<Effect> {
    if session.end.is_none() {
        return Vec::new();
    }
    match std::mem::take(&mut model.leave) {
        Leave::Leaving => vec![Effect::Quit(Ended::Quit)],
        Leave::Stopping | Leave::No => Vec::new(),
    }
}

fn take_offer(model: &mut Model, offer: Offer) -> Vec<Effect> {
    let picking = &mut model.picking;
    if picking
        .offer
        .as_ref()
        .is_some_and(|known| known.revision > offer.revision)
    {
        return Vec::new();
    }
    picking.revision = picking.revision.max(offer.revision);
    picking::take_offer(picking, offer);
    Vec::new()
}

/// Does what a key is for.
fn act(model: &mut Model, session: &Session, action: Action) -> Vec<Effect> {
    let shown = freeze::shown(model, action);
    let session = shown.as_deref().unwrap_or(session);
    match action {
        Action::Freeze => {
            freeze::freeze(model, session);
            Vec::new()
        }
        Action::Suspend => vec![Effect::Suspend],
        Action::Quit => quit(model, session),
        Action::Mouse => mouse::turn(model),
        Action::Palette if !matches!(model.layers.last(), Some(Layer::Palette(_))) => {
            model.layers.push(Layer::Palette(Palette::default()));
            Vec::new()
        }
        Action::Help if !matches!(model.layers.last(), Some(Layer::Help(_))) => {
            model.layers.push(Layer::Help(0));
            Vec::new()
        }
        _ if !model.layers.is_empty() => layers::act(model, session, action),
        Action::NextTheme => vec![Effect::Themes(ThemeWish::Next)],
        Action::Theme => vec![Effect::Themes(ThemeWish::List)],
        Action::Recordings => recordings::enter(model, session),
        _ if replay::is_for(model, action) => replay::act(model, session, action),
        Action::Project if model.screen != Screen::Projecting => {
            projecting::enter(model);
            Vec::new()
        }
        Action::Notes => {
            model.layers.push(Layer::Notes(0));
            Vec::new()
        }
        _ => match model.screen {
            Screen::Picking => picking::act(model, action),
            Screen::Watching => watching::act(model, session, action),
            Screen::Comparing => comparing::act(model, session, action),
            Screen::Projecting => projecting::act(model, session, action),
            Screen::Recordings => recordings::act(model, action),
        },
    }
}

/// What leaving costs, in a sentence or two.
fn cost(stake: &Stake) -> Vec<String> {
    if !stake.touched.is_empty() {
        return vec![format!(
            "Leaving stops it while {} is not back: it stays as it is then, half restored perhaps. Its copy stays, too, and comeback recover says what brings it back.",
            stake.touched.join(", ")
        )];
    }
    let mut lines = vec!["Leaving stops it, and takes away what it made: a copy stays where the restore is not proved.".to_owned()];
    if !stake.only_read.is_empty() {
        let (is, all) = (
            if stake.only_read.len() == 1 {
                "is"
            } else {
                "are"
            },
            stake.only_read.join(", "),
        );
        lines.push(format!("{all} {is} only read: nothing of it is at stake."));
    }
    lines
}

/// Leaves at once where nothing goes on, else asks. What is being undone may be left, too, but
/// says how it is taken away later.
fn quit(model: &mut Model, session: &Session) -> Vec<Effect> {
    if model.replay.is_some() || !(is_active(session) || model.picking.starting) {
        return vec![Effect::Quit(Ended::Quit)];
    }
    let asks = |decision: &Decision| matches!(decision, Decision::StopAndLeave | Decision::Abandon);
    if let Some(Layer::Dialog(dialog)) = model.layers.last()
        && dialog.choices.iter().any(|(_, decision)| asks(decision))
    {
        return Vec::new();
    }
    let (title, lines, stay, go, decision) = match model.leave {
        Leave::No => (
            "A run is going on",
            cost(&session.stake()),
            "keep watching",
            "stop, undo, then leave",
            Decision::StopAndLeave,
        ),
        Leave::Stopping | Leave::Leaving => (
            "It is still being undone",
            vec!["What is left then is in the recording and on the host: comeback recover takes it away.".to_owned()],
            "wait",
            "leave now",
            Decision::Abandon,
        ),
    };
    model.layers.push(Layer::Dialog(Dialog {
        title: title.to_owned(),
        lines,
        choices: vec![
            (stay.to_owned(), Decision::Cancel),
            (go.to_owned(), decision),
        ],
        at: 0,
    }));
    Vec::new()
}
