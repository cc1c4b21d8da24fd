//! What comes into the dashboard, and what goes out.

use std::fmt;

use crossterm::event::KeyEvent;

use crate::event::{AskId, Nanos};

use super::offer::{Choice, Offer};

/// What comes in.
#[derive(Debug, Clone)]
pub enum Message {
    /// A key was pressed.
    Key(KeyEvent),
    /// Text was pasted.
    Paste(String),
    /// The terminal has this many columns and rows now.
    Resize(u16, u16),
    /// The session has changed; the session's clock stands here.
    Changed(Nanos),
    /// Time has passed; the session's clock stands here.
    Tick(Nanos),
    /// What can be picked.
    Offer(Box<Offer>),
    /// The engine works on the session: show it.
    Began,
    /// A question to the operator.
    Ask(Question),
    /// A question is settled in another way.
    Settled(AskId),
    /// Something to be said on the line at the bottom.
    Say(String),
    /// Something went wrong that no event tells.
    Trouble(String),
    /// Where a replay stands.
    Replay(ReplayState),
    /// The program is asked to end from outside, or the terminal is gone.
    Ended(Ended),
}

/// What goes out.
#[derive(Debug, Clone, PartialEq)]
pub enum Effect {
    /// Run this.
    Start(Choice),
    /// Probe the hosts again and answer with an [`Offer`] of this revision.
    Refresh {
        /// The revision to answer with.
        revision: u64,
    },
    /// Change a setting and answer with an [`Offer`] of this revision.
    Set {
        /// The revision to answer with.
        revision: u64,
        /// The host of the method.
        host: String,
        /// The method.
        method: String,
        /// The setting.
        key: String,
        /// Its new value.
        value: String,
    },
    /// Stop the run that goes on, undo what is out, end the session.
    Stop,
    /// Start no further run until [`Effect::Resume`].
    PauseAfterRun,
    /// Go on.
    Resume,
    /// A marker for the recording.
    Marker(String),
    /// The answer to a question.
    Confirm {
        /// The question.
        ask: AskId,
        /// The answer.
        answer: Answer,
    },
    /// For the player.
    Replay(Player),
    /// Put the program into the background. The loop does this itself; nobody else sees it.
    Suspend,
    /// The dashboard is over, and why.
    Quit(Ended),
}

/// What a player is to do.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Player {
    /// Hold.
    Pause,
    /// Go on.
    Play,
    /// So many times as fast as it happened.
    Speed(f64),
    /// To this moment, on the session's clock.
    Seek(Nanos),
}

/// Where a replay stands.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ReplayState {
    /// The recording, as the operator knows it.
    pub name: String,
    /// The moment that is shown.
    pub at: Nanos,
    /// The moment of the last event.
    pub length: Nanos,
    /// So many times as fast as it happened.
    pub speed: f64,
    /// Whether it holds.
    pub paused: bool,
}

/// A question to the operator.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Question {
    /// Its id.
    pub ask: AskId,
    /// One line.
    pub title: String,
    /// What there is to know: a fingerprint, what is destroyed.
    pub lines: Vec<String>,
    /// What kind of answer it wants.
    pub kind: QuestionKind,
}

/// What kind of answer a question wants.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum QuestionKind {
    /// Yes or no; no unless yes is chosen.
    YesNo {
        /// What saying yes does, in a few words.
        yes: String,
    },
    /// This text, exactly.
    Name(String),
    /// Text that is not shown.
    Secret,
}

/// An answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer {
    /// No, or nothing was entered.
    No,
    /// Yes, or the name was typed.
    Yes,
    /// What was entered, not to be shown.
    Secret(Secret),
}

/// Text that is never shown.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(pub String);

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(…)")
    }
}

/// Why the dashboard is over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ended {
    /// The operator left it.
    Quit,
    /// The operator left it while the session was still being undone.
    Abandoned,
    /// SIGINT from outside.
    Interrupted,
    /// SIGTERM.
    Terminated,
    /// SIGHUP, or the terminal is gone.
    HungUp,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_is_not_printed() {
        let effect = Effect::Confirm {
            ask: "a1".into(),
            answer: Answer::Secret(Secret("hunter2".into())),
        };
        assert!(!format!("{effect:?}").contains("hunter2"));
    }
}
