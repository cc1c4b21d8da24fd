//! Systems as people have them, over a real server: disks that are full or read-only, a clock
//! that is off, a machine with `BusyBox` alone.
#![cfg(test)]

#[path = "support/events.rs"]
mod events;
#[path = "support/going.rs"]
mod going;
#[path = "support/house.rs"]
mod house;
#[path = "support/small.rs"]
mod machine;
#[path = "support/missing.rs"]
mod missing;
#[path = "support/sshd.rs"]
mod server;
#[path = "support/world.rs"]
mod world;

use std::fs;
use std::os::unix::fs::{PermissionsExt, chown};

use events::Recording;
use going::{Going, wait_until};
use house::{House, Plan};
use missing::have_tool;
use rustix::process::Signal;
use world::{Ended, SMALL, entries};

/// `comeback run` of one repetition on a host.
fn run(house: &House, record: &str, host: &str, more: &[&str]) -> (Ended, Option<Recording>) {
    let file = house.world.path(record);
    let name = file.display().to_string();
    let fixed = [
        "run",
        "--record",
        &name,
        "--sandbox",
        "/home/tmp",
        "--host",
        host,
        "--reps",
        "1",
    ];
    let arguments: Vec<&str> = fixed.iter().chain(&SMALL).chain(more).copied().collect();
    let ended = house.world.run(&arguments);
    (ended, file.exists().then(|| Recording::read(&file)))
}

#[test]
fn disks_that_are_full_or_read_only() {
    let plan = Plan {
        users: &[("ann", "/bin/sh"), ("bob", "/bin/bash")],
        sudoers: "bob ALL=(ALL) NOPASSWD: ALL\n",
        ..Plan::default()
    };
    let Some(house) = have_tool("sudo").then(|| House::new(&plan)).flatten() else {
        return;
    };
    house.write("ann", "photos/a", "x");
    let subject = [
        "--method",
        "files-tar",
        "--subject",
        "ann/dir:/home/ann/photos",
    ];
    // Nothing needs /tmp, not even for a lock where the usual folder is root's alone.
    house.root(
        "chmod 755 /run/lock; mount -t tmpfs -o size=64k,mode=1777 tmpfs /tmp\n\
         cat /dev/zero >/tmp/full 2>/dev/null || :",
    );
    run(&house, "full.jsonl", "ann", &subject).0.assert_good();
    house.root("mount -o remount,ro /tmp");
    run(&house, "read-only.jsonl", "ann", &subject)
        .0
        .assert_good();
    house.assert_empty();
    house.root("umount /tmp; ! ls -d /dev/shm/comeback-* 2>/dev/null");

    // The state folder's disk, full from the begin and from the first steps on.
    let state = house.write("ann", ".local/state/comeback/mine", "");
    assert!(state.exists());
    house.root(
        "cd /home/ann/.local; mount -t tmpfs -o size=64k,mode=777 tmpfs state\n\
         dd if=/dev/zero of=state/full bs=1k count=64 2>/dev/null",
    );
    for (room, what) in [
        (0, "cannot be made: cat: write error"),
        (16, "is that disk full?"),
    ] {
        house.root(&format!(
            "truncate -s {}k /home/ann/.local/state/full",
            64 - room
        ));
        let (ended, _) = run(&house, &format!("{room}.jsonl"), "ann", &subject);
        ended.assert_refused(
            3,
            &["ann", "/home/ann/.local/state/comeback", what, "`state`"],
        );
        // What was begun was taken away again.
        house.root("! ls -d /home/ann/.local/state/comeback/cb-* 2>/dev/null");
    }
    house.root("umount /home/ann/.local/state; mount -t tmpfs -o ro tmpfs /var/lib");
    house.configure("[host.bob]\nbecome = \"sudo -n\"\n");
    let check = house
        .world
        .run(&["check", "--host", "bob", "--method", "files-tar"]);
    assert_eq!(check.code, 4, "{}", check.err);
    let says = "bob: the state folder /var/lib/comeback cannot be made or written; name another in \
                the configuration (host.bob.state)";
    assert!(check.out.contains(says), "{}", check.out);
}

