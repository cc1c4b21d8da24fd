//! The journal on a host: what a session is about to leave there, written and synced before it is
//! made, so that recovery needs neither the operator's machine nor the recording.
//!
//! One line a JSON object: [`Entry`]. The file lies in the session's state folder.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::event::{Intended, LeaveId};
use crate::host::Host;

use super::EngineError;
use super::shell::{quote, script};

const PATIENCE: Duration = Duration::from_mins(1);

/// A line of the journal.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "state", rename_all = "kebab-case")]
pub(super) enum Entry {
    /// About to be made.
    Intended {
        /// Its id.
        leave: LeaveId,
        /// How to find and undo it.
        #[serde(flatten)]
        intended: Intended,
    },
    /// Gone again.
    Undone {
        /// Its id.
        leave: LeaveId,
    },
}

/// The journal's path in a session's state folder.
pub(super) fn path(session_dir: &str) -> String {
    format!("{session_dir}/journal")
}

impl Entry {
    /// As a line of the journal, and the end of one that broke off in a lost connection.
    pub fn line(&self) -> serde_json::Result<String> {
        Ok(format!("\n{}\n", serde_json::to_string(self)?))
    }
}

/// What is done with it, where that fails.
pub(super) fn writing(session_dir: &str) -> String {
    format!("write the journal in {session_dir} (`state` in the configuration sets another folder)")
}

/// Shell text that adds its standard input, and ends when it is on the disk.
pub(super) fn adding(session_dir: &str) -> String {
    let journal = quote(&path(session_dir));
    // `sync FILE` is GNU's; elsewhere everything is synced.
    format!("{{ umask 077; cat >>{journal} && {{ sync -- {journal} 2>/dev/null || sync; }}; }}")
}

/// Shell text that tells whether the folder `$d` was made by this user: the supervisor makes it
/// for them alone (mode 0700).
pub(super) const OURS: &str = r#"[ -d "$d" ] && [ ! -h "$d" ] && [ -O "$d" ]"#;

/// What a session's journal says is still out; nothing where there is none.
pub(super) async fn read(
    host: &dyn Host,
    session_dir: &str,
) -> Result<Vec<(LeaveId, Intended)>, EngineError> {
    let text = format!(
        r#"d={}; if {OURS} && [ -f "$d/journal" ]; then cat -- "$d/journal"; fi"#,
        quote(session_dir)
    );
    Ok(parse(
        &script(host, "read the journal", &text, PATIENCE).await?,
    ))
}

/// Reads a journal's text. A cut last line was never acted on, and is left out.
pub(super) fn parse(text: &str) -> Vec<(LeaveId, Intended)> {
    let mut open: Vec<(LeaveId, Intended)> = Vec::new();
    for line in text.lines() {
        match serde_json::from_str(line) {
            Ok(Entry::Intended { leave, intended }) => open.push((leave, intended)),
            Ok(Entry::Undone { leave }) => open.retain(|(known, _)| *known != leave),
            Err(_) => {}
        }
    }
    open
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::LeaveKind;

    fn intended(name: &str) -> Intended {
        Intended {
            run: "r1".into(),
            step: "s1".into(),
            host: "local".into(),
            name: name.into(),
            kind: LeaveKind::Copy,
            find: "echo 'a\nb'".into(),
            undo: "rm \"$found\"".into(),
            back: None,
        }
    }

    #[test]
    fn what_was_undone_is_no_longer_open() {
        let lines = [
            Entry::Intended {
                leave: "l1".into(),
                intended: intended("a"),
            },
            Entry::Intended {
                leave: "l2".into(),
                intended: intended("b"),
            },
            Entry::Undone { leave: "l1".into() },
        ]
        .map(|entry| serde_json::to_string(&entry).unwrap());
        let text = format!("{}\n{{\"state\":\"inten", lines.join("\n"));
        let open = parse(&text);
        assert_eq!(open.len(), 1);
        assert_eq!(open[0], ("l2".into(), intended("b")));
    }
}
