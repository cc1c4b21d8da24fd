//! The lab's machine, and a method on its real file systems: also where its power fails.
#![cfg(test)]

#[path = "support/events.rs"]
mod events;
#[path = "support/going.rs"]
mod going;
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
    "size=8MiB",
    "--set",
    "files=8",
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
    assert_eq!(vm.there(), before);
}

#[test]
fn a_run_is_verified_and_leaves_nothing() {
    let Some((world, vm)) = lab() else { return };
    let before = vm.there();
    let record = world.text("r.jsonl");
    let more = ["--format", "json", "--record", &record];
    let run = world.run(&[&SEND[..], &more].concat());
    let report = run.assert_good().json();
    for row in report["rows"].as_array().unwrap() {
        assert_eq!(row["host"], "lab", "{row}");
        assert_eq!(row["states"], serde_json::json!(["ok"]), "{row}");
        assert_eq!(row["verified"]["matched"], row["verified"]["of"], "{row}");
    }
    let recording = Recording::read(&world.path("r.jsonl"));
    println!("{:?}", recording.leaves());
    for (name, state, _) in recording.leaves() {
        assert_eq!(state, "undone", "{name}");
    }
    assert_eq!(vm.there(), before);
}

#[test]
fn where_its_power_fails_the_session_says_so_and_recover_takes_all_away() {
    let Some((world, vm)) = lab() else { return };
    let before = vm.there();
    // Before the step has reached the host's disk, and well after its begin.
    for (step, hears) in [("change set", "step"), ("backup", "pool")] {
        let record = world.text(&format!("{step}.jsonl"));
        let mut going = Going::start(world.command(&[&SEND[..], &["--record", &record]].concat()));
        going.patience = Duration::from_mins(5);
        going.until_started(step);
        going.until(|event| event["ev"] == hears);
        vm.reset();
        let ended = going.wait();
        assert_eq!(ended.code, 3, "{step}: {}", ended.err);
        println!("{}\n{:?}\n{}", ended.err, going.heard.ends(), vm.there());
        let session = going.session();
        let named = world.run(&["recover", "--host", "lab"]);
        println!("{}", named.out);
        assert!(named.assert_good().out.contains(&session), "{}", named.out);
        for _ in 0..2 {
            world
                .run(&["recover", "--host", "lab", "--remove"])
                .assert_good();
            assert_eq!(vm.there(), before, "{step}");
        }
        let again = world.run(&["recover", "--host", "lab"]);
        assert_eq!(again.assert_good().out, "lab: nothing is left\n");
    }
}
