//! Whatever comes, in whatever order, on whatever terminal: nothing panics.

use std::time::Duration;

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use proptest::prelude::*;
use ratatui::Terminal;
use ratatui::backend::TestBackend;

use super::super::keys::KEYS;
use super::super::message::{Message, ReplayState};
use super::super::model::{Model, Pane, PickPane, Screen};
use super::super::offer::{Offer, SubjectOffer};
use super::super::{update, view};
use super::fixture::Tale;
use super::offers::offer;
use super::snapshot::model;
use crate::event::{Level, Nanos, ProgressKind, Question, QuestionKind, Stream};
use crate::session::Session;

fn show(model: &Model, session: &Session, size: (u16, u16)) {
    let mut terminal = Terminal::new(TestBackend::new(size.0, size.1)).unwrap();
    terminal.draw(|frame| view(model, session, frame)).unwrap();
}

/// A session with names and lines that are hard to show.
pub(super) fn awkward() -> Tale {
    let (mut tale, step) = Tale::restoring(ProgressKind::Estimated);
    tale.host(
        "漢字の名前の長いホスト",
        crate::event::HostState::Down,
        Some("e\u{301}\u{1b}[2J no route"),
    );
    tale.note(
        Level::Warning,
        "\u{202e}漢字 \t tab and a very long text "
            .repeat(9)
            .as_str(),
    );
    tale.print(
        &step,
        Stream::Out,
        &"漢字 e\u{301} 👩\u{200d}🔧 ".repeat(300),
    );
    tale.print(&step, Stream::Err, "\r\n\n\u{1b}]0;title\u{7}x\n");
    tale
}

/// What can be picked, with names that are hard to show.
pub(super) fn awkward_offer() -> Offer {
    let mut offer = offer();
    let host = "漢字の名前の長いホスト.example.org";
    offer.hosts[0].name = host.into();
    offer.hosts[0].doing = Some((
        "e\u{301} jump host 漢: host key".into(),
        Duration::from_secs(75),
    ));
    for what in [
        "dir:/srv/漢字/とても長い名前のフォルダー/e\u{301}nd",
        "dir:/\u{202e}a\u{1b}[2J b",
    ] {
        offer.hosts[0].subjects.push(SubjectOffer {
            spec: what.parse().unwrap(),
            marked: what.contains("nd"),
            about: "漢字 ".repeat(20),
        });
    }
    for method in &mut offer.methods {
        if method.host == "hv1" {
            method.host = host.into();
        }
    }
    offer.methods[0].settings[0].value = "値段の長い値".repeat(9);
    offer.methods[2].runnable = Err("e\u{301}\u{1b}]0;x\u{7} 漢字 ".repeat(30));
    offer
}

fn key() -> impl Strategy<Value = Message> {
    let known: Vec<KeyEvent> = KEYS
        .iter()
        .flat_map(|bind| bind.keys)
        .map(|chord| {
            let modifiers = if chord.ctrl {
                KeyModifiers::CONTROL
            } else {
                KeyModifiers::NONE
            };
            KeyEvent::new(chord.code, modifiers)
        })
        .collect();
    prop_oneof![
        4 => proptest::sample::select(known),
        1 => any::<char>().prop_map(|c| KeyEvent::new(KeyCode::Char(c), KeyModifiers::NONE)),
    ]
    .prop_map(Message::Key)
}

