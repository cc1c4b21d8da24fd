//! What goes wrong on a node of Proxmox VE: each time the end state is the node's, the reason is named,
//! and what is left is known.
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

use events::{Recording, text};
use going::Going;
use node::{Node, TEMPLATE, time};
use rustix::process::Signal;

/// A guest of its own, its archive on a disk of its own.
const OWN: [&str; 8] = [
    "--method",
    "pve-vzdump",
    "--set",
    TEMPLATE,
    "--set",
    "size=24MiB",
    "--set",
    "storage=bkp",
];
/// The same, of which a step is slow enough to be looked at: nothing but the copy takes time.
const SLOW: &str = "60";

fn own(more: &[&'static str]) -> Vec<&'static str> {
    [&OWN, more].concat()
}

/// Why a step ended as it did.
fn cause<'a>(recording: &'a Recording, step: &str) -> &'a str {
    text(recording.end_of(step), "cause")
}

/// What is remarked while it runs.
fn notes(recording: &Recording) -> String {
    let all: Vec<_> = recording
        .of("note")
        .map(|note| text(note, "text"))
        .collect();
    all.join("\n")
}

/// Waits until the log of a step has this in it.
fn until_said(going: &mut Going, says: &str) {
    let says = says.to_owned();
    going.until(|event| {
        event["ev"] == "log"
            && event["text"]
                .as_str()
                .is_some_and(|text| text.contains(&says))
    });
}

/// The number that the session's own guest has.
fn number(recording: &Recording) -> String {
    let value = recording.of("value").find(|value| value["name"] == "vmid");
    text(value.unwrap(), "value").to_owned()
}

#[test]
fn odd_output_of_a_good_run_is_understood_and_a_warning_is_no_failure() {
    let Some(node) = Node::start(&[]) else { return };
    let before = node.there();
    node.fault(&["upid-user", "root@pam!odd-one"]);
    node.fault(&["comma"]);
    node.fault(&["notification"]);
    node.fault(&["warnings", "2", "the clock was set back"]);
    let (ended, recording) = node.session("a.jsonl", &own(&["--set", "place=same"]));
    let row = ended.assert_good().json()["rows"][0].clone();
    assert_eq!(row["states"], serde_json::json!(["warnings"]), "{row}");
    assert_eq!(
        time(&row, "backup", "task")["values"]
            .as_array()
            .unwrap()
            .len(),
        1,
        "it counts"
    );
    assert_eq!(row["verified"]["matched"], 1);
    assert_eq!(recording.end_of("backup")["end"], "warnings");
    let said = notes(&recording);
    for words in ["2 warnings were told", "could not notify via target"] {
        assert!(said.contains(words), "{words}: {said}");
    }
    // Its log has them, and it can be read.
    let log = String::from_utf8(recording.out_of("backup")).unwrap();
    assert!(log.contains("WARN: the clock was set back"), "{log}");
    let mut tasks = recording
        .of("value")
        .filter(|value| value["name"] == "task");
    let task = text(tasks.next().unwrap(), "value").to_owned();
    let parts: Vec<_> = task.split(':').collect();
    assert_eq!(
        (parts[3].len(), parts[7]),
        (9, "root@pam!odd-one"),
        "{task}"
    );
    // What the log tells with commas is what its lines mean.
    let space = row["space"].as_array().unwrap();
    let figure = |name: &str| {
        space.iter().find(|one| one["name"] == name).unwrap()["median"]
            .as_f64()
            .unwrap()
    };
    assert!((figure("transferred") - 536_870_912.0).abs() < 1.0, "{row}");
    let (sparse, archive) = (figure("sparse"), figure("archive"));
    assert!(
        sparse > 400.0 * 1_048_576.0 && sparse < 536_870_912.0 - 25_165_824.0,
        "{row}"
    );
    assert!(archive > 25_165_824.0, "{row}");
    assert_eq!(node.there(), before);
}

