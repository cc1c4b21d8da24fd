//! What lies over the screen: help, notes, settings, questions, typing.

use std::path::PathBuf;

use tui_input::Input;

use crate::event::AskId;

use super::offer::{Choice, Named, Picked};
use super::query::Syntax;
use super::runlog::At;
use super::theme::Theme;

/// What lies over the screen.
#[derive(Debug, Clone)]
pub enum Layer {
    /// Keys; rows above the window.
    Help(usize),
    /// Warnings and remarks; rows above the window.
    Notes(usize),
    /// Moments of a recording to go to, and the one under the cursor.
    Chapters(usize),
    /// The settings of a method.
    Settings(Form),
    /// The themes that there are.
    Themes(Box<Themes>),
    /// All that can be done here.
    Palette(Palette),
    /// A line of the log that is to be copied.
    Copying(Copying),
    /// A question with choices.
    Dialog(Dialog),
    /// A line that is typed into.
    Entry(Box<Entry>),
}

/// The settings of a method, as a form.
#[derive(Debug, Clone)]
pub struct Form {
    /// The method.
    pub of: Picked,
    /// The setting under the cursor.
    pub at: usize,
    /// Its new value, while it is typed.
    pub typing: Option<Typing>,
}

/// A value that is being typed.
#[derive(Debug, Clone, Default)]
pub struct Typing {
    /// What was typed.
    pub input: Input,
    /// What is wrong with it.
    pub problem: Option<String>,
}

/// The themes that there are. The one under the cursor is in use, so that it can be seen.
#[derive(Debug, Clone)]
pub struct Themes {
    /// Those that can be had, by name.
    pub all: Vec<Theme>,
    /// What is wrong with others.
    pub wrong: Vec<String>,
    /// The one under the cursor.
    pub at: usize,
    /// The one that was in use before.
    pub before: Theme,
}

/// All that can be done here, by name.
#[derive(Debug, Clone, Default)]
pub struct Palette {
    /// What was typed of a name.
    pub input: Input,
    /// The one under the cursor, among those that are shown.
    pub at: usize,
}

/// A line of the log that is to be copied.
#[derive(Debug, Clone, Copy)]
pub struct Copying {
    /// The line.
    pub at: At,
    /// Whether the end of the log was followed before.
    pub followed: bool,
}

/// A question with choices.
#[derive(Debug, Clone)]
pub struct Dialog {
    /// The question.
    pub title: String,
    /// What there is to know.
    pub lines: Vec<String>,
    /// The choices; the first one changes nothing.
    pub choices: Vec<(String, Decision)>,
    /// The one under the cursor.
    pub at: usize,
}

/// What a choice does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Decision {
    /// Nothing.
    Cancel,
    /// Stop the run and undo it.
    Stop,
    /// The same, then leave.
    StopAndLeave,
    /// Leave at once.
    Abandon,
    /// Yes to a question.
    Yes(AskId),
    /// No to a question.
    No(AskId),
    /// Delete a recording.
    Delete(PathBuf),
}

/// A line that is typed into.
#[derive(Debug, Clone)]
pub struct Entry {
    /// What it is for.
    pub purpose: Purpose,
    /// What to type.
    pub title: String,
    /// What there is to know.
    pub lines: Vec<String>,
    /// What was typed.
    pub input: Input,
    /// Whether all of that is what was typed the last time: it gives way to what is typed now.
    pub selected: bool,
    /// What is wrong with it.
    pub problem: Option<String>,
}

impl Entry {
    /// What there is gives way to text that is typed or pasted, and goes as a whole.
    pub fn begin_anew(&mut self) {
        if std::mem::take(&mut self.selected) {
            self.input.reset();
        }
    }
}

/// What a line that is typed into is for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Purpose {
    /// Search the log.
    Search(Syntax),
    /// Show only some lines of the log.
    FilterLog(Syntax),
    /// Show only methods with this text.
    Filter,
    /// A marker.
    Marker,
    /// Show only recordings with this text.
    FilterRecordings,
    /// A moment of the recording to go to.
    GoTo,
    /// Disks that are carried over to.
    Disks,
    /// Two methods behind each other.
    Pipeline,
    /// A subject on this host.
    Subject(String),
    /// The name of what is destroyed; the choice starts once all are typed.
    Destroy(Named, Choice),
    /// The name that a question asks for.
    Name(AskId, String),
    /// Text that a question asks for.
    Text(AskId),
    /// A secret that a question asks for.
    Secret(AskId),
}
