//! `scp` and `sftp -b`: without a terminal they say nothing but why they fail.

use super::diagnostics::{Diagnostics, is_ssh_cause, is_ssh_talk};
use super::{Finding, Line, Reader};

/// Finds causes; progress has to come from the target's size.
#[derive(Debug, Default)]
pub struct Scp {
    diagnostics: Diagnostics,
}

impl Reader for Scp {
    fn line(&mut self, line: Line<'_>, found: &mut Vec<Finding>) {
        let text = line.text;
        if is_ssh_talk(text) {
            return;
        }
        if text.starts_with("scp: ") || text.starts_with("stat ") || is_ssh_cause(text) {
            self.diagnostics.cause(text, found);
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
    use crate::progress::testing::{causes, read_err};

    #[test]
    fn the_first_message_is_the_cause() {
        let found = read_err(
            "scp",
            b"Warning: Permanently added 'h' (ED25519) to the list of known hosts.\r\n\
              scp: dest open \"/x/\": No such file or directory\r\n\
              scp: failed to upload file /a to /x/\r\n",
        );
        assert_eq!(
            causes(&found)[0],
            "scp: dest open \"/x/\": No such file or directory"
        );
    }

    #[test]
    fn no_connection() {
        let found = read_err(
            "scp",
            b"ssh: connect to host 192.0.2.7 port 22: Connection refused\r\nlost connection\n",
        );
        assert_eq!(
            causes(&found),
            ["ssh: connect to host 192.0.2.7 port 22: Connection refused"]
        );
        let found = read_err("scp", b"lost connection\n");
        assert_eq!(causes(&found), ["lost connection"]);
    }
}
