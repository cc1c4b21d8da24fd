//! A machine that is held: a program starts it, tells its address, and ends it when its own input
//! ends, which is at the latest when the test does, however that ends.
#![cfg(test)]
#![allow(dead_code, reason = "several test programs use it, each in part")]

use std::collections::BTreeMap;
use std::fs::OpenOptions;
use std::io::{Read, Write};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use crate::world::{Ended, World, ended};

/// The longest wait for its end.
const PATIENCE: Duration = Duration::from_secs(30);

static COUNT: AtomicU32 = AtomicU32::new(0);

/// A machine of one of the programs `tests/pve/node` and `tests/lab/vm`. It is gone when this is dropped.
pub struct Lease {
    program: &'static str,
    name: String,
    hold: Child,
    address: BTreeMap<String, String>,
}

impl Lease {
    /// Starts one under a name of its own; where none came of it, how the program ended.
    pub fn take(program: &'static str, parts: &[&str]) -> Result<Self, ExitStatus> {
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!("test-{}-{count}", std::process::id());
        let mut hold = Command::new(program)
            .args(["-n", &name, "hold"])
            .args(parts)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut said = String::new();
        let mut out = hold.stdout.take().unwrap();
        out.read_to_string(&mut said).unwrap();
        // `LAB_PORT=22`: each program puts its own word in front.
        let address: BTreeMap<String, String> = said
            .lines()
            .filter_map(|line| line.split_once('_')?.1.split_once('='))
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .collect();
        if address.is_empty() {
            return Err(hold.wait().unwrap());
        }
        Ok(Self {
            program,
            name,
            hold,
            address,
        })
    }

    /// Makes it the host of this name in the world's `~/.ssh/config`.
    pub fn know(&self, world: &World, host: &str) {
        std::fs::create_dir_all(world.path("home/.ssh")).unwrap();
        let mut config = OpenOptions::new()
            .create(true)
            .append(true)
            .open(world.path("home/.ssh/config"))
            .unwrap();
        let text = format!(
            "Host {host}\n  HostName {}\n  Port {}\n  User {}\n  IdentityFile {}\n  \
             IdentitiesOnly yes\n  UserKnownHostsFile {}\n",
            self.get("HOST"),
            self.get("PORT"),
            self.get("USER"),
            self.get("KEY"),
            self.get("KNOWN_HOSTS"),
        );
        config.write_all(text.as_bytes()).unwrap();
    }

    /// The port of this machine at which it is reached.
    pub fn port(&self) -> u16 {
        self.get("PORT").parse().unwrap()
    }

    fn get(&self, name: &str) -> &str {
        &self.address[name]
    }

    /// What root's shell prints there; whatever it is, it succeeds.
    pub fn sh(&self, script: &str) -> String {
        let ended = self.try_sh(script);
        assert_eq!(
            ended.code, 0,
            "on {}: {script}\n{}\n{}",
            self.name, ended.out, ended.err
        );
        ended.out
    }

    /// The same, and it may fail.
    pub fn try_sh(&self, script: &str) -> Ended {
        let script = format!("PATH=$PATH:/usr/sbin:/sbin; {script}");
        ended(&self.command(&["ssh", &script]).output().unwrap())
    }

    /// Another verb of the program, about this machine; it succeeds.
    pub fn call(&self, words: &[&str]) {
        let ended = ended(&self.command(words).output().unwrap());
        assert_eq!(ended.code, 0, "{words:?}: {}", ended.err);
    }

    /// The program, about this machine.
    pub fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new(self.program);
        command
            .args(["-n", &self.name])
            .args(words)
            .stdin(Stdio::null());
        command
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        drop(self.hold.stdin.take());
        let until = Instant::now() + PATIENCE;
        while Instant::now() < until && matches!(self.hold.try_wait(), Ok(None)) {
            std::thread::sleep(Duration::from_millis(10));
        }
        let _ = self.hold.kill();
        let _ = self.hold.wait();
    }
}
