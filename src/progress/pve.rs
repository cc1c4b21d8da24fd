//! What all tasks of Proxmox VE have in common.

use super::diagnostics::Diagnostics;
use super::pattern::pattern;
use super::{Finding, Line, tar, zstd};
use crate::event::Stream;

/// Why a task or a guest failed. A failed command and a summary only follow from something
/// that an earlier line tells.
pub fn cause(why: &str, diagnostics: &mut Diagnostics, found: &mut Vec<Finding>) {
    let why = why.trim();
    let only_follows = why == "job errors"
        || why == "broken pipe"
        || why.starts_with("got unexpected control message:")
        || why.starts_with("command '") && why.contains("' failed: ");
    if only_follows {
        diagnostics.consequence(why);
    } else {
        diagnostics.cause(why, found);
    }
}

/// A line that is not the command's own: the task's end, or a message of a tool below it.
/// Whether it is such a line.
pub fn foreign(line: Line<'_>, diagnostics: &mut Diagnostics, found: &mut Vec<Finding>) -> bool {
    let text = line.text;
    if let Some(why) = text.strip_prefix("TASK ERROR: ") {
        cause(why, diagnostics, found);
    } else if text.starts_with("command '") || text == "job errors" {
        // The command's last word on standard error has no level in front.
        cause(text, diagnostics, found);
    } else if zstd::is_complaint(text) || pattern!(r"^(?:gzip|zcat|lzop|vma): ").is_match(text) {
        diagnostics.cause(&with_errno(text), found);
    } else if let Some(why) = text.strip_prefix("Error: ") {
        diagnostics.cause(why, found);
    } else if text.starts_with("Unknown option: ") {
        diagnostics.cause(text, found);
    } else if text
        .trim_start()
        .starts_with("WARNING: Sum of all thin volume sizes")
    {
        // The other warnings of LVM come with every thin volume and are advice.
        diagnostics.warning(text.trim_start().trim_start_matches("WARNING: "), found);
    } else if line.stream == Stream::Err && !is_verdict(text) {
        diagnostics.unknown(line);
    } else {
        return tar::complaint(text, diagnostics, found);
    }
    true
}

/// `Task finished with 2 warning(s)!`, `TASK WARNINGS: 2`, `TASK OK`; what stands around the
/// reason why a parameter is refused.
fn is_verdict(text: &str) -> bool {
    text.starts_with("Task finished with ")
        || text.starts_with("TASK ")
        || text.starts_with("400 Parameter verification failed")
        || text.ends_with(" [OPTIONS]")
}

/// QEMU's tools print a bare error number where the target is full.
fn with_errno(text: &str) -> String {
    let full = text.trim_end().ends_with("failed (-28)");
    let meaning = if full {
        ": No space left on device"
    } else {
        ""
    };
    format!("{}{meaning}", text.trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(lines: &[(Stream, &str)]) -> Vec<Finding> {
        let mut diagnostics = Diagnostics::default();
        let mut found = Vec::new();
        for (stream, text) in lines {
            let line = Line {
                stream: *stream,
                text,
                rewritten: false,
            };
            foreign(line, &mut diagnostics, &mut found);
        }
        diagnostics.finish(&mut found);
        found
    }

    #[test]
    fn summaries_are_told_only_where_there_is_nothing_better() {
        assert_eq!(
            said(&[(Stream::Out, "TASK ERROR: job errors")]),
            [Finding::Cause("job errors".into())]
        );
        assert_eq!(
            said(&[
                (Stream::Err, "command 'vma x' failed: got signal 5"),
                (
                    Stream::Out,
                    "vma: restore failed - short vma extent (1 < 2)"
                ),
            ]),
            [Finding::Cause(
                "vma: restore failed - short vma extent (1 < 2)".into()
            )]
        );
    }

    #[test]
    fn an_error_number_gets_its_meaning() {
        assert_eq!(
            said(&[(
                Stream::Out,
                "vma: restore failed - blk_pwrite to  failed (-28)"
            )]),
            [Finding::Cause(
                "vma: restore failed - blk_pwrite to  failed (-28): No space left on device".into()
            )]
        );
    }

    #[test]
    fn a_refused_parameter_is_named() {
        assert_eq!(
            said(&[
                (Stream::Err, "400 Parameter verification failed."),
                (
                    Stream::Err,
                    "bwlimit: type check ('integer') failed - got 'x'"
                ),
                (Stream::Err, "vzdump {<vmid>} [OPTIONS]"),
            ]),
            [Finding::Cause(
                "bwlimit: type check ('integer') failed - got 'x'".into()
            )]
        );
        assert_eq!(
            said(&[
                (Stream::Err, "Unknown option: frob"),
                (Stream::Err, "400 unable to parse option"),
            ]),
            [Finding::Cause("Unknown option: frob".into())]
        );
    }

    #[test]
    fn a_verdict_is_no_cause() {
        for text in [
            "Task finished with 2 warning(s)!",
            "TASK WARNINGS: 2",
            "TASK OK",
        ] {
            assert_eq!(said(&[(Stream::Err, text)]), []);
        }
    }
}
