//! Taking away what was left: found, undone, looked for again and crossed off the journal by one
//! command, because each of several may have a long way.

use std::time::Duration;

use crate::event::{Intended, LeaveId};
use crate::host::{Answer, Exit, Host, ask_again};
use crate::method::FOUND;

use super::EngineError;
use super::journal::{self, Entry};
use super::leaving::{LOOK, finder, look, way_back};
use super::shell::{quote, reason, text_of};

/// How long taking something away may take: a big tree is many files.
const AWAY: Duration = Duration::from_hours(4);
/// How much a look may say.
const LIMIT: usize = 64 << 20;

/// Takes it away; twice in a row does no harm.
///
/// # Errors
/// Where the host is lost, the subject has to be brought back from it first, or it is still there
/// afterwards.
pub(super) async fn take_away(
    host: &dyn Host,
    session_dir: &str,
    leave: &LeaveId,
    intended: &Intended,
) -> Result<(), EngineError> {
    if intended.back.is_some() {
        let found = look(host, &intended.find).await?;
        if !found.is_empty() {
            let back = way_back(host, intended, &found).await?;
            if !back.is_empty() {
                return Err(EngineError::Refused(format!(
                    "what it is a copy of is not known to be back; first: {back}"
                )));
            }
        }
    }
    // A subshell in which `set -e` counts: not behind `if` or before `||`.
    let undo = format!(
        "if [ -n \"${FOUND}\" ]; then\n(\n{}\n) >&2\nstatus=$?\n{FOUND}=$(there 2>/dev/null)\nlooked=$?\n\
         if [ $looked -ne 0 ]; then there >/dev/null; exit $looked; fi\nfi\n",
        intended.undo
    );
    let text = crossing_off(session_dir, leave, intended, &undo);
    let answer = ask_again(host, &text, b"", LIMIT, AWAY).await?;
    match left(&answer) {
        Some(there) if there.is_empty() => Ok(()),
        Some(there) => Err(failed(host, intended, format!("{there} is still there"))),
        None => Err(failed(host, intended, reason(&answer))),
    }
}

/// Whether it is there no longer: a step took it away, or it went by itself.
///
/// # Errors
/// Where the host is lost, or nobody can tell.
pub(super) async fn is_gone(
    host: &dyn Host,
    session_dir: &str,
    leave: &LeaveId,
    intended: &Intended,
) -> Result<bool, EngineError> {
    let text = crossing_off(session_dir, leave, intended, "");
    let answer = ask_again(host, &text, b"", LIMIT, LOOK).await?;
    match left(&answer) {
        Some(there) => Ok(there.is_empty()),
        None => Err(failed(host, intended, reason(&answer))),
    }
}

/// Shell text that prints what is there after `undo`, which has the status. What is not is crossed off
/// the journal; an entry too many is looked for in vain by a recovery.
fn crossing_off(session_dir: &str, leave: &LeaveId, intended: &Intended, undo: &str) -> String {
    let entry = Entry::Undone {
        leave: leave.clone(),
    };
    format!(
        "{}{FOUND}=$(there)\nstatus=$?\n[ $status -eq 0 ] || exit $status\n{undo}\
         if [ -n \"${FOUND}\" ]; then printf '%s\\n' \"${FOUND}\"; exit $status; fi\n\
         printf %s {} | {} || :\n",
        finder(&intended.find),
        quote(&entry.line()),
        journal::adding(session_dir),
    )
}

/// What is there, where the command tells.
fn left(answer: &Answer) -> Option<String> {
    (answer.exit == Exit::Code(0) && answer.out.len() < LIMIT).then(|| text_of(&answer.out))
}

fn failed(host: &dyn Host, intended: &Intended, why: String) -> EngineError {
    EngineError::Script {
        host: host.name().to_owned(),
        what: format!("take {} away", intended.name),
        why,
    }
}
