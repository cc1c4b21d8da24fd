//! Keys of what lies over the screen: help, notes, settings, questions, typing.

use crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use tui_input::{Input, InputRequest};

use crate::event::{Answer, AskId, Question, QuestionKind};
use crate::session::Session;

use super::super::keys::Action;
use super::super::message::{Effect, Ended};
use super::super::model::{Decision, Dialog, Entry, Layer, Leave, Model, Purpose};
use super::super::{layout, screens};
use super::{copying, form, log, palette, picking, projecting, recordings, replay, themes};

/// Nothing that is typed needs to be longer.
const LONGEST: usize = 1024;

/// What shows a question.
pub(super) fn layer_of(ask: AskId, question: Question) -> Layer {
    let Question { title, lines, kind } = question;
    let entry = |purpose| {
        Layer::Entry(Box::new(Entry {
            purpose,
            title: title.clone(),
            lines: lines.clone(),
            input: Input::default(),
            selected: false,
            problem: None,
        }))
    };
    match kind {
        QuestionKind::YesNo { yes } => Layer::Dialog(Dialog {
            title,
            lines,
            choices: vec![
                ("no".to_owned(), Decision::No(ask.clone())),
                (yes, Decision::Yes(ask)),
            ],
            at: 0,
        }),
        QuestionKind::Name(name) => entry(Purpose::Name(ask, name)),
        QuestionKind::Text => entry(Purpose::Text(ask)),
        QuestionKind::Secret => entry(Purpose::Secret(ask)),
    }
}

/// The question that a layer asks.
pub(super) fn ask_of(layer: &Layer) -> Option<&AskId> {
    match layer {
        Layer::Dialog(dialog) => dialog
            .choices
            .iter()
            .find_map(|(_, decision)| match decision {
                Decision::Yes(ask) | Decision::No(ask) => Some(ask),
                _ => None,
            }),
        Layer::Entry(entry) => match &entry.purpose {
            Purpose::Name(ask, _) | Purpose::Text(ask) | Purpose::Secret(ask) => Some(ask),
            _ => None,
        },
        _ => None,
    }
}

pub(super) fn act(model: &mut Model, session: &Session, action: Action) -> Vec<Effect> {
    match model.layers.last_mut() {
        Some(Layer::Help(_) | Layer::Notes(_)) => {
            overlay(model, session, action);
            Vec::new()
        }
        Some(Layer::Settings(_)) => form::act(model, action),
        Some(Layer::Themes(_)) => {
            themes::act(model, action);
            Vec::new()
        }
        Some(Layer::Chapters(_)) => replay::chapter(model, session, action),
        Some(Layer::Palette(_)) => palette::act(model, session, action),
        Some(Layer::Copying(_)) => copying::act(model, session, action),
        Some(Layer::Dialog(dialog)) => {
            let last = dialog.choices.len().saturating_sub(1);
            match action {
                Action::Left => dialog.at = dialog.at.checked_sub(1).unwrap_or(last),
                Action::Right => dialog.at = if dialog.at == last { 0 } else { dialog.at + 1 },
                Action::Accept => {
                    let at = dialog.at;
                    return decide(model, at);
                }
                // The first choice is the one that changes nothing.
                Action::Back => return decide(model, 0),
                _ => {}
            }
            Vec::new()
        }
        Some(Layer::Entry(_)) => match action {
            Action::Accept => accept(model, session),
            Action::Back => cancel(model),
            Action::Syntax => {
                syntax(model);
                Vec::new()
            }
            _ => Vec::new(),
        },
        None => Vec::new(),
    }
}

fn overlay(model: &mut Model, session: &Session, action: Action) {
    if action == Action::Back {
        model.layers.pop();
        return;
    }
    let rows = screens::overlay_rows(model, session);
    let page = layout::overlay_height(model);
    if let Some(Layer::Help(scroll) | Layer::Notes(scroll)) = model.layers.last_mut() {
        *scroll = picking::moved(*scroll, rows.saturating_sub(page) + 1, page, action);
    }
}

