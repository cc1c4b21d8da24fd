//! Server programs that see another password of the user, in a mount namespace of their own.
#![cfg(test)]
#![allow(dead_code, reason = "several test programs use it, each in part")]

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;

use crate::server::OWN_MOUNTS;

/// Files that stand in the place of those of the machine, for one program.
pub struct Accounts {
    folder: TempDir,
}

impl Accounts {
    /// Root has this password; `changed` is the day of its last change (0: it has expired).
    pub fn with_password(password: &str, changed: Option<u32>) -> Self {
        let folder = tempfile::Builder::new()
            .prefix("accounts-")
            .tempdir()
            .unwrap();
        let hash = Command::new("openssl")
            .args(["passwd", "-6", password])
            .output();
        let hash = String::from_utf8(hash.unwrap().stdout).unwrap();
        let changed = changed.map_or("20000".to_owned(), |day| day.to_string());
        let real = fs::read_to_string("/etc/shadow").unwrap();
        let mut lines: Vec<String> = real
            .lines()
            .filter(|line| !line.starts_with("root:"))
            .map(str::to_owned)
            .collect();
        lines.insert(0, format!("root:{}:{changed}:0:99999:7:::", hash.trim()));
        fs::write(folder.path().join("shadow"), lines.join("\n") + "\n").unwrap();
        let stack = "auth required pam_unix.so\naccount required pam_unix.so\n\
                     password required pam_unix.so\nsession required pam_permit.so\n";
        fs::write(folder.path().join("pam"), stack).unwrap();
        Self { folder }
    }

    /// The program, which is started with these files.
    pub fn program(&self, program: &Path) -> PathBuf {
        let path = self.folder.path().join("start");
        let files = self.folder.path().display();
        let text = format!(
            "#!/bin/sh\nexec unshare -m sh {OWN_MOUNTS} sh -c '\n  mount --make-rprivate / &&\n  \
             mount --bind {files}/shadow /etc/shadow || exit 1\n  \
             if [ -e /etc/pam.d/sshd ]; then mount --bind {files}/pam /etc/pam.d/sshd || exit 1; fi\n  \
             exec {} \"$@\"' sh \"$@\"\n",
            program.display()
        );
        fs::write(&path, text).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o700)).unwrap();
        path
    }
}
