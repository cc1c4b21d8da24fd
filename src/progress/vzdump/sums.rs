//! The figures of a backup. Sizes are binary, whatever the log calls them.

use super::super::durations::seconds;
use super::super::numbers::Printed;
use super::super::pattern::pattern;
use super::super::sizes::{Base, size};
use super::super::tar;
use super::Guest;
use crate::progress::Finding;

/// One line of information; whether it was understood.
pub fn sums(text: &str, guest: &mut Guest, found: &mut Vec<Finding>) -> bool {
    if let Some(captures) = pattern!(r"^include disk '.*' ([\d.]+[KMGT]?)$").captures(text) {
        let (_, [disk]) = captures.extract();
        // Printed in the largest unit that leaves no rest: exact.
        if let Some(disk) = binary(disk) {
            guest.disks = guest.disks.saturating_add(disk.whole());
        }
    } else if let Some(bytes) = between(text, "backup is sparse: ", " (") {
        guest.sparse = Some(bytes);
    } else if let Some(bytes) = between(text, "backup was done incrementally, reused ", " (") {
        found.push(Finding::bytes("reused", bytes));
    } else if let Some(bytes) = between(
        text,
        "using fast incremental mode (dirty-bitmap), ",
        " dirty",
    ) {
        found.push(Finding::bytes("dirty", bytes));
    } else if let Some(bytes) = text.strip_prefix("archive file size: ").and_then(binary) {
        found.push(Finding::bytes("archive_size", bytes));
    } else if let Some(captures) = pattern!(r"^Finished Backup of .* \(([\d:]+)\)").captures(text) {
        let (_, [time]) = captures.extract();
        let time = seconds(time);
        guest.backup = time.map(|time| time.value);
        found.extend(time.map(|time| Finding::seconds("backup", time)));
    } else {
        return transferred(text, guest, found) || tar::totals(text, found);
    }
    true
}

/// `transferred 8.00 GiB in 46 seconds (178.1 MiB/s)`: the rate counts zeros as well.
fn transferred(text: &str, guest: &mut Guest, found: &mut Vec<Finding>) -> bool {
    let shape = pattern!(r"^transferred (.+) in (<?\d+ seconds?) \((.+)\)");
    let Some(captures) = shape.captures(text) else {
        return false;
    };
    let (_, [bytes, time, rate]) = captures.extract();
    let bytes = binary(bytes);
    if let Some(sparse) = guest.sparse.take() {
        found.push(Finding::bytes("sparse", sparse));
        // The log cuts the share to whole percents; the bytes tell it finer.
        let factor = bytes
            .filter(|all| all.value > 0.0)
            .map(|all| 100.0 / all.value);
        found.extend(factor.map(|f| Finding::figure("sparse_share", sparse.times(f), "%")));
    }
    found.extend(bytes.map(|bytes| Finding::bytes("transferred", bytes)));
    found.extend(seconds(time).map(|time| Finding::seconds("copy", time)));
    found.extend(binary(rate).map(Finding::rate));
    true
}

fn binary(text: &str) -> Option<Printed> {
    size(text, Base::Binary)
}

fn between(text: &str, before: &str, behind: &str) -> Option<Printed> {
    binary(text.strip_prefix(before)?.split(behind).next()?)
}
