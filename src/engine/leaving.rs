//! What steps leave: written down before it is made, and looked for after.

use std::time::Duration;

use crate::event::{Intended, Leave, LeaveId, LeaveKind, LeaveState, RunId, StepId, What};
use crate::host::{Exit, Host, ask_again};
use crate::method::{FOUND, Leaves};

use super::EngineError;
use super::journal::{self, Entry};
use super::preview::Filling;
use super::shell::{LIMIT, reason, script, text_of};
use super::teller::Teller;

/// How long a look may take.
pub(super) const LOOK: Duration = Duration::from_mins(2);
/// What is done with it, where that fails.
pub(super) const LOOKING: &str = "look for what was left";

/// Something that a run has left, or is about to.
#[derive(Debug, Clone)]
pub(super) struct Open {
    pub id: LeaveId,
    pub intended: Intended,
    /// Its step ended well: what is there is whole.
    pub finished: bool,
    /// What `find` printed after the step.
    pub found: Option<String>,
    pub undone: bool,
}

impl Open {
    /// Whether it is a whole copy.
    pub fn is_copy(&self) -> bool {
        self.finished && !self.undone && self.intended.kind == LeaveKind::Copy
    }
}

/// What `find` prints, or nothing.
pub(super) async fn look(host: &dyn Host, find: &str) -> Result<String, EngineError> {
    script(host, LOOKING, find, LOOK).await
}

/// Fills in what a step leaves.
pub(super) fn intended(
    leaves: &Leaves,
    filling: &Filling<'_>,
    run: &RunId,
    step: &StepId,
    undo_filling: &Filling<'_>,
) -> Result<Intended, EngineError> {
    Ok(Intended {
        run: run.clone(),
        step: step.clone(),
        host: filling.bound.host(&filling.step.step.on).to_owned(),
        name: leaves.id.clone(),
        kind: leaves.kind,
        find: filling.shell(&leaves.find)?,
        undo: undo_filling.shell(&leaves.undo)?,
        back: match &leaves.back {
            Some(back) => Some(undo_filling.shell(back)?),
            None => None,
        },
    })
}

/// Writes down what is about to be made: here, and in the journal on the host. Nothing is made
/// before both are on disk.
///
/// # Errors
/// Where something is there already (it is not ours), or one of the two cannot be written.
pub(super) async fn announce(
    teller: &Teller,
    host: &dyn Host,
    session_dir: &str,
    intended: Intended,
) -> Result<Open, EngineError> {
    let id = teller.leave_id();
    let entry = Entry::Intended {
        leave: id.clone(),
        intended: intended.clone(),
    };
    note_or_find(host, session_dir, &entry, &intended).await?;
    teller.tell(What::Leave(Leave {
        leave: id.clone(),
        state: LeaveState::Intended(intended.clone()),
    }));
    teller.commit().await?;
    Ok(Open {
        id,
        intended,
        finished: false,
        found: None,
        undone: false,
    })
}

/// Shell text: `$found` is what `find` prints. What that does to its shell stays within; where it fails, so
/// does the script. `there` looks again.
pub(super) fn finding(find: &str) -> String {
    format!(
        "there() (\n{find}\n)\n{FOUND}=$(there </dev/null)\nstatus=$?\n[ $status -eq 0 ] || exit $status\n"
    )
}

/// Adds the line to the host's journal, unless something is there: one command.
async fn note_or_find(
    host: &dyn Host,
    session_dir: &str,
    entry: &Entry,
    intended: &Intended,
) -> Result<(), EngineError> {
    let failed = |what, why| EngineError::Script {
        host: host.name().to_owned(),
        what,
        why,
    };
    let line = entry
        .line()
        .map_err(|why| failed(journal::writing(session_dir), why.to_string()))?;
    let text = format!(
        "{}echo looked\nif [ -n \"${FOUND}\" ]; then printf '%s\\n' \"${FOUND}\"; else {}; fi\n",
        finding(&intended.find),
        journal::adding(session_dir),
    );
    let answer = ask_again(host, &text, line.as_bytes(), LIMIT, LOOK).await?;
    let said = text_of(&answer.out);
    match said.strip_prefix("looked") {
        None => Err(failed(LOOKING.to_owned(), reason(&answer))),
        Some("") if answer.exit == Exit::Code(0) => Ok(()),
        Some("") => Err(failed(journal::writing(session_dir), reason(&answer))),
        Some(there) => Err(EngineError::Refused(format!(
            "{}: {} is there already; comeback acts only on what it made",
            host.name(),
            there.trim_start().lines().next().unwrap_or_default()
        ))),
    }
}

/// Looks whether it is there now, and says so.
pub(super) async fn settle(
    teller: &Teller,
    host: &dyn Host,
    open: &mut Open,
) -> Result<(), EngineError> {
    let found = look(host, &open.intended.find).await?;
    if !found.is_empty() {
        let state = LeaveState::Found {
            found: found.clone(),
        };
        teller.tell(What::Leave(Leave {
            leave: open.id.clone(),
            state,
        }));
        open.found = Some(found);
    }
    Ok(())
}
