//! Two hosts, `lab` and `vault`: real SSH servers of their own, reached through the test's own
//! `~/.ssh/config`.
#![cfg(test)]
#![allow(dead_code, reason = "several test programs use it, each in part")]

use std::fmt::Write;
use std::fs;

use crate::server::Sshd;
use crate::world::World;

/// A world, and two hosts in it.
pub struct Pair {
    pub world: World,
    pub lab: Sshd,
    pub vault: Sshd,
}

impl Pair {
    /// Nothing where there is no sshd.
    pub fn new() -> Option<Self> {
        let world = World::new();
        // What its hosts run as `ssh`: with the test's own files, in place of the user's.
        let bin = world.path("bin");
        let start = || {
            Sshd::start_with(&format!(
                "SetEnv PATH={}:/usr/bin:/bin SHLVL=1\nSubsystem sftp internal-sftp",
                bin.display()
            ))
        };
        let (lab, vault) = (start()?, start()?);
        fs::create_dir_all(world.path("home/.ssh")).unwrap();
        world.configure("lab", "state-lab");
        world.configure("vault", "state-lab");
        let mut config = String::new();
        for (name, sshd) in [("lab", &lab), ("vault", &vault)] {
            let _ = write!(
                config,
                "Host {name}\n  HostName 127.0.0.1\n  Port {}\n  User {}\n  IdentityFile {}\n  \
                 IdentitiesOnly yes\n  UserKnownHostsFile {}\n",
                sshd.port(),
                sshd.user(),
                sshd.key().display(),
                sshd.known_hosts().display(),
            );
        }
        fs::write(world.path("home/.ssh/config"), config).unwrap();
        Some(Self { world, lab, vault })
    }
}

impl Pair {
    /// Adds a line to a host's part of the configuration.
    pub fn set(&self, host: &str, line: &str) {
        let file = self.world.path("home/.config/comeback/config.toml");
        let head = format!("[host.{host}]\n");
        let config = fs::read_to_string(&file).unwrap();
        fs::write(&file, config.replace(&head, &format!("{head}{line}\n"))).unwrap();
    }

    /// Lets each host log into the other by itself.
    pub fn acquaint(&self) {
        use std::os::unix::fs::PermissionsExt;
        let [keys, known] = [Sshd::key, Sshd::known_hosts]
            .map(|file| [&self.lab, &self.vault].map(|sshd| file(sshd).display().to_string()));
        let config = format!(
            "IdentitiesOnly yes\nIdentityFile {}\nIdentityFile {}\nUserKnownHostsFile {} {}\n",
            keys[0], keys[1], known[0], known[1]
        );
        fs::write(self.world.path("their-config"), config).unwrap();
        fs::create_dir_all(self.world.path("bin")).unwrap();
        let ssh = format!(
            "#!/bin/sh\nexec /usr/bin/ssh -F {} \"$@\"\n",
            self.world.text("their-config")
        );
        fs::write(self.world.path("bin/ssh"), ssh).unwrap();
        fs::set_permissions(
            self.world.path("bin/ssh"),
            fs::Permissions::from_mode(0o755),
        )
        .unwrap();
    }
}

/// A method that pipes `from` on the source into `to` on the target, where `{part}` is the file
/// that it leaves.
pub fn method(from: &str, to: &str, more: &str) -> String {
    let part = "{{ box }}-part";
    let to = to.replace("{part}", part);
    format!(
        r#"title   = "a stream of a test"
family  = "files"
subject = "dir"
own     = "may"
roles   = ["source", "target"]
series  = "full"

[settings]
size  = {{ default = "64KiB", kind = "bytes", help = "bytes of the tree" }}
files = {{ default = 2, help = "files in it" }}

[[step]]
use  = "tree"
with = {{ tree = "{{{{ subject }}}}" }}

[[step]]
name    = "send"
phase   = "protect"
clock   = "here"
on      = "target"
pipe    = [{{ on = "source", run = '''{from}''' }}, {{ run = '''{to}''' }}]
figures = ["through"]
leaves  = {{ id = "part", kind = "copy", find = "if [ -e {part} ]; then printf '%s\n' {part}; fi", undo = "rm -f -- {{{{ found }}}}" }}
{more}
"#
    )
}
