//! Control characters and escape sequences, taken out of text character by character.

/// Tells which characters of a text may be shown; keeps its place inside a sequence, so the
/// text may come in any pieces.
///
/// Sequences are those of ECMA-48 (CSI, OSC, DCS, SOS, PM, APC and plain escapes), also in
/// their one-character (C1) form.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Escapes {
    place: Place,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Place {
    #[default]
    Text,
    /// Behind ESC.
    Escape,
    /// Behind ESC and an intermediate: one final character is left.
    Charset,
    /// In a control sequence, until its final character.
    Control,
    /// In a string, until BEL or ST.
    String,
    /// In a string, behind ESC: ST or a new sequence.
    StringEscape,
}

impl Escapes {
    /// Whether this character is text. A tab is: columns of tables are told apart by it.
    pub fn is_text(&mut self, c: char) -> bool {
        let (place, text) = self.step(c);
        self.place = place;
        text
    }

    /// Splits off the printable ASCII characters and tabs that `text` begins with, where it begins
    /// outside of a sequence: text as it is, and nearly all that there is.
    #[must_use]
    pub fn plain<'a>(&self, text: &'a str) -> (&'a str, &'a str) {
        let plain = match self.place {
            Place::Text => text
                .bytes()
                .position(|byte| !matches!(byte, b' '..=b'~' | b'\t'))
                .unwrap_or(text.len()),
            _ => 0,
        };
        text.split_at_checked(plain).unwrap_or(("", text))
    }

    fn step(self, c: char) -> (Place, bool) {
        use Place::{Charset, Control, Escape, String, StringEscape, Text};
        let next = match (self.place, c) {
            // CAN and SUB give any sequence up; BEL and ST end a string.
            (_, '\u{18}' | '\u{1a}') | (String, '\u{7}' | '\u{9c}') => Text,
            (String, '\u{1b}') => StringEscape,
            (_, '\u{1b}') => Escape,
            (String, _)
            | (Escape | StringEscape, ']' | 'P' | 'X' | '^' | '_')
            | (Text, '\u{90}' | '\u{98}' | '\u{9d}'..='\u{9f}') => String,
            (Escape | StringEscape, '[') | (Text, '\u{9b}') | (Control, ' '..='?') => Control,
            (Escape | StringEscape | Charset, ' '..='/') => Charset,
            (Escape | StringEscape | Charset, '0'..='~') | (Control, '@'..='~') => Text,
            (place, c) if c.is_control() && c != '\t' => place,
            // Not part of any sequence: a broken one is over, the character is text.
            (_, c) => return (Text, is_shown(c)),
        };
        (next, false)
    }
}

/// Marks that turn the direction of what follows would let a host rearrange a screen.
fn is_shown(c: char) -> bool {
    !matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn strip(text: &str) -> String {
        let mut escapes = Escapes::default();
        text.chars().filter(|c| escapes.is_text(*c)).collect()
    }

    #[test]
    fn what_is_plain_is_text() {
        let mut escapes = Escapes::default();
        assert_eq!(escapes.plain("a~\t b\u{7f}c"), ("a~\t b", "\u{7f}c"));
        assert_eq!(escapes.plain("äb"), ("", "äb"));
        assert_eq!(escapes.plain("ab"), ("ab", ""));
        escapes.is_text('\u{1b}');
        assert_eq!(escapes.plain("[m"), ("", "[m"));
    }

    #[test]
    fn colours_titles_and_charsets_go() {
        assert_eq!(strip("\u{1b}[1;31mred\u{1b}[0m"), "red");
        assert_eq!(strip("a\u{1b}]0;title\u{7}b\u{1b}]8;;x\u{1b}\\c"), "abc");
        assert_eq!(strip("a\u{1b}(Bb\u{1b}=c\u{1b}cd"), "abcd");
        assert_eq!(strip("a\u{1b}Pq#0;2\u{1b}\\b\u{1b}_apc\u{1b}\\c"), "abc");
        assert_eq!(strip("a\u{9b}31mb\u{9d}0;t\u{9c}c"), "abc");
    }

    #[test]
    fn lone_control_characters_go_and_tabs_stay() {
        assert_eq!(strip("a\u{0}b\u{8}c\td\u{7f}e\u{85}"), "abc\tde");
        assert_eq!(strip("a\u{202e}b\u{2066}c"), "abc");
    }

    #[test]
    fn a_broken_sequence_costs_no_text_behind_it() {
        assert_eq!(strip("\u{1b}[12\u{18}ab"), "ab");
        assert_eq!(strip("\u{1b}[12é"), "é");
        assert_eq!(strip("\u{1b}]0;t\u{1b}[1mab"), "ab");
        assert_eq!(strip("\u{1b}\u{1b}[1mab"), "ab");
    }
}
