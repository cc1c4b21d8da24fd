//! How many logins go on at once at one server.
//!
//! A server drops connections when too many are not logged in yet: OpenSSH at random from 10 on
//! (`MaxStartups 10:30:100`), Dropbear from 5 on. Many names may lead to the same server, as a
//! jump host above all, so this counts over the whole process, by the server's address.

use std::collections::HashMap;
use std::pin::pin;
use std::sync::{Arc, LazyLock, Mutex, PoisonError, Weak};
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;

/// Connections to a server that are not logged in yet, at most. Well below its limit: others
/// log in there too.
const LOGINS: usize = 4;

/// A login that takes longer waits for the operator, and holds up no other.
const LONG: Duration = Duration::from_secs(20);

static GATES: LazyLock<Mutex<HashMap<String, Weak<Semaphore>>>> = LazyLock::new(Mutex::default);

/// The right to log in at a server, until it is dropped.
pub(super) struct Entry {
    /// Nothing where the gate is gone, which none is while it is waited for.
    _permit: Option<OwnedSemaphorePermit>,
}

impl Entry {
    /// Does the work of a login, and gives the entry back when it is done or takes long.
    pub(super) async fn during<T>(self, login: impl Future<Output = T>) -> T {
        let mut login = pin!(login);
        match timeout(LONG, &mut login).await {
            Ok(done) => done,
            Err(_long) => {
                drop(self);
                login.await
            }
        }
    }
}

/// Waits for the turn to log in at a server, for as long as others take.
pub(super) async fn enter(server: &str) -> Entry {
    let permit = gate(server).acquire_owned().await.ok();
    Entry { _permit: permit }
}

/// The gate of a server; it is forgotten when nobody is at it.
fn gate(server: &str) -> Arc<Semaphore> {
    let mut gates = GATES.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(gate) = gates.get(server).and_then(Weak::upgrade) {
        return gate;
    }
    gates.retain(|_, gate| gate.strong_count() > 0);
    let gate = Arc::new(Semaphore::new(LOGINS));
    gates.insert(server.to_owned(), Arc::downgrade(&gate));
    gate
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt;

    use super::*;

    #[tokio::test]
    async fn a_server_takes_a_few_at_once_whoever_asks_and_is_forgotten_after_that() {
        let mut inside = Vec::new();
        for _ in 0..LOGINS {
            inside.push(enter("10.0.0.7:22").now_or_never().unwrap());
        }
        assert!(enter("10.0.0.7:22").now_or_never().is_none());
        assert!(enter("10.0.0.7:2222").now_or_never().is_some());
        inside.pop();
        assert!(enter("10.0.0.7:22").now_or_never().is_some());
        inside.clear();
        let _other = enter("10.0.0.8:22").await;
        assert!(!GATES.lock().unwrap().contains_key("10.0.0.7:22"));
    }

    #[tokio::test(start_paused = true)]
    async fn operators_who_think_long_hold_up_nobody() {
        let server = "10.0.0.9:22";
        for _ in 0..LOGINS {
            let entry = enter(server).await;
            tokio::spawn(entry.during(std::future::pending::<()>()));
        }
        let quick = timeout(LONG / 2, enter(server)).await;
        assert!(quick.is_err());
        timeout(LONG, enter(server)).await.unwrap();
    }
}
