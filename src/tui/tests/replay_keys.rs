//! Keys of a replay, and what is seen of it.

use std::time::Duration;

use super::super::message::{Effect, Message, Player, ReplayState};
use super::super::model::{Layer, Model, Screen};
use super::super::update;
use super::fixture::Tale;
use super::press::press;
use super::snapshot::{assert_screens, draw, model, text};
use crate::event::{Act, ActKind, EndState, Event, Nanos, ProgressKind, What, to_line};
use crate::recording::Reel;

/// A recording of these events, all of which is known.
fn reel(events: &[Event]) -> Reel {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.jsonl");
    let lines: Vec<String> = events
        .iter()
        .map(|event| to_line(event).unwrap() + "\n")
        .collect();
    std::fs::write(&path, lines.concat()).unwrap();
    let mut reel = Reel::open(&path).unwrap();
    reel.wait();
    reel
}

/// Where a replay of this stands at its end, held.
fn replay_of(tale: &Tale) -> ReplayState {
    let reel = reel(&tale.told);
    ReplayState {
        name: "monday.jsonl".into(),
        at: tale.now(),
        length: reel.length(),
        speed: 1.0,
        paused: true,
        opened: 1,
        cut: true,
        chapters: reel.chapters(),
        idle: reel.idle(),
        ..ReplayState::default()
    }
}

pub(super) fn replay() -> ReplayState {
    replay_of(&Tale::restoring(ProgressKind::Exact).0)
}

/// Three runs, one of which failed, with a marker and a long silence.
fn tale() -> Tale {
    let mut tale = Tale::new();
    for at in 1..=3 {
        let run = tale.wait(2.0).start(at);
        let step = tale.step(&run, 0);
        tale.wait(if at == 2 { 200.0 } else { 4.0 });
        let end = if at == 3 {
            EndState::Failed
        } else {
            EndState::Ok
        };
        tale.done(
            &step,
            end,
            4.0,
            0.0,
            (at == 3).then_some("no space left on device"),
        );
        if at == 1 {
            tale.tell(What::Act(Act {
                act: ActKind::Marker,
                text: "the disk was changed".into(),
            }));
        }
        tale.wait(1.0).end(
            &run,
            end,
            (at == 3).then_some("backup: no space left on device"),
        );
    }
    tale
}

fn at(tale: &Tale, seconds: u64) -> Model {
    let mut model = model();
    let state = ReplayState {
        at: Nanos(seconds * 1_000_000_000),
        ..replay_of(tale)
    };
    model.now = state.at;
    update(&mut model, &tale.session, Message::Replay(state));
    model
}

/// Whole seconds that these effects seek to.
fn sought(effects: &[Effect]) -> Vec<u64> {
    let to = |effect: &Effect| match effect {
        Effect::Replay(Player::Seek(to)) => Some(to.0 / 1_000_000_000),
        _ => None,
    };
    effects.iter().filter_map(to).collect()
}

#[test]
fn chapters_are_gone_to_one_by_one() {
    let tale = tale();
    let session = &tale.session;
    let mut model = at(&tale, 0);
    // The third run is in sight: its steps are chapters, those of the others are not.
    let effects = press(&mut model, session, "}}}}}}}}}}");
    assert_eq!(sought(&effects), [2, 6, 7, 9, 210, 212, 216, 217]);
    assert_eq!(model.say.as_deref(), Some("There is no later chapter."));
    let effects = press(&mut model, session, "{{");
    assert_eq!(sought(&effects), [216, 212]);
    assert!(
        model.say.unwrap().starts_with("run 3 of 9: guest-"),
        "where one is, is said"
    );
}

#[test]
fn going_back_while_it_goes_on_means_the_chapter_before_only_at_the_begin_of_one() {
    let tale = tale();
    let back = |seconds: u64, paused: bool| {
        let mut model = at(&tale, seconds);
        model.replay.as_mut().unwrap().paused = paused;
        sought(&press(&mut model, &tale.session, "{"))
    };
    assert_eq!(back(50, false), [9]);
    assert_eq!(back(10, false), [7]);
    assert_eq!(back(10, true), [9]);
    assert_eq!(back(1, true), [0]);
}

