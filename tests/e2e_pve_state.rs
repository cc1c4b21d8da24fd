//! What guests of a node of Proxmox VE are before a run and before each repetition, and which way leads
//! into them.
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

use events::text;
use node::{Node, TEMPLATE, time};

/// A guest that somebody marked, on a storage that makes snapshots.
fn marked(node: &Node) {
    node.sh(
        "qm clone 9000 131 --name shop-db --full 1 --storage btr >/dev/null && qm set 131 --tags comeback >/dev/null && \
         qm start 131 && until qm agent 131 ping 2>/dev/null; do sleep 0.2; done",
    );
}

/// What a check says of it.
fn checked(node: &Node, method: &str, more: &[&str]) -> String {
    let named = ["check", "--host", "pve1", "--method", method];
    let subject = ["--subject", "vm:131"];
    node.world.run(&[&named, &subject[..], more].concat()).out
}

/// A server of its own in it, which lets the node in, instead of its agent.
fn with_ssh(node: &Node, number: u32) {
    node.sh(&format!(
        "[ -e /root/guest ] || {{ ssh-keygen -q -t ed25519 -N '' -f /root/.ssh/id_ed25519 && ssh-keygen -q -t ed25519 -N '' -f /root/guest; }} && \
         qm guest exec {number} -- sh -c 'mkdir -p /etc/ssh /root/.ssh && echo \"$1\" >/etc/ssh/ssh_host_ed25519_key && chmod 600 /etc/ssh/* && echo \"$2\" >/root/.ssh/authorized_keys' \
         sh \"$(cat /root/guest)\" \"$(cat /root/.ssh/id_ed25519.pub)\" && qm set {number} --agent 0 >/dev/null && qm shutdown {number} && qm start {number}"
    ));
}

/// The node knows its key, and it answers.
fn known(node: &Node, number: u32) {
    node.sh(&format!(
        "printf '198.19.0.{number} %s\\n' \"$(cut -d ' ' -f 1,2 /root/guest.pub)\" >>/root/.ssh/known_hosts && \
         for try in 1 2 3 4 5 6 7 8 9; do ssh -o BatchMode=yes root@198.19.0.{number} true && exit; sleep 1; done; exit 1"
    ));
}

#[test]
fn a_login_of_another_machine_is_refused_before_anything_is_done_there() {
    let Some(node) = Node::start(&["btrfs"]) else {
        return;
    };
    marked(&node);
    node.guest(132, "other", "web");
    with_ssh(&node, 132);
    known(&node, 132);
    let other = "ssh -o BatchMode=yes root@198.19.0.132";
    let files = format!("{other} 'find /var/tmp /etc -type f -exec sha256sum {{}} +'");
    let (before, there) = (node.sh(&files), node.there());
    let ssh = ["--set", "inside=ssh", "--set", "size=8MiB", "--set"];
    let login = "guest_login=root@198.19.0.132";
    let is_other = |number: &str| {
        format!(
            "root@198.19.0.132 is another machine than the guest {number}: its product_uuid is "
        )
    };
    let destroy = ["--destroy", "vm:131=shop-db", "--set", "place=same"];
    for (method, more) in [("pve-snapshot", &destroy[..2]), ("pve-vzdump", &destroy)] {
        let named = ["--method", method, "--subject", "vm:131"];
        let (ended, _) = node.session("a.jsonl", &[&named, &ssh[..], &[login], more].concat());
        assert_ne!(ended.code, 0, "{method}");
        let said = format!("{}{}", ended.out, ended.err);
        assert!(said.contains(&is_other("131")), "{method}: {said}");
    }
    // One that the run makes has another uuid, too, and what has none is known by its cards.
    let own = [
        "--method",
        "pve-snapshot",
        "--set",
        TEMPLATE,
        "--set",
        "disks=btr",
    ];
    let mut going = node.going("b.jsonl", &[&own, &ssh[..], &[login]].concat());
    let ended = going.wait();
    assert_eq!(ended.code, 1, "{}", ended.err);
    let cause = text(going.heard.end_of("guest answers"), "cause").to_owned();
    assert!(
        cause.contains(" is another machine than the guest "),
        "{cause}"
    );
    assert_eq!(node.there(), there);
    // Nor is one whose configuration was copied known by what both have.
    let smbios = node.sh("sed -n 's/^smbios1: //p' /etc/pve/qemu-server/131.conf");
    let copied = |number: u32| {
        node.sh(&format!(
            "qm set {number} --smbios1 {} >/dev/null && qm shutdown {number} && qm start {number}",
            smbios.trim()
        ))
    };
    let theirs = node.sh("sed -n 's/^smbios1: //p' /etc/pve/qemu-server/132.conf");
    copied(132);
    known(&node, 132);
    let more = [&ssh[..], &[login]].concat();
    let said = checked(&node, "pve-snapshot", &more);
    let says = "root@198.19.0.132 is another machine than the guest 131: its network cards are ";
    assert!(said.contains(says), "{said}");
    node.sh(&format!(
        "qm set 132 --smbios1 {} >/dev/null",
        theirs.trim()
    ));
    node.sh("qm set 131 --delete smbios1 >/dev/null");
    let said = checked(&node, "pve-snapshot", &more);
    assert!(said.contains(says), "{said}");
    node.sh("qm set 131 --delete net0 >/dev/null");
    let said = checked(&node, "pve-snapshot", &more);
    let says = "root@198.19.0.132 may be another machine than the guest 131: neither ";
    assert!(said.contains(says), "{said}");
    // By its card alone one is known as itself.
    node.sh("qm set 132 --delete smbios1 --tags comeback >/dev/null");
    let known = [
        "check",
        "--host",
        "pve1",
        "--method",
        "pve-vzdump",
        "--subject",
        "vm:132",
        "--set",
        "place=same",
    ];
    let said = node.world.run(&[&known, &more[..]].concat()).out;
    assert!(!said.contains("machine than"), "{said}");
    assert_eq!(node.sh(&files), before);
}

