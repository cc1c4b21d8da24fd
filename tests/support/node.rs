//! A host that is a node of Proxmox VE (see `tests/pve/node`), as new for each test.
#![cfg(test)]
#![allow(dead_code, reason = "several test programs use it, each in part")]

use std::collections::BTreeMap;
use std::fs;
use std::io::Read;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use crate::events::Recording;
use crate::missing::{have_root, have_tool};
use crate::world::{Ended, World, ended};

const NODE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/pve/node");
/// The number of the template that it has.
pub const TEMPLATE: &str = "template=9000";
/// The longest wait for its end.
const PATIENCE: Duration = Duration::from_secs(30);

static COUNT: AtomicU32 = AtomicU32::new(0);

/// A node, and the world that knows it as `pve1`. It ends when it is dropped, and also when the test
/// is killed: what holds it waits for the end of its input.
pub struct Node {
    pub world: World,
    name: String,
    hold: Child,
}

impl Node {
    /// Starts one with these parts. Nothing where this is not root: the test is skipped, loudly.
    pub fn start(parts: &[&str]) -> Option<Self> {
        if !have_root() || !have_tool("sshd") || !have_tool("unshare") {
            return None;
        }
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!("test-{}-{count}", std::process::id());
        let mut hold = Command::new(NODE)
            .args(["-n", &name, "hold"])
            .args(parts)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut said = String::new();
        let mut out = hold.stdout.take().unwrap();
        out.read_to_string(&mut said).unwrap();
        let address: BTreeMap<&str, &str> = said
            .lines()
            .filter_map(|line| line.split_once('='))
            .collect();
        let world = World::new();
        fs::create_dir_all(world.path("home/.ssh")).unwrap();
        let text = format!(
            "Host pve1\n  HostName {}\n  Port {}\n  User {}\n  IdentityFile {}\n  \
             IdentitiesOnly yes\n  UserKnownHostsFile {}\n",
            address["NODE_HOST"],
            address["NODE_PORT"],
            address["NODE_USER"],
            address["NODE_KEY"],
            address["NODE_KNOWN_HOSTS"],
        );
        fs::write(world.path("home/.ssh/config"), text).unwrap();
        Some(Self { world, name, hold })
    }

    /// What root's shell prints there.
    pub fn sh(&self, script: &str) -> String {
        let ended = ended(&self.node(&["ssh", script]).output().unwrap());
        assert_eq!(ended.code, 0, "{script}\n{}\n{}", ended.out, ended.err);
        ended.out
    }

    /// Asks for a fault or a delay.
    pub fn fault(&self, words: &[&str]) {
        let mut all = vec!["fault"];
        all.extend(words);
        let ended = ended(&self.node(&all).output().unwrap());
        assert_eq!(ended.code, 0, "{}", ended.err);
    }

    /// A running guest that answers, with this number and name.
    pub fn guest(&self, number: u32, name: &str, tags: &str) {
        self.sh(&format!(
            "qm clone 9000 {number} --name {name} --full 1 >/dev/null && qm set {number} --tags {tags} >/dev/null && \
             qm start {number} && until qm agent {number} ping 2>/dev/null; do sleep 0.2; done"
        ));
    }

    /// A session of one method on the node, its report as JSON.
    pub fn session(&self, record: &str, arguments: &[&str]) -> (Ended, Recording) {
        let path = self.world.text(record);
        let mut all = vec![
            "run", "--host", "pve1", "--reps", "1", "--format", "json", "--record", &path,
        ];
        all.extend(arguments);
        let ended = self.world.run(&all);
        let recording = Recording::read(&self.world.path(record));
        if ended.code == 0 {
            let state = format!("/var/lib/comeback/{}", recording.session());
            self.sh(&format!("[ ! -e {state} ]"));
        }
        (ended, recording)
    }

    /// All that a method could leave there.
    pub fn there(&self) -> String {
        self.sh("qm list | awk '{ print $1, $2, $3 }'; pct list | awk '{ print $1, $2 }'; cat /etc/pve/qemu-server/* /etc/pve/lxc/* 2>/dev/null; for s in local bkp; do pvesm list $s; done; find /var/lib/vz/dump /mnt/pve/bkp/dump /var/tmp -mindepth 1 2>/dev/null")
    }

    fn node(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(NODE);
        command
            .args(["-n", &self.name])
            .args(arguments)
            .stdin(Stdio::null());
        command
    }
}

impl Drop for Node {
    fn drop(&mut self) {
        drop(self.hold.stdin.take());
        let until = Instant::now() + PATIENCE;
        while Instant::now() < until && matches!(self.hold.try_wait(), Ok(None)) {
            std::thread::sleep(Duration::from_millis(10));
        }
        let _ = self.hold.kill();
        let _ = self.hold.wait();
    }
}
