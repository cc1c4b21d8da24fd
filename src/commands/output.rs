//! Standard output is data, standard error is talk.

use std::io::{ErrorKind, Write};

use super::CommandError;

/// Writes data. A reader that has gone away is no error.
///
/// # Errors
/// Where standard output cannot be written otherwise.
pub(super) fn data(text: &str) -> Result<(), CommandError> {
    let mut out = std::io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(why) if why.kind() != ErrorKind::BrokenPipe => {
            Err(CommandError::Terminal(format!("standard output: {why}")))
        }
        _ => Ok(()),
    }
}

/// Talks. Nobody may be listening.
pub(super) fn talk(text: &str) {
    let clean: String = text
        .chars()
        .filter(|c| !c.is_control() || *c == '\n')
        .collect();
    let _ = writeln!(std::io::stderr().lock(), "{clean}");
}
