//! Is anything wrong with the step that goes on: in words, where it stands.

use super::super::message::Message;
use super::super::model::{Model, Screen};
use super::super::update;
use super::fixture::Tale;
use super::snapshot::{draw, model, text};
use crate::event::{Clock, EndState, HostState, Mark, ProgressKind, Shows, StepId, Stream, What};

/// The screen, its blanks one each, in a line.
fn screen(tale: &Tale) -> String {
    let mut model: Model = model();
    model.screen = Screen::Watching;
    update(&mut model, &tale.session, Message::Tick(tale.now()));
    let all = text(&draw(&model, &tale.session, (120, 40), "default"));
    let steps: String = all
        .lines()
        .filter_map(|line| line.split("││").nth(1))
        .collect();
    steps
        .replace('│', " ")
        .split_whitespace()
        .collect::<Vec<_>>()
        .join(" ")
}

/// A step that goes on, and what shows that it does.
fn begun(shows: Option<Shows>) -> (Tale, StepId) {
    let mut tale = Tale::new();
    tale.shows = shows;
    let run = tale.start(2);
    let step = tale.step(&run, 0);
    (tale, step)
}

#[test]
fn a_silence_says_whether_it_is_the_tools_nature() {
    for (shows, says) in [
        (
            Some(Shows::Output),
            "! no line for 40 s, though its tool prints how far it is",
        ),
        (
            Some(Shows::Target),
            "· no line for 40 s, as always: its tool prints none; nothing has been written yet",
        ),
        (
            Some(Shows::Stream),
            "! no line for 40 s, and no byte has gone through yet",
        ),
        (
            None,
            "· no line for 40 s, and nothing else tells how far it is",
        ),
    ] {
        let (mut tale, step) = begun(shows);
        tale.wait(1.0).print(&step, Stream::Out, "begun\n");
        tale.wait(10.0);
        assert!(!screen(&tale).contains("no line"), "not yet");
        tale.wait(30.0);
        assert!(screen(&tale).contains(says), "{}", screen(&tale));
        tale.print(&step, Stream::Out, "a line\n");
        assert!(!screen(&tale).contains("no line"), "it speaks again");
    }
}

#[test]
fn where_bytes_move_a_silence_is_none() {
    let (mut tale, step) = begun(Some(Shows::Target));
    for second in 0..60 {
        tale.wait(1.0);
        tale.progress(&step, ProgressKind::Estimated, second * 1000, Some(100_000));
    }
    assert!(!screen(&tale).contains("no line"));
    tale.wait(40.0);
    assert!(
        screen(&tale).contains("! no byte for 40 s"),
        "{}",
        screen(&tale)
    );
    assert!(screen(&tale).contains("last byte 40 s ago"));
}

#[test]
fn what_earlier_runs_did_as_well_is_no_alarm() {
    let mut tale = Tale::new();
    // The first run of the method read for 10 s, and was quiet for 50 s after that.
    for (run, tail) in [(2, 50.0), (4, 0.0)] {
        let run = tale.start(run);
        let step = tale.step(&run, 0);
        for second in 1..=10 {
            tale.wait(1.0);
            tale.progress(&step, ProgressKind::Exact, second * 100, Some(1000));
        }
        if tail > 0.0 {
            tale.wait(tail);
            tale.done(&step, EndState::Ok, 60.0, 1.0, None);
            tale.end(&run, EndState::Ok, None);
        }
    }
    tale.wait(20.0);
    let seen = screen(&tale);
    assert!(
        seen.contains("· no progress for 20 s; earlier runs stood still here, too, for up to 50 s"),
        "{seen}"
    );
    assert!(seen.contains("earlier run: 30 s from here"), "{seen}");
    assert!(seen.contains("≈30 s left"), "{seen}");
    tale.wait(35.0);
    let seen = screen(&tale);
    assert!(
        seen.contains("! no progress for 55 s, longer than in earlier runs (up to 50 s)"),
        "{seen}"
    );
    assert!(seen.contains("longer than earlier runs: 60 s"), "{seen}");
}

#[test]
fn a_lost_connection_goes_before_all_else() {
    let (mut tale, step) = begun(Some(Shows::Output));
    tale.wait(60.0);
    tale.host("hv1", HostState::Connecting, Some("no answer"));
    tale.wait(12.0);
    let seen = screen(&tale);
    assert!(
        seen.contains("! connection to hv1 lost 12 s ago, reconnecting; the command goes on there"),
        "{seen}"
    );
    assert!(!seen.contains("no line"));
    tale.host("hv1", HostState::Down, Some("no route to host"));
    tale.wait(3.0);
    assert!(screen(&tale).contains("! hv1 is gone since 3 s: no route to host"));
    tale.host("hv1", HostState::Up, None);
    tale.print(&step, Stream::Out, "a line\n");
    assert!(!screen(&tale).contains("hv1 is gone"));
}

/// What ends with its connection is not said to go on.
#[test]
fn a_stream_does_not_go_on_without_its_connection() {
    let (mut tale, _) = begun(Some(Shows::Stream));
    tale.host("hv1", HostState::Connecting, Some("no answer"));
    tale.wait(12.0);
    let seen = screen(&tale);
    assert!(
        seen.contains("lost 12 s ago, reconnecting") && !seen.contains("goes on there"),
        "{seen}"
    );
}

#[test]
fn moments_that_are_to_come_say_when_they_came_last_time() {
    let mut tale = Tale::new();
    let mark = |tale: &mut Tale, step: &StepId, name: &str, at: f64| {
        tale.tell(What::Mark(Mark {
            step: step.clone(),
            name: name.into(),
            at,
            clock: Clock::Log,
            resolution: 1.0,
        }));
    };
    let run = tale.start(2);
    let step = tale.step(&run, 0);
    mark(&mut tale, &step, "freeze", 2.0);
    mark(&mut tale, &step, "100 %", 33.0);
    tale.wait(60.0);
    tale.done(&step, EndState::Ok, 60.0, 1.0, None);
    tale.end(&run, EndState::Ok, None);
    let run = tale.start(4);
    let step = tale.step(&run, 0);
    mark(&mut tale, &step, "freeze", 3.0);
    tale.wait(10.0);
    let seen = screen(&tale);
    assert!(
        seen.contains("freeze 3 s ±1 · 100 % 33 s ±1 last time"),
        "{seen}"
    );
}
