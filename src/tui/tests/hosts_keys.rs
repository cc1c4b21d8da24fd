//! Several hosts at once: which run is looked at, and what stands beside it.

use super::super::layout;
use super::super::message::Message;
use super::super::model::{Model, Pane, Screen};
use super::super::update;
use super::fixture::Tale;
use super::press::press;
use super::snapshot::{assert_screens, draw, model, text};
use crate::event::{EndState, HostState, Level};

fn watching(tale: &Tale, size: (u16, u16)) -> Model {
    let mut model = model();
    model.screen = Screen::Watching;
    model.size = size;
    update(&mut model, &tale.session, Message::Tick(tale.now()));
    model
}

fn seen(model: &Model, tale: &Tale) -> String {
    model.run(&tale.session).unwrap().run.to_string()
}

fn beside(model: &Model, tale: &Tale) -> Vec<String> {
    let beside = layout::beside(model, &tale.session);
    let id = |run: &&crate::session::RunView| run.run.to_string();
    beside.runs.iter().map(id).collect()
}

#[test]
fn the_next_run_of_a_host_is_followed() {
    let mut tale = Tale::on(&["a", "b"]);
    let first = tale.start(1);
    let other = tale.wait(1.0).start(10);
    let mut model = watching(&tale, (120, 40));
    assert_eq!(seen(&model, &tale), "r1");
    tale.wait(1.0).end(&first, EndState::Ok, None);
    assert_eq!(seen(&model, &tale), "r1", "the next one begins in a moment");
    let second = tale.wait(1.0).start(2);
    assert_eq!(seen(&model, &tale), "r2");
    // Looking elsewhere is not undone by a run that begins.
    model.watching.pane = Pane::Steps;
    press(&mut model, &tale.session, "<right>");
    assert_eq!(seen(&model, &tale), "r10");
    tale.wait(1.0).end(&second, EndState::Ok, None);
    tale.start(3);
    assert_eq!(seen(&model, &tale), "r10");
    tale.wait(1.0).end(&other, EndState::Ok, None);
    tale.start(11);
    assert_eq!(
        seen(&model, &tale),
        "r11",
        "on that host its next run is followed"
    );
    press(&mut model, &tale.session, "[");
    assert_eq!(seen(&model, &tale), "r10");
    tale.wait(1.0).end(&"r11".into(), EndState::Ok, None);
    tale.start(12);
    assert_eq!(seen(&model, &tale), "r10", "an earlier run stays");
    press(&mut model, &tale.session, "<esc>");
    assert_eq!(seen(&model, &tale), "r12", "back to what goes on there");
    press(&mut model, &tale.session, "<esc>");
    assert_eq!(seen(&model, &tale), "r3", "back to the first host");
}

#[test]
fn a_host_that_has_done_all_is_left() {
    let mut tale = Tale::on(&["a", "b"]);
    let first = tale.start(1);
    tale.wait(1.0).start(10);
    let mut model = watching(&tale, (120, 40));
    tale.wait(1.0).end(&first, EndState::Failed, Some("no"));
    assert_eq!(seen(&model, &tale), "r10", "nothing more begins there");
    press(&mut model, &tale.session, "[");
    press(&mut model, &tale.session, "f");
    assert_eq!(seen(&model, &tale), "r10");
}

#[test]
fn tab_goes_through_every_host_in_sight() {
    let tale = Tale::side_by_side(&["a", "b", "c"], 9);
    let mut model = watching(&tale, (120, 40));
    assert_eq!(beside(&model, &tale), ["r2", "r11"]);
    model.watching.pane = Pane::Plan;
    let mut stops = Vec::new();
    for _ in 0..7 {
        press(&mut model, &tale.session, "<tab>");
        stops.push((model.watching.pane, seen(&model, &tale)));
    }
    let stop = |pane, run: &str| (pane, run.to_owned());
    assert_eq!(
        stops,
        [
            stop(Pane::Steps, "r2"),
            stop(Pane::Log, "r2"),
            stop(Pane::Steps, "r11"),
            stop(Pane::Log, "r11"),
            stop(Pane::Medians, "r11"),
            stop(Pane::Bytes, "r11"),
            stop(Pane::Plan, "r11"),
        ]
    );
    press(
        &mut model,
        &tale.session,
        "<backtab><backtab><backtab><backtab>",
    );
    assert_eq!(
        (model.watching.pane, seen(&model, &tale)),
        stop(Pane::Steps, "r11")
    );
    // Left and right go on to hosts that are not in sight.
    press(&mut model, &tale.session, "<right>");
    assert_eq!(seen(&model, &tale), "r20");
    assert!(beside(&model, &tale).contains(&"r20".to_owned()));
    press(&mut model, &tale.session, "<right><left><left><left><left>");
    assert_eq!(seen(&model, &tale), "r2");
}

