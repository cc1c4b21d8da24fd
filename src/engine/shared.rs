//! What the runs of one session share, whichever hosts they are on.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::event::{BindingId, HostChange, HostState, SessionId, What};
use crate::host::supervisor::Supervisor;
use crate::host::{HostError, ask};

use super::away::GONE_AFTER;
use super::conduct::{Hosts, session_folder};
use super::guard::Confirmation;
use super::queue::Machines;
use super::secrets::Given;
use super::teller::Teller;
use super::{Control, EngineError};

/// How long a host that was gone may take to say that it is back.
const REACH: Duration = Duration::from_secs(15);

/// What runs of one session share.
pub(super) struct Shared {
    pub session: SessionId,
    pub hosts: Hosts,
    pub confirmed: Vec<Confirmation>,
    pub teller: Teller,
    pub control: Control,
    pub began: Instant,
    pub supervisors: BTreeMap<String, Arc<Supervisor>>,
    /// Bindings whose looks ahead have asked, and were answered with yes.
    pub agreed: BTreeSet<BindingId>,
    /// Secrets that the operator gave.
    pub given: Given,
    /// Hosts that are gone, and why: they are not waited for again.
    gone: Mutex<BTreeMap<String, String>>,
}

impl Shared {
    pub fn new(
        session: SessionId,
        hosts: Hosts,
        confirmed: Vec<Confirmation>,
        teller: Teller,
        control: Control,
    ) -> Self {
        let mut shared = Self {
            session,
            hosts,
            confirmed,
            teller,
            control,
            began: Instant::now(),
            supervisors: BTreeMap::new(),
            agreed: BTreeSet::new(),
            given: Given::new(),
            gone: Mutex::default(),
        };
        for (name, known) in &shared.hosts {
            let supervisor = Supervisor::new(Arc::clone(&known.host), shared.session_dir(name));
            shared
                .supervisors
                .insert(name.clone(), Arc::new(supervisor));
        }
        shared
    }

    pub fn session_dir(&self, host: &str) -> String {
        let state = self
            .hosts
            .get(host)
            .map_or("", |known| known.info.facts.state.as_str());
        let at = self.hosts.keys().position(|name| name == host).unwrap_or(0);
        format!("{state}/{}", session_folder(self.session.as_str(), at))
    }

    /// How long a host may be away before it counts as gone.
    pub fn gone_after(&self, host: &str) -> Duration {
        let known = self.hosts.get(host);
        known.map_or(GONE_AFTER, |known| known.gone_after)
    }

    /// The machine that a host is. Two names of one running system are one machine; a host that
    /// does not say which it is, is one by its name.
    pub fn machine(&self, host: &str) -> String {
        let told = |name: &str| {
            let known = self.hosts.get(name)?;
            Some(&known.info.facts.machine).filter(|machine| !machine.is_empty())
        };
        let Some(mine) = told(host) else {
            return host.to_owned();
        };
        let first = self.hosts.keys().find(|name| told(name) == Some(mine));
        first.map_or_else(|| host.to_owned(), Clone::clone)
    }

    /// The machines that some hosts are.
    pub fn machines<'a>(&self, hosts: impl IntoIterator<Item = &'a str>) -> Machines {
        hosts.into_iter().map(|host| self.machine(host)).collect()
    }

    /// A host is gone: says so, once.
    pub fn lost(&self, host: &str, why: &HostError) {
        let before = self.gone().insert(host.to_owned(), why.to_string());
        if before.is_none() {
            self.down(host, why);
        }
    }

    /// Says that a host cannot be used.
    pub fn down(&self, host: &str, why: &HostError) {
        self.link(host, HostState::Down, Some(why));
    }

    /// The same, where an error says that a host is gone.
    pub fn lost_by(&self, host: &str, why: &EngineError) {
        let EngineError::Host(why) = why else { return };
        if why.is_transient() {
            // A step on two hosts may have lost either.
            let named = self.hosts.contains_key(why.host());
            self.lost(if named { why.host() } else { host }, why);
        }
    }

    /// Whether a host is gone.
    pub fn is_gone(&self, host: &str) -> bool {
        self.gone().contains_key(host)
    }

    /// Whether a host can be worked on. One that is gone is looked for again, once and briefly.
    ///
    /// # Errors
    /// Why it cannot.
    pub async fn reach(&self, host: &str) -> Result<(), String> {
        let (true, Some(known)) = (self.is_gone(host), self.hosts.get(host)) else {
            return Ok(());
        };
        match ask(known.host.as_ref(), ":", b"", 64, REACH).await {
            Ok(_) => {
                self.gone().remove(host);
                self.link(host, HostState::Up, None);
                Ok(())
            }
            Err(why) => Err(why.to_string()),
        }
    }

    fn link(&self, host: &str, state: HostState, why: Option<&HostError>) {
        self.teller.tell(What::Host(Box::new(HostChange {
            host: host.to_owned(),
            state,
            phase: why.and_then(HostError::phase).map(ToOwned::to_owned),
            reason: why.map(|why| why.why().to_owned()),
            facts: None,
        })));
    }

    fn gone(&self) -> MutexGuard<'_, BTreeMap<String, String>> {
        self.gone.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
