//! Laws of the fold.

mod scale;

use proptest::prelude::*;

use super::story::Story;
use super::*;
use crate::event::{
    Bytes, Clock, EndState, Gap, Intended, Leave, LeaveKind, LeaveState, Level, Mark, Phase,
    ProgressKind, Stream,
};

/// A session with everything in it: two methods that take turns, a failure, leftovers, output.
fn full() -> Story {
    let mut story = Story::new();
    let (a, b) = (story.binding("a", "h1"), story.binding("b", "h1"));
    for (turn, binding) in [&a, &b, &b, &a].into_iter().enumerate() {
        let run = story.run(binding, "full");
        let step = story.step(&run, "restore", Phase::Restore);
        story.prints(&step, Stream::Out, "half a li");
        story.tell(What::Progress(Progress {
            step: step.clone(),
            kind: ProgressKind::Exact,
            percent: Some(40.0),
            done: Some(Bytes(40)),
            total: Some(Bytes(100)),
            says: None,
        }));
        story.tell(What::Mark(Mark {
            step: step.clone(),
            name: "100 %".into(),
            at: 1.5,
            clock: Clock::Log,
            resolution: 1.0,
        }));
        story.prints(&step, Stream::Err, "a warning\nne\r");
        story.tell(What::Gap(Gap {
            step: step.clone(),
            stream: Stream::Out,
            offset: 9,
            bytes: None,
        }));
        story.tell(What::Leave(Leave {
            leave: format!("l{turn}").as_str().into(),
            state: LeaveState::Intended(Intended {
                run: run.clone(),
                step: step.clone(),
                host: "h1".into(),
                name: "copy".into(),
                kind: LeaveKind::Copy,
                find: "ls".into(),
                undo: "rm".into(),
                back: None,
            }),
        }));
        story.step_done(&step, EndState::Ok);
        story.seconds(&run, "restore", Clock::Task, 1.0, 57.0 + turn as f64);
        story.stored(&run, "archive", 1000 + turn as u64);
        story.proved(&run, turn != 2);
        story.note(Some(&run), Level::Warning, &format!("turn {turn}"));
        let end = if turn == 2 {
            EndState::Failed
        } else {
            EndState::Ok
        };
        story.done(&run, end);
    }
    story.published(&a, "rollback", "median", 0.2);
    story.end();
    story
}

/// All that is shown of a session, but for the order in which columns and remarks came.
fn figures(session: &Session) -> Vec<String> {
    let mut all = Vec::new();
    for row in Tally::of(session).rows {
        let name = format!("{} {}", row.host, row.name());
        for series in row.times.iter().map(|time| &time.series).chain(&row.space) {
            all.push(format!("{name} {series:?} {:?}", series.median()));
        }
        all.push(format!(
            "{name} {:?} {} of {} {}",
            row.states, row.matched, row.of, row.share
        ));
    }
    all.sort();
    all
}

fn fold(events: &[Event]) -> Session {
    let mut session = Session::default();
    for event in events {
        session.apply(event);
    }
    session
}

proptest! {
    #[test]
    fn any_order_of_events_is_taken(
        events in Just(full().events()).prop_shuffle(),
        kept in 0_usize..80,
    ) {
        let session = fold(&events[..kept.min(events.len())]);
        let tally = Tally::of(&session);
        let verdicts = compare(&tally.rows);
        prop_assert!(verdicts.iter().all(|one| one.a < tally.rows.len()));
        prop_assert!(kept == 0 || session.warnings().len() < 6);
        prop_assert!(session.events <= events.len() as u64);
    }

    #[test]
    fn independent_events_commute_in_figures(events in Just(full().events()).prop_shuffle()) {
        // The header is first in every recording, and a step is planned before it starts.
        let mut events = events;
        let first = |event: &Event| match &event.what {
            What::Header(_) => 0,
            What::Step(change) if matches!(change.state, StepState::Planned(_)) => 1,
            _ => 2,
        };
        events.sort_by_key(first);
        let shuffled = fold(&events);
        let told = fold(&full().events());
        prop_assert_eq!(figures(&shuffled), figures(&told));
        prop_assert_eq!(shuffled.stray, 0);
        prop_assert_eq!(
            shuffled.ledger.still_out().count(),
            told.ledger.still_out().count()
        );
    }
}

#[test]
fn a_step_that_nobody_planned_is_counted_and_left_out() {
    let mut session = Session::default();
    for (seq, event) in full().events().iter().enumerate() {
        let planned = matches!(&event.what, What::Step(change)
            if matches!(change.state, StepState::Planned(_)));
        if seq > 0 && !planned {
            session.apply(event);
        }
    }
    assert!(session.stray > 0);
    assert!(session.runs.iter().all(|run| run.steps.is_empty()));
    let told = session.warnings().join("\n");
    assert!(told.contains("never planned"), "{told}");
    assert!(told.contains("5 events of the recording missing"), "{told}");
}

fn progress(story: &mut Story, step: &StepId, percent: Option<f64>) {
    story.tell(What::Progress(Progress {
        step: step.clone(),
        kind: ProgressKind::Estimated,
        percent,
        done: None,
        total: None,
        says: None,
    }));
}

fn percents(told: &[Option<f64>]) -> Vec<Option<f64>> {
    let mut story = Story::new();
    let a = story.binding("a", "h1");
    let run = story.run(&a, "full");
    let step = story.step(&run, "restore", Phase::Restore);
    let mut seen = Vec::new();
    for percent in told {
        progress(&mut story, &step, *percent);
        let session = story.session();
        let view = session.step_view(&step).unwrap();
        seen.push(view.progress.as_ref().unwrap().percent);
    }
    seen
}

