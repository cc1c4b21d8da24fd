//! What steps leave: written down before it is made, looked for after, and undone in reverse.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::event::{Intended, Leave, LeaveId, LeaveKind, LeaveState, RunId, StepId, What};
use crate::host::{Exit, Host, ask_again};
use crate::method::{FOUND, Leaves};

use super::EngineError;
use super::journal::{self, Entry};
use super::preview::Filling;
use super::shared::Shared;
use super::shell::{quote, reason, script, text_of};
use super::teller::Teller;
use super::undo::take_away;

/// How long a look may take.
pub(super) const LOOK: Duration = Duration::from_mins(2);

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
    script(host, "look for what was left", find, LOOK).await
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

/// Shell text: `there` prints what `find` does. What that does to its shell stays within.
pub(super) fn finder(find: &str) -> String {
    format!("there() (\n{find}\n)\n")
}

/// Adds the line to the host's journal, unless something is there: one command.
async fn note_or_find(
    host: &dyn Host,
    session_dir: &str,
    entry: &Entry,
    intended: &Intended,
) -> Result<(), EngineError> {
    let text = format!(
        "{}{FOUND}=$(there </dev/null)\nlooked=$?\n[ $looked -eq 0 ] || exit $looked\necho looked\n\
         if [ -n \"${FOUND}\" ]; then printf '%s\\n' \"${FOUND}\"; else {}; fi\n",
        finder(&intended.find),
        journal::adding(session_dir),
    );
    let answer = ask_again(host, &text, entry.line().as_bytes(), 64 << 20, LOOK).await?;
    let said = text_of(&answer.out);
    let (what, why) = match said.strip_prefix("looked") {
        None => ("look for what was left".to_owned(), reason(&answer)),
        Some("") if answer.exit == Exit::Code(0) => return Ok(()),
        Some("") => (journal::writing(session_dir), reason(&answer)),
        Some(there) => {
            return Err(EngineError::Refused(format!(
                "{}: {} is there already; comeback acts only on what it made",
                host.name(),
                there.trim_start().lines().next().unwrap_or_default()
            )));
        }
    };
    Err(EngineError::Script {
        host: host.name().to_owned(),
        what,
        why,
    })
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

/// How the subject is brought back from what was found; nothing where it is there.
pub(super) async fn way_back(
    host: &dyn Host,
    intended: &Intended,
    found: &str,
) -> Result<String, EngineError> {
    let Some(back) = &intended.back else {
        return Ok(String::new());
    };
    let text = format!("{FOUND}={}\n{back}", quote(found));
    let said = script(host, "look whether it has to be brought back", &text, LOOK).await?;
    Ok(said.split_whitespace().collect::<Vec<_>>().join(" "))
}

/// Says that it is gone.
pub(super) fn gone(teller: &Teller, left: &mut Open) {
    left.undone = true;
    teller.tell(What::Leave(Leave {
        leave: left.id.clone(),
        state: LeaveState::Undone,
    }));
}

/// Whether what others stand on is no longer there: a restart of the host takes mounts, loop devices
/// and pools with it. The journal still names it: what is in vain there is looked for once more. A
/// copy that is not seen may be within what is kept.
async fn went_by_itself(shared: &Shared, host: &dyn Host, left: &Open) -> bool {
    left.intended.kind == LeaveKind::Sandbox
        && shared.reach(host.name()).await.is_ok()
        && matches!(look(host, &left.intended.find).await, Ok(found) if found.is_empty())
}

/// The way back, behind why something is kept.
async fn told_back(host: &dyn Host, left: &Open) -> String {
    let found = left.found.as_deref().unwrap_or_default();
    match way_back(host, &left.intended, found).await {
        Ok(back) if !back.is_empty() && !found.is_empty() => format!("; bring it back: {back}"),
        _ => String::new(),
    }
}

/// Undoes in reverse. With `keep`, what may hold data stays, and why is said. Where something
/// cannot be taken away, what was made before it stays as well: it may stand on it.
pub(super) async fn unwind(shared: &Shared, open: &mut [Open], keep: Option<&str>) {
    let teller = &shared.teller;
    let mut keep = keep.map(ToOwned::to_owned);
    // A host that is gone is looked for once, not for each thing on it.
    let mut unreached: BTreeMap<String, String> = BTreeMap::new();
    for left in open.iter_mut().rev().filter(|left| !left.undone) {
        let kept = |why: String| {
            teller.tell(What::Leave(Leave {
                leave: left.id.clone(),
                state: LeaveState::Kept { why },
            }));
        };
        let name = &left.intended.host;
        let Some(connected) = shared.hosts.get(name) else {
            continue;
        };
        let host = connected.host.as_ref();
        if let Some(why) = &keep
            && left.intended.kind.holds_data()
        {
            if went_by_itself(shared, host, left).await {
                gone(teller, left);
            } else {
                kept(why.clone() + &told_back(host, left).await);
            }
            continue;
        }
        let away = match unreached.get(name) {
            Some(why) => Err(why.clone()),
            None => shared.reach(name).await,
        };
        if let Err(why) = away {
            kept(why.clone());
            keep = Some(format!("{} is still there", left.intended.name));
            unreached.insert(name.clone(), why);
            continue;
        }
        let dir = shared.session_dir(name);
        match take_away(host, &dir, &left.id, &left.intended).await {
            Ok(()) => gone(teller, left),
            Err(why) => {
                shared.lost_by(name, &why);
                kept(why.to_string());
                keep = Some(format!("{} is still there", left.intended.name));
            }
        }
    }
}
