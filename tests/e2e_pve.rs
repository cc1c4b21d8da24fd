//! Guests of a node of Proxmox VE: backed up, brought back, proved, and taken away again.
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

use node::{Node, TEMPLATE, assert_task_clock, time};
use rustix::process::Signal;
use serde_json::Value;

const OWN: [&str; 6] = [
    "--method",
    "pve-vzdump",
    "--set",
    TEMPLATE,
    "--set",
    "size=24MiB",
];

#[test]
fn a_guest_of_its_own_is_destroyed_and_comes_back() {
    let Some(node) = Node::start(&[]) else { return };
    let before = node.there();
    let mut all = OWN.to_vec();
    all.extend(["--set", "place=same"]);
    let (ended, recording) = node.session("a.jsonl", &all);
    let row = ended.assert_good().json()["rows"][0].clone();
    for name in ["clone", "backup", "restore", "start"] {
        assert_task_clock(&row, name);
    }
    assert_eq!(row["verified"]["matched"], 1);
    assert_eq!(row["verified"]["share"], "payload, 0.02 of 0.5 GiB");
    let archive = row["space"].as_array().unwrap().iter();
    let archive = archive
        .clone()
        .find(|one| one["name"] == "archive")
        .unwrap();
    assert!(archive["median"].as_u64().unwrap() > 24 << 20);
    let task = recording.of("value").find(|value| value["name"] == "task");
    assert!(
        task.unwrap()["value"]
            .as_str()
            .unwrap()
            .starts_with("UPID:pve1:")
    );
    assert_eq!(node.there(), before);
}

#[test]
fn a_snapshot_brings_back_what_was_deleted() {
    let Some(node) = Node::start(&["btrfs"]) else {
        return;
    };
    let before = node.there();
    for (record, state) in [("a.jsonl", "state=running"), ("b.jsonl", "state=stopped")] {
        let mut all = vec!["--method", "pve-snapshot", "--set", "disks=btr"];
        all.extend(&OWN[2..]);
        all.extend(["--set", state]);
        let (ended, recording) = node.session(record, &all);
        let row = ended.assert_good().json()["rows"][0].clone();
        assert_eq!(format!("state={}", row["series"].as_str().unwrap()), state);
        assert_eq!(time(&row, "restore", "task")["resolution"], 1);
        assert_eq!(row["verified"]["matched"], 1);
        let mut task = recording
            .of("value")
            .filter(|value| value["name"] == "task");
        assert!(
            task.any(|value| value["value"].as_str().unwrap().contains(":qmrollback:")),
            "each has a task of its own"
        );
        assert_eq!(node.there(), before);
    }
}

#[test]
fn a_store_gives_three_series() {
    let Some(node) = Node::start(&["pbs"]) else {
        return;
    };
    let before = node.there();
    let mut all = vec!["--method", "pve-pbs", "--set", "storage=pbs1"];
    all.extend(&OWN[2..]);
    all.extend(["--set", "place=same"]);
    let (ended, _) = node.session("a.jsonl", &all);
    let report = ended.assert_good().json();
    let rows = report["rows"].as_array().unwrap();
    let series: Vec<_> = rows
        .iter()
        .map(|row| row["series"].as_str().unwrap())
        .collect();
    assert_eq!(series, ["first", "dirty-bitmap", "full"]);
    let moved = |row: &Value| {
        let mut space = row["space"].as_array().unwrap().iter();
        space.find(|one| one["name"] == "transferred").unwrap()["median"]
            .as_u64()
            .unwrap()
    };
    assert!(moved(&rows[1]) < moved(&rows[0]) / 4, "{report}");
    assert_eq!(
        moved(&rows[2]),
        moved(&rows[0]),
        "a restart loses the bitmap"
    );
    // Each series tells what was done with its own backup alone.
    let restored: Vec<_> = rows
        .iter()
        .map(|row| {
            let has = |name: &str| {
                let mut times = row["times"].as_array().unwrap().iter();
                times.any(|time| time["name"] == name)
            };
            (has("restore"), has("usable"), &row["verified"]["of"])
        })
        .collect();
    assert_eq!(
        restored,
        [
            (false, false, &0.into()),
            (true, true, &1.into()),
            (false, false, &0.into())
        ]
    );
    let remark = "not restored: its runs brought back copies of the series dirty-bitmap";
    for row in [&rows[0], &rows[2]] {
        assert!(row["remarks"].to_string().contains(remark), "{row}");
    }
    // The server read that one backup, of all that its store holds.
    let tasks = node.sh("proxmox-backup-manager task list --all 1 --output-format json");
    assert!(tasks.contains("verify_snapshot"), "{tasks}");
    assert_eq!(node.sh("pvesm list pbs1 | wc -l").trim(), "1");
    assert_eq!(node.there(), before);
}