#[test]
fn percent_never_falls_and_is_not_100_before_the_end() {
    assert_eq!(
        percents(&[Some(50.0), Some(40.0), None, Some(30.0), Some(60.0)]),
        [Some(50.0), Some(50.0), None, Some(50.0), Some(60.0)]
    );
    assert_eq!(
        percents(&[Some(100.0), Some(340.0)]),
        [Some(99.0), Some(99.0)]
    );
    assert_eq!(percents(&[Some(f64::NAN), Some(3.0)]), [None, Some(3.0)]);
}

#[test]
fn a_step_that_ended_may_be_at_100() {
    let mut story = Story::new();
    let a = story.binding("a", "h1");
    let run = story.run(&a, "full");
    let step = story.step(&run, "restore", Phase::Restore);
    story.step_done(&step, EndState::Ok);
    progress(&mut story, &step, Some(100.0));
    let session = story.session();
    let view = session.step_view(&step).unwrap();
    assert_eq!(view.progress.as_ref().unwrap().percent, Some(100.0));
}

#[test]
fn a_flood_of_notes_and_marks_is_bounded() {
    let mut story = Story::new();
    let a = story.binding("a", "h1");
    let run = story.run(&a, "full");
    let step = story.step(&run, "restore", Phase::Restore);
    let mut session = story.session();
    let event = |what| Event {
        seq: 0,
        t: Nanos(0),
        what,
    };
    let note = event(What::Note(Note {
        level: Level::Warning,
        text: "again".into(),
        host: None,
        run: None,
        step: Some(step.clone()),
    }));
    let mark = event(What::Mark(Mark {
        step: step.clone(),
        name: "100 %".into(),
        at: 0.0,
        clock: Clock::Log,
        resolution: 0.0,
    }));
    for _ in 0..12_000 {
        session.apply(&note);
        session.apply(&mark);
    }
    assert_eq!(session.notes.len(), 10_000);
    assert_eq!(session.notes_left_out, 2_000);
    assert_eq!(session.step_view(&step).unwrap().marks.len(), 1_000);
}

#[test]
fn a_whole_recording_has_nothing_to_warn_about() {
    assert_eq!(full().session().warnings(), Vec::<String>::new());
}

#[test]
fn the_run_that_is_followed_stays_until_it_ends() {
    let mut story = Story::new();
    let (a, b) = (story.binding("a", "h1"), story.binding("b", "h2"));
    let first = story.run(&a, "full");
    let second = story.run(&b, "full");
    let current = |story: &Story| {
        let mut story_of_it = story.events();
        // In the plan the later ones stand before the earlier ones.
        if let What::Header(header) = &mut story_of_it[0].what {
            header.plan.runs.reverse();
        }
        let session = fold(&story_of_it);
        let going: Vec<RunId> = session
            .current_runs()
            .iter()
            .map(|run| run.run.clone())
            .collect();
        (session.current_run().unwrap().run.clone(), going)
    };
    assert_eq!(
        current(&story),
        (first.clone(), vec![first.clone(), second.clone()])
    );
    story.done(&first, EndState::Ok);
    let third = story.run(&a, "full");
    assert_eq!(
        current(&story),
        (second.clone(), vec![second.clone(), third.clone()])
    );
    story.done(&second, EndState::Failed);
    assert_eq!(current(&story), (third.clone(), vec![third.clone()]));
    story.done(&third, EndState::Ok);
    assert_eq!(current(&story), (third, vec![]));
}

#[test]
fn a_run_that_was_refused_is_over_though_it_never_began() {
    let mut story = Story::new();
    let a = story.binding("a", "h1");
    let run = RunId("r9".to_owned());
    story.tell(What::Run(crate::event::RunChange {
        run: run.clone(),
        state: RunState::Ended {
            end: EndState::Failed,
            cause: Some("could not open h1".to_owned()),
        },
    }));
    story.header.plan.runs.push(crate::event::PlannedRun {
        run: run.clone(),
        binding: a,
        rep: 1,
        beside: None,
    });
    let session = story.session();
    let row = &Tally::of(&session).rows[0];
    assert_eq!(
        (row.states.as_slice(), row.times.len()),
        (&[EndState::Failed][..], 0)
    );
    assert!(session.current_run().is_none() && session.current_runs().is_empty());
}

#[test]
fn an_early_end_says_what_was_going_on() {
    let mut story = Story::new();
    let a = story.binding("files-tar", "h1");
    story.run(&a, "full");
    assert_eq!(
        story.session().warnings(),
        [
            "the recording ends early (no end after 2 events, 0.0 s from its start; \
          files-tar, repetition 1, was going on)"
        ]
    );
}

#[test]
fn an_event_of_a_later_version_is_named() {
    let mut story = Story::new();
    let map = serde_json::json!({"ev": "weather", "sky": "grey"});
    story.tell(What::Unknown(map.as_object().unwrap().clone()));
    story.end();
    assert_eq!(
        story.session().warnings(),
        ["1 event of a later version not understood: weather"]
    );
}

#[test]
fn a_clone_shares_which_runs_are_good() {
    let session = full().session();
    let clone = session.clone();
    let (binding, runs) = session.good.iter().next().unwrap();
    assert!(std::ptr::eq(runs, clone.good.get(binding).unwrap()));
}
