//! Scrolling and searching the log.

use super::super::model::{LogView, Model, Screen};
use super::super::runlog::RunLog;
use super::fixture::Tale;
use super::press::press;
use super::snapshot::{draw, model, text};
use crate::event::{ProgressKind, Stream};
use crate::session::Session;

const SIZE: (u16, u16) = (80, 10);

/// A run whose one step has printed so many lines; the log alone, in six rows.
fn with_lines(lines: usize) -> (Tale, Model) {
    let mut tale = Tale::new();
    let run = tale.start(1);
    let step = tale.step(&run, 0);
    for line in 0..lines {
        tale.print(&step, Stream::Out, &format!("line {line}\n"));
    }
    let mut model = model();
    model.size = SIZE;
    model.screen = Screen::Watching;
    model.watching.zoom = true;
    (tale, model)
}

fn print(tale: &mut Tale, line: &str) {
    let step = tale.session.runs[0].steps[0].step.clone();
    tale.print(&step, Stream::Out, line);
}

fn seen(model: &Model, session: &Session) -> Vec<String> {
    let text = text(&draw(model, session, SIZE, "mono"));
    let is_line = |line: &&str| line.contains("line ") && !line.contains("last line");
    text.lines()
        .filter(is_line)
        .map(|line| {
            line.trim_matches(['│', ' '])
                .chars()
                .skip(14)
                .collect::<String>()
                .trim()
                .to_owned()
        })
        .collect()
}

fn title(model: &Model, session: &Session) -> String {
    let text = text(&draw(model, session, SIZE, "mono"));
    text.lines()
        .find(|line| line.contains("╭ Log"))
        .unwrap()
        .to_owned()
}

#[test]
fn the_end_is_followed_until_one_scrolls_up() {
    let (mut tale, mut model) = with_lines(50);
    assert_eq!(
        seen(&model, &tale.session),
        [
            "line 44", "line 45", "line 46", "line 47", "line 48", "line 49"
        ]
    );
    assert!(title(&model, &tale.session).contains("following"));
    press(&mut model, &tale.session, "k");
    print(&mut tale, "line 50\nline 51\n");
    assert_eq!(
        seen(&model, &tale.session),
        [
            "line 43", "line 44", "line 45", "line 46", "line 47", "line 48"
        ]
    );
    assert!(title(&model, &tale.session).contains("3 lines below"));
    for key in ["f", "G"] {
        press(&mut model, &tale.session, "k");
        press(&mut model, &tale.session, key);
        assert_eq!(
            seen(&model, &tale.session).last().unwrap(),
            "line 51",
            "{key}"
        );
    }
}

#[test]
fn pages_and_ends() {
    let (tale, mut model) = with_lines(50);
    press(&mut model, &tale.session, "<pgup>");
    assert_eq!(seen(&model, &tale.session)[0], "line 39");
    press(&mut model, &tale.session, "<pgdn>");
    assert_eq!(seen(&model, &tale.session)[0], "line 44");
    press(&mut model, &tale.session, "<pgdn>jjj");
    assert_eq!(
        seen(&model, &tale.session)[0],
        "line 44",
        "there is nothing further down"
    );
    press(&mut model, &tale.session, "g");
    assert_eq!(
        seen(&model, &tale.session),
        ["line 0", "line 1", "line 2", "line 3", "line 4"],
        "below the command"
    );
    press(&mut model, &tale.session, "kkk<c-u>");
    assert_eq!(seen(&model, &tale.session)[0], "line 0");
}

#[test]
fn lines_that_are_dropped_do_not_move_what_is_read() {
    let (tale, _) = with_lines(50);
    let run = &tale.session.runs[0];
    let view = LogView::default();
    let log = RunLog::seen(&tale.session, run, &view);
    assert_eq!(log.len(), 51);
    let at = log.up(log.end(None), 10, None);
    assert_eq!(log.text(at), "line 39");
    assert_eq!(log.below(at), 10);
    assert_eq!(log.text(log.down(at, 3, None)), "line 42");
}

#[test]
fn a_search_goes_to_what_it_found_and_on() {
    let (tale, mut model) = with_lines(50);
    press(&mut model, &tale.session, "/LINE 1<bs>1<enter>");
    assert!(
        model.say.as_ref().unwrap().contains("is not in the log"),
        "a capital letter counts"
    );
    press(&mut model, &tale.session, "/<c-u>line 1<enter>");
    assert!(
        seen(&model, &tale.session).contains(&"line 19".to_owned()),
        "the last one, since the end was followed"
    );
    press(&mut model, &tale.session, "N");
    assert!(seen(&model, &tale.session).contains(&"line 18".to_owned()));
    press(&mut model, &tale.session, "nn");
    assert!(model.say.as_ref().unwrap().contains("past the end"));
    assert!(seen(&model, &tale.session).contains(&"line 1".to_owned()));
    press(&mut model, &tale.session, "<esc><esc>");
    assert!(model.watching.log.search.is_none());
    press(&mut model, &tale.session, "n");
    assert!(model.say.as_ref().unwrap().contains("/ searches"));
}

#[test]
fn a_search_says_that_it_was_in_what_is_kept() {
    let (mut tale, mut model) = with_lines(5);
    model.size = (120, 40);
    press(&mut model, &tale.session, "/the first<enter>");
    let shown = |tale: &Tale, model: &Model| {
        let shown = text(&draw(model, &tale.session, (120, 40), "mono"));
        shown
            .lines()
            .find(|line| line.contains(" found"))
            .unwrap()
            .to_owned()
    };
    assert!(shown(&tale, &model).contains("/the first 0 found · "));
    tale.session.log = crate::session::LogStore::with_most(8 << 20);
    print(
        &mut tale,
        &("the first\n".to_owned() + &"other\n".repeat(400_000)),
    );
    press(&mut model, &tale.session, "<f1><esc>");
    let shown = shown(&tale, &model);
    assert!(
        shown.contains("/the first 0 found in the lines kept"),
        "{shown}"
    );
}

