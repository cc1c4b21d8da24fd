//! A session from its header to its end.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Instant;

use crate::event::{
    Act, ActKind, End, EndState, Facts, Header, HostChange, HostState, Level, Lock, LockState,
    Origin, Plan, RunChange, RunState, SessionId, Sink, What,
};
use crate::host::SharedHost;
use crate::host::facts::overhead;
use crate::host::supervisor::{Journal, Keeper, Supervisor};
use crate::method::{Bound, HostInfo};

use super::guard::Confirmation;
use super::journal;
use super::lock::{self, Held};
use super::run::Run;
use super::teller::{About, Teller};
use super::{Control, EngineError, leaving, lock::Holder};
use crate::event::{Intended, LeaveKind};

/// A host that is connected and probed.
#[derive(Clone)]
pub struct Connected {
    /// What it is.
    pub info: HostInfo,
    /// How it is reached.
    pub host: SharedHost,
}

/// Hosts by name.
pub type Hosts = BTreeMap<String, Connected>;

/// Everything that one session needs.
pub struct Sitting {
    /// Its name.
    pub session: SessionId,
    /// The methods, bound.
    pub bounds: Vec<Bound>,
    /// What is going to run.
    pub plan: Plan,
    /// Hosts.
    pub hosts: Hosts,
    /// The operator's words for what may be destroyed.
    pub confirmed: Vec<Confirmation>,
    /// Where it is told.
    pub sink: Arc<dyn Sink>,
    /// What the operator wants.
    pub control: Control,
}

/// A new session's name: `cb-` and eight hexadecimal digits.
#[must_use]
pub fn session_id() -> SessionId {
    format!("cb-{:08x}", rand::random::<u32>()).into()
}

/// Name of a session's state folder on its host number `at`, from 0: two names may be one machine.
pub(super) fn session_folder(session: &str, at: usize) -> String {
    match at {
        0 => session.to_owned(),
        _ => format!("{session}-{}", at + 1),
    }
}

/// What runs of one session share.
pub(super) struct Shared {
    pub session: SessionId,
    pub hosts: Hosts,
    pub confirmed: Vec<Confirmation>,
    pub teller: Teller,
    pub control: Control,
    pub began: Instant,
    pub supervisors: BTreeMap<String, Arc<Supervisor>>,
}

impl Shared {
    pub fn session_dir(&self, host: &str) -> String {
        let state = self
            .hosts
            .get(host)
            .map_or("", |known| known.info.facts.state.as_str());
        let at = self.hosts.keys().position(|name| name == host).unwrap_or(0);
        format!("{state}/{}", session_folder(self.session.as_str(), at))
    }
}

impl Sitting {
    /// Takes all runs in their order, and says how it ended. Exit codes: 0 done and everything
    /// verified, 1 a run or proof failed, 3 a host was lost, 4 refused, 130 stopped.
    pub async fn conduct(self) -> End {
        let teller = Teller::new(Arc::clone(&self.sink));
        teller.tell(What::Header(Box::new(self.header())));
        let shared = Shared {
            session: self.session,
            hosts: self.hosts,
            confirmed: self.confirmed,
            teller: teller.clone(),
            control: self.control,
            began: Instant::now(),
            supervisors: BTreeMap::new(),
        };
        let mut stage = Stage {
            shared,
            bounds: self.bounds,
            plan: self.plan,
            locks: Vec::new(),
            keepers: Vec::new(),
        };
        let end = match stage.open().await {
            Ok(()) => stage.runs().await,
            Err(why) => End {
                exit: why.exit(),
                reason: why.to_string(),
            },
        };
        stage.close().await;
        teller.tell(What::End(end.clone()));
        match teller.commit() {
            Ok(()) => end,
            Err(why) => End {
                exit: end.exit.max(1),
                reason: format!("{}; {why}", end.reason),
            },
        }
    }

    // By name: secrets are made or asked for while it runs.
    fn masked(&self) -> Vec<String> {
        let steps = self.bounds.iter().flat_map(|bound| &bound.method.steps);
        let names = steps.filter_map(|step| step.secret.as_ref());
        names.map(|secret| secret.name.clone()).collect()
    }

