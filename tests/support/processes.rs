//! Processes that a session has started, as the system knows them.
#![cfg(test)]
#![allow(dead_code, reason = "several test programs use it, each in part")]

use std::fs;
use std::thread::sleep;
use std::time::{Duration, Instant};

/// Living processes that carry a session's token in their environment or arguments, a line each.
pub fn of_session(session: &str) -> Vec<String> {
    let mut found = Vec::new();
    for entry in fs::read_dir("/proc").unwrap().flatten() {
        let folder = entry.path();
        let is_process = entry.file_name().to_string_lossy().parse::<u32>().is_ok();
        if !is_process || is_dead(&folder) {
            continue;
        }
        let read = |name| fs::read(folder.join(name)).unwrap_or_default();
        let (arguments, environment) = (read("cmdline"), read("environ"));
        // Its first host's, and those of others.
        let mut tokens = vec![format!("{session}/")];
        tokens.extend((2..10).map(|at| format!("{session}-{at}/")));
        if [&arguments, &environment]
            .iter()
            .any(|text| tokens.iter().any(|token| contains(text, token.as_bytes())))
        {
            let shown = String::from_utf8_lossy(&arguments).replace(['\0', '\n'], " ");
            let shown: String = shown.chars().take(200).collect();
            found.push(format!("{} {shown}", entry.file_name().display()));
        }
    }
    found
}

/// The same of a session that is over, once what ends by itself has ended: after each command its
/// supervisor looks whether a daemon is left, and ends within 2 s of its folder's end.
pub fn left_of(session: &str) -> Vec<String> {
    let until = Instant::now() + Duration::from_secs(10);
    loop {
        let left = of_session(session);
        if left.is_empty() || Instant::now() > until {
            return left;
        }
        sleep(Duration::from_millis(50));
    }
}

/// Most memory that a process ever had, in bytes.
pub fn peak_memory(pid: u32) -> u64 {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("VmHWM:"));
    let kib = line.and_then(|line| line.split_whitespace().nth(1)?.parse::<u64>().ok());
    kib.unwrap_or(0) * 1024
}

fn is_dead(folder: &std::path::Path) -> bool {
    fs::read_to_string(folder.join("stat")).is_ok_and(|stat| {
        stat.rsplit_once(')')
            .is_some_and(|(_, rest)| rest.starts_with(" Z") || rest.starts_with(" X"))
    })
}

fn contains(text: &[u8], part: &[u8]) -> bool {
    text.windows(part.len()).any(|window| window == part)
}