#[test]
fn an_earlier_run_stands_in_the_place_of_its_host() {
    let tale = Tale::side_by_side(&["a", "b"], 9);
    let mut model = watching(&tale, (200, 60));
    assert_eq!(beside(&model, &tale), ["r2", "r11"]);
    press(&mut model, &tale.session, "[");
    assert_eq!(beside(&model, &tale), ["r1", "r11"]);
    press(&mut model, &tale.session, "<esc>");
    assert_eq!(beside(&model, &tale), ["r2", "r11"]);
}

#[test]
fn one_or_several_by_a_key() {
    let tale = Tale::side_by_side(&["a", "b", "c", "d", "e"], 9);
    let mut model = watching(&tale, (200, 60));
    assert_eq!(beside(&model, &tale).len(), 4);
    press(&mut model, &tale.session, "v");
    assert_eq!(beside(&model, &tale), ["r2"]);
    press(&mut model, &tale.session, "v");
    assert_eq!(beside(&model, &tale).len(), 4);
    for (width, room) in [(80, 1), (99, 1), (100, 2), (120, 2), (160, 3), (250, 4)] {
        model.size = (width, 40);
        assert_eq!(beside(&model, &tale).len(), room, "{width}");
    }
    model.size = (80, 24);
    press(&mut model, &tale.session, "v");
    assert!(model.say.as_ref().unwrap().contains("room for one host"));
    let alone = Tale::restoring(crate::event::ProgressKind::Exact).0;
    press(&mut model, &alone.session, "v");
    assert!(model.say.as_ref().unwrap().contains("Only one host"));
}

/// A cursor of one host's steps is none in the other's; keys scroll the log of the host they are in.
#[test]
fn the_hosts_are_looked_at_each_by_itself() {
    let tale = Tale::side_by_side(&["a", "b"], 60);
    let mut model = watching(&tale, (200, 60));
    model.watching.pane = Pane::Steps;
    press(&mut model, &tale.session, "<right>k");
    let screen = text(&draw(&model, &tale.session, (200, 60), "default"));
    assert_eq!(
        screen.matches("f follows").count(),
        2,
        "steps and log of the second host"
    );
    assert!(screen.contains("following"), "the other log is followed");
    model.watching.pane = Pane::Log;
    press(&mut model, &tale.session, "g");
    let (of, at) = model.watching.log.top.clone().unwrap();
    assert_eq!((of.as_str(), at.step, at.line), ("r11", 0, 0));
    press(&mut model, &tale.session, "<backtab><backtab>");
    assert_eq!(seen(&model, &tale), "r2");
    assert!(model.watching.log.top.is_none(), "its log is followed");
}

#[test]
fn two_hosts() {
    let mut tale = Tale::side_by_side(&["hv1", "nas"], 40);
    tale.note(Level::Warning, "thin pool pve/data is 91 % full");
    assert_screens("hosts-2", &watching(&tale, (80, 24)), &tale.session);
}

#[test]
fn four_hosts_and_one_that_is_lost() {
    let mut tale = Tale::side_by_side(&["hv1", "hv2", "hv3", "nas"], 40);
    tale.host("hv2", HostState::Connecting, Some("no answer for 30 s"));
    tale.wait(12.0);
    assert_screens("hosts-4", &watching(&tale, (80, 24)), &tale.session);
}

#[test]
fn twenty_hosts() {
    let names: Vec<String> = (1..=20).map(|n| format!("node{n:02}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let mut tale = Tale::side_by_side(&names, 12);
    tale.host("node07", HostState::Down, Some("no route to host"));
    tale.end(
        &"r56".into(),
        EndState::Failed,
        Some("the connection to node07 was lost"),
    );
    tale.host("node13", HostState::Connecting, Some("no answer for 30 s"));
    tale.wait(3.0);
    assert_screens("hosts-20", &watching(&tale, (80, 24)), &tale.session);
}
