//! What a host is: probed, never assumed.

mod apart;
mod clock;
mod parse;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::time::Duration;

use super::sh::{CLOCK, COMMON, FACTS, Vars};
use super::supervisor::{Heard, Launch, Supervisor};
use super::{Host, HostError, ask_again};
use crate::event::{Facts, Place};

pub use self::clock::{ClockSource, HostClock};
pub use self::parse::parse;

/// How long a host may take to say what it is. Each of its slow parts has a limit of its own.
const PATIENCE: Duration = Duration::from_secs(90);

/// How much of the answer is kept.
const ANSWER: usize = 2 << 20;

/// How much shell text goes into one call: a system takes 128 KiB, and on its way to a login
/// shell each byte may become five.
const SCRIPT: usize = 24 << 10;

/// What makes a line of the answer ours.
const MARK: &str = "comeback:facts";

/// Programs that are asked for on every host.
const TOOLS: &[&str] = &[
    "awk",
    "bash",
    "btrfs",
    "busybox",
    "bzip2",
    "cp",
    "cpio",
    "curl",
    "dd",
    "df",
    "du",
    "find",
    "fio",
    "getfattr",
    "gzip",
    "losetup",
    "lsblk",
    "lvs",
    "lz4",
    "lzop",
    "mkfs.btrfs",
    "nproc",
    "openssl",
    "perl",
    "pigz",
    "proxmox-backup-client",
    "pveversion",
    "pvesh",
    "pvesm",
    "python",
    "python3",
    "qm",
    "qmrestore",
    "readlink",
    "rsync",
    "setsid",
    "sha256sum",
    "sort",
    "split",
    "stat",
    "sudo",
    "tar",
    "timeout",
    "truncate",
    "vim-cmd",
    "vmkfstools",
    "vzdump",
    "xargs",
    "xz",
    "zfs",
    "zpool",
    "zstd",
];

/// What is asked for beside what is always told.
#[derive(Debug, Clone, Copy, Default)]
pub struct Wanted<'a> {
    /// Programs; anything that is not a plain name is not there.
    pub tools: &'a [String],
    /// Paths whose place is wanted; they need not exist.
    pub paths: &'a [String],
    /// The state folder, where the configuration sets one.
    pub state: Option<&'a str>,
}

/// The shell texts that are run to find out; one, unless there are very many paths. They read
/// and write nothing but their answer.
///
/// # Errors
/// Where a path or the state folder holds a NUL byte: the sentence says which.
pub fn scripts(wanted: &Wanted<'_>) -> Result<Vec<String>, String> {
    let mut tools: Vec<&str> = TOOLS.to_vec();
    tools.extend(wanted.tools.iter().map(String::as_str));
    // The shell tells itself which one it is.
    tools.retain(|tool| is_plain(tool) && *tool != "sh");
    tools.sort_unstable();
    tools.dedup();
    let nul = |what: &str| format!("{what:?} holds a NUL byte, which no path can");
    let state = wanted.state.unwrap_or_default();
    let vars = Vars::default()
        .set("mark", MARK)
        .and_then(|vars| vars.set("tools", &tools.join(" ")))
        .map_err(|error| error.to_string())?
        .set("state", state)
        .map_err(|_nul| nul(state))?;
    let begin = vars.script(&[COMMON, CLOCK, FACTS]);
    let mut scripts = Vec::new();
    let mut script = format!("{begin}all\n");
    for (number, path) in wanted.paths.iter().enumerate() {
        let quoted = shlex::try_quote(path).map_err(|_nul| nul(path))?;
        let call = format!("place {number} {quoted}\n");
        if script.len() + call.len() > SCRIPT {
            scripts.push(std::mem::replace(&mut script, begin.clone()));
        }
        script.push_str(&call);
    }
    scripts.push(script);
    for script in &mut scripts {
        script.push_str("say told\n");
    }
    Ok(scripts)
}

/// Asks a host where these stand alone: paths, datasets, volumes with their group, devices.
///
/// # Errors
/// Where it cannot be reached, or does not answer in full.
pub async fn places(
    host: &dyn Host,
    paths: &[String],
) -> Result<BTreeMap<String, Place>, HostError> {
    let refused = |why: String| HostError::Refused {
        host: host.name().to_owned(),
        why,
    };
    let vars = Vars::default().set("mark", MARK);
    let vars = vars.map_err(|why| refused(why.to_string()))?;
    let mut script = vars.script(&[COMMON, CLOCK, FACTS]);
    script.push_str("filesystems\n");
    for (number, path) in paths.iter().enumerate() {
        let quoted = shlex::try_quote(path).map_err(|why| refused(format!("{path:?}: {why}")))?;
        let _ = writeln!(script, "place {number} {quoted}");
    }
    script.push_str("say told\n");
    let answer = ask_again(host, &script, b"", ANSWER, PATIENCE).await?;
    if !parse::is_whole(&answer.out) {
        return Err(refused(
            "it did not say in full where paths stand".to_owned(),
        ));
    }
    Ok(parse(&answer.out, host.name(), paths).paths)
}

fn is_plain(tool: &str) -> bool {
    tool.len() <= 64
        && tool.starts_with(|c: char| c.is_ascii_alphanumeric())
        && tool
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b"._+-".contains(&byte))
}

/// Asks a host what it is: one call, unless there are very many paths.
///
/// # Errors
/// Where it cannot be reached, or does not answer in full.
pub async fn probe(host: &dyn Host, wanted: &Wanted<'_>) -> Result<Facts, HostError> {
    let refused = |why: String| HostError::Refused {
        host: host.name().to_owned(),
        why,
    };
    let mut said = Vec::new();
    let mut off = None;
    for script in scripts(wanted).map_err(refused)? {
        let before = apart::here();
        let answer = ask_again(host, &script, b"", ANSWER, PATIENCE).await?;
        if !parse::is_whole(&answer.out) {
            let why = String::from_utf8_lossy(&answer.err);
            return Err(refused(format!(
                "it did not say in full what it is; it said {:?}, and comeback needs a POSIX \
                 shell there",
                why.trim().chars().take(200).collect::<String>()
            )));
        }
        let here = [before, apart::here()];
        off = off.or_else(|| apart::ahead(here, parse::walls(&answer.out)?));
        said.extend(answer.out);
        said.push(b'\n');
    }
    let mut facts = parse(&said, host.name(), wanted.paths);
    facts.became = host.became();
    facts.clock_off = off;
    Ok(facts)
}

/// Median seconds that a supervised `true` takes there by the host's own clock, of 5: what a
/// step's duration holds beside the step. To be shown, never subtracted.
///
/// # Errors
/// Where the host cannot be reached or refuses; [`HostError::Refused`] where its clock says
/// nothing.
pub async fn overhead(supervisor: &Supervisor) -> Result<f64, HostError> {
    let mut seconds = Vec::new();
    for _ in 0..5 {
        let step = supervisor.calibration();
        let mut job = supervisor.launch(&step, "true", Launch::default()).await?;
        while let Some(heard) = job.next().await {
            if let Heard::Ended(outcome) = heard {
                seconds.extend(outcome.seconds());
            }
        }
    }
    seconds.sort_by(f64::total_cmp);
    seconds
        .get(seconds.len() / 2)
        .copied()
        .ok_or_else(|| HostError::Refused {
            host: supervisor.host().name().to_owned(),
            why: "its clock cannot be read, so nothing can be timed there".to_owned(),
        })
}
