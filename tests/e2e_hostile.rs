//! Whatever a host prints costs bounded memory and a bounded file, and reaches no terminal.
#![cfg(test)]

#[path = "support/events.rs"]
mod events;
#[path = "support/going.rs"]
mod going;
#[path = "support/methods.rs"]
mod methods;
#[path = "support/processes.rs"]
mod processes;
#[path = "support/world.rs"]
mod world;

use std::fs;
use std::process::Stdio;

use going::wait_until;
use methods::{BACK, COPY, DESTROY, HEAD, step};
use world::{Ended, World};

const MIB: u64 = 1 << 20;

/// Runs a method with one more step, and measures the program: how it ended, its most memory,
/// the size of its recording.
fn run(world: &World, command: &str) -> (Ended, u64, u64) {
    let hostile = step("hostile", "account", command);
    world.method("hostile", &[HEAD, COPY, &hostile, DESTROY, BACK].concat());
    let arguments = world.arguments("r.jsonl", &["--method", "hostile", "--reps", "1"]);
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let mut child = world
        .command(&arguments)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut memory = 0;
    wait_until("it ends", || {
        memory = memory.max(processes::peak_memory(child.id()));
        child.try_wait().unwrap().is_some()
    });
    let ended = world::ended(&child.wait_with_output().unwrap());
    let size = fs::metadata(world.path("r.jsonl")).unwrap().len();
    (ended, memory, size)
}

/// Runs it to a good end within bounds.
fn bounded(command: &str) -> World {
    let world = World::new();
    let (ended, memory, size) = run(&world, command);
    assert_eq!(ended.code, 0, "{}", ended.err);
    assert!(
        memory > 0 && memory < 200 * MIB,
        "{} MiB of memory",
        memory / MIB
    );
    assert!(size < 130 * MIB, "a recording of {} MiB", size / MIB);
    world.assert_empty();
    let again = world.run(&["report", "r.jsonl"]);
    assert_eq!(again.assert_good().out, ended.out);
    world
}

/// Nothing in a text acts on a terminal.
fn assert_harmless(what: &str, text: &str) {
    let odd: Vec<char> = text
        .chars()
        .filter(|c| c.is_control() && *c != '\n')
        .collect();
    assert!(odd.is_empty(), "{what}: {odd:?}");
}

#[test]
fn one_line_of_100_mb() {
    let world = bounded("head -c 104857600 /dev/zero | tr '\\0' x");
    let recording = events::Recording::read(&world.path("r.jsonl"));
    let gap = recording
        .of("gap")
        .next()
        .expect("what is left out is told");
    assert!(gap["bytes"].as_u64().unwrap() > 30 * MIB, "{gap}");
}

#[test]
fn bytes_that_are_no_text() {
    bounded("head -c 10000000 /dev/urandom; head -c 1000000 /dev/urandom >&2");
}

#[test]
fn a_flood_of_short_lines() {
    bounded("timeout 2 yes 'a line of a flood that has no end' || :");
}

#[test]
fn what_a_child_says_after_the_end_is_bounded_and_ended() {
    let world = bounded("(sleep 0.2; exec yes late) & echo early");
    let recording = events::Recording::read(&world.path("r.jsonl"));
    assert!(recording.out_of("hostile").starts_with(b"early\n"));
    assert_eq!(processes::left_of(&recording.session()), [""; 0]);
}

#[test]
fn a_daemon_that_talks_on_holds_nothing_up() {
    let world = bounded(
        "setsid sh -c 'i=0; while [ $i -lt 100 ]; do echo late; sleep 0.05; i=$((i + 1)); done' & echo early",
    );
    let recording = events::Recording::read(&world.path("r.jsonl"));
    assert!(recording.out_of("hostile").starts_with(b"early\n"));
    let session = recording.session();
    wait_until("it has ended", || {
        processes::of_session(&session).is_empty()
    });
}

#[test]
fn escape_sequences_stay_in_the_recording() {
    let world = World::new();
    let text = "\\r\\b\\033[31mred\\033[2J\\033]0;title\\007\\033P1$r\\033\\\\ \\302\\233 5m \\302\\205 \\177 \\342\\200\\256 \\377\\376";
    let print = format!("printf '{text}\\n'; printf '{text}\\n' >&2; exit 3");
    let (ended, _, _) = run(&world, &print);
    assert_eq!(ended.code, 1, "{}", ended.err);
    assert!(
        ended.err.contains("red"),
        "the cause is shown: {}",
        ended.err
    );
    assert_harmless("stderr", &ended.err);
    assert_harmless("the table", &ended.out);
    for format in ["table", "markdown", "csv", "json"] {
        let report = world.run(&["report", "r.jsonl", "--format", format]);
        assert_harmless(format, &report.assert_good().out);
        assert_harmless(format, &report.err);
    }
    let replay = world.run(&["replay", "--plain", "r.jsonl"]);
    assert_harmless("replay --plain", &replay.assert_good().out);
    assert!(
        replay.out.contains("red"),
        "the log is not shown: {}",
        replay.out
    );
    let recover = world.run(&["recover", "r.jsonl"]);
    assert_harmless("recover", &recover.assert_good().out);
    // The recording holds the very bytes, but nothing that acts on who looks at the file.
    assert_harmless(
        "the recording",
        &fs::read_to_string(world.path("r.jsonl")).unwrap(),
    );
    let said = events::Recording::read(&world.path("r.jsonl")).out_of("hostile");
    assert!(said.starts_with(b"\r\x08\x1b[31mred\x1b[2J\x1b]0;title\x07"));
    assert!(said.ends_with(b"\xff\xfe\n"));
    world.run(&["recover", "r.jsonl", "--remove"]).assert_good();
    world.assert_empty();
}

#[test]
fn events_on_standard_output_act_on_no_terminal() {
    let world = World::new();
    let print = step(
        "hostile",
        "account",
        "printf '\\033[31m\\302\\233 5m \\302\\205 \\177\\n'",
    );
    world.method("hostile", &[HEAD, COPY, &print, DESTROY, BACK].concat());
    let (run, _) = world.session(
        "r.jsonl",
        &["--method", "hostile", "--reps", "1", "--events"],
    );
    assert_harmless("events", &run.assert_good().out);
    assert_eq!(run.out, fs::read_to_string(world.path("r.jsonl")).unwrap());
}

#[test]
fn names_of_files_act_on_no_terminal() {
    let world = World::new();
    let root = world.path("data");
    fs::create_dir(&root).unwrap();
    fs::write(root.join("\u{1b}[31mevil\u{9b}5m\nname"), "x").unwrap();
    let spoil = "cp -a -- {{ box }}/copy {{ box }}/restored; for f in {{ box }}/restored/*; do echo y >\"$f\"; done; cat {{ box }}/restored/nothing";
    let ok = step("spoil", "restore", spoil) + "ok = [1]\n";
    let verify = "\n[[step]]\nname = \"sha256 after\"\nphase = \"verify\"\nhash = { tree = \"{{ box }}/restored\", like = \"subject\" }\n";
    world.method("spoiled", &[HEAD, COPY, &ok, verify].concat());
    let subject = format!("dir:{}", root.display());
    let (run, _) = world.session(
        "r.jsonl",
        &["--method", "spoiled", "--subject", &subject, "--reps", "1"],
    );
    assert_eq!(run.code, 1, "{}", run.err);
    assert!(run.err.contains("evil"), "{}", run.err);
    assert_harmless("stderr", &run.err);
    assert_harmless("the table", &run.out);
    world.run(&["recover", "r.jsonl", "--remove"]).assert_good();
}