#[test]
fn a_guest_without_an_agent_is_reached_by_ssh_from_the_node() {
    let Some(node) = Node::start(&["btrfs"]) else {
        return;
    };
    marked(&node);
    // It knows the node's key; the node does not know the guest's yet.
    with_ssh(&node, 131);
    let address = "guest_login=root@198.19.0.131";
    let ssh = ["--set", "inside=ssh", "--set", address];
    let size = ["--set", "size=8MiB"];
    for (method, more, says) in [
        (
            "pve-snapshot",
            &size[..],
            "the agent of the guest 131 (shop-db) does not answer",
        ),
        (
            "pve-snapshot",
            &[
                "--set",
                "inside=ssh",
                "--set",
                "guest_login=root@-oProxyCommand=x",
            ],
            "guest_login: expected root@ADDRESS",
        ),
        (
            "pve-snapshot",
            &ssh,
            "SSH from the node to root@198.19.0.131 does not work",
        ),
        (
            "pve-vzdump",
            &ssh,
            "inside: a guest that is restored beside has no network card plugged in",
        ),
    ] {
        let said = checked(&node, method, more);
        assert!(said.contains(says), "{says}: {said}");
    }
    known(&node, 131);
    let before = node.there();
    let named = ["--method", "pve-snapshot", "--subject", "vm:131"];
    let destroy = ["--destroy", "vm:131=shop-db"];
    let all = [&named[..], &size, &ssh, &destroy].concat();
    let (ended, _) = node.session("a.jsonl", &all);
    let row = ended.assert_good().json()["rows"][0].clone();
    assert_eq!(row["verified"]["matched"], 1);
    for name in ["boot", "usable", "verified"] {
        let seconds = time(&row, name, "here")["median"].as_f64().unwrap();
        assert!(seconds > 0.5, "{name}: {row}");
    }
    // The login is later than the greeting, which nobody saw.
    assert!(!row.to_string().contains("SSH banner"), "{row}");
    assert_eq!(node.there(), before);
    let left = node.sh("ssh -o BatchMode=yes root@198.19.0.131 ls /var/tmp");
    assert_eq!(left, "");
}

#[test]
fn a_guest_that_the_run_makes_is_reached_by_ssh_too() {
    let Some(node) = Node::start(&["btrfs"]) else {
        return;
    };
    // A template that lets the node in, and has no agent; the clones have its keys, and the next free number.
    node.guest(140, "base", "web");
    with_ssh(&node, 140);
    known(&node, 140);
    node.sh("qm shutdown 140 && echo 'template: 1' >>/etc/pve/qemu-server/140.conf");
    let number = node.sh("pvesh get /cluster/nextid --output-format json | tr -dc 0-9");
    node.sh(&format!(
        "printf '198.19.0.{number} %s\\n' \"$(cut -d ' ' -f 1,2 /root/guest.pub)\" >>/root/.ssh/known_hosts"
    ));
    let before = node.there();
    let login = format!("guest_login=root@198.19.0.{number}");
    let sets = ["template=140", "size=8MiB", "inside=ssh", &login];
    let sets: Vec<&str> = sets.iter().flat_map(|set| ["--set", set]).collect();
    for (record, more) in [
        (
            "a.jsonl",
            &["--method", "pve-snapshot", "--set", "disks=btr"][..],
        ),
        (
            "b.jsonl",
            &[
                "--method",
                "pve-vzdump",
                "--set",
                "storage=bkp",
                "--set",
                "place=same",
            ],
        ),
    ] {
        let (ended, _) = node.session(record, &[more, &sets].concat());
        let row = ended.assert_good().json()["rows"][0].clone();
        assert_eq!(row["verified"]["matched"], 1, "{row}");
        assert_eq!(node.there(), before);
    }
}

