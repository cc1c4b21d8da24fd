//! A host that is the lab's machine (see `tests/lab/vm`): a small Debian with `OpenZFS`, LVM-thin and
//! Btrfs, emulated, as new for each test.
#![cfg(test)]
#![allow(dead_code, reason = "several test programs use it, each in part")]

use std::collections::BTreeMap;
use std::fs::OpenOptions;
use std::io::{Read, Write};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use crate::missing::have;
use crate::world::{Ended, World, ended};

const LAB: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/lab/vm");
/// Ends with this where it has not been built.
const NOT_BUILT: i32 = 3;
/// The longest wait for its end.
const PATIENCE: Duration = Duration::from_secs(30);

static COUNT: AtomicU32 = AtomicU32::new(0);

/// A machine. It ends, and its disks are gone, when it is dropped, and also when the test is killed:
/// what holds it waits for the end of a pipe.
pub struct Vm {
    name: String,
    hold: Child,
    address: BTreeMap<String, String>,
}

impl Vm {
    /// Starts one, which is the host of this name in the world's `~/.ssh/config`. Nothing where the
    /// lab was not built: the test is skipped, loudly, but fails under `CI=true`.
    pub fn start(world: &World, host: &str) -> Option<Self> {
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!("test-{}-{count}", std::process::id());
        let mut hold = Command::new(LAB)
            .args(["-n", &name, "hold"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut said = String::new();
        let mut out = hold.stdout.take().unwrap();
        out.read_to_string(&mut said).unwrap();
        let address: BTreeMap<String, String> = said
            .lines()
            .filter_map(|line| line.split_once('='))
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .collect();
        if address.is_empty() {
            let status = hold.wait().unwrap();
            assert_eq!(status.code(), Some(NOT_BUILT), "the lab does not start");
            have("the lab (`tests/lab/vm build`, as root)", false);
            return None;
        }
        let vm = Self {
            name,
            hold,
            address,
        };
        vm.know(world, host);
        Some(vm)
    }

    /// Adds it to the `~/.ssh/config`.
    fn know(&self, world: &World, host: &str) {
        std::fs::create_dir_all(world.path("home/.ssh")).unwrap();
        let mut config = OpenOptions::new()
            .create(true)
            .append(true)
            .open(world.path("home/.ssh/config"))
            .unwrap();
        let text = format!(
            "Host {host}\n  HostName {}\n  Port {}\n  User {}\n  IdentityFile {}\n  \
             IdentitiesOnly yes\n  UserKnownHostsFile {}\n",
            self.get("LAB_HOST"),
            self.get("LAB_PORT"),
            self.get("LAB_USER"),
            self.get("LAB_KEY"),
            self.get("LAB_KNOWN_HOSTS"),
        );
        config.write_all(text.as_bytes()).unwrap();
    }

    fn get(&self, name: &str) -> &str {
        &self.address[name]
    }

    /// The port of this machine at which it is reached; other machines of the lab reach it there at
    /// 10.0.2.2.
    pub fn port(&self) -> u16 {
        self.get("LAB_PORT").parse().unwrap()
    }

    /// What root's shell prints there; whatever it is, it succeeds.
    pub fn sh(&self, script: &str) -> String {
        let ended = self.try_sh(script);
        assert_eq!(
            ended.code, 0,
            "on {}: {script}\n{}\n{}",
            self.name, ended.out, ended.err
        );
        ended.out
    }

    /// The same, and it may fail.
    pub fn try_sh(&self, script: &str) -> Ended {
        let script = format!("PATH=$PATH:/usr/sbin:/sbin; {script}");
        ended(&self.lab(&["ssh", &script]).output().unwrap())
    }

    /// Its power fails, and comes back; waits until it answers again. Its disks are the same.
    pub fn reset(&self) {
        let ended = ended(&self.lab(&["reset"]).output().unwrap());
        assert_eq!(ended.code, 0, "{}", ended.err);
    }

    /// All that a method could leave there: mounts, loop devices, pools, volumes, programs that it
    /// calls, and files where it makes any.
    pub fn there(&self) -> String {
        self.sh(
            "grep -v boot_id /proc/mounts; losetup --list -n -O NAME,BACK-FILE; dmsetup ls; zpool list -H -o name; \
             zfs list -H -o name -t all; vgs --noheadings -o vg_name; \
             ps -eo comm= | grep -Ex 'sh|fio|pv|dd|btrfs|zfs|rsync|tar|openssl|sleep'; \
             find /root /var/tmp /tmp /var/lib/comeback/* 2>/dev/null | sort",
        )
    }

    /// Nothing else than this is there. What watches a step takes up to a second to see that it is over.
    pub fn assert_there(&self, before: &str) {
        let until = Instant::now() + PATIENCE;
        while self.there() != before && Instant::now() < until {
            std::thread::sleep(Duration::from_millis(500));
        }
        assert_eq!(self.there(), before);
    }

    fn lab(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(LAB);
        command
            .args(["-n", &self.name])
            .args(arguments)
            .stdin(Stdio::null());
        command
    }
}

impl Drop for Vm {
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
