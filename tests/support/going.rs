//! A session that goes on while the test looks at it.
#![cfg(test)]
#![allow(dead_code, reason = "several test programs use it, each in part")]

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::events::Recording;
use crate::world::{Ended, ended};

/// Long enough for a busy machine; nothing waits so long unless it hangs.
pub const PATIENCE: Duration = Duration::from_secs(90);

/// `comeback run --events`, and what it has said so far.
pub struct Going {
    child: Option<Child>,
    lines: Receiver<String>,
    pub heard: Recording,
    /// The longest wait for an event; more for a host that is slow.
    pub patience: Duration,
}

impl Going {
    /// Starts a command that writes events to its standard output.
    pub fn start(mut command: Command) -> Self {
        let mut child = command
            .arg("--events")
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let out = child.stdout.take().unwrap();
        let (said, lines) = sync_channel(100_000);
        thread::spawn(move || {
            for line in BufReader::new(out).lines() {
                let Ok(line) = line else { return };
                if said.send(line).is_err() {
                    return;
                }
            }
        });
        Self {
            child: Some(child),
            lines,
            heard: Recording::default(),
            patience: PATIENCE,
        }
    }

    pub fn pid(&self) -> u32 {
        self.child.as_ref().unwrap().id()
    }

    /// The session's id, once it is known.
    pub fn session(&mut self) -> String {
        if self.heard.0.is_empty() {
            self.until(|event| event["ev"] == "header");
        }
        self.heard.session()
    }

    /// Waits for the first event of a kind; fails where the program ends before it.
    pub fn until(&mut self, is: impl Fn(&Value) -> bool) -> &Value {
        if !self.next_that(is) {
            let ended = self.wait();
            panic!("it ended before that: {}, {}", ended.code, ended.err);
        }
        self.heard.0.last().unwrap()
    }

    /// The same, and whether there was one.
    pub fn next_that(&mut self, is: impl Fn(&Value) -> bool) -> bool {
        let until = Instant::now() + self.patience;
        loop {
            let left = until.saturating_duration_since(Instant::now());
            match self.lines.recv_timeout(left) {
                Ok(line) => {
                    let event = serde_json::from_str(&line).unwrap();
                    let found = is(&event);
                    self.heard.0.push(event);
                    if found {
                        return true;
                    }
                }
                Err(std::sync::mpsc::RecvTimeoutError::Disconnected) => return false,
                Err(std::sync::mpsc::RecvTimeoutError::Timeout) => panic!("it hangs"),
            }
        }
    }

    /// Waits until the step of this name has been started.
    pub fn until_started(&mut self, name: &str) {
        let planned = self.until(|event| {
            event["ev"] == "step" && event["state"] == "planned" && event["name"] == name
        });
        let id = planned["step"].clone();
        self.until(|event| {
            event["ev"] == "step" && event["state"] == "started" && event["step"] == id
        });
    }

    pub fn signal(&self, signal: Signal) {
        let pid = Pid::from_raw(i32::try_from(self.pid()).unwrap()).unwrap();
        kill_process(pid, signal).unwrap();
    }

    /// Waits for its end, and hears the rest.
    pub fn wait(&mut self) -> Ended {
        self.next_that(|_| false);
        ended(&self.child.take().unwrap().wait_with_output().unwrap())
    }
}

impl Drop for Going {
    /// A test that fails leaves nothing either: the session is stopped as an operator would.
    fn drop(&mut self) {
        let Some(mut child) = self.child.take() else {
            return;
        };
        let pid = Pid::from_raw(i32::try_from(child.id()).unwrap()).unwrap();
        let _ = kill_process(pid, Signal::TERM);
        let until = Instant::now() + PATIENCE / 3;
        while Instant::now() < until && matches!(child.try_wait(), Ok(None)) {
            let _ = self.lines.try_recv();
            thread::sleep(Duration::from_millis(20));
        }
        let _ = child.kill();
        let _ = child.wait();
    }
}

/// Waits until something holds; fails where it does not in time.
pub fn wait_until(what: &str, mut holds: impl FnMut() -> bool) {
    let until = Instant::now() + PATIENCE;
    while !holds() {
        assert!(Instant::now() < until, "not in time: {what}");
        thread::sleep(Duration::from_millis(20));
    }
}
