//! A host that is a node of Proxmox VE (see `tests/pve/node`), as new for each test.
#![cfg(test)]
#![allow(dead_code, reason = "several test programs use it, each in part")]

use serde_json::Value;

use crate::events::Recording;
use crate::going::Going;
use crate::lease::Lease;
use crate::missing::{have_root, have_tool};
use crate::world::{Ended, World};

const NODE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/pve/node");
/// The number of the template that it has.
pub const TEMPLATE: &str = "template=9000";

/// A node, and the world that knows it as `pve1`. It is gone when it is dropped, and also when the test
/// is killed.
pub struct Node {
    pub world: World,
    pub machine: Lease,
}

impl Node {
    /// Starts one with these parts. Nothing where this is not root: the test is skipped, loudly.
    pub fn start(parts: &[&str]) -> Option<Self> {
        if !have_root() || !have_tool("sshd") || !have_tool("unshare") {
            return None;
        }
        let machine = Lease::take(NODE, parts).unwrap();
        let world = World::new();
        machine.know(&world, "pve1");
        Some(Self { world, machine })
    }

    /// What root's shell prints there.
    pub fn sh(&self, script: &str) -> String {
        self.machine.sh(script)
    }

    /// Asks for a fault or a delay.
    pub fn fault(&self, words: &[&str]) {
        self.machine.call(&[&["fault"], words].concat());
    }

    /// A running guest that answers, with this number and name.
    pub fn guest(&self, number: u32, name: &str, tags: &str) {
        self.sh(&format!(
            "qm clone 9000 {number} --name {name} --full 1 >/dev/null && qm set {number} --tags {tags} >/dev/null && \
             qm start {number} && until qm agent {number} ping 2>/dev/null; do sleep 0.2; done"
        ));
    }

    fn arguments<'a>(record: &'a str, arguments: &[&'a str]) -> Vec<&'a str> {
        let mut all = vec!["run", "--host", "pve1", "--record", record];
        if !arguments.contains(&"--reps") {
            all.extend(["--reps", "1"]);
        }
        all.extend(arguments);
        all
    }

    /// A session on the node, its report as JSON.
    pub fn session(&self, record: &str, arguments: &[&str]) -> (Ended, Recording) {
        let path = self.world.text(record);
        let all = Self::arguments(&path, &[&["--format", "json"], arguments].concat());
        let ended = self.world.run(&all);
        let recording = Recording::read(&self.world.path(record));
        if ended.code == 0 {
            let state = format!("/var/lib/comeback/{}", recording.session());
            self.sh(&format!("[ ! -e {state} ]"));
        }
        (ended, recording)
    }

    /// A session that goes on.
    pub fn going(&self, record: &str, arguments: &[&str]) -> Going {
        let path = self.world.text(record);
        Going::start(self.world.command(&Self::arguments(&path, arguments)))
    }

    /// What recovery names there.
    pub fn left(&self) -> String {
        let named = self.world.run(&["recover", "--host", "pve1"]);
        named.assert_good();
        named.out
    }

    /// Takes away what is left, and nothing else; once more is without harm.
    pub fn recover(&self, before: &str) {
        for _ in 0..2 {
            let done = self.world.run(&["recover", "--host", "pve1", "--remove"]);
            done.assert_good();
            assert_eq!(self.there(), before, "{}", done.out);
        }
    }

    /// All that a method could leave there.
    pub fn there(&self) -> String {
        self.sh("qm list | awk '{ print $1, $2, $3 }'; pct list | awk '{ print $1, $2 }'; cat /etc/pve/qemu-server/* /etc/pve/lxc/* 2>/dev/null; for s in local bkp; do pvesm list $s; done; find /var/lib/vz/dump /mnt/pve/bkp/dump /var/tmp -mindepth 1 2>/dev/null")
    }
}

/// The node's clock has whole seconds, and is told with the host's finer one, in whose time it lies.
pub fn assert_task_clock(row: &Value, name: &str) {
    let coarse = time(row, name, "task");
    assert_eq!(coarse["resolution"], 1, "{name}");
    let values = |of: &Value| of["values"].as_array().unwrap().clone();
    let fine = values(time(row, name, "host"));
    for (coarse, fine) in values(coarse).iter().zip(fine) {
        let (coarse, fine) = (coarse.as_f64().unwrap(), fine.as_f64().unwrap());
        // Before the task begins the command does.
        assert!(
            (coarse - 1.0..coarse + 6.0).contains(&fine),
            "{name}: {coarse} {fine}"
        );
    }
}

/// A row's time of this name by one clock.
pub fn time<'a>(row: &'a Value, name: &str, clock: &str) -> &'a Value {
    let mut all = row["times"].as_array().unwrap().iter();
    let found = all.find(|time| time["name"] == name && time["clock"] == clock);
    found.unwrap_or_else(|| panic!("no {name} by {clock} in {row}"))
}
