//! What a tool complains about: warnings, causes, and what only follows from a cause.

use super::{Finding, Line};
use crate::event::Stream;

/// Most distinct warnings and causes that are told: the log holds the rest.
const MOST: usize = 32;

/// Tells each complaint once, the root cause before what follows from it.
///
/// A tool that fails often says so several times, and the loudest line is rarely the one that
/// helps: a member of a pipe says "Broken pipe" because another one died. So a consequence
/// and the last line of standard error are told at the end, and only where nothing better is
/// known.
#[derive(Debug, Default)]
pub struct Diagnostics {
    warnings: Vec<String>,
    causes: Vec<String>,
    consequence: Option<String>,
    last: Option<String>,
}

impl Diagnostics {
    /// The tool warns.
    pub fn warning(&mut self, text: &str, found: &mut Vec<Finding>) {
        let text = clean(text);
        if is_news(&mut self.warnings, &text) {
            found.push(Finding::Warning(text));
        }
    }

    /// The tool says why it fails.
    pub fn cause(&mut self, text: &str, found: &mut Vec<Finding>) {
        if follows(text) {
            self.consequence(text);
            return;
        }
        let text = clean(text);
        if is_news(&mut self.causes, &text) {
            found.push(Finding::Cause(text));
        }
    }

    /// The tool says that it failed, but not why: the first of these counts.
    pub fn consequence(&mut self, text: &str) {
        if self.consequence.is_none() {
            self.consequence = Some(clean(text)).filter(|text| !text.is_empty());
        }
    }

    /// A line that says nothing known: the last one on standard error is better than nothing.
    pub fn unknown(&mut self, line: Line<'_>) {
        if line.stream == Stream::Err && !line.rewritten && !is_noise(line.text) {
            self.last = Some(clean(line.text));
        }
    }

    /// The output is over.
    pub fn finish(&mut self, found: &mut Vec<Finding>) {
        let weak = self.consequence.take().or_else(|| self.last.take());
        if let Some(text) = weak.filter(|_| self.causes.is_empty()) {
            self.causes.push(text.clone());
            found.push(Finding::Cause(text));
        }
    }
}

/// What dies because another member of its pipe did.
fn follows(text: &str) -> bool {
    ["Broken pipe", "broken pipe", "signal received", "SIGPIPE"]
        .iter()
        .any(|sign| text.contains(sign))
}

/// What is no message at all: blank lines, and what Perl and shells say about a locale that
/// this host does not have.
fn is_noise(text: &str) -> bool {
    let text = text.trim();
    text.is_empty()
        || text.starts_with("perl: warning:")
        || text.starts_with("LANGUAGE = ")
        || text.starts_with("LC_")
        || text.starts_with("LANG = ")
        || text == "are supported and installed on your system."
        || text.contains("setlocale: ")
}

/// One line that may be shown: a tab would be the last control character in it.
fn clean(text: &str) -> String {
    text.trim().replace('\t', " ")
}

fn is_news(told: &mut Vec<String>, text: &str) -> bool {
    let news = !text.is_empty() && told.len() < MOST && told.iter().all(|old| old != text);
    if news {
        told.push(text.to_owned());
    }
    news
}

/// Whether the `ssh` below a tool says why there is no connection.
#[must_use]
pub fn is_ssh_cause(text: &str) -> bool {
    text.starts_with("ssh: ")
        || text.starts_with("Host key verification failed")
        || text.starts_with("kex_exchange_identification:")
        || text.contains("Permission denied (")
        || text.starts_with("Unable to negotiate with ")
}

/// Whether `ssh` only says that it will not ask about this host again.
#[must_use]
pub fn is_ssh_talk(text: &str) -> bool {
    text.starts_with("Warning: Permanently added ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(text: &str) -> Line<'_> {
        Line {
            stream: Stream::Err,
            text,
            rewritten: false,
        }
    }

    #[test]
    fn a_complaint_is_told_once() {
        let mut found = Vec::new();
        let mut diagnostics = Diagnostics::default();
        diagnostics.cause(" disk\tfull ", &mut found);
        diagnostics.cause("disk full", &mut found);
        diagnostics.warning("late", &mut found);
        diagnostics.warning("late", &mut found);
        diagnostics.finish(&mut found);
        assert_eq!(
            found,
            [
                Finding::Cause("disk full".into()),
                Finding::Warning("late".into())
            ]
        );
    }

    #[test]
    fn a_consequence_waits_for_the_cause() {
        let mut found = Vec::new();
        let mut diagnostics = Diagnostics::default();
        diagnostics.cause("gzip: stdout: Broken pipe", &mut found);
        assert_eq!(found, []);
        diagnostics.cause("no space left", &mut found);
        diagnostics.finish(&mut found);
        assert_eq!(found, [Finding::Cause("no space left".into())]);
    }

    #[test]
    fn without_a_cause_the_first_consequence_counts_then_the_last_line() {
        let mut found = Vec::new();
        let mut diagnostics = Diagnostics::default();
        diagnostics.unknown(line("something"));
        diagnostics.unknown(line("went wrong"));
        diagnostics.unknown(line("  "));
        diagnostics.unknown(line("perl: warning: Setting locale failed."));
        diagnostics.unknown(line("    are supported and installed on your system."));
        diagnostics.finish(&mut found);
        assert_eq!(found, [Finding::Cause("went wrong".into())]);

        found.clear();
        diagnostics = Diagnostics::default();
        diagnostics.consequence("exiting");
        diagnostics.consequence("exit code 2");
        diagnostics.unknown(line("bye"));
        diagnostics.finish(&mut found);
        assert_eq!(found, [Finding::Cause("exiting".into())]);
    }

    #[test]
    fn a_flood_of_complaints_is_bounded() {
        let mut found = Vec::new();
        let mut diagnostics = Diagnostics::default();
        for n in 0..10_000 {
            diagnostics.cause(&format!("cause {n}"), &mut found);
            diagnostics.warning(&format!("warning {n}"), &mut found);
        }
        assert_eq!(found.len(), 2 * MOST);
    }
}
