//! What is kept while events come is what a look at all of them would find; and what no clock can
//! have given enters nothing.

use proptest::prelude::*;

use super::{fold, full};
use crate::event::{Clock, EndState, Level, Note, Phase, Stream, What};
use crate::session::story::{Story, everything};
use crate::session::{RunStage, Says, Session, StepView, Tally, can_be, compare};

/// What the places of all that is kept say, beside a look at everything.
fn is_what_a_look_finds(session: &Session) {
    for run in &session.runs {
        let of_run = || session.samples.iter().filter(|one| one.run == run.run);
        assert!(session.samples_of_run(&run.run).eq(of_run()));
        let bytes = || of_run().filter(|one| one.unit == "B");
        assert_eq!(session.count_bytes_of_run(&run.run), bytes().count());
        assert!(session.bytes_of_run(&run.run).eq(bytes()));
        let spaces = session.spaces.iter().filter(|one| one.run == run.run);
        assert!(session.spaces_of_run(&run.run).eq(spaces));
        let goes_on = |step: &&StepView| step.goes_on() && !step.planned.background;
        let going = run.steps.iter().rev().find(goes_on).map(|step| &step.step);
        assert_eq!(run.going_on().map(|step| &step.step), going);
        let notable = run.steps.iter().rposition_of(|step| {
            goes_on(&step) || step.end.as_ref().is_some_and(|end| !end.end.is_good())
        });
        assert_eq!(run.course.notable(), notable);
        for (at, step) in run.steps.iter().enumerate() {
            let name = &step.planned.name;
            assert!(run.course.named(name).any(|place| place == at));
            let labels = &step.planned.labels;
            assert!(run.course.like(name, labels).any(|place| place == at));
            let is_like = |other: &StepView| {
                other.planned.name == *name
                    && other.planned.labels.keys().eq(labels.keys())
                    && other.end.as_ref().map(|end| end.end) == Some(EndState::Ok)
            };
            let mut alike = at..at;
            if is_like(step) {
                let like = |at: usize| run.steps.get(at).is_some_and(is_like);
                let after = (at..run.steps.len()).find(|at| !like(*at));
                alike.end = after.unwrap_or(run.steps.len());
                let before = (0..at).rev().find(|at| !like(*at));
                alike.start = before.map_or(0, |before| before + 1);
            }
            assert_eq!(run.course.alike(at, run.steps.len()), alike);
            let of_step = |of: Option<&crate::event::StepId>| of == Some(&step.step);
            let samples = session.samples.iter();
            let samples = samples.filter(|one| of_step(one.step.as_ref()));
            assert!(session.samples_of(&step.step).eq(samples));
            let proofs = session.proofs.iter().filter(|one| of_step(Some(&one.step)));
            assert!(session.proofs_of(&step.step).eq(proofs));
            let spaces = session.spaces.iter().filter(|one| of_step(Some(&one.step)));
            assert!(session.spaces_of(&step.step).eq(spaces));
        }
        let mut rest = session
            .binding(&run.binding)
            .map_or(&[][..], |binding| &binding.steps);
        for step in &run.steps {
            let is_it = |other: &crate::event::PlannedStep| other.name == step.planned.name;
            if let Some(at) = rest.iter().position(is_it) {
                rest = &rest[at + 1..];
            }
        }
        assert_eq!(session.to_come(run), rest);
    }
    let going = session.runs.iter();
    let going = going.filter(|run| run.state == RunStage::Running).count();
    assert_eq!(session.current_runs().len(), going);
    let grave = |one: &&(_, Note)| one.1.level != Level::Remark;
    assert!(session.grave_notes().eq(session.notes.iter().filter(grave)));
    assert_eq!(session.grave_count(), session.grave_notes().count());
    assert_eq!(
        session.ledger.count_out(),
        session.ledger.still_out().count()
    );
}

trait Rposition {
    type Item;
    fn rposition_of(self, is: impl Fn(Self::Item) -> bool) -> Option<usize>;
}

