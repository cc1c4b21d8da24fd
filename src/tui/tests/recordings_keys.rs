//! The list of recordings: keys, and what is seen.

use std::path::PathBuf;

use super::super::message::{Effect, Found, Message, ReplayState};
use super::super::model::{Model, Screen};
use super::super::update;
use super::fixture::Tale;
use super::press::press;
use super::snapshot::{assert_screens, draw, model, text};
use crate::event::{End, Event, ProgressKind, What, to_line};
use crate::recording::Summary;
use crate::session::Session;

fn folder() -> PathBuf {
    PathBuf::from("/home/ann/.local/share/comeback/recordings")
}

/// The summary of a file of these events, as if it stood in that folder.
fn summary(name: &str, text: &str) -> Summary {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    std::fs::write(&path, text).unwrap();
    let mut summary = Summary::read(&path);
    summary.path = self::folder().join(name);
    summary
}

fn lines(events: &[Event], days: i64) -> String {
    let mut events = events.to_vec();
    if let Some(What::Header(header)) = events.first_mut().map(|event| &mut event.what) {
        header.started += chrono::Duration::days(days);
    }
    let lines = events.iter().map(|event| to_line(event).unwrap() + "\n");
    lines.collect()
}

fn summaries() -> Vec<Summary> {
    let mut whole = Tale::finished();
    whole.tell(What::End(End {
        exit: 0,
        reason: "9 of 9 runs done and verified".into(),
    }));
    let mut failed = Tale::failed();
    failed.tell(What::End(End {
        exit: 1,
        reason: "3 of 9 runs done; run 4 failed: restore: exit status 255; 5 runs were not started"
            .into(),
    }));
    let (cut, _) = Tale::restoring(ProgressKind::Exact);
    vec![
        summary("2026-09-24-1.jsonl", &lines(&cut.told, 3)),
        summary("2026-09-23-1.jsonl", &lines(&failed.told, 2)),
        summary("2026-09-21-1.jsonl", &lines(&whole.told, 0)),
        summary("letter.jsonl", "dear Sir\n"),
    ]
}

/// Everything that may be found.
pub(super) fn news() -> Vec<Found> {
    let all = summaries();
    let files = all.iter().map(|summary| summary.path.clone());
    let mut news = vec![Found::Files(folder(), files.collect())];
    news.extend(all.into_iter().map(|one| Found::Read(Box::new(one))));
    news.push(Found::All);
    news
}

fn listed() -> Model {
    let (mut model, session) = (model(), Session::default());
    assert_eq!(press(&mut model, &session, "R"), [Effect::Recordings]);
    for found in news() {
        update(&mut model, &session, Message::Recordings(found));
    }
    model
}

fn shown(model: &Model) -> String {
    text(&draw(model, &Session::default(), (120, 40), "mono"))
}

#[test]
fn the_list_says_what_was_compared_and_what_came_out() {
    let model = listed();
    assert_screens("recordings", &model, &Session::default());
    let shown = shown(&model);
    for word in [
        "2026-09-24",
        "hv1",
        "guest-archive",
        "9 of 9 runs done and verified",
        "cut: ",
    ] {
        assert!(shown.contains(word), "{word} in\n{shown}");
    }
}

#[test]
fn the_list_can_be_used_before_anything_is_read() {
    let (mut model, session) = (model(), Session::default());
    press(&mut model, &session, "R");
    assert!(shown(&model).contains("Looking through the folder"));
    let mut news = news().into_iter();
    update(
        &mut model,
        &session,
        Message::Recordings(news.next().unwrap()),
    );
    assert!(shown(&model).contains("reading 0 of 4"));
    press(&mut model, &session, "j");
    for found in news {
        update(&mut model, &session, Message::Recordings(found));
    }
    // The cursor is where it was, on the same file.
    let effects = press(&mut model, &session, "<enter>");
    assert_eq!(effects, [Effect::Open(folder().join("2026-09-23-1.jsonl"))]);
}

#[test]
fn at_the_top_the_cursor_stays_with_the_newest() {
    let (mut model, session) = (model(), Session::default());
    press(&mut model, &session, "R");
    for found in news() {
        // As a folder may be read.
        let found = match found {
            Found::Files(folder, mut files) => {
                files.reverse();
                Found::Files(folder, files)
            }
            other => other,
        };
        update(&mut model, &session, Message::Recordings(found));
    }
    let effects = press(&mut model, &session, "<enter>");
    assert_eq!(effects, [Effect::Open(folder().join("2026-09-24-1.jsonl"))]);
}

