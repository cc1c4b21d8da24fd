//! What the dashboard is given: a session that changes, how to begin, and channels to who runs it.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use chrono::FixedOffset;
use tokio::sync::{mpsc, watch};

use crate::session::Session;

use super::keys::Keymap;
use super::message::{Effect, Message, ReplayState};
use super::offer::Offer;
use super::theme::{Shelf, Theme};

/// Where the session comes from: a run, or a recording.
pub struct Feed {
    /// The session. It is locked only to look at it, never while anything is waited for.
    pub session: Arc<Mutex<Session>>,
    /// Told after each change.
    pub changes: watch::Receiver<u64>,
    /// Where the replay stands, while a recording is shown; absent where none ever will be.
    pub replay: Option<watch::Receiver<Option<ReplayState>>>,
    /// Whether it begins with the list of recordings.
    pub list: bool,
}

impl Feed {
    /// Of an engine that folds what happens into `session`.
    #[must_use]
    pub fn live(session: Arc<Mutex<Session>>, changes: watch::Receiver<u64>) -> Self {
        Self {
            session,
            changes,
            replay: None,
            list: false,
        }
    }

    /// The same, where a player may do it from a recording, too.
    #[must_use]
    pub fn replay(
        session: Arc<Mutex<Session>>,
        changes: watch::Receiver<u64>,
        replay: watch::Receiver<Option<ReplayState>>,
    ) -> Self {
        Self {
            session,
            changes,
            replay: Some(replay),
            list: false,
        }
    }

    /// The same, which begins with the list of recordings.
    #[must_use]
    pub fn from_list(self) -> Self {
        Self { list: true, ..self }
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, Session> {
        self.session.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// How the dashboard begins.
pub struct Start {
    /// Styles.
    pub theme: Theme,
    /// Other styles.
    pub shelf: Shelf,
    /// The zone that times of day are shown in.
    pub zone: FixedOffset,
    /// What can be picked, where that is known already.
    pub offer: Option<Offer>,
    /// What keys do.
    pub keys: Keymap,
    /// Whether the mouse is taken.
    pub mouse: bool,
}

/// To and from the part that runs the session.
pub struct Channels {
    /// What it has to say.
    pub messages: mpsc::Receiver<Message>,
    /// What the operator wants done. [`Effect::Quit`] is the last one.
    pub effects: mpsc::Sender<Effect>,
}
