//! What a test needs and may not have.
#![cfg(test)]
#![allow(dead_code, reason = "several test programs use it, each in part")]

use std::process::{Command, Stdio};

/// Whether something is there. Where it is not, that is said loudly, and under `CI=true` it fails.
pub fn have(what: &str, there: bool) -> bool {
    if !there {
        assert!(
            std::env::var("CI").as_deref() != Ok("true"),
            "{what} is missing, and CI=true asks for every test"
        );
        eprintln!("SKIPPED: {what} is missing");
    }
    there
}

/// Whether this is root.
pub fn have_root() -> bool {
    have("root", rustix::process::geteuid().is_root())
}

/// Whether a program can be started.
pub fn have_tool(name: &str) -> bool {
    let found = Command::new("sh")
        .args([
            "-c",
            "PATH=$PATH:/usr/sbin:/sbin; command -v -- \"$1\"",
            "sh",
            name,
        ])
        .stdout(Stdio::null())
        .status();
    have(name, found.is_ok_and(|status| status.success()))
}
