//! Bytes of one stream into harmless lines, whatever pieces they come in.

use unicode_width::UnicodeWidthChar;

use super::super::text::is_unsafe;
use crate::event::Nanos;

/// Most bytes of a line that are kept.
const MOST: usize = 4096;
/// Marks a line that was longer.
const CUT: char = '…';
/// Cells between two tabulator stops.
const TAB: usize = 8;

/// Bytes of one stream, as lines that a terminal would show: control sequences are left out, and
/// a line that was rewritten is what it was last.
#[derive(Debug)]
pub struct Lines {
    /// Most bytes of a line that are kept.
    most: usize,
    text: String,
    at: Nanos,
    cells: usize,
    /// A carriage return came: what follows overwrites the line, unless it is its end.
    returned: bool,
    cut: bool,
    state: State,
    /// The beginning of a character whose other bytes have not come yet.
    begun: Vec<u8>,
}

/// Where in an escape sequence the stream is (ECMA-48).
#[derive(Debug, Default, Clone, Copy, PartialEq)]
enum State {
    #[default]
    Text,
    /// After ESC.
    Escape,
    /// Within a control sequence, which a byte from `@` to `~` ends.
    Sequence,
    /// Within a command string (a window title), which BEL or ESC `\` ends. So does a line's
    /// end: no tool writes one in a title, and a title that never ends would swallow the log.
    Command,
    /// After ESC within a command string.
    CommandEscape,
}

impl State {
    /// The state after one more character; absent where that is no part of any sequence.
    fn after(self, c: char) -> Option<Self> {
        Some(match self {
            Self::Text => return None,
            Self::Command => match c {
                '\u{7}' | '\u{9c}' => Self::Text,
                '\u{1b}' => Self::CommandEscape,
                _ => self,
            },
            Self::CommandEscape if c == '\\' => Self::Text,
            Self::Escape | Self::CommandEscape => match c {
                '[' => Self::Sequence,
                ']' | 'P' | 'X' | '^' | '_' => Self::Command,
                '0'..='~' => Self::Text,
                c if c.is_ascii() => Self::Escape,
                _ => return None,
            },
            Self::Sequence => match c {
                '@'..='~' => Self::Text,
                '\u{1b}' => Self::Escape,
                c if c.is_ascii() => self,
                _ => return None,
            },
        })
    }
}

// A clone takes as much room as what it is a clone of: what the store drops goes by it.
impl Clone for Lines {
    fn clone(&self) -> Self {
        let mut text = String::with_capacity(self.text.capacity());
        text.push_str(&self.text);
        let mut begun = Vec::with_capacity(self.begun.capacity());
        begun.extend_from_slice(&self.begun);
        Self {
            text,
            begun,
            ..*self
        }
    }
}

impl Default for Lines {
    fn default() -> Self {
        Self::with_most(MOST)
    }
}

impl Lines {
    /// Of a new stream; longer lines are cut after so many bytes.
    #[must_use]
    pub fn with_most(most: usize) -> Self {
        Self {
            most,
            text: String::new(),
            at: Nanos::default(),
            cells: 0,
            returned: false,
            cut: false,
            state: State::default(),
            begun: Vec::new(),
        }
    }

    /// Takes bytes that came at `t`; tells each line that they complete.
    pub fn feed(&mut self, t: Nanos, bytes: &[u8], done: &mut impl FnMut(Nanos, &str)) {
        let mut rest = bytes;
        while !self.begun.is_empty() {
            let Some((&byte, after)) = rest.split_first() else {
                return;
            };
            self.begun.push(byte);
            match std::str::from_utf8(&self.begun).map_err(|why| why.error_len()) {
                Ok(text) => {
                    let text = text.to_owned();
                    self.begun.clear();
                    self.text(t, &text, done);
                    rest = after;
                }
                Err(None) => rest = after,
                Err(Some(_)) => {
                    // The bytes before this one began a character that does not go on.
                    self.begun.clear();
                    self.text(t, "\u{fffd}", done);
                }
            }
        }
        let mut chunks = rest.utf8_chunks().peekable();
        while let Some(chunk) = chunks.next() {
            self.text(t, chunk.valid(), done);
            let invalid = chunk.invalid();
            if invalid.is_empty() {
                continue;
            }
            let may_go_on = chunks.peek().is_none()
                && std::str::from_utf8(invalid).is_err_and(|why| why.error_len().is_none());
            if may_go_on {
                self.begun.extend_from_slice(invalid);
            } else {
                self.text(t, "\u{fffd}", done);
            }
        }
    }

