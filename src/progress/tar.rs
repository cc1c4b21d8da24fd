//! GNU tar with `--checkpoint` and `--totals`.

use super::diagnostics::Diagnostics;
use super::pattern::pattern;
use super::sizes::{Base, size};
use super::{Finding, Line, Reader};
use crate::event::ProgressKind;

/// Bytes of a record with tar's default blocking factor of 20.
const RECORD: u64 = 20 * 512;

/// `tar: Write checkpoint 2048` counts records; `Total bytes written: N (…)` is exact, and
/// its rate is of tar's own time.
#[derive(Debug, Default)]
pub struct Tar {
    diagnostics: Diagnostics,
}

impl Reader for Tar {
    fn line(&mut self, line: Line<'_>, found: &mut Vec<Finding>) {
        let text = line.text;
        if !checkpoint(text, found)
            && !totals(text, found)
            && !complaint(text, &mut self.diagnostics, found)
        {
            self.diagnostics.unknown(line);
        }
    }

    fn finish(&mut self, found: &mut Vec<Finding>) {
        self.diagnostics.finish(found);
    }
}

fn checkpoint(text: &str, found: &mut Vec<Finding>) -> bool {
    let shape = pattern!(r"tar: (?:Read|Write) checkpoint (\d+)$");
    let records = shape.captures(text).and_then(|captures| {
        let (_, [records]) = captures.extract();
        records.parse::<u64>().ok()
    });
    found.extend(records.map(|records| Finding::Progress {
        kind: ProgressKind::Unknown,
        done: Some(records.saturating_mul(RECORD)),
        total: None,
        percent: None,
    }));
    records.is_some()
}

/// The line of `--totals`: exact bytes, and tar's own rate (binary units).
pub fn totals(text: &str, found: &mut Vec<Finding>) -> bool {
    let Some(captures) =
        pattern!(r"^Total bytes (written|read): (\d+) \(.*?B, (.+)\)$").captures(text)
    else {
        return false;
    };
    let (_, [what, bytes, rate]) = captures.extract();
    let name = if what == "read" { "read" } else { "written" };
    if let Ok(bytes) = bytes.parse() {
        found.push(Finding::exact_bytes(name, bytes));
    }
    if let Some(rate) = size(rate, Base::Binary) {
        found.push(Finding::rate(rate));
    }
    true
}

/// What tar says about a file or about itself; whether this line is such a thing.
pub fn complaint(text: &str, diagnostics: &mut Diagnostics, found: &mut Vec<Finding>) -> bool {
    let Some(said) = text.strip_prefix("tar: ") else {
        return false;
    };
    let harmless = [
        "Removing leading ",
        "Write checkpoint ",
        "Read checkpoint ",
        "Record size = ",
    ];
    let warnings = [
        "file changed as we read it",
        "File removed before we read it",
        "socket ignored",
        "door ignored",
        "file is on a different filesystem; not dumped",
        "contains a cache directory tag",
        "time stamp ",
        "Ignoring unknown extended header keyword",
    ];
    if harmless.iter().any(|sign| said.starts_with(sign)) {
        return true;
    }
    if warnings.iter().any(|sign| said.contains(sign)) {
        diagnostics.warning(text, found);
    } else if said.starts_with("Error is not recoverable")
        || said.starts_with("Exiting with failure")
    {
        diagnostics.consequence(text);
    } else {
        diagnostics.cause(text, found);
    }
    true
}

#[cfg(test)]
mod tests {
    use crate::progress::testing::{causes, figures, progress, read_err, warnings};

    #[test]
    fn checkpoints_count_records_of_10240_bytes() {
        let found = read_err(
            "tar",
            b"tar: Write checkpoint 512\ntar: Write checkpoint 1024\n\
              Total bytes written: 15360000 (15MiB, 1.2GiB/s)\n",
        );
        let done: Vec<_> = progress(&found).iter().map(|p| p.1).collect();
        assert_eq!(done, [Some(5_242_880), Some(10_485_760)]);
        assert!(progress(&found).iter().all(|p| p.3.is_none()));
        assert_eq!(figures(&found, "written"), [(15_360_000.0, 1.0)]);
        assert!(causes(&found).is_empty());
    }

    #[test]
    fn reading_counts_as_well() {
        let found = read_err(
            "tar",
            b"tar: Read checkpoint 7\nTotal bytes read: 71680 (70KiB, 71,3MiB/s)\n",
        );
        assert_eq!(progress(&found)[0].1, Some(71_680));
        assert_eq!(figures(&found, "read"), [(71_680.0, 1.0)]);
        let (rate, fine) = figures(&found, "rate")[0];
        assert!((rate - 71.3 * 1_048_576.0).abs() < 1.0);
        assert!((fine - 0.1 * 1_048_576.0).abs() < 1.0);
    }

    #[test]
    fn sizes_with_a_comma() {
        let found = read_err(
            "tar",
            b"Total bytes written: 1595801600 (1,5GiB, 3,4MiB/s)\n",
        );
        assert_eq!(figures(&found, "written"), [(1_595_801_600.0, 1.0)]);
        assert!((figures(&found, "rate")[0].0 - 3.4 * 1_048_576.0).abs() < 1.0);
    }

    #[test]
    fn the_first_error_is_the_cause_and_its_summary_is_not() {
        let found = read_err(
            "tar",
            b"tar: Removing leading `/' from member names\n\
              tar: ./spool/a: file changed as we read it\n\
              tar: gone: Cannot stat: No such file or directory\n\
              Total bytes written: 20480 (20KiB, 9MiB/s)\n\
              tar: Exiting with failure status due to previous errors\n",
        );
        assert_eq!(
            causes(&found),
            ["tar: gone: Cannot stat: No such file or directory"]
        );
        assert_eq!(
            warnings(&found),
            ["tar: ./spool/a: file changed as we read it"]
        );
    }

    #[test]
    fn a_summary_alone_is_better_than_nothing() {
        let found = read_err("tar", b"tar: Error is not recoverable: exiting now\n");
        assert_eq!(
            causes(&found),
            ["tar: Error is not recoverable: exiting now"]
        );
    }
}
