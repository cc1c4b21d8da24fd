//! `dd`, of GNU with `status=progress`, of `BusyBox` and of the BSDs.

use super::diagnostics::Diagnostics;
use super::durations::seconds;
use super::numbers::{Printed, fraction};
use super::pattern::pattern;
use super::sizes::{Base, size};
use super::{Finding, Line, Reader};
use crate::event::ProgressKind;

/// Counts what was copied. The end is told by the line behind `N+M records out`; the same three
/// lines come in the middle of a run that gets SIGUSR1, so the last ones count.
#[derive(Debug, Default)]
pub struct Dd {
    last: Option<Copied>,
    /// The line before was one of the two about records.
    behind_records: bool,
    diagnostics: Diagnostics,
}

#[derive(Debug, Clone, Copy)]
struct Copied {
    bytes: u64,
    seconds: Option<Printed>,
    rate: Option<Printed>,
}

impl Reader for Dd {
    fn line(&mut self, line: Line<'_>, found: &mut Vec<Finding>) {
        if let Some((copied, rest)) = copied(line.text) {
            found.push(Finding::Progress {
                kind: ProgressKind::Unknown,
                done: Some(copied.bytes),
                total: None,
                percent: None,
            });
            if self.behind_records {
                self.last = Some(copied);
            }
            self.behind_records = false;
            // Another program's message may stand directly behind an overwritten line.
            self.message(Line { text: rest, ..line }, found);
        } else if pattern!(r"^\d+\+\d+ \S").is_match(line.text) {
            self.behind_records = true;
        } else {
            self.message(line, found);
        }
    }

    fn finish(&mut self, found: &mut Vec<Finding>) {
        if let Some(copied) = self.last.take() {
            found.push(Finding::exact_bytes("bytes", copied.bytes));
            found.extend(copied.seconds.map(|s| Finding::seconds("copy", s)));
            found.extend(copied.rate.map(Finding::rate));
        }
        self.diagnostics.finish(found);
    }
}

impl Dd {
    fn message(&mut self, line: Line<'_>, found: &mut Vec<Finding>) {
        match line.text.strip_prefix("dd: ") {
            Some(said) if said.starts_with("warning: ") => {
                self.diagnostics.warning(line.text, found);
            }
            Some(_) => self.diagnostics.cause(line.text, found),
            None => self.diagnostics.unknown(line),
        }
    }
}

/// The line that tells how much, and what stands behind it.
fn copied(text: &str) -> Option<(Copied, &str)> {
    // 30000000 bytes (30 MB, 29 MiB) copied, 0.0156911 s, 1.9 GB/s   (GNU: decimal, any locale)
    let gnu = pattern!(
        r"^\s*(\d+) \p{L}+ (?:\([^)]*\) )?\p{L}+, ([\d.,]+(?:e[-+]?\d+)?) s, ([\d.,]+ \p{L}?B/s)"
    );
    // 30000000 bytes (28.6MB) copied, 0.012345 seconds, 2.3GB/s      (BusyBox: binary)
    let busybox =
        pattern!(r"^(\d+) bytes \([^)]*\) copied, ([\d.]+) seconds, ([\d.]+[A-Za-z]*B/s)");
    // 30000000 bytes transferred in 0.012345 secs (2430133659 bytes/sec)
    let bsd = pattern!(r"^\s*(\d+) bytes transferred in ([\d.]+) secs \((\d+) bytes/sec\)");
    let (captures, base) = [
        (gnu, Base::Decimal),
        (busybox, Base::Binary),
        (bsd, Base::Decimal),
    ]
    .into_iter()
    .find_map(|(pattern, base)| Some((pattern.captures(text)?, base)))?;
    let (whole, [bytes, time, rate]) = captures.extract();
    let copied = Copied {
        bytes: bytes.parse().ok()?,
        seconds: fraction(time)
            .or_else(|| seconds(time))
            .or_else(|| exponent(time)),
        rate: size(rate, base),
    };
    Some((copied, text.get(whole.len()..).unwrap_or_default()))
}

/// `1.5e-05`, as GNU dd prints very short times.
fn exponent(text: &str) -> Option<Printed> {
    let (number, power) = text.split_once('e')?;
    let power: i32 = power.parse().ok()?;
    Some(fraction(number)?.times(10f64.powi(power.clamp(-20, 20))))
}