    /// The line that is not complete yet, where it has text, and when that came.
    #[must_use]
    pub fn open(&self) -> Option<(Nanos, &str)> {
        (!self.text.is_empty()).then_some((self.at, self.text.as_str()))
    }

    /// Forgets the stream's state; tells the line that was open.
    pub fn close(&mut self, done: &mut impl FnMut(Nanos, &str)) {
        if let Some((at, text)) = self.open() {
            done(at, text);
        }
        *self = Self::with_most(self.most);
    }

    /// Bytes that it takes beside itself.
    pub(super) fn bytes(&self) -> usize {
        self.text.capacity() + self.begun.capacity()
    }

    fn text(&mut self, t: Nanos, text: &str, done: &mut impl FnMut(Nanos, &str)) {
        let mut rest = text;
        while !rest.is_empty() {
            if self.state == State::Text {
                let plain = rest
                    .bytes()
                    .position(|byte| !(0x20..0x7f).contains(&byte))
                    .unwrap_or(rest.len());
                let Some((run, after)) = rest.split_at_checked(plain) else {
                    return;
                };
                if !run.is_empty() {
                    self.put(t, run, run.len());
                }
                rest = after;
            }
            let mut chars = rest.chars();
            let Some(c) = chars.next() else {
                return;
            };
            if self.state == State::Text {
                self.shown(t, c, done);
            } else {
                self.hidden(t, c, done);
            }
            rest = chars.as_str();
        }
    }

    fn shown(&mut self, t: Nanos, c: char, done: &mut impl FnMut(Nanos, &str)) {
        match c {
            '\n' => self.end_of_line(t, done),
            '\r' => self.returned = true,
            '\t' => {
                let at = if self.returned { 0 } else { self.cells };
                let blanks = TAB - at % TAB;
                self.put(t, "        ".get(..blanks).unwrap_or(" "), blanks);
            }
            '\u{1b}' => self.state = State::Escape,
            '\u{9b}' => self.state = State::Sequence,
            '\u{90}' | '\u{98}' | '\u{9d}'..='\u{9f}' => self.state = State::Command,
            c if is_unsafe(c) => {}
            c => self.put(
                t,
                c.encode_utf8(&mut [0; 4]),
                UnicodeWidthChar::width(c).unwrap_or(0),
            ),
        }
    }

    fn hidden(&mut self, t: Nanos, c: char, done: &mut impl FnMut(Nanos, &str)) {
        let next = match c {
            // Ends every sequence, and is itself obeyed.
            '\n' | '\r' => None,
            // CAN and SUB cancel.
            '\u{18}' | '\u{1a}' => Some(State::Text),
            c => self.state.after(c),
        };
        self.state = next.unwrap_or_default();
        if next.is_none() {
            self.shown(t, c, done);
        }
    }

    fn put(&mut self, t: Nanos, text: &str, cells: usize) {
        if self.returned {
            self.clear();
        }
        if self.text.is_empty() {
            self.at = t;
        }
        self.cells += cells;
        if self.cut {
            return;
        }
        let room = self.most.saturating_sub(self.text.len());
        if text.len() <= room {
            self.text.push_str(text);
            return;
        }
        let fits = text.floor_char_boundary(room);
        self.text.push_str(text.get(..fits).unwrap_or_default());
        self.text.push(CUT);
        self.cut = true;
    }

    fn end_of_line(&mut self, t: Nanos, done: &mut impl FnMut(Nanos, &str)) {
        let at = if self.text.is_empty() { t } else { self.at };
        done(at, &self.text);
        self.clear();
        // One long line is no reason to keep its room for every step that ever ran.
        if self.text.capacity() > 1024 {
            self.text.shrink_to(256);
        }
    }

