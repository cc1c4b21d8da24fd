//! Keys of the picking screen.

use super::super::message::{Effect, Message};
use super::super::model::{Layer, Model, PickPane};
use super::super::offer::{Choice, Named, Picked};
use super::super::update;
use super::offers::offer;
use super::snapshot::model;
use super::watching_keys::press as keys;
use crate::event::Order;
use crate::session::Session;

fn ready() -> Model {
    let mut model = model();
    give(&mut model, 0);
    model
}

fn give(model: &mut Model, revision: u64) {
    let mut offer = offer();
    offer.revision = revision;
    update(model, &Session::default(), Message::Offer(Box::new(offer)));
}

fn press(model: &mut Model, all: &str) -> Vec<Effect> {
    keys(model, &Session::default(), all)
}

fn started(effects: &[Effect]) -> Option<&Choice> {
    effects.iter().find_map(|effect| match effect {
        Effect::Start(choice) => Some(choice),
        _ => None,
    })
}

fn picked(method: &str) -> Picked {
    Picked {
        host: "hv1".into(),
        method: method.into(),
    }
}

#[test]
fn what_destroys_nothing_starts_at_once() {
    let mut model = ready();
    assert!(press(&mut model, "<enter>").is_empty());
    assert!(model.say.as_ref().unwrap().contains("Nothing is picked"));
    let effects = press(&mut model, "<space>++-o<enter>");
    let choice = started(&effects).unwrap();
    assert_eq!(choice.methods, [picked("guest-snapshot")]);
    assert_eq!((choice.reps, choice.order), (4, Order::ByMethod));
    assert!(choice.destroy.is_empty());
    assert!(press(&mut model, "<enter>").is_empty(), "it starts once");
}

#[test]
fn repetitions_stay_within_reason() {
    let mut model = ready();
    press(&mut model, "-----");
    assert_eq!(model.picking.reps.0, 1);
    press(&mut model, &"+".repeat(200));
    assert_eq!(model.picking.reps.0, 99);
}

#[test]
fn what_is_destroyed_is_asked_for_by_its_name() {
    let mut model = ready();
    let effects = press(&mut model, "j<space><enter>");
    assert!(effects.is_empty());
    assert!(press(&mut model, "Web<enter>").is_empty(), "another name");
    assert!(matches!(model.layers.last(), Some(Layer::Entry(entry)) if entry.problem.is_some()));
    let effects = press(&mut model, "web<enter>");
    let named = Named {
        host: "hv1".into(),
        what: "vm:204".into(),
        name: "web".into(),
    };
    assert_eq!(started(&effects).unwrap().destroy, [named]);
}

#[test]
fn a_name_that_is_not_typed_starts_nothing() {
    for keys in ["<esc>", "<enter>", "we<esc>"] {
        let mut model = ready();
        press(&mut model, "j<space><enter>");
        assert!(press(&mut model, keys).is_empty(), "{keys}");
        assert!(model.layers.is_empty(), "{keys}");
        assert!(!model.picking.starting);
    }
}

#[test]
fn a_method_that_cannot_run_cannot_be_picked() {
    let mut model = ready();
    press(&mut model, "jj<space>");
    assert!(model.picking.picked.is_empty());
    assert!(model.say.as_ref().unwrap().contains("apt install"));
}

#[test]
fn a_method_that_cannot_run_any_more_is_not_started() {
    let mut model = ready();
    press(&mut model, "<space>");
    let mut later = offer();
    later.methods[0].runnable = Err("hv1 is down".into());
    update(
        &mut model,
        &Session::default(),
        Message::Offer(Box::new(later)),
    );
    assert!(press(&mut model, "<enter>").is_empty());
    assert!(model.picking.chosen().is_empty());
}

#[test]
fn nothing_starts_while_the_offer_is_old() {
    let mut model = ready();
    press(&mut model, "<space>");
    let effects = press(&mut model, "ej<enter><esc>");
    let wanted = Effect::Set {
        revision: 1,
        host: "hv1".into(),
        method: "guest-snapshot".into(),
        key: "mode".into(),
        value: "suspend".into(),
    };
    assert_eq!(effects, [wanted]);
    assert!(press(&mut model, "<enter>").is_empty());
    assert!(model.say.as_ref().unwrap().contains("worked out"));
    give(&mut model, 0);
    assert!(
        press(&mut model, "<enter>").is_empty(),
        "an answer to an older question"
    );
    give(&mut model, 1);
    assert!(started(&press(&mut model, "<enter>")).is_some());
}

