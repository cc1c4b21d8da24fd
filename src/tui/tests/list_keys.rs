//! The keys of lists, logs and texts work in every one of them.

use super::super::message::{Message, ThemeWish};
use super::super::model::{Model, Screen};
use super::super::theme::Shelf;
use super::super::update;
use super::figures::ways;
use super::fixture::Tale;
use super::offers::offer;
use super::press::press;
use super::recordings_keys::news;
use super::replay_keys::replay;
use super::snapshot::{draw, model, styles, text};
use crate::event::{Level, ProgressKind, Stream};
use crate::session::Session;

/// Little room, so that there is more than is seen.
const SIZE: (u16, u16) = (60, 12);

fn seen(model: &Model, session: &Session) -> String {
    let screen = draw(model, session, SIZE, "default");
    text(&screen) + &styles(&screen)
}

/// From the first to the last and back, at once and by pages.
fn is_gone_through(name: &str, model: &mut Model, session: &Session) {
    press(model, session, "<home>");
    let first = seen(model, session);
    press(model, session, "<end>");
    let last = seen(model, session);
    assert_ne!(first, last, "{name}: End\n{first}");
    press(model, session, "<home>");
    assert_eq!(seen(model, session), first, "{name}: Home");
    press(model, session, "<pgdn>");
    let second = seen(model, session);
    assert_ne!(second, first, "{name}: PgDn");
    press(model, session, "<pgup>");
    assert_eq!(seen(model, session), first, "{name}: PgUp");
    press(model, session, "G");
    assert_eq!(seen(model, session), last, "{name}: G");
    press(model, session, "g");
    assert_eq!(seen(model, session), first, "{name}: g");
}

fn small() -> Model {
    Model {
        size: SIZE,
        ..model()
    }
}

#[test]
fn while_picking() {
    let session = Session::default();
    let mut model = small();
    update(&mut model, &session, Message::Offer(Box::new(offer())));
    for (name, keys) in [
        ("methods", ""),
        ("what will run", "<space><tab>"),
        ("hosts", "<tab>"),
        ("subjects", "<tab>"),
    ] {
        press(&mut model, &session, keys);
        is_gone_through(name, &mut model, &session);
    }
    press(&mut model, &session, "<tab>e");
    is_gone_through("settings", &mut model, &session);
}

#[test]
fn while_watching() {
    let (mut tale, step) = Tale::restoring(ProgressKind::Exact);
    for line in 0..40 {
        tale.print(&step, Stream::Out, &format!("line {line}\n"));
        tale.note(Level::Warning, &format!("warning {line}"));
    }
    let session = &tale.session;
    let mut model = small();
    model.screen = Screen::Watching;
    model.now = tale.now();
    is_gone_through("log", &mut model, session);
    press(&mut model, session, "f<enter>");
    is_gone_through("log of a step", &mut model, session);
    press(&mut model, session, "y");
    is_gone_through("copying", &mut model, session);
    press(&mut model, session, "<esc><esc>");
    for (name, keys) in [
        ("medians", "<tab>"),
        ("bytes", "<tab>"),
        ("plan", "<tab>"),
        ("steps", "<tab>"),
    ] {
        press(&mut model, session, keys);
        is_gone_through(name, &mut model, session);
    }
    press(&mut model, session, "?");
    is_gone_through("help", &mut model, session);
    press(&mut model, session, "<esc>!");
    is_gone_through("notes", &mut model, session);
    press(&mut model, session, "<esc>");
    let (all, wrong) = Shelf {
        has_color: true,
        ..Shelf::default()
    }
    .all();
    update(
        &mut model,
        session,
        Message::Themes(ThemeWish::List, all, wrong),
    );
    is_gone_through("themes", &mut model, session);
}

#[test]
fn afterwards() {
    let session = ways(6, 4).session();
    let mut model = small();
    model.screen = Screen::Watching;
    press(&mut model, &session, "c");
    is_gone_through("comparison", &mut model, &session);
    let (tale, _) = Tale::restoring(ProgressKind::Exact);
    let mut model = small();
    update(&mut model, &tale.session, Message::Replay(replay()));
    press(&mut model, &tale.session, "C");
    is_gone_through("chapters", &mut model, &tale.session);
    let mut model = small();
    press(&mut model, &session, "R");
    for found in news() {
        update(&mut model, &session, Message::Recordings(found));
    }
    is_gone_through("recordings", &mut model, &session);
}
