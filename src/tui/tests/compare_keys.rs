//! Keys of the comparison, of help and of notes.

use super::super::model::{Layer, Model, Screen};
use super::figures::ways;
use super::fixture::Tale;
use super::press::press;
use super::snapshot::{draw, model, text};

#[test]
fn times_are_gone_through_in_a_circle() {
    let tale = Tale::finished();
    let mut model = model();
    model.screen = Screen::Watching;
    press(&mut model, &tale.session, "c");
    assert_eq!(model.screen, Screen::Comparing);
    let mut seen = Vec::new();
    // All times together, then each.
    for _ in 0..5 {
        seen.push(model.comparing.time);
        press(&mut model, &tale.session, "<tab>");
    }
    assert_eq!(seen, [0, 1, 2, 3, 0]);
    press(&mut model, &tale.session, "<backtab><backtab>");
    assert_eq!(model.comparing.time, 3);
    press(&mut model, &tale.session, "<esc>");
    assert_eq!(model.screen, Screen::Watching);
}

#[test]
fn the_comparison_is_not_scrolled_beyond_its_end() {
    let tale = Tale::finished();
    let mut model = model();
    model.size = (80, 24);
    model.screen = Screen::Watching;
    press(&mut model, &tale.session, "cG");
    let end = model.comparing.scroll;
    assert!(end > 0);
    press(&mut model, &tale.session, "j<pgdn>");
    assert_eq!(model.comparing.scroll, end);
    press(&mut model, &tale.session, "kg");
    assert_eq!(model.comparing.scroll, 0);
}

#[test]
fn rows_are_sorted_by_each_column_and_the_other_way_round() {
    let session = ways(3, 4).session();
    let mut model = model();
    model.screen = Screen::Watching;
    let order = |model: &Model| -> Vec<usize> {
        let screen = text(&draw(model, &session, (200, 60), "mono"));
        // The last time that a name stands in front of a row is in the table.
        let place = |name: &str| {
            let lines = screen.lines().enumerate();
            let of_name = |(_, line): &(usize, &str)| line.starts_with(&format!("│{name}"));
            lines.filter(of_name).last().unwrap().0
        };
        let mut rows: Vec<(usize, usize)> = ["pve-snapshot", "pve-vzdump", "pve-pbs"]
            .iter()
            .enumerate()
            .map(|(at, name)| (place(name), at))
            .collect();
        rows.sort_unstable();
        rows.into_iter().map(|(_, at)| at).collect()
    };
    press(&mut model, &session, "c");
    assert_eq!(order(&model), [0, 1, 2], "as planned");
    press(&mut model, &session, "S");
    assert!(model.comparing.sort.is_none() && model.say.is_some());
    press(&mut model, &session, "s");
    assert_eq!(model.comparing.sort.as_ref().unwrap().column, "method");
    assert_eq!(order(&model), [2, 0, 1]);
    press(&mut model, &session, "S");
    assert_eq!(order(&model), [1, 0, 2]);
    press(&mut model, &session, "s");
    let sort = model.comparing.sort.clone().unwrap();
    assert_eq!((sort.column.as_str(), sort.falls), ("backup", false));
    press(&mut model, &session, "S");
    assert_eq!(order(&model), [2, 1, 0]);
    // Through all columns, back to the plan.
    for _ in 0..20 {
        press(&mut model, &session, "s");
        if model.comparing.sort.is_none() {
            break;
        }
    }
    assert_eq!(order(&model), [0, 1, 2]);
}

#[test]
fn the_table_goes_sideways_with_its_names_in_place() {
    let session = ways(3, 4).session();
    let mut model = model();
    model.screen = Screen::Watching;
    press(&mut model, &session, "c<tab>G");
    let screen = |model: &Model| text(&draw(model, &session, (80, 24), "mono"));
    model.size = (80, 24);
    assert!(!screen(&model).contains("fails with"), "{}", screen(&model));
    for _ in 0..30 {
        press(&mut model, &session, "<right>");
    }
    let all = screen(&model);
    assert!(
        all.contains("fails with") && all.contains("pve-snapshot"),
        "{all}"
    );
    press(&mut model, &session, "<left>");
    let before = model.comparing.left;
    press(&mut model, &session, "<right>");
    assert_eq!(model.comparing.left, before + 1, "as many keys lead back");
}

#[test]
fn the_way_to_the_comparison_is_told_when_all_is_over() {
    let session = ways(2, 3).session();
    let mut model = model();
    model.screen = Screen::Watching;
    for size in [(80, 24), (40, 10), (120, 40)] {
        let screen = text(&draw(&model, &session, size, "mono"));
        let bar = screen.lines().last().unwrap().to_owned();
        assert!(bar.trim_start().starts_with("c what came out"), "{bar}");
    }
}

#[test]
fn help_opens_scrolls_and_closes() {
    let tale = Tale::finished();
    let mut model = model();
    model.size = (80, 24);
    model.screen = Screen::Watching;
    for (open, close) in [("?", "?"), ("<f1>", "q"), ("?", "<esc>")] {
        press(&mut model, &tale.session, open);
        assert!(matches!(model.layers.as_slice(), [Layer::Help(0)]));
        press(&mut model, &tale.session, "Gk");
        assert!(matches!(model.layers.as_slice(), [Layer::Help(scroll)] if *scroll > 0));
        press(&mut model, &tale.session, close);
        assert!(model.layers.is_empty());
    }
    press(&mut model, &tale.session, "!");
    assert!(matches!(model.layers.as_slice(), [Layer::Notes(0)]));
    press(&mut model, &tale.session, "q");
    assert!(model.layers.is_empty());
}
