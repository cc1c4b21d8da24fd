//! `borg --progress --log-json`: a line a message on standard error; with `--json` a document at the end.

use serde::Deserialize;

use super::diagnostics::{Diagnostics, is_ssh_cause, is_ssh_talk};
use super::numbers::{Printed, fraction};
use super::pattern::pattern;
use super::{Finding, Line, Reader};
use crate::event::ProgressKind;

/// A backup says how much it has read, and no total. Of the passes of a check the longest one, over all data, is
/// shown as progress; the others are said.
#[derive(Debug, Default)]
pub struct Borg {
    diagnostics: Diagnostics,
}

/// <https://borgbackup.readthedocs.io/en/stable/internals/frontends.html>
#[derive(Debug, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Message {
    ArchiveProgress {
        original_size: Option<u64>,
    },
    ProgressPercent {
        #[serde(default)]
        msgid: String,
        #[serde(default)]
        message: String,
        current: Option<u64>,
        total: Option<u64>,
    },
    #[serde(rename = "log_message")]
    Log {
        #[serde(default)]
        message: String,
        #[serde(default)]
        levelname: String,
    },
    #[serde(other)]
    Other,
}

impl Reader for Borg {
    fn line(&mut self, line: Line<'_>, found: &mut Vec<Finding>) {
        let text = line.text.trim();
        if text.starts_with("{\"") {
            match serde_json::from_str(text) {
                Ok(message) => self.message(message, found),
                Err(_) => self.diagnostics.unknown(line),
            }
        } else if let Some(finding) = stat(text) {
            found.push(finding);
        } else if is_ssh_cause(text) || text.starts_with("Remote: ") {
            self.diagnostics.cause(text, found);
        } else if !is_ssh_talk(text) {
            self.diagnostics.unknown(line);
        }
    }

    fn finish(&mut self, found: &mut Vec<Finding>) {
        self.diagnostics.finish(found);
    }
}

impl Borg {
    fn message(&mut self, message: Message, found: &mut Vec<Finding>) {
        match message {
            Message::ArchiveProgress {
                original_size: Some(done),
            } => found.push(Finding::Progress {
                kind: ProgressKind::Unknown,
                done: Some(done),
                total: None,
                percent: None,
            }),
            Message::ProgressPercent {
                msgid,
                message,
                current: Some(current),
                total: Some(total),
            } if total > 0 => match msgid.as_str() {
                "extract" => found.push(exact(Some(current), Some(total), None)),
                "check.verify_data" => {
                    let percent = current as f64 * 100.0 / total as f64;
                    found.push(exact(None, None, Some(percent)));
                }
                _ => {
                    let text = one_line(&message);
                    found.extend((!text.is_empty()).then_some(Finding::Says(text)));
                }
            },
            Message::Log { message, levelname } => {
                let text = one_line(&message);
                match levelname.as_str() {
                    // Status 1 says that there were some: then they are why.
                    "WARNING" => {
                        self.diagnostics.warning(&text, found);
                        self.diagnostics.consequence(&text);
                    }
                    "ERROR" | "CRITICAL" => self.diagnostics.cause(&text, found),
                    _ => {}
                }
            }
            _ => {}
        }
    }
}

fn exact(done: Option<u64>, total: Option<u64>, percent: Option<f64>) -> Finding {
    Finding::Progress {
        kind: ProgressKind::Exact,
        done,
        total,
        percent,
    }
}

