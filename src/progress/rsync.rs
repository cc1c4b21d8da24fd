//! `rsync --info=progress2 --stats`.

use super::diagnostics::{Diagnostics, is_ssh_cause, is_ssh_talk};
use super::numbers::{Printed, fraction, grouped};
use super::pattern::pattern;
use super::sizes::{Base, size};
use super::{Finding, Line, Reader};
use crate::event::{ProgressKind, Stream};

/// Bytes are exact, with groups of any locale; percent counts what has been listed, so it is an
/// estimate until the listing is over (`to-chk`, not `ir-chk`).
///
/// `bytes/sec` and `speedup` are no rates of a disk or a network: a run that has nothing to do
/// makes them as large as it likes. The first is passed over, the second is a plain ratio.
#[derive(Debug, Default)]
pub struct Rsync {
    listed: bool,
    done: u64,
    /// `--progress` without `=2`: the figures are of one file each.
    each_file: bool,
    stats: bool,
    diagnostics: Diagnostics,
}

impl Reader for Rsync {
    fn line(&mut self, line: Line<'_>, found: &mut Vec<Finding>) {
        if !self.progress(line.text, found)
            && !self.summary(line.text, found)
            && !self.complaint(line, found)
        {
            self.diagnostics.unknown(line);
        }
    }

    fn finish(&mut self, found: &mut Vec<Finding>) {
        self.diagnostics.finish(found);
    }
}

impl Rsync {
    ///      43,450,368   8%   38.70MB/s    0:00:12 (xfr#1, to-chk=210/212)
    fn progress(&mut self, text: &str, found: &mut Vec<Finding>) -> bool {
        let shape = pattern!(
            r"^\s*(\d[\d.,'’\u{a0}\u{202f}]*[kKMGTP]?)\s+(\d+)%\s+[\d.,]+[kKMGTP]?i?B/s\s+[\d?:]+(?: \(xfr#\d+, (ir|to)-chk=\d+/\d+\))?\s*$"
        );
        let Some(captures) = shape.captures(text) else {
            return false;
        };
        let part = |n| captures.get(n).map_or("", |part| part.as_str());
        let (Some(done), Some(percent)) = (bytes(part(1)), fraction(part(2))) else {
            return false;
        };
        let done = done.whole();
        self.each_file |= done < self.done;
        self.done = done;
        self.listed |= part(3) == "to";
        found.push(Finding::Progress {
            kind: match (self.each_file, self.listed) {
                (true, _) => ProgressKind::Unknown,
                (false, true) => ProgressKind::Exact,
                (false, false) => ProgressKind::Estimated,
            },
            done: Some(done),
            total: None,
            percent: Some(percent.value).filter(|_| !self.each_file),
        });
        true
    }

    fn summary(&mut self, text: &str, found: &mut Vec<Finding>) -> bool {
        if let Some((name, bytes)) = stat(text) {
            self.stats = true;
            found.push(Finding::bytes(name, bytes));
            return true;
        }
        let sent = pattern!(r"^sent (\S+) bytes  received (\S+) bytes  \S+ bytes/sec$");
        let size = pattern!(r"^total size is (\S+)  speedup is (\S+)(?: \(DRY RUN\))?$");
        // Where --stats was given, it told the same before.
        if let Some(captures) = sent.captures(text) {
            let (_, [sent, received]) = captures.extract();
            if !self.stats {
                found.extend(bytes(sent).map(|sent| Finding::bytes("sent", sent)));
                found.extend(bytes(received).map(|got| Finding::bytes("received", got)));
            }
            return true;
        }
        let Some(captures) = size.captures(text) else {
            return false;
        };
        let (_, [total, speedup]) = captures.extract();
        if !self.stats {
            found.extend(bytes(total).map(|total| Finding::bytes("total_size", total)));
        }
        found.extend(fraction(speedup).map(|ratio| Finding::figure("speedup", ratio, "×")));
        true
    }

    fn complaint(&mut self, line: Line<'_>, found: &mut Vec<Finding>) -> bool {
        let text = line.text;
        let warning = [
            "rsync warning: ",
            "file has vanished: ",
            "skipping non-regular file ",
            "IO error encountered",
            "cannot delete non-empty directory",
        ];
        if warning.iter().any(|sign| text.starts_with(sign)) {
            self.diagnostics.warning(text, found);
        } else if text.starts_with("rsync error: ")
            || text.contains("connection unexpectedly closed")
        {
            self.diagnostics.consequence(text);
        } else if text.starts_with("rsync: ")
            || text.starts_with("@ERROR")
            || text.starts_with("ERROR: ")
            || line.stream == Stream::Err && is_ssh_cause(text)
        {
            self.diagnostics.cause(text, found);
        } else {
            return is_ssh_talk(text);
        }
        true
    }
}

/// A line of `--stats` that tells bytes.
fn stat(text: &str) -> Option<(&'static str, Printed)> {
    let (label, value) = text.split_once(": ")?;
    let name = match label {
        "Total file size" => "total_size",
        "Total transferred file size" => "transferred_size",
        "Literal data" => "literal",
        "Matched data" => "matched",
        "Total bytes sent" => "sent",
        "Total bytes received" => "received",
        _ => return None,
    };
    Some((name, bytes(value.trim().trim_end_matches(" bytes"))?))
}

/// Whole bytes with groups; with `-h` a decimal figure with a unit.
fn bytes(text: &str) -> Option<Printed> {
    grouped(text)
        .map(Printed::exact)
        .or_else(|| size(text, Base::Decimal))
}

