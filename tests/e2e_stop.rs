//! A stop: whatever phase it comes in, no process is left, and all that the session made is undone.
#![cfg(test)]

#[path = "support/events.rs"]
mod events;
#[path = "support/going.rs"]
mod going;
#[path = "support/methods.rs"]
mod methods;
#[path = "support/missing.rs"]
mod missing;
#[path = "support/processes.rs"]
mod processes;
#[path = "support/world.rs"]
mod world;

use std::fs;

use going::{Going, wait_until};
use methods::{BACK, COPY, DESTROY, HEAD, step};
use missing::{have_root, have_tool};
use rustix::process::Signal;
use world::{Ended, World};

/// Starts a session, signals it when a step has started, and gives how it ended. Nothing of it
/// may be left.
fn stop_in(world: &World, method: &str, step: &str, signal: Signal) -> (Ended, Going) {
    stop_when(world, method, step, signal, |going| {
        going.until_started(step);
    })
}

/// The same, at a moment of its own.
fn stop_when(
    world: &World,
    method: &str,
    step: &str,
    signal: Signal,
    comes: impl FnOnce(&mut Going),
) -> (Ended, Going) {
    let record = format!("{method}-{}.jsonl", step.replace(' ', "-"));
    let arguments = world.arguments(&record, &["--method", method, "--reps", "2"]);
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let mut going = Going::start(world.command(&arguments));
    comes(&mut going);
    going.signal(signal);
    let ended = going.wait();
    assert_eq!(ended.code, 130, "{step}: {}", ended.err);
    // A short step, the last of its run, may be over before the signal comes.
    let ends = going.heard.ends();
    assert!(
        ends == ["stopped"] || ends == ["ok"] || ends == ["ok", "stopped"],
        "{step}: {ends:?}"
    );
    assert_eq!(going.heard.exit(), Some(130), "{step}");
    assert!(
        going.heard.of("act").any(|act| act["act"] == "stop"),
        "{step}"
    );
    let left = processes::left_of(&going.session());
    assert!(left.is_empty(), "{step}: {left:?}");
    world.assert_empty();
    (ended, going)
}

#[test]
fn a_stop_in_any_phase_ends_the_command_and_undoes_everything() {
    let world = World::new();
    let slow = |name: &str, phase| step(name, phase, "sleep 300 & sleep 301");
    let damage = slow("slow damage", "damage")
        + "destroys = { what = \"dir:{{ subject }}\", relies-on = \"copy\" }\n";
    let slow = [
        ("slow prepare", slow("slow prepare", "prepare")),
        ("slow protect", slow("slow protect", "protect")),
        ("slow account", slow("slow account", "account")),
        ("slow damage", damage),
        ("slow restore", slow("slow restore", "restore")),
        ("slow ready", slow("slow ready", "ready")),
        ("slow verify", slow("slow verify", "verify")),
        ("slow cleanup", slow("slow cleanup", "cleanup")),
    ];
    let (back, verify) = BACK.split_at(BACK.rfind("\n[[step]]").unwrap());
    for (at, (name, text)) in slow.iter().enumerate() {
        let mut parts = [HEAD, COPY, "", DESTROY, back, "", verify, ""].map(ToOwned::to_owned);
        let place = [0, 0, 1, 2, 4, 5, 6, 7][at];
        match *name {
            "slow protect" => parts[0].push_str(text),
            _ => parts[place].push_str(text),
        }
        let method = name.replace(' ', "-");
        world.method(&method, &parts.concat());
        let signal = if at % 2 == 0 {
            Signal::INT
        } else {
            Signal::TERM
        };
        let (_, going) = stop_in(&world, &method, name, signal);
        assert_eq!(going.heard.end_of(name)["end"], "stopped");
    }
}

#[test]
fn the_built_in_methods_are_undone_wherever_they_are_stopped() {
    let world = World::new();
    for (method, steps) in [
        (
            "files-cp",
            &["payload", "sha256 before", "backup", "restore"][..],
        ),
        (
            "files-tar",
            &[
                "scratch folder",
                "archive",
                "archive proved",
                "delete the original",
            ],
        ),
        (
            "files-rsync",
            &["backup, unchanged", "copy", "copy proved", "sha256 after"],
        ),
    ] {
        if method == "files-rsync" && !have_tool("rsync") {
            continue;
        }
        for step in steps {
            stop_in(&world, method, step, Signal::TERM);
        }
    }
}

#[test]
fn a_stopped_file_system_on_a_loop_device_is_taken_away() {
    if !(have_root() && have_tool("mkfs.btrfs") && have_tool("losetup")) {
        return;
    }
    let world = World::new();
    for step in [
        "mnt: image",
        "mnt: loop device",
        "mnt: mount",
        "change set",
        "rollback",
        "space is back",
    ] {
        let (_, mut going) = stop_in(&world, "btrfs-snapshot", step, Signal::INT);
        let mounts = fs::read_to_string("/proc/mounts").unwrap();
        assert!(!mounts.contains(&going.session()), "{step}: {mounts}");
    }
}

#[test]
fn a_command_that_ignores_a_stop_is_killed() {
    let world = World::new();
    let deaf = step(
        "deaf",
        "protect",
        "trap '' TERM INT HUP; echo deaf; (trap '' TERM; setsid sleep 300) & while :; do sleep 1; done",
    );
    world.method("deaf", &[HEAD, &deaf].concat());
    // Before that it is not deaf yet.
    let (_, going) = stop_when(&world, "deaf", "deaf", Signal::INT, |going| {
        going.until(|event| event["text"] == "deaf\n");
    });
    // It was asked first, and had its time.
    let end = going.heard.end_of("deaf");
    assert_eq!(end["end"], "stopped");
    assert!(end["seconds"].as_f64().unwrap() > 5.0, "{end}");
}

#[test]
fn a_stop_before_the_second_run_starts_no_other() {
    let world = World::new();
    let arguments = world.arguments("r.jsonl", &["--method", "files-cp", "--reps", "9"]);
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let mut going = Going::start(world.command(&arguments));
    going.until(|event| event["ev"] == "run" && event["state"] == "ended");
    going.signal(Signal::INT);
    let ended = going.wait();
    assert_eq!(ended.code, 130);
    assert!(going.heard.ends().len() <= 2, "{:?}", going.heard.ends());
    world.assert_empty();
}

#[test]
fn impatient_signals_change_nothing() {
    let world = World::new();
    let slow = step(
        "slow",
        "restore",
        "trap 'sleep 1; exit 3' TERM; while :; do sleep 0.1; done",
    );
    world.method("slow", &[HEAD, COPY, &slow].concat());
    let arguments = world.arguments("r.jsonl", &["--method", "slow", "--reps", "1"]);
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let mut going = Going::start(world.command(&arguments));
    going.until_started("slow");
    let session = going.session();
    wait_until("the command runs", || {
        !processes::of_session(&session).is_empty()
    });
    for signal in [
        Signal::INT,
        Signal::TERM,
        Signal::HUP,
        Signal::INT,
        Signal::TERM,
    ] {
        going.signal(signal);
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
    let ended = going.wait();
    assert_eq!(ended.code, 130, "{}", ended.err);
    assert_eq!(
        going.heard.end_of("slow")["status"][0],
        3,
        "it had its time"
    );
    assert_eq!(processes::left_of(&session), [""; 0]);
    world.assert_empty();
}