#[test]
fn a_container_is_destroyed_and_comes_back() {
    let Some(node) = Node::start(&[]) else { return };
    let before = node.there();
    let all = [
        "--method",
        "pve-ct",
        "--set",
        "template=local:vztmpl/small_1.0_amd64.tar.gz",
        "--set",
        "size=8MiB",
        "--set",
        "disks=local",
        "--set",
        "rootfs=1",
        "--set",
        "place=same",
    ];
    let (ended, _) = node.session("a.jsonl", &all);
    let row = ended.assert_good().json()["rows"][0].clone();
    assert_eq!(time(&row, "restore", "task")["resolution"], 1);
    assert_eq!(row["verified"]["matched"], 1);
    assert!(row["remarks"].to_string().contains("suspend"), "{row}");
    assert_eq!(node.there(), before);
}

#[test]
fn a_named_guest_is_read_alone_and_restored_beside_itself() {
    let Some(node) = Node::start(&[]) else { return };
    node.guest(131, "shop-db", "web");
    let before = node.there();
    let named = ["--method", "pve-vzdump", "--subject", "vm:131"];
    let (ended, recording) = node.session("a.jsonl", &named);
    ended.assert_good();
    assert_eq!(ended.json()["rows"][0]["verified"]["matched"], 1);
    let isolated = recording
        .state("step", "planned")
        .find(|step| step["name"] == "isolated");
    assert!(isolated.is_some());
    assert_eq!(node.there(), before);

    // In its place only where it is marked, and named.
    let mut same = named.to_vec();
    same.extend(["--set", "place=same", "--destroy", "vm:131=shop-db"]);
    let (ended, _) = node.session("b.jsonl", &same);
    assert_eq!(ended.code, 4, "{}", ended.err);
    assert!(ended.err.contains("bears no mark"), "{}", ended.err);
    node.sh("qm set 131 --tags 'web;comeback'");
    let (ended, _) = node.session(
        "c.jsonl",
        &[&same[..6], &["--destroy", "vm:131=other"]].concat(),
    );
    assert_eq!(ended.code, 4, "{}", ended.err);
    assert!(ended.err.contains("not its own"), "{}", ended.err);
    let (ended, _) = node.session("d.jsonl", &same);
    ended.assert_good();
    let after = node.sh("qm list; qm config 131");
    assert!(
        after.contains("shop-db") && after.contains("running"),
        "{after}"
    );
    assert!(
        ended.err.contains("is in no copy, and is lost"),
        "{}",
        ended.err
    );
    // What comes meanwhile is seen before anything is interrupted.
    let mut going = node.going("m.jsonl", &same);
    going.until_started("archive");
    node.sh("echo '[first]' >>/etc/pve/qemu-server/131.conf");
    let ended = going.wait();
    assert_ne!(ended.code, 0, "{}", ended.err);
    let says = "vm:131 is not destroyed: no restore would bring back: its snapshots: first";
    assert!(ended.err.contains(says), "{}", ended.err);
    let status = node.sh("qm status 131");
    assert_eq!(status, "status: running\n");
    let (ended, _) = node.session("e.jsonl", &same);
    assert_eq!(ended.code, 4, "{}", ended.err);
    assert!(
        ended
            .err
            .contains("no restore would bring back: its snapshots"),
        "{}",
        ended.err
    );
}

