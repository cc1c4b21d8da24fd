//! A host named lab: a real SSH server, reached through the test's own `~/.ssh/config`.
#![cfg(test)]
#![allow(dead_code, reason = "several test programs use it, each in part")]

use std::fs;

use crate::server::Sshd;
use crate::world::World;

/// A world, and a host named lab in it.
pub struct Lab {
    pub world: World,
    pub sshd: Sshd,
}

impl Lab {
    /// Nothing where there is no sshd.
    pub fn new() -> Option<Self> {
        let sshd = Sshd::start()?;
        let world = World::new();
        fs::create_dir_all(world.path("home/.ssh")).unwrap();
        world.configure("lab", "state-lab");
        let lab = Self { world, sshd };
        lab.know(&lab.sshd.known_hosts().display().to_string());
        Some(lab)
    }

    /// Writes the `~/.ssh/config`.
    pub fn know(&self, known_hosts: &str) {
        let config = format!(
            "Host lab\n  HostName 127.0.0.1\n  Port {}\n  User {}\n  IdentityFile {}\n  \
             IdentitiesOnly yes\n  UserKnownHostsFile {known_hosts}\n",
            self.sshd.port(),
            self.sshd.user(),
            self.sshd.key().display(),
        );
        fs::write(self.world.path("home/.ssh/config"), config).unwrap();
    }
}
