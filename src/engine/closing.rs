//! A host given back at the end of its queue: locks, the sign that the session lives, and the
//! session's folder.

use std::time::Duration;

use tokio::time::timeout;

use crate::event::{Level, Lock, LockState, What};
use crate::host::supervisor::Journal;

use super::journal;
use super::opening::{Locked, Opened};
use super::shared::Shared;
use super::teller::About;
use super::undo;

/// How long it may take in all.
const LIMIT: Duration = Duration::from_mins(5);

/// Gives back what was opened. What stays, and why, is said.
pub(super) async fn close(shared: &Shared, host: &str, opened: Opened) {
    if timeout(LIMIT, give_back(shared, host, opened))
        .await
        .is_err()
    {
        let limit = LIMIT.as_secs();
        warn(
            shared,
            host,
            format!("it did not answer for {limit} s; {}", recover(host)),
        );
    }
}

async fn give_back(shared: &Shared, host: &str, opened: Opened) {
    if let Err(why) = shared.reach(host).await {
        warn(shared, host, format!("{why}; {}", recover(host)));
        return;
    }
    for mut locked in opened.locks {
        unlock(shared, host, &mut locked).await;
    }
    let Some(supervisor) = shared.supervisors.get(host) else {
        return;
    };
    // What is still out must be found again from the host alone.
    let open = journal::read(supervisor.host().as_ref(), supervisor.dir()).await;
    if let Err(why) = &open {
        shared.lost_by(host, why);
        if shared.is_gone(host) {
            warn(shared, host, format!("{why}; {}", recover(host)));
            return;
        }
    }
    if let Some(keeper) = opened.keeper {
        keeper.close().await;
    }
    let journal = match open {
        Ok(open) if open.is_empty() => Journal::Remove,
        _ => Journal::Keep,
    };
    if let Err(why) = supervisor.finish(journal).await {
        warn(shared, host, format!("the state folder stays: {why}"));
    }
}

async fn unlock(shared: &Shared, host: &str, locked: &mut Locked) {
    let Some(known) = shared.hosts.get(host) else {
        return;
    };
    let (teller, subject) = (&shared.teller, &locked.subject);
    let (dir, open) = (shared.session_dir(host), &mut locked.open);
    match undo::take_away(known.host.as_ref(), &dir, &open.id, &open.intended).await {
        Ok(()) => {
            if locked.taken {
                teller.tell(What::Lock(Lock {
                    host: host.to_owned(),
                    subject: subject.clone(),
                    state: LockState::Released,
                    holder: None,
                    since: None,
                }));
            }
            undo::gone(teller, open);
        }
        Err(why) => warn(shared, host, format!("the lock on {subject} stays: {why}")),
    }
}

fn recover(host: &str) -> String {
    format!("once it is back, `comeback recover --host {host}` says what is left there")
}

fn warn(shared: &Shared, host: &str, text: String) {
    let about = About {
        host: Some(host),
        ..About::default()
    };
    shared.teller.note(Level::Warning, text, about);
}