#[test]
fn a_guest_that_is_locked_is_refused() {
    let Some(node) = Node::start(&[]) else { return };
    node.guest(131, "shop-db", "web");
    node.sh("qm set 131 --lock backup || sed -i '1i lock: backup' /etc/pve/qemu-server/131.conf");
    let named = ["--method", "pve-vzdump", "--subject", "vm:131"];
    let (ended, _) = node.session("a.jsonl", &named);
    assert_eq!(ended.code, 4, "{}", ended.err);
    assert!(ended.err.contains("locked (backup)"), "{}", ended.err);
}

#[test]
fn a_backup_that_fails_says_why_and_leaves_nothing() {
    let Some(node) = Node::start(&[]) else { return };
    let before = node.there();
    node.fault(&["backup-fails", "40"]);
    let (ended, recording) = node.session("a.jsonl", &OWN);
    assert_eq!(ended.code, 1, "{}", ended.err);
    let backup = recording.end_of("backup");
    assert_eq!(backup["end"], "failed", "{backup}");
    assert!(
        !backup["cause"].as_str().unwrap().contains("job errors"),
        "{backup}"
    );
    let recovered = node.world.run(&["recover", "--host", "pve1", "--remove"]);
    recovered.assert_good();
    assert_eq!(node.there(), before);
}

#[test]
fn a_stop_ends_the_task_and_all_is_undone() {
    let Some(node) = Node::start(&[]) else { return };
    let before = node.there();
    node.fault(&["backup-pace", "50"]);
    let mut going = node.going("a.jsonl", &OWN);
    going.until_started("backup");
    std::thread::sleep(std::time::Duration::from_secs(3));
    going.signal(Signal::INT);
    let ended = going.wait();
    assert_eq!(ended.code, 130, "{}", ended.err);
    let index = node.sh("grep vzdump /var/log/pve/tasks/index");
    assert!(index.contains("interrupted by signal"), "{index}");
    assert_eq!(node.there(), before);
}

#[test]
fn what_cannot_be_done_is_refused_with_numbers_before_anything_is_made() {
    let Some(node) = Node::start(&["btrfs"]) else {
        return;
    };
    node.guest(131, "shop-db", "web");
    node.sh("vzdump 131 --storage local >/dev/null && pvesm set local --prune-backups keep-last=1");
    let before = node.there();
    let own = |method: &'static str, sets: &[&'static str]| {
        let mut all = vec!["--method", method];
        for set in sets {
            all.extend(["--set", set]);
        }
        all
    };
    let room = ["template=9000", "grow=30G", "place=same"];
    for (at, (arguments, says)) in [
        (
            own("pve-vzdump", &["template=131"]),
            "131 is no template here",
        ),
        (
            own(
                "pve-vzdump",
                &["template=9000", "size=24MiB", "storage=btr"],
            ),
            "takes no backups",
        ),
        (
            own("pve-vzdump", &["template=9000", "size=1GiB"]),
            "the payload comes to 1073741824 bytes, and the largest disk of the guest is scsi0 512M",
        ),
        (
            own("pve-pbs", &["template=9000", "grow=16X"]),
            "expected the size that the disk is to have, such as 16G, not '16X'",
        ),
        (
            own("pve-snapshot", &["template=9000", "grow=100M"]),
            "scsi0 of the template is 512M, and a disk cannot be made smaller",
        ),
        (
            own("pve-vzdump", &["template=9000", "grow=16G", "disk=scsi7"]),
            "has no disk 'scsi7' to grow; it has scsi0",
        ),
        (
            own(
                "pve-vzdump",
                &["template=9000", "size=24MiB", "bwlimit=-0.5"],
            ),
            "bwlimit: expected whole KiB a second, 0 for no limit, not -0.5",
        ),
        (own("pve-vzdump", &room), "may take 64424509440 (60.0 GiB)"),
        (
            own("pve-snapshot", &["template=9000", "size=24MiB"]),
            "no snapshots of raw files",
        ),
        (
            vec!["--method", "pve-vzdump", "--subject", "vm:131"],
            "keeps 1 backups of a guest, and has 1 of 131",
        ),
    ]
    .into_iter()
    .enumerate()
    {
        let (ended, _) = node.session(&format!("{at}.jsonl"), &arguments);
        assert_eq!(ended.code, 4, "{}", ended.err);
        assert!(ended.err.contains(says), "{says}: {}", ended.err);
    }
    assert_eq!(node.there(), before);
}

