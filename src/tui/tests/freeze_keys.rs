//! Freezing the screen.

use std::time::Duration;

use super::super::freeze::Frozen;
use super::super::message::{Effect, Message, Player, ReplayState};
use super::super::model::{Model, Screen};
use super::super::update;
use super::fixture::Tale;
use super::press::press;
use super::snapshot::{draw, model, text};
use crate::event::{EndState, Level, Nanos, ProgressKind, Stream};

#[test]
fn it_tells_what_happened_meanwhile() {
    let (mut tale, step) = Tale::restoring(ProgressKind::Exact);
    let mut frozen = Frozen::of(&tale.session, tale.now());
    tale.wait(5.0);
    frozen.goes_on(&tale.session, tale.now());
    assert_eq!(frozen.time(), Duration::from_secs(5));
    assert!(frozen.since.words().is_empty());
    tale.done(&step, EndState::Ok, 46.0, 1.0, None);
    tale.note(Level::Warning, "the pool is full");
    frozen.goes_on(&tale.session, tale.now());
    assert_eq!(frozen.since.words(), ["1 step ended", "1 warning"]);
    tale.end(&"r5".into(), EndState::Failed, Some("no"));
    tale.tell(crate::event::What::End(crate::event::End {
        exit: 1,
        reason: "a run failed".into(),
    }));
    frozen.goes_on(&tale.session, tale.now());
    assert!(frozen.since.is_bad());
    assert_eq!(
        frozen.since.words(),
        ["all is over", "1 run not well", "1 step ended", "1 warning"]
    );
    assert!(
        frozen.session.end.is_none(),
        "what is shown stays as it was"
    );
}

fn frozen() -> (Tale, Model) {
    let (tale, _) = Tale::restoring(ProgressKind::Exact);
    let mut model = model();
    model.screen = Screen::Watching;
    update(&mut model, &tale.session, Message::Tick(tale.now()));
    press(&mut model, &tale.session, "<c-f>");
    (tale, model)
}

/// The screen without its first line.
fn body(model: &Model, tale: &Tale) -> String {
    let all = text(&draw(model, &tale.session, (120, 40), "default"));
    all.lines().skip(1).collect::<Vec<_>>().join("\n")
}

fn head(model: &Model, tale: &Tale) -> String {
    let all = text(&draw(model, &tale.session, (120, 40), "default"));
    all.lines().next().unwrap().to_owned()
}

/// The run goes on for some seconds: a line comes, then its step ends.
fn go_on(tale: &mut Tale, model: &mut Model) {
    let step = "r5.4".into();
    tale.wait(12.0);
    tale.print(&step, Stream::Out, "a line that came later\n");
    tale.done(&step, EndState::Ok, 53.0, 1.0, None);
    update(model, &tale.session, Message::Changed(tale.now()));
}

#[test]
fn the_screen_stands_still_while_the_run_goes_on() {
    let (mut tale, mut model) = frozen();
    let before = body(&model, &tale);
    go_on(&mut tale, &mut model);
    assert_eq!(body(&model, &tale), before);
    assert!(head(&model, &tale).contains("FROZEN 12 s · 1 step ended · Ctrl-F goes on"));
    // One may look around in what is shown; what came later is not there.
    press(&mut model, &tale.session, "/came later<enter>");
    assert!(
        model
            .say
            .as_ref()
            .unwrap()
            .contains("is not in the log of this run")
    );
    for out in ["<c-f>", "<esc>", "f"] {
        let mut model = model.clone();
        press(&mut model, &tale.session, out);
        assert!(model.frozen.is_none(), "{out}");
        assert_eq!(model.now, tale.now());
        assert!(
            body(&model, &tale).contains("a line that came later"),
            "{out}"
        );
        assert!(!head(&model, &tale).contains("FROZEN"));
    }
}

#[test]
fn who_acts_sees_what_comes_of_it() {
    let (mut tale, mut model) = frozen();
    assert_eq!(
        press(&mut model, &tale.session, "p"),
        [Effect::PauseAfterRun]
    );
    tale.act(crate::event::ActKind::Pause);
    update(&mut model, &tale.session, Message::Changed(tale.now()));
    assert_eq!(
        press(&mut model, &tale.session, "p"),
        [Effect::Resume],
        "by what is so now"
    );
    assert!(model.frozen.is_some());
    assert_eq!(
        press(&mut model, &tale.session, "x<right><enter>"),
        [Effect::Stop]
    );
    assert!(model.frozen.is_none());
}

#[test]
fn a_replay_stands_still_as_well_until_it_is_moved() {
    let (tale, mut model) = frozen();
    press(&mut model, &tale.session, "<c-f>");
    let state = ReplayState {
        name: "r".into(),
        at: tale.now(),
        length: Nanos(1 << 50),
        speed: 1.0,
        paused: false,
        ..ReplayState::default()
    };
    update(&mut model, &tale.session, Message::Replay(state));
    press(&mut model, &tale.session, "<c-f>");
    let at = model.now;
    update(
        &mut model,
        &tale.session,
        Message::Tick(Nanos(at.0 + 5_000_000_000)),
    );
    assert_eq!(model.now, at);
    assert_eq!(
        press(&mut model, &tale.session, "<space>"),
        [Effect::Replay(Player::Pause)]
    );
    assert!(model.frozen.is_some());
    press(&mut model, &tale.session, "0");
    assert!(model.frozen.is_none());
}

#[test]
fn the_line_of_a_frozen_replay_stands_still_as_well() {
    let (tale, mut model) = frozen();
    press(&mut model, &tale.session, "<c-f>");
    let state = |seconds: u64| ReplayState {
        name: "r".into(),
        at: Nanos(seconds * 1_000_000_000),
        length: Nanos(100_000_000_000),
        speed: 1.0,
        ..ReplayState::default()
    };
    let is_at = |model: &Model, at: &str| body(model, &tale).contains(&format!("{at} ━"));
    update(&mut model, &tale.session, Message::Replay(state(20)));
    assert!(is_at(&model, "0:20"));
    press(&mut model, &tale.session, "<c-f>");
    let before = body(&model, &tale);
    update(&mut model, &tale.session, Message::Replay(state(70)));
    assert_eq!(body(&model, &tale), before);
    // What is said of the replay's keys is what they do now.
    press(&mut model, &tale.session, "<c-f>");
    assert!(is_at(&model, "1:10"));
}

#[test]
fn a_session_that_begins_is_seen() {
    let (tale, mut model) = frozen();
    update(&mut model, &tale.session, Message::Began);
    assert!(model.frozen.is_none());
}
