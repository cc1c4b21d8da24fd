//! `vzdump`, of virtual machines and containers, into files and to a Proxmox Backup Server.

mod course;
mod sums;
#[cfg(test)]
mod tests;

use chrono::NaiveDateTime;

use super::diagnostics::Diagnostics;
use super::numbers::Printed;
use super::pattern::pattern;
use super::{Finding, Line, Reader, prefix, pve};

/// Every line begins with its level; lines of other tools stand between. An `ERROR` is the
/// reason of a failure only until the job has finished: later ones are about the notification.
#[derive(Debug, Default)]
pub struct Vzdump {
    guest: Guest,
    finished: bool,
    diagnostics: Diagnostics,
}

/// What is known of the guest that is being backed up.
#[derive(Debug, Default)]
struct Guest {
    /// Sum of the disks that are included.
    disks: u64,
    /// Zero bytes, until their share can be computed.
    sparse: Option<Printed>,
    dirty_only: bool,
    complete: bool,
    /// It had to wait for the node's one lock.
    waited: bool,
    /// Suspended or stopped for the backup.
    down: bool,
    started: Option<NaiveDateTime>,
    backup: Option<f64>,
}

impl Reader for Vzdump {
    fn line(&mut self, line: Line<'_>, found: &mut Vec<Finding>) {
        let text = prefix::without(line.text);
        if let Some(text) = text.strip_prefix("INFO: ") {
            self.info(text, found);
        } else if let Some(text) = text.strip_prefix("WARN: ") {
            self.diagnostics.warning(text, found);
        } else if let Some(text) = text.strip_prefix("ERROR: ") {
            self.error(text, found);
        } else {
            let line = Line { text, ..line };
            pve::foreign(line, &mut self.diagnostics, found);
        }
    }

    fn finish(&mut self, found: &mut Vec<Finding>) {
        self.diagnostics.finish(found);
    }
}

impl Vzdump {
    fn info(&mut self, text: &str, found: &mut Vec<Finding>) {
        if text.starts_with("Starting Backup of ") {
            let waited = self.guest.waited;
            self.guest = Guest {
                waited,
                ..Guest::default()
            };
        }
        // Older versions lack the last letter but one.
        self.finished |= text.starts_with("Backup job finished successful");
        course::course(text, &mut self.guest, found);
        sums::sums(text, &mut self.guest, found);
        self.limits(text, found);
    }

    /// What will not come back, or not as it was asked for.
    fn limits(&mut self, text: &str, found: &mut Vec<Finding>) {
        let signs = [
            "exclude disk ",
            "excluding ",
            "mode failure - ",
            "trying 'suspend' mode instead",
            "skipping guest-agent 'fs-freeze'",
            "temporary directory is on NFS, disabling ",
        ];
        let is_limit = signs.iter().any(|sign| text.starts_with(sign))
            || text.ends_with(" (not included into backup)");
        if is_limit {
            self.diagnostics.warning(text, found);
        } else {
            // A container's archive is made by tar, whose errors come as information.
            super::tar::complaint(text, &mut self.diagnostics, found);
        }
        let stamps = self.guest.stamps(text, found);
        if let Some((log, wall)) = stamps.filter(|(log, wall)| (log - wall).abs() > 2.0) {
            let text = format!("the log tells {log} s, its own time stamps {wall} s");
            self.diagnostics.warning(&text, found);
        }
    }

    fn error(&mut self, text: &str, found: &mut Vec<Finding>) {
        if self.finished || text.starts_with("could not notify ") {
            self.diagnostics.warning(text, found);
            return;
        }
        // The same reason comes up to three times.
        let why = pattern!(r"^Backup (?:of (?:VM|CT) \d+|job) failed - ")
            .find(text)
            .and_then(|summary| text.get(summary.end()..))
            .unwrap_or(text);
        pve::cause(why, &mut self.diagnostics, found);
    }
}

impl Guest {
    /// Duration and stamps of the log, once both are there: they need not agree.
    fn stamps(&mut self, text: &str, found: &mut Vec<Finding>) -> Option<(f64, f64)> {
        let at = |sign: &str| {
            let stamp = text.strip_prefix(sign)?;
            NaiveDateTime::parse_from_str(stamp.trim(), "%Y-%m-%d %H:%M:%S").ok()
        };
        if let Some(start) = at("Backup started at ") {
            self.started = Some(start);
        }
        let end = at("Backup finished at ")?;
        let wall = (end - self.started?).num_seconds() as f64;
        let stamped = Printed {
            value: wall,
            resolution: 1.0,
        };
        found.push(Finding::seconds("stamped", stamped));
        Some((self.backup?, wall))
    }
}
