//! Keys as an operator presses them, one after the other.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

use super::super::message::{Effect, Message};
use super::super::model::Model;
use super::super::update;
use crate::session::Session;

/// Presses keys: characters, `<enter>`, `<esc>`, `<tab>`, `<backtab>`, `<space>`, `<up>` …, `<c-x>`.
pub(super) fn press(model: &mut Model, session: &Session, keys: &str) -> Vec<Effect> {
    let mut effects = Vec::new();
    let mut rest = keys;
    while let Some(first) = rest.chars().next() {
        let (event, len) = match rest.strip_prefix('<').and_then(|rest| rest.split_once('>')) {
            Some((name, _)) => (named(name), name.len() + 2),
            None => (
                KeyEvent::new(KeyCode::Char(first), KeyModifiers::NONE),
                first.len_utf8(),
            ),
        };
        rest = rest.get(len..).unwrap_or_default();
        effects.extend(update(model, session, Message::Key(event)));
    }
    effects
}

fn named(name: &str) -> KeyEvent {
    if let Some(c) = name.strip_prefix("c-") {
        return KeyEvent::new(
            KeyCode::Char(c.chars().next().unwrap()),
            KeyModifiers::CONTROL,
        );
    }
    let code = match name {
        "enter" => KeyCode::Enter,
        "esc" => KeyCode::Esc,
        "tab" => KeyCode::Tab,
        "backtab" => KeyCode::BackTab,
        "space" => KeyCode::Char(' '),
        "up" => KeyCode::Up,
        "down" => KeyCode::Down,
        "left" => KeyCode::Left,
        "right" => KeyCode::Right,
        "pgup" => KeyCode::PageUp,
        "pgdn" => KeyCode::PageDown,
        "home" => KeyCode::Home,
        "end" => KeyCode::End,
        "bs" => KeyCode::Backspace,
        "f1" => KeyCode::F(1),
        "f2" => KeyCode::F(2),
        "f9" => KeyCode::F(9),
        other => panic!("no key is called {other}"),
    };
    KeyEvent::new(code, KeyModifiers::NONE)
}
