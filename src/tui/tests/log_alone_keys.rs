//! The log of one step in full screen, the filter, copying and saving.

use proptest::prelude::*;

use super::super::message::Effect;
use super::super::model::{Layer, LogView, Model, Pane, Screen};
use super::super::query::{Query, Syntax};
use super::super::runlog::{At, Entry, RunLog};
use super::fixture::Tale;
use super::press::press;
use super::snapshot::{assert_screens, draw, model, text};
use crate::event::{ProgressKind, RunId, StepId, Stream};
use crate::report::{Stamps, Wanted};
use crate::session::Session;
use crate::tui::found::Found;

const SIZE: (u16, u16) = (100, 30);

/// Two runs with the same steps; the second one restores, and has printed so many lines.
fn restoring(lines: usize) -> (Tale, Model, StepId) {
    let mut tale = Tale::new();
    tale.run(1, 28.0, 57.0);
    let run = tale.start(2);
    tale.until_damage(&run, 28.0, 1.0);
    let step = tale.step(&run, 4);
    for line in 0..lines {
        tale.wait(0.125);
        let word = if line % 10 == 7 { "slow" } else { "fine" };
        tale.print(&step, Stream::Out, &format!("cluster {line} {word}\n"));
    }
    let mut model = model();
    model.size = SIZE;
    model.screen = Screen::Watching;
    (tale, model, step)
}

fn seen(model: &Model, session: &Session) -> String {
    text(&draw(model, session, SIZE, "mono"))
}

fn top_title(model: &Model, session: &Session) -> String {
    let text = seen(model, session);
    let title = text.lines().find(|line| line.contains("╭ Log"));
    title.unwrap_or_default().to_owned()
}

#[test]
fn a_step_opens_with_its_command_above_and_closes_to_where_one_was() {
    let (tale, mut model, _) = restoring(40);
    model.watching.pane = Pane::Steps;
    press(&mut model, &tale.session, "k<enter>");
    let shown = seen(&model, &tale.session);
    assert!(shown.contains("$ qm destroy 204"), "{shown}");
    assert!(shown.contains("successfully removed"), "{shown}");
    assert!(!shown.contains("cluster"), "one step alone: {shown}");
    assert!(!shown.contains("Medians"), "{shown}");
    press(&mut model, &tale.session, "<esc>");
    assert_eq!(model.watching.pane, Pane::Steps);
    assert!(!model.watching.zoom && seen(&model, &tale.session).contains("Medians"));
    press(&mut model, &tale.session, "f<enter>");
    let shown = seen(&model, &tale.session);
    assert!(shown.contains("cluster 39") && shown.contains("following · 40 lines"));
    press(&mut model, &tale.session, "g");
    let shown = seen(&model, &tale.session);
    assert!(shown.contains("cluster 0 ") && shown.contains("lines below"));
    press(&mut model, &tale.session, "<tab>");
    assert!(!model.watching.zoom && model.watching.log.alone.is_none());
}

#[test]
fn the_same_step_of_another_run_is_a_key_away() {
    let (tale, mut model, _) = restoring(40);
    model.watching.pane = Pane::Steps;
    press(&mut model, &tale.session, "<enter>[");
    assert!(
        top_title(&model, &tale.session).contains("guest-store 1 · restore")
            || top_title(&model, &tale.session).contains(" 1 · restore")
    );
    let alone = model.watching.log.alone.clone().unwrap();
    assert_eq!(alone.run, RunId("r1".into()));
    press(&mut model, &tale.session, "[");
    assert!(model.say.as_ref().unwrap().contains("No earlier run"));
    press(&mut model, &tale.session, "]");
    assert_eq!(
        model.watching.log.alone.clone().unwrap().run,
        RunId("r2".into())
    );
}

