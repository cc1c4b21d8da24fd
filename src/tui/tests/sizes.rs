//! Every size of a terminal, and texts that are hard to fit into it.

use std::collections::BTreeSet;

use proptest::prelude::*;
use ratatui::buffer::{Buffer, Cell};
use ratatui::layout::Rect;

use super::super::layout;
use super::super::message::Message;
use super::super::model::{Layer, Model, Pane, PickPane, Screen};
use super::super::theme::Shelf;
use super::super::update;
use super::fixture::Tale;
use super::offers::offer;
use super::press::press;
use super::snapshot::{check, draw, model, text};
use crate::event::{
    EndState, HostState, Level, ProgressKind, Question, QuestionKind, RunId, Stream,
};
use crate::session::Session;

const SMALL: (u16, u16) = (80, 24);

fn watching(tale: &Tale) -> Model {
    let mut model = model();
    model.size = SMALL;
    model.screen = Screen::Watching;
    model.now = tale.now();
    model
}

fn picking() -> (Model, Session) {
    let (mut model, session) = (model(), Session::default());
    model.size = SMALL;
    update(&mut model, &session, Message::Offer(Box::new(offer())));
    (model, session)
}

fn seen(model: &Model, session: &Session) -> String {
    text(&draw(model, session, model.size, "default"))
}

/// What is seen in a part of the screen.
fn seen_in(area: Rect, model: &Model, session: &Session) -> String {
    let whole = draw(model, session, model.size, "default");
    let mut part = Buffer::empty(area);
    for position in area.positions() {
        part[position] = whole[position].clone();
    }
    text(&part)
}

/// The words that are seen there while a key is pressed again and again, until nothing changes.
fn words(model: &mut Model, session: &Session, key: &str) -> BTreeSet<String> {
    let area = match model.layers.last() {
        Some(_) => layout::overlay(model),
        None => layout::frame(model)[1],
    };
    let mut all = BTreeSet::new();
    let mut before = String::new();
    for _ in 0..200 {
        let screen = seen_in(area, model, session);
        if screen == before {
            break;
        }
        let is_word = |c: char| c.is_alphanumeric();
        let words = screen.split(|c| !is_word(c)).filter(|word| word.len() > 2);
        all.extend(words.map(str::to_owned));
        before = screen;
        press(model, session, key);
    }
    all
}

#[test]
fn at_80_by_24_tab_reaches_every_pane() {
    let (tale, _) = Tale::restoring(ProgressKind::Exact);
    let mut model = watching(&tale);
    let titles = [
        (Pane::Plan, "Plan"),
        (Pane::Steps, "repetition 2"),
        (Pane::Log, "Log"),
        (Pane::Medians, "Medians"),
        (Pane::Bytes, "Bytes"),
    ];
    let mut reached = Vec::new();
    for _ in titles {
        press(&mut model, &tale.session, "<tab>");
        let pane = model.watching.pane;
        let title = titles.iter().find(|(known, _)| *known == pane).unwrap().1;
        let screen = seen(&model, &tale.session);
        assert!(screen.contains(title), "{pane:?}:\n{screen}");
        reached.push(pane);
        // Alone, there is room for more of it.
        press(&mut model, &tale.session, "z");
        assert!(
            seen(&model, &tale.session).contains(title),
            "{pane:?} alone"
        );
        press(&mut model, &tale.session, "z");
    }
    assert!(
        Pane::ALL.iter().all(|pane| reached.contains(pane)),
        "{reached:?}"
    );

    let (mut model, session) = picking();
    let mut reached = vec![model.picking.pane];
    loop {
        press(&mut model, &session, "<tab>");
        let screen = seen(&model, &session);
        assert!(screen.contains("guest-archive"), "{screen}");
        if model.picking.pane == reached[0] {
            break;
        }
        reached.push(model.picking.pane);
    }
    for pane in [PickPane::Hosts, PickPane::Methods, PickPane::Preview] {
        assert!(reached.contains(&pane), "{reached:?}");
    }
}

