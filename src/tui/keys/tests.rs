use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use proptest::prelude::*;

use super::*;

fn change<'a>(
    line: usize,
    context: Option<&'a str>,
    action: &'a str,
    keys: &'a [String],
) -> Change<'a> {
    Change {
        line,
        context,
        action,
        keys,
    }
}

fn names(keys: &[&str]) -> Vec<String> {
    keys.iter().map(|key| (*key).to_owned()).collect()
}

fn wrong(context: Option<&str>, action: &str, keys: &[&str]) -> String {
    let keys = names(keys);
    let error = Keymap::new(&[change(7, context, action, &keys)]).unwrap_err();
    assert_eq!(error.line, 7, "{error}");
    error.why
}

#[test]
fn a_key_means_one_thing_in_a_context() {
    for (at, bind) in KEYS.iter().enumerate() {
        for key in bind.keys {
            let again = KEYS
                .iter()
                .skip(at + 1)
                .find(|other| other.context == bind.context && other.keys.contains(key));
            assert!(again.is_none(), "{key} in {:?}", bind.context);
        }
    }
}

#[test]
fn an_action_stands_once_in_a_context() {
    for (at, bind) in KEYS.iter().enumerate() {
        let again = KEYS
            .iter()
            .skip(at + 1)
            .find(|other| other.context == bind.context && other.action == bind.action);
        assert!(again.is_none(), "{:?} in {:?}", bind.action, bind.context);
        assert!(!bind.help.is_empty(), "{:?}", bind.action);
    }
}

#[test]
fn the_table_obeys_its_own_rules() {
    Keymap::new(&[]).unwrap();
}

#[test]
fn the_documentation_is_the_table() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/keys.md");
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(path, document::page()).unwrap();
    }
    let found = std::fs::read_to_string(path).unwrap();
    assert!(
        found == document::page(),
        "docs/keys.md is not what the table says: run the tests with UPDATE_DOCS=1"
    );
}

#[test]
fn the_nearest_context_holds() {
    let map = Keymap::default();
    let event = |code| KeyEvent::new(code, KeyModifiers::NONE);
    let contexts = [
        Context::Replay,
        Context::Watching,
        Context::Everywhere,
        Context::Always,
    ];
    let does = |contexts: &[Context], event| map.resolve(contexts, event);
    assert_eq!(
        does(&contexts, event(KeyCode::Char(' '))),
        Some(Action::Hold)
    );
    assert_eq!(
        does(&contexts, event(KeyCode::Char('q'))),
        Some(Action::Quit)
    );
    let typing = [Context::Entry, Context::Always];
    assert_eq!(does(&typing, event(KeyCode::Char('q'))), None);
    let control = KeyEvent::new(KeyCode::Char('C'), KeyModifiers::CONTROL);
    assert_eq!(does(&typing, control), Some(Action::Quit));
    let alt = KeyEvent::new(KeyCode::Char('q'), KeyModifiers::ALT);
    assert_eq!(does(&contexts, alt), None);
    let shift = KeyEvent::new(KeyCode::Tab, KeyModifiers::SHIFT);
    assert_eq!(does(&contexts, shift), Some(Action::PreviousPane));
}

#[test]
fn keys_of_ones_own_replace_those_of_the_table() {
    let (stop, hold, down) = (
        names(&["X"]),
        names(&["p", "space"]),
        names(&["Ctrl-F", "pgdn"]),
    );
    let map = Keymap::new(&[
        change(2, None, "stop", &stop),
        change(3, Some("replay"), "hold", &hold),
        change(4, None, "page-down", &down),
    ])
    .unwrap();
    let does = |context, key: &str| {
        let chord: Chord = key.parse().unwrap();
        let modifiers = if chord.ctrl {
            KeyModifiers::CONTROL
        } else {
            KeyModifiers::NONE
        };
        map.resolve(&[context], KeyEvent::new(chord.code, modifiers))
    };
    assert_eq!(does(Context::Live, "X"), Some(Action::Stop));
    assert_eq!(does(Context::Live, "x"), None);
    assert_eq!(does(Context::Replay, "p"), Some(Action::Hold));
    assert_eq!(does(Context::Lists, "Ctrl-F"), Some(Action::PageDown));
    assert_eq!(does(Context::Lists, "Ctrl-D"), None);
}

