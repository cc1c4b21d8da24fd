//! Several hosts: each a real SSH server that looks like a machine of its own.
#![cfg(test)]
#![allow(dead_code, reason = "several test programs use it, each in part")]

use std::fmt::Write;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

use crate::missing::have_root;
use crate::server::{OWN_MOUNTS, Sshd, program};
use crate::world::{World, entries};

/// A world, and hosts in it.
pub struct Fleet {
    pub world: World,
    pub hosts: Vec<(String, Sshd)>,
    config: String,
}

impl Fleet {
    /// Hosts of these names; nothing where there is no sshd, or this is not root.
    pub fn new(names: &[&str]) -> Option<Self> {
        if !have_root() {
            return None;
        }
        let world = World::new();
        fs::create_dir_all(world.path("home/.ssh")).unwrap();
        let mut fleet = Self {
            world,
            hosts: Vec::new(),
            config: String::new(),
        };
        for (at, name) in names.iter().enumerate() {
            let sshd = Sshd::start_as(elsewhere(&fleet.world, at)?, "");
            fs::create_dir_all(fleet.world.path(&format!("state-{name}"))).unwrap();
            fleet.world.configure(name, &format!("state-{name}"));
            let lines = format!(
                "User {}\n  IdentityFile {}\n  IdentitiesOnly yes\n  UserKnownHostsFile {}",
                sshd.user(),
                sshd.key().display(),
                sshd.known_hosts().display(),
            );
            fleet.add(name, sshd.port(), &lines);
            fleet.hosts.push(((*name).to_owned(), sshd));
        }
        Some(fleet)
    }

    /// Names a port of this machine.
    pub fn add(&mut self, name: &str, port: u16, lines: &str) {
        let _ = writeln!(
            self.config,
            "Host {name}\n  HostName 127.0.0.1\n  Port {port}\n  {lines}"
        );
        fs::write(self.world.path("home/.ssh/config"), &self.config).unwrap();
    }

    /// A host's server.
    pub fn sshd(&mut self, name: &str) -> &mut Sshd {
        let found = self.hosts.iter_mut().find(|(host, _)| host == name);
        &mut found.unwrap().1
    }

    /// Adds a setting of a host.
    pub fn set(&self, host: &str, line: &str) {
        let file = self.world.path("home/.config/comeback/config.toml");
        let config = fs::read_to_string(&file).unwrap();
        let head = format!("[host.{host}]\n");
        fs::write(file, config.replace(&head, &format!("{head}{line}\n"))).unwrap();
    }

    /// Nothing of any session is left on any host.
    pub fn assert_empty(&self) {
        self.world.assert_empty();
        for (name, _) in &self.hosts {
            let folder = self.world.path(&format!("state-{name}"));
            assert_eq!(
                entries(&folder),
                [""; 0],
                "left in the state folder of {name}"
            );
        }
    }
}

/// A program that runs sshd where the kernel tells another boot id: in a mount namespace.
fn elsewhere(world: &World, at: usize) -> Option<PathBuf> {
    let (boot_id, file) = (
        world.path(&format!("boot-{at}")),
        world.path(&format!("sshd-{at}")),
    );
    fs::write(
        &boot_id,
        format!("00000000-0000-4000-8000-00000000000{at}\n"),
    )
    .unwrap();
    let text = format!(
        "#!/bin/sh\nexec unshare -m sh {OWN_MOUNTS} sh -c 'mount --bind \"$0\" /proc/sys/kernel/random/boot_id && exec \"$@\"' '{}' '{}' \"$@\"\n",
        boot_id.display(),
        program("sshd")?.display(),
    );
    fs::write(&file, text).unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o700)).unwrap();
    Some(file)
}
