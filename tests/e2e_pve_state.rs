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

#[test]
fn a_guest_without_an_agent_is_reached_by_ssh_from_the_node() {
    let Some(node) = Node::start(&["btrfs"]) else {
        return;
    };
    marked(&node);
    // It knows the node's key; the node does not know the guest's yet.
    node.sh(
        "ssh-keygen -q -t ed25519 -N '' -f /root/.ssh/id_ed25519 && ssh-keygen -q -t ed25519 -N '' -f /root/guest && \
         qm guest exec 131 -- sh -c 'mkdir -p /etc/ssh /root/.ssh && echo \"$1\" >/etc/ssh/ssh_host_ed25519_key && chmod 600 /etc/ssh/* && echo \"$2\" >/root/.ssh/authorized_keys' \
         sh \"$(cat /root/guest)\" \"$(cat /root/.ssh/id_ed25519.pub)\" && qm set 131 --agent 0 >/dev/null",
    );
    let stop = "qm shutdown 131 && qm start 131";
    node.sh(stop);
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
    node.sh(
        "printf '198.19.0.131 %s\\n' \"$(cut -d ' ' -f 1,2 /root/guest.pub)\" >/root/.ssh/known_hosts && \
         for try in 1 2 3 4 5 6 7 8 9; do ssh -o BatchMode=yes root@198.19.0.131 true && exit; sleep 1; done; exit 1",
    );
    let before = node.there();
    let named = ["--method", "pve-snapshot", "--subject", "vm:131"];
    let destroy = ["--destroy", "vm:131=shop-db"];
    let all = [&named[..], &size, &ssh, &destroy].concat();
    let (ended, recording) = node.session("a.jsonl", &all);
    let row = ended.assert_good().json()["rows"][0].clone();
    assert_eq!(row["verified"]["matched"], 1);
    for (name, clock) in [
        ("boot", "here"),
        ("usable", "here"),
        ("boot to SSH banner", "host"),
    ] {
        let seconds = time(&row, name, clock)["median"].as_f64().unwrap();
        assert!(seconds > 0.5, "{name}: {row}");
    }
    let banner = String::from_utf8(recording.out_of("SSH")).unwrap();
    assert!(banner.starts_with("SSH-2.0-"), "{banner}");
    assert_eq!(node.there(), before);
    let left = node.sh("ssh -o BatchMode=yes root@198.19.0.131 ls /var/tmp");
    assert_eq!(left, "");
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
