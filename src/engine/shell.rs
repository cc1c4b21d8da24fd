//! Small scripts: looking, counting, taking away.

use std::time::Duration;

use crate::host::{Answer, Exit, Host, ask_again};

use super::EngineError;

/// What a small script may say at most; who says more is not believed in part.
pub(super) const LIMIT: usize = 64 << 20;

/// Runs a small script, which may be run twice, and gives what it printed, without the last line end.
///
/// # Errors
/// Where the host is lost, or the script ends with another status than 0.
pub(super) async fn script(
    host: &dyn Host,
    what: &str,
    text: &str,
    patience: Duration,
) -> Result<String, EngineError> {
    let answer = ask_again(host, text, b"", LIMIT, patience).await?;
    if answer.exit == Exit::Code(0) && answer.out.len() < LIMIT {
        return Ok(text_of(&answer.out));
    }
    Err(EngineError::Script {
        host: host.name().to_owned(),
        what: what.to_owned(),
        why: reason(&answer),
    })
}

/// Bytes as text, without the last line end.
pub(super) fn text_of(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    text.strip_suffix('\n').unwrap_or(&text).to_owned()
}

/// Why a script failed: its last words, else how it ended.
pub(super) fn reason(answer: &Answer) -> String {
    let said = String::from_utf8_lossy(&answer.err);
    let last = said.lines().rev().find(|line| !line.trim().is_empty());
    match (&answer.exit, last) {
        (_, Some(line)) => line.trim().to_owned(),
        (Exit::Code(code), None) => format!("it ended with status {code}"),
        (Exit::Signal(signal), None) => format!("it was ended by signal {signal}"),
        (Exit::Unknown, None) => "its status is not known".to_owned(),
    }
}

/// Quotes a word for a POSIX shell. A NUL, which no shell can take, is left out.
pub(super) fn quote(word: &str) -> String {
    let clean = word.replace('\0', "");
    shlex::try_quote(&clean).map_or_else(|_| String::from("''"), std::borrow::Cow::into_owned)
}