#[test]
fn at_80_by_24_every_screen_and_layer_is_reached() {
    let tale = Tale::failed();
    let mut model = watching(&tale);
    for (keys, shows) in [
        ("?", "Keys"),
        ("<esc>!", "Warnings and remarks"),
        ("<esc>/", "/"),
        ("<esc>c", "restore"),
        ("c", "Log"),
    ] {
        press(&mut model, &tale.session, keys);
        let screen = seen(&model, &tale.session);
        assert!(screen.contains(shows), "{keys}:\n{screen}");
    }
    let shelf = Shelf::default();
    press(&mut model, &tale.session, "<c-t>");
    let (all, wrong) = shelf.all();
    let wish = super::super::message::ThemeWish::List;
    update(&mut model, &tale.session, Message::Themes(wish, all, wrong));
    assert!(seen(&model, &tale.session).contains("Themes"));

    let (mut model, session) = picking();
    press(&mut model, &session, "e");
    assert!(seen(&model, &session).contains("Settings of"));
    press(&mut model, &session, "<esc>/");
    assert!(matches!(model.layers.last(), Some(Layer::Entry(_))));
}

#[test]
fn at_80_by_24_scrolling_shows_what_a_high_terminal_shows() {
    let tale = Tale::failed();
    for keys in ["?", "!", "c"] {
        let mut model = watching(&tale);
        press(&mut model, &tale.session, keys);
        let mut high = model.clone();
        high.size = (80, 300);
        let all = words(&mut high, &tale.session, "j");
        let scrolled = words(&mut model, &tale.session, "j");
        let missing: Vec<_> = all.difference(&scrolled).collect();
        assert!(missing.is_empty(), "{keys}: {missing:?}");
    }
}

#[test]
fn what_is_too_small_is_told_what_it_takes() {
    let tale = Tale::finished();
    let mut model = watching(&tale);
    for size in [(39, 10), (40, 9), (20, 5), (200, 3), (10, 60)] {
        model.size = size;
        let screen = seen(&model, &tale.session);
        assert!(screen.contains("comeback"), "{size:?}: {screen}");
        assert!(!screen.contains('╭'), "{size:?}: {screen}");
    }
    model.size = layout::LEAST;
    assert!(seen(&model, &tale.session).contains('╭'));
}

/// What names and logs may have in them: what is wide, what has no width, what joins, what turns
/// the direction, and what a terminal would obey.
const PIECES: [&str; 34] = [
    "a",
    "b c",
    "  ",
    "漢",
    "字",
    "한글",
    "ｱ",
    "\u{ff76}\u{ff9e}",
    "e\u{301}",
    "a\u{301}\u{301}\u{301}",
    "क्षि",
    "ก็",
    "\u{1112}\u{1161}\u{11ab}",
    "\u{115f}",
    "\u{3164}",
    "\u{200b}",
    "\u{200d}",
    "\u{feff}",
    "\u{ad}",
    "\u{202e}",
    "\u{2066}",
    "\u{200f}",
    "\u{61c}",
    "שלום",
    "سلام",
    "👩\u{200d}🔧",
    "🇩🇪",
    "☺\u{fe0f}",
    "\u{1b}[2J",
    "\u{1b}]0;x\u{7}",
    "\u{9b}31m",
    "\t",
    "\u{0}",
    "﷽",
];

fn hard() -> impl Strategy<Value = String> {
    proptest::collection::vec(proptest::sample::select(&PIECES[..]), 0..40)
        .prop_map(|all| all.concat())
}

/// Every frame that begins is whole: its sides run straight down to its corners.
fn frames_are_whole(buffer: &Buffer) -> Result<(), TestCaseError> {
    let symbol = |x, y| buffer.cell((x, y)).map_or("", Cell::symbol);
    for position in buffer.area.positions() {
        let (left, top) = (position.x, position.y);
        if symbol(left, top) != "╭" {
            continue;
        }
        let right = (left..buffer.area.right()).find(|x| symbol(*x, top) == "╮");
        let bottom = (top..buffer.area.bottom()).find(|y| symbol(left, *y) == "╰");
        let (Some(right), Some(bottom)) = (right, bottom) else {
            return Err(TestCaseError::fail(format!(
                "{left} {top}:\n{}",
                text(buffer)
            )));
        };
        prop_assert_eq!(symbol(right, bottom), "╯", "{}", text(buffer));
        for y in top + 1..bottom {
            prop_assert_eq!(symbol(left, y), "│", "{} {}:\n{}", left, y, text(buffer));
            prop_assert_eq!(symbol(right, y), "│", "{} {}:\n{}", right, y, text(buffer));
        }
    }
    Ok(())
}

