//! How long for other disks: its screen, and what is typed there.

use super::super::model::{Layer, Model, Screen};
use super::press::press;
use super::snapshot::{assert_screens, draw, model, text};
use crate::event::{BindingId, EndState, Level, Phase, RunId, StepId, What};
use crate::session::story::Story;
use crate::session::{Session, TOGETHER, beside};

const MIB: f64 = 1_048_576.0;

/// A run that moved 1 GiB at a rate, in MiB/s.
fn moved(story: &mut Story, binding: &BindingId, rate: f64) {
    let series = "full";
    let run = story.run(binding, series);
    story.sample(&run, series, "subject", 1024.0 * MIB, "B", &[]);
    for (name, phase) in PHASES {
        let step = story.step(&run, name, phase);
        took(story, (&run, series), &step, name, rate);
    }
    story.done(&run, EndState::Ok);
}

const PHASES: [(&str, Phase); 2] = [("backup", Phase::Protect), ("restore", Phase::Restore)];

/// The end of a step that moved 1 GiB at a rate.
fn took(story: &mut Story, (run, series): (&RunId, &str), step: &StepId, name: &str, rate: f64) {
    story.step_done(step, EndState::Ok);
    for (value, unit) in [(1024.0 / rate, "s"), (rate * MIB, "B/s")] {
        story.sample(run, series, name, value, unit, &[]);
        if let Some(What::Sample(sample)) = story.last() {
            sample.step = Some(step.clone());
        }
    }
}

/// Two runs that moved 1 GiB each, at once.
fn moved_at_once(story: &mut Story, of: [(&BindingId, &str, f64); 2]) {
    let runs = of.map(|(binding, other, rate)| {
        let series = beside("full", other);
        let run = story.labelled(binding, &series, &[(TOGETHER, other)]);
        story.sample(&run, &series, "subject", 1024.0 * MIB, "B", &[]);
        (run, series, rate)
    });
    for (name, phase) in PHASES {
        let steps = runs
            .each_ref()
            .map(|(run, ..)| story.step(run, name, phase));
        story.note(None, Level::Remark, "both go on");
        for (step, (run, series, rate)) in steps.iter().zip(&runs) {
            took(story, (run, series), step, name, *rate);
        }
    }
    for (run, ..) in &runs {
        story.done(run, EndState::Ok);
    }
}

fn measured() -> Session {
    let mut story = Story::new();
    let clone = story.binding("esxi-clone", "h1");
    let send = story.binding("copy-ftp", "h1");
    let snapshot = story.binding("snapshot", "h1");
    for more in [0.0, 1.5, 2.0] {
        moved(&mut story, &clone, 20.0 + more);
        moved(&mut story, &send, 30.0 + more);
        let slowed = [
            (&clone, "copy-ftp", 9.0 + more),
            (&send, "esxi-clone", 25.0 + more),
        ];
        moved_at_once(&mut story, slowed);
    }
    let run = story.run(&snapshot, "full");
    let step = story.step(&run, "snapshot", Phase::Protect);
    story.step_done(&step, EndState::Ok);
    story.sample(&run, "full", "snapshot", 0.5, "s", &[]);
    if let Some(What::Sample(sample)) = story.last() {
        sample.step = Some(step.clone());
    }
    story.done(&run, EndState::Ok);
    story.end();
    story.session()
}

fn opened(session: &Session) -> Model {
    let mut model = model();
    model.screen = Screen::Watching;
    model.now = session.now;
    press(&mut model, session, "P");
    model
}

fn problem(model: &Model) -> Option<&str> {
    match model.layers.last() {
        Some(Layer::Entry(entry)) => entry.problem.as_deref(),
        _ => None,
    }
}

#[test]
fn how_long_disks_take_that_were_typed() {
    let session = measured();
    let mut model = opened(&session);
    press(&mut model, &session, "d4x50GB 1TB<enter>");
    assert_screens("projecting", &model, &session);
}

#[test]
fn what_ran_at_once_is_in_the_comparison() {
    let session = measured();
    let mut model = opened(&session);
    press(&mut model, &session, "<esc>cG");
    assert_eq!(model.screen, Screen::Comparing);
    let all = text(&draw(&model, &session, (120, 120), "mono"));
    assert!(all.contains("At once: esxi-clone and copy-ftp"), "{all}");
    assert!(all.contains("protect: esxi-clone is starved"), "{all}");
}

#[test]
fn it_is_left_to_where_one_came_from() {
    let session = measured();
    let mut model = opened(&session);
    assert_eq!(model.screen, Screen::Projecting);
    press(&mut model, &session, "P");
    assert_eq!(model.screen, Screen::Watching);
    press(&mut model, &session, "cP");
    assert_eq!(model.screen, Screen::Projecting);
    press(&mut model, &session, "<esc>");
    assert_eq!(model.screen, Screen::Comparing);
    // By its name, from the palette.
    press(&mut model, &session, ":project<enter>");
    assert_eq!(model.screen, Screen::Projecting);
}

#[test]
fn what_is_typed_wrong_is_said_and_can_be_put_right() {
    let session = measured();
    let mut model = opened(&session);
    press(&mut model, &session, "dmuch<enter>");
    assert!(problem(&model).unwrap().contains("\"much\""));
    press(&mut model, &session, "<c-u>2x1GiB<enter>");
    assert!(model.layers.is_empty());
    assert_eq!(model.projecting.wanted.disks, [1 << 30, 1 << 30]);
    // What was typed stands there the next time; an empty line is what was measured.
    press(&mut model, &session, "d");
    assert!(
        matches!(model.layers.last(), Some(Layer::Entry(entry)) if entry.input.value() == "2x1GiB")
    );
    press(&mut model, &session, "<c-u><enter>");
    assert!(model.projecting.wanted.disks.is_empty());
    press(&mut model, &session, "pesxi-clone<enter>");
    assert!(problem(&model).unwrap().contains("two methods"));
    press(&mut model, &session, "<c-u>esxi-clone,nothing<enter>");
    assert!(
        problem(&model).unwrap().contains("no rate of nothing"),
        "{:?}",
        problem(&model)
    );
    press(&mut model, &session, "<c-u>copy-ftp, esxi-clone<enter>");
    assert!(model.layers.is_empty());
    let all = text(&draw(&model, &session, (120, 60), "mono"));
    assert!(all.contains("copy-ftp full, then esxi-clone full"), "{all}");
}

#[test]
fn it_is_not_scrolled_beyond_its_end() {
    let session = measured();
    let mut model = opened(&session);
    model.size = (80, 24);
    press(&mut model, &session, "G");
    let end = model.projecting.scroll;
    assert!(end > 0);
    press(&mut model, &session, "j<pgdn>");
    assert_eq!(model.projecting.scroll, end);
    press(&mut model, &session, "g");
    assert_eq!(model.projecting.scroll, 0);
}
