//! What happens in the course of a backup: progress, marks, values.

use super::super::durations::seconds;
use super::super::numbers::{Printed, fraction};
use super::super::pattern::pattern;
use super::super::sizes::{Base, size};
use super::Guest;
use crate::event::ProgressKind;
use crate::progress::Finding;

/// One line of information; whether it was understood.
pub fn course(text: &str, guest: &mut Guest, found: &mut Vec<Finding>) -> bool {
    progress(text, guest, found) || consistency(text, guest, found) || values(text, guest, found)
}

/// `  2% (982.4 MiB of 32.0 GiB) in 3s, read: 327.5 MiB/s, write: 232.8 MiB/s`, or up to
/// version 6.2 `status: 12% (3865470976/30601641984), sparse 0% (0), duration 33, read/write …`.
fn progress(text: &str, guest: &mut Guest, found: &mut Vec<Finding>) -> bool {
    let new = pattern!(r"^\s*(\d+)% \(([\d.,]+ \w+) of ([\d.,]+ \w+)\) in ([^,]+), read: ");
    let old = pattern!(r"^status: (\d+)% \((\d+)/(\d+)\), sparse \d+% \((\d+)\), duration (\d+)");
    let bytes = |text| Some(size(text, Base::Binary)?.whole());
    let (percent, done, total, time) = if let Some(captures) = new.captures(text) {
        let (_, [percent, done, total, time]) = captures.extract();
        (percent, bytes(done), bytes(total), seconds(time))
    } else if let Some(captures) = old.captures(text) {
        let (_, [percent, done, total, sparse, time]) = captures.extract();
        guest.sparse = sparse.parse().map(Printed::exact).ok();
        (percent, bytes(done), bytes(total), fraction(time))
    } else {
        return false;
    };
    let percent = fraction(percent).map(|percent| percent.value);
    found.push(Finding::Progress {
        kind: ProgressKind::Exact,
        done,
        total,
        percent,
    });
    if percent.is_some_and(|percent| percent >= 100.0) && !guest.complete {
        guest.complete = true;
        found.push(Finding::Mark {
            name: "100 %",
            at: time.map(|time| time.value),
        });
    }
    true
}

/// How the guest is kept consistent, and when it is not there for its users.
fn consistency(text: &str, guest: &mut Guest, found: &mut Vec<Finding>) -> bool {
    if text.starts_with("issuing guest-agent 'fs-freeze'") {
        found.push(Finding::mark("freeze"));
        found.push(Finding::value("freeze", "done"));
    } else if text.starts_with("issuing guest-agent 'fs-thaw'") {
        found.push(Finding::mark("thaw"));
    } else if text.starts_with("skipping guest-agent 'fs-freeze'") {
        found.push(Finding::value("freeze", "skipped"));
    } else if text == "suspending guest" || text == "stopping virtual guest" {
        guest.down = true;
        found.push(Finding::mark("guest down"));
    } else if let Some(after) = text.strip_prefix("resuming VM again") {
        back("pause", after, guest, found);
    } else if let Some(after) = text.strip_prefix("guest is online again") {
        back("downtime", after, guest, found);
    } else if text.starts_with("trying to get global lock") {
        guest.waited = true;
        found.push(Finding::mark("lock wait"));
        found.push(Finding::Says(
            "waits for the node's other backup".to_owned(),
        ));
    } else if text.starts_with("got global lock") {
        found.push(Finding::mark("lock got"));
    } else if text.starts_with("started backup task ") {
        found.push(Finding::mark("started"));
    } else if text.starts_with("Waiting for server to finish backup validation") {
        found.push(Finding::mark("validation"));
    } else {
        return false;
    }
    true
}

/// ` after 5 seconds`: the guest is there again. A snapshot says so of a guest that was never
/// away.
fn back(name: &'static str, text: &str, guest: &mut Guest, found: &mut Vec<Finding>) {
    if std::mem::take(&mut guest.down) {
        found.push(Finding::mark("guest up"));
    }
    let time = text.strip_prefix(" after ").and_then(seconds);
    found.extend(time.map(|time| Finding::seconds(name, time)));
}

fn values(text: &str, guest: &mut Guest, found: &mut Vec<Finding>) -> bool {
    let archive = pattern!(r"^creating (?:vzdump |Proxmox Backup Server )?archive '(.+)'");
    if let Some(captures) = archive.captures(text) {
        let (_, [name]) = captures.extract();
        found.push(Finding::value("archive", name));
        let disks = Some(guest.disks).filter(|disks| *disks > 0);
        found.extend(disks.map(|disks| Finding::exact_bytes("disks", disks)));
    } else if let Some(mode) = text.strip_prefix("backup mode: ") {
        found.push(Finding::value("mode", mode.trim()));
    } else if text.starts_with("enabling encryption") {
        found.push(Finding::value("encryption", "on"));
    } else if text.starts_with("using fast incremental mode (dirty-bitmap)") {
        guest.dirty_only = true;
    } else if let Some(captures) =
        pattern!(r"^Starting Backup of (?:VM|CT) \d+ \((\w+)\)").captures(text)
    {
        let (_, [kind]) = captures.extract();
        found.push(Finding::value("guest", kind));
    } else if text.starts_with("Finished Backup of ") {
        // What was read: all of it, or what a bitmap says has changed. The time of one that had
        // to wait for its turn is none of either.
        let series = match (guest.waited, guest.dirty_only) {
            (true, _) => "waited",
            (false, true) => "dirty-bitmap",
            (false, false) => "full",
        };
        found.push(Finding::value("series", series));
    } else {
        return false;
    }
    true
}