#[test]
fn what_is_said_for_one_context_holds_against_what_is_said_for_all() {
    let (one, all) = (names(&["B"]), names(&["U"]));
    let map = Keymap::new(&[
        change(2, Some("compare"), "notes", &one),
        change(9, None, "notes", &all),
    ])
    .unwrap();
    assert_eq!(map.name(&[Context::Compare], Action::Notes), "B");
    assert_eq!(map.name(&[Context::Watching], Action::Notes), "U");
}

#[test]
fn what_is_wrong_is_said_with_what_is_expected() {
    let why = wrong(None, "stopp", &["x"]);
    assert!(
        why.contains("no action is called stopp") && why.contains("stop,"),
        "{why}"
    );
    let why = wrong(Some("replai"), "hold", &["x"]);
    assert!(
        why.contains("[keys.replai]") && why.contains("replay"),
        "{why}"
    );
    let why = wrong(Some("replay"), "stop", &["x"]);
    assert!(why.contains("expected [keys.live]"), "{why}");
    let why = wrong(None, "stop", &["Strg-X"]);
    assert!(
        why.contains("no key is called \"Strg-X\"") && why.contains("Ctrl-"),
        "{why}"
    );
    let why = wrong(None, "stop", &["Ctrl-I"]);
    assert!(why.contains("Tab"), "{why}");
    let why = wrong(None, "stop", &["p"]);
    assert!(why.contains("p is both stop and pause"), "{why}");
    let why = wrong(None, "stop", &["X", "X"]);
    assert!(why.contains("twice"), "{why}");
    let why = wrong(None, "stop", &["Ctrl-C"]);
    assert!(why.contains("Ctrl-C is quit everywhere"), "{why}");
    let why = wrong(Some("entry"), "accept", &["x"]);
    assert!(why.contains("x is text"), "{why}");
}

#[test]
fn nobody_is_locked_in() {
    for (context, action) in [
        ("dialog", "accept"),
        ("dialog", "back"),
        ("entry", "back"),
        ("palette", "back"),
        ("watching", "back"),
        ("overlay", "back"),
        ("compare", "compare"),
        ("always", "quit"),
    ] {
        let why = wrong(Some(context), action, &[]);
        assert!(why.contains("expected"), "{context} {action}: {why}");
    }
    // Who does not want to leave by chance has Ctrl-C still, and nothing promises another key.
    for context in [Some("everywhere"), None] {
        let map = Keymap::new(&[change(1, context, "quit", &[])]).unwrap();
        let contexts = [Context::Everywhere, Context::Always];
        assert_eq!(map.name(&contexts, Action::Quit), "");
        assert_eq!(map.any(Action::Quit), "Ctrl-C");
    }
}

#[test]
fn keys_that_a_nearer_row_takes_are_not_promised() {
    let map = Keymap::default();
    let here = map.here(&[Context::Methods, Context::Watching]);
    let search = here.iter().find(|row| row.bind.action == Action::Search);
    assert!(
        search.unwrap().keys.is_empty(),
        "/ filters the methods there"
    );
}

proptest! {
    #[test]
    fn a_key_is_read_by_the_name_it_is_shown_with(place in 0_usize..KEYS.len(), at in 0_usize..8) {
        let keys = KEYS[place].keys;
        if let Some(key) = keys.get(at % keys.len().max(1)) {
            prop_assert_eq!(key.to_string().parse::<Chord>(), Ok(*key));
        }
    }

    #[test]
    fn any_name_is_a_key_that_has_it_or_an_error(name in "\\PC{0,12}") {
        if let Ok(key) = name.parse::<Chord>() {
            prop_assert_eq!(key.to_string().parse::<Chord>(), Ok(key));
        }
    }

    #[test]
    fn changes_that_are_taken_hold(place in 0_usize..KEYS.len(), c in "[A-Za-z0-9+*#~]") {
        let bind = &KEYS[place];
        let keys = vec![c.clone()];
        let wanted = change(1, Some(bind.context.name()), bind.action.name(), &keys);
        if let Ok(map) = Keymap::new(&[wanted]) {
            let event = KeyEvent::new(KeyCode::Char(c.chars().next().unwrap()), KeyModifiers::NONE);
            prop_assert_eq!(map.resolve(&[bind.context], event), Some(bind.action));
        }
    }
}
