//! Asks a host what it is.

use std::fmt::Write;
use std::time::Duration;

use crate::event::Facts;
use crate::host::supervisor::{Heard, Launch, Supervisor};
use crate::host::{Exit, Host, HostError, ask};

use super::parse::parse;

const SCRIPT: &str = include_str!("../sh/facts.sh");
const CLOCK: &str = include_str!("../sh/clock.sh");
const PATIENCE: Duration = Duration::from_mins(1);
/// What an answer may be at most.
const ANSWER: usize = 1 << 20;

/// Programs that comeback itself uses, or that tell what a host is.
const TOOLS: [&str; 23] = [
    "awk",
    "bash",
    "busybox",
    "cp",
    "dd",
    "df",
    "find",
    "getfattr",
    "gzip",
    "head",
    "lsblk",
    "openssl",
    "rsync",
    "setsid",
    "sha256sum",
    "split",
    "stat",
    "sync",
    "tar",
    "timeout",
    "xargs",
    "zstd",
    "zfs",
];

fn quote(word: &str) -> String {
    shlex::try_quote(word).map_or_else(|_| "''".to_owned(), std::borrow::Cow::into_owned)
}

/// The script that asks for everything at once.
#[must_use]
pub fn script(tools: &[String], paths: &[String]) -> String {
    let mut text = format!("{SCRIPT}\nsay() {{ fact \"$@\"; }}\n{CLOCK}\nprobe_clock\n");
    let mut all: Vec<&str> = TOOLS
        .iter()
        .copied()
        .chain(tools.iter().map(String::as_str))
        .collect();
    all.sort_unstable();
    all.dedup();
    for tool in all {
        let _ = writeln!(text, "tool {}", quote(tool));
    }
    for (number, path) in paths.iter().enumerate() {
        let _ = writeln!(text, "place {number} {}", quote(path));
    }
    text
}

/// What a host is: programs in `tools` beside those that are always asked for, and where each
/// of `paths` (absolute) stands.
///
/// # Errors
/// Where the host is lost, or its shell cannot run the script.
pub async fn probe(
    host: &dyn Host,
    tools: &[String],
    paths: &[String],
) -> Result<Facts, HostError> {
    let answer = ask(host, &script(tools, paths), b"", ANSWER, PATIENCE).await?;
    let said = String::from_utf8_lossy(&answer.out);
    let facts = parse(&said, paths);
    if facts.kernel.is_empty() {
        let why = match answer.exit {
            Exit::Code(code) => format!("status {code}"),
            Exit::Signal(signal) => format!("signal {signal}"),
            Exit::Unknown => "no status".to_owned(),
        };
        let err = String::from_utf8_lossy(&answer.err);
        let last = err.lines().last().unwrap_or_default();
        return Err(HostError::Refused {
            host: host.name().to_owned(),
            why: format!("its shell told nothing about it ({why}) {last}"),
        });
    }
    Ok(facts)
}

/// Median seconds, by the host's own clock, that a supervised `true` takes there; absent where none
/// could be timed.
///
/// # Errors
/// Where the host is lost.
pub async fn overhead(supervisor: &Supervisor) -> Result<Option<f64>, HostError> {
    let mut all = Vec::new();
    for _ in 0..5 {
        let mut job = supervisor
            .launch(&supervisor.calibration(), "true", Launch::default())
            .await?;
        while let Some(heard) = job.next().await {
            if let Heard::Ended(outcome) = heard {
                all.extend(outcome.seconds());
            }
        }
    }
    all.sort_by(f64::total_cmp);
    Ok(all.get(all.len() / 2).copied())
}
