//! Keys of the comparison, of help and of notes.

use super::super::model::{Layer, Screen};
use super::fixture::Tale;
use super::snapshot::model;
use super::watching_keys::press;

#[test]
fn times_are_gone_through_in_a_circle() {
    let tale = Tale::finished();
    let mut model = model();
    model.screen = Screen::Watching;
    press(&mut model, &tale.session, "c");
    assert_eq!(model.screen, Screen::Comparing);
    let mut seen = Vec::new();
    for _ in 0..4 {
        seen.push(model.comparing.time);
        press(&mut model, &tale.session, "<tab>");
    }
    assert_eq!(seen, [0, 1, 2, 0]);
    press(&mut model, &tale.session, "<backtab><left>");
    assert_eq!(model.comparing.time, 2);
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
