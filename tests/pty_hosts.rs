//! Two hosts watched at once in a real pseudo-terminal; a session that was killed, and recovered.

#![cfg(test)]

#[path = "support/events.rs"]
mod events;
#[path = "support/fleet.rs"]
mod fleet;
#[path = "support/missing.rs"]
mod missing;
#[path = "support/screen.rs"]
mod screen;
#[path = "support/sshd.rs"]
mod server;
#[path = "support/tree.rs"]
mod tree;
#[path = "support/world.rs"]
mod world;

use std::fs;

use fleet::Fleet;
use rustix::process::{Pid, Signal, kill_process};
use screen::Screen;
use world::entries;

/// Each run prints, and waits for a file of its repetition.
fn method(fleet: &Fleet) {
    let gate = fleet.world.text("gate");
    let sandbox = fleet.world.text("sandbox");
    let text = format!(
        r#"
title   = "waits at a gate"
family  = "test"
subject = "dir"
own     = "always"
roles   = ["source"]
series  = "gate"

[[step]]
name   = "scratch folder"
phase  = "prepare"
run    = "mkdir -- {sandbox}/{{{{ id }}}}"
leaves = {{ id = "box", kind = "sandbox", find = "if [ -d {sandbox}/{{{{ id }}}} ]; then echo {sandbox}/{{{{ id }}}}; fi", undo = "rm -rf -- {{{{ found }}}}" }}

[[step]]
name  = "gate"
phase = "protect"
clock = "host"
run   = "echo before gate {{{{ rep }}}}; until [ -e {gate}-{{{{ rep }}}} ]; do sleep 0.1; done; echo after gate {{{{ rep }}}}"

[[step]]
name  = "answer"
phase = "ready"
run   = "echo answered"
"#
    );
    fleet.world.method("a-gate", &text);
}

/// Picks the method on every host, and starts.
fn begin(fleet: &Fleet, hosts: &[&str], size: (u16, u16)) -> Screen {
    let home = fleet.world.path("home");
    let mut screen = Screen::start(&home, hosts, &[], size);
    for (at, host) in hosts.iter().enumerate() {
        if at > 0 {
            // To the hosts, down, and back to the methods.
            screen.keys("\x1b[Z\x1b[Z");
            screen.keys("j");
            screen.keys("\t\t");
        }
        screen.until("its methods", |text| {
            text.contains(&format!("Methods on {host}")) && text.contains("[ ] a-gate")
        });
        screen.keys(" ");
        screen.wait(&format!("{} run", (at + 1) * 3));
    }
    screen.keys("\r");
    screen
}

fn count(text: &str, what: &str) -> usize {
    text.matches(what).count()
}

#[test]
fn two_hosts_are_watched_at_once() {
    let Some(fleet) = Fleet::new(&["pve1", "nas"]) else {
        return;
    };
    method(&fleet);
    let mut screen = begin(&fleet, &["pve1", "nas"], (200, 50));
    // Both stand side by side, each with its own steps and log.
    screen.until("both hosts", |text| {
        count(text, "gate · ") >= 2
            && count(text, "  before gate 1") == 2
            && text.contains("pve1 · dir:")
            && text.contains("nas · dir:")
    });

    // Frozen, it goes on, and says what has happened.
    screen.keys("\x06");
    screen.wait("FROZEN");
    fs::write(fleet.world.path("gate-1"), "").unwrap();
    screen.wait("2 runs ended");
    let frozen = screen.text();
    assert_eq!(count(&frozen, "  before gate 1"), 2, "{frozen}");
    assert!(!frozen.contains("  after gate 1"), "{frozen}");
    screen.keys("\x06");
    screen.until("the next run of each host", |text| {
        !text.contains("FROZEN") && count(text, "  before gate 2") == 2
    });

    // One of them, the other one, and an earlier run of it.
    screen.keys("v");
    screen.until("one host", |text| count(text, "  before gate 2") == 1);
    screen.until("a line of what the other does", |text| {
        text.contains("▶ nas a-gate: gate") || text.contains("▶ pve1 a-gate: gate")
    });
    screen.keys("v");
    screen.until("both again", |text| count(text, "  before gate 2") == 2);
    screen.keys("[");
    screen.until("an earlier run beside the other host", |text| {
        text.contains("  after gate 1")
            && count(text, "  before gate 2") == 1
            && text.contains("ok · f follows")
    });
    screen.keys("\x1b");
    screen.until("back to what goes on", |text| {
        count(text, "  before gate 2") == 2
    });

    screen.keys("x");
    screen.wait("stop");
    screen.keys("\x1b[C\r");
    screen.wait("over: stopped");
    screen.keys("q");
    screen.end();
    assert!(screen.is_restored());
    fleet.assert_empty();
}

#[test]
fn what_a_killed_dashboard_left_is_recovered() {
    let Some(fleet) = Fleet::new(&["nas"]) else {
        return;
    };
    method(&fleet);
    let mut screen = begin(&fleet, &["nas"], (80, 24));
    screen.wait("  before gate 1");
    let pid = Pid::from_raw(i32::try_from(screen.pid()).unwrap()).unwrap();
    kill_process(pid, Signal::KILL).unwrap();
    screen.end();
    let left = entries(&fleet.world.sandbox());
    assert_eq!(left.len(), 1, "{left:?}");

    let home = fleet.world.path("home");
    let arguments = ["recover", "--host", "nas", "--remove"];
    let mut recover = Screen::start(&home, &arguments, &[], (120, 40));
    let status = recover.end();
    let said = recover.raw();
    assert!(status.success(), "{status:?}\n{said}");
    assert!(said.contains(&left[0]), "{said}");
    fleet.assert_empty();
}