/// What a check says of a named guest.
fn checked(node: &Node, method: &str, subject: &str, more: &[&str]) -> String {
    let named = [
        "check",
        "--host",
        "pve1",
        "--method",
        method,
        "--subject",
        subject,
    ];
    node.world.run(&[&named, more].concat()).out
}

#[test]
fn what_is_shown_before_names_the_guest_its_agent_and_who_else_backs_up() {
    let Some(node) = Node::start(&[]) else { return };
    node.guest(131, "shop-db", "comeback");
    node.sh(
        "printf 'vzdump: nightly\n\tschedule 21:00\n\tstorage bkp\n\tvmid 131\n\tprune-backups keep-last=2\n\tnext-run %s\n\n' $(($(date +%s) + 300)) >>/etc/pve/jobs.cfg",
    );
    let said = checked(&node, "pve-vzdump", "vm:131", &[]);
    for words in [
        "VM 131, shop-db, on node pve1: runs since ",
        "lock none; protection off; HA no; replication no; pool none; firewall rules none",
        "what is made there may take 1073741824 bytes (1.0 GiB)",
        "warning",
    ] {
        let words = words.replace("warning", "! pve1: the backup job nightly begins at ");
        assert!(said.contains(&words), "{words}: {said}");
    }
    let said = checked(&node, "pve-vzdump", "vm:131", &["--set", "storage=bkp"]);
    let prunes = "the backup job nightly prunes on the storage bkp";
    assert!(said.contains(prunes), "{said}");
    // What a copy beside would share, or has no room for; and disks under the number that it would get.
    for (set, back, says) in [
        (
            "qm set 131 --args '-cpu host'",
            "qm set 131 --delete args",
            "the guest 131 (shop-db) has options of QEMU's own (args:)",
        ),
        (
            "qm set 131 --memory 4000000",
            "qm set 131 --memory 256",
            "what the run starts beside the others may take 4000000 MiB",
        ),
        (
            "pvesm alloc local 100 '' 64M",
            "pvesm free local:100/vm-100-disk-0.raw",
            "the number 100 is free, but disks of an earlier guest are left under it: local:100/",
        ),
    ] {
        node.sh(&format!("{set} >/dev/null"));
        let said = checked(&node, "pve-vzdump", "vm:131", &[]);
        assert!(said.contains(says), "{says}: {said}");
        node.sh(&format!("{back} >/dev/null"));
    }
    for (fault, says) in [
        (
            "agent-silent",
            "the agent of the guest 131 (shop-db) does not answer",
        ),
        ("exec-disabled", "answers, but runs no command"),
    ] {
        node.fault(&[fault]);
        let said = checked(&node, "pve-pbs", "vm:131", &[]);
        assert!(said.contains(says), "{says}: {said}");
        node.fault(&["-d", fault]);
    }
    node.fault(&["stray", "131", "local"]);
    let same = ["--set", "place=same", "--destroy", "vm:131=shop-db"];
    let said = checked(&node, "pve-vzdump", "vm:131", &same);
    assert!(
        said.contains("that its configuration does not name: local:131/"),
        "{said}"
    );
    let said = checked(&node, "pve-vzdump", "vm:131", &[]);
    assert!(said.contains("can run"), "{said}");
}