#[test]
fn only_lines_with_a_text_are_shown_and_what_was_read_stays_in_sight() {
    let (mut tale, mut model, step) = restoring(100);
    press(&mut model, &tale.session, "<enter>&slow<enter>");
    let shown = seen(&model, &tale.session);
    assert!(
        !shown.contains("fine") && shown.contains("cluster 97 slow"),
        "{shown}"
    );
    assert!(top_title(&model, &tale.session).contains("&slow · following · 10 of 100 lines"));
    tale.print(&step, Stream::Out, "cluster 100 fine\ncluster 101 slow\n");
    press(&mut model, &tale.session, "<f1><esc>");
    let shown = seen(&model, &tale.session);
    assert!(
        shown.contains("cluster 101 slow") && shown.contains("11 of 102 lines"),
        "{shown}"
    );
    // A search looks among them alone.
    press(&mut model, &tale.session, "/cluster 3<enter>");
    assert!(top_title(&model, &tale.session).contains("/cluster 3 1 of 1"));
    press(&mut model, &tale.session, "&<c-u><enter>");
    assert!(model.watching.log.filter.is_none());
    let shown = seen(&model, &tale.session);
    for around in ["cluster 36 fine", "cluster 37 slow", "cluster 38 fine"] {
        assert!(shown.contains(around), "{around} in {shown}");
    }
    assert!(
        top_title(&model, &tale.session).contains("/cluster 3 9 of 11"),
        "{shown}"
    );
}

#[test]
fn a_filter_that_nothing_passes_says_so() {
    let (tale, mut model, _) = restoring(10);
    press(&mut model, &tale.session, "&nowhere<enter>");
    let shown = seen(&model, &tale.session);
    assert!(
        shown.contains("no line has it") && shown.contains("0 of"),
        "{shown}"
    );
    press(
        &mut model,
        &tale.session,
        "kjgG<pgup><pgdn>nN<enter>y<esc><esc><esc>",
    );
    assert!(model.watching.log.filter.is_none());
}

#[test]
fn an_expression_is_one_where_that_is_asked_for() {
    let (tale, mut model, _) = restoring(30);
    press(&mut model, &tale.session, "/cluster .7<enter>");
    assert!(model.say.as_ref().unwrap().contains("is not in the log"));
    press(&mut model, &tale.session, "/<c-r><enter>");
    assert!(
        top_title(&model, &tale.session).contains("(regex) 2 of 2"),
        "17 and 27"
    );
    press(&mut model, &tale.session, "/(<enter>");
    assert!(
        matches!(&model.layers[..], [Layer::Entry(entry)] if entry.problem.as_ref().unwrap().contains("unclosed group")),
        "it can be put right"
    );
}

#[test]
fn one_progress_series_is_one_line_whatever_it_is_shown_in() {
    let (mut tale, mut model, step) = restoring(2);
    for percent in 0..100 {
        tale.print(&step, Stream::Err, &format!("\r{percent}% copied"));
    }
    press(&mut model, &tale.session, "<enter>");
    let shown = seen(&model, &tale.session);
    assert_eq!(shown.matches("copied").count(), 1, "{shown}");
    assert!(shown.contains("99% copied") && shown.contains("3 lines"));
    press(&mut model, &tale.session, "&99%<enter>");
    assert!(seen(&model, &tale.session).contains("1 of 3 lines"));
    tale.print(&step, Stream::Err, "\r100% copied\n");
    press(&mut model, &tale.session, "<f1><esc>");
    assert!(
        seen(&model, &tale.session).contains("0 of 3 lines"),
        "it is another line now"
    );
}

#[test]
fn far_to_the_side_and_back() {
    let (mut tale, mut model, step) = restoring(2);
    tale.print(&step, Stream::Out, &format!("{}end\n", "wide ".repeat(60)));
    press(&mut model, &tale.session, "<enter>L");
    let half = model.watching.log.left;
    assert_eq!(half, 42, "half of 84 cells");
    press(&mut model, &tale.session, "LLLLLL");
    assert!(
        seen(&model, &tale.session).contains("end│"),
        "the end stands at the edge"
    );
    press(&mut model, &tale.session, "kG");
    assert!(model.watching.log.left > half, "following keeps it");
    press(&mut model, &tale.session, "HHHHHHH");
    assert_eq!(model.watching.log.left, 0);
}

#[test]
fn times_say_when_how_far_and_how_long() {
    let (tale, mut model, _) = restoring(5);
    press(&mut model, &tale.session, "<enter>");
    assert!(seen(&model, &tale.session).contains("14:1"));
    press(&mut model, &tale.session, "t");
    assert!(seen(&model, &tale.session).contains("+0.625  cluster 4"));
    press(&mut model, &tale.session, "t");
    let shown = seen(&model, &tale.session);
    assert!(shown.contains("+0.125  cluster 4") && shown.contains("since the line before"));
    press(&mut model, &tale.session, "t");
    assert!(seen(&model, &tale.session).contains("│cluster 4"));
    assert_eq!(model.watching.log.times, Stamps::Off);
}

