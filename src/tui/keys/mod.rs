//! The one table of keys: handling, help, command bar, palette and `docs/keys.md` come from it.

mod changes;
mod chord;
mod keymap;
mod table;

#[cfg(test)]
mod document;
#[cfg(test)]
mod tests;

use strum::{IntoStaticStr, VariantArray};

pub use changes::{Change, KeysError};
pub use chord::Chord;
pub use keymap::{Bound, Keymap};
pub use table::KEYS;

/// What a key does. In the configuration it has the name that it has here, as `next-pane`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, IntoStaticStr)]
#[strum(serialize_all = "kebab-case")]
pub enum Action {
    /// Take the choice under the cursor, or what was typed.
    Accept,
    /// Close what is open; go back to what goes on.
    Back,
    /// Start what was picked.
    Start,
    /// Pick a method, or not.
    Mark,
    /// One repetition more.
    More,
    /// One repetition less.
    Less,
    /// The other order.
    Order,
    /// A method of two that also run at once.
    AtOnce,
    /// What the one of two at once does that is done first.
    First,
    /// The method's settings.
    Settings,
    /// A setting back to its default.
    Reset,
    /// Type another subject.
    Subject,
    /// Show only methods with this text.
    Filter,
    /// All of every command, or its first rows.
    Whole,
    /// Probe the hosts again.
    Refresh,
    /// Stop the run that goes on.
    Stop,
    /// Pause after this run, or go on.
    Pause,
    /// A marker for the recording.
    Marker,
    /// Hold the replay, or go on.
    Hold,
    /// Replay faster.
    Faster,
    /// Replay slower.
    Slower,
    /// Some seconds of the recording back.
    Rewind,
    /// Some seconds of the recording on.
    Advance,
    /// The recording from its beginning.
    Restart,
    /// To the recording's end.
    Finish,
    /// Hold at the moment before at which something happened.
    StepBack,
    /// Hold at the next moment at which something happened.
    StepOn,
    /// To the chapter before.
    PreviousChapter,
    /// To the next chapter.
    NextChapter,
    /// The list of chapters.
    Chapters,
    /// Begin anew after the end, or not.
    Loop,
    /// Pass over times in which nothing happened, or not.
    Cut,
    /// To a moment that is typed.
    GoTo,
    /// The list of recordings.
    Recordings,
    /// Delete a recording.
    Delete,
    /// Follow what goes on.
    Follow,
    /// Search the log.
    Search,
    /// To the next match.
    NextMatch,
    /// To the match before.
    PreviousMatch,
    /// Wrap long lines, or not.
    Wrap,
    /// Times in front of lines, or not.
    Timestamps,
    /// The comparison, or back.
    Compare,
    /// How long other disks take, or back.
    Project,
    /// Type other disks.
    Disks,
    /// Type two methods behind each other.
    Pipeline,
    /// Sort by the next column.
    Sort,
    /// Sort the other way round.
    SortTurned,
    /// All warnings and remarks.
    Notes,
    /// To the next pane.
    NextPane,
    /// To the pane before.
    PreviousPane,
    /// The pane alone, or all.
    Zoom,
    /// Medians or bytes, where they share a pane.
    Swap,
    /// Several hosts side by side, or one.
    Beside,
    /// The screen stands still, or goes on.
    Freeze,
    /// The log of a step alone.
    Open,
    /// Show only lines of the log with this text.
    FilterLog,
    /// Copy from the log.
    Copy,
    /// Copy the line.
    CopyLine,
    /// Copy what was searched for.
    CopyMatch,
    /// Copy the command.
    CopyCommand,
    /// Copy all that the step has printed.
    CopyLog,
    /// The whole log into a file.
    Save,
    /// Far to the left.
    FarLeft,
    /// Far to the right.
    FarRight,
    /// What is typed is a text, or a regular expression.
    Syntax,
    /// Pick and run again.
    Again,
    /// Look at the run before.
    PreviousRun,
    /// Look at the next run.
    NextRun,
    /// Up.
    Up,
    /// Down.
    Down,
    /// Left.
    Left,
    /// Right.
    Right,
    /// A page up.
    PageUp,
    /// A page down.
    PageDown,
    /// To the first.
    Top,
    /// To the last.
    Bottom,
    /// The next theme.
    NextTheme,
    /// A theme from a list.
    Theme,
    /// This help.
    Help,
    /// All that can be done here, by name.
    Palette,
    /// The mouse, or not.
    Mouse,
    /// Put the dashboard into the background.
    Suspend,
    /// Leave.
    Quit,
}

/// Where keys mean something. In the configuration it has the name that it has here.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "kebab-case")]
pub enum Context {
    /// Before a run: any pane.
    Picking,
    /// Before a run: the list of subjects.
    Subject,
    /// Before a run: the list of methods.
    Methods,
    /// The settings of a method.
    Settings,
    /// Watching: the steps.
    Steps,
    /// Watching: the log.
    Log,
    /// Watching: any pane.
    Watching,
    /// Watching a session that goes on.
    Live,
    /// Watching a session that is over.
    Over,
    /// Watching a recording.
    Replay,
    /// The comparison.
    Compare,
    /// How long other disks take.
    Project,
    /// The chapters of a recording.
    Chapters,
    /// The list of recordings.
    Recordings,
    /// Lists and texts.
    Lists,
    /// The list of themes.
    Themes,
    /// What lies over the screen: help, notes.
    Overlay,
    /// All that can be done, by name.
    Palette,
    /// Copying from the log.
    Copying,
    /// A question with choices.
    Dialog,
    /// A line that is typed into.
    Entry,
    /// Everywhere but in a line that is typed into.
    Everywhere,
    /// Really everywhere.
    Always,
}

impl Action {
    /// Its name in the configuration.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.into()
    }
}

impl Context {
    /// All, in the order in which help shows them.
    pub const ALL: &'static [Self] = Self::VARIANTS;

    /// Its name in the configuration.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.into()
    }

    /// Its title in help.
    #[must_use]
    pub fn title(self) -> &'static str {
        match self {
            Self::Picking => "Picking",
            Self::Subject => "Picking: what is protected",
            Self::Methods => "Picking: methods",
            Self::Steps => "Watching: steps",
            Self::Log => "Watching: log",
            Self::Watching => "Watching",
            Self::Live => "Watching a run",
            Self::Over => "After the last run",
            Self::Replay => "Watching a replay",
            Self::Compare => "Comparing",
            Self::Project => "How long for yours",
            Self::Chapters => "Chapters of a recording",
            Self::Recordings => "Recordings",
            Self::Settings => "Settings of a method",
            Self::Lists => "Lists, logs and texts",
            Self::Themes => "Themes",
            Self::Overlay => "Help and notes",
            Self::Palette => "All actions",
            Self::Copying => "Copying from the log",
            Self::Dialog => "Questions",
            Self::Entry => "Typing",
            Self::Everywhere => "Everywhere",
            Self::Always => "Everywhere, even while typing",
        }
    }
}

/// A row of the table.
#[derive(Debug, Clone, Copy)]
pub struct Bind {
    /// Where.
    pub context: Context,
    /// What it does.
    pub action: Action,
    /// Which keys.
    pub keys: &'static [Chord],
    /// What it does, in words.
    pub help: &'static str,
    /// What the command bar calls it; empty where it is not in the bar.
    pub bar: &'static str,
}
