//! The program killed at every moment of the Btrfs method: no loop device or mount stays.
#![cfg(test)]

#[path = "support/events.rs"]
mod events;
#[path = "support/going.rs"]
mod going;
#[path = "support/kill.rs"]
mod kill;
#[path = "support/missing.rs"]
mod missing;
#[path = "support/processes.rs"]
mod processes;
#[path = "support/world.rs"]
mod world;

#[test]
fn btrfs_snapshot() {
    if missing::have_root() && missing::have_tool("mkfs.btrfs") && missing::have_tool("losetup") {
        kill::at_every_moment("btrfs-snapshot");
    }
}
