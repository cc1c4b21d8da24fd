//! LVM-thin in the lab's machine: laws that hold whatever the machine, not bytes.
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
use world::Ended;

const KIB: f64 = 1024.0;
/// 12 files of 256 KiB, of which a change set overwrites 1, deletes 1 and creates 1.
const SMALL: [&str; 4] = ["--set", "size=3MiB", "--set", "files=12"];
const SNAPSHOT: [&str; 2] = ["--method", "lvm-thin-snapshot"];

/// A machine with a sandbox in it.
struct Lab(Sandboxed);

impl Lab {
    fn new() -> Option<Self> {
        Sandboxed::new().map(Self)
    }

    /// All that a run could leave there, and the volumes of others.
    fn there(&self) -> String {
        self.0.vm.there() + &self.0.vm.sh("lvs --noheadings -o lv_full_name,lv_attr")
    }

    /// Nor did LVM keep anything of it.
    fn assert_nothing_left(&self) {
        self.0.assert_nothing_left();
        let kept =
            "find /etc/lvm/archive /etc/lvm/backup /run/lvm/vgs_online -type f 2>/dev/null || :";
        assert_eq!(self.0.vm.sh(kept), "");
    }

    fn run(&self, record: &str, more: &[&str]) -> (Ended, Recording) {
        self.0.run(record, &[&SMALL, more].concat())
    }
}

/// Every value of a clock is there, and took time.
fn assert_timed(recording: &Recording, clocks: &[(&str, usize)]) {
    for (name, count) in clocks {
        let all = recording.values(name);
        assert_eq!(all.len(), *count, "{name}");
        assert!(all.iter().all(|value| *value > 0.0), "{name}: {all:?}");
    }
}

/// Two files of 256 KiB were overwritten or deleted: held are these, in chunks, and some metadata.
fn assert_held(recording: &Recording, name: &str) {
    let all = recording.values(name);
    assert_eq!(all.len(), 3, "{name}");
    let fits =
        |held: &f64| (384.0 * KIB..4096.0 * KIB).contains(held) && held % (64.0 * KIB) == 0.0;
    assert!(all.iter().all(fits), "{name}: {all:?}");
}

/// What replaces a file that nobody holds takes its room; what is rolled back gives it back.
fn assert_back(recording: &Recording, name: &str) {
    let all = recording.values(name);
    assert_eq!(all.len(), 3, "{name}");
    let fits = |left: &f64| left.abs() < 768.0 * KIB;
    assert!(all.iter().all(fits), "{name}: {all:?}");
}

/// Three good runs of one method, proved at each step, of which nothing is left.
fn assert_three(lab: &Lab, run: &Ended, recording: &Recording) {
    run.assert_good();
    let report = run.json();
    let rows = report["rows"].as_array().unwrap();
    assert_eq!(rows.len(), 1);
    assert_eq!(rows[0]["states"], serde_json::json!(["ok", "ok", "ok"]));
    assert_eq!(rows[0]["verified"]["matched"], 3);
    let proofs: Vec<_> = recording.of("proof").collect();
    assert_eq!(proofs.len(), 6);
    assert!(proofs.iter().all(|proof| proof["verdict"] == true));
    // What LVM warns of at every success is in the log, and is no warning of the step.
    let warned = |note: &&serde_json::Value| {
        note["level"] == "warning" && note["text"].as_str().unwrap().contains("thin")
    };
    assert_eq!(recording.of("note").filter(warned).count(), 0);
    let pool = recording
        .of("pool")
        .find(|pool| pool["pool"] == "thin pool");
    assert!(pool.unwrap()["metadata"].is_object());
    assert_all_undone(recording);
    lab.assert_nothing_left();
}

#[test]
fn the_experiment_three_times_is_verified_obeys_its_laws_and_leaves_nothing() {
    let Some(lab) = Lab::new() else { return };
    let mut arguments = vec![
        "--method",
        "lvm-thin-experiment",
        "--reps",
        "3",
        "--format",
        "json",
    ];
    for set in [
        "times=1",
        "load_size=4MiB",
        "load_seconds=8",
        "load_before=0",
        "load_rate=100",
    ] {
        arguments.extend(["--set", set]);
    }
    let (run, recording) = lab.run("r.jsonl", &arguments);
    assert_three(&lab, &run, &recording);
    assert_timed(
        &recording,
        &[
            ("snapshot, idle", 3),
            ("delete, idle", 3),
            ("snapshot, under load", 3),
            ("delete, after the load", 3),
            ("bandwidth", 3),
            ("latency p99", 3),
            ("rollback", 3),
            ("space back", 3),
            ("delete the first snapshot", 3),
            ("delete the second snapshot", 3),
            ("snapshot's space back", 3),
        ],
    );
    sandboxed::assert_rate(&recording, 100.0);
    assert_held(&recording, "held by the first snapshot");
    assert_back(&recording, "change set without a snapshot");
    assert_back(&recording, "still held after");
}