#[test]
fn a_marked_guest_is_rolled_back_in_its_place_and_keeps_nothing_of_the_run() {
    let Some(node) = Node::start(&["btrfs"]) else {
        return;
    };
    node.sh(
        "qm clone 9000 131 --name shop-db --full 1 --storage btr >/dev/null && qm set 131 --tags comeback >/dev/null && \
         qm start 131 && until qm agent 131 ping 2>/dev/null; do sleep 0.2; done",
    );
    let before = node.there();
    let named = [
        "--method",
        "pve-snapshot",
        "--subject",
        "vm:131",
        "--set",
        "size=8MiB",
    ];
    let (ended, _) = node.session("a.jsonl", &named);
    assert_eq!(ended.code, 4, "{}", ended.err);
    assert!(
        ended.err.contains("say --destroy vm:131=NAME"),
        "{}",
        ended.err
    );
    let (ended, recording) = node.session(
        "b.jsonl",
        &[&named[..], &["--destroy", "vm:131=shop-db"]].concat(),
    );
    let row = ended.assert_good().json()["rows"][0].clone();
    assert!(
        ended.err.contains("which nothing can test before"),
        "{}",
        ended.err
    );
    assert_eq!(row["verified"]["matched"], 1);
    let rolled = recording
        .state("step", "planned")
        .find(|step| step["name"] == "restore");
    assert_eq!(rolled.unwrap()["destroys"]["unproved"], true);
    assert_eq!(node.there(), before);
    let left = node.sh("qm guest exec 131 -- sh -c 'ls -d /var/tmp/comeback* 2>/dev/null; :'");
    assert!(!left.contains("/var/tmp"), "{left}");
}

#[test]
fn a_named_guest_and_a_named_container_are_restored_beside_themselves() {
    let Some(node) = Node::start(&["pbs"]) else {
        return;
    };
    node.guest(131, "shop-db", "web");
    node.sh("mkdir /srv/shared && pct create 141 local:vztmpl/small_1.0_amd64.tar.gz --hostname files --rootfs local:1 --unprivileged 1 --mp0 /srv/shared,mp=/mnt/shared >/dev/null && pct start 141 && sed -i '/^memory:/i ivshmem: size=1' /etc/pve/qemu-server/131.conf");
    let before = node.there();
    let named = [
        "--method",
        "pve-pbs",
        "--subject",
        "vm:131",
        "--set",
        "storage=pbs1",
    ];
    let (ended, recording) = node.session("a.jsonl", &named);
    let report = ended.assert_good().json();
    // Nor is memory of the node that both would share.
    let isolated = String::from_utf8(recording.out_of("isolated")).unwrap();
    assert!(isolated.contains("--delete ivshmem"), "{isolated}");
    let series = report["rows"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| &row["series"]);
    assert_eq!(series.collect::<Vec<_>>(), ["full", "dirty-bitmap"]);
    // Its network cards are unplugged.
    assert!(!report.to_string().contains("SSH banner"), "{report}");
    let (ended, recording) =
        node.session("b.jsonl", &["--method", "pve-ct", "--subject", "ct:141"]);
    let row = ended.assert_good().json()["rows"][0].clone();
    assert_eq!(row["verified"]["share"], "/etc");
    // A folder of the node that both would write to is not in the copy.
    let isolated = String::from_utf8(recording.out_of("isolated")).unwrap();
    assert!(isolated.contains("--delete mp0"), "{isolated}");
    assert_eq!(row["placement"]["same_disk"], true);
    assert_eq!(node.there(), before);
}

