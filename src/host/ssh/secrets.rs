//! What operators have entered and hosts have taken, kept in memory to be used again.

use std::collections::HashMap;
use std::hash::Hash;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use russh::keys::PrivateKey;
use tokio::sync::{Mutex as AsyncMutex, OwnedMutexGuard};

use crate::event::Secret;

/// Passphrases, as the keys that they open; passwords; which keys a host took. All of it is gone
/// when the program ends.
#[derive(Default)]
pub struct Secrets {
    keys: Shelf<(PathBuf, Option<String>), Option<Arc<PrivateKey>>>,
    accounts: Shelf<String, Answers>,
    past: Mutex<HashMap<String, Past>>,
}

/// What an account's host took before.
#[derive(Default)]
pub(super) struct Answers {
    pub(super) password: Option<Secret>,
    /// By the host's prompt.
    pub(super) prompts: HashMap<String, Secret>,
}

/// How the last login to an account went.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Past {
    /// The keys that were taken, as offers name themselves.
    pub(super) keys: Vec<String>,
    /// It went without one.
    pub(super) without_key: bool,
    /// It took an answer that cannot be used again.
    pub(super) one_time: bool,
}

/// Something kept, and whether the operator would not say it. Whoever holds it may ask; all
/// others wait, and find the answer.
#[derive(Default)]
pub(super) struct Slot<T> {
    pub(super) kept: T,
    refused: Option<Instant>,
}

impl<T> Slot<T> {
    /// Takes note that the operator does not say it.
    pub(super) fn refuse(&mut self) {
        self.refused = Some(Instant::now());
    }

    /// Whether the operator would not say it to somebody for whom this one has waited.
    pub(super) fn is_refused_since(&self, asked: Instant) -> bool {
        self.refused.is_some_and(|refused| refused >= asked)
    }
}

struct Shelf<K, T>(Mutex<HashMap<K, Arc<AsyncMutex<Slot<T>>>>>);

impl<K, T> Default for Shelf<K, T> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<K: Eq + Hash, T: Default> Shelf<K, T> {
    async fn take(&self, subject: K, wait: bool) -> Option<OwnedMutexGuard<Slot<T>>> {
        let slot = {
            let mut slots = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            Arc::clone(slots.entry(subject).or_default())
        };
        if wait {
            Some(slot.lock_owned().await)
        } else {
            slot.try_lock_owned().ok()
        }
    }
}

impl Secrets {
    /// The key of a file that needs a passphrase. Nothing where another login is just asking for
    /// it, and this one does not wait.
    pub(super) async fn key(
        &self,
        file: PathBuf,
        public: Option<String>,
        wait: bool,
    ) -> Option<OwnedMutexGuard<Slot<Option<Arc<PrivateKey>>>>> {
        self.keys.take((file, public), wait).await
    }

    /// An account's answers; the same.
    pub(super) async fn account(
        &self,
        account: &str,
        wait: bool,
    ) -> Option<OwnedMutexGuard<Slot<Answers>>> {
        self.accounts.take(account.to_owned(), wait).await
    }

    pub(super) fn past(&self, account: &str) -> Past {
        let past = self.past.lock().unwrap_or_else(PoisonError::into_inner);
        past.get(account).cloned().unwrap_or_default()
    }

    pub(super) fn set_past(&self, account: &str, went: Past) {
        let mut past = self.past.lock().unwrap_or_else(PoisonError::into_inner);
        past.insert(account.to_owned(), went);
    }
}
