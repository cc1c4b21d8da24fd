//! A machine with users of its own, reached over SSH: a real server in a mount namespace that
//! has other `/etc/passwd`, `/home`, `/run` and `/var/lib` than this machine.
#![cfg(test)]
#![allow(dead_code, reason = "several test programs use it, each in part")]

use std::fmt::Write;
use std::fs;
use std::os::unix::fs::{PermissionsExt, chown, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;

use comeback::host::ssh;
use tempfile::TempDir;

use crate::missing::{have_root, have_tool};
use crate::server::Sshd;
use crate::world::World;

/// The first user's id.
const FIRST: u32 = 4100;

/// What a house is made with.
#[derive(Default)]
pub struct Plan<'a> {
    /// Names of users and their login shells.
    pub users: &'a [(&'a str, &'a str)],
    /// Lines of `/etc/sudoers`.
    pub sudoers: &'a str,
    /// What root does in the namespace before the server starts there.
    pub prelude: &'a str,
    /// Lines of `sshd_config`.
    pub settings: &'a str,
}

/// The machine. Each user is a host of that name in the `~/.ssh/config` of the world.
pub struct House {
    pub world: World,
    pub sshd: Sshd,
    folder: TempDir,
    users: Vec<String>,
}

impl House {
    /// Nothing where there is no sshd, or this is not root.
    pub fn new(plan: &Plan<'_>) -> Option<Self> {
        if !(have_root() && have_tool("unshare") && have_tool("nsenter")) {
            return None;
        }
        let folder = tempfile::Builder::new()
            .prefix("house-")
            .tempdir_in("/var/tmp")
            .unwrap();
        let at = |name: &str| folder.path().join(name);
        open(folder.path());
        for name in ["home", "lib", "bin"] {
            fs::create_dir(at(name)).unwrap();
            open(&at(name));
        }
        fs::create_dir(at("home/tmp")).unwrap();
        fs::set_permissions(at("home/tmp"), fs::Permissions::from_mode(0o1777)).unwrap();
        symlink("/bin/busybox", at("bin/ash")).unwrap();
        let (mut passwd, mut shadow, mut group) = (
            fs::read_to_string("/etc/passwd").unwrap(),
            fs::read_to_string("/etc/shadow").unwrap_or_default(),
            fs::read_to_string("/etc/group").unwrap(),
        );
        for (id, (name, shell)) in (FIRST..).zip(plan.users) {
            // A shell of the machine's own stands in its folder.
            let shell = match shell.strip_prefix("bin/") {
                Some(own) => at("bin").join(own).display().to_string(),
                None => (*shell).to_owned(),
            };
            writeln!(passwd, "{name}:x:{id}:{id}::/home/{name}:{shell}").unwrap();
            writeln!(shadow, "{name}:*:19000:0:99999:7:::").unwrap();
            writeln!(group, "{name}:x:{id}:").unwrap();
            let home = at("home").join(name);
            fs::create_dir(&home).unwrap();
            chown(&home, Some(id), Some(id)).unwrap();
        }
        for (name, text, mode) in [
            ("passwd", passwd.as_str(), 0o644),
            ("shadow", &shadow, 0o600),
            ("group", &group, 0o644),
            ("sudoers", plan.sudoers, 0o440),
        ] {
            fs::write(at(name), text).unwrap();
            fs::set_permissions(at(name), fs::Permissions::from_mode(mode)).unwrap();
        }
        let here = folder.path().display();
        let prelude = format!(
            "for f in passwd shadow group sudoers; do [ ! -e /etc/$f ] || mount --bind {here}/$f /etc/$f; done\n\
             mount --bind {here}/home /home\nmount --bind {here}/lib /var/lib\n\
             mount -t tmpfs -o mode=755 tmpfs /run\nmkdir /run/sshd\nmkdir -m 1777 /run/lock\n\
             mount -t tmpfs -o mode=1777 tmpfs /dev/shm\n{}\n",
            plan.prelude
        );
        let settings = format!(
            "{}\nAuthorizedKeysFile {here}/authorized.%u {here}/authorized\nSetEnv SHLVL=0\n",
            plan.settings
        );
        let sshd = Sshd::start_in(&prelude, &settings, folder.path())?;
        fs::copy(sshd.path("authorized"), at("authorized")).unwrap();
        let house = Self {
            world: World::new(),
            sshd,
            users: plan
                .users
                .iter()
                .map(|(name, _)| (*name).to_owned())
                .collect(),
            folder,
        };
        house.know();
        Some(house)
    }