#[test]
fn a_clock_that_is_a_day_off() {
    let plan = Plan {
        users: &[("ahead", "bin/ahead"), ("behind", "bin/behind")],
        ..Plan::default()
    };
    let Some(house) = have_tool("faketime").then(|| House::new(&plan)).flatten() else {
        return;
    };
    for (user, shift) in [("ahead", "+1d"), ("behind", "-1d")] {
        let shell = house.path("bin").join(user);
        let text = format!(
            "#!/bin/sh\nfor library in /usr/lib/*/faketime/libfaketime.so.1 /usr/lib/faketime/libfaketime.so.1; do\n\
             [ ! -e $library ] || export LD_PRELOAD=$library\ndone\n\
             export FAKETIME={shift} FAKETIME_DONT_FAKE_MONOTONIC=1 NO_FAKE_STAT=1 FAKETIME_DISABLE_SHM=1\n\
             exec /bin/bash \"$@\"\n"
        );
        fs::write(&shell, text).unwrap();
        fs::set_permissions(&shell, fs::Permissions::from_mode(0o755)).unwrap();
    }
    let check = house
        .world
        .run(&["check", "--host", "ahead", "--host", "behind"]);
    for word in [
        "about 24 h ahead of this machine's",
        "about 24 h behind this machine's",
    ] {
        assert!(
            check.assert_good().out.contains(word),
            "{word}: {}",
            check.out
        );
    }
    let more = [
        "--host", "behind", "--method", "files-cp", "--format", "json",
    ];
    let (ended, recording) = run(&house, "r.jsonl", "ahead", &more);
    let report = ended.assert_good().json();
    assert_eq!(recording.unwrap().ends(), ["ok"; 2]);
    for row in report["rows"].as_array().unwrap() {
        let host = row["host"].as_str().unwrap();
        let remark = row["remarks"][0].as_str().unwrap();
        assert!(
            remark.starts_with(&format!("the clock of {host} is about 24 h")),
            "{remark}"
        );
        for time in row["times"].as_array().unwrap() {
            let seconds = time["median"].as_f64().unwrap();
            assert!((0.0..120.0).contains(&seconds), "{host}: {time}");
        }
    }
    house.assert_empty();
    // A lock that somebody left: since when is told by the clock that wrote it.
    let photos = house.write("ahead", "photos/a", "x");
    let subject = "ahead/dir:/home/ahead/photos";
    let hold = include_str!("../methods/files-cp.toml").replacen(
        "cp -a{%",
        "touch {{ subject ~ '/held' }}; while [ -e {{ subject ~ '/a' }} ]; do sleep 0.05; done; cp -a{%",
        1,
    );
    house.world.method("hold", &hold);
    let record = house.world.text("held.jsonl");
    let arguments = [
        "run",
        "--record",
        &record,
        "--sandbox",
        "/home/tmp",
        "--host",
        "ahead",
        "--method",
        "hold",
        "--subject",
        subject,
        "--reps",
        "1",
    ];
    let mut going = Going::start(house.world.command(&arguments));
    wait_until("it holds the subject", || {
        photos.with_file_name("held").exists()
    });
    let (ended, _) = run(
        &house,
        "second.jsonl",
        "ahead",
        &["--method", "files-cp", "--subject", subject],
    );
    going.signal(Signal::TERM);
    going.wait();
    ended.assert_refused(
        4,
        &["in use by", "by its own clock, which is about 24 h ahead"],
    );
    house.assert_empty();
}

#[test]
fn a_machine_with_busybox_alone() {
    let Some(small) = machine::Small::new(&["split"]) else {
        return;
    };
    let root = small.root().display();
    let plan = Plan {
        users: &[("small", "/bin/sh")],
        prelude: &format!(
            "mkdir /run/small; mount --bind {root} /run/small\nmount -t proc proc /run/small/proc"
        ),
        settings: "Match User small\n  ChrootDirectory /run/small\nMatch all",
        ..Plan::default()
    };
    let Some(house) = House::new(&plan) else {
        return;
    };
    let at = |name: &str| small.root().join(name);
    fs::set_permissions(at(""), fs::Permissions::from_mode(0o755)).unwrap();
    fs::set_permissions(at("tmp"), fs::Permissions::from_mode(0o1777)).unwrap();
    fs::create_dir_all(at("home/small/photos")).unwrap();
    fs::create_dir_all(at("home/tmp")).unwrap();
    fs::write(at("home/small/photos/a b"), "x".repeat(100_000)).unwrap();
    for name in [
        "home/tmp",
        "home/small",
        "home/small/photos",
        "home/small/photos/a b",
    ] {
        chown(at(name), Some(house.id("small")), Some(house.id("small"))).unwrap();
    }
    // Subjects of its own need what this machine lacks: that is said before anything runs.
    let (ended, _) = run(&house, "own.jsonl", "small", &["--method", "files-cp"]);
    ended.assert_refused(4, &["small: payload steps need split, which is not there"]);
    let both = [
        "--method",
        "files-cp",
        "--method",
        "files-tar",
        "--subject",
        "small/dir:/home/small/photos",
    ];
    let left = |what: &str| {
        let [state, scratch] =
            ["home/small/.local/state/comeback", "home/tmp"].map(|name| entries(&at(name)));
        assert_eq!((state, scratch), (vec![], vec![]), "without {what}");
        assert!(
            !entries(&at("tmp"))
                .iter()
                .any(|name| name.starts_with("comeback-")),
            "without {what}"
        );
    };
    let without = |tools: &[&str], then: &mut dyn FnMut()| {
        for tool in tools {
            fs::rename(at("bin").join(tool), at("etc").join(tool)).unwrap();
        }
        then();
        for tool in tools {
            fs::rename(at("etc").join(tool), at("bin").join(tool)).unwrap();
        }
    };
    let few = [
        "setsid", "ps", "dd", "grep", "id", "sed", "du", "timeout", "usleep", "date",
    ];
    without(&few, &mut || {
        let (ended, recording) = run(&house, "few.jsonl", "small", &both);
        ended.assert_good();
        assert_eq!(recording.unwrap().ends(), ["ok"; 2]);
        left("few tools");
    });
    for (tool, says) in [
        ("find", "needs find, which is not on small"),
        ("cp", "needs cp, which is not on small"),
        ("awk", "need awk, which is not there"),
        ("sha256sum", "hash steps need sha256sum, which is not there"),
        ("cat", "cat: not found"),
    ] {
        without(&[tool], &mut || {
            let (ended, _) = run(&house, &format!("{tool}.jsonl"), "small", &both);
            assert!(matches!(ended.code, 3 | 4), "{tool}: {}", ended.err);
            assert!(ended.err.contains(says), "{tool}: {}", ended.err);
            left(tool);
        });
    }
}