#[test]
fn a_storage_that_fills_up_and_a_task_that_dies_are_named_and_taken_away() {
    let Some(node) = Node::start(&[]) else { return };
    let before = node.there();

    // The storage is full in the middle: the compressor knows, not the summary.
    node.fault(&["backup-pace", SLOW]);
    let mut going = node.going("full.jsonl", &OWN);
    until_said(&mut going, "started backup task");
    node.fault(&["full", "/mnt/pve/bkp", "1024"]);
    let ended = going.wait();
    node.fault(&["-d", "full", "/mnt/pve/bkp"]);
    assert_eq!(ended.code, 1, "{}", ended.err);
    // Or the watch of the storage has seen it before the compressor did.
    if going.heard.end_of("backup")["end"] == "stopped" {
        assert!(ended.err.contains("has to leave"), "{}", ended.err);
    } else {
        let why = cause(&going.heard, "backup");
        assert!(why.contains("No space left on device"), "{why}");
    }
    node.recover(&before);

    // A crash: no verdict, and lock, pieces and the job in the guest's process stay.
    node.fault(&["-d", "backup-pace"]);
    node.fault(&["backup-dies", "50"]);
    let (ended, recording) = node.session("dies.jsonl", &OWN);
    assert_eq!(ended.code, 1, "{}", ended.err);
    assert_eq!(recording.end_of("backup")["end"], "lost");
    let why = cause(&recording, "backup");
    assert!(
        why.contains("no verdict") && why.contains("UPID:pve1:"),
        "{why}"
    );
    // Nothing is unlocked from here. Once somebody has looked, and has done it, the rest goes.
    let (named, kept) = (
        node.left(),
        node.world.run(&["recover", "--host", "pve1", "--remove"]),
    );
    assert_eq!(kept.code, 1, "{}", kept.out);
    let guest = number(&recording);
    assert!(named.contains(&format!("guest  {guest}")), "{named}");
    let next = format!("say 'qm unlock {guest}' there, then recover again");
    for says in ["locked (backup)", "no task of it runs", &next] {
        assert!(kept.out.contains(says), "{says}: {}", kept.out);
    }
    assert!(
        node.sh(&format!("qm config {guest}"))
            .contains("lock: backup")
    );
    node.sh(&format!("qm unlock {guest}"));
    node.recover(&before);
}

#[test]
fn a_lock_of_somebody_else_is_told_with_its_holder_or_waited_for_in_a_series_of_its_own() {
    let Some(node) = Node::start(&[]) else { return };
    node.guest(131, "shop-db", "web");
    let before = node.there();

    // The guest's own: refused, and by whom it is held.
    node.fault(&["busy", "131", "300"]);
    let named = ["--method", "pve-vzdump", "--subject", "vm:131"];
    let (ended, _) = node.session("locked.jsonl", &named);
    assert_eq!(ended.code, 4, "{}", ended.err);
    let task = node
        .sh("sed -n 's/^\\(UPID:[^ ]*:vzdump:131:[^ ]*\\) 0.*/\\1/p' /var/log/pve/tasks/active");
    let says = format!(
        "locked (backup) by the task {}; wait for its end",
        task.trim()
    );
    assert!(ended.err.contains(&says), "{says}: {}", ended.err);

    // The node's, of all backups: waited for, and the run is of another series.
    let mut going = node.going("waits.jsonl", &OWN);
    until_said(&mut going, "trying to get global lock");
    node.fault(&["-d", "busy"]);
    let ended = going.wait();
    assert_eq!(ended.code, 0, "{}", ended.err);
    let sample = going
        .heard
        .of("sample")
        .find(|sample| sample["name"] == "backup");
    assert_eq!(sample.unwrap()["series"], "waited");
    assert!(
        going
            .heard
            .of("mark")
            .any(|mark| mark["name"] == "lock wait")
    );
    assert_eq!(node.there(), before);
}

