//! `btrfs send`, `receive` and `subvolume`, also under btrbk and snapper.

use super::diagnostics::Diagnostics;
use super::pv::Counter;
use super::{Finding, Line, Reader};

/// There is no progress and no total: `pv -n -b` in the pipe tells what has gone through.
#[derive(Debug, Default)]
pub struct Btrfs {
    counter: Counter,
    diagnostics: Diagnostics,
}

impl Reader for Btrfs {
    fn line(&mut self, line: Line<'_>, found: &mut Vec<Finding>) {
        let text = line.text;
        if self.counter.line(line, found) {
            // It was a count.
        } else if is_course(text) {
            // Wrappers label these as warnings.
        } else if let Some(why) = behind(text, "ERROR: ") {
            // The receiver says these when the sender has died.
            let follows = [
                "short read from stream",
                "empty stream is not considered valid",
            ];
            if follows.iter().any(|sign| why.starts_with(sign)) {
                self.diagnostics.consequence(why);
            } else {
                self.diagnostics.cause(why, found);
            }
        } else if let Some(what) = behind(text, "WARNING: ") {
            self.diagnostics.warning(what, found);
        } else {
            self.diagnostics.unknown(line);
        }
    }

    fn finish(&mut self, found: &mut Vec<Finding>) {
        self.counter.finish(found);
        self.diagnostics.finish(found);
    }
}

/// What send and receive say on their way.
fn is_course(text: &str) -> bool {
    let (_, tail) = text.rsplit_once(") ").unwrap_or(("", text));
    [text, tail].iter().any(|text| {
        [
            "At subvol ",
            "At snapshot ",
            "Protocol version requested",
            "BTRFS_IOC_",
        ]
        .iter()
        .any(|sign| text.starts_with(sign))
    })
}

/// What stands behind a level, at the begin or behind a wrapper's stamp.
fn behind<'a>(text: &'a str, level: &str) -> Option<&'a str> {
    let at = text.find(level)?;
    let (front, tail) = text.split_at_checked(at)?;
    let alone = front.is_empty() || front.ends_with(' ');
    tail.strip_prefix(level).filter(|_| alone)
}

#[cfg(test)]
mod tests {
    use crate::progress::testing::{causes, progress, read_err, warnings, whole};

    #[test]
    fn a_normal_run_says_nothing() {
        let found = read_err("btrfs", b"At subvol /mnt/p/@home.3\nAt subvol @home.3\n");
        assert_eq!(found, []);
    }

    #[test]
    fn the_first_error_is_the_cause() {
        let found = read_err(
            "btrfs",
            b"At subvol /mnt/p/@home.3\n\
              ERROR: cannot open /mnt/q/o4711-99-0: No such file or directory\n\
              summary: 60.0 MiByte in  5.1sec - average of 11.8 MiB/s\n\
              ERROR: failed to read stream from kernel: Broken pipe\n",
        );
        assert_eq!(
            causes(&found),
            ["cannot open /mnt/q/o4711-99-0: No such file or directory"]
        );
    }

    #[test]
    fn a_receiver_whose_sender_died_only_says_what_followed() {
        let found = read_err(
            "btrfs",
            b"ERROR: short read from stream: expected 49173 read 29872\n\
              ERROR: subvolume /mnt/p/data is not read-only\n",
        );
        assert_eq!(causes(&found), ["subvolume /mnt/p/data is not read-only"]);
        let found = read_err(
            "btrfs",
            b"ERROR: short read from stream: expected 9 read 2\n",
        );
        assert_eq!(causes(&found).len(), 1);
    }

    #[test]
    fn wrappers_labels_are_seen_through() {
        let found = read_err(
            "btrfs",
            b"WARNING: [send/receive] (send=/p/s.1, receive=/b/h) At subvol /p/s.1\n\
              Sun 25 Jan 2026 01:50:53 PM CST <3> Big.cc(transfer):161 ERROR: parent subvol is not reachable\n\
              WARNING: Deleted partially received (garbled) subvolume: h:/b/s.1\n",
        );
        assert_eq!(causes(&found), ["parent subvol is not reachable"]);
        assert_eq!(
            warnings(&found),
            ["Deleted partially received (garbled) subvolume: h:/b/s.1"]
        );
    }

    #[test]
    fn a_counter_in_the_pipe_tells_the_bytes() {
        let found = read_err(
            "btrfs",
            b"At subvol s1\n1048576\n3145728\nERROR: cannot find parent subvolume\n4194304\n",
        );
        let done: Vec<_> = progress(&found).iter().filter_map(|p| p.1).collect();
        assert_eq!(done, [1_048_576, 3_145_728, 4_194_304]);
        assert_eq!(whole(&found, "bytes"), 4_194_304);
        assert_eq!(causes(&found), ["cannot find parent subvolume"]);
    }

    #[test]
    fn other_tools_errors_are_weak_causes() {
        let found = read_err("btrfs", b"umount: /mnt: target is busy.\n");
        assert_eq!(causes(&found), ["umount: /mnt: target is busy."]);
    }
}
