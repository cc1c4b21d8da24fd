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
    /// Of a part of the session: it is stopped with the whole, or alone.
    pub(super) fn part(&self) -> Self {
        Self {
            stop: self.stop.child_token(),
            pause: self.pause.clone(),
        }
    }

    /// Ends the runs that go on, undoes what may be undone, and the session with it.
    pub fn stop(&self) {
        self.stop.cancel();
    }

    /// Whether a stop was asked for.
    #[must_use]
    pub fn is_stopped(&self) -> bool {
        self.stop.is_cancelled()
    }

    /// Begins no further run on any host (or does so again).
    pub fn pause(&self, yes: bool) {
        self.pause.send_replace(yes);
    }

    /// Returns when a stop was asked for.
    pub async fn stopped(&self) {
        self.stop.cancelled().await;
    }

    /// Whether a pause holds the session, and every change of that.
    pub(super) fn pauses(&self) -> watch::Receiver<bool> {
        self.pause.subscribe()
    }
}
