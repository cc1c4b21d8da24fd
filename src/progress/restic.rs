//! `restic --json`: a line a message; what an older version still says as text, too.

use serde::Deserialize;

use super::diagnostics::{Diagnostics, is_ssh_cause, is_ssh_talk};
use super::numbers::{Printed, fraction};
use super::pattern::pattern;
use super::{Finding, Line, Reader};
use crate::event::{ProgressKind, Stream};

/// While it backs up, the total grows until all has been listed, so that its percent is an estimate. Before 0.16 a
/// restore says nothing on its way, and `check` is text in every version.
#[derive(Debug, Default)]
pub struct Restic {
    diagnostics: Diagnostics,
}

/// <https://restic.readthedocs.io/en/stable/075_scripting.html>
#[derive(Debug, Deserialize)]
#[serde(tag = "message_type", rename_all = "snake_case")]
enum Message {
    Status(Status),
    Summary(Box<Summary>),
    Error(Complaint),
    ExitError {
        #[serde(default)]
        message: String,
    },
    #[serde(other)]
    Other,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Status {
    percent_done: f64,
    total_bytes: Option<u64>,
    /// Of a backup.
    bytes_done: Option<u64>,
    /// Of a restore.
    bytes_restored: Option<u64>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Summary {
    snapshot_id: Option<String>,
    data_added: Option<u64>,
    total_bytes_processed: Option<u64>,
    total_duration: Option<f64>,
    bytes_restored: Option<u64>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Complaint {
    error: serde_json::Value,
    item: String,
}

impl Reader for Restic {
    fn line(&mut self, line: Line<'_>, found: &mut Vec<Finding>) {
        let text = line.text.trim();
        if text.starts_with('{') {
            // A message of a later version, or one that was cut, says nothing.
            match serde_json::from_str(text) {
                Ok(message) => self.message(message, found),
                Err(_) => self.diagnostics.unknown(line),
            }
        } else if !packs(text, found) {
            self.text(line, found);
        }
    }

    fn finish(&mut self, found: &mut Vec<Finding>) {
        self.diagnostics.finish(found);
    }
}

impl Restic {
    fn message(&mut self, message: Message, found: &mut Vec<Finding>) {
        match message {
            Message::Status(status) => {
                let (done, kind) = match status.bytes_restored {
                    Some(restored) => (Some(restored), ProgressKind::Exact),
                    None => (status.bytes_done, ProgressKind::Estimated),
                };
                let known = status.total_bytes.is_some_and(|total| total > 0);
                found.push(Finding::Progress {
                    kind: if known { kind } else { ProgressKind::Unknown },
                    done,
                    total: status.total_bytes.filter(|_| known),
                    percent: Some(status.percent_done * 100.0).filter(|_| known),
                });
            }
            Message::Summary(summary) => {
                found.extend(summary.snapshot_id.map(|id| Finding::Value {
                    name: "snapshot",
                    value: one_line(&id),
                }));
                for (name, bytes) in [
                    ("added", summary.data_added),
                    ("processed", summary.total_bytes_processed),
                    ("restored", summary.bytes_restored),
                ] {
                    found.extend(bytes.map(|bytes| Finding::exact_bytes(name, bytes)));
                }
                let seconds = summary.total_duration.map(|value| Printed {
                    value,
                    resolution: 1e-6,
                });
                found.extend(seconds.map(|seconds| Finding::seconds("backup", seconds)));
            }
            Message::Error(complaint) => {
                let why = ["message", "Err"].map(|key| complaint.error.get(key));
                let why = why.into_iter().flatten().next().unwrap_or(&complaint.error);
                let why = why.as_str().map_or_else(|| why.to_string(), str::to_owned);
                let text = one_line(&format!("{}: {why}", complaint.item));
                self.diagnostics.cause(&text, found);
            }
            Message::ExitError { message } => {
                self.diagnostics.cause(&one_line(&message), found);
            }
            Message::Other => {}
        }
    }

    fn text(&mut self, line: Line<'_>, found: &mut Vec<Finding>) {
        let text = line.text.trim();
        if text.starts_with("Fatal: repository contains errors") {
            self.diagnostics.consequence(text);
        } else if text.starts_with("Fatal: ")
            || text.starts_with("error")
            || line.stream == Stream::Err && (is_ssh_cause(text) || is_broken(text))
        {
            self.diagnostics.cause(text, found);
        } else if text.contains(" returned error, retrying after ") {
            self.diagnostics.warning(text, found);
        } else if !is_ssh_talk(text) {
            self.diagnostics.unknown(line);
        }
    }
}

/// What `check` says of a store that is not whole.
fn is_broken(text: &str) -> bool {
    pattern!(r"^(?:[Pp]ack|tree|blob|id) [0-9a-f]{8,}.*(?:contains|not|does|mismatch|failed)")
        .is_match(text)
}

/// `[0:12] 40.00%  2 / 5 packs`: what `check --read-data` reads. Snapshots and indexes, which it goes through
/// before, are no share of that.
fn packs(text: &str, found: &mut Vec<Finding>) -> bool {
    let shape = pattern!(r"^\[[\d:]+\] ([\d.]+)%  \d+ / \d+ (\w+)");
    let Some(captures) = shape.captures(text) else {
        return false;
    };
    let (_, [percent, of]) = captures.extract();
    if let Some(percent) = fraction(percent).filter(|_| of == "packs") {
        found.push(Finding::Progress {
            kind: ProgressKind::Exact,
            done: None,
            total: None,
            percent: Some(percent.value),
        });
    }
    true
}

/// What stands in JSON may hold any character.
fn one_line(text: &str) -> String {
    text.replace(char::is_control, " ").trim().to_owned()
}

#[cfg(test)]
mod tests {
    use crate::event::ProgressKind::{Estimated, Exact, Unknown};
    use crate::progress::testing::{causes, figure, progress, read, read_err, value, whole};

    const BACKUP: &[u8] = include_bytes!("../../tests/fixtures/logs/restic-backup.txt");

    #[test]
    fn a_backup_and_its_summary() {
        let found = read("restic", BACKUP);
        let all = progress(&found);
        assert_eq!(all[0], (Estimated, None, Some(48_000_000), Some(0.0)));
        let last = all.last().unwrap();
        assert_eq!(last.0, Estimated);
        assert_eq!(last.1, Some(31_457_280));
        assert!((last.3.unwrap() - 65.53).abs() < 0.01, "{last:?}");
        assert_eq!(value(&found, "snapshot"), Some("6f1b22c9"));
        assert_eq!(whole(&found, "processed"), 48_004_096);
        assert_eq!(whole(&found, "added"), 48_009_311);
        assert!((figure(&found, "backup") - 0.874).abs() < 0.001);
        assert!(causes(&found).is_empty());
    }

    #[test]
    fn an_unchanged_run_has_bytes_and_no_rate() {
        let found = read(
            "restic",
            b"{\"message_type\":\"status\",\"percent_done\":0,\"files_done\":1}\n\
              {\"message_type\":\"summary\",\"data_added\":0,\"total_bytes_processed\":48004096,\"snapshot_id\":\"a\"}\n",
        );
        assert_eq!(progress(&found), [(Unknown, None, None, None)]);
        assert_eq!(whole(&found, "added"), 0);
    }

    #[test]
    fn a_restore_of_later_versions_is_exact() {
        let found = read(
            "restic",
            b"{\"message_type\":\"status\",\"percent_done\":0.25,\"total_files\":8,\"total_bytes\":400,\"bytes_restored\":100}\n\
              {\"message_type\":\"summary\",\"total_files\":8,\"files_restored\":8,\"total_bytes\":400,\"bytes_restored\":400}\n",
        );
        assert_eq!(
            progress(&found),
            [(Exact, Some(100), Some(400), Some(25.0))]
        );
        assert_eq!(whole(&found, "restored"), 400);
    }

    #[test]
    fn a_check_counts_packs_alone() {
        let found = read(
            "restic",
            b"check snapshots, trees and blobs\n[0:00] 100.00%  2 / 2 snapshots\n\nread all data\n\
              [0:03] 20.00%  1 / 5 packs\n[0:12] 100.00%  5 / 5 packs\n\nno errors were found\n",
        );
        let percents: Vec<_> = progress(&found).iter().filter_map(|one| one.3).collect();
        assert_eq!(percents, [20.0, 100.0]);
        assert!(causes(&found).is_empty());
    }

    #[test]
    fn why_it_fails() {
        for (said, cause) in [
            (
                &b"Fatal: wrong password or no key found\n"[..],
                "Fatal: wrong password or no key found",
            ),
            (
                b"{\"message_type\":\"error\",\"error\":{\"message\":\"open /srv/x: permission\\ndenied\"},\"during\":\"archival\",\"item\":\"/srv/x\"}\n",
                "/srv/x: open /srv/x: permission denied",
            ),
            (
                b"{\"message_type\":\"exit_error\",\"code\":10,\"message\":\"Fatal: repository does not exist\"}\n",
                "Fatal: repository does not exist",
            ),
            (
                b"error for tree 5c1f0a9b:\nFatal: repository contains errors\n",
                "error for tree 5c1f0a9b:",
            ),
            (
                b"Pack ID does not match, want 11aa22bb, got 33cc44dd\nFatal: repository contains errors\n",
                "Fatal: repository contains errors",
            ),
        ] {
            assert_eq!(causes(&read_err("restic", said))[0], cause);
        }
    }
}
