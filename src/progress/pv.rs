//! `pv -n -b`: the byte counter in a pipe.

use super::diagnostics::Diagnostics;
use super::{Finding, Line, Reader};
use crate::event::{ProgressKind, Stream};

/// One count of bytes a line on standard error (with `-t` behind the seconds), the last one
/// at the end.
#[derive(Debug, Default)]
pub struct Pv {
    counter: Counter,
    diagnostics: Diagnostics,
}

/// What pv counts, also where it stands in a pipe of other tools.
#[derive(Debug, Default)]
pub struct Counter {
    last: Option<u64>,
}

impl Counter {
    /// Whether the line is a count; then it is progress.
    pub fn line(&mut self, line: Line<'_>, found: &mut Vec<Finding>) -> bool {
        let Some(done) = count(line) else {
            return false;
        };
        self.last = Some(done);
        found.push(Finding::Progress {
            kind: ProgressKind::Unknown,
            done: Some(done),
            total: None,
            percent: None,
        });
        true
    }

    /// Whether there was a count.
    pub fn has_counted(&self) -> bool {
        self.last.is_some()
    }

    /// The last count is the figure `bytes`.
    pub fn finish(&self, found: &mut Vec<Finding>) {
        found.extend(self.last.map(|bytes| Finding::exact_bytes("bytes", bytes)));
    }
}

impl Reader for Pv {
    fn line(&mut self, line: Line<'_>, found: &mut Vec<Finding>) {
        if self.counter.line(line, found) {
            // It was a count.
        } else if line.text.starts_with("pv: ") {
            self.diagnostics.cause(line.text, found);
        } else {
            self.diagnostics.unknown(line);
        }
    }

    fn finish(&mut self, found: &mut Vec<Finding>) {
        self.counter.finish(found);
        self.diagnostics.finish(found);
    }
}

fn count(line: Line<'_>) -> Option<u64> {
    let mut words = line.text.split_ascii_whitespace();
    let first = words.next().filter(|_| line.stream == Stream::Err)?;
    let bytes = match (words.next(), words.next()) {
        (None, _) => first,
        (Some(second), None) if first.parse::<f64>().is_ok() => second,
        _ => return None,
    };
    let digits = bytes.bytes().all(|b| b.is_ascii_digit());
    digits.then(|| bytes.parse().ok())?
}

#[cfg(test)]
mod tests {
    use crate::progress::testing::{causes, figures, progress, read, read_err};

    #[test]
    fn one_count_a_line() {
        let found = read_err("pv", b"78643200\n157286400\n209715200\n");
        let done: Vec<_> = progress(&found).iter().filter_map(|p| p.1).collect();
        assert_eq!(done, [78_643_200, 157_286_400, 209_715_200]);
        assert_eq!(figures(&found, "bytes"), [(209_715_200.0, 1.0)]);
        assert!(causes(&found).is_empty());
    }

    #[test]
    fn seconds_in_front_and_messages_between() {
        let found = read_err(
            "pv",
            b"0.5012 1024\nzfs: cannot go on\n1.0021 2048\n99999999999999999999999\n-5\n",
        );
        let done: Vec<_> = progress(&found).iter().filter_map(|p| p.1).collect();
        assert_eq!(done, [1024, 2048]);
        let found = read_err("pv", b"512\npv: disk.img: Input/output error\n1024\n");
        assert_eq!(causes(&found), ["pv: disk.img: Input/output error"]);
        assert_eq!(figures(&found, "bytes"), [(1024.0, 1.0)]);
    }

    #[test]
    fn what_goes_through_it_is_not_counted() {
        assert!(progress(&read("pv", b"12345\n")).is_empty());
    }
}
