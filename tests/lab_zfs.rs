//! ZFS in the lab's machine: laws that hold whatever the machine, not bytes.
#![cfg(test)]

#[path = "support/events.rs"]
mod events;
#[path = "support/going.rs"]
mod going;
#[path = "support/lease.rs"]
mod lease;
#[path = "support/missing.rs"]
mod missing;
#[path = "support/sabotage.rs"]
mod sabotage;
#[path = "support/sandboxed.rs"]
mod sandboxed;
#[path = "support/vm.rs"]
mod vm;
#[path = "support/world.rs"]
mod world;

use events::Recording;
use going::Going;
use rustix::process::Signal;
use sabotage::sabotaged;
use sandboxed::{Sandboxed, assert_all_undone};
use serde_json::json;
use world::Ended;

/// 12 files of 256 KiB, of which a change set overwrites 1, deletes 1 and creates 1.
const SMALL: [&str; 4] = ["--set", "size=3MiB", "--set", "files=12"];
/// A load that is long enough for a snapshot in it, and leaves the machine time for more.
const LOAD: [&str; 12] = [
    "--set",
    "zfs-experiment.load_size=4MiB",
    "--set",
    "zfs-experiment.load_seconds=8",
    "--set",
    "zfs-experiment.idle_pause=0",
    "--set",
    "zfs-experiment.load_before=0",
    "--set",
    "zfs-experiment.load_rate=100",
    "--set",
    "zfs-experiment.times=1",
];
const MIB: f64 = 1_048_576.0;

fn with<'a>(parts: &[&[&'a str]]) -> Vec<&'a str> {
    parts.concat()
}

/// So many rows, of each of which all three runs are good and proved.
fn assert_three(run: &Ended, rows: usize) {
    let report = run.json();
    let all = report["rows"].as_array().unwrap();
    assert_eq!(all.len(), rows);
    for row in all {
        assert_eq!(row["states"], json!(["ok", "ok", "ok"]), "{row}");
        assert_eq!(row["verified"]["matched"], 3, "{row}");
        assert_eq!(row["verified"]["of"], 3, "{row}");
    }
}

/// An increment is less than the whole, which is as large as it was expected to be; all that was proved
/// is what it was.
fn assert_streams(recording: &Recording) {
    let (full, estimate, part) = (
        recording.values("full stream"),
        recording.values("full stream, estimate"),
        recording.values("incremental stream"),
    );
    assert_eq!((full.len(), estimate.len(), part.len()), (3, 3, 3));
    for ((full, estimate), part) in full.iter().zip(&estimate).zip(&part) {
        assert!(
            *full > 3.0 * MIB && *part > 0.5 * MIB && *part < full / 2.0,
            "{full} {part}"
        );
        assert!((full / estimate - 1.0).abs() < 0.1, "{full} {estimate}");
    }
    assert!(recording.of("proof").all(|proof| proof["verdict"] == true));
}

#[test]
fn the_experiment_three_times_is_verified_obeys_its_laws_and_leaves_nothing() {
    let Some(lab) = Sandboxed::new() else { return };
    let more = "--method zfs-experiment --reps 3 --format json --set snapshots=[1,4] --set send=compressed";
    let more: Vec<_> = more.split(' ').collect();
    let (run, recording) = lab.run("r.jsonl", &with(&[&more, &SMALL, &LOAD]));
    run.assert_good();
    assert_three(&run, 1);
    for (name, count) in [
        ("rollback", 3),
        ("space back", 3),
        ("snapshot's space back", 3),
        ("snapshot, idle", 3),
        ("delete, idle", 3),
        ("snapshot, under load", 3),
        ("delete, after the load", 3),
        ("many: create", 6),
        ("many: list", 6),
        ("many: account", 6),
        ("many: delete", 6),
        ("full replication", 3),
        ("incremental replication", 3),
        ("bandwidth", 3),
        ("latency p99", 3),
        ("arc size", 3),
        ("arc limit", 3),
    ] {
        let all = recording.values(name);
        assert_eq!(all.len(), count, "{name}");
        assert!(all.iter().all(|value| *value > 0.0), "{name}: {all:?}");
    }
    sandboxed::assert_rate(&recording, 100.0);
    let many = recording.of("space");
    let many: Vec<_> = many
        .filter(|space| space["name"] == "many: snapshots")
        .map(|space| space["held"].as_f64().unwrap())
        .collect();
    assert!(
        many.len() == 6 && many.iter().all(|held| *held < MIB),
        "{many:?}"
    );
    // What the pool says is held and what the file system says are one, but for some metadata: two files
    // of 256 KiB were overwritten or deleted.
    let held = recording.values("held by the first snapshot");
    let own: Vec<_> = recording
        .of("space")
        .filter(|space| space["name"] == "held by usedbysnapshots")
        .map(|space| space["held"].as_f64().unwrap())
        .collect();
    assert_eq!((held.len(), own.len()), (3, 3));
    for (pool, own) in held.iter().zip(&own) {
        assert!((pool - own).abs() < 0.3 * MIB, "{pool} {own}");
        assert!((0.5 * MIB..1.2 * MIB).contains(own), "{own}");
    }
    for name in ["change set without a snapshot", "still held after"] {
        let all = recording.values(name);
        let none = |value: &f64| value.abs() < 0.3 * MIB;
        assert!(all.len() == 3 && all.iter().all(none), "{name}: {all:?}");
    }
    assert_streams(&recording);
    assert_all_undone(&recording);
    lab.assert_nothing_left();
}

