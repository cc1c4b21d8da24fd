//! Whatever moment is seen, it is what folding from the first event gives.

use proptest::prelude::*;

use super::*;
use crate::event::{Event, Phase, Stream, What, to_line};
use crate::session::story::{Story, everything};

/// A recording of these events, all of which is known.
pub(in crate::recording) fn reel(events: &[Event]) -> Reel {
    let lines: Vec<String> = events
        .iter()
        .map(|event| to_line(event).unwrap() + "\n")
        .collect();
    let (reel, filler) = Reel::of(
        "a.jsonl",
        Source::Memory(lines.concat().into_bytes().into()),
    )
    .unwrap();
    filler.fill();
    reel
}

/// All that a session holds and its log shows.
fn views(session: &Session) -> String {
    let mut log = Vec::new();
    for run in &session.runs {
        for step in &run.steps {
            let id = &step.step;
            log.push((session.log.dropped(id), session.log.len(id)));
            // The first and the last lines, and some between.
            let lines = session.log.len(id);
            for at in (0..lines).filter(|at| at % 97 == 0 || *at < 3 || at + 3 > lines) {
                let line = session.log.line(id, at).unwrap();
                log.push((
                    line.at.0,
                    line.text.len() + line.text.bytes().map(usize::from).sum::<usize>(),
                ));
            }
        }
    }
    format!("{session:?}\n{}\n{log:?}", session.log.bytes())
}

/// Many runs with steps, logs and figures.
fn long(runs: usize, lines: usize) -> Vec<Event> {
    let mut story = Story::new();
    let bindings = [
        story.binding("files-cp", "h1"),
        story.binding("files-tar", "h2"),
    ];
    for at in 0..runs {
        let run = story.run(&bindings[at % 2], "full");
        for name in ["copy", "restore"] {
            let step = story.step(&run, name, Phase::Restore);
            for line in 0..lines {
                let stream = if line % 3 == 0 {
                    Stream::Err
                } else {
                    Stream::Out
                };
                let end = if line % 5 == 0 { "\r" } else { "\n" };
                story.prints(&step, stream, &format!("{at} {name} line {line}{end}"));
            }
            story.step_done(&step, crate::event::EndState::Ok);
        }
        story.stored(&run, "copy", at as u64);
        story.proved(&run, true);
        story.done(&run, crate::event::EndState::Ok);
    }
    story.end();
    story.events()
}

fn folded(events: &[Event], upto: usize) -> Session {
    let mut session = Session::default();
    for event in &events[..upto] {
        session.apply(event);
    }
    session
}

#[test]
fn every_moment_of_a_short_recording_is_what_was_folded() {
    let events = everything().events();
    let reel = reel(&events);
    for upto in 0..=events.len() {
        let (session, _) = reel.seen(upto).unwrap();
        assert_eq!(
            views(&session),
            views(&folded(&events, upto)),
            "after {upto} events"
        );
    }
}

#[test]
fn checkpoints_are_used_and_thinned() {
    let events = long(40, 100);
    let reel = reel(&events);
    let known = reel.shared.lock();
    assert_eq!(known.due.len(), events.len());
    assert_eq!(known.checkpoints.len(), events.len() / SPACING);
    assert_eq!(known.reading, Reading::Done);
    let before = known.before(SPACING + 7).unwrap();
    assert_eq!(before.events, SPACING);
    assert!(known.before(SPACING - 1).is_none());
    drop(known);
    assert!(reel.is_far(0, 3 * SPACING) && !reel.is_far(3 * SPACING, 3 * SPACING + 9));
}

#[test]
fn a_broken_line_is_where_it_ends() {
    let events = long(2, 2);
    let mut lines: Vec<String> = events.iter().map(|event| to_line(event).unwrap()).collect();
    lines[5] = "{}".to_owned();
    let bytes = lines.join("\n").into_bytes();
    let (reel, filler) = Reel::of("a.jsonl", Source::Memory(bytes.into())).unwrap();
    // Before it is read, its end tells how long it is.
    assert_eq!(reel.length(), events.last().unwrap().t);
    filler.fill();
    let Reading::Broken(why) = reel.reading() else {
        panic!("{:?}", reel.reading());
    };
    assert!(why.starts_with("a.jsonl, line 6 is broken: "), "{why}");
    assert_eq!(reel.length(), events[4].t);
    assert_eq!(
        views(
            &reel
                .seen(99)
                .err()
                .map_or_else(|| panic!(), |_| reel.seen(5).unwrap().0)
        ),
        views(&folded(&events, 5))
    );
}

