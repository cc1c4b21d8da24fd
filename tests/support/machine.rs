//! A machine with processes and a network of its own, on this machine's disk: its link can be
//! cut, and it can lose its power.
#![cfg(test)]
#![allow(dead_code, reason = "several test programs use it, each in part")]

use std::fs;
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use comeback::host::ssh;

use crate::missing::{have_root, have_tool};
use crate::server::{OWN_MOUNTS, Sshd, program};

static COUNT: AtomicU32 = AtomicU32::new(0);

/// The machine; its network and all of its processes are gone when it is dropped.
pub struct Machine {
    /// Whose keys and files it has.
    pub sshd: Sshd,
    network: String,
    address: String,
    running: Option<Child>,
}

impl Machine {
    /// Nothing where networks cannot be made: the test is skipped, loudly, but fails under
    /// `CI=true`.
    pub fn start() -> Option<Self> {
        if !(have_root() && have_tool("ip") && have_tool("unshare")) {
            return None;
        }
        let sshd = Sshd::start()?;
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let pid = std::process::id();
        // Addresses for the testing of networks (RFC 2544): nobody is there.
        let part = pid.wrapping_mul(8).wrapping_add(count) % (1 << 14);
        let base = format!("198.18.{}.", part >> 6);
        let first = (part & 63) * 4;
        let mut machine = Self {
            network: format!("cb{pid}n{count}"),
            address: format!("{base}{}", first + 2),
            sshd,
            running: None,
        };
        let (network, here) = (machine.network.clone(), format!("cb{pid}v{count}"));
        let ours = format!("{base}{}/30", first + 1);
        let theirs = format!("{}/30", machine.address);
        ip(&["netns", "add", &network]);
        ip(&[
            "link", "add", &here, "type", "veth", "peer", "name", "eth0", "netns", &network,
        ]);
        ip(&["addr", "add", &ours, "dev", &here]);
        ip(&["link", "set", &here, "up"]);
        ip(&["-n", &network, "addr", "add", &theirs, "dev", "eth0"]);
        ip(&["-n", &network, "link", "set", "lo", "up"]);
        machine.mend();
        machine.know();
        machine.power_on();
        Some(machine)
    }

    fn know(&self) {
        let key = fs::read_to_string(self.sshd.path("host_ed25519.pub")).unwrap();
        let line = format!("[{}]:{} {key}", self.address, self.sshd.port());
        fs::write(self.sshd.known_hosts(), line).unwrap();
    }

    /// Its processes begin.
    pub fn power_on(&mut self) {
        let child = Command::new("ip")
            .args(["netns", "exec", &self.network, "unshare", "--pid", "--fork"])
            .args(["--kill-child", "--mount-proc", "sh", OWN_MOUNTS])
            .arg(program("sshd").unwrap())
            .args(["-D", "-f"])
            .arg(self.sshd.path("sshd_config"))
            .arg("-o")
            .arg(format!("ListenAddress={}", self.address))
            .arg("-E")
            .arg(self.sshd.path("log"))
            .stdin(Stdio::null())
            .spawn();
        self.running = Some(child.unwrap());
        let address = (self.address.as_str(), self.sshd.port());
        let until = Instant::now() + Duration::from_secs(20);
        while TcpStream::connect(address).is_err() {
            assert!(Instant::now() < until, "{}", self.sshd.log());
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// All of its processes are gone at once. What it would say about that to its peers is not
    /// said: its link goes first.
    pub fn power_off(&mut self) {
        self.cut();
        if let Some(mut running) = self.running.take() {
            let _ = running.kill();
            let _ = running.wait();
        }
        self.mend();
    }

    /// Nothing goes to it, nothing comes from it, and nobody is told.
    pub fn cut(&self) {
        ip(&["-n", &self.network, "link", "set", "eth0", "down"]);
    }

    /// The link is there again.
    pub fn mend(&self) {
        ip(&["-n", &self.network, "link", "set", "eth0", "up"]);
    }

    /// `user@address:port`.
    pub fn target(&self) -> String {
        format!("{}@{}:{}", self.sshd.user(), self.address, self.sshd.port())
    }

    /// Its address.
    pub fn address(&self) -> &str {
        &self.address
    }

    /// A host that is connected to it.
    pub async fn host(&self) -> std::sync::Arc<ssh::SshHost> {
        match ssh::connect(&self.target(), &self.sshd.config()).await {
            Ok(host) => host,
            Err(error) => panic!("{error}\n{}", self.sshd.log()),
        }
    }
}

impl Drop for Machine {
    fn drop(&mut self) {
        if let Some(mut running) = self.running.take() {
            let _ = running.kill();
            let _ = running.wait();
        }
        let _ = Command::new("ip")
            .args(["netns", "del", &self.network])
            .status();
    }
}

fn ip(arguments: &[&str]) {
    let output = Command::new("ip").args(arguments).output().unwrap();
    assert!(
        output.status.success(),
        "ip {arguments:?}: {}",
        String::from_utf8_lossy(&output.stderr)
    );
}
