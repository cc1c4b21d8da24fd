//! Tasks of Proxmox VE: their names (UPIDs), the node's lists of them, and how they ended.

use std::fmt;

use super::pattern::pattern;

/// A task's name: node, process, begin, type, what it acts on, whose it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Upid {
    /// As it is written.
    pub text: String,
    /// The node that it runs on.
    pub node: String,
    /// Its process there.
    pub pid: u32,
    /// When that process began, in clock ticks since the node's boot.
    pub pstart: u64,
    /// When it began, in seconds of Unix time.
    pub start: u64,
    /// `vzdump`, `qmrestore`, `qmsnapshot`, …
    pub kind: String,
    /// The guest's number; empty where there are several.
    pub id: String,
}

impl Upid {
    /// Reads a task's name.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let shape = pattern!(
            r"^UPID:([A-Za-z0-9-]+):([0-9A-Fa-f]{8}):([0-9A-Fa-f]{8,9}):([0-9A-Fa-f]{8}):([^:\s]+):([^:\s]*):([^:\s]+):$"
        );
        let (_, [node, pid, pstart, start, kind, id, _user]) = shape.captures(text)?.extract();
        Some(Self {
            text: text.to_owned(),
            node: node.to_owned(),
            pid: u32::from_str_radix(pid, 16).ok()?,
            pstart: u64::from_str_radix(pstart, 16).ok()?,
            start: u64::from_str_radix(start, 16).ok()?,
            kind: kind.to_owned(),
            id: id.to_owned(),
        })
    }

    /// Its log, below the folder of tasks.
    #[must_use]
    pub fn log(&self) -> String {
        format!("{:X}/{}", self.start & 0xf, self.text)
    }
}

impl fmt::Display for Upid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.text)
    }
}

/// A task as the node lists it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listed {
    /// The task.
    pub upid: Upid,
    /// When it ended, in seconds of Unix time, and its status; absent while it runs, or where
    /// nobody has noticed yet that it does not.
    pub ended: Option<(u64, String)>,
}

/// Reads the node's lists, `active` and `index` in any order: each task once, as one that has
/// ended where any list says so.
#[must_use]
pub fn listed(text: &str) -> Vec<Listed> {
    let mut all: Vec<Listed> = Vec::new();
    for one in text.lines().filter_map(line) {
        match all.iter_mut().find(|known| known.upid == one.upid) {
            Some(known) => known.ended = known.ended.take().or(one.ended),
            None => all.push(one),
        }
    }
    all
}

/// `UPID 0`, `UPID 1 ENDHEX STATUS` (active), `UPID ENDHEX STATUS` (index).
fn line(line: &str) -> Option<Listed> {
    let (upid, rest) = line.trim_end().split_once(' ')?;
    let upid = Upid::parse(upid)?;
    let rest = match rest.split_once(' ') {
        None if rest == "0" => return Some(Listed { upid, ended: None }),
        Some(("0", _)) => return Some(Listed { upid, ended: None }),
        Some(("1", rest)) => rest,
        _ => rest,
    };
    let (end, status) = rest.split_once(' ').unwrap_or((rest, ""));
    let end = u64::from_str_radix(end, 16).ok()?;
    Some(Listed {
        upid,
        ended: Some((end, status.trim().to_owned())),
    })
}

/// How a task ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// Well.
    Ok,
    /// Well, with so many warnings.
    Warnings(u32),
    /// Not: why, as the index says.
    Failed(String),
    /// Nobody knows: it has left no verdict.
    Lost,
}

/// What a status in a list, or the last line of a log, says.
#[must_use]
pub fn verdict(status: &str) -> Verdict {
    let status = status.trim();
    let status = status.strip_prefix("TASK ").unwrap_or(status);
    let why = status.strip_prefix("ERROR: ").unwrap_or(status);
    let warnings = status.strip_prefix("WARNINGS: ");
    match warnings.and_then(|count| count.trim().parse().ok()) {
        Some(count) => Verdict::Warnings(count),
        None if status == "OK" => Verdict::Ok,
        None if status.is_empty() || status == "unexpected status" => Verdict::Lost,
        None if status.starts_with("unable to read tail") => Verdict::Lost,
        None => Verdict::Failed(why.trim().to_owned()),
    }
}

/// The last line of a log, where it is a verdict; else [`Verdict::Lost`].
#[must_use]
pub fn last_line(line: &str) -> Verdict {
    if line.starts_with("TASK ") {
        verdict(line)
    } else {
        Verdict::Lost
    }
}

/// The task that a command says itself to have become: `pvesh create` prints its name last.
#[must_use]
pub fn told(out: &str) -> Option<Upid> {
    let last = out.lines().rev().find(|line| !line.trim().is_empty())?;
    Upid::parse(last.trim().trim_matches('"'))
}

/// Those that a command can have become: of its type, about a guest that it names. Nothing
/// where the command is not known to become a task.
#[must_use]
pub fn fitting<'a>(all: &'a [Listed], command: &str) -> Vec<&'a Listed> {
    let words = shlex::split(command).unwrap_or_default();
    let Some(kind) = kind(&words) else {
        return Vec::new();
    };
    let is_named = |id: &str| {
        let id = id.split('@').next().unwrap_or(id);
        id.is_empty() || words.iter().any(|word| word == id)
    };
    let fits =
        |one: &&Listed| one.upid.kind == kind && (kind == "imgdel" || is_named(&one.upid.id));
    all.iter().filter(fits).collect()
}

