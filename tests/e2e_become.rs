//! A login without rights, and root behind `sudo`: through a real server, and on this machine.
#![cfg(test)]

#[path = "support/events.rs"]
mod events;
#[path = "support/going.rs"]
mod going;
#[path = "support/house.rs"]
mod house;
#[path = "support/missing.rs"]
mod missing;
#[path = "support/processes.rs"]
mod processes;
#[path = "support/sshd.rs"]
mod server;
#[path = "support/world.rs"]
mod world;

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};

use going::{Going, wait_until};
use house::{House, Plan};
use missing::have_tool;
use rustix::process::Signal;
use world::{SMALL, ended, entries};

/// As distributions have it; ann's commands get a pseudo-terminal, bob's do not.
const SUDOERS: &str = "Defaults env_reset, use_pty\n\
    Defaults secure_path=\"/usr/bin:/bin\"\n\
    Defaults:bob !use_pty\n\
    ann,bob ALL=(ALL) NOPASSWD: ALL\n\
    carl ALL=(ALL) ALL\n";

fn house() -> Option<House> {
    let plan = Plan {
        users: &[
            ("ann", "/bin/bash"),
            ("bob", "/bin/sh"),
            ("carl", "/bin/sh"),
        ],
        sudoers: SUDOERS,
        ..Plan::default()
    };
    let house = have_tool("sudo").then(|| House::new(&plan))??;
    // What only root can read, and where only root can write.
    let vault = house.path("home/vault");
    for folder in [&vault, &house.path("home/box")] {
        fs::create_dir(folder).unwrap();
        fs::set_permissions(folder, fs::Permissions::from_mode(0o700)).unwrap();
    }
    fs::write(vault.join("it's root's"), "x".repeat(70_000)).unwrap();
    fs::set_permissions(vault.join("it's root's"), fs::Permissions::from_mode(0o600)).unwrap();
    house.configure(
        "[host.ann]\nbecome = \"sudo -n\"\n[host.bob]\nbecome = \"sudo -n\"\n\
         [host.carl]\nbecome = \"sudo -n\"\n",
    );
    Some(house)
}

fn arguments(record: &str, host: &str, more: &[&str]) -> Vec<String> {
    let fixed = [
        "run",
        "--record",
        record,
        "--sandbox",
        "/home/box",
        "--host",
        host,
        "--reps",
        "1",
    ];
    let all = fixed.iter().chain(&SMALL).chain(more);
    all.map(|&argument| argument.to_owned()).collect()
}

#[test]
fn ann_works_as_root() {
    let Some(house) = house() else { return };
    let world = &house.world;
    let check = world.run(&["check", "--host", "ann"]);
    for word in ["ann, becomes root (0) by sudo -n", "/var/lib/comeback"] {
        assert!(
            check.assert_good().out.contains(word),
            "{word}: {}",
            check.out
        );
    }
    for (host, method) in [("ann", "files-cp"), ("bob", "files-tar")] {
        let subject = format!("{host}/dir:/home/vault");
        let record = world.text(&format!("{host}.jsonl"));
        let arguments = arguments(&record, host, &["--method", method, "--subject", &subject]);
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        world.run(&arguments).assert_good();
        let recording = events::Recording::read(&world.path(&format!("{host}.jsonl")));
        assert_eq!(recording.ends(), ["ok"], "{host}");
        assert_eq!(processes::left_of(&recording.session()), [""; 0]);
        house.assert_empty();
    }
    // A stop reaches what root runs.
    for host in ["ann", "bob"] {
        let record = world.text(&format!("{host}-stopped.jsonl"));
        let arguments = arguments(&record, host, &["--method", "files-cp"]);
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        let mut going = Going::start(world.command(&arguments));
        going.until_started("backup");
        going.signal(Signal::TERM);
        let ended = going.wait();
        assert_eq!(ended.code, 130, "{host}: {}", ended.err);
        let session = going.session();
        wait_until("what root ran for it is gone", || {
            processes::of_session(&session).is_empty()
        });
        house.assert_empty();
    }
}

