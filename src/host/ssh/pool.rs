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
use tokio_util::sync::CancellationToken;

use super::connection::Connection;
use super::prompts::Operator;
use super::route::Route;
use crate::host::HostError;

/// Commands that run at once on a host, and wait for each other's room; servers take 10 on a
/// connection (`MaxSessions`), of which jobs that were left behind use up some. What others wait
/// for has its room beside: see [`Pool::lease_beside`].
const COMMANDS: usize = 4;

/// Where commands can share a connection, a host that did not let another one in is left alone
/// for so long: it may ask the operator each time, or count failures.
const LEFT_ALONE: Duration = Duration::from_mins(1);

/// A host that was connected and now refuses the login, or shows a key that is not trusted, is left
/// alone for so long: what retries would fill its log, be shut out there, or ask the operator the
/// same each time.
const SHUT_OUT: Duration = Duration::from_mins(10);

/// The connections to a host.
pub(super) struct Pool {
    route: Arc<Route>,
    permits: Arc<Semaphore>,
    /// One login at a time: servers drop bursts (`MaxStartups`).
    gate: Arc<Semaphore>,
    shared: Arc<Shared>,
    /// What is being opened ends with the pool.
    over: CancellationToken,
}

impl Drop for Pool {
    fn drop(&mut self) {
        self.over.cancel();
    }
}

struct Shared {
    state: Mutex<State>,
    /// A connection has become idle.
    freed: Notify,
}

#[derive(Default)]
struct State {
    connections: Vec<Arc<Used>>,
    failed: Option<Failure>,
    /// There has been a connection.
    known: bool,
}

/// A login that failed, since there was the last connection.
struct Failure {
    when: Instant,
    error: HostError,
    /// There was no connection: all was tried, the operator's answers included.
    alone: bool,
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
    _permit: Option<OwnedSemaphorePermit>,
}