#[test]
fn a_new_offer_while_a_name_is_typed_has_to_be_looked_at() {
    let mut model = ready();
    press(&mut model, "j<space><enter>web");
    model.picking.revision = 1;
    give(&mut model, 1);
    assert!(press(&mut model, "<enter>").is_empty());
    assert!(model.say.as_ref().unwrap().contains("look at it again"));
}

#[test]
fn a_text_setting_is_typed() {
    let mut model = ready();
    press(&mut model, "e<enter>");
    let effects = press(&mut model, "<c-u>fast<enter>");
    assert!(
        matches!(&effects[..], [Effect::Set { key, value, .. }] if key == "storage" && value == "fast")
    );
    press(&mut model, "<enter>x<esc>");
    assert!(matches!(model.layers.as_slice(), [Layer::Settings(..)]));
    press(&mut model, "q");
    assert!(model.layers.is_empty());
}

#[test]
fn a_wrong_setting_starts_nothing() {
    let mut model = ready();
    let mut wrong = offer();
    wrong.methods[0].settings[0].problem = Some("there is no storage \"depo\"".into());
    update(
        &mut model,
        &Session::default(),
        Message::Offer(Box::new(wrong)),
    );
    assert!(press(&mut model, "<space><enter>").is_empty());
    assert!(model.say.as_ref().unwrap().contains("depo"));
}

#[test]
fn hosts_have_their_own_methods() {
    let mut model = ready();
    press(&mut model, "<backtab>");
    assert_eq!(model.picking.pane, PickPane::Hosts);
    press(&mut model, "G<tab><space>");
    assert_eq!(model.picking.chosen()[0].name, "tree-rsync");
    press(&mut model, "<backtab>g<tab><space>");
    let names: Vec<_> = model
        .picking
        .chosen()
        .iter()
        .map(|method| method.name.clone())
        .collect();
    assert_eq!(
        names,
        ["guest-snapshot", "tree-rsync"],
        "in the order of the offer"
    );
}

#[test]
fn a_filter_shows_fewer() {
    let mut model = ready();
    press(&mut model, "/COPY<enter>");
    let shown: Vec<_> = model
        .picking
        .shown()
        .iter()
        .map(|method| method.name.clone())
        .collect();
    assert_eq!(shown, ["guest-copy"]);
    press(&mut model, "/<c-u><enter>");
    assert_eq!(model.picking.shown().len(), 4);
}

#[test]
fn the_preview_scrolls_to_its_end_and_no_further() {
    let mut model = ready();
    model.size = (80, 24);
    press(&mut model, "j<tab>");
    assert_eq!(model.picking.pane, PickPane::Preview);
    press(&mut model, "G");
    let end = model.picking.scroll;
    assert!(end > 0);
    press(&mut model, "jjj");
    assert_eq!(model.picking.scroll, end);
    press(&mut model, "k");
    assert_eq!(model.picking.scroll, end - 1);
}

#[test]
fn probing_again_asks_for_a_new_offer() {
    let mut model = ready();
    assert_eq!(press(&mut model, "r"), [Effect::Refresh { revision: 1 }]);
    assert!(!model.picking.is_current());
}

#[test]
fn pasted_text_goes_where_text_is_typed_and_nowhere_else() {
    let mut model = ready();
    let session = Session::default();
    let paste =
        |model: &mut Model, text: &str| update(model, &session, Message::Paste(text.into()));
    assert!(paste(&mut model, "q\n").is_empty());
    press(&mut model, "j<space><enter>");
    paste(&mut model, "we\u{1b}b\nrm -rf");
    assert!(
        matches!(model.layers.last(), Some(Layer::Entry(entry)) if entry.input.value() == "web")
    );
    assert!(started(&press(&mut model, "<enter>")).is_some());
}

#[test]
fn what_went_wrong_is_said_and_closed() {
    let mut model = ready();
    press(&mut model, "<space><enter>");
    assert!(model.picking.starting);
    update(
        &mut model,
        &Session::default(),
        Message::Trouble("hv1: vm 204 is locked".into()),
    );
    assert!(!model.picking.starting);
    assert!(matches!(model.layers.last(), Some(Layer::Dialog(_))));
    press(&mut model, "<enter>");
    assert!(model.layers.is_empty());
}
