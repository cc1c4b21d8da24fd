//! SIGKILL at every moment of a method, and what a recovery makes of it.
#![cfg(test)]

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use std::thread;

use rustix::process::Signal;
use serde_json::Value;

use crate::going::{Going, wait_until};
use crate::processes::{left_of, of_session};
use crate::world::{World, entries};

/// How many sessions go on at once: most of their time they wait.
const AT_ONCE: usize = 4;

/// Name and place of something that is left.
type Left = BTreeSet<(String, String)>;

/// Kills a session of a method at each of its moments, each in a world of its own.
pub fn at_every_moment(method: &str) {
    let moments = moments(method);
    assert!(moments > 15, "{method} has only {moments} moments");
    let next = Mutex::new(0..moments);
    thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            scope.spawn(|| {
                loop {
                    let Some(at) = next.lock().unwrap().next() else {
                        return;
                    };
                    killed(method, at);
                }
            });
        }
    });
}

/// What may be the last thing that a session said.
fn is_moment(event: &Value) -> bool {
    match event["ev"].as_str() {
        Some("step") => event["state"] == "started" || event["destroys"].is_object(),
        Some("leave") => event["state"] != "found",
        Some("host" | "end") => true,
        Some("run") => event["state"] == "ended",
        _ => false,
    }
}

fn moments(method: &str) -> usize {
    let world = World::new();
    let (run, recording) = world.session("r.jsonl", &["--method", method, "--reps", "1"]);
    run.assert_good();
    recording.0.iter().filter(|event| is_moment(event)).count()
}

fn killed(method: &str, at: usize) {
    let world = World::new();
    let arguments = world.arguments("r.jsonl", &["--method", method, "--reps", "1"]);
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let mut going = Going::start(world.command(&arguments));
    for _ in 0..=at {
        going.until(is_moment);
    }
    let moment = format!("{method}, moment {at}: {}", going.heard.0.last().unwrap());
    going.signal(Signal::KILL);
    going.wait();
    let session = going.session();
    let recover: &[&str] = match at % 2 {
        0 => &["recover", "--host", "local"],
        _ => &["recover", "r.jsonl"],
    };
    // Half of them are looked at when what survived the program has ended; half at once.
    if at % 4 < 2 {
        wait_until("its last command has ended", || {
            of_session(&session).is_empty()
        });
        let there = there(&world, &session);
        let said = world.run(recover);
        assert_eq!(said.code, 0, "{moment}\n{}", said.err);
        assert_eq!(named(&said.out), there, "{moment}\n{}", said.out);
        let known = said.out.contains(&session);
        assert_eq!(
            known,
            !entries(&world.state()).is_empty(),
            "{moment}\n{}",
            said.out
        );
    }
    let mut said = String::new();
    wait_until("it is recovered", || {
        let done = world.run(&[recover, &["--remove"]].concat());
        said.push_str(&done.out);
        said.push_str(&done.err);
        // The sign that somebody is there may outlive the program by a moment.
        done.code == 0 || !done.out.contains("goes on")
    });
    let left = there(&world, &session);
    assert!(left.is_empty(), "{moment}: left {left:?}\n{said}");
    assert_eq!(left_of(&session), [""; 0], "{moment}\n{said}");
    assert_eq!(entries(&world.sandbox()), [""; 0], "{moment}\n{said}");
    assert_eq!(entries(&world.state()), [""; 0], "{moment}\n{said}");
    for again in [&[recover, &["--remove"]].concat(), recover] {
        let done = world.run(again);
        assert_eq!(done.code, 0, "{moment}\n{}", done.err);
        assert_eq!(done.out, "local: nothing is left\n", "{moment}");
    }
}

/// What a recovery lists: name and place of each.
fn named(text: &str) -> Left {
    text.lines()
        .filter_map(|line| {
            let words: Vec<&str> = line.split_whitespace().collect();
            match words[..] {
                [_, ref name @ .., place] if line.starts_with("  ") && place.starts_with('/') => {
                    Some((name.join(" "), place.to_owned()))
                }
                _ => None,
            }
        })
        .collect()
}

/// What is there, as the system sees it.
fn there(world: &World, session: &str) -> Left {
    let folder = world.sandbox().join(format!("comeback-{session}-r1"));
    let mut left = Left::new();
    let mut put = |name: &str, path: PathBuf| {
        left.insert((name.to_owned(), path.display().to_string()));
    };
    for (name, path) in [
        ("box", ""),
        ("copy", "copy"),
        ("archive", "copy.tar"),
        ("s1", "mnt/s1"),
        ("old", "mnt/old"),
    ] {
        let path = if path.is_empty() {
            folder.clone()
        } else {
            folder.join(path)
        };
        if path.exists() {
            put(name, path);
        }
    }
    if is_mounted(&folder.join("mnt")) {
        put("mnt mount", folder.join("mnt"));
    }
    for device in loops(&folder.join("mnt.img")) {
        put("mnt loop", device.into());
    }
    left
}

fn is_mounted(path: &Path) -> bool {
    let mounts = std::fs::read_to_string("/proc/mounts").unwrap();
    let at = path.display().to_string();
    mounts
        .lines()
        .any(|line| line.split(' ').nth(1) == Some(&at))
}

fn loops(file: &Path) -> Vec<String> {
    if !file.exists() {
        return Vec::new();
    }
    let said = Command::new("losetup")
        .args(["-n", "-O", "NAME", "-j"])
        .arg(file)
        .output();
    let said = said.map(|said| said.stdout).unwrap_or_default();
    String::from_utf8(said)
        .unwrap()
        .lines()
        .map(|line| line.trim().to_owned())
        .collect()
}
