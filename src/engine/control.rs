//! What an operator can do to a session that goes on.

use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

/// Stop, and pause between runs. Clones steer the same session.
#[derive(Debug, Clone)]
pub struct Control {
    stop: CancellationToken,
    pause: watch::Sender<bool>,
}

impl Default for Control {
    fn default() -> Self {
        Self {
            stop: CancellationToken::new(),
            pause: watch::Sender::new(false),
        }
    }
}

impl Control {
    /// Ends the run that goes on, undoes what may be undone, and the session with it.
    pub fn stop(&self) {
        self.stop.cancel();
    }

    /// Whether a stop was asked for.
    #[must_use]
    pub fn is_stopped(&self) -> bool {
        self.stop.is_cancelled()
    }

    /// Waits after the run that goes on (or goes on).
    pub fn pause(&self, yes: bool) {
        self.pause.send_replace(yes);
    }

    /// Returns when a stop was asked for.
    pub async fn stopped(&self) {
        self.stop.cancelled().await;
    }

    /// Returns when no pause holds the session, or a stop was asked for.
    pub async fn may_go_on(&self) {
        let mut pause = self.pause.subscribe();
        tokio::select! {
            () = self.stop.cancelled() => {}
            _ = pause.wait_for(|paused| !paused) => {}
        }
    }
}
