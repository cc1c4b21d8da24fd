//! Every method for guests of Proxmox VE three times, in turns: clocks, bytes and proofs are right, and
//! nothing is left.
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
#[path = "support/world.rs"]
mod world;

use std::collections::BTreeSet;

use events::{Recording, text};
use node::{Node, assert_task_clock, time};
use rustix::process::Signal;
use serde_json::Value;

const MIB: f64 = 1_048_576.0;
/// Bytes of payload, and of a guest's disk.
const SIZE: f64 = 8.0 * MIB;
const DISK: f64 = 512.0 * MIB;

/// Each method's settings.
const METHODS: [(&str, &[&str]); 4] = [
    ("pve-snapshot", &["template=9000", "disks=btr"]),
    (
        "pve-vzdump",
        &["template=9000", "place=same", "storage=bkp"],
    ),
    (
        "pve-pbs",
        &["template=9000", "place=same", "store_path=/mnt/pbs"],
    ),
    (
        "pve-ct",
        &[
            "template=local:vztmpl/small_1.0_amd64.tar.gz",
            "rootfs=1",
            "place=same",
            "disks=btr",
            "storage=bkp",
        ],
    ),
];

/// Stores and who may use them; the node's storages and their secrets.
const STORES: &str = "cat /etc/proxmox-backup/datastore.cfg /etc/proxmox-backup/acl.cfg /etc/pve/storage.cfg; ls /mnt/pbs /etc/pve/priv/storage; proxmox-backup-manager user list-tokens root@pam --output-format json";

fn arguments() -> Vec<String> {
    let mut all = vec!["--reps".to_owned(), "3".to_owned()];
    for (method, sets) in METHODS {
        all.extend(["--method".to_owned(), method.to_owned()]);
        for set in sets.iter().chain(&["size=8MiB"]) {
            all.extend(["--set".to_owned(), format!("{method}.{set}")]);
        }
    }
    all
}

fn three(of: &Value) -> Vec<f64> {
    let values = of["values"].as_array().unwrap();
    assert_eq!(values.len(), 3, "{of}");
    values.iter().map(|value| value.as_f64().unwrap()).collect()
}

fn bytes(row: &Value, name: &str) -> Vec<f64> {
    let mut all = row["space"].as_array().unwrap().iter();
    let found = all.find(|one| one["name"] == name);
    three(found.unwrap_or_else(|| panic!("no {name} in {row}")))
}

fn assert_between(what: &str, values: &[f64], low: f64, high: f64) {
    let fits = values.iter().all(|value| (low..=high).contains(value));
    assert!(fits, "{what}: {values:?}, not from {low} to {high}");
}

fn assert_tasks(row: &Value, names: &[&str]) {
    for name in names {
        three(time(row, name, "task"));
        assert_task_clock(row, name);
    }
}

/// 100 % is not the end, and the end is not the first answer.
fn assert_ways_to_usable(row: &Value) {
    let whole = three(time(row, "restore", "host"));
    let (read, tail) = ("to 100 %", "tail after 100 %");
    let (read, tail) = (
        three(time(row, read, "host")),
        three(time(row, tail, "host")),
    );
    let usable = three(time(row, "usable", "here"));
    for at in 0..3 {
        let parts = read[at] + tail[at];
        assert!((parts - whole[at]).abs() <= 1.0, "{parts} {whole:?}");
        assert!(usable[at] >= whole[at], "{usable:?} {whole:?}");
    }
    assert_between("to 100 %", &read, 1.0, 20.0);
    assert_between("tail after 100 %", &tail, 1.5, 20.0);
    // Its address is known through the agent, so that SSH answers no sooner than that.
    let (agent, ssh) = (time(row, "boot", "here"), "boot to SSH banner");
    let (agent, ssh) = (three(agent), three(time(row, ssh, "host")));
    for at in 0..3 {
        assert!(ssh[at] + 1.0 >= agent[at], "{ssh:?} {agent:?}");
    }
    assert_between("SSH", &ssh, 0.0, 25.0);
}

