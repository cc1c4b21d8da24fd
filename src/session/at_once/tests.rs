use super::*;
use crate::event::{BindingId, Clock, EndState, RunId, What};
use crate::session::Tally;
use crate::session::story::Story;

/// A measured step of a run; its time stands in the run's series.
fn protects(story: &mut Story, run: &RunId, seconds: f64) {
    let step = story.step(run, "backup", Phase::Protect);
    story.step_done(&step, EndState::Ok);
    timed(story, run, &step, seconds);
}

fn timed(story: &mut Story, run: &RunId, step: &crate::event::StepId, seconds: f64) {
    story.seconds(run, "backup", Clock::Host, 0.0, seconds);
    if let Some(What::Sample(sample)) = story.last() {
        sample.step = Some(step.clone());
    }
}

fn begin(story: &mut Story, binding: &BindingId, other: &str) -> RunId {
    story.labelled(binding, &beside("full", other), &[(TOGETHER, other)])
}

/// `one` and `two` alone at 10 s, at once at these.
fn story(beside: &[(f64, f64)]) -> Story {
    meeting(beside, 0)
}

/// The same where `one` goes on for that many steps of 10 ms before `two` begins, and `two` as long when `one` is over.
fn meeting(beside: &[(f64, f64)], alone: usize) -> Story {
    let mut story = Story::new();
    let (one, two) = (story.binding("one", "h1"), story.binding("two", "h1"));
    for _ in beside {
        for binding in [&one, &two] {
            let run = story.run(binding, "full");
            protects(&mut story, &run, 10.0);
            story.done(&run, EndState::Ok);
        }
    }
    for (slow, fast) in beside {
        let a = begin(&mut story, &one, "two");
        let b = begin(&mut story, &two, "one");
        // One begins, then two; two ends, then one: of five steps of 10 ms both worked for one.
        let wait = |story: &mut Story, steps: usize| {
            for _ in 0..steps {
                story.note(None, crate::event::Level::Remark, "a moment");
            }
        };
        let of_one = story.step(&a, "backup", Phase::Protect);
        wait(&mut story, alone);
        let of_two = story.step(&b, "backup", Phase::Protect);
        let mut both = [&of_two, &of_one];
        if alone > 0 {
            both.reverse();
        }
        story.step_done(both[0], EndState::Ok);
        wait(&mut story, alone.max(1));
        story.step_done(both[1], EndState::Ok);
        timed(&mut story, &a, &of_one, *slow);
        timed(&mut story, &b, &of_two, *fast);
        story.done(&a, EndState::Ok);
        story.done(&b, EndState::Ok);
    }
    story
}

fn pair(story: &Story) -> AtOnce {
    let session = story.session();
    let rows = Tally::of(&session).rows;
    let mut all = session.pairs(&rows);
    assert_eq!(all.len(), 1, "{all:#?}");
    all.remove(0)
}

fn near(one: f64, other: f64) -> bool {
    (one - other).abs() < 1e-9
}

#[test]
fn each_is_compared_with_itself_and_the_one_that_is_slowed_more_is_starved() {
    let pair = pair(&story(&[(30.0, 11.0), (35.0, 12.0), (31.0, 11.5)]));
    assert_eq!(pair.methods, ["one", "two"]);
    let [one, two] = pair.sides.as_slice() else {
        panic!("{pair:#?}");
    };
    assert!(
        near(one.low, 3.0) && one.high.is_some_and(|high| near(high, 3.5)),
        "{one:?}"
    );
    assert!(
        near(two.low, 1.1) && two.high.is_some_and(|high| near(high, 1.2)),
        "{two:?}"
    );
    assert_eq!((one.n, one.phase), (3, Phase::Protect));
    assert_eq!(pair.starved, [(Phase::Protect, Starved::Method(0))]);
}

#[test]
fn nobody_is_starved_where_ranges_overlap_or_runs_are_few() {
    let alike = pair(&story(&[(20.0, 20.0), (25.0, 22.0), (21.0, 24.0)]));
    assert_eq!(alike.starved, [(Phase::Protect, Starved::Neither)]);
    let few = pair(&story(&[(30.0, 11.0), (35.0, 12.0)]));
    assert_eq!(few.starved, [(Phase::Protect, Starved::TooFew(2))]);
    // Both are faster than alone, whatever the reason: nobody is slowed.
    let faster = pair(&story(&[(9.0, 5.0), (9.0, 5.0), (9.0, 5.0)]));
    assert_eq!(faster.starved, [(Phase::Protect, Starved::Neither)]);
}

