//! Medians, bytes and the comparison at every size, in colour and without.

use proptest::prelude::*;

use super::super::model::{Model, Pane, Screen};
use super::figures::{mishaps, pools, series, two_hosts, ways};
use super::press::press;
use super::snapshot::{assert_screens, draw, model, text};
use crate::session::Session;
use crate::session::story::Story;

fn watching(story: &Story, pane: Pane) -> (Model, Session) {
    let session = story.session();
    let mut model = model();
    model.screen = Screen::Watching;
    model.watching.pane = pane;
    model.watching.figures = match pane {
        Pane::Bytes => super::super::model::Figures::Bytes,
        _ => super::super::model::Figures::Medians,
    };
    model.now = session.now;
    (model, session)
}

fn comparing(name: &str, story: &Story, keys: &str) {
    let (mut model, session) = watching(story, Pane::Log);
    press(&mut model, &session, "c");
    press(&mut model, &session, keys);
    assert_screens(name, &model, &session);
}

#[test]
fn medians_of_runs_that_went_wrong() {
    let (model, session) = watching(&mishaps(), Pane::Medians);
    assert_screens("medians-mishaps", &model, &session);
}

#[test]
fn medians_alone_on_the_screen() {
    let (mut model, session) = watching(&mishaps(), Pane::Medians);
    press(&mut model, &session, "zj<right>");
    assert_screens("medians-alone", &model, &session);
}

#[test]
fn bytes_of_a_pool() {
    let (mut model, session) = watching(&pools(), Pane::Bytes);
    press(&mut model, &session, "j");
    assert_screens("bytes-pool", &model, &session);
}

#[test]
fn bytes_alone_on_the_screen() {
    let (mut model, session) = watching(&pools(), Pane::Bytes);
    press(&mut model, &session, "zjjjjj");
    assert_screens("bytes-alone", &model, &session);
}

#[test]
fn comparing_two_ways() {
    comparing("comparing-2", &ways(2, 5), "");
}

#[test]
fn comparing_three_ways() {
    comparing("comparing-3", &ways(3, 4), "<tab>");
}

#[test]
fn comparing_eight_ways() {
    comparing("comparing-8", &ways(8, 4), "<tab>ssssS");
}

#[test]
fn comparing_the_table_sideways() {
    comparing("comparing-sideways", &ways(3, 3), "<tab><right><right>G");
}

#[test]
fn comparing_series() {
    comparing("comparing-series", &series(), "");
}

#[test]
fn comparing_two_hosts() {
    comparing("comparing-hosts", &two_hosts(), "<tab>");
}

#[test]
fn comparing_one_run_each() {
    comparing("comparing-once", &ways(3, 1), "");
}

#[test]
fn comparing_what_went_wrong() {
    comparing("comparing-mishaps", &mishaps(), "<tab>");
}

#[test]
fn comparing_before_anything_is_measured() {
    let mut story = Story::new();
    let id = story.binding("files-tar", "h1");
    story.run(&id, "full");
    comparing("comparing-nothing", &story, "");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]
    #[test]
    fn every_size_keeps_its_frames(
        size in (40_u16..220, 10_u16..70),
        which in 0_usize..5,
        keys in "[cszbjlhS]{0,12}",
    ) {
        let mut story = match which {
            0 => mishaps(),
            1 => pools(),
            2 => ways(8, 3),
            3 => two_hosts(),
            _ => series(),
        };
        // Names that are wider than they are long.
        if let Some(binding) = story.header.plan.bindings.first_mut() {
            binding.method = "復元-テスト-e\u{301}".into();
        }
        let (mut model, session) = watching(&story, Pane::Medians);
        model.size = size;
        press(&mut model, &session, &keys);
        // What was said last stands over a frame, in as many rows as it needs.
        model.say = None;
        let buffer = draw(&model, &session, size, "mono");
        // Frames end in their column, whatever is in them. Above them may stand the plan in a line.
        let first = (1..size.1).find(|y| buffer[(0, *y)].symbol() == "╭");
        for y in first.unwrap_or(size.1)..size.1 - 1 {
            let last = buffer[(size.0 - 1, y)].symbol();
            prop_assert!("│╮╯ ".contains(last), "{last} at {y}:\n{}", text(&buffer));
        }
    }
}