/// Each command has become a task of its own, and each was found.
fn assert_each_its_task(recording: &Recording) {
    let tasks = recording
        .of("value")
        .filter(|value| value["name"] == "task");
    let tasks: Vec<_> = tasks.map(|task| text(task, "value")).collect();
    let different: BTreeSet<_> = tasks.iter().collect();
    assert_eq!(different.len(), tasks.len(), "{tasks:?}");
    for (kind, count) in [
        ("qmsnapshot", 3),
        ("qmrollback", 3),
        ("qmdelsnapshot", 3),
        ("vzdump", 3 + 9 + 3),
        ("qmrestore", 6),
        ("vzrestore", 3),
        ("vzdestroy", 3),
        ("qmdestroy", 6),
    ] {
        let kind = format!(":{kind}:");
        let found = tasks.iter().filter(|task| task.contains(&kind)).count();
        assert_eq!(found, count, "{kind} {tasks:?}");
    }
}

fn assert_store([first, dirty, full]: [&Value; 3]) {
    assert_tasks(first, &["backup"]);
    assert_tasks(dirty, &["backup again", "restore"]);
    assert_tasks(full, &["backup after a restart"]);
    assert_ways_to_usable(dirty);
    assert_between("first", &bytes(first, "transferred"), DISK, DISK);
    assert_between(
        "dirty",
        &bytes(dirty, "transferred"),
        SIZE / 4.0,
        DISK / 8.0,
    );
    assert_between("full", &bytes(full, "transferred"), DISK, DISK);
    // Less the empty store, which takes more than what the guest holds; what is in chunks is compressed.
    for name in ["datastore, apparent", "datastore, allocated"] {
        assert_between(name, &bytes(first, name), SIZE, 2.0 * SIZE);
    }
    let again = bytes(dirty, "datastore, allocated by the second backup");
    assert_between("again", &again, SIZE / 4.0, SIZE);
    three(time(dirty, "verified by the store", "host"));
}

/// What is free at both ends, before and after. Nobody else writes where the store is.
fn assert_room(vzdump: &Value, first: &Value) {
    for row in [vzdump, first] {
        for name in [
            "disks before",
            "disks after",
            "archives before",
            "archives after",
        ] {
            let name = format!("free for {name}");
            assert_between(&name, &bytes(row, &name), SIZE, f64::MAX);
        }
    }
    let free = |at: &str| bytes(first, &format!("free for archives {at}"));
    for (before, after) in free("before").iter().zip(free("after")) {
        assert!(after < *before, "{before} {after}");
    }
}

fn assert_versions(report: &Value) {
    let node_is = report["environment"].to_string();
    for version in ["pve-manager/", "proxmox-backup-server "] {
        assert!(node_is.contains(version), "{version}: {node_is}");
    }
}