#[test]
fn merged_full_or_in_the_way_it_leaves_nothing() {
    let Some(lab) = Lab::new() else { return };

    // Merged, also where a second snapshot was taken since.
    let merge = "--method lvm-thin-snapshot --method lvm-thin-experiment --reps 1 --set rollback=merge --set fs=xfs \
                 --set lvm-thin-snapshot.snapshots=1,3 --set times=1 --set load_size=4MiB --set load_seconds=2 \
                 --set load_before=0.2";
    let (run, recording) = lab.run("merge.jsonl", &merge.split(' ').collect::<Vec<_>>());
    run.assert_good();
    let series: Vec<_> = recording
        .of("sample")
        .filter(|sample| sample["name"] == "rollback")
        .map(|sample| sample["series"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(series, ["snapshot, merge", "experiment, merge"]);
    for name in [
        "many: create",
        "many: list",
        "many: account",
        "many: delete",
    ] {
        let samples = recording
            .of("sample")
            .filter(|sample| sample["name"] == name);
        let counts: Vec<_> = samples
            .map(|sample| sample["labels"]["count"].clone())
            .collect();
        assert_eq!(counts, ["1", "3"], "{name}");
    }
    let used = recording.of("space");
    let used: Vec<_> = used
        .filter(|space| space["name"] == "many: used in the pool")
        .map(|space| space["stored"].as_f64().unwrap())
        .collect();
    assert!(used.len() == 2 && used[0] > 3e6, "{used:?}");
    assert_all_undone(&recording);
    lab.assert_nothing_left();

    // A pool that is full while the change set runs: what it made goes, and why is said.
    let text = include_str!("../methods/lvm-thin-snapshot.toml");
    let small = text.replace(
        "pool = \"{{ size * 2 + 536870912 }}\"",
        "pool = \"33554432\"",
    );
    assert_ne!(text, small);
    lab.0.world.method("full-pool", &small);
    let (run, recording) = lab.run(
        "full.jsonl",
        &[
            "--method",
            "full-pool",
            "--reps",
            "2",
            "--set",
            "size=12MiB",
        ],
    );
    assert_eq!(run.code, 1, "{}", run.err);
    // The poll sees it coming, or the step that reads what is used finds it there: whichever is first.
    let seen = run.err.contains("thin pool on lab is") && run.err.contains("% full");
    let found = run
        .err
        .contains("the thin pool is full: what was written last is lost");
    assert!(seen || found, "{}", run.err);
    assert_eq!(recording.ends(), ["failed"], "the session stops there");
    assert_all_undone(&recording);
    lab.assert_nothing_left();

    // A group of that name is somebody's: it is neither used nor touched.
    lab.0
        .vm
        .sh("vgcreate -q taken /dev/vdb && lvcreate -q -n theirs -l 4 taken");
    let theirs = lab.there();
    let fragment = include_str!("../methods/fragments/lvm-thin-pool.toml");
    let folder = lab.0.world.path("home/.config/comeback/methods/fragments");
    std::fs::create_dir_all(&folder).unwrap();
    let taken = fragment.replace("{{ id|replace('-', '_') }}", "taken");
    std::fs::write(folder.join("lvm-thin-pool.toml"), taken).unwrap();
    let mut once = SNAPSHOT.to_vec();
    once.extend(["--reps", "1"]);
    let (run, recording) = lab.run("taken.jsonl", &once);
    assert_eq!(run.code, 4, "{}", run.err);
    assert!(run.err.contains("taken is there already"), "{}", run.err);
    assert_all_undone(&recording);
    assert_eq!(lab.there(), theirs);
    std::fs::remove_dir_all(&folder).unwrap();
    lab.0
        .vm
        .sh("vgremove -q -y -f taken && pvremove -q /dev/vdb && rm -f /etc/lvm/*/taken*");
    lab.assert_nothing_left();
}

#[test]
fn busy_or_stopped_nothing_is_forced_and_nothing_stays() {
    let Some(lab) = Lab::new() else { return };

    // Somebody stands in the volume: it is not rolled back, and stays until they leave.
    let text = sabotaged(
        include_str!("../methods/lvm-thin-snapshot.toml"),
        "use  = \"lvm-thin-rollback\"",
        "cd {{ box }}/mnt && setsid sleep 4242 </dev/null >/dev/null 2>&1 &",
    );
    lab.0.world.method("busy", &text);
    let (run, recording) = lab.run("busy.jsonl", &["--method", "busy", "--reps", "1"]);
    assert_eq!(run.code, 1, "{}", run.err);
    assert!(run.err.contains("target is busy"), "{}", run.err);
    let kept = |name: &str| {
        let all = recording.leaves();
        all.iter()
            .any(|(known, state, _)| known == name && state == "kept")
    };
    assert!(kept("s1") && kept("group"), "{:?}", recording.leaves());
    let refused = lab.0.world.run(&["recover", "--host", "lab", "--remove"]);
    assert_eq!(refused.code, 1, "{}{}", refused.out, refused.err);
    lab.0.vm.sh("pkill -f '^sleep 4242$'");
    lab.0.recover();
    lab.assert_nothing_left();

    // Stopped by the operator: all of it is undone before it ends.
    let once = [&SMALL[..], &SNAPSHOT, &["--reps", "1"]].concat();
    let arguments = lab.0.arguments("stop.jsonl", &once);
    let arguments: Vec<_> = arguments.iter().map(String::as_str).collect();
    let mut going = Going::start(lab.0.world.command(&arguments));
    // Each step of the way has its own patience: the machine is slow.
    for step in [
        "loop device",
        "file system",
        "sha256 before",
        "snapshot proved",
    ] {
        going.until_started(step);
    }
    going.signal(Signal::INT);
    assert_eq!(going.wait().code, 130);
    lab.assert_nothing_left();
}

#[test]
fn a_named_volume_is_only_read_and_comes_back_beside_itself() {
    let Some(mut lab) = Lab::new() else { return };
    lab.0.vm.sh("vgcreate -q data /dev/vdb && lvcreate -q -y -L 512M -V 200M -T data/thin -n web 2>/dev/null && \
         mkfs.ext4 -q -E lazy_itable_init=0,lazy_journal_init=0 /dev/data/web && mkdir -p /srv/web && mount /dev/data/web /srv/web && \
         mkdir /srv/web/a && dd if=/dev/urandom of=/srv/web/a/b bs=1M count=3 2>/dev/null && sync");
    let uuid = || lab.0.vm.sh("lvs --noheadings -o lv_uuid data/web");
    let (theirs, was) = (lab.there(), uuid());
    let named = |more: &[&'static str]| {
        let mut all = SNAPSHOT.to_vec();
        all.extend(["--reps", "1", "--subject", "lv:data/web"]);
        all.extend(more);
        all
    };

    // While it is in use: beside it, by its files and by its bytes.
    let (run, recording) = lab.run("tree.jsonl", &named(&[]));
    run.assert_good();
    assert_eq!(recording.values("snapshot of the volume").len(), 1);
    assert!(recording.values("rollback").is_empty());
    let (run, _) = lab.run(
        "device.jsonl",
        &named(&["--set", "content=device", "--format", "json"]),
    );
    run.assert_good();
    assert_eq!(run.json()["rows"][0]["series"], "snapshot, device");
    assert_eq!(lab.there(), theirs);
    assert_eq!(uuid(), was);

    // What cannot be read beside its original, or must not be seen beside it.
    lab.0.vm.sh(
        "lvcreate -q -y -V 200M -T data/thin -n sub 2>/dev/null && mkfs.btrfs -q /dev/data/sub >/dev/null && \
         mkdir /srv/sub && mount /dev/data/sub /srv/sub",
    );
    lab.0.begin_here();
    for (id, set, says) in [
        (
            "data/sub",
            "content=tree",
            "no file system that can be read",
        ),
        ("data/sub", "content=device", "is a Btrfs: a second device"),
    ] {
        let more = [&SNAPSHOT[..], &["--set", set]].concat();
        let said = lab.0.assert_refused(&format!("lv:{id}"), &more);
        assert!(said.contains(says), "{id}, {set}: {said}");
    }

    // Of a volume that is not active nobody can tell before: its snapshot is not left active.
    lab.0
        .vm
        .sh("umount /srv/sub && lvchange -an data/sub && udevadm settle");
    lab.0.begin_here();
    let unseen = "--method lvm-thin-snapshot --reps 1 --subject lv:data/sub --set content=device";
    let (run, _) = lab.run("unseen.jsonl", &unseen.split(' ').collect::<Vec<_>>());
    assert_eq!(run.code, 1, "{}", run.err);
    assert!(
        run.err.contains("is a Btrfs: a second device"),
        "{}",
        run.err
    );
    let active = "lvs --noheadings -o lv_name -S 'origin=sub && lv_active=active'";
    assert_eq!(lab.0.vm.sh(active), "");
    lab.0.recover();
}
