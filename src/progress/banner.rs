//! Whoever waits for a server's first line, and prints it: SSH's begins so by RFC 4253.

use super::diagnostics::Diagnostics;
use super::{Finding, Line, Reader};

/// The moment of the line; or why there is none.
#[derive(Debug, Default)]
pub struct Banner {
    diagnostics: Diagnostics,
}

impl Reader for Banner {
    fn line(&mut self, line: Line<'_>, found: &mut Vec<Finding>) {
        if line.text.starts_with("SSH-") {
            found.push(Finding::mark("banner"));
        } else if line.text.starts_with("not available, because ") {
            found.push(Finding::Says(line.text.replace('\t', " ")));
        } else {
            self.diagnostics.unknown(line);
        }
    }

    fn finish(&mut self, found: &mut Vec<Finding>) {
        self.diagnostics.finish(found);
    }
}

#[cfg(test)]
mod tests {
    use crate::progress::Finding;
    use crate::progress::testing::{marks, read};

    #[test]
    fn a_banner_is_a_moment() {
        let found = read("banner", b"SSH-2.0-OpenSSH_9.2p1 Debian-2+deb12u3\n");
        assert_eq!(marks(&found), [("banner", None)]);
    }

    #[test]
    fn none_is_none() {
        let why = "not available, because no network card of the guest is plugged in";
        let found = read("banner", format!("{why}\n").as_bytes());
        assert_eq!(found, [Finding::Says(why.into())]);
    }
}
