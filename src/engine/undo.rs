//! What was left, undone in reverse: found, taken away, looked for again and crossed off the journal by one
//! command, because each of several may have a long way.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::event::{Intended, Leave, LeaveId, LeaveKind, LeaveState, What};
use crate::host::{Answer, Exit, Host, ask_again};
use crate::method::FOUND;

use super::EngineError;
use super::journal::{self, Entry};
use super::leaving::{LOOK, LOOKING, Open, finding, look};
use super::shared::Shared;
use super::shell::{LIMIT, quote, reason, script, text_of};
use super::teller::Teller;

/// How long taking something away may take: a big tree is many files.
const AWAY: Duration = Duration::from_hours(4);

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
    let why = match left(&answer) {
        Some(there) if there.is_empty() => return Ok(()),
        Some(there) => format!("{there} is still there"),
        None => reason(&answer),
    };
    Err(EngineError::Script {
        host: host.name().to_owned(),
        what: format!("take {} away", intended.name),
        why,
    })
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
        None => Err(EngineError::Script {
            host: host.name().to_owned(),
            what: LOOKING.to_owned(),
            why: reason(&answer),
        }),
    }
}

/// Shell text that prints what is there after `undo`, which has the status. What is not is crossed off
/// the journal; an entry too many is looked for in vain by a recovery.
fn crossing_off(session_dir: &str, leave: &LeaveId, intended: &Intended, undo: &str) -> String {
    let entry = Entry::Undone {
        leave: leave.clone(),
    };
    format!(
        "{}{undo}if [ -n \"${FOUND}\" ]; then printf '%s\\n' \"${FOUND}\"; exit $status; fi\n\
         printf %s {} | {} || :\n",
        finding(&intended.find),
        quote(&entry.line().unwrap_or_default()),
        journal::adding(session_dir),
    )
}

/// What is there, where the command tells.
fn left(answer: &Answer) -> Option<String> {
    (answer.exit == Exit::Code(0) && answer.out.len() < LIMIT).then(|| text_of(&answer.out))
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
