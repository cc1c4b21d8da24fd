//! `lftp`, with `set cmd:verbose yes`.

use super::diagnostics::Diagnostics;
use super::numbers::Printed;
use super::pattern::pattern;
use super::sizes::{Base, size};
use super::{Finding, Line, Reader};

/// Without a terminal there is no progress, only a line at the end of each transfer.
#[derive(Debug, Default)]
pub struct Lftp {
    transfers: u32,
    bytes: u64,
    seconds: u64,
    rate: Option<Printed>,
    diagnostics: Diagnostics,
}

impl Reader for Lftp {
    fn line(&mut self, line: Line<'_>, found: &mut Vec<Finding>) {
        let text = line.text;
        if self.transfer(text) || text.starts_with("Transferring file ") {
        } else if text.starts_with("chmod: ") {
            // An anonymous server refuses it; the files are there.
            self.diagnostics.warning(text, found);
            self.diagnostics.consequence(text);
        } else if pattern!(r"^[a-z]+: (?:Access failed: |Fatal error: |Login failed|.*: No such file|.*[Nn]o space left)")
            .is_match(text)
        {
            self.diagnostics.cause(text, found);
        } else {
            self.diagnostics.unknown(line);
        }
    }

    fn finish(&mut self, found: &mut Vec<Finding>) {
        if self.transfers > 0 {
            found.push(Finding::exact_bytes("bytes", self.bytes));
            // Each time is cut to whole seconds; a rate is of one transfer.
            found.push(Finding::seconds(
                "copy",
                Printed {
                    value: self.seconds as f64,
                    resolution: f64::from(self.transfers),
                },
            ));
            found.extend(self.rate.filter(|_| self.transfers == 1).map(Finding::rate));
        }
        self.diagnostics.finish(found);
    }
}

impl Lftp {
    /// 314572800 bytes transferred in 2 seconds (156.71 MiB/s)
    fn transfer(&mut self, text: &str) -> bool {
        let shape = pattern!(r"^(\d+) bytes? transferred(?: in (\d+) seconds?)?(?: \(([^)]+)\))?$");
        let Some(captures) = shape.captures(text) else {
            return false;
        };
        let part = |n| captures.get(n).map(|part| part.as_str());
        let number = |n| part(n).and_then(|text| text.parse::<u64>().ok());
        self.transfers = self.transfers.saturating_add(1);
        self.bytes = self.bytes.saturating_add(number(1).unwrap_or(0));
        self.seconds = self.seconds.saturating_add(number(2).unwrap_or(0));
        self.rate = part(3).and_then(|text| size(text, Base::Binary));
        true
    }
}

#[cfg(test)]
mod tests {
    use crate::progress::testing::{causes, figures, read, read_err, warnings};

    #[test]
    fn one_transfer() {
        let found = read(
            "lftp",
            b"209715200 bytes transferred in 2 seconds (100.00 MiB/s)\n",
        );
        assert_eq!(figures(&found, "bytes"), [(209_715_200.0, 1.0)]);
        assert_eq!(figures(&found, "copy"), [(2.0, 1.0)]);
        assert!((figures(&found, "rate")[0].0 - 104_857_600.0).abs() < 1.0);
    }

    #[test]
    fn several_are_added_up() {
        let found = read(
            "lftp",
            b"1048576 bytes transferred\n3145728 bytes transferred in 1 second (3.00M/s)\n",
        );
        assert_eq!(figures(&found, "bytes"), [(4_194_304.0, 1.0)]);
        assert_eq!(figures(&found, "copy"), [(1.0, 2.0)]);
        assert!(figures(&found, "rate").is_empty());
    }

    #[test]
    fn nothing_is_no_figure() {
        assert_eq!(read("lftp", b"Transferring file `a'\n"), []);
    }

    #[test]
    fn causes_and_what_a_server_refuses() {
        let found = read_err(
            "lftp",
            b"chmod: Access failed: 550 Permission denied. (./a)\n\
              get: Access failed: 550 Failed to open file. (up/none)\n",
        );
        assert_eq!(
            causes(&found),
            ["get: Access failed: 550 Failed to open file. (up/none)"]
        );
        assert_eq!(warnings(&found).len(), 1);
        let found = read_err(
            "lftp",
            b"chmod: Access failed: 550 Permission denied. (./a)\n",
        );
        assert_eq!(causes(&found).len(), 1);
        let found = read_err("lftp", b"open: Fatal error: max-retries exceeded\n");
        assert_eq!(causes(&found).len(), 1);
    }
}
