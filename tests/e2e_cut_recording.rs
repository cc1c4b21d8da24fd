//! A recording that was cut anywhere: a report with a warning, or one clear sentence.
#![cfg(test)]

#[path = "support/events.rs"]
mod events;
#[path = "support/world.rs"]
mod world;

use std::fs;
use std::io::Write;
use std::process::Stdio;
use std::thread;

use world::{Ended, World, ended};

/// `head -c N r.jsonl | comeback report /dev/stdin`
fn report(world: &World, bytes: &[u8]) -> Ended {
    let mut child = world
        .command(&["report", "/dev/stdin"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // It may have said what is wrong before it has read everything.
    let _ = child.stdin.take().unwrap().write_all(bytes);
    ended(&child.wait_with_output().unwrap())
}

/// What must hold for any cut; gives whether there was a report.
fn check(world: &World, whole: &[u8], at: usize) -> bool {
    let ended = report(world, &whole[..at]);
    match ended.code {
        0 => {
            assert!(!ended.out.trim().is_empty(), "{at} bytes: no report");
            let warned = ended.err.contains("cut") || ended.err.contains("ends early");
            assert_eq!(warned, at < whole.len() - 1, "{at} bytes: {}", ended.err);
            true
        }
        2 => {
            assert_eq!(ended.out, "", "{at} bytes");
            let sentence = ended.sentence();
            assert!(sentence.contains("/dev/stdin"), "{at} bytes: {sentence}");
            false
        }
        code => panic!("{at} bytes: exit {code}, {}", ended.err),
    }
}

#[test]
fn a_report_of_any_beginning_warns_or_says_what_is_wrong() {
    let world = World::new();
    let (run, _) = world.session("r.jsonl", &["--method", "files-tar", "--reps", "1"]);
    run.assert_good();
    let whole = fs::read(world.path("r.jsonl")).unwrap();
    let header = whole.iter().position(|byte| *byte == b'\n').unwrap();
    let cuts: Vec<usize> = (0..whole.len())
        .step_by(97)
        .chain(whole.len() - 300..=whole.len())
        .chain(header.saturating_sub(2)..header + 3)
        .collect();
    // Two at a time: each is a process of its own.
    let (one, other) = cuts.split_at(cuts.len() / 2);
    thread::scope(|scope| {
        for half in [one, other] {
            scope.spawn(|| {
                for at in half.iter().copied() {
                    let reported = check(&world, &whole, at);
                    assert!(!reported || at >= header, "{at} bytes");
                    assert!(reported || at <= header, "{at} bytes");
                }
            });
        }
    });
}

#[test]
fn a_broken_line_in_the_middle_is_named() {
    let world = World::new();
    let (run, _) = world.session("r.jsonl", &["--method", "files-tar", "--reps", "1"]);
    run.assert_good();
    let text = fs::read_to_string(world.path("r.jsonl")).unwrap();
    let mut lines: Vec<&str> = text.lines().collect();
    lines[7] = "{\"seq\":7,\"t\":";
    fs::write(world.path("broken.jsonl"), lines.join("\n") + "\n").unwrap();
    for command in ["report", "recover"] {
        world
            .run(&[command, "broken.jsonl"])
            .assert_refused(2, &["broken.jsonl", "line 8"]);
    }
}

#[test]
fn another_major_version_is_refused_and_a_later_minor_one_is_read() {
    let world = World::new();
    let (run, _) = world.session("r.jsonl", &["--method", "files-tar", "--reps", "1"]);
    run.assert_good();
    let text = fs::read_to_string(world.path("r.jsonl")).unwrap();
    let as_version = |version: &str| {
        let text = text.replacen("comeback-recording/1", version, 1);
        fs::write(world.path("other.jsonl"), text).unwrap();
    };
    as_version("comeback-recording/2");
    for arguments in [
        &["report", "other.jsonl"][..],
        &["recover", "other.jsonl"],
        &["replay", "--plain", "other.jsonl"],
    ] {
        world.run(arguments).assert_refused(
            2,
            &[
                "other.jsonl",
                "comeback-recording/2",
                "comeback-recording/1",
            ],
        );
    }
    as_version("comeback-recording/1.7");
    let read = world.run(&["report", "other.jsonl"]);
    read.assert_good();
    assert!(read.err.contains("later version"), "{}", read.err);
}

#[test]
fn what_is_no_recording_is_named() {
    let world = World::new();
    fs::write(world.path("empty"), "").unwrap();
    fs::write(world.path("text"), "hello\nworld\n").unwrap();
    fs::write(world.path("json"), "{\"seq\":0,\"t\":0,\"ev\":\"note\"}\n").unwrap();
    fs::write(world.path("binary"), [0, 159, 146, 150, b'\n', 255]).unwrap();
    for file in ["empty", "text", "json", "binary", "absent", "home"] {
        for arguments in [
            &["report", file][..],
            &["recover", file],
            &["replay", "--plain", file],
        ] {
            world.run(arguments).assert_refused(2, &[file]);
        }
    }
}
