//! `zfs` and `zpool`: `zfs send -vP` (or `-v`), a counter behind it, and what all of them say.

use std::collections::HashMap;

use super::diagnostics::Diagnostics;
use super::numbers::Printed;
use super::pattern::pattern;
use super::pv::Counter;
use super::sizes::{Base, size};
use super::{Finding, Line, Reader, prefix};
use crate::event::{ProgressKind, Stream};

/// Most snapshots whose estimates are remembered.
const MOST: usize = 1024;

/// A line a second with what has been sent of one snapshot; the total is an estimate, 3 % off
/// either way or worse. There is no last line, and none at all for a send of less than a second:
/// `pv -n -b` in the pipe tells what has gone through.
#[derive(Debug, Default)]
pub struct Zfs {
    /// Estimates by snapshot, from the list that comes first.
    estimates: HashMap<String, u64>,
    total: Option<u64>,
    current: Option<Sent>,
    /// Bytes of the snapshots before this one.
    before: u64,
    /// An error that may go on in the next line.
    open: Option<(Stream, String)>,
    counter: Counter,
    diagnostics: Diagnostics,
}

#[derive(Debug)]
struct Sent {
    snapshot: String,
    bytes: u64,
}

impl Reader for Zfs {
    fn line(&mut self, line: Line<'_>, found: &mut Vec<Finding>) {
        let text = prefix::without(line.text);
        let line = Line { text, ..line };
        if !self.goes_on(line, found)
            && !self.counted(line, found)
            && !self.estimate(text, found)
            && !self.sent(text, found)
            && !self.message(line, found)
        {
            self.diagnostics.unknown(line);
        }
    }

    fn finish(&mut self, found: &mut Vec<Finding>) {
        self.close(found);
        self.counter.finish(found);
        self.diagnostics.finish(found);
    }
}

impl Zfs {
    /// `full\tpool/fs@a\t67271280`, `incremental\ta\tpool/fs@b\t10554352`, `size\t77825632`, and
    /// what `-v` makes of them.
    fn estimate(&mut self, text: &str, found: &mut Vec<Finding>) -> bool {
        // A name may hold blanks, so tabs are the better marks; some versions print blanks.
        let part = pattern!(r"^(?:full|incremental)\t(?:[^\t]*\t)?([^\t]+)\t(\d+)$");
        let part_blank = pattern!(r"^(?:full|incremental) .*?(\S+) +(\d+)$");
        let part_v = pattern!(r"^(?:full send of|send from \S+ to) (.+) estimated size is (\S+)$");
        let sum = pattern!(r"^(?:size\s+|total estimated size is )(\S+)$");
        if let Some(captures) = [part, part_blank, part_v]
            .iter()
            .find_map(|pattern| pattern.captures(text))
        {
            let (_, [snapshot, bytes]) = captures.extract();
            if let Some(bytes) = size(bytes, Base::Binary)
                && self.estimates.len() < MOST
            {
                self.estimates.insert(snapshot.to_owned(), bytes.whole());
            }
            return true;
        }
        let Some(bytes) = sum.captures(text).and_then(|captures| {
            let (_, [bytes]) = captures.extract();
            size(bytes, Base::Binary)
        }) else {
            return false;
        };
        self.total = Some(bytes.whole());
        found.push(Finding::bytes("estimate", bytes));
        true
    }

    /// What a counter behind it says is of the estimate.
    fn counted(&mut self, line: Line<'_>, found: &mut Vec<Finding>) -> bool {
        let before = found.len();
        if !self.counter.line(line, found) {
            return false;
        }
        for finding in found.iter_mut().skip(before) {
            if let (Finding::Progress { kind, total, .. }, Some(estimate)) = (finding, self.total) {
                *kind = ProgressKind::Estimated;
                *total = Some(estimate);
            }
        }
        true
    }

