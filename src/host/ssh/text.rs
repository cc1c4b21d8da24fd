//! Text that somebody else wrote, made fit for a message.

/// The longest piece of foreign text that a message quotes, in characters.
const LONGEST: usize = 300;

/// One line without control characters and without what reorders or hides text, of bounded
/// length.
pub(in crate::host) fn plain(text: &str) -> String {
    let shown = |c: char| match c {
        '\u{2028}' | '\u{2029}' => Some(' '),
        c if c.is_control() => Some(' '),
        // Marks of direction, and characters without width.
        '\u{61c}'
        | '\u{200b}'..='\u{200f}'
        | '\u{202a}'..='\u{202e}'
        | '\u{2060}'..='\u{2069}'
        | '\u{feff}' => None,
        c => Some(c),
    };
    let text: String = text.chars().filter_map(shown).collect();
    let text = text.trim();
    let mut out: String = text.chars().take(LONGEST).collect();
    if text.chars().nth(LONGEST).is_some() {
        out.push('…');
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_of_it_drives_a_terminal() {
        assert_eq!(plain("a\u{1b}[31mb\r\nc\u{9b}d "), "a [31mb  c d");
        assert_eq!(
            plain("a\u{202e}b\u{2066}c\u{200f}d\u{200b}e\u{2028}f\u{feff}"),
            "abcde f"
        );
        assert_eq!(plain("Grüße, 東京, עברית"), "Grüße, 東京, עברית");
        assert_eq!(plain(&"x".repeat(1000)).chars().count(), LONGEST + 1);
    }
}