fn decide(model: &mut Model, at: usize) -> Vec<Effect> {
    let Some(Layer::Dialog(dialog)) = model.layers.pop() else {
        return Vec::new();
    };
    match dialog
        .choices
        .into_iter()
        .nth(at)
        .map(|(_, decision)| decision)
    {
        None | Some(Decision::Cancel) => Vec::new(),
        Some(Decision::Stop) => {
            model.leave = Leave::Stopping;
            vec![Effect::Stop]
        }
        Some(Decision::StopAndLeave) => {
            model.leave = Leave::Leaving;
            vec![Effect::Stop]
        }
        Some(Decision::Abandon) => vec![Effect::Quit(Ended::Abandoned)],
        Some(Decision::Yes(ask)) => vec![Effect::Confirm {
            ask,
            answer: Answer::Yes,
        }],
        Some(Decision::No(ask)) => vec![Effect::Confirm {
            ask,
            answer: Answer::No,
        }],
        Some(Decision::Delete(path)) => vec![Effect::Delete(path)],
    }
}

/// Takes what was typed.
fn accept(model: &mut Model, session: &Session) -> Vec<Effect> {
    let Some(Layer::Entry(entry)) = model.layers.pop() else {
        return Vec::new();
    };
    let text = entry.input.value().to_owned();
    match entry.purpose.clone() {
        Purpose::Search(syntax) => {
            if let Err(why) = log::search(model, session, &text, syntax) {
                wrong(model, entry, &why);
            }
        }
        Purpose::FilterLog(syntax) => {
            if let Err(why) = log::filter(model, session, &text, syntax) {
                wrong(model, entry, &why);
            }
        }
        Purpose::Filter => {
            model.picking.filter = text;
            model.picking.method = 0;
            model.picking.scroll = 0;
        }
        Purpose::FilterRecordings => recordings::filter(model, text),
        Purpose::GoTo => return replay::go_to(model, entry, &text),
        Purpose::Disks => projecting::disks(model, entry, &text),
        Purpose::Pipeline => projecting::pipeline(model, session, entry, &text),
        Purpose::Marker | Purpose::Subject(_) if text.trim().is_empty() => {}
        Purpose::Marker => {
            model.say = Some(format!("Marker: {}", text.trim()));
            return vec![Effect::Marker(text.trim().to_owned())];
        }
        Purpose::Subject(host) => match picking::subject(&model.picking, &host, &text) {
            Ok(subject) => return picking::protect(model, host, Some(subject)),
            Err(why) => {
                let entry = Entry {
                    problem: Some(why),
                    ..*entry
                };
                model.layers.push(Layer::Entry(Box::new(entry)));
            }
        },
        Purpose::Destroy(..) if text.is_empty() => {}
        Purpose::Destroy(named, _) if text != named.name => again(model, entry, &text),
        Purpose::Destroy(named, mut choice) => {
            choice.destroy.push(named);
            return picking::go_on(model, choice);
        }
        Purpose::Name(ask, _) if text.is_empty() => {
            return vec![Effect::Confirm {
                ask,
                answer: Answer::No,
            }];
        }
        Purpose::Name(_, name) if text != name => again(model, entry, &text),
        Purpose::Name(ask, _) => {
            return vec![Effect::Confirm {
                ask,
                answer: Answer::Yes,
            }];
        }
        Purpose::Text(ask) | Purpose::Secret(ask) => {
            return vec![Effect::Confirm {
                ask,
                answer: Answer::Entered(text.into()),
            }];
        }
    }
    Vec::new()
}

/// The name was wrong: it has to be typed anew.
fn again(model: &mut Model, mut entry: Box<Entry>, text: &str) {
    entry.problem = Some(format!("{text:?} is not its name. Nothing has happened."));
    entry.input = Input::default();
    model.layers.push(Layer::Entry(entry));
}

/// An expression is none: it can be put right.
fn wrong(model: &mut Model, mut entry: Box<Entry>, why: &str) {
    entry.problem = Some(format!("This is no regular expression: {why}."));
    model.layers.push(Layer::Entry(entry));
}

/// What is searched for is a text, or an expression.
fn syntax(model: &mut Model) {
    if let Some(Layer::Entry(entry)) = model.layers.last_mut()
        && let Purpose::Search(syntax) | Purpose::FilterLog(syntax) = &mut entry.purpose
    {
        *syntax = syntax.other();
        entry.problem = None;
    }
}

