//! What is written reads back, and what is damaged is told.

use std::fs;
use std::path::PathBuf;

use proptest::prelude::*;

use super::*;
use crate::event::{Event, to_line};
use crate::recording::{MOST_LINE, Writer};
use crate::session::story::{Story, everything};
use crate::session::{Tally, compare};

fn write(folder: &tempfile::TempDir, events: &[Event]) -> PathBuf {
    let path = folder.path().join("a.jsonl");
    let writer = Writer::create(&path).unwrap();
    for event in events {
        writer.write(event);
    }
    writer.commit().unwrap();
    path
}

/// All that is shown of a session.
fn views(session: &Session) -> String {
    let tally = Tally::of(session);
    let verdicts = compare(&tally.rows);
    let mut log = Vec::new();
    for run in &session.runs {
        for step in &run.steps {
            for at in 0..session.log.len(&step.step) {
                log.extend(session.log.line(&step.step, at));
            }
        }
    }
    format!("{session:#?}\n{tally:#?}\n{verdicts:#?}\n{log:#?}")
}

fn read(bytes: &[u8]) -> Result<(Session, Vec<Warning>), String> {
    let mut reader = Reader::new("a.jsonl", bytes).map_err(|why| why.to_string())?;
    let mut session = Session::default();
    for event in reader.by_ref() {
        session.apply(&event.map_err(|why| why.to_string())?);
    }
    Ok((session, reader.warnings().to_vec()))
}

#[test]
fn live_equals_replay() {
    let story = everything();
    let folder = tempfile::tempdir().unwrap();
    let path = write(&folder, &story.events());
    let (replayed, warnings) = load(&path).unwrap();
    assert_eq!(warnings, []);
    assert_eq!(views(&replayed), views(&story.session()));
}

#[test]
fn every_event_reads_back_as_it_was() {
    let folder = tempfile::tempdir().unwrap();
    let events = everything().events();
    let path = write(&folder, &events);
    let back: Vec<Event> = Reader::open(&path).unwrap().map(Result::unwrap).collect();
    assert_eq!(back, events);
}

#[test]
fn a_file_cut_at_any_byte_is_read_or_refused_in_one_sentence() {
    let mut bytes = Vec::new();
    for event in everything().events() {
        bytes.extend_from_slice(to_line(&event).unwrap().as_bytes());
        bytes.push(b'\n');
    }
    let header = bytes.iter().position(|byte| *byte == b'\n').unwrap();
    for cut in 0..bytes.len() {
        let prefix = &bytes[..cut];
        match read(prefix) {
            Ok((session, warnings)) => {
                assert!(cut >= header, "{cut}");
                let whole_line = prefix.ends_with(b"\n") || bytes[cut] == b'\n';
                let cut_line = matches!(warnings[..], [Warning::Cut { .. }]);
                assert_eq!(cut_line, !whole_line, "{cut}: {warnings:?}");
                let last = bytes.len() - 1;
                let early = session.warnings();
                assert_eq!(
                    early.iter().any(|text| text.contains("ends early")),
                    cut < last,
                    "{cut}"
                );
            }
            Err(why) => {
                assert!(cut < header, "{cut}: {why}");
                assert!(why.starts_with("a.jsonl is no recording: it is "), "{why}");
                assert!(!why.contains('\n'));
            }
        }
    }
}

fn lines(story: &Story) -> Vec<String> {
    let events = story.events();
    events.iter().map(|event| to_line(event).unwrap()).collect()
}

fn error(lines: &[String]) -> String {
    read(lines.join("\n").as_bytes()).unwrap_err()
}