#[test]
fn the_only_copy_of_a_guest_is_not_taken_away_before_it_is_back() {
    let Some(node) = Node::start(&[]) else { return };
    node.guest(131, "shop-db", "comeback");
    node.fault(&["restore-breaks", "30"]);
    let same = [
        "--method",
        "pve-vzdump",
        "--subject",
        "vm:131",
        "--set",
        "storage=bkp",
        "--set",
        "place=same",
        "--destroy",
        "vm:131=shop-db",
    ];
    let (ended, _) = node.session("a.jsonl", &same);
    assert_eq!(ended.code, 1, "{}", ended.err);
    node.fault(&["-d", "restore-breaks"]);
    // The way back is told where it failed, and where it is looked for: what goes first, and the archive.
    let archive = node.sh("pvesm list bkp | awk 'NR == 2 { print $1 }'");
    let restore = format!("qmrestore {} 131", archive.trim());
    let first = "qm destroy 131 --destroy-unreferenced-disks 1, then";
    for said in [&ended.err, &node.left()] {
        assert!(said.contains(&format!("{first} {restore}")), "{said}");
    }
    let kept = node.world.run(&["recover", "--host", "pve1", "--remove"]);
    assert_eq!(kept.code, 1, "{}", kept.out);
    // What was half restored has gone first.
    let says = format!("is not known to be back; first: {restore}");
    assert!(kept.out.contains(&says), "{says}: {}", kept.out);
    node.sh(&format!("{restore} >/dev/null"));
    let back = node.there();
    let done = node.world.run(&["recover", "--host", "pve1", "--remove"]);
    done.assert_good();
    let after = node.sh("qm config 131; pvesm list bkp | wc -l");
    assert!(
        after.contains("name: shop-db") && after.trim().ends_with('1'),
        "{after}\n{back}"
    );
}

#[test]
fn a_guest_of_which_a_destroy_freed_one_disk_is_not_there_nor_is_another_of_its_number() {
    let Some(node) = Node::start(&[]) else { return };
    node.guest(131, "shop-db", "comeback");
    node.sh("qm set 131 --scsi1 local:1 >/dev/null");
    node.fault(&["destroy-dies", "1"]);
    let same = "--method pve-vzdump --subject vm:131 --set storage=bkp --set place=same --destroy vm:131=shop-db";
    let same: Vec<_> = same.split(' ').collect();
    let (ended, _) = node.session("a.jsonl", &same);
    assert_eq!(ended.code, 1, "{}", ended.err);
    let config = node.sh("qm config 131");
    assert!(
        config.contains("scsi0: ") && config.contains("scsi1: "),
        "{config}"
    );
    let archive = node.sh("pvesm list bkp | awk 'NR == 2 { print $1 }'");
    let restore = format!("qmrestore {}", archive.trim());
    let kept = |says: &str| {
        let kept = node.world.run(&["recover", "--host", "pve1", "--remove"]);
        assert_eq!(kept.code, 1, "{}", kept.out);
        assert!(kept.out.contains(says), "{says}: {}", kept.out);
    };
    kept("first: qm destroy 131 --destroy-unreferenced-disks 1, then qmrestore");
    // A lock that only the destroy's own word gets past.
    node.sh("cp /etc/pve/qemu-server/131.conf /root/was; echo 'lock: destroyed' >/etc/pve/qemu-server/131.conf");
    let named = node.left();
    assert!(named.contains("qm destroy 131 --skiplock 1"), "{named}");
    // The number is taken by somebody else, also under the same name.
    node.sh("cp /root/was /etc/pve/qemu-server/131.conf; qm destroy 131 --destroy-unreferenced-disks 1 >/dev/null");
    node.guest(131, "shop-db", "comeback");
    kept("the number 131 is another guest's now");
    node.sh(&format!(
        "qm stop 131; qm destroy 131 && {restore} 131 >/dev/null"
    ));
    // The run itself restored nothing: whoever did has to look.
    kept("look at the guest 131: it was restored, and nothing of it was compared");
    node.sh(&format!("pvesm free {}", archive.trim()));
    node.world
        .run(&["recover", "--host", "pve1", "--remove"])
        .assert_good();
}