#[test]
fn the_list_of_chapters_goes_where_the_cursor_stands() {
    let tale = tale();
    let mut model = at(&tale, 100);
    assert!(press(&mut model, &tale.session, "C").is_empty());
    assert!(matches!(model.layers.last(), Some(Layer::Chapters(3))));
    assert_screens("chapters", &model, &tale.session);
    let effects = press(&mut model, &tale.session, "kk<enter>");
    assert_eq!(sought(&effects), [6]);
    assert!(model.layers.is_empty());
    let effects = press(&mut model, &tale.session, "CG<esc>");
    assert!(effects.is_empty() && model.layers.is_empty());
}

#[test]
fn a_time_is_typed_and_a_wrong_one_is_said() {
    let tale = tale();
    let mut model = at(&tale, 100);
    let effects = press(&mut model, &tale.session, "@1:05<enter>");
    assert_eq!(sought(&effects), [65]);
    let effects = press(&mut model, &tale.session, "@50%<enter>");
    assert_eq!(sought(&effects), [108]);
    let effects = press(&mut model, &tale.session, "@soon<enter>");
    assert!(effects.is_empty());
    let shown = text(&draw(&model, &tale.session, (80, 24), "mono"));
    assert!(shown.contains("is no time"), "{shown}");
    assert!(press(&mut model, &tale.session, "<esc>").is_empty() && model.layers.is_empty());
}

#[test]
fn everything_else_goes_to_the_player() {
    let tale = tale();
    let session = &tale.session;
    let mut model = at(&tale, 100);
    model.replay.as_mut().unwrap().paused = false;
    let player = |player| Effect::Replay(player);
    let effects = press(&mut model, session, "oo");
    assert_eq!(
        effects,
        [player(Player::Loop(true)), player(Player::Loop(false))]
    );
    let effects = press(&mut model, session, "ii");
    assert_eq!(
        effects,
        [player(Player::Cut(false)), player(Player::Cut(true))]
    );
    assert_eq!(
        press(&mut model, session, ">"),
        [player(Player::Step(true))]
    );
    assert!(model.replay.as_ref().unwrap().paused, "who steps holds");
    assert_eq!(
        press(&mut model, session, "<"),
        [player(Player::Step(false))]
    );
    assert_eq!(sought(&press(&mut model, session, "$")), [217]);
    let effects = press(&mut model, session, "+++++++++");
    assert_eq!(effects.last(), Some(&player(Player::Speed(64.0))));
    assert_eq!(effects.len(), 6);
    let effects = press(&mut model, session, "----------");
    assert_eq!(effects.last(), Some(&player(Player::Speed(0.25))));
    // On the comparison, too: that is what is shown to others.
    press(&mut model, session, "c");
    assert_eq!(model.screen, Screen::Comparing);
    assert_eq!(press(&mut model, session, " "), [player(Player::Play)]);
    assert_eq!(sought(&press(&mut model, session, "0")), [0]);
}

#[test]
fn a_live_session_has_none_of_these() {
    let tale = tale();
    let mut model = model();
    model.screen = Screen::Watching;
    for key in ["}", "{", "C", "@", "i", "$", "0", ">"] {
        assert!(press(&mut model, &tale.session, key).is_empty(), "{key}");
        assert!(model.layers.is_empty(), "{key}");
    }
}