/// The type of task that a command becomes.
fn kind(words: &[String]) -> Option<String> {
    let mut words = words
        .iter()
        .map(|word| word.rsplit('/').next().unwrap_or(word));
    loop {
        let program = words.next()?;
        return Some(match program {
            "vzdump" | "qmrestore" => program.to_owned(),
            "qm" => format!("qm{}", words.next()?),
            "pct" => format!("vz{}", words.next()?),
            "pvesm" if words.next()? == "free" => "imgdel".to_owned(),
            _ => continue,
        });
    }
}

/// Whether what a command printed can be of the task whose log begins like this.
#[must_use]
pub fn same_log(out: &str, log: &str) -> bool {
    let log = log.rsplit_once("TASK ").map_or(log, |(before, _)| before);
    let (out, log) = (out.trim_end(), log.trim_end());
    let common = out.len().min(log.len());
    out.as_bytes().get(..common) == log.as_bytes().get(..common)
        && (out.is_empty() == log.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    const DUMP: &str = "UPID:pve3:000051C2:1002DDD20:6B0DE619:vzdump:131:root@pam:";
    const SNAP: &str = "UPID:pve3:000051D0:0002DE00:6B0DE620:qmsnapshot:131:ops@pve!ci:";

    #[test]
    fn a_name_tells_who_when_and_what() {
        let upid = Upid::parse(DUMP).unwrap();
        assert_eq!((upid.node.as_str(), upid.pid), ("pve3", 0x51c2));
        assert_eq!(upid.pstart, 0x1_002d_dd20, "nine digits after 497 days");
        assert_eq!(upid.start, 0x6b0d_e619);
        assert_eq!((upid.kind.as_str(), upid.id.as_str()), ("vzdump", "131"));
        assert_eq!(upid.log(), format!("9/{DUMP}"));
        assert_eq!(upid.to_string(), DUMP);
        let several = "UPID:pve3:000051C2:0002DDD2:6B0DE619:vzdump::root@pam:";
        assert_eq!(Upid::parse(several).unwrap().id, "");
        for odd in [
            "",
            "UPID:",
            "UPID:pve3:000051C2:0002DDD2:6B0DE619:vzdump:131:root@pam",
            // One of a Backup Server has a field more.
            "UPID:pbs:000051C2:0002DDD2:00000007:6B0DE619:backup:ds:root@pam:",
        ] {
            assert_eq!(Upid::parse(odd), None, "{odd}");
        }
    }

    #[test]
    fn lists_are_read_whatever_their_order() {
        let text = format!(
            "{SNAP} 0\n{DUMP} 1 6B0DE640 job errors\nnoise\n{DUMP} 6B0DE640 job errors\n{SNAP} 6B0DE621 can't \"do\" it: 5 %\n"
        );
        let all = listed(&text);
        assert_eq!(all.len(), 2);
        let end = |at: usize| all[at].ended.clone().unwrap();
        assert_eq!(end(0), (0x6b0d_e621, "can't \"do\" it: 5 %".to_owned()));
        assert_eq!(end(1), (0x6b0d_e640, "job errors".to_owned()));
        assert_eq!(listed(&format!("{DUMP} 0 ")).len(), 1);
        assert_eq!(listed(&format!("{DUMP} 0"))[0].ended, None);
    }

    #[test]
    fn a_status_is_one_of_four_things() {
        assert_eq!(verdict("OK"), Verdict::Ok);
        assert_eq!(verdict("TASK OK"), Verdict::Ok);
        assert_eq!(verdict("WARNINGS: 2"), Verdict::Warnings(2));
        assert_eq!(verdict("unexpected status"), Verdict::Lost);
        assert_eq!(verdict(""), Verdict::Lost);
        let failed = |why: &str| Verdict::Failed(why.to_owned());
        assert_eq!(verdict("broken pipe "), failed("broken pipe"));
        assert_eq!(verdict("TASK ERROR: job errors"), failed("job errors"));
        assert_eq!(last_line("INFO: transferred 1 GiB"), Verdict::Lost);
        assert_eq!(last_line("TASK OK"), Verdict::Ok);
    }

    #[test]
    fn a_command_becomes_a_task_of_its_type_about_its_guest() {
        let all = listed(&format!("{DUMP} 0\n{SNAP} 0\n"));
        let fits = |command: &str| -> Vec<String> {
            let fitting = fitting(&all, command);
            fitting.iter().map(|one| one.upid.kind.clone()).collect()
        };
        assert_eq!(fits("exec vzdump 131 --mode snapshot"), ["vzdump"]);
        assert_eq!(fits("/usr/sbin/qm snapshot 131 cb"), ["qmsnapshot"]);
        assert_eq!(fits("qm snapshot 132 cb"), [""; 0]);
        assert_eq!(fits("qm rollback 131 cb"), [""; 0]);
        assert_eq!(fits("true"), [""; 0]);
        let own = "UPID:pve3:000051C2:0002DDD2:6B0DE619:vzrestore:140:root@pam:";
        let all = listed(&format!("{own} 0\n"));
        assert_eq!(super::fitting(&all, "pct restore 140 local:x").len(), 1);
    }

    #[test]
    fn a_task_is_told_by_pvesh_and_a_log_is_that_of_its_command() {
        assert_eq!(
            told(&format!("snapshotting\n\"{SNAP}\"\n")).unwrap().text,
            SNAP
        );
        assert_eq!(told("snapshotting\n"), None);
        assert!(same_log("a\nb\n", "a\nb\nTASK OK\n"));
        assert!(same_log("a\n", "a\nb\n"), "it goes on");
        assert!(!same_log("a\nb\n", "TASK OK\n"), "a task that said nothing");
        assert!(same_log("", "TASK OK"));
        assert!(!same_log("a\n", "c\n"));
    }
}
