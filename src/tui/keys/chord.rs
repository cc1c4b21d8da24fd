//! A key, and its name.

use std::fmt;
use std::str::FromStr;

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

/// A key, with or without Ctrl. Shift is part of the character.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Hash)]
pub struct Chord {
    /// The key.
    pub code: KeyCode,
    /// Whether Ctrl is held.
    pub ctrl: bool,
}

/// Keys that have a name instead of a character.
const NAMED: [(&str, KeyCode); 16] = [
    ("Space", KeyCode::Char(' ')),
    ("Enter", KeyCode::Enter),
    ("Esc", KeyCode::Esc),
    ("Tab", KeyCode::Tab),
    ("Shift-Tab", KeyCode::BackTab),
    ("Backspace", KeyCode::Backspace),
    ("Delete", KeyCode::Delete),
    ("Insert", KeyCode::Insert),
    ("Home", KeyCode::Home),
    ("End", KeyCode::End),
    ("PgUp", KeyCode::PageUp),
    ("PgDn", KeyCode::PageDown),
    ("Up", KeyCode::Up),
    ("Down", KeyCode::Down),
    ("Left", KeyCode::Left),
    ("Right", KeyCode::Right),
];

impl Chord {
    /// Whether it is a character that can be typed into a line.
    #[must_use]
    pub fn is_text(self) -> bool {
        !self.ctrl && matches!(self.code, KeyCode::Char(_))
    }

    /// What can be written in the configuration.
    pub(super) fn expected() -> String {
        let names: Vec<&str> = NAMED.iter().map(|(name, _)| *name).collect();
        format!(
            "a character (x, X, +), Ctrl- with a letter, F1 to F12, or one of {}",
            names.join(", ")
        )
    }
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
            KeyCode::Char(c) if c != ' ' && self.ctrl => c.to_uppercase().to_string(),
            KeyCode::Char(c) if c != ' ' => c.to_string(),
            KeyCode::F(n) => format!("F{n}"),
            code => match NAMED.iter().find(|(_, known)| *known == code) {
                Some((name, _)) => (*name).to_owned(),
                None => format!("{code:?}"),
            },
        };
        if self.ctrl {
            write!(f, "Ctrl-{name}")
        } else {
            f.write_str(&name)
        }
    }
}

impl FromStr for Chord {
    type Err = String;

    /// The name that it is shown with; names of keys in any case.
    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("no key is called {text:?}; expected {}", Self::expected());
        let mut chars = text.chars();
        if let (Some(c), None) = (chars.next(), chars.next()) {
            return match c {
                ' ' => Ok(plain(KeyCode::Char(' '))),
                c if c.is_control() || c.is_whitespace() => Err(wrong()),
                c => Ok(plain(KeyCode::Char(c))),
            };
        }
        let lower = text.to_ascii_lowercase();
        if let Some(letter) = lower.strip_prefix("ctrl-") {
            let mut letters = letter.chars();
            return match (letters.next(), letters.next()) {
                // A terminal sends the same for both.
                (Some(c @ ('i' | 'm' | 'h')), None) => Err(format!(
                    "a terminal cannot tell {text} from {}; expected another key",
                    match c {
                        'i' => "Tab",
                        'm' => "Enter",
                        _ => "Backspace",
                    }
                )),
                (Some(c @ 'a'..='z'), None) => Ok(Self {
                    code: KeyCode::Char(c),
                    ctrl: true,
                }),
                _ => Err(wrong()),
            };
        }
        let named = NAMED
            .iter()
            .find(|(name, _)| name.eq_ignore_ascii_case(text));
        if let Some((_, code)) = named {
            return Ok(plain(*code));
        }
        lower
            .strip_prefix('f')
            .and_then(|n| n.parse().ok())
            .filter(|n| (1..=12).contains(n))
            .map(|n| plain(KeyCode::F(n)))
            .ok_or_else(wrong)
    }
}

const fn plain(code: KeyCode) -> Chord {
    Chord { code, ctrl: false }
}
