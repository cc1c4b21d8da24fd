//! How long a host has been away, and from when on it counts as gone.

use std::time::Duration;

use tokio::time::{Instant, sleep_until};

use crate::host::HostError;
use crate::host::supervisor::Heard;

/// How long a lost connection is tried again before its host counts as gone, where the
/// configuration says nothing else: longer than a big machine takes to boot.
pub const GONE_AFTER: Duration = Duration::from_hours(1);

/// What is heard of a connection while a command is followed.
#[derive(Debug)]
pub(super) struct Away {
    limit: Duration,
    lost: Option<(Instant, String)>,
}

impl Away {
    pub fn new(limit: Duration) -> Self {
        Self { limit, lost: None }
    }

    /// Takes note of a connection that was lost, or is back.
    pub fn hear(&mut self, heard: &Heard) {
        match heard {
            Heard::LinkLost { why } => {
                let since = self.lost.as_ref().map_or_else(Instant::now, |(at, _)| *at);
                self.lost = Some((since, why.clone()));
            }
            Heard::LinkBack => self.lost = None,
            Heard::Output { .. } | Heard::Gap { .. } | Heard::Ended(_) => {}
        }
    }

    /// Returns when it has been away for too long, with why; never while it is there.
    pub async fn for_good(&self) -> String {
        let Some((since, why)) = &self.lost else {
            return std::future::pending().await;
        };
        sleep_until(*since + self.limit).await;
        let limit = humantime::format_duration(self.limit);
        format!("not reached again within {limit}: {why}")
    }
}

/// The error of a host that is gone.
pub(super) fn gone(host: &str, why: String) -> HostError {
    HostError::Down {
        host: host.to_owned(),
        phase: "connect",
        why,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lost() -> Heard {
        Heard::LinkLost {
            why: "no route".to_owned(),
        }
    }

    #[tokio::test(start_paused = true)]
    async fn it_is_gone_after_its_time_counted_from_the_first_loss() {
        let mut away = Away::new(Duration::from_mins(10));
        let begun = Instant::now();
        away.hear(&lost());
        tokio::time::sleep(Duration::from_mins(4)).await;
        away.hear(&lost());
        let why = away.for_good().await;
        assert_eq!(begun.elapsed(), Duration::from_mins(10));
        assert_eq!(why, "not reached again within 10m: no route");
    }

    #[tokio::test(start_paused = true)]
    async fn one_that_comes_back_is_waited_for_anew() {
        let mut away = Away::new(Duration::from_mins(10));
        away.hear(&lost());
        tokio::time::sleep(Duration::from_mins(9)).await;
        away.hear(&Heard::LinkBack);
        let long = tokio::time::timeout(Duration::from_hours(9), away.for_good()).await;
        assert!(long.is_err());
        away.hear(&lost());
        let begun = Instant::now();
        away.for_good().await;
        assert_eq!(begun.elapsed(), Duration::from_mins(10));
    }
}