#[test]
fn a_restored_guest_that_nobody_compared_keeps_its_archive() {
    let Some(node) = Node::start(&[]) else { return };
    node.guest(131, "shop-db", "comeback");
    let same = "--method pve-vzdump --subject vm:131 --set storage=bkp --set place=same --destroy vm:131=shop-db";
    let same: Vec<_> = same.split(' ').collect();
    let mut going = node.going("a.jsonl", &same);
    going.until_started("restore");
    node.fault(&["start-fails"]);
    let ended = going.wait();
    assert_eq!(ended.code, 1, "{}", ended.err);
    node.fault(&["-d", "start-fails"]);
    let kept = node.world.run(&["recover", "--host", "pve1", "--remove"]);
    assert_eq!(kept.code, 1, "{}", kept.out);
    let says = "look at the guest 131: it was restored, and nothing of it was compared; then say pvesm free";
    assert!(kept.out.contains(says), "{}", kept.out);
    node.sh("pvesm free $(pvesm list bkp | awk 'NR == 2 { print $1 }')");
    node.world
        .run(&["recover", "--host", "pve1", "--remove"])
        .assert_good();
}

#[test]
fn a_restore_in_its_place_that_still_runs_is_named_and_ended_by_nobody_else() {
    let Some(node) = Node::start(&[]) else { return };
    node.guest(131, "shop-db", "comeback");
    node.fault(&["restore-pace", "60"]);
    let same = "--method pve-vzdump --subject vm:131 --set storage=bkp --set place=same --destroy vm:131=shop-db";
    let same: Vec<_> = same.split(' ').collect();
    let mut going = node.going("a.jsonl", &same);
    going.until(|event| {
        event["ev"] == "log"
            && event["text"]
                .as_str()
                .is_some_and(|text| text.contains("restore vma archive"))
    });
    going.signal(Signal::KILL);
    going.wait();
    let named = node.left();
    let archive = node.sh("pvesm list bkp | awk 'NR == 2 { print $1 }'");
    let restore = format!("qmrestore {} 131", archive.trim());
    for says in [
        "restore: exec qmrestore /mnt/pve/bkp/dump/vzdump-qemu-131-".to_owned(),
        "at stake: vm:131 would be left half restored".to_owned(),
        restore.clone(),
    ] {
        assert!(named.contains(&says), "{says}: {named}");
    }
    // Told to take all away, it leaves this alone, and says the command for whoever wants it ended.
    let kept = node.world.run(&["recover", "--host", "pve1", "--remove"]);
    assert_eq!(kept.code, 1, "{}", kept.out);
    assert!(
        node.sh("pgrep -fc '[t]ask UPID.*:qmrestore:'")
            .starts_with('1')
    );
    let (_, ends) = kept.out.split_once("end it all the same: `").unwrap();
    let (ends, _) = ends.split_once('`').unwrap();
    node.sh(&format!(
        "{ends}; while pgrep -f '[t]ask UPID.*:qmrestore:' >/dev/null; do sleep 0.2; done"
    ));
    node.fault(&["-d", "restore-pace"]);
    // The guest that is half there goes, its archive does not.
    let kept = node.world.run(&["recover", "--host", "pve1", "--remove"]);
    assert_eq!(kept.code, 1, "{}", kept.out);
    assert!(
        kept.out.contains(&format!("back; first: {restore}")),
        "{}",
        kept.out
    );
    node.sh(&format!("{restore} >/dev/null"));
    node.world
        .run(&["recover", "--host", "pve1", "--remove"])
        .assert_good();
    let after = node.sh("qm config 131; pvesm list bkp | wc -l");
    assert!(
        after.contains("name: shop-db") && after.trim().ends_with('1'),
        "{after}"
    );
}
