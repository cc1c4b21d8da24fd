//! The lab's machine, and a method on its real file systems: also where its power fails.
#![cfg(test)]

#[path = "support/events.rs"]
mod events;
#[path = "support/going.rs"]
mod going;
#[path = "support/lease.rs"]
mod lease;
#[path = "support/missing.rs"]
mod missing;
#[path = "support/vm.rs"]
mod vm;
#[path = "support/world.rs"]
mod world;

use std::time::Duration;

use events::Recording;
use going::Going;
use vm::Vm;
use world::World;

/// The longest wait for an event of a machine that is emulated.
const PATIENCE: Duration = Duration::from_mins(5);

/// A world with the machine in it, which is called lab there.
fn lab() -> Option<(World, Vm)> {
    let world = World::new();
    let vm = Vm::start(&world, "lab")?;
    Some((world, vm))
}

const SEND: [&str; 13] = [
    "run",
    "--host",
    "lab",
    "--method",
    "btrfs-send",
    "--sandbox",
    "/root/box",
    "--reps",
    "1",
    "--set",
    "size=3MiB",
    "--set",
    "files=12",
];

#[test]
fn a_check_finds_its_file_systems() {
    let Some((world, vm)) = lab() else { return };
    let before = vm.there();
    let check = world.run(&["check", "--host", "lab", "--sandbox", "/root/box"]);
    for line in [
        "Debian GNU/Linux",
        "btrfs-progs v",
        "LVM version",
        "zfs-2.",
        "vdf 4.00 GiB",
        "/dev/vda ext4 on /",
        "btrfs-send on lab: can run",
    ] {
        assert!(
            check.out.contains(line),
            "{line:?} is missing: {}",
            check.out
        );
    }
    vm.assert_there(&before);
}

#[test]
fn all_btrfs_methods_three_times_are_verified_and_leave_nothing() {
    let Some((world, vm)) = lab() else { return };
    vm.sh("mkdir -p /root/box");
    let before = vm.there();
    let record = world.text("r.jsonl");
    let arguments = "run --host lab --sandbox /root/box --reps 3 --format json --method btrfs-snapshot --method btrfs-send \
                     --method btrfs-experiment --set size=3MiB --set files=12 --set times=1 --set load_size=4MiB \
                     --set load_seconds=6 --set load_before=0.5 --record";
    let mut arguments: Vec<_> = arguments.split_whitespace().collect();
    arguments.push(&record);
    let run = world.run(&arguments);
    let report = run.assert_good().json();
    let rows = report["rows"].as_array().unwrap();
    // What is sent in part is a series of its own.
    assert_eq!(rows.len(), 4, "{report}");
    for row in rows {
        assert_eq!(row["host"], "lab", "{row}");
        assert_eq!(
            row["states"],
            serde_json::json!(["ok", "ok", "ok"]),
            "{row}"
        );
        assert_eq!(row["verified"]["matched"], 3, "{row}");
        assert_eq!(row["verified"]["of"], 3, "{row}");
    }
    let recording = Recording::read(&world.path("r.jsonl"));
    for (name, state, _) in recording.leaves() {
        assert_eq!(state, "undone", "{name}");
    }
    vm.assert_there(&before);
}

#[test]
fn where_its_power_fails_the_session_says_so_and_recover_takes_all_away() {
    let Some((world, vm)) = lab() else { return };
    let before = vm.there();
    let record = world.text("r.jsonl");
    let mut going = Going::start(world.command(&[&SEND[..], &["--record", &record]].concat()));
    going.patience = PATIENCE;
    going.until_started("backup");
    vm.reset();
    let ended = going.wait();
    assert_eq!(ended.code, 3, "{}", ended.err);
    let said = "it has restarted since the session began";
    assert!(ended.err.contains(said), "{}", ended.err);
    assert_eq!(going.heard.exit(), Some(3));
    // What was in its memory is gone. What was on its disk goes with the session, which finds it again,
    // or is named and taken away by recovery.
    let left = vm.there();
    assert!(!left.contains("/dev/loop"), "{left}");
    if left.contains("/source.img") {
        let named = world.run(&["recover", "--host", "lab"]);
        for word in [going.session().as_str(), "box", "undo"] {
            assert!(named.assert_good().out.contains(word), "{}", named.out);
        }
        assert_eq!(vm.there(), left);
    } else {
        let recording = Recording::read(&world.path("r.jsonl"));
        for (name, state, _) in recording.leaves() {
            assert_eq!(state, "undone", "{name}");
        }
    }
    for _ in 0..2 {
        world
            .run(&["recover", "--host", "lab", "--remove"])
            .assert_good();
        vm.assert_there(&before);
    }
}
