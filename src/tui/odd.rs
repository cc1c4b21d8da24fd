//! Characters to which terminals give different numbers of cells: what stands after one would be in
//! another column than we think, and letters of an earlier screen would stay.
//!
//! Found by asking tmux 3.3 for its cursor after each character of Unicode 14, alone and after a
//! letter of its script, and comparing with what ratatui counts.

use std::borrow::Cow;

/// Stands for what cannot be shown in the same way everywhere: one cell.
const UNSHOWN: &str = "\u{fffd}";

/// What stands for a character; nothing where it is shown as it is.
fn instead(c: char) -> Option<&'static str> {
    if c < '\u{ad}' {
        return None;
    }
    Some(match c {
        // Not seen, or seen only in another character: joiners, selectors, fillers, marks around
        // numbers, tone marks and skin tones.
        '\u{ad}'
        | '\u{605}'
        | '\u{70f}'
        | '\u{890}'..='\u{891}'
        | '\u{8e2}'
        | '\u{115f}'..='\u{1160}'
        | '\u{17d2}'
        | '\u{180e}'
        | '\u{200b}'..='\u{200d}'
        | '\u{2060}'..='\u{206f}'
        | '\u{2d7f}'
        | '\u{302e}'..='\u{302f}'
        | '\u{3164}'
        | '\u{fe00}'..='\u{fe0f}'
        | '\u{feff}'
        | '\u{ffa0}'
        | '\u{fff9}'..='\u{fffb}'
        | '\u{1f3fb}'..='\u{1f3ff}'
        | '\u{e0000}'..='\u{e0fff}' => "",
        // Sound marks of halfwidth katakana: the same marks, two cells wide everywhere.
        '\u{ff9e}' => "\u{309b}",
        '\u{ff9f}' => "\u{309c}",
        // The vowel AM of Thai and Lao: its two parts, above the letter and after it.
        '\u{e33}' => "\u{e4d}\u{e32}",
        '\u{eb3}' => "\u{ecd}\u{eb2}",
        // Vowel signs that stand after their letter but are counted with it by some, and symbols
        // that a later Unicode made wide.
        '\u{9be}'
        | '\u{9d7}'
        | '\u{b3e}'
        | '\u{b57}'
        | '\u{bbe}'
        | '\u{bd7}'
        | '\u{cc0}'
        | '\u{cc2}'
        | '\u{cc7}'..='\u{cc8}'
        | '\u{cca}'..='\u{ccb}'
        | '\u{cd5}'..='\u{cd6}'
        | '\u{d3e}'
        | '\u{d4e}'
        | '\u{d57}'
        | '\u{dcf}'
        | '\u{ddf}'
        | '\u{1715}'
        | '\u{1734}'
        | '\u{17a4}'
        | '\u{17d8}'
        | '\u{1b35}'
        | '\u{1b3b}'
        | '\u{1b3d}'
        | '\u{1b43}'..='\u{1b44}'
        | '\u{1baa}'
        | '\u{1bf2}'..='\u{1bf3}'
        | '\u{2630}'..='\u{2637}'
        | '\u{268a}'..='\u{268f}'
        | '\u{3248}'..='\u{324f}'
        | '\u{a8fa}'
        | '\u{a953}'
        | '\u{a9c0}'
        | '\u{111c0}'..='\u{111c3}'
        | '\u{11235}'
        | '\u{1133e}'
        | '\u{1134d}'
        | '\u{11357}'
        | '\u{114b0}'
        | '\u{114bd}'
        | '\u{115af}'
        | '\u{116b6}'
        | '\u{1171e}'
        | '\u{11930}'
        | '\u{1193d}'..='\u{11941}'
        | '\u{11a84}'..='\u{11a89}'
        | '\u{11d46}'
        | '\u{16ff0}'..='\u{16ff1}'
        | '\u{1d165}'..='\u{1d166}'
        | '\u{1d16d}'..='\u{1d172}'
        | '\u{1d300}'..='\u{1d356}'
        | '\u{1d360}'..='\u{1d376}' => UNSHOWN,
        _ => return None,
    })
}

/// The text with what every terminal shows in as many cells as we count.
pub fn even(text: Cow<'_, str>) -> Cow<'_, str> {
    let Some(first) = text.find(|c| instead(c).is_some()) else {
        return text;
    };
    let mut even = String::with_capacity(text.len());
    let (front, rest) = text.split_at_checked(first).unwrap_or((&text, ""));
    even.push_str(front);
    for c in rest.chars() {
        match instead(c) {
            Some(other) => even.push_str(other),
            None => even.push(c),
        }
    }
    Cow::Owned(even)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> String {
        even(Cow::Borrowed(text)).into_owned()
    }

    #[test]
    fn what_every_terminal_shows_alike_stays() {
        for text in ["plain", "ünï e\u{301} 漢字 한글", "คน", "क्ष"] {
            assert!(matches!(even(Cow::Borrowed(text)), Cow::Borrowed(same) if same == text));
        }
    }

    #[test]
    fn what_they_count_differently_is_replaced_by_what_they_do_not() {
        assert_eq!(shown("1\u{fe0f}\u{200d}2"), "12");
        assert_eq!(shown("ｶﾞｯ"), "ｶ゛ｯ");
        assert_eq!(shown("ﾊﾟ"), "ﾊ゜");
        assert_eq!(shown("น\u{e49}\u{e33}"), "น\u{e49}\u{e4d}\u{e32}");
        assert_eq!(shown("a\u{3164}b\u{ffa0}c\u{115f}\u{1160}d"), "abcd");
        assert_eq!(shown("\u{1f44d}\u{1f3fd}"), "\u{1f44d}");
        assert_eq!(shown("க\u{bbe}"), "க\u{fffd}");
    }

    /// Each cell holds letters that stand alone everywhere: no cluster is wider than its parts.
    #[test]
    fn no_cluster_is_counted_in_another_way_than_its_characters() {
        use unicode_segmentation::UnicodeSegmentation as _;
        use unicode_width::UnicodeWidthChar as _;

        for text in ["ｶﾞ", "ﾊﾟﾟ", "น้ำ", "ກຳ", "ᅟᅠ", "ㅤ", "ﾠx", "கா", "কা", "👍🏽", "ស្ត្រី"]
        {
            for cluster in shown(text).graphemes(true) {
                let parts: usize = cluster.chars().filter_map(char::width).sum();
                assert_eq!(
                    super::super::text::width(cluster),
                    parts,
                    "{text:?} {cluster:?}"
                );
            }
        }
    }
}
