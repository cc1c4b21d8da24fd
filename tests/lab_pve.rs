//! A node of Proxmox VE in the lab's machine, whose snapshots are those of a real thin pool of LVM.
#![cfg(test)]

#[path = "support/events.rs"]
mod events;
#[path = "support/going.rs"]
mod going;
#[path = "support/lease.rs"]
mod lease;
#[path = "support/missing.rs"]
mod missing;
#[path = "support/node.rs"]
mod node;
#[path = "support/vm.rs"]
mod vm;
#[path = "support/world.rs"]
mod world;

use std::process::{Command, Stdio};

use node::{Node, TEMPLATE, time};
use vm::Vm;
use world::World;

const PVE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/pve");
const MIB: f64 = 1_048_576.0;
/// Volumes, mappings, guests, and files where a method makes any.
const THERE: &str = "lvs --noheadings -o lv_name,origin; dmsetup ls | grep vm-; ls /etc/pve/qemu-server; \
     ls /run/qemu-server | grep pid; find /var/tmp /mnt/pve/bkp/dump -mindepth 1";

/// The machine becomes a node for good: it is thrown away. The guests' disk is made here, in a second.
fn node() -> Option<Node> {
    let world = World::new();
    let Vm(machine) = Vm::start(&world, "pve1")?;
    let made = Command::new(format!("{PVE}/guest"))
        .arg(world.path("disk"))
        .output();
    assert!(made.unwrap().status.success());
    let mut packed = Command::new("tar")
        .args([
            "-cSf",
            "-",
            "--exclude",
            "__pycache__",
            "-C",
            &world.text(""),
            "disk",
            "disk.tar.gz",
        ])
        .args(["-C", &format!("{PVE}/.."), "pve"])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let script = "cd /root && tar -xSf - && cache=/root/.cache/comeback-ci/node && mkdir -p $cache && \
         guest=$cache/guest-$(sha256sum pve/guest | cut -c 1-16) && mv disk.tar.gz $guest.tar.gz && mv disk $guest && \
         pve/node become lvmthin >&2";
    let become_one = machine
        .command(&["ssh", script])
        .stdin(packed.stdout.take().unwrap())
        .output()
        .unwrap();
    assert!(packed.wait().unwrap().success());
    let said = String::from_utf8_lossy(&become_one.stderr);
    assert!(become_one.status.success(), "{said}");
    Some(Node { world, machine })
}

#[test]
fn a_snapshot_of_a_thin_pool_brings_back_what_was_deleted_and_leaves_nothing() {
    let Some(node) = node() else { return };
    let before = node.sh(THERE);
    let all = "--method pve-snapshot --set size=4MiB --set disks=local-lvm --set";
    let mut all: Vec<_> = all.split(' ').collect();
    all.push(TEMPLATE);
    let (ended, recording) = node.session("a.jsonl", &all);
    let row = ended.assert_good().json()["rows"][0].clone();
    // LVM's words are in the task's log, and none of them makes it one with warnings.
    assert_eq!(row["states"], serde_json::json!(["ok"]), "{row}");
    let log = String::from_utf8(recording.out_of("restore")).unwrap();
    assert!(
        log.contains("  Logical volume \"vm-100-disk-0\" created."),
        "{log}"
    );
    assert_eq!(row["verified"]["matched"], 1, "{row}");
    for name in ["backup", "restore", "delete the snapshot"] {
        assert_eq!(time(&row, name, "task")["resolution"], 1, "{name}");
    }
    // What the snapshot holds is what was written since, in chunks, and some metadata.
    let held = recording.values("held by the snapshot");
    assert_eq!(held.len(), 1);
    assert!((MIB..4.0 * MIB).contains(&held[0]), "{held:?}");
    let archive = recording.values("archive");
    assert!((0.0..MIB).contains(&archive[0]), "{archive:?}");
    for what in ["thin data", "thin metadata"] {
        let of = |at: &str| recording.values(&format!("{what} {at}"));
        let (before, after) = (of("before"), of("after"));
        assert!((before.len(), after.len()) == (1, 1), "{what}");
        assert!(
            before[0] > 0.0 && before[0] <= after[0] && after[0] < 90.0,
            "{what}: {before:?} {after:?}"
        );
    }
    assert_eq!(node.sh(THERE), before);
}
