//! A host that is the lab's machine (see `tests/lab/vm`): a small Debian with `OpenZFS`, LVM-thin and
//! Btrfs, emulated, as new for each test.
#![cfg(test)]
#![allow(dead_code, reason = "several test programs use it, each in part")]

use std::time::{Duration, Instant};

use crate::lease::Lease;
use crate::missing::have;
use crate::world::{Ended, World};

const LAB: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/lab/vm");
/// Ends with this where it has not been built.
const NOT_BUILT: i32 = 3;
/// The longest wait for what watches a step to end.
const PATIENCE: Duration = Duration::from_secs(30);

/// A machine. It ends, and its disks are gone, when it is dropped, and also when the test is killed.
pub struct Vm(pub Lease);

impl Vm {
    /// Starts one, which is the host of this name in the world's `~/.ssh/config`. Nothing where the
    /// lab was not built: the test is skipped, loudly, but fails under `CI=true`.
    pub fn start(world: &World, host: &str) -> Option<Self> {
        match Lease::take(LAB, &[]) {
            Ok(lease) => {
                lease.know(world, host);
                Some(Self(lease))
            }
            Err(status) => {
                assert_eq!(status.code(), Some(NOT_BUILT), "the lab does not start");
                have("the lab (`tests/lab/vm build`, as root)", false);
                None
            }
        }
    }

    /// The port of this machine at which it is reached; other machines of the lab reach it there at
    /// 10.0.2.2.
    pub fn port(&self) -> u16 {
        self.0.port()
    }

    /// What root's shell prints there; whatever it is, it succeeds.
    pub fn sh(&self, script: &str) -> String {
        self.0.sh(script)
    }

    /// The same, and it may fail.
    pub fn try_sh(&self, script: &str) -> Ended {
        self.0.try_sh(script)
    }

    /// Its power fails, and comes back; waits until it answers again. Its disks are the same.
    pub fn reset(&self) {
        self.0.call(&["reset"]);
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
        let mut there = self.there();
        while there != before && Instant::now() < until {
            std::thread::sleep(Duration::from_millis(500));
            there = self.there();
        }
        assert_eq!(there, before);
    }
}
