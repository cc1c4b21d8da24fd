//! Text from a host, made harmless: nothing in it moves a cursor, colours or reorders a screen.

use std::borrow::Cow;

use crate::event::Labels;

/// Whether a character could act on a terminal instead of being shown: control characters,
/// line and paragraph separators, and the marks that reorder text.
#[must_use]
pub fn is_unsafe(c: char) -> bool {
    c.is_control()
        || matches!(
            c,
            '\u{2028}' | '\u{2029}' | '\u{200e}' | '\u{200f}' | '\u{061c}'
        )
        || ('\u{202a}'..='\u{202e}').contains(&c)
        || ('\u{2066}'..='\u{2069}').contains(&c)
}

/// One line of harmless text: white space of any kind becomes a blank, everything else that is
/// [`is_unsafe`] is left out.
#[must_use]
pub fn clean(text: &str) -> Cow<'_, str> {
    if !text.contains(is_unsafe) {
        return Cow::Borrowed(text);
    }
    let kept = text.chars().filter_map(|c| match c {
        '\t' | '\n' | '\r' | '\u{2028}' | '\u{2029}' => Some(' '),
        c if is_unsafe(c) => None,
        c => Some(c),
    });
    Cow::Owned(kept.collect())
}

/// A label in words, `rep 3`; where its value names the key already, that alone: `page cache`.
#[must_use]
pub fn labelled(key: &str, value: &str) -> String {
    if value.split(' ').any(|word| word == key) {
        return value.to_owned();
    }
    format!("{key} {value}")
}

/// A name, with the labels that tell it from others of that name.
#[must_use]
pub fn titled(name: &str, labels: &Labels) -> String {
    if labels.is_empty() {
        return name.to_owned();
    }
    let labels = labels.iter().map(|(key, value)| labelled(key, value));
    format!("{name} ({})", labels.collect::<Vec<_>>().join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_label_does_not_say_its_key_twice() {
        assert_eq!(labelled("cache", "cold"), "cache cold");
        assert_eq!(labelled("cache", "page cache"), "page cache");
    }

    #[test]
    fn nothing_that_acts_on_a_terminal_is_left() {
        assert_eq!(clean("tank/data"), "tank/data");
        assert_eq!(clean("a\u{1b}[31mb"), "a[31mb");
        assert_eq!(clean("two\nlines\tand\u{9b}5m"), "two lines and5m");
        assert_eq!(clean("x\u{202e}fdp.exe"), "xfdp.exe");
        assert_eq!(clean("caf\u{e9} \u{2713}"), "caf\u{e9} \u{2713}");
    }
}