    fn clear(&mut self) {
        self.text.clear();
        self.cells = 0;
        self.returned = false;
        self.cut = false;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(pieces: &[&[u8]]) -> Vec<String> {
        let mut screen = Lines::default();
        let mut all = Vec::new();
        for piece in pieces {
            screen.feed(Nanos(0), piece, &mut |_, line| all.push(line.to_owned()));
        }
        screen.close(&mut |_, line| all.push(line.to_owned()));
        all
    }

    fn one(text: &str) -> String {
        lines(&[text.as_bytes()]).join("\n")
    }

    #[test]
    fn lines_end_with_either_end() {
        assert_eq!(lines(&[b"a\nb\r\n\nc"]), ["a", "b", "", "c"]);
        assert_eq!(lines(&[b"a\r", b"\nb"]), ["a", "b"]);
        assert_eq!(lines(&[b"a\r\r\nb"]), ["a", "b"]);
    }

    #[test]
    fn a_carriage_return_rewrites_the_line() {
        assert_eq!(one("10%\r20%\r30%\ndone"), "30%\ndone");
        assert_eq!(one("long before\rx"), "x");
        assert_eq!(one("what stands stays\r"), "what stands stays");
        assert_eq!(one("\r\rx\ty"), "x       y");
        assert_eq!(one("abc\r\ty"), "        y");
    }

    #[test]
    fn escapes_and_controls_are_left_out() {
        assert_eq!(one("\u{1b}[1;31mred\u{1b}[0m"), "red");
        assert_eq!(one("\u{1b}]0;title\u{7}a\u{1b}]8;;http://x\u{1b}\\b"), "ab");
        assert_eq!(one("\u{1b}(Ba\u{1b}=b\u{1b}Pq#0\u{1b}\\c"), "abc");
        assert_eq!(one("a\u{9b}31mb\u{9d}title\u{9c}c\u{85}d"), "abcd");
        assert_eq!(one("a\u{8}\u{7f}\u{0}\u{7}b"), "ab");
        assert_eq!(one("\u{1b}[12\u{18}a\u{1b}]x\u{1a}b"), "ab");
        assert_eq!(one("\u{1b}\u{1b}[mx\u{1b}\u{e9}"), "x\u{e9}");
        assert_eq!(one("\u{202e}abc\u{2028}d"), "abcd");
    }

    #[test]
    fn a_sequence_without_end_costs_no_more_than_its_line() {
        assert_eq!(one("a\u{1b}]0;never\nb"), "a\nb");
        assert_eq!(one("a\u{1b}[1;2;3\nb"), "a\nb");
        assert_eq!(one("a\u{1b}\nb"), "a\nb");
        assert_eq!(one("a\u{1b}]0;never\rb"), "b");
    }

    #[test]
    fn tabs_reach_the_next_stop() {
        assert_eq!(one("\tx"), "        x");
        assert_eq!(one("abc\tx"), "abc     x");
        assert_eq!(one("12345678\tx"), "12345678        x");
        assert_eq!(one("\u{6f22}\u{5b57}\tx"), "\u{6f22}\u{5b57}    x");
    }

    #[test]
    fn what_is_not_utf_8_is_replaced_as_a_whole_string_would_be() {
        for bytes in [
            &b"caf\xe9 au lait"[..],
            b"\xff\xfe",
            b"\xe2\x82",
            b"\xe2\x82\xe2\x82\xac",
            b"\xf0\x9f\x92x\xf0\x9f\x92\xa9",
            b"\xed\xa0\x80",
            b"\xc3\xc3\xa9",
        ] {
            // An unfinished character at the very end is only waited for.
            let mut with_end = bytes.to_vec();
            with_end.push(b'.');
            let whole = String::from_utf8_lossy(&with_end).into_owned();
            for cut in 0..with_end.len() {
                let (a, b) = with_end.split_at(cut);
                assert_eq!(lines(&[a, b]).join("\n"), whole, "{bytes:?} at {cut}");
            }
        }
    }

    #[test]
    fn a_long_line_is_cut_and_says_so() {
        assert_eq!(one(&"x".repeat(MOST)), "x".repeat(MOST));
        let cut = one(&"x".repeat(MOST + 1));
        assert_eq!(cut, format!("{}…", "x".repeat(MOST)));
        let cut = one(&format!("{}\nnext", "\u{e9}".repeat(MOST)));
        assert_eq!(cut, format!("{}…\nnext", "\u{e9}".repeat(MOST / 2)));
        assert_eq!(one(&format!("{}\rnew", "x".repeat(MOST * 2))), "new");
    }

    #[test]
    fn a_line_came_when_its_first_character_did() {
        let mut screen = Lines::default();
        let mut all = Vec::new();
        let mut feed = |t, text: &str| {
            screen.feed(Nanos(t), text.as_bytes(), &mut |at, line| {
                all.push((at.0, line.to_owned()));
            });
        };
        feed(1, "one");
        feed(2, " more\n\n");
        feed(3, "10%");
        feed(4, "\r20%");
        feed(5, "\n");
        assert_eq!(
            all,
            [
                (1, "one more".to_owned()),
                (2, String::new()),
                (4, "20%".to_owned())
            ]
        );
    }
}