#[test]
fn a_restore_that_breaks_leaves_a_zombie_that_is_named_and_the_copy_that_is_kept() {
    let Some(node) = Node::start(&[]) else { return };
    let before = node.there();
    node.fault(&["restore-breaks", "30"]);
    let (ended, recording) = node.session("a.jsonl", &own(&["--set", "place=same"]));
    assert_eq!(ended.code, 1, "{}", ended.err);
    let restore = recording.end_of("restore");
    assert_eq!(restore["end"], "failed", "{restore}");
    let why = cause(&recording, "restore");
    assert!(why.contains("short vma extent"), "{why}");
    // What is left of the guest, and the one copy.
    let guest = number(&recording);
    assert_eq!(node.sh(&format!("qm config {guest}")), "memory: 128\n");
    let archive = node.sh("ls /mnt/pve/bkp/dump/*.vma.zst");
    let named = node.left();
    for words in [
        &format!("restored  {guest}"),
        &format!(
            "archive  bkp:backup/{}",
            archive.trim().rsplit('/').next().unwrap()
        ),
    ] {
        assert!(named.contains(words), "{words}: {named}");
    }
    assert!(ended.err.contains("archive is kept"), "{}", ended.err);
    node.fault(&["-d", "restore-breaks"]);
    node.recover(&before);
}

#[test]
fn a_link_that_is_lost_costs_nothing_and_a_task_without_its_command_is_followed_by_its_name() {
    let Some(node) = Node::start(&["btrfs"]) else {
        return;
    };
    let before = node.there();

    // All connections end in the middle of a backup: it goes on, and is found again.
    node.fault(&["backup-pace", "6"]);
    let mut going = node.going("drop.jsonl", &OWN);
    until_said(&mut going, "started backup task");
    node.fault(&["drop"]);
    let ended = going.wait();
    assert_eq!(ended.code, 0, "{}", ended.err);
    assert!(notes(&going.heard).contains("connection was lost"));
    let log = String::from_utf8(going.heard.out_of("backup")).unwrap();
    assert!(
        log.ends_with("INFO: Backup job finished successfully\n"),
        "{log}"
    );
    let seconds = going.heard.end_of("backup")["seconds"].as_f64().unwrap();
    assert!((5.0..30.0).contains(&seconds), "the task's own: {seconds}");
    assert_eq!(node.there(), before);

    // A command is killed, and its silent task goes on to its end: nobody writes its verdict any more.
    node.fault(&["rollback-takes", "300"]);
    let snapshot = ["--method", "pve-snapshot", "--set", "disks=btr"];
    let mut going = node.going("killed.jsonl", &[&snapshot, &OWN[2..6]].concat());
    going.until_started("restore");
    node.sh("until pkill -KILL -f '^/usr/bin/perl -T /usr/sbin/qm rollback'; do sleep 0.1; done");
    going.until(|event| {
        event["ev"] == "note" && text(event, "text").contains("followed by its name")
    });
    node.fault(&["-d", "rollback-takes"]);
    let ended = going.wait();
    assert_eq!(ended.code, 1, "{}", ended.err);
    let said = notes(&going.heard);
    assert!(
        said.contains("the task goes on and is followed by its name: UPID:pve1:"),
        "{said}"
    );
    assert_eq!(going.heard.end_of("restore")["end"], "lost");
    let why = cause(&going.heard, "restore");
    assert!(
        why.contains("no verdict") && why.contains(":qmrollback:"),
        "{why}"
    );
    node.recover(&before);
}

#[test]
fn a_guest_that_falls_silent_stops_the_session_and_all_is_undone() {
    let Some(node) = Node::start(&[]) else { return };
    let before = node.there();
    node.fault(&["agent-silent-at", "sha256sum"]);
    let (ended, recording) = node.session("a.jsonl", &OWN);
    assert_eq!(ended.code, 1, "{}", ended.err);
    let why = cause(&recording, "sha256 before");
    assert!(why.contains("agent is not running"), "{why}");
    let mut planned = recording.state("step", "planned");
    assert!(planned.all(|step| step["name"] != "backup"));
    node.fault(&["-d", "agent-silent-at"]);
    node.fault(&["-d", "agent-silent"]);
    node.recover(&before);

    // One that does not come up again: the operator's stop ends the wait.
    let mut going = node.going("b.jsonl", &own(&["--set", "place=same"]));
    going.until_started("backup");
    node.fault(&["no-boot"]);
    going.until_started("answer");
    going.signal(Signal::INT);
    let ended = going.wait();
    assert_eq!(ended.code, 130, "{}", ended.err);
    node.fault(&["-d", "no-boot"]);
    assert_eq!(node.there(), before);
}

