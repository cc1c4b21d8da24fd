//! Text in columns, by the cells that a terminal gives it.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// A no-break space.
const JOINED: &str = "\u{a0}";

/// Which side of a column its text keeps to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Side {
    Left,
    Right,
}

/// Cells that a text takes.
pub(super) fn cells(text: &str) -> usize {
    text.width()
}

/// A text of exactly so many cells; one that is too long ends with `…`.
pub(super) fn fit(text: &str, width: usize, side: Side) -> String {
    let text = cut(text, width);
    let blanks = " ".repeat(width.saturating_sub(cells(&text)));
    match side {
        Side::Left => text + &blanks,
        Side::Right => blanks + &text,
    }
}

/// A text of at most so many cells; one that was longer ends with `…`.
pub(super) fn cut(text: &str, width: usize) -> String {
    if cells(text) <= width {
        return text.to_owned();
    }
    format!("{}…", head(text, width.saturating_sub(1)))
}

/// A name of at most so many cells; one that was longer has `…` in its middle: names of a family
/// begin alike, and are told apart by their ends.
pub(super) fn name(text: &str, width: usize) -> String {
    let Some(room) = width.checked_sub(1).filter(|_| cells(text) > width) else {
        return cut(text, width);
    };
    let backwards: String = text.chars().rev().collect();
    let end: String = head(&backwards, room / 2).chars().rev().collect();
    format!("{}…{end}", head(text, room - cells(&end)))
}

// As much of a text as so many cells have room for.
fn head(text: &str, width: usize) -> &str {
    let mut used = 0;
    let end = text.char_indices().find(|(_, c)| {
        used += c.width().unwrap_or(0);
        used > width
    });
    let end = end.map_or(text.len(), |(at, _)| at);
    text.get(..end).unwrap_or(text)
}

/// Text that is not broken between its words where a line has room for it.
pub(super) fn together(text: &str) -> String {
    text.replace(' ', JOINED)
}

/// A text with its words apart again.
pub(super) fn apart(text: &str) -> String {
    text.replace(JOINED, " ")
}

/// A text in lines of at most so many cells, broken at blanks, within words where it must be.
pub(super) fn wrap(text: &str, width: usize) -> Vec<String> {
    let width = width.max(1);
    let mut lines = Vec::new();
    let mut line = String::new();
    for word in text.split(' ').filter(|word| !word.is_empty()) {
        let mut word = word;
        let gap = usize::from(!line.is_empty());
        if !line.is_empty() && cells(&line) + gap + cells(word) > width {
            lines.push(std::mem::take(&mut line));
        }
        while cells(word) > width {
            let (head, tail) = split(word, width);
            lines.push(head.to_owned());
            word = tail;
        }
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
    }
    if !line.is_empty() || lines.is_empty() {
        lines.push(line);
    }
    lines
}

/// Lines that begin with `first`, and those that follow one with as many blanks.
pub(super) fn hang(first: &str, text: &str, width: usize) -> String {
    let indent = cells(first);
    let mut out = String::new();
    for (at, line) in wrap(text, width.saturating_sub(indent)).iter().enumerate() {
        let begin = if at == 0 {
            first.to_owned()
        } else {
            " ".repeat(indent)
        };
        out.push_str(apart(&format!("{begin}{line}")).trim_end());
        out.push('\n');
    }
    out
}

// At least one character, however wide.
fn split(word: &str, width: usize) -> (&str, &str) {
    let mut used = 0;
    for (at, c) in word.char_indices() {
        used += c.width().unwrap_or(0);
        if used > width && at > 0 {
            return word.split_at_checked(at).unwrap_or((word, ""));
        }
    }
    (word, "")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_column_has_its_width_whatever_is_in_it() {
        assert_eq!(fit("ab", 4, Side::Left), "ab  ");
        assert_eq!(fit("ab", 4, Side::Right), "  ab");
        assert_eq!(fit("abcdef", 4, Side::Left), "abc…");
        assert_eq!(fit("\u{6f22}\u{5b57}\u{6f22}", 4, Side::Left), "\u{6f22}… ");
        assert_eq!(fit("caf\u{e9}", 4, Side::Left), "caf\u{e9}");
        assert_eq!(name("send-to-a", 7), "sen…o-a");
        assert_eq!(name("send-to-b", 9), "send-to-b");
        assert_eq!(name("\u{6f22}\u{5b57}\u{6f22}", 5), "\u{6f22}…\u{6f22}");
    }

    #[test]
    fn lines_break_at_blanks_and_within_words_where_they_must() {
        assert_eq!(wrap("one two three", 7), ["one two", "three"]);
        assert_eq!(wrap("a  b", 9), ["a b"]);
        assert_eq!(wrap("abcdefgh ij", 3), ["abc", "def", "gh", "ij"]);
        assert_eq!(wrap("", 9), [""]);
        assert_eq!(wrap("\u{6f22}\u{5b57}", 1), ["\u{6f22}", "\u{5b57}"]);
    }

    #[test]
    fn what_belongs_together_stays_so() {
        let text = format!("a is {} and on", together("not the same"));
        assert_eq!(hang("", &text, 14), "a is\nnot the same\nand on\n");
    }

    #[test]
    fn what_follows_a_first_line_hangs_under_it() {
        assert_eq!(
            hang("  - ", "one two three", 11),
            "  - one two\n    three\n"
        );
    }
}
