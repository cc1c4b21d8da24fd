//! What comes into the dashboard, and what goes out.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use crossterm::event::{KeyEvent, MouseEvent};

use crate::event::{Answer, AskId, Nanos, Question};
use crate::recording::{Chapter, Idle, Summary};
use crate::report::Wanted;

use super::offer::{Choice, Offer};
use super::theme::Theme;
use crate::method::SubjectSpec;

/// What comes in.
#[derive(Debug, Clone)]
pub enum Message {
    /// A key was pressed.
    Key(KeyEvent),
    /// The mouse was clicked, or its wheel turned.
    Mouse(MouseEvent),
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
    /// A question to the operator, and its id.
    Ask(AskId, Question),
    /// A question is settled in another way.
    Settled(AskId),
    /// Something to be said on the line at the bottom.
    Say(String),
    /// Something went wrong that no event tells.
    Trouble(String),
    /// The themes that there are, and what is wrong with others.
    Themes(ThemeWish, Vec<Theme>, Vec<String>),
    /// Where a replay stands.
    Replay(ReplayState),
    /// No recording is shown any more.
    ReplayClosed,
    /// What there is in the folder of recordings.
    Recordings(Found),
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
        /// Its new value; its default where there is none.
        value: Option<String>,
    },
    /// Choose what is protected on a host, and answer with an [`Offer`] of this revision.
    Protect {
        /// The revision to answer with.
        revision: u64,
        /// The host.
        host: String,
        /// The subject; what each method makes itself where there is none.
        subject: Option<SubjectSpec>,
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
    /// Look through the folder of recordings, and answer with what is [`Found`].
    Recordings,
    /// Show a recording.
    Open(PathBuf),
    /// Show none any more, but what was shown before.
    CloseReplay,
    /// Delete a recording.
    Delete(PathBuf),
    /// Write a whole log to a file; answer where it is.
    Save(Wanted),
    /// Give a text to the terminal's clipboard. The loop does this itself.
    Copy(String),
    /// Take the mouse, or leave it to the terminal. The loop does this itself.
    Mouse(bool),
    /// Put the program into the background. The loop does this itself; nobody else sees it.
    Suspend,
    /// Read the themes and answer with [`Message::Themes`]. The loop does this, too.
    Themes(ThemeWish),
    /// The dashboard is over, and why.
    Quit(Ended),
}

/// What the themes are wanted for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ThemeWish {
    /// The next one is taken.
    Next,
    /// One is chosen from a list.
    List,
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
    /// Hold at the next moment at which something happened, or at the one before.
    Step(bool),
    /// Begin anew after the end, or not.
    Loop(bool),
    /// Pass over times in which nothing happened, or not.
    Cut(bool),
}

/// What there is in the folder of recordings.
#[derive(Debug, Clone)]
pub enum Found {
    /// These files in this folder, the newest first; none of them is read yet.
    Files(PathBuf, Vec<PathBuf>),
    /// One of them was read.
    Read(Box<Summary>),
    /// All were read.
    All,
    /// It is gone.
    Deleted(PathBuf),
    /// The folder cannot be read, and why.
    Trouble(String),
}

/// Where a replay stands.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ReplayState {
    /// The recording, as the operator knows it.
    pub name: String,
    /// The moment that is shown.
    pub at: Nanos,
    /// Whether that moment was asked for, and the session is not yet the one of it.
    pub sought: bool,
    /// The moment of the last event.
    pub length: Nanos,
    /// So many times as fast as it happened.
    pub speed: f64,
    /// Whether it holds.
    pub paused: bool,
    /// Which one of those that were opened it is.
    pub opened: u64,
    /// So many times as fast at this moment; 0 where it holds or is over.
    pub pace: f64,
    /// Whether it begins anew after its end.
    pub looping: bool,
    /// Whether times in which nothing happened are passed over.
    pub cut: bool,
    /// The length of the one that is passed over at this moment.
    pub passing: Option<Duration>,
    /// So much of the recording was read, in percent; absent once that is all.
    pub read: Option<u8>,
    /// Why it ends where it ends, or does not go on.
    pub trouble: Option<String>,
    /// Moments to go to.
    pub chapters: Arc<[Chapter]>,
    /// Times in which nothing happened.
    pub idle: Arc<Vec<Idle>>,
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
    /// SIGTERM or SIGQUIT.
    Terminated,
    /// SIGHUP, or the terminal is gone.
    HungUp,
}