#[test]
fn what_ann_left_as_root_is_recovered_as_root() {
    let Some(house) = house() else { return };
    let world = &house.world;
    let record = world.text("r.jsonl");
    let arguments = arguments(&record, "ann", &["--method", "files-tar"]);
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let mut going = Going::start(world.command(&arguments));
    going.until_started("archive proved");
    going.signal(Signal::KILL);
    going.wait();
    let session = going.session();
    wait_until("nobody keeps it", || {
        processes::of_session(&session).is_empty()
    });
    let journal = house.path(&format!("lib/comeback/{session}/journal"));
    assert_eq!(fs::metadata(journal).unwrap().uid(), 0);
    let named = world.run(&["recover", "--host", "ann"]);
    for word in [&session, "copy.tar", "undo"] {
        assert!(
            named.assert_good().out.contains(word),
            "{word}: {}",
            named.out
        );
    }
    world
        .run(&["recover", "--host", "ann", "--remove"])
        .assert_good();
    house.assert_empty();
    let again = world.run(&["recover", "--host", "ann", "--remove"]);
    assert_eq!(again.assert_good().out, "ann: nothing is left\n");
}

#[test]
fn a_become_that_cannot_be_is_named_before_anything_runs() {
    let Some(house) = house() else { return };
    let world = &house.world;
    let check = |host: &str| {
        let ended = world.run(&["check", "--host", host]);
        println!("{}", ended.err);
        ended
    };
    check("carl").assert_refused(
        3,
        &[
            "carl: become: `sudo -n`",
            "a password is required",
            "carl ALL=(ALL) NOPASSWD: ALL",
        ],
    );
    // What asks for a password finds no terminal to ask on.
    house.configure("[host.carl]\nbecome = \"sudo\"\n[host.ann]\nbecome = \"doas -n\"\n");
    check("carl").assert_refused(3, &["`sudo`", "password", "NOPASSWD"]);
    check("ann").assert_refused(3, &["`doas -n`", "not there for ann", "install"]);
    // Another user than root, and nobody else.
    house.configure(
        "[host.ann]\nbecome = \"sudo -n -u bob\"\n[host.bob]\nbecome = \"env --\"\nread_only = true\n",
    );
    let out = check("ann").assert_good().out.clone();
    assert!(out.contains("ann, becomes bob (4101)"), "{out}");
    assert!(out.contains("/home/bob/.local/state/comeback"), "{out}");
    let record = world.text("as-bob.jsonl");
    let run = [
        "run",
        "--record",
        &record,
        "--sandbox",
        "/home/tmp",
        "--host",
        "ann",
        "--reps",
        "1",
        "--method",
        "files-cp",
    ];
    let run: Vec<&str> = run.iter().chain(&SMALL).copied().collect();
    world.run(&run).assert_good();
    house.assert_empty();
    let out = check("bob").assert_good().out.clone();
    assert!(out.contains("bob (4101), and stays so by env --"), "{out}");
    let run = world.run(&[
        "run",
        "--host",
        "bob",
        "--method",
        "files-cp",
        "--sandbox",
        "/home/bob",
    ]);
    run.assert_refused(4, &["bob", "read-only", "config.toml"]);
}

#[test]
fn this_machine_is_another_users_too() {
    let Some(house) = house() else { return };
    let program = house.path("home/ann/comeback");
    fs::copy(env!("CARGO_BIN_EXE_comeback"), &program).unwrap();
    house.write(
        "ann",
        ".config/comeback/config.toml",
        "[host.local]\nbecome = \"sudo -n\"\n",
    );
    let arguments = arguments(
        "/home/ann/r.jsonl",
        "local",
        &["--method", "files-cp", "--subject", "dir:/home/vault"],
    );
    let inside = |arguments: &[String]| {
        let mut command = house.inside("ann", std::path::Path::new("/home/ann/comeback"));
        ended(&command.args(arguments).current_dir("/").output().unwrap())
    };
    inside(&arguments).assert_good();
    let recording = events::Recording::read(&house.path("home/ann/r.jsonl"));
    assert_eq!(recording.ends(), ["ok"]);
    // The recording is the operator's, what the host does is root's.
    let meta = fs::metadata(house.path("home/ann/r.jsonl")).unwrap();
    assert_eq!(meta.uid(), house.id("ann"));
    let facts = &recording.of("header").next().unwrap()["facts"]["local"];
    assert_eq!(facts["user"], "root");
    assert_eq!(facts["became"]["login"], "ann");
    assert_eq!(entries(&house.path("lib/comeback")), [""; 0]);
    house.assert_empty();
}
