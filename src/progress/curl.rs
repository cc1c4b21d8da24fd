//! `curl`: the meter on standard error.

use super::diagnostics::Diagnostics;
use super::numbers::{Printed, fraction};
use super::sizes::{Base, size};
use super::{Finding, Line, Reader};
use crate::event::ProgressKind;

/// The meter's columns are sizes and rates in binary units; where the length is not known,
/// curl prints what it has got as the total, and 100 %.
#[derive(Debug, Default)]
pub struct Curl {
    last: Option<Meter>,
    /// Bytes of the files that have gone, where a method has it say `sent BYTES` after each.
    sent: u64,
    diagnostics: Diagnostics,
}

#[derive(Debug, Clone, Copy)]
struct Meter {
    percent: f64,
    total: Option<u64>,
    done: Printed,
    rate: Printed,
}

impl Meter {
    /// Both directions are added up, but the total was rounded: an upload's short answer must
    /// not make more than the whole.
    fn capped(&self) -> u64 {
        let done = self.done.whole();
        let most = self.total.filter(|_| self.percent <= 100.0);
        most.map_or(done, |total| done.min(total))
    }

    fn progress(&self) -> Finding {
        Finding::Progress {
            kind: if self.total.is_some() {
                ProgressKind::Exact
            } else {
                ProgressKind::Unknown
            },
            done: Some(self.capped()),
            total: self.total,
            percent: self.total.map(|_| self.percent),
        }
    }
}

impl Reader for Curl {
    fn line(&mut self, line: Line<'_>, found: &mut Vec<Finding>) {
        if is_head(line.text) {
            return;
        }
        if let Some(meter) = meter(line.text) {
            self.last = Some(meter);
            found.push(meter.progress());
        } else if let Some(bytes) = sent(line.text) {
            self.sent = self.sent.saturating_add(bytes);
            found.push(Finding::Progress {
                kind: ProgressKind::Unknown,
                done: Some(self.sent),
                total: None,
                percent: None,
            });
        } else if line.text.starts_with("curl: ") {
            self.diagnostics.cause(line.text, found);
        } else if line.text.starts_with("Warning: ") {
            self.diagnostics.warning(line.text, found);
        } else {
            self.diagnostics.unknown(line);
        }
    }

    fn finish(&mut self, found: &mut Vec<Finding>) {
        if let Some(meter) = self.last.take() {
            found.push(Finding::bytes("bytes", meter.done));
            found.push(Finding::rate(meter.rate));
        }
        self.diagnostics.finish(found);
    }
}

/// What `--write-out` was told to say of a file; older ones print a fraction.
fn sent(text: &str) -> Option<u64> {
    let bytes = text.strip_prefix("sent ")?;
    bytes.split(['.', ',']).next()?.parse().ok()
}

/// The two lines above the meter.
fn is_head(text: &str) -> bool {
    text.trim_start().starts_with("% Total ") || text.trim_start().starts_with("Dload ")
}

/// `% Total % Received % Xferd Dload Upload Total Spent Left Speed`; the times may hold blanks
/// (`1d 02h`), so only the first eight columns are taken.
fn meter(text: &str) -> Option<Meter> {
    let mut columns = text.split_ascii_whitespace();
    let mut next = || columns.next();
    let percent = fraction(next()?)?.value;
    let total_text = next()?;
    let received_percent: u32 = next()?.parse().ok()?;
    let received_text = next()?;
    let sent_percent: u32 = next()?.parse().ok()?;
    let sent_text = next()?;
    let (down, up) = (bytes(next()?)?, bytes(next()?)?);
    let (total, received, sent) = (bytes(total_text)?, bytes(received_text)?, bytes(sent_text)?);
    // Times and the current speed: not used, but they make this the meter.
    if columns.clone().count() < 4 || !columns.any(|column| column.contains(':')) {
        return None;
    }
    let is_known = received_percent > 0
        || sent_percent > 0
        || (total.value > 0.0 && total_text != received_text && total_text != sent_text);
    Some(Meter {
        percent,
        total: is_known.then(|| total.whole()),
        done: Printed {
            value: received.value + sent.value,
            resolution: received.resolution.max(sent.resolution),
        },
        rate: if sent.value > received.value {
            up
        } else {
            down
        },
    })
}