#[test]
fn send_three_times_is_verified_obeys_its_laws_and_leaves_nothing_nor_does_one_that_is_stopped() {
    let Some(lab) = Sandboxed::new() else { return };
    let more = ["--method", "zfs-send", "--reps", "3", "--format", "json"];
    let (run, recording) = lab.run("r.jsonl", &with(&[&more, &SMALL]));
    run.assert_good();
    // What is sent in part is a series of its own.
    assert_three(&run, 2);
    for name in ["backup", "backup, incremental", "restore"] {
        let all = recording.values(name);
        assert_eq!(all.len(), 3, "{name}");
        assert!(all.iter().all(|value| *value > 0.0), "{name}: {all:?}");
    }
    assert_streams(&recording);
    assert_all_undone(&recording);
    lab.assert_nothing_left();

    let once = with(&[&["--method", "zfs-send", "--reps", "1"], &SMALL]);
    let arguments = lab.arguments("stop.jsonl", &once);
    let arguments: Vec<_> = arguments.iter().map(String::as_str).collect();
    let mut going = Going::start(lab.world.command(&arguments));
    going.until_started("full copy proved");
    going.signal(Signal::INT);
    assert_eq!(going.wait().code, 130);
    lab.assert_nothing_left();
}

#[test]
fn a_named_dataset_is_only_read_and_a_stream_that_breaks_is_resumed() {
    let Some(mut lab) = Sandboxed::new() else {
        return;
    };
    let send = ["--method", "zfs-send", "--reps", "1"];
    // In a sandbox also the article's way: over what reading the copy has changed.
    let own = "--method zfs-experiment --set interrupt=true --set zfs-send.send=raw --set force=true --set recordsize=16K \
               --set compression=zstd";
    let own: Vec<_> = own.split_whitespace().collect();
    let (run, recording) = lab.run("own.jsonl", &with(&[&send, &own, &SMALL, &LOAD]));
    run.assert_good();
    // What was left of it alone went through, and is called so.
    assert!(recording.values("full stream").is_empty());
    let resumed = recording.values("rest of the full stream");
    assert!((0.5 * MIB..2.6 * MIB).contains(&resumed[0]), "{resumed:?}");
    assert_eq!(resumed.len(), 2);
    assert_eq!(recording.values("incremental stream").len(), 2);
    assert_all_undone(&recording);
    lab.assert_nothing_left();

    lab.vm.sh(
        "zpool create -o cachefile=none tank /dev/vdb && zfs create -o compression=off tank/web && mkdir /tank/web/a && \
         dd if=/dev/urandom of=/tank/web/a/b bs=1M count=6 2>/dev/null && zfs snapshot tank/web@theirs && zpool sync",
    );
    lab.begin_here();
    let state = "zfs get -Hp -o property,value guid,used,written,mounted,readonly,comeback:subject tank/web";
    let was = lab.vm.sh(state);
    let named = with(&[&send, &["--subject", "dataset:tank/web"]]);
    let (run, recording) = lab.run("named.jsonl", &named);
    run.assert_good();
    assert!(recording.values("full stream")[0] > 6.0 * MIB);
    assert!(recording.values("restore").len() == 1);
    assert_all_undone(&recording);
    lab.assert_nothing_left();
    assert_eq!(lab.vm.sh(state), was);

    // Into another pool: that of the dataset, in which the snapshot holds what is written over, is
    // watched as well.
    lab.vm.sh("zpool create -o cachefile=none other /dev/vdc");
    lab.begin_here();
    let beyond = with(&[&named, &["--set", "into=other"]]);
    let (run, recording) = lab.run("into.jsonl", &beyond);
    run.assert_good();
    for pool in ["pool tank, ZFS", "pool other, ZFS"] {
        assert!(
            recording.of("pool").any(|seen| seen["pool"] == pool),
            "{pool}"
        );
    }
    lab.assert_nothing_left();

    // Below another dataset, of which there is none; or which has no room.
    lab.vm.sh("zfs create -o quota=4M tank/small");
    lab.begin_here();
    // One look at the machine is enough for all of them.
    let text = include_str!("../methods/zfs-send.toml");
    let intos = [
        ("nowhere", "tank/nowhere", "tank/nowhere is not there"),
        ("small", "tank/small", "no room for the copy"),
        ("within", "tank/web", "which is only read"),
        ("option", "-r", "is no dataset"),
    ];
    let mut more = Vec::new();
    for (name, into, _) in intos {
        let draft = text.replace(
            "into        = { default = \"\"",
            &format!("into = {{ default = {into:?}"),
        );
        assert_ne!(draft, text);
        lab.world.method(name, &draft);
        more.extend(["--method", name]);
    }
    let said = lab.assert_refused("dataset:tank/web", &more);
    for (name, _, says) in intos {
        let told = said.split(&format!("{name} on lab: cannot run")).nth(1);
        let mut lines = told.unwrap_or_default().lines().take(3);
        assert!(lines.any(|line| line.contains(says)), "{name}: {said}");
    }

    // What is no dataset, is none of theirs, or cannot be read.
    lab.vm.sh(
        "zfs create -s -V 64M tank/disk; zfs create -o mountpoint=none tank/bare; \
         zfs create -o mountpoint=legacy tank/old; mkdir /mnt/old; mount -t zfs tank/old /mnt/old; udevadm settle",
    );
    lab.begin_here();
    for (id, says) in [
        ("tank/none", "tank/none is not there"),
        ("tank/disk", "is no file system but a volume"),
        ("tank/bare", "is not mounted"),
        ("tank/old", "mountpoint=legacy"),
        ("tank/web@theirs", "as `zfs list` names it"),
    ] {
        let said = lab.assert_refused(&format!("dataset:{id}"), &["--method", "zfs-send"]);
        assert!(said.contains(says), "{id}: {said}");
    }
}

