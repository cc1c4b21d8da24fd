//! Keys of the picking screen.

use super::super::message::{Effect, Message};
use super::super::model::{Form, Layer, Model, PickPane, Purpose};
use super::super::offer::{Choice, Named, Picked};
use super::super::update;
use super::offers::offer;
use super::press::press as keys;
use super::snapshot::{draw, model, text};
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
fn what_is_not_on_the_screen_yet_is_started_by_another_key() {
    let mut model = ready();
    press(&mut model, "<space>e<enter><c-u>fast<enter><esc>");
    assert!(press(&mut model, "<enter>").is_empty());
    let says = model.say.clone().unwrap();
    assert!(
        says.ends_with("look at it, then press Enter again."),
        "{says}"
    );
    let revision = model.picking.revision;
    give(&mut model, revision);
    assert!(started(&press(&mut model, "<enter>")).is_some());
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
    // Of the rest only what is known.
    let Some(Layer::Entry(entry)) = model.layers.last() else {
        panic!("no name is asked for");
    };
    assert!(entry.lines[0].ends_with("This run destroys it. A proved copy is there before that."));
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
        value: Some("suspend".into()),
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

fn form(model: &Model) -> &Form {
    match model.layers.last() {
        Some(Layer::Settings(form)) => form,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_text_setting_is_typed_in_place() {
    let mut model = ready();
    press(&mut model, "e<enter>");
    let effects = press(&mut model, "<c-u>fast<enter>");
    assert!(
        matches!(&effects[..], [Effect::Set { key, value, .. }] if key == "storage" && value.as_deref() == Some("fast"))
    );
    assert!(form(&model).typing.is_none());
    // What is given up is forgotten, and only then do keys mean what they mean in the list.
    press(&mut model, "<enter>q<esc>");
    assert!(form(&model).typing.is_none());
    press(&mut model, "q");
    assert!(model.layers.is_empty());
}

#[test]
fn a_wrong_value_is_said_while_it_is_typed_and_never_taken() {
    let mut model = ready();
    press(&mut model, "ejjj<enter><c-u>");
    let problem = |model: &Model| form(model).typing.as_ref().unwrap().problem.clone();
    press(&mut model, "5x");
    assert!(problem(&model).unwrap().contains("a size such as 512MiB"));
    assert!(press(&mut model, "<enter>").is_empty());
    assert!(problem(&model).is_some(), "it stays open");
    press(&mut model, "<bs>GiB");
    assert_eq!(problem(&model), None);
    update(
        &mut model,
        &Session::default(),
        Message::Paste("much\nmore".into()),
    );
    assert!(problem(&model).unwrap().contains("5GiBmuch"));
    press(&mut model, "<bs><bs><bs><bs>");
    let effects = press(&mut model, "<enter>");
    assert!(
        matches!(&effects[..], [Effect::Set { key, value, .. }] if key == "size" && value.as_deref() == Some("5GiB")),
        "{effects:?}"
    );
}

#[test]
fn choices_go_round_both_ways_and_back_to_the_default() {
    let value = |effects: &[Effect]| match effects {
        [Effect::Set { value, .. }] => value.clone(),
        other => panic!("{other:?}"),
    };
    let mut model = ready();
    assert_eq!(value(&press(&mut model, "ejl")).as_deref(), Some("suspend"));
    assert_eq!(value(&press(&mut model, "<left>")).as_deref(), Some("stop"));
    assert!(press(&mut model, "r").is_empty(), "it is the default");
    let mut changed = offer();
    changed.revision = 2;
    changed.methods[0].settings[1].value = "stop".into();
    update(
        &mut model,
        &Session::default(),
        Message::Offer(Box::new(changed)),
    );
    assert_eq!(value(&press(&mut model, "r")), None);
    // Once around to the default is no change either.
    assert_eq!(value(&press(&mut model, "<enter>")), None);
}

#[test]
fn a_subject_is_chosen_from_what_the_host_has() {
    let mut model = ready();
    press(&mut model, "<backtab>");
    assert_eq!(model.picking.pane, PickPane::Subject);
    assert_eq!(model.picking.subject, 1, "the one that is chosen");
    assert!(
        press(&mut model, "<space>").is_empty(),
        "it is chosen already"
    );
    let protect = |effects: &[Effect]| match effects {
        [Effect::Protect { host, subject, .. }] => {
            (host.clone(), subject.as_ref().map(ToString::to_string))
        }
        other => panic!("{other:?}"),
    };
    let chosen = protect(&press(&mut model, "j<space>"));
    assert_eq!(chosen, ("hv1".into(), Some("vm:207".into())));
    assert!(
        !model.picking.is_current(),
        "what can run is another question now"
    );
    assert_eq!(
        protect(&press(&mut model, "g<space>")),
        ("hv1".into(), None)
    );
    press(&mut model, "jjjj");
    assert_eq!(model.picking.subject, 2, "the last one");
}

#[test]
fn another_subject_is_typed_and_checked() {
    let mut model = ready();
    press(&mut model, "u");
    let problem = |model: &Model| match model.layers.last() {
        Some(Layer::Entry(entry)) => entry.problem.clone(),
        other => panic!("{other:?}"),
    };
    assert_eq!(problem(&model), None, "nothing is wrong with nothing");
    press(&mut model, "v");
    assert!(
        problem(&model)
            .unwrap()
            .contains("KIND:ID with KIND one of vm")
    );
    press(&mut model, "<c-u>dir:/srv");
    assert!(
        problem(&model)
            .unwrap()
            .contains("no method here takes a dir")
    );
    assert!(press(&mut model, "<enter>").is_empty());
    press(&mut model, "<c-u>nas/vm:9");
    assert!(problem(&model).unwrap().contains("for hv1, not for nas"));
    press(&mut model, "<c-u>hv1/vm:9");
    assert_eq!(problem(&model), None);
    let effects = press(&mut model, "<enter>");
    let wanted = Effect::Protect {
        revision: 1,
        host: "hv1".into(),
        subject: "vm:9".parse().ok(),
    };
    assert_eq!(effects, [wanted]);
    assert!(model.layers.is_empty());
    assert!(press(&mut model, "u<enter>").is_empty());
    assert!(model.layers.is_empty(), "nothing typed is nothing wanted");
}

#[test]
fn on_a_host_without_a_known_subject_the_cursor_stands_on_their_own() {
    let mut model = ready();
    press(&mut model, "<backtab><backtab>jj<tab>");
    assert_eq!(model.picking.host_name(), Some("local"));
    assert_eq!(model.picking.subject, 0);
    press(&mut model, "udir:srv");
    assert!(
        matches!(model.layers.last(), Some(Layer::Entry(entry)) if entry.problem.as_ref().unwrap().contains("absolute path"))
    );
}

#[test]
fn picks_of_several_hosts_start_together() {
    let mut model = ready();
    press(&mut model, "<space><backtab><backtab>jj<tab><tab><space>");
    let effects = press(&mut model, "<enter>");
    let hosts: Vec<_> = started(&effects)
        .unwrap()
        .methods
        .iter()
        .map(|picked| picked.host.as_str())
        .collect();
    assert_eq!(hosts, ["hv1", "local"]);
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
    press(&mut model, "<backtab><backtab>");
    assert_eq!(model.picking.pane, PickPane::Hosts);
    press(&mut model, "jj<tab><tab><space>");
    assert_eq!(model.picking.chosen()[0].name, "tree-rsync");
    press(&mut model, "<backtab><backtab>g<tab><tab><space>");
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

#[test]
fn two_methods_are_marked_as_a_pair_and_taken_apart_again() {
    let mut model = ready();
    press(&mut model, "t");
    assert!(
        model
            .say
            .as_ref()
            .unwrap()
            .contains("at once with which other one?")
    );
    assert!(model.picking.pairs().is_empty());
    press(&mut model, "jt");
    let names: Vec<_> = model
        .picking
        .chosen()
        .iter()
        .map(|method| method.picked())
        .collect();
    let [one, other] = names.as_slice() else {
        panic!("{names:?}");
    };
    let all = text(&draw(&model, &Session::default(), (200, 60), "mono"));
    assert_eq!(all.matches("[=] ").count(), 2, "{all}");
    assert!(
        all.contains("2 methods and 1 pair at once × 3 = 12"),
        "{all}"
    );
    assert!(
        all.contains(&format!("at once: {} and", one.method)),
        "{all}"
    );
    let mut again = model.clone();
    assert!(press(&mut again, "a<enter>").is_empty());
    // What it destroys is asked for first; the choice waits for that.
    let Some(Layer::Entry(entry)) = again.layers.last() else {
        panic!("{:?}", again.layers);
    };
    let Purpose::Destroy(_, choice) = &entry.purpose else {
        panic!("{entry:?}");
    };
    assert_eq!(choice.together, [[one.clone(), other.clone()]]);
    assert_eq!(choice.first, crate::event::First::Restarts);
    press(&mut model, "t");
    assert!(model.picking.pairs().is_empty() && model.picking.chosen().len() == 2);
    // What is no longer picked is in no pair.
    press(&mut model, "tktj<space>");
    assert!(model.picking.together.is_empty());
}