#[cfg(test)]
mod tests {
    use crate::progress::testing::{causes, figure, figures, progress, read_err};

    #[test]
    fn overwritten_progress_and_the_end() {
        let found = read_err(
            "dd",
            b"\r157286400 bytes (157 MB, 150 MiB) copied, 1 s, 157 MB/s\
              \r314572800 bytes (315 MB, 300 MiB) copied, 2 s, 157 MB/s\n\
              400+0 records in\n400+0 records out\n\
              419430400 bytes (419 MB, 400 MiB) copied, 2.51128 s, 167 MB/s\n",
        );
        let done: Vec<_> = progress(&found).iter().filter_map(|p| p.1).collect();
        assert_eq!(done, [157_286_400, 314_572_800, 419_430_400]);
        assert_eq!(figures(&found, "bytes"), [(419_430_400.0, 1.0)]);
        assert!((figure(&found, "copy") - 2.51128).abs() < 1e-9);
        assert!((figure(&found, "rate") - 167e6).abs() < 1.0, "decimal");
        assert!(causes(&found).is_empty());
    }

    #[test]
    fn other_locales() {
        let found = read_err(
            "dd",
            "19+1 Datensätze ein\n19+1 Datensätze aus\n\
             20000000 Bytes (20 MB, 19 MiB) kopiert, 0,00587449 s, 3,4 GB/s\n"
                .as_bytes(),
        );
        assert_eq!(figures(&found, "bytes"), [(20_000_000.0, 1.0)]);
        assert!((figure(&found, "copy") - 0.005_874_49).abs() < 1e-12);
        assert!((figure(&found, "rate") - 3.4e9).abs() < 1.0);
    }

    #[test]
    fn small_short_and_foreign() {
        let found = read_err(
            "dd",
            b"0+1 records in\n0+1 records out\n512 bytes copied, 5.1e-05 s, 10.0 MB/s\n",
        );
        assert!((figure(&found, "copy") - 5.1e-5).abs() < 1e-12);
        let found = read_err(
            "dd",
            b"1+0 records in\n1+0 records out\n\
              1048576 bytes (1.0MB) copied, 0.002000 seconds, 500.0MB/s\n",
        );
        assert!(
            (figure(&found, "rate") - 500.0 * 1_048_576.0).abs() < 1.0,
            "binary"
        );
        let found = read_err(
            "dd",
            b"1+0 records in\n1+0 records out\n\
              1048576 bytes transferred in 0.001000 secs (1048576000 bytes/sec)\n",
        );
        assert!((figure(&found, "rate") - 1_048_576_000.0).abs() < 1.0);
    }

    #[test]
    fn a_log_that_ends_in_the_middle_has_no_figures() {
        let found = read_err(
            "dd",
            b"\r157286400 bytes (157 MB, 150 MiB) copied, 1 s, 157 MB/s\r",
        );
        assert_eq!(progress(&found).len(), 1);
        assert!(figures(&found, "bytes").is_empty());
    }

    #[test]
    fn sigusr1_in_the_middle_is_not_the_end() {
        let found = read_err(
            "dd",
            b"10+0 records in\n10+0 records out\n10485760 bytes (10 MB, 10 MiB) copied, 1.0 s, 10.5 MB/s\n\
              20+0 records in\n20+0 records out\n20971520 bytes (21 MB, 20 MiB) copied, 2.0 s, 10.5 MB/s\n",
        );
        assert_eq!(figures(&found, "bytes"), [(20_971_520.0, 1.0)]);
    }

    #[test]
    fn the_cause_and_a_message_glued_to_progress() {
        let found = read_err(
            "dd",
            b"dd: error writing 'img': No space left on device\n\
              3+0 records in\n2+0 records out\n2097152 bytes (2.1 MB, 2.0 MiB) copied, 0.01 s, 210 MB/s\n",
        );
        assert_eq!(
            causes(&found),
            ["dd: error writing 'img': No space left on device"]
        );
        let found = read_err(
            "dd",
            b"\r2097152 bytes (2.1 MB, 2.0 MiB) copied, 1 s, 2.1 MB/sdd: writing 'x': Input/output error\n",
        );
        assert_eq!(progress(&found)[0].1, Some(2_097_152));
        assert_eq!(causes(&found), ["dd: writing 'x': Input/output error"]);
    }
}
