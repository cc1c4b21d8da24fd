//! Systems as people have them, over a real server: disks that are full or read-only, a clock
//! that is off, a machine with `BusyBox` alone.
#![cfg(test)]

#[path = "support/events.rs"]
mod events;
#[path = "support/house.rs"]
mod house;
#[path = "support/small.rs"]
mod machine;
#[path = "support/missing.rs"]
mod missing;
#[path = "support/processes.rs"]
mod processes;
#[path = "support/sshd.rs"]
mod server;
#[path = "support/world.rs"]
mod world;

use std::fs;
use std::os::unix::fs::{PermissionsExt, chown};
use std::path::Path;

use house::{House, Plan};
use missing::have_tool;
use world::{Ended, SMALL};

/// `comeback run` of one repetition on a host.
fn run(house: &House, record: &str, host: &str, more: &[&str]) -> (Ended, events::Recording) {
    let file = house.world.text(record);
    let fixed = [
        "run",
        "--record",
        &file,
        "--sandbox",
        "/home/tmp",
        "--host",
        host,
        "--reps",
        "1",
    ];
    let arguments: Vec<&str> = fixed.iter().chain(&SMALL).chain(more).copied().collect();
    let ended = house.world.run(&arguments);
    let recording = if Path::new(&file).exists() {
        events::Recording::read(Path::new(&file))
    } else {
        events::Recording::default()
    };
    (ended, recording)
}

#[test]
fn disks_that_are_full_or_read_only() {
    let plan = Plan {
        users: &[("ann", "/bin/sh"), ("bob", "/bin/bash")],
        sudoers: "bob ALL=(ALL) NOPASSWD: ALL\n",
        ..Plan::default()
    };
    if !have_tool("sudo") {
        return;
    }
    let Some(house) = House::new(&plan) else {
        return;
    };
    house.write("ann", "photos/a", "x");
    let subject = [
        "--method",
        "files-tar",
        "--subject",
        "ann/dir:/home/ann/photos",
    ];
    // Nothing needs a temporary folder, not even for a lock.
    house.root("mount -t tmpfs -o size=64k,mode=1777 tmpfs /tmp; chmod 700 /run/lock; cat /dev/zero >/tmp/full 2>/dev/null || :");
    let (ended, recording) = run(&house, "full.jsonl", "ann", &subject);
    println!(
        "full /tmp: {} {} {:?}",
        ended.code,
        ended.err,
        recording.ends()
    );
    house.root("mount -o remount,ro /tmp");
    let (ended, recording) = run(&house, "ro.jsonl", "ann", &subject);
    println!(
        "ro /tmp: {} {} {:?}",
        ended.code,
        ended.err,
        recording.ends()
    );
    house.assert_empty();

    // The state folder's disk.
    house.root("umount /tmp; mkdir -p /home/ann/.local/state; mount -t tmpfs -o size=64k,mode=777 tmpfs /home/ann/.local/state; cat /dev/zero >/home/ann/.local/state/full 2>/dev/null || :");
    let (ended, recording) = run(&house, "state.jsonl", "ann", &subject);
    println!(
        "full state: {} {} {:?}",
        ended.code,
        ended.err,
        recording.ends()
    );
    for kib in [8, 16, 24, 32] {
        house.root(&format!("cd /home/ann/.local/state; rm full; rm -rf comeback; dd if=/dev/zero of=full bs=1k count={} 2>/dev/null", 64 - kib));
        let (ended, recording) = run(&house, &format!("state{kib}.jsonl"), "ann", &subject);
        println!(
            "state {kib} KiB: {} {} {:?}",
            ended.code,
            ended.err,
            recording.ends()
        );
        house.root("find /home/ann/.local/state /home/tmp");
    }
    house.root("umount /home/ann/.local/state; mount -t tmpfs -o ro tmpfs /var/lib");
    house.configure("[host.bob]\nbecome = \"sudo -n\"\n");
    let check = house
        .world
        .run(&["check", "--host", "bob", "--method", "files-tar"]);
    println!("ro /var/lib: {} {} {}", check.code, check.err, check.out);
}