    fn header(&self) -> Header {
        let facts: BTreeMap<String, Facts> = self
            .hosts
            .iter()
            .map(|(name, known)| (name.clone(), known.info.facts.clone()))
            .collect();
        Header {
            format: crate::event::FORMAT.to_owned(),
            program: concat!("comeback ", env!("CARGO_PKG_VERSION")).to_owned(),
            origin: Origin::Captured,
            started: chrono::Utc::now(),
            session: self.session.clone(),
            plan: self.plan.clone(),
            facts,
            masked: self.masked(),
        }
    }
}

struct Stage {
    shared: Shared,
    bounds: Vec<Bound>,
    plan: Plan,
    locks: Vec<(Held, leaving::Open)>,
    keepers: Vec<Keeper>,
}

impl Stage {
    async fn open(&mut self) -> Result<(), EngineError> {
        for (name, known) in &self.shared.hosts {
            let dir = self.shared.session_dir(name);
            let supervisor = Supervisor::new(Arc::clone(&known.host), dir);
            supervisor.prepare().await?;
            // From here on there is something to be taken away again.
            let shared = &mut self.shared.supervisors;
            shared.insert(name.clone(), Arc::new(supervisor.clone()));
            self.keepers.push(supervisor.keeper().await?);
            let mut facts = known.info.facts.clone();
            facts.overhead = Some(overhead(&supervisor).await?);
            self.shared.teller.tell(What::Host(Box::new(HostChange {
                host: name.clone(),
                state: HostState::Up,
                phase: None,
                reason: None,
                facts: Some(facts),
            })));
        }
        for planned in &self.plan.runs {
            let state = RunState::Queued;
            self.shared.teller.tell(What::Run(RunChange {
                run: planned.run.clone(),
                state,
            }));
        }
        for word in &self.shared.confirmed {
            let text = format!("{}:{} may be destroyed: {}", word.kind, word.id, word.name);
            self.shared.teller.tell(What::Act(Act {
                act: ActKind::Confirmed,
                text,
            }));
        }
        self.shared.teller.commit()?;
        self.lock().await
    }

    // Named and marked subjects; what the session makes itself bears the session's name.
    async fn lock(&mut self) -> Result<(), EngineError> {
        let mut wanted: Vec<(String, String)> = self
            .bounds
            .iter()
            .filter(|bound| !bound.binding.subject.own)
            .map(|bound| {
                (
                    bound.binding.host().to_owned(),
                    bound.binding.subject.to_string(),
                )
            })
            .collect();
        wanted.sort();
        wanted.dedup();
        for (host, subject) in wanted {
            let Some(known) = self.shared.hosts.get(&host) else {
                continue;
            };
            let session = self.shared.session.as_str();
            let key = lock::key(known.host.as_ref(), &subject).await?;
            let intended = Intended {
                run: "session".into(),
                step: "lock".into(),
                host: host.clone(),
                name: format!("lock on {subject}"),
                kind: LeaveKind::Lock,
                find: lock::find(&key, session),
                undo: lock::UNDO.to_owned(),
            };
            let dir = self.shared.session_dir(&host);
            let teller = &self.shared.teller;
            let open = leaving::announce(teller, known.host.as_ref(), &dir, intended).await?;
            let taken = lock::take(known.host.as_ref(), &subject, &key, session).await;
            if let Err(EngineError::Script { .. }) = taken {
                // It was not made, or was taken away again.
                leaving::gone(teller, known.host.as_ref(), &dir, &open).await;
            }
            let taken = taken?;
            let (state, holder) = match &taken {
                Ok(_) => (LockState::Taken, None),
                Err(holder) => (LockState::Refused, Some(holder.clone())),
            };
            teller.tell(What::Lock(Lock {
                host: host.clone(),
                subject: subject.clone(),
                state,
                holder: holder.as_ref().map(|holder| holder.who.clone()),
                since: holder.as_ref().map(|holder| holder.since.clone()),
            }));
            match taken {
                Ok(held) => self.locks.push((held, open)),
                Err(Holder { who, since }) => {
                    leaving::gone(teller, known.host.as_ref(), &dir, &open).await;
                    let clock = known.info.facts.clock_differs();
                    let clock = clock.map_or_else(String::new, |differs| {
                        format!(" (by its own clock, which is {differs})")
                    });
                    return Err(EngineError::Refused(format!(
                        "{host}: {subject} is in use by {who} since {since}{clock}; if that session is gone, `comeback recover --host {host}` shows what it left"
                    )));
                }
            }
        }
        Ok(())
    }