/// A session in which everything that a host or an operator says is hard to show.
fn tale(says: &[String]) -> Tale {
    let (mut tale, step) = Tale::restoring(ProgressKind::Estimated);
    let says = |at: usize| says[at % says.len()].as_str();
    tale.host(&format!("h{}", says(0)), HostState::Down, Some(says(1)));
    tale.note(Level::Warning, says(2));
    tale.print(
        &step,
        Stream::Out,
        &format!("{}\n{}\r{}\n", says(3), says(4), says(5)),
    );
    tale.print(&step, Stream::Err, says(6));
    tale.sample(&RunId("r5".into()), says(7), 3.0, "s", 0.1);
    tale.done(&step, EndState::Failed, 41.0, 1.0, Some(says(1)));
    tale.end(&RunId("r5".into()), EndState::Failed, Some(says(2)));
    tale
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn texts_that_are_hard_to_show_move_no_frame(
        says in proptest::collection::vec(hard(), 1..8), size in (40_u16..210, 10_u16..64),
        pane in 0_usize..5, zoom: bool, wrap: bool, left in 0_usize..60,
    ) {
        let tale = tale(&says);
        let mut model = watching(&tale);
        model.watching.pane = Pane::ALL[pane];
        model.watching.zoom = zoom;
        model.watching.log.wrap = wrap;
        model.watching.log.left = left;
        for screen in [Screen::Watching, Screen::Comparing, Screen::Projecting] {
            model.screen = screen;
            let buffer = draw(&model, &tale.session, size, "nord");
            check(&buffer, "nord");
            frames_are_whole(&buffer)?;
        }
    }

    #[test]
    fn names_that_are_hard_to_show_move_no_frame(
        says in proptest::collection::vec(hard(), 4..8), size in (40_u16..210, 10_u16..64), pane in 0_usize..3,
    ) {
        let mut offer = offer();
        for (at, method) in offer.methods.iter_mut().enumerate() {
            method.name += &says[at % says.len()];
            method.title += &says[(at + 1) % says.len()];
            method.subject += &says[(at + 2) % says.len()];
        }
        for host in &mut offer.hosts {
            host.facts += &says[3];
        }
        let (mut model, session) = picking();
        update(&mut model, &session, Message::Offer(Box::new(offer)));
        model.picking.pane = [PickPane::Hosts, PickPane::Methods, PickPane::Preview][pane];
        let buffer = draw(&model, &session, size, "nord");
        check(&buffer, "nord");
        frames_are_whole(&buffer)?;
    }

    #[test]
    fn a_layer_over_texts_that_are_hard_to_show_is_whole(
        says in proptest::collection::vec(hard(), 1..8), size in (40_u16..210, 10_u16..64), layer in 0_usize..4,
    ) {
        let tale = tale(&says);
        let mut model = watching(&tale);
        model.size = size;
        match layer {
            0 => press(&mut model, &tale.session, "?"),
            1 => press(&mut model, &tale.session, "!"),
            2 => update(&mut model, &tale.session, Message::Trouble(says.concat())),
            _ => {
                let question = Question {
                    title: says[0].clone(),
                    lines: says.clone(),
                    kind: QuestionKind::Text,
                };
                update(&mut model, &tale.session, Message::Ask("a1".into(), question))
            }
        };
        let buffer = draw(&model, &tale.session, size, "nord");
        check(&buffer, "nord");
        // The last frame that begins in the buffer's order and reaches over others is the layer's.
        let area = layout::overlay(&model);
        let rows = (area.top()..area.bottom()).filter(|_| layer < 2);
        for y in rows {
            for x in [area.left(), area.right() - 1] {
                let symbol = buffer.cell((x, y)).map_or("", Cell::symbol);
                prop_assert!("╭╮╰╯│".contains(symbol), "{} {}: {:?}\n{}", x, y, symbol, text(&buffer));
            }
        }
    }

    #[test]
    fn a_storm_of_sizes_leaves_the_last_one(sizes in proptest::collection::vec((0_u16..300, 0_u16..100), 1..12)) {
        let (tale, _) = Tale::restoring(ProgressKind::Exact);
        let mut model = watching(&tale);
        for (columns, rows) in sizes {
            update(&mut model, &tale.session, Message::Resize(columns, rows));
            press(&mut model, &tale.session, "<tab>jz");
        }
        update(&mut model, &tale.session, Message::Resize(120, 40));
        let buffer = draw(&model, &tale.session, (120, 40), "nord");
        check(&buffer, "nord");
        frames_are_whole(&buffer)?;
    }
}