    /// Writes the `~/.ssh/config`.
    fn know(&self) {
        fs::create_dir_all(self.world.path("home/.ssh")).unwrap();
        let mut config = String::new();
        for user in &self.users {
            writeln!(
                config,
                "Host {user}\n  HostName 127.0.0.1\n  Port {}\n  User {user}\n  IdentityFile {}\n  \
                 IdentitiesOnly yes\n  UserKnownHostsFile {}",
                self.sshd.port(),
                self.sshd.key().display(),
                self.sshd.known_hosts().display(),
            )
            .unwrap();
        }
        fs::write(self.world.path("home/.ssh/config"), config).unwrap();
    }

    /// A file of the machine, seen from outside: `home/…` is its `/home`, `lib/…` its `/var/lib`.
    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// A user's id.
    pub fn id(&self, user: &str) -> u32 {
        let at = self.users.iter().position(|name| name == user).unwrap();
        FIRST + u32::try_from(at).unwrap()
    }

    /// Writes a file of a user's home, which is his.
    pub fn write(&self, user: &str, name: &str, text: &str) -> PathBuf {
        let mut path = self.path("home").join(user);
        for part in Path::new(name).components() {
            path.push(part);
            if path.ends_with(name) {
                fs::write(&path, text).unwrap();
            } else {
                let _ = fs::create_dir(&path);
            }
            chown(&path, Some(self.id(user)), Some(self.id(user))).unwrap();
        }
        path
    }

    /// What a login of this user may do, as options of its line in `authorized_keys`.
    pub fn restrict(&self, user: &str, options: &str) {
        let key = fs::read_to_string(self.sshd.path("authorized")).unwrap();
        fs::write(
            self.path(&format!("authorized.{user}")),
            format!("{options} {key}"),
        )
        .unwrap();
    }

    /// Lines of `config.toml`, in place of all others.
    pub fn configure(&self, text: &str) {
        fs::write(self.world.path("home/.config/comeback/config.toml"), text).unwrap();
    }

    /// A connected host, as one of the users.
    pub async fn host(
        &self,
        user: &str,
    ) -> Result<comeback::host::SharedHost, comeback::host::HostError> {
        let target = format!("{user}@127.0.0.1:{}", self.sshd.port());
        Ok(ssh::connect(&target, &self.sshd.config()).await?)
    }

    /// What root does on the machine.
    pub fn root(&self, text: &str) {
        let status = Command::new("nsenter")
            .args(["--mount", "--target", &self.sshd.pid().to_string(), "--"])
            .args(["sh", "-ec", text])
            .status();
        assert!(status.unwrap().success(), "{text}");
    }

    /// A program on the machine, as one of its users, without SSH.
    pub fn inside(&self, user: &str, program: &Path) -> Command {
        let id = self.id(user).to_string();
        let mut command = Command::new("nsenter");
        command
            .args(["--mount", "--target", &self.sshd.pid().to_string(), "--"])
            .args([
                "setpriv",
                "--reuid",
                &id,
                "--regid",
                &id,
                "--clear-groups",
                "--",
            ])
            .arg(program)
            .env_clear()
            .env("PATH", "/usr/bin:/bin")
            .env("HOME", format!("/home/{user}"));
        command
    }

    /// Nothing of any session is on the machine.
    pub fn assert_empty(&self) {
        let mut left = Vec::new();
        let mut folders = vec![self.folder.path().to_path_buf()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(&folder).unwrap().flatten() {
                let path = entry.path();
                let name = entry.file_name().to_string_lossy().into_owned();
                if name.starts_with("cb-") || name.starts_with("comeback-") {
                    left.push(path);
                } else if entry.file_type().unwrap().is_dir() {
                    folders.push(path);
                } else {
                    // No folder of a session is a file.
                }
            }
        }
        assert!(left.is_empty(), "left: {left:?}");
    }
}

fn open(folder: &Path) {
    fs::set_permissions(folder, fs::Permissions::from_mode(0o755)).unwrap();
}