#[test]
fn the_first_line_says_what_is_no_real_time() {
    let tale = tale();
    let mut model = at(&tale, 100);
    let shown = |model: &Model| text(&draw(model, &tale.session, (120, 40), "mono"));
    assert!(shown(&model).contains("monday.jsonl · held · idle cut · 1:40 of 3:37"));
    let state = model.replay.as_mut().unwrap();
    state.paused = false;
    state.looping = true;
    state.passing = Some(Duration::from_secs(200));
    assert!(shown(&model).contains("cutting 3 min 20 s idle · loop · 1:40 of 3:37"));
    let state = model.replay.as_mut().unwrap();
    state.passing = None;
    state.cut = false;
    state.read = Some(40);
    assert!(shown(&model).contains("1× · loop · reading 40 % · 1:40 of 3:37"));
    let state = model.replay.as_mut().unwrap();
    state.trouble = Some("line 7 is broken".into());
    assert!(shown(&model).contains("cannot go on: why, says ! · "));
    let state = model.replay.as_mut().unwrap();
    state.trouble = Some("monday.jsonl, line 7: not an event: ".to_owned() + &"word ".repeat(40));
    model.size = (80, 24);
    press(&mut model, &tale.session, "!");
    let shown = text(&draw(&model, &tale.session, (80, 24), "mono"));
    assert!(shown.contains("line 7: not an event"), "{shown}");
    assert_eq!(shown.matches("word").count(), 40, "{shown}");
}

#[test]
fn nothing_is_said_of_the_runs_of_a_moment_before_it_is_there() {
    let tale = tale();
    let mut model = at(&tale, 100);
    let first = |model: &Model, session: &crate::session::Session| {
        let shown = text(&draw(model, session, (120, 40), "mono"));
        shown.lines().next().unwrap().to_owned()
    };
    assert!(first(&model, &tale.session).contains("run 3 of 9"));
    for (key, session, says) in [
        ("$", &tale.session, "cut here, run 3 of 9"),
        ("0", &Tale::new().session, "9 runs to come"),
    ] {
        press(&mut model, &tale.session, key);
        let shown = first(&model, &tale.session);
        assert!(
            !shown.contains("run 3") && !shown.contains("cut here"),
            "{shown}"
        );
        let there = ReplayState {
            sought: false,
            ..model.replay.clone().unwrap()
        };
        update(&mut model, session, Message::Replay(there));
        let shown = first(&model, session);
        assert!(shown.contains(says), "{shown}");
    }
}

#[test]
fn the_line_of_a_replay_has_its_chapters_and_silences() {
    let tale = tale();
    let model = at(&tale, 100);
    assert_screens("replay-line", &model, &tale.session);
    let shown = text(&draw(&model, &tale.session, (120, 40), "mono"));
    let line = shown.lines().nth(1).unwrap();
    for sign in ["┷", "┴", "◆", "╍", "╌", "█", "✗"] {
        assert!(line.contains(sign), "{sign} in {line}");
    }
    assert!(
        line.trim().starts_with("1:40 ") && line.ends_with(" 3:37"),
        "{line}"
    );
}

#[test]
fn another_recording_is_shown_from_its_begin_and_a_new_size_changes_nothing() {
    let tale = tale();
    let mut model = at(&tale, 100);
    press(&mut model, &tale.session, "[zw");
    let (run, at) = (
        model.watching.run.clone(),
        model.replay.as_ref().unwrap().at,
    );
    update(&mut model, &tale.session, Message::Resize(80, 24));
    let same = model.replay.clone().unwrap();
    update(&mut model, &tale.session, Message::Replay(same));
    assert!(run.is_some() && model.watching.run == run && model.watching.zoom);
    assert_eq!(model.replay.as_ref().unwrap().at, at);
    let other = ReplayState {
        opened: 2,
        ..model.replay.clone().unwrap()
    };
    model.screen = Screen::Recordings;
    update(&mut model, &tale.session, Message::Replay(other));
    assert!(model.watching.run.is_none() && !model.watching.zoom && model.watching.log.wrap);
    assert_eq!(model.screen, Screen::Watching);
}