#[test]
fn a_log_that_stops_is_no_end_and_a_task_that_hears_no_signal_is_ended_through_the_interface() {
    let Some(node) = Node::start(&[]) else { return };
    let before = node.there();
    // Its log tells nothing for a while: the task's time is its own, and nothing failed.
    let mut going = node.going("silent.jsonl", &OWN);
    going.until_started("sha256 before");
    node.fault(&["silence"]);
    going.until_started("backup");
    std::thread::sleep(std::time::Duration::from_secs(8));
    node.fault(&["-d", "silence"]);
    let ended = going.wait();
    assert_eq!(ended.code, 0, "{}", ended.err);
    assert_eq!(going.heard.end_of("backup")["end"], "ok");
    assert!(going.heard.end_of("backup")["seconds"].as_f64().unwrap() >= 7.0);
    assert_eq!(node.there(), before);

    // Told once to end, it does not hear; nothing is killed, the node is asked to end it.
    node.fault(&["backup-pace", "120"]);
    node.fault(&["deaf", "1"]);
    let mut going = node.going("deaf.jsonl", &own(&["--set", "compress=0"]));
    until_said(&mut going, "started backup task");
    going.signal(Signal::INT);
    let ended = going.wait();
    assert_eq!(ended.code, 130, "{}", ended.err);
    assert_eq!(going.heard.end_of("backup")["end"], "stopped");
    let index = node.sh("grep :vzdump: /var/log/pve/tasks/index | tail -n 1");
    assert!(index.contains("interrupted by signal"), "{index}");
    assert!(!node.sh("cat /run/fault/deaf").contains('1'));
    assert_eq!(node.there(), before);
}

#[test]
fn what_others_make_under_its_number_or_back_up_meanwhile_is_never_taken_away() {
    let Some(node) = Node::start(&[]) else { return };
    node.guest(131, "shop-db", "web");
    node.fault(&["restore-pace", SLOW]);
    let named = ["--method", "pve-vzdump", "--subject", "vm:131"];
    let mut going = node.going("a.jsonl", &[&named[..], &["--set", "storage=bkp"]].concat());
    until_said(&mut going, "restore vma archive");
    going.signal(Signal::KILL);
    going.wait();
    // Its operator ends what goes on, takes away what is left of it, and has the next number: the same.
    let ended = "pkill -INT -f '[t]ask UPID.*:qmrestore:' && while pgrep -f '[t]ask UPID.*:qmrestore:' >/dev/null; do sleep 0.2; done";
    node.sh(&format!("{ended}; qm destroy 100 >/dev/null"));
    node.fault(&["-d", "restore-pace"]);
    node.guest(100, "prod-db", "prod");
    // And a backup of theirs runs.
    node.fault(&["backup-pace", SLOW]);
    node.sh("vzdump 131 --storage bkp --compress zstd --mode snapshot >/dev/null 2>&1 & until ls /mnt/pve/bkp/dump/*.dat >/dev/null 2>&1; do sleep 0.2; done");
    let done = node.world.run(&["recover", "--host", "pve1", "--remove"]);
    for theirs in ["restored  100", "pieces"] {
        assert!(!done.out.contains(theirs), "{theirs}: {}", done.out);
    }
    node.fault(&["-d", "backup-pace"]);
    node.sh("while pgrep -f '[t]ask UPID.*:vzdump:' >/dev/null; do sleep 0.2; done");
    let guests = node.sh("qm list; tail -n 1 /var/log/pve/tasks/index");
    assert!(guests.contains("prod-db"), "{guests}");
    assert!(guests.contains(":vzdump:131:"), "{guests}");
    assert!(guests.trim_end().ends_with(" OK"), "{guests}");
    for _ in 0..2 {
        let done = node.world.run(&["recover", "--host", "pve1", "--remove"]);
        done.assert_good();
        let left = node.sh("qm list; pvesm list bkp");
        assert!(left.contains("prod-db"), "{left}");
        assert_eq!(left.matches("vzdump-qemu-131-").count(), 1, "{left}");
    }
}
