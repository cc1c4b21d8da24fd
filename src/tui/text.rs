//! Text in cells: cleaning, cutting, padding. Never by bytes, never by `char`s.

use std::borrow::Cow;

use ratatui::buffer::CellWidth;
use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthStr;

use super::odd;

/// Text from a host, made safe to show: what acts on a terminal is taken out, and what terminals
/// count differently is replaced.
#[must_use]
pub fn clean(text: &str) -> Cow<'_, str> {
    odd::even(crate::session::clean(text))
}

/// How many cells a text takes.
#[must_use]
pub fn width(text: &str) -> usize {
    text.graphemes(true).map(cells).sum()
}

/// How many cells a grapheme takes, as ratatui counts them, which draws it: halfwidth sound marks
/// get more than Unicode gives them.
fn cells(grapheme: &str) -> usize {
    if grapheme.contains(char::is_control) {
        return UnicodeWidthStr::width(grapheme);
    }
    usize::from(grapheme.cell_width())
}

/// The part of a text that fills `width` cells from cell `left` on. Half of a wide character, at
/// either side, becomes a blank, so that what follows stays in its column.
#[must_use]
pub fn window(text: &str, left: usize, width: usize) -> String {
    let mut part = String::new();
    let (mut at, end) = (0, left.saturating_add(width));
    for grapheme in text.graphemes(true) {
        if at >= end {
            break;
        }
        let next = at + cells(grapheme);
        if at >= left && next <= end {
            part.push_str(grapheme);
        } else if next > left {
            let seen = next.min(end).saturating_sub(at.max(left));
            part.extend(std::iter::repeat_n(' ', seen));
        } else {
            // Left of the window.
        }
        at = next;
    }
    part
}

/// A text in at most `width` cells; `…` says that some of it is missing.
#[must_use]
pub fn cut(text: &str, width: usize) -> Cow<'_, str> {
    if self::width(text) <= width {
        return Cow::Borrowed(text);
    }
    match width.checked_sub(1) {
        None => Cow::Borrowed(""),
        Some(room) => Cow::Owned(format!("{}…", window(text, 0, room))),
    }
}

/// A name in at most `width` cells; where some of it is missing, `…` stands in its middle: names of
/// a family begin alike, and are told apart by their ends.
#[must_use]
pub fn name(text: &str, width: usize) -> Cow<'_, str> {
    let whole = self::width(text);
    let Some(room) = width.checked_sub(1).filter(|_| whole > width) else {
        return cut(text, width);
    };
    let end = room / 2;
    let (front, back) = (window(text, 0, room - end), window(text, whole - end, end));
    Cow::Owned(format!("{front}…{back}"))
}

/// A text in exactly `width` cells, blanks at its right.
#[must_use]
pub fn left(text: &str, width: usize) -> String {
    let part = cut(text, width);
    let blanks = width.saturating_sub(self::width(&part));
    format!("{part}{:blanks$}", "")
}

/// A text in exactly `width` cells, blanks at its left.
#[must_use]
pub fn right(text: &str, width: usize) -> String {
    let part = cut(text, width);
    let blanks = width.saturating_sub(self::width(&part));
    format!("{:blanks$}{part}", "")
}

/// How many rows of `width` cells a text takes; an empty one takes one.
#[must_use]
pub fn rows(text: &str, width: usize) -> usize {
    wrap(text, width).count()
}

/// A text in rows of at most `width` cells, broken between graphemes.
pub fn wrap(text: &str, width: usize) -> impl Iterator<Item = &str> {
    let mut rest = Some(text);
    std::iter::from_fn(move || {
        let whole = rest?;
        let mut taken = 0;
        for (at, grapheme) in whole.grapheme_indices(true) {
            let next = taken + cells(grapheme);
            if next > width && at > 0 {
                let (row, tail) = whole.split_at_checked(at)?;
                rest = Some(tail);
                return Some(row);
            }
            taken = next;
        }
        rest = None;
        Some(whole)
    })
}

