//! Every screen at every size, in colour and without.

use crate::event::{EndState, HostState, Level, ProgressKind};

use super::super::message::{Message, ReplayState};
use super::super::model::{Model, Pane, PickPane, Screen};
use super::super::update;
use super::fixture::Tale;
use super::offers::offer;
use super::snapshot::{assert_screens, draw, model, text};
use crate::event::Nanos;
use crate::session::Session;

fn watching(tale: &Tale) -> Model {
    let mut model = model();
    model.screen = Screen::Watching;
    model.now = tale.now();
    model
}

fn keys(model: &mut Model, session: &Session, keys: &str) {
    super::press::press(model, session, keys);
}

#[test]
fn picking() {
    let (mut model, session) = (model(), Session::default());
    update(&mut model, &session, Message::Offer(Box::new(offer())));
    keys(&mut model, &session, "<space>j<space>");
    assert_screens("picking", &model, &session);
}

#[test]
fn picking_before_anything_is_known() {
    let (mut model, session) = (model(), Session::default());
    model.picking.pane = PickPane::Hosts;
    assert_screens("picking-empty", &model, &session);
}

#[test]
fn the_name_of_what_is_destroyed() {
    let (mut model, session) = (model(), Session::default());
    update(&mut model, &session, Message::Offer(Box::new(offer())));
    keys(&mut model, &session, "j<space><enter>wbe<enter>w");
    assert_screens("picking-name", &model, &session);
}

#[test]
fn settings() {
    let (mut model, session) = (model(), Session::default());
    update(&mut model, &session, Message::Offer(Box::new(offer())));
    keys(&mut model, &session, "ej");
    assert_screens("settings", &model, &session);
}

#[test]
fn a_setting_that_is_typed() {
    let (mut model, session) = (model(), Session::default());
    let mut offer = offer();
    offer.methods[0].settings[1].value = "stop".into();
    update(&mut model, &session, Message::Offer(Box::new(offer)));
    keys(&mut model, &session, "ejjj<enter><c-u>5x");
    assert_screens("settings-typed", &model, &session);
}

#[test]
fn a_subject_that_is_typed() {
    let (mut model, session) = (model(), Session::default());
    update(&mut model, &session, Message::Offer(Box::new(offer())));
    keys(&mut model, &session, "<backtab>udir:/srv");
    assert_screens("picking-subject", &model, &session);
}

#[test]
fn names_that_are_hard_to_show_before_a_run() {
    let (mut model, session) = (model(), Session::default());
    let offer = super::properties::awkward_offer();
    update(&mut model, &session, Message::Offer(Box::new(offer)));
    keys(&mut model, &session, "j<space><backtab>jj");
    assert_screens("picking-awkward", &model, &session);
}

#[test]
fn a_title_shows_nothing_that_terminals_count_differently() {
    let (mut model, session) = (model(), Session::default());
    let mut offer = offer();
    let host = "box 👩\u{200d}🔧\u{1b}[2J";
    offer.hosts[0].name = host.into();
    for method in &mut offer.methods {
        method.host = host.into();
    }
    update(&mut model, &session, Message::Offer(Box::new(offer)));
    let shown = text(&draw(&model, &session, (120, 40), "mono"));
    assert!(!shown.contains(['\u{200d}', '\u{1b}']), "{shown}");
    for title in ["Methods on box 👩🔧[2J", "Subject on box 👩🔧[2J"] {
        assert!(shown.contains(title), "{title} in {shown}");
    }
}

#[test]
fn the_preview_has_the_keys() {
    let (mut model, session) = (model(), Session::default());
    update(&mut model, &session, Message::Offer(Box::new(offer())));
    keys(&mut model, &session, "j<space><tab>j");
    assert_screens("picking-preview", &model, &session);
}

#[test]
fn a_subject_is_chosen() {
    let (mut model, session) = (model(), Session::default());
    update(&mut model, &session, Message::Offer(Box::new(offer())));
    keys(&mut model, &session, "<backtab>j");
    assert_screens("picking-subjects", &model, &session);
}

#[test]
fn picks_on_two_hosts() {
    let (mut model, session) = (model(), Session::default());
    update(&mut model, &session, Message::Offer(Box::new(offer())));
    keys(
        &mut model,
        &session,
        "j<space><backtab><backtab>jj<tab><tab><space>",
    );
    assert_screens("picking-hosts", &model, &session);
}

#[test]
fn watching_exact_progress() {
    let (tale, _) = Tale::restoring(ProgressKind::Exact);
    assert_screens("watching-exact", &watching(&tale), &tale.session);
}

#[test]
fn watching_estimated_progress() {
    let (tale, _) = Tale::restoring(ProgressKind::Estimated);
    assert_screens("watching-estimated", &watching(&tale), &tale.session);
}

#[test]
fn watching_unknown_progress() {
    let (mut tale, _) = Tale::restoring(ProgressKind::Unknown);
    tale.note(
        Level::Warning,
        "no output for 3 min is normal here: the tool prints none",
    );
    assert_screens("watching-unknown", &watching(&tale), &tale.session);
}