impl Pool {
    pub(super) fn new(route: Route) -> Self {
        Self {
            route: Arc::new(route),
            permits: Arc::new(Semaphore::new(COMMANDS)),
            gate: Arc::new(Semaphore::new(1)),
            shared: Arc::new(Shared {
                state: Mutex::default(),
                freed: Notify::new(),
            }),
            over: CancellationToken::new(),
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
        self.lease_with(Some(permit)).await
    }

    /// Waits for a connection alone. It is for a bounded number: the sides of a stream, all of
    /// which have to run before one can end, and what ends a command that has the room.
    ///
    /// # Errors
    /// A connection is needed and cannot be made.
    pub(super) async fn lease_beside(&self) -> Result<Lease, HostError> {
        self.lease_with(None).await
    }

    async fn lease_with(&self, permit: Option<OwnedSemaphorePermit>) -> Result<Lease, HostError> {
        let closed = |_closed| self.down("this host is no longer used");
        let asked = Instant::now();
        loop {
            if let Some(used) = self.shared.take(Used::is_free) {
                return Ok(self.leased(used, permit));
            }
            if self.shared.has_failed_within(LEFT_ALONE)
                && let Some(used) = self.shared.take(|_| true)
            {
                return Ok(self.leased(used, permit));
            }
            let gate = tokio::select! {
                biased;
                () = self.shared.freed.notified() => continue,
                gate = Arc::clone(&self.gate).acquire_owned() => gate.map_err(closed)?,
            };
            // Somebody else may have had the gate meanwhile.
            if let Some(used) = self.shared.take(Used::is_free) {
                return Ok(self.leased(used, permit));
            }
            let failed = match self.shared.failure(asked) {
                Some(error) => error,
                None => match self.open(gate).await {
                    Ok(()) => continue,
                    Err(error) => error,
                },
            };
            let used = self.fall_back(failed)?;
            return Ok(self.leased(used, permit));
        }
    }

    /// Adds a connection. A task of its own makes it, so that what the login asks the operator
    /// outlives whoever gives up waiting for it, and is not asked again by the next one.
    async fn open(&self, gate: OwnedSemaphorePermit) -> Result<(), HostError> {
        let (route, operator) = (Arc::clone(&self.route), self.operator());
        let (shared, over) = (Arc::clone(&self.shared), self.over.clone());
        let alone = !shared.is_connected();
        let task = tokio::spawn(async move {
            let open = Box::pin(Connection::open(&route, &operator));
            let made = over.run_until_cancelled(open).await;
            let made = made.map(|made| match made {
                Ok(connection) => {
                    shared.add(connection);
                    Ok(())
                }
                Err(error) => Err(shared.failed(error, alone)),
            });
            drop(gate);
            made
        });
        match task.await {
            Ok(Some(made)) => made,
            Ok(None) => Err(self.down("this host is no longer used")),
            Err(panic) => Err(self.down(&panic.to_string())),
        }
    }

    /// A connection that others use, where none of its own can be had. A host that changed
    /// its key is no such case.
    fn fall_back(&self, error: HostError) -> Result<Arc<Used>, HostError> {
        match error {
            HostError::Untrusted { .. } => Err(error),
            other => self.shared.take(|_| true).ok_or(other),
        }
    }

    /// The operator is asked where there is no connection; a further one is a convenience.
    fn operator(&self) -> Operator {
        if self.shared.is_connected() {
            self.route.operator.away()
        } else {
            self.route.operator.clone()
        }
    }

    fn leased(&self, used: Arc<Used>, permit: Option<OwnedSemaphorePermit>) -> Lease {
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

    fn is_connected(&self) -> bool {
        let state = self.lock();
        let mut connections = state.connections.iter();
        connections.any(|used| !used.connection.is_lost())
    }

    /// Takes a new, idle connection in; one that is full of what commands have left behind, and used
    /// by nobody, is replaced by it.
    fn add(&self, connection: Connection) {
        let used = Arc::new(Used {
            connection,
            commands: AtomicUsize::new(0),
            full: AtomicBool::new(false),
        });
        let mut state = self.lock();
        state
            .connections
            .retain(|used| used.is_free() || used.commands.load(Ordering::Relaxed) > 0);
        state.connections.push(used);
        state.failed = None;
        state.known = true;
        drop(state);
        self.freed.notify_one();
    }

    fn has_failed_within(&self, time: Duration) -> bool {
        let state = self.lock();
        let failed = state.failed.as_ref();
        failed.is_some_and(|failure| failure.when.elapsed() < time)
    }

    /// Keeps a failure; the error as it is told.
    fn failed(&self, error: HostError, alone: bool) -> HostError {
        let mut state = self.lock();
        let error = if alone && state.known && !error.is_transient() {
            let minutes = SHUT_OUT.as_secs() / 60;
            error.and(&format!("; the next login is tried after {minutes} min"))
        } else {
            error
        };
        state.failed = Some(Failure {
            when: Instant::now(),
            error: error.clone(),
            alone,
        });
        error
    }

    /// Why no login is to be tried now: what another caller met while this one was waiting for
    /// its turn, or what another try would not change yet.
    fn failure(&self, asked: Instant) -> Option<HostError> {
        let state = self.lock();
        let Failure { when, error, alone } = state.failed.as_ref()?;
        let shut_out = *alone && !error.is_transient() && when.elapsed() < SHUT_OUT;
        (*when >= asked || shut_out).then(|| error.clone())
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

#[cfg(test)]
mod tests {
    use super::super::Config;
    use super::*;

    fn error(pool: &Pool) -> HostError {
        let lease = futures_util::FutureExt::now_or_never(pool.lease());
        lease.expect("nothing is waited for").err().unwrap()
    }

    #[tokio::test]
    async fn a_host_that_shut_us_out_is_tried_again_after_a_while() {
        // A port that is taken, so that nobody else listens there either.
        let socket = tokio::net::TcpSocket::new_v4().unwrap();
        socket.bind("127.0.0.1:0".parse().unwrap()).unwrap();
        let port = socket.local_addr().unwrap().port();
        let target = format!("ann@127.0.0.1:{port}").parse().unwrap();
        let pool = Pool::new(Route::resolve(&target, &Config::default()).unwrap());
        let first = pool.lease().await.err().unwrap();
        assert_eq!(first.phase(), Some("connect"), "{first}");
        assert!(
            first.to_string().contains("is sshd running there"),
            "{first}"
        );

        let login = || HostError::Login {
            host: "nas".to_owned(),
            why: "no".to_owned(),
        };
        pool.shared.lock().known = true;
        let told = pool.shared.failed(login(), true).to_string();
        assert_eq!(told, "nas: login: no; the next login is tried after 10 min");
        assert_eq!(error(&pool).to_string(), told);
        let long_ago = Instant::now().checked_sub(SHUT_OUT).unwrap();
        pool.shared.lock().failed.as_mut().unwrap().when = long_ago;
        assert_eq!(pool.lease().await.err().unwrap().phase(), Some("connect"));
        // What nobody was asked about, beside another connection, says nothing of the next try.
        pool.shared.failed(login(), false);
        assert_eq!(pool.lease().await.err().unwrap().phase(), Some("connect"));
    }
}