fn cancel(model: &mut Model) -> Vec<Effect> {
    let Some(Layer::Entry(entry)) = model.layers.pop() else {
        return Vec::new();
    };
    match entry.purpose {
        Purpose::Name(ask, _) | Purpose::Text(ask) | Purpose::Secret(ask) => {
            let answer = Answer::No;
            return vec![Effect::Confirm { ask, answer }];
        }
        Purpose::Destroy(..) => model.say = Some("Not started.".to_owned()),
        Purpose::Search(_)
        | Purpose::FilterLog(_)
        | Purpose::Filter
        | Purpose::FilterRecordings
        | Purpose::GoTo
        | Purpose::Disks
        | Purpose::Pipeline
        | Purpose::Marker
        | Purpose::Subject(_) => {}
    }
    Vec::new()
}

/// A key that means nothing but itself.
pub(super) fn typed(model: &mut Model, event: KeyEvent) -> Vec<Effect> {
    match model.layers.last_mut() {
        Some(Layer::Entry(entry)) => {
            if let Some(request) = request(event) {
                match request {
                    InputRequest::InsertChar(_)
                    | InputRequest::DeletePrevChar
                    | InputRequest::DeleteNextChar => entry.begin_anew(),
                    _ => entry.selected = false,
                }
                edit(&mut entry.input, request);
                if matches!(entry.purpose, Purpose::Search(_) | Purpose::FilterLog(_)) {
                    // It covers what is searched.
                    entry.problem = None;
                }
                look_at(model);
            }
        }
        Some(Layer::Settings(_)) => form::typed(model, event),
        Some(Layer::Palette(palette)) => {
            if let Some(request) = request(event)
                && has_room(&palette.input, request)
            {
                palette::typed(model, request);
            }
        }
        _ => {}
    }
    Vec::new()
}

/// Says what is wrong with what is typed, where that can be said already.
fn look_at(model: &mut Model) {
    if let Some(Layer::Entry(entry)) = model.layers.last_mut()
        && let Purpose::Subject(host) = &entry.purpose
    {
        let text = entry.input.value();
        let wrong = picking::subject(&model.picking, host, text).err();
        entry.problem = wrong.filter(|_| !text.is_empty());
    }
}

/// What a key does to a line that is typed into.
pub(super) fn request(event: KeyEvent) -> Option<InputRequest> {
    if event.kind == KeyEventKind::Release {
        return None;
    }
    let ctrl = event.modifiers.contains(KeyModifiers::CONTROL);
    let alt = event.modifiers.contains(KeyModifiers::ALT);
    Some(match event.code {
        KeyCode::Char('a') if ctrl => InputRequest::GoToStart,
        KeyCode::Char('e') if ctrl => InputRequest::GoToEnd,
        KeyCode::Char('u') if ctrl => InputRequest::DeleteFromStart,
        KeyCode::Char('k') if ctrl => InputRequest::DeleteTillEnd,
        KeyCode::Char('w') if ctrl => InputRequest::DeletePrevWord,
        KeyCode::Char(c) if !ctrl && !alt => InputRequest::InsertChar(c),
        KeyCode::Backspace => InputRequest::DeletePrevChar,
        KeyCode::Delete => InputRequest::DeleteNextChar,
        KeyCode::Left => InputRequest::GoToPrevChar,
        KeyCode::Right => InputRequest::GoToNextChar,
        KeyCode::Home => InputRequest::GoToStart,
        KeyCode::End => InputRequest::GoToEnd,
        _ => return None,
    })
}

/// Changes a line that is typed into, up to its greatest length.
pub(super) fn edit(input: &mut Input, request: InputRequest) {
    if has_room(input, request) {
        input.handle(request);
    }
}

fn has_room(input: &Input, request: InputRequest) -> bool {
    !matches!(request, InputRequest::InsertChar(_)) || input.value().len() < LONGEST
}

/// Puts the first line of a text into it.
pub(super) fn insert(input: &mut Input, text: &str) {
    let room = LONGEST.saturating_sub(input.value().len());
    let line = text.lines().next().unwrap_or_default();
    for c in line.chars().filter(|c| !c.is_control()).take(room) {
        input.handle(InputRequest::InsertChar(c));
    }
}

/// Text that was pasted goes where text is typed, up to the end of its line; elsewhere it would be
/// a string of keys that nobody meant.
pub(super) fn pasted(model: &mut Model, text: &str) -> Vec<Effect> {
    match model.layers.last_mut() {
        Some(Layer::Entry(entry)) => {
            entry.begin_anew();
            insert(&mut entry.input, text);
            look_at(model);
        }
        Some(Layer::Settings(_)) => form::pasted(model, text),
        _ => {}
    }
    Vec::new()
}
