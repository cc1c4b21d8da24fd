//! The palette, and keys of one's own wherever keys are shown.

use super::super::keys::{Change, Keymap};
use super::super::message::Message;
use super::super::model::{Layer, Model, Screen};
use super::super::palette::shown;
use super::super::update;
use super::fixture::Tale;
use super::offers::offer;
use super::press::press;
use super::snapshot::{assert_screens, draw, model, text};
use crate::event::ProgressKind;
use crate::session::Session;

fn watching() -> (Tale, Model) {
    let (tale, _) = Tale::restoring(ProgressKind::Exact);
    let mut model = model();
    model.screen = Screen::Watching;
    model.now = tale.now();
    (tale, model)
}

fn names(model: &Model, session: &Session) -> Vec<&'static str> {
    let Some(Layer::Palette(palette)) = model.layers.last() else {
        return Vec::new();
    };
    let rows = shown(model, session, palette);
    rows.iter().map(|row| row.bind.action.name()).collect()
}

#[test]
fn it_has_all_that_can_be_done_here_and_nothing_else() {
    let (tale, mut model) = watching();
    press(&mut model, &tale.session, ":");
    let all = names(&model, &tale.session);
    for action in ["stop", "filter-log", "search", "quit", "help", "mouse"] {
        assert_eq!(
            all.iter().filter(|name| **name == action).count(),
            1,
            "{action} in {all:?}"
        );
    }
    assert!(!all.contains(&"start") && !all.contains(&"hold") && !all.contains(&"palette"));
    press(&mut model, &tale.session, "sto");
    assert_eq!(names(&model, &tale.session)[0], "stop");
    press(&mut model, &tale.session, "<c-u>next pane");
    assert_eq!(names(&model, &tale.session), ["next-pane"]);
}

#[test]
fn enter_does_what_the_key_would_do() {
    let (tale, mut model) = watching();
    press(&mut model, &tale.session, ":timest<enter>");
    assert!(model.layers.is_empty());
    assert_eq!(model.watching.log.times, crate::report::Stamps::SinceBegin);
    press(&mut model, &tale.session, ":stop<enter>");
    assert!(
        matches!(model.layers.last(), Some(Layer::Dialog(_))),
        "it asks, as x does"
    );
    press(
        &mut model,
        &tale.session,
        "<esc>:nothing of the kind<enter>",
    );
    assert!(matches!(model.layers.last(), Some(Layer::Palette(_))));
    press(&mut model, &tale.session, "<esc>:<down><up><up><enter>");
    assert!(matches!(
        model.layers.last(),
        Some(Layer::Palette(_)) | None
    ));
}

#[test]
fn it_works_over_the_settings_of_a_method() {
    let (mut model, session) = (model(), Session::default());
    update(&mut model, &session, Message::Offer(Box::new(offer())));
    press(&mut model, &session, "e:");
    assert!(names(&model, &session).contains(&"accept"));
    press(&mut model, &session, "accept<enter>");
    assert!(matches!(
        model.layers.last(),
        Some(Layer::Entry(_) | Layer::Settings(..))
    ));
}

fn changed(model: &mut Model) {
    let keys: Vec<Vec<String>> = [&["X", "F4"][..], &["F2"], &["Z"]]
        .iter()
        .map(|keys| keys.iter().map(|key| (*key).to_owned()).collect())
        .collect();
    let change = |line, context, action, at: usize| Change {
        line,
        context,
        action,
        keys: &keys[at],
    };
    model.keys = Keymap::new(&[
        change(1, None, "stop", 0),
        change(2, None, "palette", 1),
        change(3, Some("watching"), "follow", 2),
    ])
    .unwrap();
}

#[test]
fn keys_of_ones_own_are_shown_wherever_keys_are() {
    let (tale, mut model) = watching();
    changed(&mut model);
    let seen = |model: &Model| text(&draw(model, &tale.session, (120, 40), "mono"));
    assert!(seen(&model).contains(" X stop"));
    press(&mut model, &tale.session, "k");
    assert!(seen(&model).contains("Z follows"), "{}", seen(&model));
    press(&mut model, &tale.session, "x:");
    assert!(model.layers.is_empty(), "the old keys do nothing");
    press(&mut model, &tale.session, "?");
    assert!(seen(&model).contains("X F4   "));
    press(&mut model, &tale.session, "<esc>X");
    assert!(matches!(model.layers.last(), Some(Layer::Dialog(_))));
}

#[test]
fn the_palette() {
    let (tale, mut model) = watching();
    press(&mut model, &tale.session, ":");
    assert_screens("palette", &model, &tale.session);
    press(&mut model, &tale.session, "log<down>");
    assert_screens("palette-typed", &model, &tale.session);
}

#[test]
fn help_with_keys_of_ones_own() {
    let (tale, mut model) = watching();
    changed(&mut model);
    model.watching.pane = super::super::model::Pane::Steps;
    press(&mut model, &tale.session, "?");
    assert_screens("help-steps", &model, &tale.session);
}
