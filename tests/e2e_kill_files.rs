//! The program killed at every moment of the file methods: a recovery names what is left, no more.
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
fn files_cp() {
    kill::at_every_moment("files-cp");
}

#[test]
fn files_tar() {
    kill::at_every_moment("files-tar");
}

#[test]
fn files_rsync() {
    if missing::have_tool("rsync") {
        kill::at_every_moment("files-rsync");
    }
}
