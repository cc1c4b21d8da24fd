//! Folders that are not there, read-only or full, and a recording's disk that is.
#![cfg(test)]

#[path = "support/events.rs"]
mod events;
#[path = "support/methods.rs"]
mod methods;
#[path = "support/missing.rs"]
mod missing;
#[path = "support/processes.rs"]
mod processes;
#[path = "support/tree.rs"]
mod tree;
#[path = "support/world.rs"]
mod world;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use methods::{BACK, COPY, DESTROY, HEAD, step};
use missing::have_root;
use world::World;

/// A file system in memory; gone when it is dropped.
struct Memory(PathBuf);

impl Memory {
    fn mount(at: &Path, options: &str) -> Option<Self> {
        if !have_root() {
            return None;
        }
        fs::create_dir_all(at).unwrap();
        let done = Command::new("mount")
            .args(["-t", "tmpfs", "-o", options, "tmpfs"])
            .arg(at)
            .status();
        missing::have("mount -t tmpfs", done.is_ok_and(|status| status.success()))
            .then(|| Self(at.to_owned()))
    }

    fn remount(&self, options: &str) {
        let done = Command::new("mount")
            .args(["-o", &format!("remount,{options}")])
            .arg(&self.0)
            .status();
        assert!(done.unwrap().success());
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(&self.0).status();
    }
}

fn run_in(world: &World, sandbox: &Path, more: &[&str]) -> world::Ended {
    let sandbox = sandbox.display().to_string();
    let arguments = [
        &[
            "run",
            "--record",
            "r.jsonl",
            "--sandbox",
            &sandbox,
            "--reps",
            "1",
        ],
        more,
    ]
    .concat();
    world.run(&arguments)
}

#[test]
fn a_scratch_parent_that_is_not_there_is_named() {
    let world = World::new();
    let absent = world.path("absent");
    run_in(&world, &absent, &["--method", "files-cp"])
        .assert_refused(4, &["local", absent.to_str().unwrap(), "--sandbox"]);
    assert!(!absent.exists());
    world.assert_empty();
}

#[test]
fn a_scratch_parent_that_cannot_be_written_is_named() {
    let world = World::new();
    let closed = world.path("closed");
    let Some(memory) = Memory::mount(&closed, "size=16m") else {
        return;
    };
    memory.remount("ro");
    run_in(&world, &closed, &["--method", "files-cp"])
        .assert_refused(4, &["local", closed.to_str().unwrap(), "--sandbox"]);
    world.assert_empty();
}

#[test]
fn a_scratch_parent_that_is_too_small_is_named_with_what_is_needed() {
    let world = World::new();
    let small = world.path("small");
    let Some(_memory) = Memory::mount(&small, "size=4m") else {
        return;
    };
    let refused = run_in(
        &world,
        &small,
        &["--method", "files-cp", "--set", "size=8MiB"],
    );
    refused.assert_refused(4, &["local", small.to_str().unwrap(), "24", "4"]);
    assert_eq!(world::entries(&small), [""; 0]);
    world.assert_empty();
}

#[test]
fn a_scratch_folder_that_fills_up_fails_the_run_and_is_undone() {
    let world = World::new();
    let small = world.path("small");
    let Some(_memory) = Memory::mount(&small, "size=8m") else {
        return;
    };
    // Who takes the room was not there when it was looked at.
    let hog = step("hog", "prepare", "head -c 7500000 /dev/zero >{{ box }}/hog");
    world.method("fills", &[HEAD, &hog, COPY, DESTROY, BACK].concat());
    let sizes = [
        "--method",
        "fills",
        "--set",
        "size=1MiB",
        "--set",
        "files=4",
    ];
    let ended = run_in(&world, &small, &sizes);
    assert_eq!(ended.code, 1, "{}", ended.err);
    assert!(ended.err.contains("No space left"), "{}", ended.err);
    assert_eq!(world::entries(&small), [""; 0], "{}", ended.err);
    world.assert_empty();
}

