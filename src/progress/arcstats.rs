//! `/proc/spl/kstat/zfs/arcstats`: what ZFS keeps in memory.

use super::diagnostics::Diagnostics;
use super::{Finding, Line, Reader};
use crate::event::Stream;

/// Lines `NAME TYPE VALUE` below two of headers; sizes are bytes.
#[derive(Debug, Default)]
pub struct Arcstats {
    diagnostics: Diagnostics,
}

impl Reader for Arcstats {
    fn line(&mut self, line: Line<'_>, found: &mut Vec<Finding>) {
        let mut words = line.text.split_ascii_whitespace();
        let figure = match words.next() {
            Some("size") => "arc_size",
            Some("c") => "arc_target",
            Some("c_max") => "arc_limit",
            _ => {
                self.diagnostics.unknown(line);
                return;
            }
        };
        let bytes = words.nth(1).and_then(|value| value.parse().ok());
        if let (Some(bytes), Stream::Out) = (bytes, line.stream) {
            found.push(Finding::exact_bytes(figure, bytes));
        }
    }

    fn finish(&mut self, found: &mut Vec<Finding>) {
        self.diagnostics.finish(found);
    }
}

#[cfg(test)]
mod tests {
    use crate::progress::testing::{causes, read, read_err, whole};

    #[test]
    fn sizes_are_found_among_hundreds() {
        let found = read(
            "arcstats",
            b"13 1 0x01 123 33456 4098 887\nname                            type data\n\
              hits                            4    8123\nc                               4    400000000\n\
              c_min                           4    90000000\nc_max                           4    800000000\n\
              size                            4    176000123\n",
        );
        assert_eq!(whole(&found, "arc_size"), 176_000_123);
        assert_eq!(whole(&found, "arc_target"), 400_000_000);
        assert_eq!(whole(&found, "arc_limit"), 800_000_000);
    }

    #[test]
    fn none_there_is_said() {
        let found = read_err("arcstats", b"cat: /proc/spl: No such file or directory\n");
        assert_eq!(causes(&found).len(), 1);
    }
}
