//! `zstd`, with `--progress` or as a test (`-t`).

use super::diagnostics::Diagnostics;
use super::pattern::pattern;
use super::sizes::{Base, size};
use super::{Finding, Line, Reader};
use crate::event::ProgressKind;

/// Its percent is the ratio, never progress.
#[derive(Debug, Default)]
pub struct Zstd {
    diagnostics: Diagnostics,
}

impl Reader for Zstd {
    fn line(&mut self, line: Line<'_>, found: &mut Vec<Finding>) {
        if progress(line.text, found) || end(line.text, found) {
            return;
        }
        if is_complaint(line.text) {
            self.diagnostics.cause(line.text, found);
        } else {
            self.diagnostics.unknown(line);
        }
    }

    fn finish(&mut self, found: &mut Vec<Finding>) {
        self.diagnostics.finish(found);
    }
}

/// Whether zstd says here why it fails. The file's name may be cut at the front.
pub fn is_complaint(text: &str) -> bool {
    text.starts_with("zstd: ")
        || pattern!(r" : (?:Read|Write|Decoding|Encoding|Allocation) error\b").is_match(text)
        || text.contains(": unsupported format")
}

fn progress(text: &str, found: &mut Vec<Finding>) -> bool {
    // Read:   192 MiB /   400 MiB ==> 100%        compressing a file; a stream has no total
    let read = pattern!(r"Read: *([\d.]+ *[KMGT]?i?B)(?: */ *([\d.]+ *[KMGT]?i?B))? *==> *\d");
    // (L19) Buffered:    0 B - Consumed:  128 KiB - Compressed:  128 KiB => 100.01%
    let consumed = pattern!(r"Consumed: *([\d.]+ *[KMGT]?i?B) ");
    // disk.vma.zst : 20.3 GiB...                  decompressing: what came out
    let decoded = pattern!(r" : *([\d.]+ *[KMGT]?i?B)\.\.\. *$");
    let (done, total) = if let Some(captures) = read.captures(text) {
        (captures.get(1), captures.get(2))
    } else if let Some(captures) = consumed.captures(text).or_else(|| decoded.captures(text)) {
        (captures.get(1), None)
    } else {
        return false;
    };
    let bytes = |part: Option<regex::Match<'_>>| Some(size(part?.as_str(), Base::Binary)?.whole());
    let total = bytes(total);
    found.push(Finding::Progress {
        kind: if total.is_some() {
            ProgressKind::Exact
        } else {
            ProgressKind::Unknown
        },
        done: bytes(done),
        total,
        percent: None,
    });
    true
}

fn end(text: &str, found: &mut Vec<Finding>) -> bool {
    // disk.raw : 81.20%   (   400 MiB =>    325 MiB, disk.raw.zst)    or bytes without a unit
    let packed =
        pattern!(r": *[\d.]+% +\( *([\d.]+ *[KMGT]?i?B?) *=> *([\d.]+ *[KMGT]?i?B?)(?: bytes)?, ");
    // disk.raw.zst  : 419430400 bytes
    let tested = pattern!(r" *: (\d+) bytes *$");
    if let Some(captures) = packed.captures(text) {
        let (_, [input, output]) = captures.extract();
        for (name, text) in [("input", input), ("output", output)] {
            found.extend(size(text, Base::Binary).map(|bytes| Finding::bytes(name, bytes)));
        }
        return true;
    }
    let Some(captures) = tested.captures(text) else {
        return false;
    };
    let (_, [bytes]) = captures.extract();
    found.extend(
        bytes
            .parse()
            .map(|bytes| Finding::exact_bytes("decompressed", bytes)),
    );
    true
}

#[cfg(test)]
mod tests {
    use crate::event::ProgressKind::{Exact, Unknown};
    use crate::progress::testing::{causes, figures, progress, read_err};

    const MIB: u64 = 1 << 20;

    #[test]
    fn the_percent_is_a_ratio_and_no_progress() {
        let blank = " ".repeat(80);
        let text = format!(
            "\r{blank}\rRead:     0   B /   400 MiB ==>  0%\r{blank}\rRead:   192 MiB /   400 MiB ==> 100%\
             \r{blank}\rdisk.raw         : 81.25%   (   400 MiB =>    325 MiB, disk.raw.zst) \n"
        );
        let found = read_err("zstd", text.as_bytes());
        assert_eq!(
            progress(&found),
            [
                (Exact, Some(0), Some(400 * MIB), None),
                (Exact, Some(192 * MIB), Some(400 * MIB), None)
            ]
        );
        assert_eq!(figures(&found, "input"), [(419_430_400.0, 1_048_576.0)]);
        assert_eq!(figures(&found, "output"), [(340_787_200.0, 1_048_576.0)]);
        assert!(causes(&found).is_empty());
    }

    #[test]
    fn without_a_total() {
        let found = read_err(
            "zstd",
            b"\r(L19) Buffered:    0 B - Consumed:  128 KiB - Compressed:  128 KiB => 100.01% \
              \rRead:    64 MiB  ==> 33%\rdump.zst : 20.0 MiB...     \r",
        );
        assert_eq!(
            progress(&found),
            [
                (Unknown, Some(128 << 10), None, None),
                (Unknown, Some(64 * MIB), None, None),
                (Unknown, Some(20 * MIB), None, None)
            ]
        );
    }

    #[test]
    fn a_tested_archive() {
        let found = read_err("zstd", b"/srv/raw.zst  : 419430400 bytes \n");
        assert_eq!(figures(&found, "decompressed"), [(419_430_400.0, 1.0)]);
    }

    #[test]
    fn exact_bytes_of_older_versions() {
        let found = read_err(
            "zstd",
            b"raw : 25.00%   (104857600 => 26214400 bytes, raw.zst) \n",
        );
        assert_eq!(figures(&found, "input"), [(104_857_600.0, 1.0)]);
        assert_eq!(figures(&found, "output"), [(26_214_400.0, 1.0)]);
    }

    #[test]
    fn progress_and_error_share_a_line() {
        let found = read_err(
            "zstd",
            b"_04-11_02_09.vma.zst : 11.5 GiB...     \
              \r_04-11_02_09.vma.zst : Decoding error (36) : Restored data doesn't match checksum  \n",
        );
        assert_eq!(progress(&found).len(), 1);
        assert_eq!(
            causes(&found),
            ["_04-11_02_09.vma.zst : Decoding error (36) : Restored data doesn't match checksum"]
        );
    }

    #[test]
    fn causes_of_all_kinds() {
        for text in [
            "/*stdin*\\ : Read error (39) : premature end",
            "zstd: error 70 : Write error : cannot write block : No space left on device",
            "zstd: can't stat nosuch : No such file or directory -- ignored",
        ] {
            assert_eq!(causes(&read_err("zstd", text.as_bytes())), [text]);
        }
    }
}