#[test]
fn a_state_folder_that_cannot_be_made_is_named() {
    let world = World::new();
    let closed = world.path("closed");
    let Some(memory) = Memory::mount(&closed, "size=1m") else {
        return;
    };
    memory.remount("ro");
    let config = format!("[host.local]\nstate = {:?}\n", closed.display().to_string());
    fs::write(world.path("home/.config/comeback/config.toml"), config).unwrap();
    let (run, recording) = world.session("r.jsonl", &["--method", "files-cp"]);
    assert!(matches!(run.code, 3 | 4), "{}: {}", run.code, run.err);
    let sentence = run.err.lines().next().unwrap();
    for word in ["local", "state", closed.to_str().unwrap()] {
        assert!(sentence.contains(word), "{word}: {sentence}");
    }
    assert_eq!(recording.state("step", "planned").count(), 0);
    assert_eq!(world::entries(&world.sandbox()), [""; 0]);
}

#[test]
fn a_recording_whose_disk_is_full_stops_what_would_destroy() {
    let world = World::new();
    let root = world.path("data");
    tree::plant(&root);
    fs::write(root.join(".comeback-subject"), "").unwrap();
    let before = tree::look(&root);
    let small = world.path("small");
    let Some(_memory) = Memory::mount(&small, "size=64k") else {
        return;
    };
    let noise = step("noise", "account", "seq 1 200000");
    world.method("noisy", &[HEAD, COPY, &noise, DESTROY, BACK].concat());
    let what = format!("dir:{}", root.display());
    let (destroy, sandbox) = (format!("{what}=data"), world.text("sandbox"));
    let ended = world.run(&[
        "run",
        "--record",
        "small/r.jsonl",
        "--sandbox",
        &sandbox,
        "--reps",
        "1",
        "--method",
        "noisy",
        "--subject",
        &what,
        "--destroy",
        &destroy,
    ]);
    assert_ne!(ended.code, 0);
    for word in ["small/r.jsonl", "No space left"] {
        assert!(ended.err.contains(word), "{word}: {}", ended.err);
    }
    assert_eq!(tree::look(&root), before, "it was destroyed all the same");
    // What was left is known to the host.
    world
        .run(&["recover", "--host", "local", "--remove"])
        .assert_good();
    world.assert_empty();
}

#[test]
fn a_recording_that_takes_nothing_at_all_is_refused_before_anything_runs() {
    let world = World::new();
    let full = world.path("full");
    let Some(_memory) = Memory::mount(&full, "size=4k") else {
        return;
    };
    fs::write(full.join("filler"), [0; 4096]).unwrap();
    let sandbox = world.text("sandbox");
    let ended = world.run(&[
        "run",
        "--record",
        "full/r.jsonl",
        "--sandbox",
        &sandbox,
        "--method",
        "files-cp",
    ]);
    assert!(matches!(ended.code, 1 | 2), "{}", ended.code);
    assert!(ended.err.contains("full/r.jsonl"), "{}", ended.err);
    world.assert_empty();
}

#[test]
fn a_reader_of_events_that_goes_away_stops_nothing() {
    let world = World::new();
    let arguments = world.arguments(
        "r.jsonl",
        &["--method", "files-cp", "--reps", "1", "--events"],
    );
    let mut child = world
        .command(&arguments.iter().map(String::as_str).collect::<Vec<_>>())
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let ended = world::ended(&child.wait_with_output().unwrap());
    assert_eq!(ended.code, 0, "{}", ended.err);
    let recording = events::Recording::read(&world.path("r.jsonl"));
    assert_eq!(recording.exit(), Some(0));
    assert_eq!(processes::left_of(&recording.session()), [""; 0]);
    world.assert_empty();
}

#[test]
fn a_report_into_a_full_disk_says_so() {
    let world = World::new();
    let (run, _) = world.session("r.jsonl", &["--method", "files-cp", "--reps", "1"]);
    run.assert_good();
    if !missing::have("/dev/full", Path::new("/dev/full").exists()) {
        return;
    }
    let full = fs::OpenOptions::new()
        .write(true)
        .open("/dev/full")
        .unwrap();
    let output = world
        .command(&["report", "r.jsonl"])
        .stdout(full)
        .stderr(std::process::Stdio::piped())
        .output()
        .unwrap();
    world::ended(&output).assert_refused(2, &["standard output", "No space left"]);
}
