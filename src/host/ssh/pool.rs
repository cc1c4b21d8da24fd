//! The connections to one host, and who may use which.
//!
//! russh 0.65 has no back-pressure for a single channel: it grows a channel's window as soon as
//! data arrives, and blocks the whole connection once the reader of one channel is behind
//! (russh#730, #770). So each running command has a connection of its own, which TCP holds back
//! alone; connections are kept and used again. Where a host does not take another login (a
//! one-time password, a limit of its own), commands share those that there are.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore};

use super::connection::Connection;
use super::route::Route;
use crate::host::HostError;

/// Commands that run at once on a host; servers take 10 on a connection (`MaxSessions`), of
/// which jobs that were left behind use up some.
const COMMANDS: usize = 4;

/// Where commands can share a connection, a host that did not let another one in is left alone
/// for so long: it may ask the operator each time, or count failures.
const LEFT_ALONE: Duration = Duration::from_mins(1);

/// The connections to a host.
pub(super) struct Pool {
    route: Route,
    permits: Arc<Semaphore>,
    /// One login at a time: servers drop bursts (`MaxStartups`).
    gate: Semaphore,
    shared: Arc<Shared>,
}

struct Shared {
    state: Mutex<State>,
    /// A connection has become idle.
    freed: Notify,
}

#[derive(Default)]
struct State {
    connections: Vec<Arc<Used>>,
    failed: Option<(Instant, HostError)>,
}

struct Used {
    connection: Connection,
    commands: AtomicUsize,
    /// It had no room for another channel when it was last asked.
    full: AtomicBool,
}

impl Used {
    fn is_free(&self) -> bool {
        self.commands.load(Ordering::Relaxed) == 0 && !self.full.load(Ordering::Relaxed)
    }
}

/// The right to run one command on a connection, until it is dropped.
pub(super) struct Lease {
    used: Arc<Used>,
    shared: Arc<Shared>,
    reusable: bool,
    _permit: OwnedSemaphorePermit,
}

impl Pool {
    pub(super) fn new(route: Route) -> Self {
        Self {
            route,
            permits: Arc::new(Semaphore::new(COMMANDS)),
            gate: Semaphore::new(1),
            shared: Arc::new(Shared {
                state: Mutex::default(),
                freed: Notify::new(),
            }),
        }
    }

    pub(super) fn route(&self) -> &Route {
        &self.route
    }

    /// Waits until fewer than [`COMMANDS`] run, for as long as that takes, and then for a
    /// connection.
    ///
    /// # Errors
    /// A connection is needed and cannot be made.
    pub(super) async fn lease(&self) -> Result<Lease, HostError> {
        let closed = |_closed| self.down("this host is no longer used");
        let permit = Arc::clone(&self.permits).acquire_owned();
        let permit = permit.await.map_err(closed)?;
        let asked = Instant::now();
        loop {
            if let Some(used) = self.shared.take(Used::is_free) {
                return Ok(self.leased(used, permit));
            }
            if self
                .shared
                .failed_since(Instant::now() - LEFT_ALONE)
                .is_some()
                && let Some(used) = self.shared.take(|_| true)
            {
                return Ok(self.leased(used, permit));
            }
            let gate = tokio::select! {
                biased;
                () = self.shared.freed.notified() => continue,
                gate = self.gate.acquire() => gate.map_err(closed)?,
            };
            // Somebody else may have had the gate meanwhile.
            if let Some(used) = self.shared.take(Used::is_free) {
                return Ok(self.leased(used, permit));
            }
            let made = match self.shared.failed_since(asked) {
                Some(error) => Err(error),
                None => Box::pin(Connection::open(&self.route)).await,
            };
            drop(gate);
            let used = match made {
                Ok(connection) => self.shared.add(connection),
                Err(error) => self.fall_back(error)?,
            };
            return Ok(self.leased(used, permit));
        }
    }

    /// A connection that others use, where none of its own can be had. A host that changed
    /// its key is no such case.
    fn fall_back(&self, error: HostError) -> Result<Arc<Used>, HostError> {
        self.shared.lock().failed = Some((Instant::now(), error.clone()));
        match error {
            HostError::Untrusted { .. } => Err(error),
            other => self.shared.take(|_| true).ok_or(other),
        }
    }

    fn leased(&self, used: Arc<Used>, permit: OwnedSemaphorePermit) -> Lease {
        Lease {
            used,
            shared: Arc::clone(&self.shared),
            reusable: false,
            _permit: permit,
        }
    }

    fn down(&self, why: &str) -> HostError {
        HostError::Down {
            host: self.route.shown.clone(),
            phase: "connect",
            why: why.to_owned(),
        }
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes the least used connection of those that will do.
    fn take(&self, will_do: impl Fn(&Used) -> bool) -> Option<Arc<Used>> {
        let mut state = self.lock();
        state.connections.retain(|used| !used.connection.is_lost());
        let used = state
            .connections
            .iter()
            .filter(|used| will_do(used))
            .min_by_key(|used| used.commands.load(Ordering::Relaxed))?;
        // The lock orders all counting up; counting down needs no order.
        used.commands.fetch_add(1, Ordering::Relaxed);
        Some(Arc::clone(used))
    }

    /// Takes a new connection in; one that is full of what commands have left behind, and used
    /// by nobody, is replaced by it.
    fn add(&self, connection: Connection) -> Arc<Used> {
        let used = Arc::new(Used {
            connection,
            commands: AtomicUsize::new(1),
            full: AtomicBool::new(false),
        });
        let mut state = self.lock();
        state
            .connections
            .retain(|used| used.is_free() || used.commands.load(Ordering::Relaxed) > 0);
        state.connections.push(Arc::clone(&used));
        state.failed = None;
        used
    }

    fn has_failed_within(&self, time: Duration) -> bool {
        let state = self.lock();
        state
            .failed
            .as_ref()
            .is_some_and(|(when, _)| when.elapsed() < time)
    }

    /// What another caller met while this one was waiting for its turn: no need to wait for
    /// the same again.
    fn failed_since(&self, asked: Instant) -> Option<HostError> {
        let state = self.lock();
        let (when, error) = state.failed.as_ref()?;
        (*when >= asked).then(|| error.clone())
    }
}

impl Lease {
    pub(super) fn connection(&self) -> &Connection {
        &self.used.connection
    }

    /// The command is over and its channel closed.
    pub(super) fn done(mut self) {
        self.used.full.store(false, Ordering::Relaxed);
        self.reusable = true;
    }

    /// The host opened no further channel. True where others use the connection: there may be
    /// room when one of them is done.
    pub(super) fn full(mut self) -> bool {
        self.used.full.store(true, Ordering::Relaxed);
        self.reusable = true;
        self.used.commands.load(Ordering::Relaxed) > 1
    }

    /// The connection does not answer. Idle ones, which nobody has looked at since, are no
    /// better.
    pub(super) fn lost(self) {
        let mut state = self.shared.lock();
        let busy = |used: &Arc<Used>| used.commands.load(Ordering::Relaxed) > 0;
        state.connections.retain(busy);
    }
}

impl Drop for Lease {
    /// A command that was given up halfway leaves its channel in an unknown state: the
    /// connection is not used again, and ends with the last command that runs on it.
    fn drop(&mut self) {
        if !self.reusable {
            let mut state = self.shared.lock();
            let others = |used: &Arc<Used>| !Arc::ptr_eq(used, &self.used);
            state.connections.retain(others);
        }
        self.used.commands.fetch_sub(1, Ordering::Relaxed);
        self.shared.freed.notify_one();
    }
}