#[cfg(test)]
mod tests {
    use crate::event::ProgressKind::{Estimated, Exact};
    use crate::progress::Finding;
    use crate::progress::testing::{causes, figures, progress, read, read_err, warnings};

    const C: &[u8] = include_bytes!("../../tests/fixtures/logs/rsync-progress2-c.txt");
    const GERMAN: &[u8] = include_bytes!("../../tests/fixtures/logs/rsync-progress2-de.txt");

    #[test]
    fn one_line_of_many_values() {
        let found = read("rsync", C);
        let all = progress(&found);
        assert_eq!(all[0], (Estimated, Some(32_768), None, Some(0.0)));
        assert_eq!(all[1], (Exact, Some(9_000_000), None, Some(14.0)));
        assert_eq!(
            all.last(),
            Some(&(Exact, Some(63_000_000), None, Some(100.0)))
        );
        assert_eq!(figures(&found, "total_size"), [(63_000_000.0, 1.0)]);
        assert_eq!(figures(&found, "transferred_size"), [(63_000_000.0, 1.0)]);
        assert_eq!(figures(&found, "literal"), [(63_000_000.0, 1.0)]);
        assert_eq!(figures(&found, "matched"), [(0.0, 1.0)]);
        assert_eq!(figures(&found, "sent"), [(63_021_754.0, 1.0)]);
        assert_eq!(figures(&found, "received"), [(4_611.0, 1.0)]);
        assert_eq!(figures(&found, "speedup"), [(1.0, 0.01)]);
    }

    #[test]
    fn the_comma_locale_says_the_same() {
        assert_eq!(read("rsync", GERMAN), read("rsync", C));
    }

    #[test]
    fn human_figures_are_decimal() {
        let found = read(
            "rsync",
            b"Total file size: 63,00M bytes\nLiteral data: 63.00M bytes\nTotal bytes received: 4.26K\n\
              \r     43.45M   8%   38.70MB/s    0:00:12  \r",
        );
        assert_eq!(figures(&found, "total_size"), [(63e6, 1e4)]);
        assert_eq!(figures(&found, "literal"), [(63e6, 1e4)]);
        assert_eq!(figures(&found, "received"), [(4260.0, 10.0)]);
        assert_eq!(progress(&found)[0].1, Some(43_450_000));
    }

    #[test]
    fn a_run_without_changes_has_no_rate() {
        let found = read(
            "rsync",
            b"\r              0   0%    0.00kB/s    0:00:00 (xfr#0, to-chk=0/212)\n\
              sent 3,756 bytes  received 22 bytes  7,556.00 bytes/sec\n\
              total size is 524,288,000  speedup is 138,773.95\n",
        );
        assert_eq!(figures(&found, "sent"), [(3756.0, 1.0)]);
        assert_eq!(figures(&found, "speedup"), [(138_773.95, 0.01)]);
        assert!(
            found
                .iter()
                .all(|finding| !matches!(finding, Finding::Figure { unit: "B/s", .. }))
        );
    }

    #[test]
    fn percent_of_single_files_is_not_percent_of_all() {
        let found = read(
            "rsync",
            b"a\n\r        32,768   3%    0.00kB/s    0:00:00  \
              \r     1,048,576 100%  322.92MB/s    0:00:00 (xfr#1, to-chk=19/21)\n\
              b\n\r        32,768   3%   10.42MB/s    0:00:00  \r",
        );
        assert_eq!(progress(&found).last().unwrap().3, None);
    }

    #[test]
    fn the_summary_is_not_the_cause() {
        let found = read_err(
            "rsync",
            b"rsync: [sender] change_dir \"/srv/none\" failed: No such file or directory (2)\n\
              rsync error: some files/attrs were not transferred (see previous errors) (code 23) at main.c(1394) [sender=3.5.0]\n",
        );
        assert_eq!(
            causes(&found),
            ["rsync: [sender] change_dir \"/srv/none\" failed: No such file or directory (2)"]
        );
        let found = read_err(
            "rsync",
            b"rsync error: received SIGINT, SIGTERM, or SIGHUP (code 20) at rsync.c(874) [sender=3.5.0]\n",
        );
        assert_eq!(causes(&found).len(), 1);
    }

    #[test]
    fn ssh_below_it_knows_why() {
        let found = read_err(
            "rsync",
            b"Warning: Permanently added 'h' (ED25519) to the list of known hosts.\r\n\
              rsync: connection unexpectedly closed (0 bytes received so far) [sender]\n\
              ssh: connect to host 192.0.2.9 port 22: Connection refused\r\n\
              rsync error: unexplained error (code 255) at io.c(285) [sender=3.5.0]\n",
        );
        assert_eq!(
            causes(&found),
            ["ssh: connect to host 192.0.2.9 port 22: Connection refused"]
        );
        let found = read_err(
            "rsync",
            b"@ERROR: Unknown module 'x'\nrsync error: y (code 5)\n",
        );
        assert_eq!(causes(&found), ["@ERROR: Unknown module 'x'"]);
    }

    #[test]
    fn vanished_files_are_warnings() {
        let found = read_err(
            "rsync",
            b"file has vanished: \"/srv/a\"\nrsync warning: some files vanished before they could be transferred (code 24) at main.c(1338)\n",
        );
        assert_eq!(warnings(&found).len(), 2);
        assert!(causes(&found).is_empty());
    }
}