fn copied(effects: &[Effect]) -> &str {
    match effects {
        [Effect::Copy(text)] => text,
        other => panic!("nothing was copied: {other:?}"),
    }
}

#[test]
fn a_line_a_match_the_command_or_all_is_copied() {
    let (mut tale, mut model, step) = restoring(20);
    tale.print(
        &step,
        Stream::Out,
        "\u{1b}[31mred\u{1b}[0m \u{202e}and\u{7} plain\n",
    );
    let copy = |model: &mut Model, keys| press(model, &tale.session, keys);
    assert_eq!(copied(&copy(&mut model, "yy")), "red and plain");
    assert!(
        model
            .say
            .as_ref()
            .unwrap()
            .contains("the line, 13 characters")
    );
    assert!(model.watching.log.top.is_none(), "it is followed again");
    assert_eq!(copied(&copy(&mut model, "ykkk<enter>")), "cluster 17 slow");
    assert_eq!(
        copied(&copy(&mut model, "/SLOW<bs><bs><bs><bs>slow<enter>ym")),
        "slow"
    );
    assert_eq!(
        copied(&copy(&mut model, "yy")),
        "cluster 17 slow",
        "where the search stands"
    );
    let command = copy(&mut model, "yc");
    assert!(copied(&command).starts_with("qmrestore "), "{command:?}");
    let all = copy(&mut model, "ya");
    assert_eq!(copied(&all).lines().count(), 21);
    assert!(!copied(&all).contains(|c: char| c.is_control() && c != '\n'));
    assert!(copy(&mut model, "y<esc>").is_empty() && model.layers.is_empty());
    assert!(copy(&mut model, "yjm").is_empty());
    assert!(model.say.as_ref().unwrap().contains("is not in this line"));
}

#[test]
fn no_more_is_copied_than_a_terminal_takes() {
    let (mut tale, mut model, step) = restoring(0);
    for line in 0..2000 {
        tale.print(&step, Stream::Out, &format!("{line} {}\n", "漢".repeat(30)));
    }
    let effects = press(&mut model, &tale.session, "ya");
    let text = copied(&effects);
    assert!(text.len() <= 74_994 && text.len() > 74_000);
    assert!(text.ends_with(&format!("1999 {}\n", "漢".repeat(30))));
    let says = model.say.as_ref().unwrap();
    assert!(
        says.contains("the last ") && says.contains("of 2,000 lines of restore"),
        "{says}"
    );
}

#[test]
fn a_whole_log_is_saved_of_what_is_looked_at() {
    let (tale, mut model, step) = restoring(5);
    let wanted = |step: Option<&StepId>, stamps| {
        Effect::Save(Wanted {
            run: RunId("r2".into()),
            step: step.cloned(),
            stamps,
            zone: super::snapshot::utc(),
        })
    };
    let effects = press(&mut model, &tale.session, "s");
    assert_eq!(effects, [wanted(None, Stamps::OfDay)]);
    let effects = press(&mut model, &tale.session, "<enter>ts");
    assert_eq!(effects, [wanted(Some(&step), Stamps::SinceBegin)]);
}

#[test]
fn what_is_said_is_never_cut() {
    let (tale, mut model, _) = restoring(5);
    let path = format!(
        "/{}/name.log",
        "a long folder name/".repeat(9).replace(' ', "-")
    );
    model.say = Some(format!("Saved 5 lines: {path}"));
    let shown = seen(&model, &tale.session);
    let shown: String = shown.lines().map(str::trim).collect();
    assert!(shown.contains(&path), "{shown}");
}

#[test]
fn the_log_of_a_step() {
    let (tale, _) = Tale::restoring(ProgressKind::Exact);
    let mut model = model();
    model.screen = Screen::Watching;
    model.now = tale.now();
    press(&mut model, &tale.session, "<enter>");
    assert_screens("log-step", &model, &tale.session);
    press(&mut model, &tale.session, "&progress<enter>/9%<enter>t");
    assert_screens("log-filter", &model, &tale.session);
    press(&mut model, &tale.session, "yk");
    assert_screens("log-copy", &model, &tale.session);
}