#[test]
fn every_method_three_times_is_timed_and_proved_and_leaves_nothing() {
    let Some(node) = Node::start(&["btrfs", "pbs"]) else {
        return;
    };
    let before = (node.there(), node.sh(STORES));
    node.fault(&["rollback-takes", "2"]);
    node.fault(&["restore-pace", "2"]);
    node.fault(&["flush-takes", "2"]);
    let all = arguments();
    let all: Vec<&str> = all.iter().map(String::as_str).collect();
    let (ended, recording) = node.session("a.jsonl", &all);
    let report = ended.assert_good().json();
    let rows = report["rows"].as_array().unwrap();
    let series: Vec<_> = rows
        .iter()
        .map(|row| (text(row, "method"), text(row, "series")))
        .collect();
    assert_eq!(
        series,
        [
            ("pve-snapshot", "running"),
            ("pve-vzdump", "full"),
            ("pve-pbs", "first"),
            ("pve-pbs", "dirty-bitmap"),
            ("pve-pbs", "full"),
            ("pve-ct", "full"),
        ]
    );
    for row in rows {
        assert_eq!(
            row["states"],
            serde_json::json!(["ok", "ok", "ok"]),
            "{row}"
        );
        if row["method"] == "pve-pbs" && row["series"] != "dirty-bitmap" {
            assert_eq!(row["verified"]["of"], 0, "{row}");
            continue;
        }
        assert_eq!(row["verified"]["matched"], 3, "{row}");
        assert_eq!(row["verified"]["of"], 3, "{row}");
        let share = text(&row["verified"], "share");
        assert!(share.starts_with("payload, 0.01 of "), "{share}");
    }
    let [snapshot, vzdump, first, dirty, full, container] = &rows[..] else {
        panic!("{report}");
    };

    assert_tasks(
        snapshot,
        &["clone", "backup", "restore", "start", "delete the snapshot"],
    );
    assert_between(
        "rollback",
        &three(time(snapshot, "restore", "host")),
        2.0,
        20.0,
    );
    // A quarter of the payload was written since, and the deleted payload is what the snapshot holds.
    assert_between(
        "held",
        &bytes(snapshot, "held by the snapshot"),
        SIZE / 4.0,
        SIZE,
    );

    assert_tasks(
        vzdump,
        &["clone", "backup", "destroy the guest", "restore", "start"],
    );
    assert_ways_to_usable(vzdump);
    for (name, low, high) in [
        ("archive", SIZE, 4.0 * SIZE),
        ("archive size", SIZE, 4.0 * SIZE),
        ("transferred", DISK, DISK),
        ("read", DISK, DISK),
        ("sparse", DISK - 8.0 * SIZE, DISK - SIZE),
    ] {
        assert_between(name, &bytes(vzdump, name), low, high);
    }

    assert_store([first, dirty, full]);
    assert_room(vzdump, first);
    assert_versions(&report);

    assert_tasks(
        container,
        &["create", "backup", "destroy the container", "restore"],
    );
    assert_between("written", &bytes(container, "written"), SIZE, 8.0 * SIZE);
    assert_between("archive", &bytes(container, "archive"), SIZE, 4.0 * SIZE);

    assert_each_its_task(&recording);
    assert!(recording.of("proof").all(|proof| proof["verdict"] == true));
    for (name, state, _) in recording.leaves() {
        assert_eq!(state, "undone", "{name}");
    }
    assert_eq!((node.there(), node.sh(STORES)), before);
    let elsewhere = "pvesm list pbs1; ls /mnt/pve/btr/images; ls /run/qemu-server /run/lxc | grep pid; sed -n '/ 0$/p' /var/log/pve/tasks/active";
    let left = node.sh(elsewhere);
    assert_eq!(left.lines().count(), 1, "the head of a list alone: {left}");
}

#[test]
fn a_store_of_a_run_whose_program_was_killed_is_found_and_goes_with_all_that_belongs_to_it() {
    let Some(node) = Node::start(&["pbs"]) else {
        return;
    };
    let before = (node.there(), node.sh(STORES));
    // The server has a name of its own, and could be another host.
    node.machine.know(&node.world, "pbs1");
    let sets = ["template=9000", "size=8MiB", "store_path=/mnt/pbs"];
    let sets = sets.iter().flat_map(|set| ["--set", set]);
    let method = ["--method", "pve-pbs", "--role", "server=pbs1"];
    let all: Vec<&str> = method.into_iter().chain(sets).collect();
    let mut going = node.going("a.jsonl", &all);
    going.until_started("payload changed");
    going.signal(Signal::KILL);
    going.wait();
    // Nobody has seen its secret but the node.
    let secret = node.sh("cat /etc/pve/priv/storage/comeback-*.pw");
    assert!(secret.trim().len() > 20, "{secret}");
    let recording = std::fs::read_to_string(node.world.path("a.jsonl")).unwrap();
    assert!(!recording.contains(secret.trim()));
    assert!(recording.contains("generate-token"));
    // A copy is in it: it is named, and no part of it goes before that copy.
    let store = format!("comeback-{}-r1", going.session());
    let named = node.left();
    for what in ["copy     backup 1", "sandbox  storage", "sandbox  token"] {
        let line = format!("{what}  {store}");
        assert!(named.contains(&line), "{line}: {named}");
    }
    assert!(
        named.contains(&format!("sandbox  store  /mnt/pbs/{store}")),
        "{named}"
    );
    // What the server has goes when the node has taken its copy away, and not before.
    let first = ["recover", "--host", "pve1", "--remove"];
    let first = node.world.run(&first);
    assert_eq!(first.code, 1, "{}", first.out);
    assert!(first.out.contains("the store still holds"), "{}", first.out);
    node.recover(&before.0);
    assert_eq!(node.sh(STORES), before.1);
}