fn bytes(text: &str) -> Option<Printed> {
    size(text, Base::Binary)
}

#[cfg(test)]
mod tests {
    use crate::event::ProgressKind::{Exact, Unknown};
    use crate::progress::testing::{causes, figures, progress, read, read_err};

    const HEAD: &str = "  % Total    % Received % Xferd  Average Speed   Time    Time     Time  Current\n\
                        \x20                                Dload  Upload   Total   Spent    Left  Speed\n";

    fn curl(meter: &str) -> Vec<crate::progress::Finding> {
        read_err("curl", format!("{HEAD}{meter}").as_bytes())
    }

    fn mib(text: f64) -> u64 {
        (text * 1_048_576.0) as u64
    }

    #[test]
    fn a_download() {
        let found = curl(
            "\r  0     0    0     0    0     0      0      0 --:--:-- --:--:-- --:--:--     0\
             \r  2 28.6M    2  768k    0     0  9174k      0  0:00:03 --:--:--  0:00:03 9142k\
             \r 39 28.6M   39 11.1M    0     0  9067k      0  0:00:03  0:00:01  0:00:02 9063k\
             \r100 28.6M  100 28.6M    0     0  9819k      0  0:00:02  0:00:02 --:--:-- 9817k\n",
        );
        assert_eq!(
            progress(&found),
            [
                (Unknown, Some(0), None, None),
                (Exact, Some(768 << 10), Some(mib(28.6)), Some(2.0)),
                (Exact, Some(mib(11.1)), Some(mib(28.6)), Some(39.0)),
                (Exact, Some(mib(28.6)), Some(mib(28.6)), Some(100.0)),
            ]
        );
        assert_eq!(figures(&found, "rate"), [(9819.0 * 1024.0, 1024.0)]);
        assert!(causes(&found).is_empty());
    }

    #[test]
    fn an_upload() {
        let found = curl(
            "\r 19  300M    0     0   19 58.1M      0  60.0M  0:00:04  1d 02h  0:00:04 59.9M\r",
        );
        assert_eq!(
            progress(&found),
            [(Exact, Some(mib(58.1)), Some(300 << 20), Some(19.0))]
        );
        assert!((figures(&found, "rate")[0].0 - 60.0 * 1_048_576.0).abs() < 1.0);
    }

    #[test]
    fn of_many_files_those_are_added_up_that_have_gone() {
        let found = read("curl", b"sent 700\nsent 0\nsent 300.000\nsent many\n");
        let done: Vec<_> = progress(&found).iter().map(|each| each.1).collect();
        assert_eq!(done, [Some(700), Some(700), Some(1000)]);
    }

    #[test]
    fn an_upload_with_an_answer_is_not_more_than_the_whole() {
        let found = curl(
            "\r100  300M  100    26  100  300M     24   283M  0:00:01  0:00:01 --:--:--  283M\n",
        );
        assert_eq!(
            progress(&found),
            [(Exact, Some(300 << 20), Some(300 << 20), Some(100.0))]
        );
    }

    #[test]
    fn without_a_length_100_percent_means_nothing() {
        let found = curl(
            "\r100 19.0M    0 19.0M    0     0  98.1M      0 --:--:-- --:--:-- --:--:-- 98.3M\n",
        );
        assert_eq!(progress(&found), [(Unknown, Some(mib(19.0)), None, None)]);
    }

    #[test]
    fn the_cause_stands_behind_the_meter() {
        let found = curl(
            "\r 40 47.6M   40 19.0M    0     0  81.7M      0 --:--:-- --:--:-- --:--:-- 81.5M\n\
             curl: (18) transfer closed with 30000000 bytes remaining to read\n",
        );
        assert_eq!(progress(&found)[0].3, Some(40.0));
        assert_eq!(
            causes(&found),
            ["curl: (18) transfer closed with 30000000 bytes remaining to read"]
        );
    }
}