/// What a line is made of.
fn printed() -> impl Strategy<Value = Vec<(usize, bool, String)>> {
    let piece = prop_oneof!["[ab]{0,3}\n", "[ab]{0,3}", "\r[ab]{0,3}", "a\n", "b\n\n"];
    proptest::collection::vec((0_usize..2, any::<bool>(), piece), 0..40)
}

proptest! {
    /// Found lines are those that a look at each line finds, however they came; and one gets
    /// through what is shown in both directions, each line once.
    #[test]
    fn found_lines_are_those_that_have_it(pieces in printed(), text in "[ab]{1,2}") {
        let mut tale = Tale::new();
        let run = tale.start(1);
        let steps = [tale.step(&run, 0), tale.step(&run, 1)];
        let query = Query::new(&text, Syntax::Text).unwrap().unwrap();
        let mut view = LogView { filter: Some(Found::new(query.clone(), None)), ..LogView::default() };
        for (step, err, piece) in pieces {
            let stream = if err { Stream::Err } else { Stream::Out };
            tale.print(&steps[step], stream, &piece);
            let run = &tale.session.runs[0];
            view.filter.as_mut().unwrap().look(&tale.session, &[run]);
        }
        let run = &tale.session.runs[0];
        view.filter.as_mut().unwrap().look(&tale.session, &[run]);
        let plain = LogView::default();
        let all = RunLog::seen(&tale.session, run, &plain);
        let some = RunLog::seen(&tale.session, run, &view);
        let walk = |log: &RunLog<'_>| {
            std::iter::successors(Some(log.first()), |at| log.next(*at)).collect::<Vec<At>>()
        };
        let is_line = |log: &RunLog<'_>, at: At| matches!(log.entry(at), Some(Entry::Line { .. }));
        let wanted: Vec<At> = walk(&all)
            .into_iter()
            .filter(|at| is_line(&all, *at) && query.is_in(&all.text(*at)))
            .collect();
        let shown = walk(&some);
        let lines: Vec<At> = shown.iter().copied().filter(|at| is_line(&some, *at)).collect();
        prop_assert_eq!(&lines, &wanted);
        if some.len() > 0 {
            prop_assert_eq!(some.len(), shown.len() as u64);
            let mut back: Vec<At> = std::iter::successors(Some(some.last()), |at| some.previous(*at)).collect();
            back.reverse();
            prop_assert_eq!(&back, &shown);
            for (at, place) in shown.iter().enumerate() {
                prop_assert_eq!(some.below(*place), (shown.len() - at - 1) as u64);
                prop_assert_eq!(some.clamp(*place), *place);
            }
        }
        // A search goes over the same lines, around the ends.
        let found = view.filter.as_ref().unwrap();
        let hits: Vec<At> = walk(&all).into_iter().filter(|at| query.is_in(&all.text(*at))).collect();
        prop_assert_eq!(all.count(found, None).1, hits.len() as u64);
        let mut at = all.first();
        for _ in 0..hits.len() {
            let Some((next, _)) = all.find(at, true, found) else { break };
            prop_assert!(hits.contains(&next));
            prop_assert_eq!(all.find(next, false, found).is_some(), true);
            at = next;
        }
        prop_assert_eq!(all.find(at, true, found).is_none(), hits.is_empty());
    }
}

#[test]
fn another_log_begins_at_its_first_column_and_following_one_keeps_its_own() {
    let (tale, mut model, _) = restoring(40);
    let session = &tale.session;
    let left = |model: &Model| model.watching.log.left;
    press(&mut model, session, "l");
    let moved = left(&model);
    assert!(moved > 0);
    press(&mut model, session, "kf");
    assert_eq!(left(&model), moved, "it is the same log");
    // Alone it begins anew, and what was there before is as it was.
    press(&mut model, session, "<enter>");
    assert_eq!(left(&model), 0);
    press(&mut model, session, "l<esc>");
    assert_eq!(left(&model), moved);
    model.watching.pane = Pane::Steps;
    press(&mut model, session, "k");
    assert_eq!(left(&model), 0, "another step");
    model.watching.pane = Pane::Log;
    press(&mut model, session, "l[");
    assert_eq!(left(&model), 0, "another run");
    press(&mut model, session, "l");
    press(&mut model, session, "f");
    assert_eq!(left(&model), 0, "the run that goes on");
    assert_eq!(model.watching.afresh().log.left, 0, "another session");
}
