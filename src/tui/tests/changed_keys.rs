//! What texts say of keys, where the configuration has changed them.

use super::super::keys::{Change, Keymap};
use super::super::message::{Message, ReplayState};
use super::super::model::{Model, Pane, Screen};
use super::super::update;
use super::fixture::Tale;
use super::offers::offer;
use super::press::press;
use super::snapshot::{draw, model, text};
use crate::event::ProgressKind;
use crate::session::Session;

/// Every action that a text names, and a key that is nobody's.
const CHANGED: [(Option<&str>, &str, &str); 11] = [
    (None, "recordings", "F2"),
    (None, "sort", "F3"),
    (None, "whole", "F4"),
    (None, "freeze", "F5"),
    (None, "swap", "F6"),
    (None, "mark", "F7"),
    (None, "accept", "F8"),
    (None, "back", "F9"),
    (None, "quit", "F10"),
    (Some("entry"), "accept", "F11"),
    (Some("entry"), "back", "F12"),
];

fn changed() -> Keymap {
    let keys = CHANGED.map(|(_, _, key)| vec![key.to_owned()]);
    let changes: Vec<Change<'_>> = CHANGED
        .iter()
        .zip(&keys)
        .map(|((context, action, _), keys)| Change {
            line: 1,
            context: *context,
            action,
            keys,
        })
        .collect();
    Keymap::new(&changes).unwrap()
}

/// Presses the keys of the table, then draws with the other ones.
fn shown(mut model: Model, session: &Session, keys: &str) -> String {
    press(&mut model, session, keys);
    model.keys = changed();
    text(&draw(&model, session, (120, 40), "default"))
}

/// Does the last key with the changed table, and gives what it says.
fn said(model: &mut Model, session: &Session, keys: &str) -> String {
    model.keys = changed();
    press(model, session, keys);
    model.say.clone().unwrap_or_default()
}

fn watching(tale: &Tale) -> Model {
    let mut model = model();
    model.screen = Screen::Watching;
    model.now = tale.now();
    model
}

fn picking() -> Model {
    let mut model = model();
    let offer = Message::Offer(Box::new(offer()));
    update(&mut model, &Session::default(), offer);
    model
}

#[test]
fn messages_name_the_keys_that_hold() {
    let (tale, _) = Tale::restoring(ProgressKind::Exact);
    let says = said(&mut watching(&tale), &tale.session, "<f2>");
    assert!(says.ends_with("F2 opens them once it has ended."), "{says}");
    let mut list = model();
    list.screen = Screen::Recordings;
    let says = said(&mut list, &Session::default(), "<f9>");
    assert!(says.ends_with("F10 leaves."), "{says}");
    let tale = Tale::finished();
    let mut comparing = watching(&tale);
    press(&mut comparing, &tale.session, "c");
    let says = said(&mut comparing, &tale.session, "S");
    assert!(says.ends_with("F3 sorts it by a column."), "{says}");
    let says = said(&mut picking(), &Session::default(), "<enter>");
    assert!(
        says.ends_with("F7 picks the method under the cursor."),
        "{says}"
    );
}

#[test]
fn screens_name_the_keys_that_hold() {
    let (tale, _) = Tale::restoring(ProgressKind::Exact);
    let frozen = shown(watching(&tale), &tale.session, "<c-f>");
    assert!(frozen.contains("F5 goes on"), "{frozen}");
    for (pane, says) in [(Pane::Medians, "F6 bytes"), (Pane::Bytes, "F6 medians")] {
        let mut model = watching(&tale);
        model.watching.pane = pane;
        let keys = if pane == Pane::Bytes { "b" } else { "" };
        let mut small = model.clone();
        press(&mut small, &tale.session, keys);
        small.keys = changed();
        let screen = text(&draw(&small, &tale.session, (80, 24), "default"));
        assert!(screen.contains(says), "{says}: {screen}");
    }
    let mut replay = model();
    let state = ReplayState {
        at: tale.now(),
        ..super::replay_keys::replay()
    };
    update(&mut replay, &tale.session, Message::Replay(state));
    let chapters = shown(replay, &tale.session, "C");
    assert!(chapters.contains("F8 goes there, F9 closes"), "{chapters}");
    let settings = shown(picking(), &Session::default(), "e");
    assert!(settings.contains("F9 closes"), "{settings}");
    let typed = shown(picking(), &Session::default(), "ejjj<enter>");
    assert!(typed.contains("F11 takes it, F12 forgets it"), "{typed}");
    let mut list = model();
    list.screen = Screen::Recordings;
    list.recordings.listed = true;
    list.recordings.filter = "zfs".into();
    let list = shown(list, &Session::default(), "");
    assert!(list.contains("F9 shows all"), "{list}");
}

#[test]
fn a_key_that_is_taken_away_is_named_nowhere() {
    let none: &[String] = &[];
    let sort = Change {
        line: 1,
        context: None,
        action: "sort",
        keys: none,
    };
    let tale = Tale::finished();
    let mut model = watching(&tale);
    press(&mut model, &tale.session, "c");
    model.keys = Keymap::new(&[sort]).unwrap();
    press(&mut model, &tale.session, "S");
    assert_eq!(model.say.unwrap(), "It is in the order of the plan.");
}