#[test]
fn what_was_searched_for_gives_way_to_what_is_typed() {
    let (tale, mut model) = with_lines(50);
    let searched = |model: &Model| {
        let search = model.watching.log.search.as_ref();
        search.map(|found| found.query.text().to_owned())
    };
    press(&mut model, &tale.session, "/line 1<enter>/line 2<enter>");
    assert_eq!(searched(&model).as_deref(), Some("line 2"));
    press(&mut model, &tale.session, "/<enter>");
    assert_eq!(searched(&model).as_deref(), Some("line 2"), "it stays");
    press(&mut model, &tale.session, "/<end>3<enter>");
    assert_eq!(
        searched(&model).as_deref(),
        Some("line 23"),
        "it is gone on with"
    );
    press(&mut model, &tale.session, "/<bs><enter>");
    assert_eq!(searched(&model), None, "it goes as a whole");
}

#[test]
fn a_search_finds_commands_too() {
    let (tale, _) = Tale::restoring(ProgressKind::Exact);
    let mut model = model();
    model.screen = Screen::Watching;
    press(&mut model, &tale.session, "/qm destroy<enter>");
    let (run, hit) = model.watching.log.hit.clone().unwrap();
    let run = tale.session.run_view(&run).unwrap();
    assert_eq!(hit.line, 0);
    assert!(
        RunLog::seen(&tale.session, run, &LogView::default())
            .text(hit)
            .contains("qm destroy 204")
    );
}

#[test]
fn the_offset_to_the_side_outlives_following() {
    let (mut tale, mut model) = with_lines(50);
    print(&mut tale, &format!("line {}end\n", "wide ".repeat(40)));
    press(&mut model, &tale.session, "<right><right>");
    assert_eq!(model.watching.log.left, 16);
    print(&mut tale, "line after\n");
    press(&mut model, &tale.session, "kG");
    assert_eq!(model.watching.log.left, 16);
    press(&mut model, &tale.session, "<left><left><left>");
    assert_eq!(model.watching.log.left, 0);
}

#[test]
fn a_match_far_to_the_side_is_brought_into_sight() {
    let (mut tale, mut model) = with_lines(5);
    print(&mut tale, &format!("line {}needle\n", "hay ".repeat(60)));
    press(&mut model, &tale.session, "/needle<enter>");
    let text = text(&draw(&model, &tale.session, SIZE, "mono"));
    assert!(
        text.lines()
            .any(|line| line.starts_with('│') && line.contains("needle")),
        "{text}"
    );
}

#[test]
fn long_lines_wrap_and_no_row_is_lost() {
    let (mut tale, mut model) = with_lines(3);
    let words: Vec<String> = (0..60).map(|n| format!("w{n:02}")).collect();
    print(&mut tale, &format!("{}\n", words.join(" ")));
    press(&mut model, &tale.session, "w");
    let mut shown = String::new();
    for _ in 0..8 {
        shown.push_str(&text(&draw(&model, &tale.session, SIZE, "mono")));
        press(&mut model, &tale.session, "k");
    }
    // Words may be broken between two rows.
    let rows: String = shown
        .lines()
        .filter(|line| line.starts_with('│'))
        .map(|line| line.trim_matches('│').trim())
        .collect();
    for word in ["w00", "w17", "w33", "w59"] {
        assert!(rows.contains(word), "{word} in {shown}");
    }
    press(&mut model, &tale.session, "w");
    assert!(!model.watching.log.wrap);
}

#[test]
fn times_are_shown_or_not() {
    let (tale, mut model) = with_lines(3);
    let has_time =
        |model: &Model| text(&draw(model, &tale.session, SIZE, "mono")).contains("14:13:20.000");
    assert!(has_time(&model));
    press(&mut model, &tale.session, "t");
    assert!(!has_time(&model));
}

#[test]
fn columns_hold_whatever_is_printed() {
    let (mut tale, mut model) = with_lines(1);
    print(
        &mut tale,
        "line 漢字漢字 e\u{301}e\u{301} 1\u{fe0f}\u{20e3} \u{202e}right\u{1b}[31m to left\n",
    );
    for left in 0..20 {
        model.watching.log.left = left;
        let buffer = draw(&model, &tale.session, SIZE, "mono");
        for y in 0..SIZE.1 {
            let first = buffer[(0, y)].symbol();
            if first == "│" {
                assert_eq!(buffer[(79, y)].symbol(), "│", "row {y}, {left} to the left");
            }
        }
    }
}

#[test]
fn a_wrong_expression_is_told_until_it_is_changed() {
    let (tale, mut model) = with_lines(3);
    for key in ["/", "&"] {
        press(&mut model, &tale.session, key);
        press(&mut model, &tale.session, "<c-r>(ab<enter>");
        let shown = |model: &Model| text(&draw(model, &tale.session, SIZE, "mono"));
        assert!(
            shown(&model).contains("unclosed group"),
            "{}",
            shown(&model)
        );
        assert!(shown(&model).contains("(ab"), "{}", shown(&model));
        press(&mut model, &tale.session, ")");
        assert!(!shown(&model).contains("unclosed"), "{}", shown(&model));
        press(&mut model, &tale.session, "<esc>");
    }
}
