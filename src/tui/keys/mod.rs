//! The one table of keys: handling, help, command bar and `docs/keys.md` all come from it.

mod table;

use std::fmt;

use crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers};

pub use table::KEYS;

/// What a key does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
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
    /// The method's settings.
    Settings,
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
    /// This help.
    Help,
    /// Put the dashboard into the background.
    Suspend,
    /// Leave.
    Quit,
}

/// Where keys mean something.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Context {
    /// Before a run: any pane.
    Picking,
    /// Before a run: the list of methods.
    Methods,
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
    /// The settings of a method.
    Settings,
    /// Lists and texts.
    Lists,
    /// What lies over the screen: help, notes.
    Overlay,
    /// A question with choices.
    Dialog,
    /// A line that is typed into.
    Entry,
    /// Everywhere but in a line that is typed into.
    Everywhere,
    /// Really everywhere.
    Always,
}

impl Context {
    /// All, in the order in which help shows them.
    pub const ALL: [Self; 14] = [
        Self::Picking,
        Self::Methods,
        Self::Settings,
        Self::Watching,
        Self::Live,
        Self::Over,
        Self::Replay,
        Self::Compare,
        Self::Lists,
        Self::Overlay,
        Self::Dialog,
        Self::Entry,
        Self::Everywhere,
        Self::Always,
    ];

    /// Its title in help.
    #[must_use]
    pub fn title(self) -> &'static str {
        match self {
            Self::Picking => "Picking",
            Self::Methods => "Picking: methods",
            Self::Watching => "Watching",
            Self::Live => "Watching a run",
            Self::Over => "After the last run",
            Self::Replay => "Watching a replay",
            Self::Compare => "Comparing",
            Self::Settings => "Settings of a method",
            Self::Lists => "Lists, logs and texts",
            Self::Overlay => "Help and notes",
            Self::Dialog => "Questions",
            Self::Entry => "Typing",
            Self::Everywhere => "Everywhere",
            Self::Always => "Everywhere, even while typing",
        }
    }
}

/// A key, with or without Ctrl. Shift is part of the character.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Hash)]
pub struct Chord {
    /// The key.
    pub code: KeyCode,
    /// Whether Ctrl is held.
    pub ctrl: bool,
}

impl From<KeyEvent> for Chord {
    fn from(event: KeyEvent) -> Self {
        let ctrl = event.modifiers.contains(KeyModifiers::CONTROL);
        let code = match event.code {
            KeyCode::Tab if event.modifiers.contains(KeyModifiers::SHIFT) => KeyCode::BackTab,
            KeyCode::Char(c) if ctrl => KeyCode::Char(c.to_ascii_lowercase()),
            code => code,
        };
        Self { code, ctrl }
    }
}

impl fmt::Display for Chord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = match self.code {
            KeyCode::Char(' ') => "Space".to_owned(),
            KeyCode::Char(c) if self.ctrl => c.to_uppercase().to_string(),
            KeyCode::Char(c) => c.to_string(),
            KeyCode::PageUp => "PgUp".to_owned(),
            KeyCode::PageDown => "PgDn".to_owned(),
            KeyCode::BackTab => "Shift-Tab".to_owned(),
            KeyCode::F(n) => format!("F{n}"),
            code => format!("{code:?}"),
        };
        if self.ctrl {
            write!(f, "Ctrl-{name}")
        } else {
            f.write_str(&name)
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

/// What a key does where these contexts hold, the nearest first.
#[must_use]
pub fn resolve(contexts: &[Context], event: KeyEvent) -> Option<Action> {
    if event.kind == KeyEventKind::Release || event.modifiers.contains(KeyModifiers::ALT) {
        return None;
    }
    let chord = Chord::from(event);
    contexts.iter().find_map(|context| {
        KEYS.iter()
            .find(|bind| bind.context == *context && bind.keys.contains(&chord))
            .map(|bind| bind.action)
    })
}

/// The rows of these contexts, the nearest first.
pub fn rows(contexts: &[Context]) -> impl Iterator<Item = &'static Bind> {
    contexts
        .iter()
        .flat_map(|context| KEYS.iter().filter(move |bind| bind.context == *context))
}

/// The keys of a row, as help shows them.
#[must_use]
pub fn names(bind: &Bind) -> String {
    bind.keys
        .iter()
        .map(Chord::to_string)
        .collect::<Vec<_>>()
        .join(" ")
}

/// `docs/keys.md`.
#[cfg(test)]
fn document() -> String {
    use std::fmt::Write as _;

    let mut page = String::from(
        "# Keys\n\nMade from the table in `src/tui/keys.rs`; a test compares. In the dashboard, `?` shows the keys of\n\
         the place you are in. Where two tables name a key, the more special one holds.\n",
    );
    for context in Context::ALL {
        let _ = write!(page, "\n## {}\n\n| keys | |\n|---|---|\n", context.title());
        for bind in rows(&[context]) {
            let keys: Vec<_> = bind.keys.iter().map(|key| format!("`{key}`")).collect();
            let _ = writeln!(page, "| {} | {} |", keys.join(" "), bind.help);
        }
    }
    page
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_means_one_thing_in_a_context() {
        for (at, bind) in KEYS.iter().enumerate() {
            for key in bind.keys {
                let again = KEYS
                    .iter()
                    .skip(at + 1)
                    .find(|other| other.context == bind.context && other.keys.contains(key));
                assert!(again.is_none(), "{key} in {:?}", bind.context);
            }
        }
    }

    #[test]
    fn every_context_is_documented() {
        for bind in KEYS {
            assert!(Context::ALL.contains(&bind.context));
            assert!(!bind.help.is_empty());
        }
    }

    #[test]
    fn the_documentation_is_the_table() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/keys.md");
        if std::env::var_os("UPDATE_DOCS").is_some() {
            std::fs::write(path, document()).unwrap();
        }
        let found = std::fs::read_to_string(path).unwrap();
        assert!(
            found == document(),
            "docs/keys.md is not what the table says: run the tests with UPDATE_DOCS=1"
        );
    }

    #[test]
    fn the_nearest_context_holds() {
        let event = |code| KeyEvent::new(code, KeyModifiers::NONE);
        let contexts = [
            Context::Replay,
            Context::Watching,
            Context::Everywhere,
            Context::Always,
        ];
        assert_eq!(
            resolve(&contexts, event(KeyCode::Char(' '))),
            Some(Action::Hold)
        );
        assert_eq!(
            resolve(&contexts, event(KeyCode::Char('q'))),
            Some(Action::Quit)
        );
        assert_eq!(
            resolve(
                &[Context::Entry, Context::Always],
                event(KeyCode::Char('q'))
            ),
            None
        );
        let control = KeyEvent::new(KeyCode::Char('C'), KeyModifiers::CONTROL);
        assert_eq!(
            resolve(&[Context::Entry, Context::Always], control),
            Some(Action::Quit)
        );
        let alt = KeyEvent::new(KeyCode::Char('q'), KeyModifiers::ALT);
        assert_eq!(resolve(&contexts, alt), None);
        let shift = KeyEvent::new(KeyCode::Tab, KeyModifiers::SHIFT);
        assert_eq!(resolve(&contexts, shift), Some(Action::PreviousPane));
    }
}
