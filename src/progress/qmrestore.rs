//! `qmrestore`, from a VMA archive and from a Proxmox Backup Server, and `pct restore`.

mod images;
#[cfg(test)]
mod tests;

use super::diagnostics::Diagnostics;
use super::durations::seconds;
use super::numbers::{Printed, fraction};
use super::pattern::pattern;
use super::sizes::{Base, size};
use super::{Finding, Line, Reader, prefix, pve, tar};
use crate::event::ProgressKind;
use images::{Images, shares};

/// VMA counts whole clusters, so a small disk is larger in the archive than it is.
const CLUSTER: u64 = 64 * 1024;

/// The percent counts what was read, zeros included: it jumps, and 100 % comes long before the
/// end, for then the disks are flushed and the volumes are scanned again. A VMA archive has one
/// scale over all disks; a backup server's snapshot is read a disk after the other, each from
/// 1 to 100.
#[derive(Debug, Default)]
pub struct Qmrestore {
    /// Sum of the disks in a VMA archive.
    archive: u64,
    /// Volumes that were made.
    volumes: u32,
    /// Those of them whose size was told, and the sum of these.
    sized: u32,
    sizes: u64,
    images: Images,
    /// Seconds that the last line of progress told.
    elapsed: Option<f64>,
    complete: bool,
    diagnostics: Diagnostics,
}

impl Reader for Qmrestore {
    fn line(&mut self, line: Line<'_>, found: &mut Vec<Finding>) {
        let text = prefix::without(line.text);
        let line = Line { text, ..line };
        if !self.progress(text, found)
            && !self.live(text, found)
            && !self.volume(text, found)
            && !self.sums(text, found)
            && !self.message(text, found)
            && !pve::foreign(line, &mut self.diagnostics, found)
        {
            self.diagnostics.unknown(line);
        }
    }

    fn finish(&mut self, found: &mut Vec<Finding>) {
        std::mem::take(&mut self.images).sums(found);
        self.diagnostics.finish(found);
    }
}

impl Qmrestore {
    /// `progress 9% (read 96665600 bytes, duration 0 sec)`, from a backup server with
    /// `zeroes = 91% (92274688 bytes), ` before the duration: the first percent is progress.
    fn progress(&mut self, text: &str, found: &mut Vec<Finding>) -> bool {
        let shape = pattern!(
            r"progress (\d+)% \(read (\d+) bytes, (?:zeroes = \d+% \((\d+) bytes\), )?duration (\d+) sec\)"
        );
        let Some(captures) = shape.captures(text) else {
            return false;
        };
        let number = |n| captures.get(n)?.as_str().parse::<u64>().ok();
        let (Some(percent), Some(read)) = (number(1), number(2)) else {
            return false;
        };
        let percent = percent as f64;
        self.elapsed = number(4).map(|s| s as f64);
        let is_image = number(3).is_some();
        let finding = match number(3) {
            Some(zeros) => {
                self.images.current_zeros = zeros;
                self.image(read, percent)
            }
            None => Finding::Progress {
                kind: ProgressKind::Exact,
                done: Some(read),
                total: Some(self.archive).filter(|total| *total > 0),
                percent: Some(percent),
            },
        };
        found.push(finding);
        let is_last = !is_image || self.images.done.saturating_add(1) >= self.volumes;
        if percent >= 100.0 && is_last && !self.complete {
            self.complete = true;
            found.push(Finding::Mark {
                name: "100 %",
                // Each disk's seconds begin anew.
                at: self.elapsed.filter(|_| self.images.done == 0),
            });
        }
        true
    }

    fn image(&self, read: u64, percent: f64) -> Finding {
        let done = Some(self.images.bytes.saturating_add(read));
        let total = Some(self.sizes).filter(|_| self.sized > 0 && self.sized >= self.volumes);
        let single = self.volumes <= 1;
        Finding::Progress {
            kind: if single || total.is_some() {
                ProgressKind::Exact
            } else {
                ProgressKind::Unknown
            },
            done,
            total,
            percent: single.then_some(percent),
        }
    }