#[test]
fn what_goes_wrong_is_said_in_a_sentence_and_undone() {
    let Some(lab) = Sandboxed::new() else { return };
    for (name, before, run, says) in [
        (
            "modified",
            "use  = \"zfs-ready\"",
            "zfs set readonly=off {{ id }}-target/data && touch {{ box }}/copy/x && zpool sync {{ id }}-target",
            "was changed since",
        ),
        (
            "no-common",
            "use  = \"zfs-ready\"",
            "zfs destroy {{ id }}-target/data@comeback-{{ id }}-1",
            "no common snapshot",
        ),
        (
            "held",
            "name     = \"destroy the original and its snapshots\"",
            "zfs hold theirs {{ id }}-source/data@comeback-{{ id }}-1",
            "busy",
        ),
        (
            "full-source",
            "name     = \"change set\"",
            "zfs create {{ id }}-source/fill && { dd if=/dev/urandom of={{ box }}/source/fill/x bs=1M count=2000 2>/dev/null; zpool sync {{ id }}-source; }",
            "No space left",
        ),
        (
            "full-target",
            "name    = \"backup\"",
            "zfs create {{ id }}-target/fill && { dd if=/dev/urandom of={{ box }}/target/fill/x bs=1M count=2000 2>/dev/null; zpool sync {{ id }}-target; }",
            "out of space",
        ),
    ] {
        let mut text = sabotaged(include_str!("../methods/zfs-send.toml"), before, run);
        if let Some(full) = name.strip_prefix("full-") {
            let head = format!("with = {{ pool = \"{full}\", image = ");
            let wanted = format!("{head}\"{{{{ size * 2 + 1073741824 }}}}\"");
            text = text.replacen(&wanted, &format!("{head}\"134217728\""), 1);
            // The tool has the last word here, not the gauge.
            text = text.replace(
                &format!("use  = \"zfs-fill\"\nwhen = \"own\"\nwith = {{ pool = \"{full}\" }}"),
                "use = \"sandbox-fill\"",
            );
        }
        lab.world.method(name, &text);
        let more = with(&[&["--method", name, "--reps", "1"], &SMALL]);
        let (run, recording) = lab.run(&format!("{name}.jsonl"), &more);
        assert_eq!(run.code, 1, "{name}: {}", run.err);
        assert!(run.err.contains(says), "{name}: {}", run.err);
        if name == "held" {
            // Who holds it lets it go; until then it stays, and what it stands on.
            let refused = lab.world.run(&["recover", "--host", "lab", "--remove"]);
            assert_eq!(refused.code, 1, "{}{}", refused.out, refused.err);
            lab.vm.sh("s=$(zfs list -H -t snapshot -o name | grep -- '-source/data@comeback-.*-1$') && zfs release theirs \"$s\"");
        }
        let kept = recording
            .leaves()
            .iter()
            .any(|(_, state, _)| state == "kept");
        if kept {
            lab.recover();
        }
        lab.assert_nothing_left();
    }
}
