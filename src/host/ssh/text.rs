//! Text that somebody else wrote, made fit for a message.

/// The longest piece of foreign text that a message quotes, in characters.
const LONGEST: usize = 300;

/// One line without control characters, of bounded length.
pub(in crate::host) fn plain(text: &str) -> String {
    let blank = |c: char| if c.is_control() { ' ' } else { c };
    let text: String = text.chars().map(blank).collect();
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
        assert_eq!(plain(&"x".repeat(1000)).chars().count(), LONGEST + 1);
    }
}