#[test]
fn it_is_filtered_and_all_are_shown_again() {
    let mut model = listed();
    let session = Session::default();
    press(&mut model, &session, "G/VERIFIED<enter>");
    assert!(
        shown(&model).contains("1 of 4 with “VERIFIED”"),
        "{}",
        shown(&model)
    );
    assert!(shown(&model).contains("Esc all"));
    let effects = press(&mut model, &session, "<enter>");
    assert_eq!(effects, [Effect::Open(folder().join("2026-09-21-1.jsonl"))]);
    press(&mut model, &session, "<esc>");
    assert!(shown(&model).contains("4 recordings"));
    press(&mut model, &session, "/nothing like it<enter>");
    assert!(shown(&model).contains("No recording has that text"));
    assert!(press(&mut model, &session, "<enter>d").is_empty() && model.layers.is_empty());
}

#[test]
fn deleting_asks_and_the_default_keeps() {
    let mut model = listed();
    let session = Session::default();
    let path = folder().join("2026-09-24-1.jsonl");
    assert!(press(&mut model, &session, "d<enter>").is_empty());
    assert!(press(&mut model, &session, "d<esc>").is_empty());
    press(&mut model, &session, "d");
    assert_screens("recordings-delete", &model, &session);
    assert!(shown(&model).contains("/home/ann/.local/share/comeback/recordings/2026-09-24"));
    assert_eq!(
        press(&mut model, &session, "<right><enter>"),
        [Effect::Delete(path.clone())]
    );
    assert!(
        shown(&model).contains("2026-09-24-1.jsonl"),
        "only what is gone is gone"
    );
    update(
        &mut model,
        &session,
        Message::Recordings(Found::Deleted(path)),
    );
    assert!(shown(&model).contains("2026-09-24-1.jsonl is deleted."));
    assert!(shown(&model).contains("3 recordings"));
}

#[test]
fn one_comes_back_to_where_one_was() {
    let session = Session::default();
    let mut model = listed();
    let state = ReplayState {
        opened: 1,
        ..super::replay_keys::replay()
    };
    update(&mut model, &session, Message::Replay(state.clone()));
    assert_eq!(model.screen, Screen::Watching);
    assert_eq!(press(&mut model, &session, "R"), [Effect::Recordings]);
    assert_eq!(press(&mut model, &session, "<esc>"), [Effect::CloseReplay]);
    assert_eq!(model.screen, Screen::Picking);
    update(&mut model, &session, Message::ReplayClosed);
    assert!(model.replay.is_none());

    // Where the replay was all there was, there is nothing behind it but the replay.
    let mut model = super::snapshot::model();
    update(&mut model, &session, Message::Replay(state));
    press(&mut model, &session, "R");
    assert_eq!(model.screen, Screen::Recordings);
    assert!(press(&mut model, &session, "R").is_empty());
    assert_eq!(model.screen, Screen::Watching);
}

#[test]
fn a_run_that_goes_on_is_not_disturbed() {
    let (tale, _) = Tale::restoring(ProgressKind::Exact);
    let mut model = model();
    model.screen = Screen::Watching;
    assert!(press(&mut model, &tale.session, "R").is_empty());
    assert_eq!(model.screen, Screen::Watching);
    assert!(model.say.as_ref().unwrap().starts_with("A run goes on"));
    model.picking.starting = true;
    model.screen = Screen::Picking;
    assert!(press(&mut model, &Session::default(), "R").is_empty());
}

#[test]
fn a_folder_that_cannot_be_read_is_said() {
    let (mut model, session) = (model(), Session::default());
    press(&mut model, &session, "R");
    let found = Found::Files(folder(), Vec::new());
    update(&mut model, &session, Message::Recordings(found));
    update(&mut model, &session, Message::Recordings(Found::All));
    assert!(shown(&model).contains("every run writes one"));
    let found = Found::Trouble("/home/ann cannot be read: permission denied".into());
    update(&mut model, &session, Message::Recordings(found));
    assert!(shown(&model).contains("permission denied"));
    assert!(press(&mut model, &session, "<enter>d/x<enter>").is_empty());
}

#[test]
fn what_only_tells_that_deleting_failed_has_one_way_out() {
    let mut model = listed();
    let session = Session::default();
    press(&mut model, &session, "d");
    let bar = |model: &Model| {
        let all = text(&draw(model, &session, (80, 24), "mono"));
        all.lines().last().unwrap().trim_end().to_owned()
    };
    model.size = (80, 24);
    assert_eq!(bar(&model), " Enter keep it   Right choose   Esc cancel");
    press(&mut model, &session, "<esc>");
    let why = "a.jsonl: it is being written".to_owned();
    update(&mut model, &session, Message::Trouble(why));
    assert_eq!(bar(&model), " Enter close");
    press(&mut model, &session, "<enter>");
    assert!(model.layers.is_empty());
}