fn message() -> impl Strategy<Value = Message> {
    let question = (0_usize..4).prop_map(|kind| {
        let kind = match kind {
            0 => QuestionKind::YesNo {
                yes: "trust it".into(),
            },
            1 => QuestionKind::Name("web".into()),
            2 => QuestionKind::Text,
            _ => QuestionKind::Secret,
        };
        let question = Question {
            title: "漢字?".into(),
            lines: vec!["x".repeat(300)],
            kind,
        };
        Message::Ask("a1".into(), question)
    });
    prop_oneof![
        12 => key(),
        1 => ".{0,30}".prop_map(Message::Paste),
        1 => (0_u16..250, 0_u16..80).prop_map(|(w, h)| Message::Resize(w, h)),
        1 => any::<u64>().prop_map(|t| Message::Changed(Nanos(t))),
        1 => any::<u64>().prop_map(|t| Message::Tick(Nanos(t))),
        1 => (0_u64..4).prop_map(|revision| {
            let mut offer = offer();
            offer.revision = revision;
            offer.methods.truncate(revision as usize + 1);
            Message::Offer(Box::new(offer))
        }),
        1 => question,
        1 => Just(Message::Settled("a1".into())),
        1 => Just(Message::Began),
        1 => ".{0,200}".prop_map(Message::Trouble),
        1 => ".{0,200}".prop_map(Message::Say),
        1 => any::<(u64, u64, bool)>().prop_map(|(at, length, paused)| Message::Replay(ReplayState {
            name: "x".into(), at: Nanos(at), length: Nanos(length), speed: 2.0, paused,
            ..super::replay_keys::replay()
        })),
        1 => Just(Message::ReplayClosed),
        1 => proptest::sample::select(super::recordings_keys::news()).prop_map(Message::Recordings),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn every_size_is_drawn(width in 0_u16..250, height in 0_u16..80, screen in 0_usize..5, replay: bool, pane in 0_usize..5, zoom: bool, wrap: bool, left in 0_usize..300) {
        let tale = awkward();
        let mut model = model();
        model.size = (width, height);
        update(&mut model, &tale.session, Message::Offer(Box::new(awkward_offer())));
        if replay {
            update(&mut model, &tale.session, Message::Replay(super::replay_keys::replay()));
        }
        for found in super::recordings_keys::news() {
            update(&mut model, &tale.session, Message::Recordings(found));
        }
        model.picking.pane = [PickPane::Hosts, PickPane::Subject, PickPane::Methods, PickPane::Preview][pane % 4];
        model.screen = [Screen::Picking, Screen::Watching, Screen::Comparing, Screen::Recordings, Screen::Projecting][screen];
        model.watching.pane = Pane::ALL[pane];
        model.watching.zoom = zoom;
        model.watching.log.wrap = wrap;
        model.watching.log.left = left;
        show(&model, &tale.session, (width, height));
        // A terminal that has changed its size before its message came.
        show(&model, &tale.session, (height, width));
    }

    #[test]
    fn any_messages_are_taken(messages in proptest::collection::vec(message(), 1..60), size in (0_u16..250, 0_u16..80), session in 0_usize..4) {
        let session = [Session::default(), awkward().session, Tale::failed().session, Tale::finished().session].into_iter().nth(session).unwrap();
        let mut model = model();
        model.size = size;
        for message in messages {
            update(&mut model, &session, message);
        }
        show(&model, &session, model.size);
    }
}

/// Not a test of how fast a machine is, only that a frame does not look at everything.
#[test]
#[ignore = "to be looked at: prints how long a frame takes"]
fn a_frame_of_a_long_session() {
    let (mut tale, step) = Tale::restoring(ProgressKind::Exact);
    for line in 0..400_000 {
        tale.print(
            &step,
            Stream::Out,
            &format!("line {line} of a very long log, with more than a few words in it\n"),
        );
    }
    for n in 0..3000 {
        tale.sample(
            &"r5".into(),
            &format!("figure {}", n % 9),
            f64::from(n),
            "s",
            1.0,
        );
    }
    let mut model = model();
    model.screen = Screen::Watching;
    for size in [(80, 24), (200, 60)] {
        model.size = size;
        let begin = std::time::Instant::now();
        for _ in 0..50 {
            show(&model, &tale.session, size);
        }
        println!("{size:?}: {:?}", begin.elapsed() / 50);
    }
    let begin = std::time::Instant::now();
    for _ in 0..50 {
        std::hint::black_box(crate::session::Tally::of(&tale.session));
    }
    println!("tally: {:?}", begin.elapsed() / 50);
    let begin = std::time::Instant::now();
    super::press::press(&mut model, &tale.session, "/nowhere to be found<enter>");
    println!("search: {:?}", begin.elapsed());
}
