//! A host made ready for a session: its state folder, the sign that the session lives, what a
//! step costs there, and the locks on its subjects.

use std::time::Duration;

use tokio::time::timeout;

use crate::event::{HostChange, HostState, Intended, LeaveKind, Level, Lock, LockState, What};
use crate::host::facts::overhead;
use crate::host::supervisor::Keeper;
use crate::host::{HostError, SharedHost, until_reached};

use super::EngineError;
use super::leaving::{self, Open};
use super::lock::{self, Holder};
use super::shared::Shared;
use super::teller::About;

/// How long it may take in all.
const LIMIT: Duration = Duration::from_mins(3);

/// What has to be given back on a host.
#[derive(Default)]
pub(super) struct Opened {
    pub keeper: Option<Keeper>,
    pub locks: Vec<Locked>,
}

/// A lock on a subject that is there, or is about to be.
pub(super) struct Locked {
    pub subject: String,
    pub open: Open,
    pub taken: bool,
}

/// Why a host's runs do not begin.
#[derive(Debug)]
pub(super) struct NotOpened {
    pub exit: i32,
    pub why: String,
}

/// Opens a host, and locks these subjects on it. Whatever comes of it, what was made there is
/// told, to be given back. A stop ends it.
pub(super) async fn open(
    shared: &Shared,
    host: &str,
    subjects: &[String],
) -> (Opened, Result<(), NotOpened>) {
    let mut opened = Opened::default();
    let done = tokio::select! {
        done = timeout(LIMIT, opened.make(shared, host, subjects)) => done,
        () = shared.control.stopped() => Ok(Ok(())),
    };
    let late = || HostError::Down {
        host: host.to_owned(),
        phase: "open",
        why: format!("it was not ready within {} s", LIMIT.as_secs()),
    };
    let done = match done.unwrap_or_else(|_late| Err(late().into())) {
        Ok(()) => Ok(()),
        Err(why) => {
            shared.lost_by(host, &why);
            if let EngineError::Host(why) = &why
                && !why.is_transient()
            {
                shared.down(host, why);
            }
            Err(not_opened(&why))
        }
    };
    (opened, done)
}

fn not_opened(why: &EngineError) -> NotOpened {
    NotOpened {
        exit: why.exit(),
        why: match why {
            EngineError::Host(_) | EngineError::Script { .. } => format!("could not open {why}"),
            why => why.to_string(),
        },
    }
}

impl Opened {
    async fn make(
        &mut self,
        shared: &Shared,
        host: &str,
        subjects: &[String],
    ) -> Result<(), EngineError> {
        let (Some(known), Some(supervisor)) =
            (shared.hosts.get(host), shared.supervisors.get(host))
        else {
            return Err(EngineError::Refused(format!(
                "the host {host:?} is not connected"
            )));
        };
        supervisor.prepare().await?;
        self.keeper = Some(until_reached(|| supervisor.keeper()).await?);
        let mut facts = known.info.facts.clone();
        facts.overhead = Some(until_reached(|| overhead(supervisor)).await?);
        shared.teller.tell(What::Host(Box::new(HostChange {
            host: host.to_owned(),
            state: HostState::Up,
            phase: None,
            reason: None,
            facts: Some(facts),
        })));
        let about = About {
            host: Some(host),
            ..About::default()
        };
        for remark in &known.info.facts.connection {
            shared.teller.note(Level::Remark, remark.as_str(), about);
        }
        for subject in subjects {
            self.lock(shared, &known.host, subject).await?;
        }
        Ok(())
    }

    async fn lock(
        &mut self,
        shared: &Shared,
        host: &SharedHost,
        subject: &str,
    ) -> Result<(), EngineError> {
        let (name, session) = (host.name(), shared.session.as_str());
        let key = lock::key(host.as_ref(), subject).await?;
        let find = lock::find(&key, session);
        // The same thing by another name.
        if (self.locks.iter()).any(|locked| locked.taken && locked.open.intended.find == find) {
            return Ok(());
        }
        let intended = Intended {
            run: "session".into(),
            step: "lock".into(),
            host: name.to_owned(),
            name: format!("lock on {subject}"),
            kind: LeaveKind::Lock,
            find,
            undo: lock::UNDO.to_owned(),
            back: None,
        };
        let (dir, teller) = (shared.session_dir(name), &shared.teller);
        let open = leaving::announce(teller, host.as_ref(), &dir, intended).await?;
        self.locks.push(Locked {
            subject: subject.to_owned(),
            open,
            taken: false,
        });
        let taken = lock::take(host.as_ref(), &key, session).await?;
        let tell = |state, holder: Option<&Holder>| {
            teller.tell(What::Lock(Lock {
                host: name.to_owned(),
                subject: subject.to_owned(),
                state,
                holder: holder.map(|holder| holder.who.clone()),
                since: holder.map(|holder| holder.since.clone()),
            }));
        };
        match taken {
            Ok(()) => {
                tell(LockState::Taken, None);
                if let Some(locked) = self.locks.last_mut() {
                    locked.taken = true;
                }
                Ok(())
            }
            Err(holder) => {
                tell(LockState::Refused, Some(&holder));
                let Holder { who, since } = holder;
                let known = shared.hosts.get(name);
                let clock = known.and_then(|known| known.info.facts.clock_differs());
                let clock = clock.map_or_else(String::new, |differs| {
                    format!(" (by its own clock, which is {differs})")
                });
                Err(EngineError::Refused(format!(
                    "{name}: {subject} is in use by {who} since {since}{clock}; if that session is gone, `comeback recover --host {name}` shows what it left"
                )))
            }
        }
    }
}