#[test]
fn a_broken_line_is_named_with_its_number() {
    let good = lines(&everything());
    for (broken, expected) in [
        ("{", "EOF"),
        ("[]", "expected"),
        ("\u{feff}{}", "expected"),
        (
            r#"{"seq":3,"t":1,"ev":"note","level":"odd","text":"x"}"#,
            "odd",
        ),
        (r#"{"seq":-3,"t":1,"ev":"act","act":"stop"}"#, "-3"),
        (r#"{"t":1,"ev":"act","act":"stop"}"#, "seq"),
    ] {
        let mut lines = good.clone();
        lines[2] = broken.to_owned();
        let why = error(&lines);
        assert!(why.starts_with("a.jsonl, line 3 is broken: "), "{why}");
        assert!(why.contains(expected), "{why}");
    }
    let mut bytes = good[..2].join("\n").into_bytes();
    bytes.extend_from_slice(b"\n\xff\xfe\n{}");
    assert_eq!(
        read(&bytes).unwrap_err(),
        "a.jsonl, line 3 is broken: it is not UTF-8 (invalid utf-8 sequence of 1 bytes from index 0)"
    );
}

#[test]
fn a_line_of_any_length_is_refused_without_being_kept() {
    let mut bytes = lines(&everything())[0].clone().into_bytes();
    bytes.push(b'\n');
    bytes.resize(bytes.len() + MOST_LINE + 1, b' ');
    bytes.push(b'\n');
    assert_eq!(
        read(&bytes).unwrap_err(),
        "a.jsonl, line 2 is broken: it is longer than 1048576 bytes"
    );
}

#[test]
fn a_file_that_is_no_recording_is_refused() {
    for (bytes, expected) in [
        (&b""[..], "it is empty"),
        (b"\n \n\t\n", "it is empty"),
        (b"hello\nworld\n", "its first line is no JSON object"),
        (b"\x7fELF\xff\xff\n", "its first line is not text"),
        (
            b"{\"seq\":0,\"t\":0,\"ev\":\"act\",\"act\":\"stop\"}\n",
            "its first line is another event",
        ),
        (
            b"{\"version\":2,\"width\":80}\n",
            "its first line is another event",
        ),
    ] {
        let why = read(bytes).unwrap_err();
        assert_eq!(
            why,
            format!(
                "a.jsonl is no recording: {expected}; \
                 expected a header with \"format\":\"comeback-recording/1\""
            )
        );
    }
    let missing = load(Path::new("/nowhere/a.jsonl")).unwrap_err().to_string();
    assert!(
        missing.starts_with("/nowhere/a.jsonl cannot be read: "),
        "{missing}"
    );
    let folder = tempfile::tempdir().unwrap();
    assert!(load(folder.path()).is_err());
}

#[test]
fn another_major_version_is_refused_and_a_later_minor_one_read() {
    let mut story = everything();
    story.header.format = "comeback-recording/2".into();
    assert_eq!(
        error(&lines(&story)),
        "a.jsonl has the format comeback-recording/2; \
         this program reads comeback-recording/1: use one that reads it"
    );
    // Not even its header has to be understood.
    let strange = r#"{"ev":"header","format":"comeback-recording/3"}"#.to_owned();
    assert!(error(&[strange]).contains("comeback-recording/3"));

    story.header.format = "comeback-recording/1.7".into();
    let mut all = lines(&story);
    all[2] = r#"{"seq":2,"t":1,"ev":"act","act":"rewind"}"#.to_owned();
    let (session, warnings) = read(all.join("\n").as_bytes()).unwrap();
    assert!(matches!(warnings[..], [Warning::Later { .. }]));
    assert_eq!(session.unknown.get("act"), Some(&1));
    assert!(session.end.is_some());
}

#[test]
fn blank_lines_are_skipped_and_either_line_end_is_taken() {
    let text = lines(&everything()).join("\r\n\r\n  \n");
    let (session, warnings) = read(text.as_bytes()).unwrap();
    assert_eq!(warnings, []);
    assert_eq!(views(&session), views(&everything().session()));
}

#[test]
fn missing_and_repeated_events_are_told() {
    let mut all = lines(&everything());
    let twice = all[4].clone();
    all.remove(6);
    all.push(twice);
    all.push(all[0].clone());
    let (_, warnings) = read(all.join("\n").as_bytes()).unwrap();
    let last = all.len() as u64;
    assert_eq!(
        warnings,
        [
            Warning::Missing { line: 7, events: 1 },
            Warning::Disorder {
                line: last - 1,
                seq: 4
            },
            Warning::Header { line: last },
            Warning::Disorder { line: last, seq: 0 },
        ]
    );
}

/// Gives its bytes one at a time, as a pipe may.
struct Trickle<'a>(&'a [u8]);

impl std::io::Read for Trickle<'_> {
    fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
        let Some((first, rest)) = self.0.split_first() else {
            return Ok(0);
        };
        into[0] = *first;
        self.0 = rest;
        Ok(1)
    }
}

#[test]
fn a_pipe_is_as_good_as_a_file() {
    let text = lines(&everything()).join("\n");
    let mut reader = Reader::new("pipe", Trickle(text.as_bytes())).unwrap();
    let events: Vec<Event> = reader.by_ref().map(Result::unwrap).collect();
    assert_eq!(events, everything().events());
    assert_eq!(reader.warnings(), []);
}

#[test]
fn a_recording_without_an_end_is_loaded_with_a_warning() {
    let mut story = everything();
    story.told.pop();
    let folder = tempfile::tempdir().unwrap();
    let path = write(&folder, &story.events());
    let mut text = fs::read_to_string(&path).unwrap();
    text.push_str("{\"seq\":99,\"t\"");
    fs::write(&path, text).unwrap();
    let (_, warnings) = load(&path).unwrap();
    assert!(matches!(
        warnings[..],
        [Warning::Cut { .. }, Warning::NoEnd]
    ));
}

proptest! {
    #[test]
    fn damage_of_any_kind_never_panics(
        at in any::<prop::sample::Index>(),
        junk in prop::collection::vec(any::<u8>(), 0..8),
        remove in 0_usize..40,
    ) {
        let mut bytes = lines(&everything()).join("\n").into_bytes();
        let at = at.index(bytes.len());
        let end = (at + remove).min(bytes.len());
        bytes.splice(at..end, junk);
        match read(&bytes) {
            Ok((session, _)) => prop_assert!(!views(&session).is_empty()),
            Err(why) => prop_assert!(why.starts_with("a.jsonl"), "{}", why),
        }
    }
}

/// Names of all fields in a value, and texts of the fields that name a kind.
fn words(value: &serde_json::Value, found: &mut std::collections::BTreeSet<String>) {
    match value {
        serde_json::Value::Array(all) => all.iter().for_each(|one| words(one, found)),
        serde_json::Value::Object(map) => {
            for (key, one) in map {
                found.insert(key.clone());
                // What stands under these is named by people, not by the format.
                if !["facts", "labels", "settings", "roles"].contains(&key.as_str()) {
                    words(one, found);
                }
                if let ("ev" | "state" | "end" | "act" | "level", Some(text)) =
                    (key.as_str(), one.as_str())
                {
                    found.insert(text.to_owned());
                }
            }
        }
        _ => {}
    }
}

#[test]
fn the_documentation_names_every_event_and_field() {
    let documented = include_str!("../../../docs/recording.md");
    let mut found = std::collections::BTreeSet::new();
    for event in everything().events() {
        if matches!(event.what, crate::event::What::Unknown(_)) {
            continue;
        }
        let line: serde_json::Value = serde_json::from_str(&to_line(&event).unwrap()).unwrap();
        words(&line, &mut found);
    }
    assert!(found.len() > 80, "{found:?}");
    let missing: Vec<&String> = found
        .iter()
        .filter(|word| !documented.contains(&format!("`{word}`")))
        .collect();
    assert!(missing.is_empty(), "{missing:?}");
}
