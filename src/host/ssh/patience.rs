//! A time limit that stands still while the operator has the turn.

use std::pin::pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use tokio::sync::watch;
use tokio::time::{Instant, sleep_until};

/// How long a host may take, all its answers together.
pub(super) struct Patience {
    /// Nothing while it stands still.
    until: watch::Sender<Option<Instant>>,
    /// Milliseconds for which it has stood still.
    paused: AtomicU64,
}

impl Patience {
    pub(super) fn new(limit: Duration) -> Self {
        Self {
            until: watch::Sender::new(Some(Instant::now() + limit)),
            paused: AtomicU64::new(0),
        }
    }

    /// What the work gives, or nothing where it takes too long.
    pub(super) async fn limit<T>(&self, work: impl Future<Output = T>) -> Option<T> {
        let mut until = self.until.subscribe();
        let mut work = pin!(work);
        loop {
            let deadline = *until.borrow_and_update();
            let late = async {
                match deadline {
                    Some(deadline) => sleep_until(deadline).await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                biased;
                done = &mut work => return Some(done),
                _changed = until.changed() => {}
                () = late => return None,
            }
        }
    }

    /// Stands still while somebody else than the host has the turn.
    pub(super) async fn pause<T>(&self, turn: impl Future<Output = T>) -> T {
        let started = Instant::now();
        let before = self.until.send_replace(None);
        let done = turn.await;
        let took = started.elapsed();
        let millis = u64::try_from(took.as_millis()).unwrap_or(u64::MAX);
        self.paused.fetch_add(millis, Ordering::Relaxed);
        self.until.send_replace(before.map(|until| until + took));
        done
    }

    /// For how long it has stood still.
    pub(super) fn paused(&self) -> Duration {
        Duration::from_millis(self.paused.load(Ordering::Relaxed))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::time::sleep;

    #[tokio::test(start_paused = true)]
    async fn the_operators_time_does_not_count() {
        let patience = Patience::new(Duration::from_secs(10));
        let work = async {
            sleep(Duration::from_secs(4)).await;
            patience.pause(sleep(Duration::from_mins(5))).await;
            sleep(Duration::from_secs(5)).await;
            7
        };
        assert_eq!(patience.limit(work).await, Some(7));
        assert_eq!(patience.paused(), Duration::from_mins(5));
    }

    #[tokio::test(start_paused = true)]
    async fn the_hosts_time_does() {
        let patience = Patience::new(Duration::from_secs(10));
        let work = async {
            patience.pause(sleep(Duration::from_mins(5))).await;
            sleep(Duration::from_secs(11)).await;
        };
        assert_eq!(patience.limit(work).await, None);
    }
}