/// A text in rows of at most `width` cells, broken between words where one fits.
#[must_use]
pub fn wrap_words(text: &str, width: usize) -> Vec<String> {
    let mut rows = Vec::new();
    let mut row = String::new();
    for word in text.split_whitespace() {
        let need = self::width(word) + usize::from(!row.is_empty());
        if self::width(&row) + need > width && !row.is_empty() {
            rows.push(std::mem::take(&mut row));
        }
        if !row.is_empty() {
            row.push(' ');
        }
        if self::width(word) > width {
            let mut pieces = wrap(word, width).peekable();
            while let Some(piece) = pieces.next() {
                if pieces.peek().is_some() {
                    rows.push(piece.to_owned());
                } else {
                    row.push_str(piece);
                }
            }
        } else {
            row.push_str(word);
        }
    }
    if !row.is_empty() || rows.is_empty() {
        rows.push(row);
    }
    rows
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn control_characters_and_tricks_do_not_pass() {
        assert_eq!(clean("plain ünï 漢"), "plain ünï 漢");
        assert_eq!(clean("a\u{1b}[31mb\rc\u{9b}d"), "a[31mb cd");
        assert_eq!(clean("user\u{202e}txt.exe"), "usertxt.exe");
        assert_eq!(clean("a\tb"), "a b");
        assert_eq!(clean("1\u{fe0f}\u{200d}2"), "12");
    }

    #[test]
    fn wide_characters_are_cut_by_cells() {
        assert_eq!(width("漢字ab"), 6);
        assert_eq!(cut("漢字ab", 6), "漢字ab");
        assert_eq!(cut("漢字ab", 4), "漢 …");
        assert_eq!(cut("漢字ab", 1), "…");
        assert_eq!(cut("漢", 0), "");
        assert_eq!(name("漢字ab", 6), "漢字ab");
        assert_eq!(name("漢字漢字", 5), "漢…字");
        assert_eq!(name("漢字漢字", 4), "漢… ");
        assert_eq!(name("zfs-send-to-a", 9), "zfs-…to-a");
        assert_eq!(name("zfs-send-to-b", 9), "zfs-…to-b");
        assert_eq!(name("ab", 1), "…");
        assert_eq!(name("ab", 0), "");
        assert_eq!(left("e\u{301}", 3), "e\u{301}  ");
        assert_eq!(right("漢", 3), " 漢");
    }

    #[test]
    fn half_a_wide_character_keeps_its_column() {
        assert_eq!(window("漢字ab", 1, 3), " 字");
        assert_eq!(window("漢字ab", 1, 2), "  ");
        assert_eq!(window("abc", 5, 2), "");
    }

    #[test]
    fn rows_are_filled_by_cells_or_words() {
        assert_eq!(wrap("漢字ab", 3).collect::<Vec<_>>(), ["漢", "字a", "b"]);
        assert_eq!(wrap("", 3).collect::<Vec<_>>(), [""]);
        assert_eq!(wrap("漢字", 1).collect::<Vec<_>>(), ["漢", "字"]);
        assert_eq!(wrap_words("one two three", 8), ["one two", "three"]);
        assert_eq!(
            wrap_words("incomprehensible x", 6),
            ["incomp", "rehens", "ible x"]
        );
        assert_eq!(wrap_words("", 6), [""]);
    }

    proptest! {
        #[test]
        fn a_padded_text_has_its_width(text in "\\PC{0,40}", cells in 0_usize..30) {
            let text = clean(&text);
            prop_assert_eq!(width(&left(&text, cells)), cells);
            prop_assert_eq!(width(&right(&text, cells)), cells);
            prop_assert!(width(&cut(&text, cells)) <= cells);
            prop_assert!(width(&name(&text, cells)) <= cells);
        }

        #[test]
        fn wrapping_loses_nothing(text in "\\PC{0,80}", cells in 1_usize..20) {
            prop_assert_eq!(wrap(&text, cells).collect::<String>(), text);
        }
    }
}
