//! A host that is an `ESXi` host (see `tests/esxi/host`): `BusyBox` behind a real SSH server in a mount namespace of its own.
#![cfg(test)]
#![allow(dead_code, reason = "several test programs use it, each in part")]

use std::fmt::Write as _;
use std::fs;
use std::io::BufRead as _;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use crate::missing::{have_root, have_tool};
use crate::server::Sshd;
use crate::world::World;

/// Root's password there.
pub const PASSWORD: &str = r#"vm "ware" \ 7"#;

/// The host, and the world that knows it as `esx1`: by a key, and as `asked` by its password.
pub struct Esxi {
    pub world: World,
    pub sshd: Sshd,
    folder: tempfile::TempDir,
}

/// The web server of the host; it ends when it is dropped.
pub struct Web {
    child: Child,
    pub port: String,
}

impl Drop for Web {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Esxi {
    /// Nothing where this is not root, or something is missing: the test is skipped, loudly.
    pub fn start() -> Option<Self> {
        let needed = ["unshare", "nsenter", "busybox", "qemu-img", "openssl"];
        if !have_root() || !needed.iter().all(|tool| have_tool(tool)) {
            return None;
        }
        let folder = tempfile::Builder::new()
            .prefix("esxi-")
            .tempdir_in("/var/tmp")
            .unwrap();
        let at = |name: &str| folder.path().join(name);
        let hash = Command::new("openssl")
            .args(["passwd", "-6", PASSWORD])
            .output()
            .unwrap();
        let hash = String::from_utf8(hash.stdout).unwrap();
        fs::write(at("passwd"), "root:x:0:0:Administrator:/:/bin/sh\n").unwrap();
        let real = fs::read_to_string("/etc/passwd").unwrap();
        let others: String = real
            .lines()
            .filter(|line| !line.starts_with("root:"))
            .fold(String::new(), |all, line| all + line + "\n");
        fs::write(
            at("passwd"),
            format!("root:x:0:0:Administrator:/:/bin/sh\n{others}"),
        )
        .unwrap();
        fs::write(
            at("shadow"),
            format!("root:{}:20000:0:99999:7:::\n", hash.trim()),
        )
        .unwrap();
        let stack = "auth required pam_unix.so\naccount required pam_unix.so\nsession required pam_permit.so\n";
        fs::write(at("pam"), stack).unwrap();
        let here = folder.path().display();
        let host = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/esxi/host");
        // sshd wants a chroot all of whose folders are root's alone.
        let prelude = format!(
            "mount --bind {here}/passwd /etc/passwd\nmount --bind {here}/shadow /etc/shadow\n\
             [ ! -e /etc/pam.d/sshd ] || mount --bind {here}/pam /etc/pam.d/sshd\n\
             sh {host} {here}/root\nmount --rbind {here}/root /mnt\n"
        );
        // As ESXi has it: keys, and passwords by keyboard-interactive alone.
        let settings = "ChrootDirectory /mnt\nUsePAM yes\nKbdInteractiveAuthentication yes\n\
                        PasswordAuthentication no\nMaxSessions 10\nSetEnv SHLVL=0";
        let sshd = Sshd::start_in(&prelude, settings, folder.path())?;
        let world = World::new();
        fs::create_dir_all(world.path("home/.ssh")).unwrap();
        let mut config = String::new();
        for (name, how) in [
            (
                "esx1",
                format!(
                    "IdentityFile {}\n  IdentitiesOnly yes",
                    sshd.key().display()
                ),
            ),
            ("asked", "PubkeyAuthentication no".to_owned()),
        ] {
            let _ = write!(
                config,
                "Host {name}\n  HostName 127.0.0.1\n  Port {}\n  User root\n  {how}\n  UserKnownHostsFile {}\n",
                sshd.port(),
                sshd.known_hosts().display(),
            );
            let file = world.path("home/.config/comeback/config.toml");
            let text = fs::read_to_string(&file).unwrap();
            let state = "/vmfs/volumes/ds1/.comeback";
            fs::write(&file, format!("{text}[host.{name}]\nstate = {state:?}\n")).unwrap();
        }
        fs::write(world.path("home/.ssh/config"), config).unwrap();
        Some(Self {
            world,
            sshd,
            folder,
        })
    }