    /// `restore-drive-scsi0: transferred 288.0 MiB of 1.0 GiB (28.12%) in 1s`: the guest runs
    /// already.
    fn live(&mut self, text: &str, found: &mut Vec<Finding>) -> bool {
        let shape = pattern!(r"^restore-\S+: transferred (.+) of (.+) \(([\d.]+)%\) in (.+)$");
        let Some(captures) = shape.captures(text) else {
            return false;
        };
        let (_, [done, total, percent, time]) = captures.extract();
        let bytes = |text| Some(size(text, Base::Binary)?.whole());
        self.elapsed = seconds(time).map(|time| time.value);
        let single = self.volumes <= 1;
        found.push(Finding::Progress {
            kind: if single {
                ProgressKind::Exact
            } else {
                ProgressKind::Unknown
            },
            done: bytes(done).filter(|_| single),
            total: bytes(total).filter(|_| single),
            percent: fraction(percent)
                .map(|percent| percent.value)
                .filter(|_| single),
        });
        true
    }

    fn volume(&mut self, text: &str, found: &mut Vec<Finding>) -> bool {
        let dev = pattern!(r"^DEV: dev_id=\d+ size: (\d+) devname: ");
        let formatting = pattern!(r"^Formatting '.*', fmt=.* size=(\d+)");
        let bytes = |pattern: &regex::Regex| {
            let (_, [bytes]) = pattern.captures(text)?.extract();
            bytes.parse::<u64>().ok()
        };
        if let Some(size) = bytes(dev) {
            let clusters = size.div_ceil(CLUSTER).saturating_mul(CLUSTER);
            self.archive = self.archive.saturating_add(clusters);
        } else if let Some(size) = bytes(formatting) {
            self.sized = self.sized.saturating_add(1);
            self.sizes = self.sizes.saturating_add(size);
        } else if let Some(id) = text.strip_prefix("new volume ID is ") {
            self.volumes = self.volumes.saturating_add(1);
            found.push(Finding::value("volume", id.trim().trim_matches('\'')));
        } else {
            return false;
        }
        true
    }

    fn sums(&mut self, text: &str, found: &mut Vec<Finding>) -> bool {
        let vma = pattern!(r"^total bytes read (\d+), sparse bytes (\d+) ");
        let zeros = pattern!(r"^space reduction due to 4K zero blocks ([\d.]+)%");
        let image =
            pattern!(r"^restore image complete \(bytes=(\d+), duration=([^,]+), speed=([^)]+)\)");
        if let Some(captures) = vma.captures(text) {
            let (_, [read, sparse]) = captures.extract();
            if let (Ok(read), Ok(sparse)) = (read.parse(), sparse.parse()) {
                shares(read, sparse, found);
            }
            found.extend(self.elapsed.map(|value| {
                let resolution = 1.0;
                Finding::seconds("extract", Printed { value, resolution })
            }));
        } else if let Some(captures) = zeros.captures(text) {
            let (_, [share]) = captures.extract();
            let share = fraction(share);
            found.extend(share.map(|share| Finding::figure("zero_4k_share", share, "%")));
        } else if let Some(captures) = image.captures(text) {
            let (_, [bytes, time, speed]) = captures.extract();
            self.images
                .end(bytes.parse().ok(), seconds(time), size(speed, Base::Binary));
        } else if text == "rescan volumes..." {
            std::mem::take(&mut self.images).sums(found);
            found.push(Finding::mark("rescan"));
        } else {
            return tar::totals(text, found);
        }
        true
    }

    fn message(&mut self, text: &str, found: &mut Vec<Finding>) -> bool {
        let causes = [
            "restore failed: ",
            "blk_pwrite failed ",
            "unable to restore ",
            "can't ",
            "VM is locked ",
            "ERROR: ",
        ];
        if let Some(why) = text.strip_prefix("Could not extract backed up config: ") {
            self.diagnostics.warning(why, found);
        } else if text.starts_with("error before or during data restore") {
            self.diagnostics.warning(text, found);
        } else if causes.iter().any(|sign| text.starts_with(sign)) {
            self.diagnostics
                .cause(text.trim_start_matches("ERROR: "), found);
        } else {
            return false;
        }
        true
    }
}
