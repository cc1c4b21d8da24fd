use crate::event::{Clock, EndState, Level};
use crate::session::story::Story;
use crate::session::{Row, Tally};

fn rows(tell: impl FnOnce(&mut Story)) -> Vec<Row> {
    let mut story = Story::new();
    tell(&mut story);
    Tally::of(&story.session()).rows
}

fn of_times(values: &[f64]) -> String {
    let rows = rows(|story| story.runs_of("m", "h1", "restore", Clock::Task, values));
    rows[0].remarks.join("\n")
}

#[test]
fn figures_that_are_as_they_should_be_have_no_remark() {
    assert_eq!(of_times(&[28.0, 27.0, 28.0]), "");
    assert_eq!(of_times(&[28.0]), "");
    assert_eq!(of_times(&[60.0, 57.0, 66.0, 58.0]), "");
}

#[test]
fn a_trend_is_one_that_the_clock_can_tell() {
    let trend = "restore: each run slower than the one before";
    assert_eq!(of_times(&[57.0, 60.0, 66.0]), trend);
    assert_eq!(of_times(&[57.0, 58.0, 59.0]), "");
    assert_eq!(of_times(&[57.0, 60.0]), "");
    assert_eq!(of_times(&[57.0, 60.0, 60.0, 64.0]), "");
}

#[test]
fn a_run_far_from_the_others_is_marked() {
    assert_eq!(
        of_times(&[90.0, 60.0, 61.0]),
        "restore: the first run (90 s) is far from the others"
    );
    assert_eq!(
        of_times(&[66.0, 58.0, 59.0]),
        "restore: the first run (66 s) is far from the others"
    );
    assert_eq!(
        of_times(&[60.0, 61.0, 20.0, 60.0]),
        "restore: run 3 (20 s) is far from the others"
    );
    assert_eq!(of_times(&[60.0, 90.0, 61.0]), "");
    assert_eq!(of_times(&[2.0, 4.0, 2.0]), "");
}

#[test]
fn one_method_after_the_other_is_marked_on_both() {
    let rows = rows(|story| {
        story.runs_of("a", "h1", "restore", Clock::Host, &[1.0, 1.0]);
        story.runs_of("b", "h1", "restore", Clock::Host, &[1.0, 1.0]);
        story.runs_of("c", "h2", "restore", Clock::Host, &[1.0, 1.0]);
    });
    assert!(rows[0].remarks[0].starts_with("all its runs came before all runs of b full:"));
    assert!(rows[1].remarks[0].starts_with("all its runs came after all runs of a full:"));
    assert!(rows[2].remarks.is_empty());
}

#[test]
fn methods_that_take_turns_are_not_marked() {
    let rows = rows(|story| {
        let (a, b) = (story.binding("a", "h1"), story.binding("b", "h1"));
        for binding in [&a, &b, &b, &a] {
            let run = story.run(binding, "full");
            story.seconds(&run, "restore", Clock::Host, 0.0, 1.0);
            story.done(&run, EndState::Ok);
        }
    });
    assert!(rows.iter().all(|row| row.remarks.is_empty()), "{rows:?}");
}

#[test]
fn labels_that_differ_between_runs_are_told() {
    let rows = rows(|story| {
        let a = story.binding("a", "h1");
        for labels in [&[("cache", "cold")][..], &[("cache", "warm")], &[]] {
            let run = story.labelled(&a, "full", labels);
            story.done(&run, EndState::Ok);
        }
    });
    assert_eq!(
        rows[0].remarks,
        ["its runs differ in cache: cold, warm, not told"]
    );
}

#[test]
fn a_printed_figure_that_its_values_do_not_give_is_told() {
    let rows = rows(|story| {
        let a = story.binding("rsyncd", "esx");
        let run = story.run(&a, "full");
        story.seconds(&run, "copy", Clock::Task, 1.0, 415.0);
        story.done(&run, EndState::Ok);
        story.published(&a, "copy", "median", 355.0);
    });
    assert_eq!(
        rows[0].remarks,
        ["copy: 355 s is printed, its values give 415 s"]
    );
}

#[test]
fn notes_of_its_runs_stand_with_a_row_once() {
    let rows = rows(|story| {
        let a = story.binding("a", "h1");
        for _ in 0..2 {
            let run = story.run(&a, "full");
            story.note(Some(&run), Level::Warning, "efidisk0 is excluded");
            story.note(Some(&run), Level::Error, "told elsewhere");
            story.done(&run, EndState::Warnings);
        }
        story.note(None, Level::Warning, "of nobody");
    });
    assert_eq!(rows[0].remarks, ["efidisk0 is excluded"]);
}

#[test]
fn a_flood_of_notes_is_counted() {
    let rows = rows(|story| {
        let a = story.binding("a", "h1");
        let run = story.run(&a, "full");
        for n in 0..100 {
            story.note(Some(&run), Level::Warning, &format!("warning {n}"));
        }
    });
    assert_eq!(rows[0].remarks.len(), 21);
    assert_eq!(rows[0].remarks[20], "and 80 more notes");
}

#[test]
fn a_clock_that_is_off_is_told() {
    for (off, says) in [
        (86_431, "24 h ahead of"),
        (-9, "9 s behind"),
        (-200_000, "2 days behind"),
    ] {
        let rows = rows(|story| {
            let a = story.binding("a", "h1");
            story.header.facts.get_mut("h1").unwrap().clock_off = Some(off);
            let run = story.run(&a, "full");
            story.done(&run, EndState::Ok);
        });
        let said = format!(
            "the clock of h1 is about {says} this machine's; durations hold, dates of that host do not"
        );
        assert_eq!(rows[0].remarks, [said]);
    }
}