#[test]
fn another_recording_is_looked_at_like_the_last_one() {
    let (tale, _) = Tale::restoring(ProgressKind::Exact);
    let mut model = model();
    update(&mut model, &tale.session, Message::Replay(replay()));
    model.watching.one = true;
    model.watching.log.wrap = true;
    let other = ReplayState {
        opened: 2,
        ..replay()
    };
    update(&mut model, &tale.session, Message::Replay(other));
    assert!(model.watching.one && model.watching.log.wrap);
}

/// The last line at 80 columns.
fn bar(model: &Model, tale: &Tale) -> String {
    let mut model = model.clone();
    model.size = (80, 24);
    let all = text(&draw(&model, &tale.session, (80, 24), "mono"));
    all.lines().last().unwrap().to_owned()
}

#[test]
fn the_keys_of_what_fills_the_screen_are_told_before_those_of_the_replay() {
    let tale = tale();
    let mut model = at(&tale, 100);
    assert!(
        bar(&model, &tale).starts_with(" Space "),
        "{}",
        bar(&model, &tale)
    );
    press(&mut model, &tale.session, "<enter>");
    let shown = bar(&model, &tale);
    assert!(
        shown.starts_with(" Esc back   / search   & filter   y copy   s save   Space "),
        "{shown}"
    );
    press(&mut model, &tale.session, "<esc>c");
    let shown = bar(&model, &tale);
    assert!(
        shown.starts_with(" c back   Tab times   s sort   ! notes   Space "),
        "{shown}"
    );
}

#[test]
fn figures_of_a_publication_are_compared_and_not_played() {
    let mut tale = Tale::new();
    let mut header = tale.session.header.as_deref().unwrap().clone();
    header.origin = crate::event::Origin::Published;
    let mut session = crate::session::Session::default();
    session.apply(&Event {
        seq: 0,
        t: Nanos(0),
        what: What::Header(Box::new(header)),
    });
    tale.session = session;
    let mut model = model();
    update(&mut model, &tale.session, Message::Replay(replay()));
    update(&mut model, &tale.session, Message::Changed(Nanos(0)));
    assert_eq!(model.screen, Screen::Comparing);
    assert!(model.say.as_deref().unwrap().contains("nothing is played"));
    // No key plays what cannot be played.
    assert!(press(&mut model, &tale.session, " ").is_empty());
    let shown = text(&draw(&model, &tale.session, (120, 40), "default"));
    assert!(shown.contains("publication · monday.jsonl"), "{shown}");
    assert!(!shown.contains("speed"), "{shown}");
    // Whoever goes back to the panes is told why they are empty.
    press(&mut model, &tale.session, "c");
    assert_eq!(model.screen, Screen::Watching);
    update(&mut model, &tale.session, Message::Changed(Nanos(0)));
    assert_eq!(model.screen, Screen::Watching, "it was shown once");
    let shown = text(&draw(&model, &tale.session, (120, 40), "default"));
    assert!(shown.contains("nothing was run here"), "{shown}");
}

#[test]
fn the_end_of_a_recording_that_is_still_read_is_the_real_one() {
    let (tale, mut model) = (tale(), model());
    let mut state = replay_of(&tale);
    update(&mut model, &tale.session, Message::Replay(state.clone()));
    let length = state.length;
    let end = |model: &mut Model| press(model, &tale.session, "$");
    assert_eq!(end(&mut model), [Effect::Replay(Player::Seek(length))]);
    state.read = Some(40);
    update(&mut model, &tale.session, Message::Replay(state));
    assert_eq!(
        end(&mut model),
        [Effect::Replay(Player::Seek(Nanos(u64::MAX)))]
    );
    assert!(model.say.as_deref().unwrap().contains("still being read"));
}

#[test]
fn a_loop_says_at_its_end_that_it_begins_anew() {
    let (tale, mut model) = (tale(), model());
    let state = ReplayState {
        looping: true,
        paused: false,
        ..replay_of(&tale)
    };
    update(&mut model, &tale.session, Message::Replay(state));
    let shown = text(&draw(&model, &tale.session, (120, 40), "default"));
    assert!(shown.contains("begins anew in 5 s"), "{shown}");
}