#[test]
fn a_clock_that_is_a_day_off() {
    if !have_tool("faketime") {
        return;
    }
    let plan = Plan {
        users: &[("ahead", "bin/ahead"), ("behind", "bin/behind")],
        ..Plan::default()
    };
    let Some(house) = House::new(&plan) else {
        return;
    };
    let library = [
        "/usr/lib/x86_64-linux-gnu",
        "/usr/lib/aarch64-linux-gnu",
        "/usr/lib",
    ]
    .map(|folder| format!("{folder}/faketime/libfaketime.so.1"))
    .into_iter()
    .find(|path| Path::new(path).exists())
    .expect("libfaketime is not there");
    for (user, shift) in [("ahead", "+1d"), ("behind", "-1d")] {
        let shell = house.path("bin").join(user);
        let text = format!(
            "#!/bin/sh\nexport LD_PRELOAD={library} FAKETIME={shift} FAKETIME_DONT_FAKE_MONOTONIC=1 NO_FAKE_STAT=1\nexec /bin/bash \"$@\"\n"
        );
        fs::write(&shell, text).unwrap();
        fs::set_permissions(&shell, fs::Permissions::from_mode(0o755)).unwrap();
    }
    let check = house
        .world
        .run(&["check", "--host", "ahead", "--host", "behind"]);
    println!(
        "{}",
        check
            .out
            .lines()
            .filter(|l| l.contains("clock"))
            .collect::<Vec<_>>()
            .join("\n")
    );
    let (ended, recording) = run(
        &house,
        "r.jsonl",
        "ahead",
        &[
            "--host", "behind", "--method", "files-cp", "--format", "json",
        ],
    );
    println!("{} {} {}", ended.code, ended.err, ended.out);
    println!("{:?}", recording.ends());
    house.assert_empty();
}

#[test]
fn a_machine_with_busybox_alone() {
    let Some(small) = machine::Small::new(&[]) else {
        return;
    };
    let plan = Plan {
        users: &[("small", "/bin/sh")],
        prelude: &format!(
            "mkdir /run/small; mount --bind {0} /run/small; mount -t proc proc /run/small/proc",
            small.root().display()
        ),
        settings: "Match User small\n  ChrootDirectory /run/small\nMatch all",
        ..Plan::default()
    };
    let Some(house) = House::new(&plan) else {
        return;
    };
    let at = |name: &str| small.root().join(name);
    for name in ["home/small", "home/tmp"] {
        fs::create_dir_all(at(name)).unwrap();
        chown(at(name), Some(house.id("small")), Some(house.id("small"))).unwrap();
    }
    fs::create_dir(at("home/photos")).unwrap();
    fs::write(at("home/photos/a b"), "x").unwrap();
    chown(
        at("home/photos/a b"),
        Some(house.id("small")),
        Some(house.id("small")),
    )
    .unwrap();
    chown(
        at("home/photos"),
        Some(house.id("small")),
        Some(house.id("small")),
    )
    .unwrap();
    fs::set_permissions(at(""), fs::Permissions::from_mode(0o755)).unwrap();
    let tools = std::env::var("TOOLS").unwrap_or_default();
    for tool in std::iter::once("").chain(tools.split(' ')) {
        let hidden = (at("bin").join(tool), at("etc").join(tool));
        if !tool.is_empty() {
            if fs::rename(&hidden.0, &hidden.1).is_err() {
                println!("== {tool} is not there");
                continue;
            }
        }
        let check = house.world.run(&[
            "check",
            "--host",
            "small",
            "--method",
            "files-cp",
            "--method",
            "files-tar",
        ]);
        println!("== {tool} check: {} {}", check.code, check.err);
        if check.code == 3 {
            println!("{}", house.sshd.log());
        }
        println!(
            "{}",
            check
                .out
                .lines()
                .skip_while(|l| l.starts_with("  ") || *l == "small")
                .collect::<Vec<_>>()
                .join("\n")
        );
        let (ended, recording) = run(
            &house,
            &format!("{tool}.jsonl"),
            "small",
            &[
                "--method",
                "files-cp",
                "--method",
                "files-tar",
                "--subject",
                "small/dir:/home/photos",
            ],
        );
        println!(
            "== {tool} run: {} {} {:?}",
            ended.code,
            ended.err,
            recording.ends()
        );
        for note in recording.of("note") {
            println!("   note {}", note["text"]);
        }
        if !tool.is_empty() {
            fs::rename(&hidden.1, &hidden.0).unwrap();
        }
    }
}