    async fn runs(&mut self) -> End {
        let total = self.plan.runs.len();
        let (mut good, mut proofs, mut left) = (0, true, false);
        for (at, planned) in self.plan.runs.iter().enumerate() {
            self.shared.control.may_go_on().await;
            if self.shared.control.is_stopped() {
                return End {
                    exit: 130,
                    reason: format!("stopped after {good} of {total} runs"),
                };
            }
            let Some(bound) = self
                .bounds
                .iter()
                .find(|bound| bound.binding.id == planned.binding)
            else {
                continue;
            };
            let order = u32::try_from(at + 1).unwrap_or(u32::MAX);
            let ended = Run::new(&self.shared, bound, planned).conduct(order).await;
            match ended.end {
                EndState::Ok | EndState::Warnings => good += 1,
                EndState::Stopped => {
                    let reason = format!("stopped in run {} of {total}", at + 1);
                    return End { exit: 130, reason };
                }
                EndState::Failed | EndState::Lost => {
                    let why = ended
                        .cause
                        .unwrap_or_else(|| "no reason is known".to_owned());
                    let rest = total - at - 1;
                    let reason = format!(
                        "run {} of {total} {}: {why}{}",
                        at + 1,
                        ended.end,
                        if rest > 0 {
                            format!("; {rest} runs were not started")
                        } else {
                            String::new()
                        }
                    );
                    return End {
                        exit: ended.exit.max(1),
                        reason,
                    };
                }
            }
            proofs &= ended.proved;
            left |= ended.exit != 0;
        }
        if left {
            return End {
                exit: 1,
                reason: format!("{good} of {total} runs done; not everything could be taken away"),
            };
        }
        if proofs {
            End {
                exit: 0,
                reason: format!("{good} of {total} runs done and verified"),
            }
        } else {
            End {
                exit: 1,
                reason: format!("{good} of {total} runs done; not all were verified"),
            }
        }
    }

    async fn close(&mut self) {
        let teller = self.shared.teller.clone();
        for (held, open) in &mut self.locks {
            let Some(known) = self.shared.hosts.get(&held.host) else {
                continue;
            };
            let about = About {
                host: Some(&held.host),
                ..About::default()
            };
            match lock::release(known.host.as_ref(), held).await {
                Ok(()) => {
                    open.undone = true;
                    teller.tell(What::Lock(Lock {
                        host: held.host.clone(),
                        subject: held.subject.clone(),
                        state: LockState::Released,
                        holder: None,
                        since: None,
                    }));
                    let dir = self.shared.session_dir(&held.host);
                    leaving::gone(&teller, known.host.as_ref(), &dir, open).await;
                }
                Err(why) => {
                    teller.note(
                        Level::Warning,
                        format!("the lock on {} stays: {why}", held.subject),
                        about,
                    );
                }
            }
        }
        for keeper in self.keepers.drain(..) {
            keeper.close().await;
        }
        for (name, supervisor) in &self.shared.supervisors {
            // What is still out must be found again from the host alone.
            let open = match journal::read(supervisor.host().as_ref(), supervisor.dir()).await {
                Ok(open) if open.is_empty() => Journal::Remove,
                _ => Journal::Keep,
            };
            if let Err(why) = supervisor.finish(open).await {
                let about = About {
                    host: Some(name),
                    ..About::default()
                };
                teller.note(
                    Level::Warning,
                    format!("the state folder stays: {why}"),
                    about,
                );
            }
        }
    }
}