#[test]
fn the_time_in_which_both_worked_is_told_of_each() {
    let pair = pair(&story(&[(30.0, 11.0); 3]));
    let of = |at: usize| pair.sides[at].overlap.unwrap();
    // Told by the clock here, from the begin of two to its end.
    let two = of(1);
    assert!(
        near(two.seconds.low, 0.01) && near(two.seconds.high, 0.01),
        "{two:?}"
    );
    assert!(near(two.share.low, 1.0), "{two:?}");
    let one = of(0);
    assert!(near(one.seconds.high, 0.01), "{one:?}");
    assert!(near(one.share.low, 0.2), "{one:?}");
    // The shorter one was beside the other all the time.
    assert!(one.are_real && two.are_real, "{one:?} {two:?}");
}

#[test]
fn of_two_that_hardly_worked_at_once_nothing_is_said() {
    let hardly = pair(&meeting(&[(30.0, 11.0), (35.0, 12.0), (31.0, 11.5)], 40));
    assert_eq!(hardly.starved, [(Phase::Protect, Starved::Apart)]);
    assert!(!hardly.sides.iter().any(Slowed::is_at_once), "{hardly:#?}");
    // Where times of day are not told, as in a publication, both are taken to have worked at once.
    let mut side = hardly.sides[0].clone();
    side.overlap = None;
    assert!(side.is_at_once());
}

/// A snapshot of a moment beside a long copy, and the backup when that is over: neither side calls that at once.
#[test]
fn all_that_the_other_did_in_the_phase_counts_not_the_part_that_met() {
    let mut story = story(&[(30.0, 11.0); 0]);
    let (one, two) = (story.binding("one", "h1"), story.binding("two", "h1"));
    for _ in 0..3 {
        for binding in [&one, &two] {
            let run = story.run(binding, "full");
            protects(&mut story, &run, 10.0);
            story.done(&run, EndState::Ok);
        }
    }
    for _ in 0..3 {
        let a = begin(&mut story, &one, "two");
        let b = begin(&mut story, &two, "one");
        let copy = story.step(&a, "backup", Phase::Protect);
        let snapshot = story.step(&b, "snapshot", Phase::Protect);
        story.step_done(&snapshot, EndState::Ok);
        for _ in 0..30 {
            story.note(None, crate::event::Level::Remark, "a moment");
        }
        story.step_done(&copy, EndState::Ok);
        let backup = story.step(&b, "backup", Phase::Protect);
        for _ in 0..40 {
            story.note(None, crate::event::Level::Remark, "a moment");
        }
        story.step_done(&backup, EndState::Ok);
        timed(&mut story, &a, &copy, 30.0);
        timed(&mut story, &b, &backup, 11.0);
        story.done(&a, EndState::Ok);
        story.done(&b, EndState::Ok);
    }
    let pair = pair(&story);
    assert_eq!(pair.sides.len(), 2, "{pair:#?}");
    assert!(!pair.sides.iter().any(Slowed::is_at_once), "{pair:#?}");
    assert_eq!(pair.starved, [(Phase::Protect, Starved::Apart)]);
}

#[test]
fn what_was_started_again_is_beside_and_not_measured() {
    let mut story = story(&[(30.0, 11.0); 3]);
    let before = Tally::of(&story.session()).rows;
    let two = BindingId::from("b2");
    let labels = [(TOGETHER, "one"), (RESTARTED, "yes")];
    let run = story.labelled(&two, &beside("full", "one"), &labels);
    protects(&mut story, &run, 99.0);
    story.done(&run, EndState::Stopped);
    let session = story.session();
    let rows = Tally::of(&session).rows;
    let told = |rows: &[Row]| {
        format!(
            "{:?}",
            rows.iter()
                .map(|row| (&row.series, &row.runs, &row.states))
                .collect::<Vec<_>>()
        )
    };
    assert_eq!(told(&rows), told(&before));
    assert_eq!(session.pairs(&rows)[0].restarted, [0, 1]);
    assert_eq!(
        (
            session.bad_runs(),
            session.ended_runs(),
            session.planned_runs()
        ),
        (0, 12, 12)
    );
}

#[test]
fn alone_and_at_once_share_no_median_and_are_not_compared() {
    let rows = Tally::of(&story(&[(30.0, 11.0); 3]).session()).rows;
    let names: Vec<_> = rows.iter().map(Row::name).collect();
    assert_eq!(
        names,
        [
            "one full",
            "one full beside two",
            "two full",
            "two full beside one"
        ]
    );
    let says: Vec<_> = crate::session::compare(&rows)
        .iter()
        .map(crate::session::Verdict::says)
        .collect();
    assert_eq!(
        says[0],
        "not comparable: one ran alone, the other beside two"
    );
    assert_eq!(
        says[4],
        "not comparable: one ran beside two, the other beside one"
    );
    assert_eq!(says[1], "no difference shown");
}