#[test]
fn a_snapshot_that_another_run_has_left_is_named_before_a_repetition_and_a_silent_process_has_an_end()
 {
    let Some(node) = Node::start(&["btrfs"]) else {
        return;
    };
    marked(&node);
    let before = node.there();
    // It comes up while the guest of the run has not answered yet.
    node.fault(&["agent-silent"]);
    let sets = [TEMPLATE, "size=8MiB", "disks=btr", "storage=bkp"];
    let sets = sets.iter().flat_map(|set| ["--set", set]);
    let all: Vec<&str> = ["--method", "pve-vzdump"].into_iter().chain(sets).collect();
    let mut going = node.going("a.jsonl", &all);
    going.until_started("first answer");
    let number = going
        .heard
        .of("value")
        .find(|value| value["name"] == "vmid");
    let number = text(number.unwrap(), "value").to_owned();
    node.sh(&format!(
        "cp /var/tmp/comeback-*/inside /root/inside && qm snapshot {number} cb_0123abcd_r7 >/dev/null"
    ));
    node.fault(&["-d", "agent-silent"]);
    let ended = going.wait();
    assert_eq!(ended.code, 1, "{}", ended.err);
    let cause = text(going.heard.end_of("guest answers"), "cause").to_owned();
    let says = format!(
        "the guest {number} has a snapshot that another run has left (cb_0123abcd_r7); comeback recover"
    );
    assert!(cause.contains(&says), "{cause}");
    assert_eq!(node.there(), before);

    node.sh("qm snapshot 131 cb_0123abcd_r7 >/dev/null");
    let said = checked(&node, "pve-vzdump", &[]);
    let says = says.replace(&number, "131");
    assert!(said.contains(&says), "{said}");
    // A day, by a clock that is fast.
    let said = node.sh(
        "mkdir /root/fast && printf '#!/bin/sh\\nread n </root/now; echo $((n + 86400)) >/root/now; echo $n\\n' >/root/fast/date && chmod 755 /root/fast/date && echo 1000 >/root/now && \
         PATH=/root/fast:$PATH sh /root/inside 131 'exec sleep 600' 2>&1; echo $?",
    );
    assert!(said.contains("has not ended within a day\n1\n"), "{said}");
}

#[test]
fn room_for_images_and_memory_is_asked_and_jobs_are_looked_for_until_all_runs_have_ended() {
    let Some(node) = Node::start(&["btrfs", "pbs", "tiny"]) else {
        return;
    };
    marked(&node);
    let said = checked(&node, "pve-vzdump", &["--set", "fleecing=tiny"]);
    let says = "KiB free, and the images of a backup that is slow may take 524288 KiB";
    assert!(said.contains(says), "{said}");
    // The Backup Server by its number of IPv6, which has colons, too.
    node.sh("sed -i 's/^\\tserver .*/\\tserver ::1/' /etc/pve/storage.cfg");
    let said = checked(&node, "pve-pbs", &["--set", "storage=pbs1"]);
    let says = "pbs1 is a store of the Backup Server ::1, version ";
    assert!(said.contains(says), "{said}");
    // One run has ended by then, thirty have not.
    node.sh(
        "printf 'vzdump: nightly\n\tschedule 21:00\n\tstorage bkp\n\tvmid 131\n\tnext-run %s\n\n' $(($(date +%s) + 14400)) >>/etc/pve/jobs.cfg",
    );
    for (reps, warns) in [("1", false), ("30", true)] {
        let said = checked(&node, "pve-vzdump", &["--reps", reps]);
        let says = "the backup job nightly begins at ";
        assert_eq!(said.contains(says), warns, "{said}");
        assert_eq!(said.contains("what is planned (30 runs)"), warns, "{said}");
    }
    // The guest's memory, twice, has no room there.
    node.sh("qm set 131 --memory 4000000 >/dev/null");
    let memory = ["--set", "memory=true", "--set", "size=8MiB"];
    let said = checked(&node, "pve-snapshot", &memory);
    let says = "the memory of the guest in a snapshot may take 8192512000 KiB";
    assert!(said.contains(says), "{said}");
}