    /// `21:20:36\t14980648\tpool/fs@a`, `21:20:31   28.3M   pool/fs@a`
    fn sent(&mut self, text: &str, found: &mut Vec<Finding>) -> bool {
        let Some(captures) = pattern!(r"^\d\d:\d\d:\d\d\s+(\S+)\s+(.+)$").captures(text) else {
            return text.starts_with("TIME  ");
        };
        let (_, [bytes, snapshot]) = captures.extract();
        let Some(bytes) = size(bytes, Base::Binary).map(Printed::whole) else {
            return false;
        };
        // What is sent counts from 0 for each snapshot of a -R or -I.
        match &mut self.current {
            Some(current) if current.snapshot == snapshot => current.bytes = bytes,
            current => {
                if let Some(last) = current.take() {
                    let whole = self.estimates.get(&last.snapshot).copied();
                    self.before = self
                        .before
                        .saturating_add(whole.unwrap_or(0).max(last.bytes));
                }
                *current = Some(Sent {
                    snapshot: snapshot.to_owned(),
                    bytes,
                });
            }
        }
        if self.counter.has_counted() {
            return true;
        }
        found.push(Finding::Progress {
            kind: if self.total.is_some() {
                ProgressKind::Estimated
            } else {
                ProgressKind::Unknown
            },
            done: Some(self.before.saturating_add(bytes)),
            total: self.total,
            percent: None,
        });
        true
    }

    fn message(&mut self, line: Line<'_>, found: &mut Vec<Finding>) -> bool {
        let text = line.text;
        let received = pattern!(r"^received (\S+) stream in \d+ seconds");
        if let Some(captures) = received.captures(text) {
            let (_, [bytes]) = captures.extract();
            found.extend(size(bytes, Base::Binary).map(|bytes| Finding::bytes("received", bytes)));
        } else if text.starts_with("WARN: ") {
            self.diagnostics.warning(text, found);
        } else if text.contains("incomplete stream") || text.contains("failed to read from stream")
        {
            // The receiver's view of a sender that died.
            self.diagnostics.consequence(text);
        } else if pattern!(
            r"^(?:warning: )?(?:cannot |could not |internal error: |invalid |Error: )"
        )
        .is_match(text)
        {
            self.open = Some((line.stream, text.to_owned()));
        } else {
            return false;
        }
        true
    }

    /// Whether this line is the rest of an error: `… has been modified` / `since most recent
    /// snapshot`. The other stream may come between.
    fn goes_on(&mut self, line: Line<'_>, found: &mut Vec<Finding>) -> bool {
        let Some((_, open)) = self.open.as_mut().filter(|open| open.0 == line.stream) else {
            return false;
        };
        let goes_on = ["since ", "must ", "match ", "use '-"]
            .iter()
            .any(|sign| line.text.starts_with(sign));
        if goes_on {
            open.push(' ');
            open.push_str(line.text.trim_end());
        }
        self.close(found);
        goes_on
    }