#[test]
fn a_file_is_read_in_the_background_and_a_pipe_before() {
    let events = long(3, 3);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.jsonl");
    let lines: Vec<String> = events
        .iter()
        .map(|event| to_line(event).unwrap() + "\n")
        .collect();
    std::fs::write(&path, lines.concat()).unwrap();
    let mut reel = Reel::open(&path).unwrap();
    reel.wait();
    assert_eq!(reel.reading(), Reading::Done);
    assert_eq!(reel.due_at(Nanos(u64::MAX)), events.len());

    let pipe = folder.path().join("pipe");
    assert!(
        std::process::Command::new("mkfifo")
            .arg(&pipe)
            .status()
            .unwrap()
            .success()
    );
    let writer = {
        let (pipe, text) = (pipe.clone(), lines.concat());
        std::thread::spawn(move || std::fs::write(pipe, text).unwrap())
    };
    let mut reel = Reel::open(&pipe).unwrap();
    writer.join().unwrap();
    reel.wait();
    let (session, _) = reel.seen(events.len()).unwrap();
    assert_eq!(views(&session), views(&folded(&events, events.len())));
}

#[test]
fn moments_and_chapters_are_in_order() {
    let mut story = Story::new();
    let cp = story.binding("files-cp", "h1");
    let run = story.run(&cp, "full");
    let step = story.step(&run, "copy", Phase::Protect);
    story.tell(What::Act(crate::event::Act {
        act: crate::event::ActKind::Marker,
        text: "look here".to_owned(),
    }));
    story.step_done(&step, crate::event::EndState::Failed);
    story.done(&run, crate::event::EndState::Failed);
    story.end();
    let events = story.events();
    let reel = reel(&events);
    let chapters = reel.chapters();
    let told: Vec<(u64, &str)> = chapters
        .iter()
        .map(|chapter| (chapter.at.0 / 10_000_000, chapter.text.as_str()))
        .collect();
    assert_eq!(
        told,
        [
            (1, "run 1 of 1: files-cp, repetition 1"),
            (3, "copy"),
            (4, "look here"),
            (5, "copy failed"),
            (6, "run 1 of 1 ended failed after 0.1 s: disk full"),
            (
                7,
                "1 run did not end well, though the end of the recording says: done"
            ),
        ]
    );
    assert_eq!(reel.moment_after(events[3].t), Some(events[4].t));
    assert_eq!(reel.moment_before(events[3].t), Some(events[2].t));
    assert_eq!(reel.moment_before(Nanos(0)), None);
    assert_eq!(reel.moment_after(events.last().unwrap().t), None);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(8))]
    #[test]
    fn whatever_is_sought_it_is_what_folding_from_the_first_event_gives(
        runs in 1_usize..30,
        lines in 0_usize..150,
        seeks in proptest::collection::vec(0.0_f64..=1.0, 1..6),
    ) {
        let events = long(runs, lines);
        let reel = reel(&events);
        for share in seeks {
            let upto = (events.len() as f64 * share) as usize;
            let (mut session, ahead) = reel.seen(upto).unwrap();
            prop_assert_eq!(views(&session), views(&folded(&events, upto)));
            // And so are those that follow.
            for event in ahead {
                session.apply(&event.unwrap());
            }
            prop_assert_eq!(views(&session), views(&folded(&events, events.len())));
        }
    }
}

#[test]
fn what_is_odd_about_it_is_known() {
    let mut events = long(1, 3);
    assert_eq!(reel(&events).warnings(), []);
    events.pop();
    events.remove(5);
    let missing = Warning::Missing { line: 6, events: 1 };
    assert_eq!(reel(&events).warnings(), [missing, Warning::NoEnd]);
}