#[test]
fn watching_the_very_begin() {
    let (tale, model) = (Tale::new(), model());
    let mut model = Model {
        screen: Screen::Watching,
        ..model
    };
    assert_screens("watching-begin", &model, &tale.session);
    model.watching.pane = Pane::Bytes;
    assert_screens("watching-nothing", &model, &Session::default());
}

#[test]
fn a_failed_run() {
    let tale = Tale::failed();
    assert_screens("failed", &watching(&tale), &tale.session);
}

#[test]
fn all_is_over() {
    let tale = Tale::finished();
    let mut model = watching(&tale);
    model.watching.pane = Pane::Medians;
    assert_screens("finished", &model, &tale.session);
}

#[test]
fn help() {
    let (tale, _) = Tale::restoring(ProgressKind::Exact);
    let mut model = watching(&tale);
    keys(&mut model, &tale.session, "?");
    assert_screens("help", &model, &tale.session);
}

#[test]
fn notes() {
    let tale = Tale::failed();
    let mut model = watching(&tale);
    keys(&mut model, &tale.session, "!");
    assert_screens("notes", &model, &tale.session);
}

#[test]
fn a_search() {
    let (tale, _) = Tale::restoring(ProgressKind::Exact);
    let mut model = watching(&tale);
    model.size = (80, 24);
    keys(&mut model, &tale.session, "/progress<enter>N");
    assert_screens("search", &model, &tale.session);
}

#[test]
fn a_search_that_is_typed() {
    let (tale, _) = Tale::restoring(ProgressKind::Exact);
    let mut model = watching(&tale);
    keys(&mut model, &tale.session, "/prog");
    assert_screens("search-typed", &model, &tale.session);
}

#[test]
fn looking_back_at_steps() {
    let (tale, _) = Tale::restoring(ProgressKind::Exact);
    let mut model = watching(&tale);
    keys(&mut model, &tale.session, "[<backtab>k");
    assert_screens("looking-back", &model, &tale.session);
}

#[test]
fn leaving_while_a_run_goes_on() {
    let (tale, _) = Tale::restoring(ProgressKind::Exact);
    let mut model = watching(&tale);
    keys(&mut model, &tale.session, "q<right>");
    assert_screens("leaving", &model, &tale.session);
}

#[test]
fn comparing() {
    let tale = Tale::finished();
    let mut model = watching(&tale);
    keys(&mut model, &tale.session, "c<tab>");
    assert_screens("comparing", &model, &tale.session);
}

#[test]
fn a_replay() {
    let (tale, _) = Tale::restoring(ProgressKind::Exact);
    let mut model = model();
    let state = ReplayState {
        at: tale.now(),
        length: Nanos(900_000_000_000),
        speed: 4.0,
        ..super::replay_keys::replay()
    };
    update(&mut model, &tale.session, Message::Replay(state));
    update(&mut model, &tale.session, Message::Tick(tale.now()));
    assert_screens("replay", &model, &tale.session);
}

#[test]
fn names_and_lines_that_are_hard_to_show() {
    let tale = super::properties::awkward();
    assert_screens("awkward", &watching(&tale), &tale.session);
}

#[test]
fn two_runs_at_once_stand_side_by_side() {
    let (mut tale, _) = Tale::restoring(ProgressKind::Exact);
    let run = tale.start(6);
    let step = tale.step(&run, 0);
    tale.print(&step, crate::event::Stream::Out, "INFO: the other run\n");
    assert_screens("side-by-side", &watching(&tale), &tale.session);
}

#[test]
fn a_frozen_screen() {
    let (mut tale, step) = Tale::restoring(ProgressKind::Exact);
    let mut model = watching(&tale);
    keys(&mut model, &tale.session, "<c-f>");
    tale.wait(12.0);
    tale.done(&step, EndState::Ok, 53.0, 1.0, None);
    tale.note(Level::Warning, "thin pool pve/data is 91 % full");
    update(&mut model, &tale.session, Message::Changed(tale.now()));
    assert_screens("frozen", &model, &tale.session);
}

#[test]
fn a_step_that_stands_still() {
    let (mut tale, _) = Tale::restoring(ProgressKind::Exact);
    tale.wait(40.0);
    assert_screens("stalled", &watching(&tale), &tale.session);
}

#[test]
fn a_step_whose_host_is_lost() {
    let (mut tale, _) = Tale::restoring(ProgressKind::Exact);
    tale.host("hv1", HostState::Connecting, Some("no answer for 30 s"));
    tale.wait(12.0);
    assert_screens("lost-connection", &watching(&tale), &tale.session);
}

#[test]
fn a_silent_step_of_which_nothing_is_known() {
    let mut tale = Tale::new();
    let run = tale.start(2);
    tale.until_damage(&run, 20.0, 1.0);
    tale.step(&run, 4);
    tale.wait(150.0);
    assert_screens("silent", &watching(&tale), &tale.session);
}

#[test]
fn iterations_and_the_cursor_on_a_step_that_is_over() {
    let (mut tale, _) = Tale::restoring(ProgressKind::Exact);
    tale.iterations(&"r5".into(), 12);
    let mut model = watching(&tale);
    model.watching.pane = Pane::Steps;
    keys(&mut model, &tale.session, "g");
    assert_screens("iterations", &model, &tale.session);
}
