//! Any tool that has no reader of its own.

use super::diagnostics::Diagnostics;
use super::{Finding, Line, Reader};

/// Finds nothing but a weak cause: the last line of standard error.
#[derive(Debug, Default)]
pub struct Plain {
    diagnostics: Diagnostics,
}

impl Reader for Plain {
    fn line(&mut self, line: Line<'_>, _: &mut Vec<Finding>) {
        self.diagnostics.unknown(line);
    }

    fn finish(&mut self, found: &mut Vec<Finding>) {
        self.diagnostics.finish(found);
    }
}

#[cfg(test)]
mod tests {
    use crate::progress::Finding;
    use crate::progress::testing::{read, read_err};

    #[test]
    fn the_last_line_of_stderr_is_a_weak_cause() {
        assert_eq!(
            read_err("plain", b"note\nsh: 1: frob: not found\n\n"),
            [Finding::Cause("sh: 1: frob: not found".into())]
        );
    }

    #[test]
    fn stdout_is_no_cause() {
        assert_eq!(read("plain", b"all is lost\n"), []);
    }

    #[test]
    fn what_is_overwritten_is_no_cause() {
        assert_eq!(
            read_err("plain", b"no such disk\n 12 %\r 13 %\r"),
            [Finding::Cause("no such disk".into())]
        );
    }
}
