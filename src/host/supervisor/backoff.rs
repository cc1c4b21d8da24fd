//! Waits between tries.

use std::time::Duration;

/// Waits that grow: 0.2 s, doubled up to 10 s.
#[derive(Debug, Default)]
pub(super) struct Backoff(u32);

impl Backoff {
    pub fn next(&mut self) -> Duration {
        let wait = Duration::from_millis(200 << self.0.min(6));
        self.0 = self.0.saturating_add(1);
        wait.min(Duration::from_secs(10))
    }
}
