//! The lab's machine, and short methods on its real file systems.
#![cfg(test)]

#[path = "support/events.rs"]
mod events;
#[path = "support/going.rs"]
mod going;
#[path = "support/lease.rs"]
mod lease;
#[path = "support/missing.rs"]
mod missing;
#[path = "support/sandboxed.rs"]
mod sandboxed;
#[path = "support/vm.rs"]
mod vm;
#[path = "support/world.rs"]
mod world;

use sandboxed::{Sandboxed, assert_all_undone};
use serde_json::{Value, json};

const MIB: f64 = 1_048_576.0;

fn words(text: &str) -> Vec<&str> {
    text.split_whitespace().collect()
}

/// So many rows, of each of which all three runs are good and proved.
fn assert_three(report: &Value, count: usize) {
    let rows = report["rows"].as_array().unwrap();
    assert_eq!(rows.len(), count, "{report}");
    for row in rows {
        assert_eq!(row["host"], "lab", "{row}");
        assert_eq!(row["states"], json!(["ok", "ok", "ok"]), "{row}");
        assert_eq!(row["verified"]["matched"], 3, "{row}");
        assert_eq!(row["verified"]["of"], 3, "{row}");
    }
}

#[test]
fn a_check_finds_its_file_systems_and_snapshots_of_two_of_them_leave_nothing() {
    let Some(lab) = Sandboxed::new() else { return };
    let check = lab
        .world
        .run(&words("check --host lab --sandbox /root/box"));
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
    lab.assert_nothing_left();

    // As anybody types it.
    let run = lab.world.run(&words(
        "run --host lab --method zfs-snapshot --method lvm-thin-snapshot --sandbox /root/box --reps 3 \
         --set size=48MiB --set files=24 --format json",
    ));
    let report = run.assert_good().json();
    assert_three(&report, 2);
    lab.assert_nothing_left();
    for row in report["rows"].as_array().unwrap() {
        for name in [
            "snapshot",
            "rollback",
            "space back",
            "delete the snapshot",
            "snapshot's space back",
        ] {
            let times = row["times"].as_array().unwrap();
            let time = times.iter().find(|time| time["name"] == name);
            let time = time.unwrap_or_else(|| panic!("no {name}: {row}"));
            let all = time["values"].as_array().unwrap();
            assert!(all.len() == 3 && all.iter().all(|value| value.as_f64().unwrap() > 0.0));
        }
        let space = |name: &str| -> Vec<f64> {
            let all = row["space"].as_array().unwrap();
            let one = all.iter().find(|space| space["name"] == name);
            let one = one.unwrap_or_else(|| panic!("no {name}: {row}"));
            let all = one["values"].as_array().unwrap();
            all.iter().map(|value| value.as_f64().unwrap()).collect()
        };
        // Three files of 2 MiB were overwritten or deleted: held are these, and some metadata. What is
        // rolled back gives it back.
        let held = space("held by the snapshot");
        assert_eq!(held.len(), 3);
        for held in &held {
            assert!((5.5 * MIB..9.0 * MIB).contains(held), "{row}");
        }
        assert!(
            space("still held after")
                .iter()
                .all(|left| left.abs() < MIB)
        );
        if row["method"] == "zfs-snapshot" {
            for (pool, own) in held.iter().zip(space("held by usedbysnapshots held")) {
                assert!((pool - own).abs() < 0.3 * MIB, "{pool} {own}");
            }
        }
    }
    // Side by side, and not compared.
    let verdicts = report["verdicts"].as_array().unwrap();
    assert!(!verdicts.is_empty());
    for verdict in verdicts {
        let says = verdict["says"].as_str().unwrap();
        assert!(says.starts_with("not comparable: "), "{says}");
    }
}

#[test]
fn all_btrfs_methods_three_times_are_verified_and_leave_nothing() {
    let Some(lab) = Sandboxed::new() else { return };
    let more = words(
        "--reps 3 --format json --method btrfs-snapshot --method btrfs-send --method btrfs-experiment --set size=3MiB \
         --set files=12 --set times=1 --set load_size=4MiB --set load_seconds=8 --set load_before=0 \
         --set load_rate=100",
    );
    let (run, recording) = lab.run("r.jsonl", &more);
    // What is sent in part is a series of its own.
    assert_three(&run.assert_good().json(), 4);
    sandboxed::assert_rate(&recording, 100.0);
    assert_all_undone(&recording);
    lab.assert_nothing_left();
}