    fn close(&mut self, found: &mut Vec<Finding>) {
        if let Some((_, text)) = self.open.take() {
            self.diagnostics.cause(&text, found);
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::event::ProgressKind::{Estimated, Unknown};
    use crate::progress::testing::{causes, figures, progress, read, read_err, warnings};

    #[test]
    fn parsable_progress() {
        let found = read_err(
            "zfs",
            b"full\ttank/web@mon\t67271280\nsize\t67271280\n\
              21:20:36\t14980648\ttank/web@mon\n21:20:37\t31140880\ttank/web@mon\n",
        );
        assert_eq!(figures(&found, "estimate"), [(67_271_280.0, 1.0)]);
        assert_eq!(
            progress(&found),
            [
                (Estimated, Some(14_980_648), Some(67_271_280), None),
                (Estimated, Some(31_140_880), Some(67_271_280), None)
            ]
        );
        assert!(causes(&found).is_empty());
    }

    #[test]
    fn a_counter_behind_it_is_exact_and_its_total_stays_an_estimate() {
        let found = read_err(
            "zfs",
            b"full\ttank/web@mon\t67271280\nsize\t67271280\n1048576\n\
              21:20:36\t14980648\ttank/web@mon\n67314672\n",
        );
        assert_eq!(
            progress(&found),
            [
                (Estimated, Some(1_048_576), Some(67_271_280), None),
                (Estimated, Some(67_314_672), Some(67_271_280), None)
            ]
        );
        assert_eq!(figures(&found, "bytes"), [(67_314_672.0, 1.0)]);
    }

    #[test]
    fn what_is_sent_counts_on_over_snapshots() {
        let found = read_err(
            "zfs",
            b"full\ttank/web@mon\t1000000\nincremental\tmon\ttank/web@tue\t200000\nsize\t1200000\n\
              23:59:59\t900000\ttank/web@mon\n00:00:00\t50000\ttank/web@tue\n00:00:01\t90000\ttank/web@tue\n",
        );
        let done: Vec<_> = progress(&found).iter().filter_map(|p| p.1).collect();
        assert_eq!(done, [900_000, 1_050_000, 1_090_000]);
    }

    #[test]
    fn figures_for_humans_and_a_receiver_between() {
        let found = read_err(
            "zfs",
            b"full send of tank@a estimated size is 15.6T\n\
              send from @a to tank@b estimated size is 2.52T\n\
              total estimated size is 18.1T\nTIME        SENT   SNAPSHOT\n\
              receiving full stream of tank@a into vault@a\n\
              06:35:04    205M   tank@a\n06:35:07   1.19G   tank@a\n",
        );
        let all = progress(&found);
        assert_eq!(all[0].1, Some(205 << 20));
        assert_eq!(all[1].1, Some(1_277_752_770));
        assert_eq!(all[1].2, Some((18.1 * 1024f64.powi(4)) as u64));
        assert!(all.iter().all(|p| p.3.is_none()));
    }

    #[test]
    fn without_an_estimate_there_is_no_total() {
        let found = read_err("zfs", b"15:15:40\t294320456\ttank/t@a\n");
        assert_eq!(progress(&found), [(Unknown, Some(294_320_456), None, None)]);
    }

    #[test]
    fn stamps_of_replication_are_seen_through() {
        let found = read(
            "zfs",
            b"2020-03-10 10:00:02 200-0: send from @x to rpool/d@y estimated size is 9.39M\n\
              2020-03-10 10:00:02 200-0: total estimated size is 9.39M\n\
              2020-03-10 10:00:02 200-0: TIME        SENT   SNAPSHOT rpool/d@y\n",
        );
        let (bytes, fine) = figures(&found, "estimate")[0];
        assert!((bytes - 9_846_128.64).abs() < 0.1);
        assert!((fine - 10_485.76).abs() < 0.1);
        assert!(progress(&found).is_empty());
    }

    #[test]
    fn an_error_of_two_lines_is_joined() {
        let found = read_err(
            "zfs",
            b"summary: 22.0 GiByte in 31min 49.9sec - average of 11.8 MiB/s\n\
              cannot receive incremental stream: destination vault/a has been modified\n\
              since most recent snapshot\n\
              warning: cannot send 'tank/a@x': Broken pipe\n",
        );
        assert_eq!(
            causes(&found),
            [
                "cannot receive incremental stream: destination vault/a has been modified since most recent snapshot"
            ]
        );
    }

    #[test]
    fn the_cause_and_what_follows_from_it() {
        let found = read_err(
            "zfs",
            b"Jul 19 14:34:31 host7 syncoid[7197]: WARN: pv not available on local machine - sync will continue without progress bar.\n\
              Jul 19 14:34:38 host7 syncoid[7208]: gzip: stdout: Broken pipe\n\
              Jul 19 14:34:38 host7 syncoid[7209]: warning: cannot send 'src/d@h': signal received\n\
              Jul 19 14:34:38 host7 syncoid[7208]: cannot receive incremental stream: destination dst/d has been modified\n\
              Jul 19 14:34:38 host7 syncoid[7208]: since most recent snapshot\n",
        );
        assert_eq!(causes(&found).len(), 1);
        assert!(causes(&found)[0].ends_with("has been modified since most recent snapshot"));
        assert_eq!(warnings(&found).len(), 1);

        let found = read_err(
            "zfs",
            b"cannot receive new filesystem stream: incomplete stream\n\
              warning: cannot send 'tank/web@mon': permission denied\n",
        );
        assert_eq!(
            causes(&found),
            ["warning: cannot send 'tank/web@mon': permission denied"]
        );
        let found = read_err("zfs", b"cannot receive: failed to read from stream\n");
        assert_eq!(causes(&found).len(), 1);
    }

    #[test]
    fn the_receivers_end() {
        let found = read("zfs", b"received 64.2M stream in 3 seconds (21.4M/sec)\n");
        assert!((figures(&found, "received")[0].0 - 67_318_579.2).abs() < 0.1);
    }
}