    /// A file of the host, seen from outside.
    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join("root").join(name)
    }

    /// What root's shell prints there.
    pub fn sh(&self, script: &str) -> String {
        let done = Command::new("nsenter")
            .args(["-m", "-t", &self.sshd.pid().to_string(), "chroot", "/mnt"])
            .args(["/bin/sh", "-c", script])
            .env("PATH", "/usr/sbin:/usr/bin:/sbin:/bin")
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&done.stdout).into_owned();
        let why = String::from_utf8_lossy(&done.stderr);
        assert!(done.status.success(), "{script}\n{said}\n{why}");
        said
    }

    /// A machine with one thin disk of 6 MiB, half of it data: its descriptor's path.
    pub fn machine(&self, number: u32, name: &str, at: &str, notes: &str) -> String {
        let disk = format!("/vmfs/volumes/{at}.vmdk");
        fs::write(self.path("tmp/name"), format!("{name}\n")).unwrap();
        fs::write(self.path("tmp/notes"), format!("{notes}\n")).unwrap();
        fs::write(self.path("tmp/vmx"), format!("/vmfs/volumes/{at}.vmx\n")).unwrap();
        self.sh(&format!(
            r#"set -e; m=/etc/vmware/machines/{number}; d='{disk}'; mkdir -p $m "${{d%/*}}"
mv /tmp/name /tmp/notes /tmp/vmx $m; echo off >$m/state
f=${{d%.vmdk}}-flat.vmdk; dd if=/dev/urandom of="$f" bs=64k count=48 2>/dev/null; dd if=/dev/zero of="$f" bs=1 count=0 seek=6291456 2>/dev/null
printf '# Disk DescriptorFile\nversion=1\nCID=fffffffe\nparentCID=ffffffff\ncreateType="vmfs"\n\n# Extent description\nRW 12288 VMFS "%s"\n\nddb.adapterType = "lsilogic"\n' "${{f##*/}}" >"$d"
printf 'displayName = "x"\nscsi0:0.fileName = "%s"\n' "${{d##*/}}" >"${{d%.vmdk}}.vmx""#
        ));
        disk
    }

    /// Another host, which root of this one logs into by itself.
    pub fn knows(&self, name: &str, other: &Sshd) {
        let own = self.path(".machine/root/.ssh");
        fs::create_dir_all(&own).unwrap();
        fs::copy(other.key(), own.join("id_ed25519")).unwrap();
        fs::copy(other.known_hosts(), own.join("known_hosts")).unwrap();
        let file = self.world.path("home/.ssh/config");
        let config = fs::read_to_string(&file).unwrap();
        let more = format!(
            "Host {name}\n  HostName 127.0.0.1\n  Port {}\n  User {}\n  IdentityFile {}\n  IdentitiesOnly yes\n  UserKnownHostsFile {}\n",
            other.port(),
            other.user(),
            other.key().display(),
            other.known_hosts().display(),
        );
        fs::write(file, config + &more).unwrap();
        self.world.configure(name, "state-lab");
    }

    /// Its web server, and the port.
    pub fn web(&self) -> Web {
        let at = self.path("etc/vmware/ssl");
        fs::create_dir_all(&at).unwrap();
        let done = Command::new("openssl")
            .args([
                "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2",
            ])
            .args(["-subj", "/CN=localhost.localdomain"])
            .arg("-keyout")
            .arg(at.join("rui.key"))
            .arg("-out")
            .arg(at.join("rui.crt"))
            .output()
            .unwrap();
        assert!(done.status.success(), "{done:?}");
        let program = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/esxi/hostd");
        let mut child = Command::new("python3")
            .arg(program)
            .arg(self.path(""))
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut port = String::new();
        let mut out = std::io::BufReader::new(child.stdout.take().unwrap());
        out.read_line(&mut port).unwrap();
        let port = port.trim().to_owned();
        Web { child, port }
    }

    /// All that a method could leave there.
    pub fn there(&self) -> String {
        self.sh("find /vmfs/volumes/*/ ! -path '*/.comeback*' | sort; ls -R /etc/vmware; cat /vmfs/volumes/*/*/*.vmx; esxcli network firewall ruleset list; ls -A /vmfs/volumes/ds1/.comeback 2>/dev/null; ls -A /tmp /var/tmp")
    }
}