impl<I: Iterator> Rposition for I {
    type Item = I::Item;
    fn rposition_of(self, is: impl Fn(I::Item) -> bool) -> Option<usize> {
        let all: Vec<bool> = self.map(is).collect();
        all.iter().rposition(|is| *is)
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn places_are_right_after_any_events_in_any_order(
        events in Just({
            let mut all = full().events();
            all.extend(everything().events());
            all
        }).prop_shuffle(),
        kept in 0_usize..140,
    ) {
        is_what_a_look_finds(&fold(&events[..kept.min(events.len())]));
    }

    #[test]
    fn what_no_clock_can_have_given_enters_nothing(
        values in proptest::collection::vec(prop_oneof![
            3 => 1.0_f64..9.0,
            1 => -9.0_f64..-1e-9,
            1 => proptest::sample::select(vec![f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 1e12]),
        ], 1..12),
        resolution in prop_oneof![
            4 => Just(0.0), 1 => proptest::sample::select(vec![-1.0, f64::NAN, f64::INFINITY]),
        ],
    ) {
        let mut story = Story::new();
        let tar = story.binding("files-tar", "h1");
        for value in &values {
            let run = story.run(&tar, "full");
            story.seconds(&run, "restore", Clock::Host, resolution, *value);
            story.proved(&run, true);
            story.done(&run, EndState::Ok);
        }
        story.runs_of("files-cp", "h1", "restore", Clock::Host, &[20.0, 21.0, 22.0, 23.0]);
        let rows = Tally::of(&story.session()).rows;
        let fine = resolution >= 0.0 && resolution.is_finite();
        let good: Vec<f64> = values.iter().copied().filter(|one| fine && can_be(*one, "s")).collect();
        let series = &rows[0].times[0].series;
        prop_assert_eq!(&series.values, &good);
        prop_assert_eq!(series.out.len(), values.len() - good.len());
        let told = rows[0].remarks.iter().filter(|one| one.contains("cannot be")).count();
        prop_assert_eq!(told, values.len() - good.len());
        prop_assert!(series.median().is_none_or(|one| (1.0..9.0).contains(&one)));
        let faster = compare(&rows).iter().any(|one| one.says == Says::Faster);
        prop_assert_eq!(faster, good.len() >= 4);
    }
}

#[test]
fn steps_of_a_planned_run_are_behind_whenever_the_plan_comes() {
    let mut story = Story::new();
    let tar = story.binding("files-tar", "h1");
    let step = |name: &str| crate::event::PlannedStep {
        name: name.to_owned(),
        phase: Phase::Restore,
        host: "h1".to_owned(),
        timed: true,
        destroys: None,
        command: String::new(),
    };
    story.header.plan.bindings[0].steps = ["a", "b", "c", "d"].map(step).to_vec();
    let run = story.run(&tar, "full");
    for name in ["a", "a", "strange", "c"] {
        story.step(&run, name, Phase::Restore);
    }
    let mut events = story.events();
    let names = |session: &Session| {
        let run = session.run_view(&run).unwrap();
        let rest = session.to_come(run).iter();
        rest.map(|step| step.name.clone()).collect::<Vec<_>>()
    };
    assert_eq!(names(&fold(&events)), ["d"]);
    events.rotate_left(1);
    assert_eq!(names(&fold(&events)), ["d"], "the header came last");
}

#[test]
fn values_of_one_run_make_no_verdict() {
    let mut story = Story::new();
    for (method, base) in [("fast", 1.0), ("slow", 9.0)] {
        let binding = story.binding(method, "h1");
        let run = story.run(&binding, "full");
        for at in 0..9 {
            let labels = [("i", at.to_string())];
            let labels = labels.each_ref().map(|(key, value)| (*key, value.as_str()));
            let value = base + f64::from(at) / 10.0;
            story.sample(&run, "full", "restore", value, "s", &labels);
        }
        story.proved(&run, true);
        story.done(&run, EndState::Ok);
    }
    let rows = Tally::of(&story.session()).rows;
    let series = &rows[0].times[0].series;
    assert_eq!((series.n(), series.in_runs()), (9, 1));
    assert_eq!(compare(&rows)[0].says, Says::NoDifference);
}

#[test]
fn figures_are_the_same_until_something_of_them_comes() {
    let mut story = Story::new();
    let tar = story.binding("files-tar", "h1");
    let run = story.run(&tar, "full");
    let step = story.step(&run, "restore", Phase::Restore);
    let mut session = story.session();
    let before = session.stamp();
    let tell = |session: &mut Session, what: What| {
        session.apply(&crate::event::Event {
            seq: session.due,
            t: session.now,
            what,
        });
    };
    story.told.clear();
    story.prints(&step, Stream::Out, "a line\n");
    tell(&mut session, story.told.pop().unwrap());
    assert!(session.stamp() == before, "a line changes no figure");
    let copy = session.clone();
    let run = session.runs[0].run.clone();
    story.proved(&run, true);
    tell(&mut session, story.told.pop().unwrap());
    assert!(session.stamp() != before && copy.stamp() == before);
}

#[test]
fn very_many_rows_are_not_compared_two_by_two() {
    let mut story = Story::new();
    for at in 0..300 {
        story.runs_of(&format!("m{at}"), "h1", "restore", Clock::Host, &[1.0, 2.0]);
    }
    let rows = Tally::of(&story.session()).rows;
    assert_eq!((rows.len(), compare(&rows).len()), (300, 0));
}