/// A line of the document that `create --json` prints.
fn stat(text: &str) -> Option<Finding> {
    let (_, [key, value]) =
        pattern!(r#"^"(duration|original_size|compressed_size|deduplicated_size)": ([\d.]+),?$"#)
            .captures(text)?
            .extract();
    if key == "duration" {
        return Some(Finding::seconds("backup", fraction(value)?));
    }
    let name = match key {
        "original_size" => "processed",
        "compressed_size" => "compressed",
        _ => "added",
    };
    let bytes = value.parse().map(Printed::exact).ok()?;
    Some(Finding::bytes(name, bytes))
}

/// What stands in JSON may hold any character.
fn one_line(text: &str) -> String {
    text.replace(char::is_control, " ").trim().to_owned()
}

#[cfg(test)]
mod tests {
    use crate::event::ProgressKind::{Exact, Unknown};
    use crate::event::Stream;
    use crate::progress::Finding;
    use crate::progress::testing::{
        causes, figure, progress, read, read_err, read_pieces, warnings, whole,
    };

    const CREATE: &[u8] = include_bytes!("../../tests/fixtures/logs/borg-create.txt");

    #[test]
    fn a_backup_counts_what_it_reads() {
        let found = read("borg", CREATE);
        assert_eq!(
            progress(&found),
            [
                (Unknown, Some(0), None, None),
                (Unknown, Some(14_680_064), None, None),
                (Unknown, Some(35_651_584), None, None),
            ]
        );
        assert_eq!(whole(&found, "processed"), 48_004_871);
        assert_eq!(whole(&found, "added"), 48_006_120);
        assert!((figure(&found, "backup") - 0.587).abs() < 0.001);
        assert!(causes(&found).is_empty());
    }

    #[test]
    fn an_extraction_is_exact_and_a_check_goes_by_its_data() {
        let found = read_err(
            "borg",
            b"{\"message\": \"Calculating total\", \"current\": 0, \"total\": 0, \"msgid\": \"extract\", \"type\": \"progress_percent\", \"finished\": false}\n\
              {\"message\": \" 25.0% Extracting: a\", \"current\": 100, \"total\": 400, \"info\": [\"a\"], \"operation\": 1, \"msgid\": \"extract\", \"type\": \"progress_percent\", \"finished\": false}\n\
              {\"message\": \"Checking segments 100.0%\", \"current\": 2, \"total\": 2, \"msgid\": \"repository.check\", \"type\": \"progress_percent\", \"finished\": false}\n\
              {\"message\": \"Verifying data  50.00%\", \"current\": 8, \"total\": 16, \"msgid\": \"check.verify_data\", \"type\": \"progress_percent\", \"finished\": false}\n\
              {\"operation\": 2, \"msgid\": \"check.verify_data\", \"type\": \"progress_percent\", \"finished\": true}\n",
        );
        assert_eq!(
            progress(&found),
            [
                (Exact, Some(100), Some(400), None),
                (Exact, None, None, Some(50.0))
            ]
        );
        assert!(found.contains(&Finding::Says("Checking segments 100.0%".to_owned())));
    }

    #[test]
    fn errors_are_causes_and_warnings_only_where_nothing_else_is() {
        let warning = br#"{"type": "log_message", "message": "/srv/x: file changed\nwhile we backed it up", "levelname": "WARNING", "name": "borg.archiver"}
"#;
        let error = br#"{"type": "log_message", "message": "passphrase supplied is incorrect.", "levelname": "ERROR", "msgid": "PassphraseWrong"}
"#;
        let found = read_err("borg", warning);
        let said = "/srv/x: file changed while we backed it up";
        assert_eq!(warnings(&found), [said]);
        assert_eq!(causes(&found), [said]);
        let both = [(Stream::Err, &warning[..]), (Stream::Err, &error[..])];
        let found = read_pieces("borg", both);
        assert_eq!(causes(&found), ["passphrase supplied is incorrect."]);
    }

    #[test]
    fn ssh_below_it_knows_why() {
        let found = read_err(
            "borg",
            b"Remote: ssh: connect to host 192.0.2.9 port 22: Connection refused\n\
              {\"type\": \"log_message\", \"message\": \"Connection closed by remote host. Is borg working on the server?\", \"levelname\": \"ERROR\"}\n",
        );
        assert_eq!(
            causes(&found)[0],
            "Remote: ssh: connect to host 192.0.2.9 port 22: Connection refused"
        );
    }
}
