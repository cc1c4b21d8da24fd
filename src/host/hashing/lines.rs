//! Lines of a manifest: one definition of the escapes and of their order.

use std::borrow::Cow;

/// A path as `sha256sum` of GNU coreutils 9 writes it: backslash, newline and carriage return
/// are escaped; the second value says whether one was.
pub(super) fn gnu_path(path: &[u8]) -> (Cow<'_, [u8]>, bool) {
    let escaped = escape(path, b"\\\n\r");
    let any = matches!(escaped, Cow::Owned(_));
    (escaped, any)
}

/// Any text as a field of a line with tabs in it.
pub(super) fn field(text: &[u8]) -> Cow<'_, [u8]> {
    escape(text, b"\\\n\r\t")
}

fn escape<'a>(text: &'a [u8], special: &[u8]) -> Cow<'a, [u8]> {
    if !text.iter().any(|byte| special.contains(byte)) {
        return Cow::Borrowed(text);
    }
    let mut out = Vec::with_capacity(text.len() + 8);
    for byte in text {
        match byte {
            b'\\' => out.extend(b"\\\\"),
            b'\n' => out.extend(b"\\n"),
            b'\r' => out.extend(b"\\r"),
            b'\t' if special.contains(&b'\t') => out.extend(b"\\t"),
            other => out.push(*other),
        }
    }
    Cow::Owned(out)
}

/// Lowercase hexadecimal digits.
pub(super) fn hex(bytes: &[u8]) -> String {
    const DIGITS: [char; 16] = [
        '0', '1', '2', '3', '4', '5', '6', '7', '8', '9', 'a', 'b', 'c', 'd', 'e', 'f',
    ];
    bytes
        .iter()
        .flat_map(|byte| [byte >> 4, byte & 15])
        .filter_map(|digit| DIGITS.get(usize::from(digit)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_would_break_a_line_is_escaped() {
        assert_eq!(
            gnu_path(b"./a b\tc"),
            (Cow::Borrowed(&b"./a b\tc"[..]), false)
        );
        let (path, any) = gnu_path(b"./a\\b\nc\rd\xff");
        assert_eq!((&*path, any), (&b"./a\\\\b\\nc\\rd\xff"[..], true));
        assert_eq!(&*field(b"a\tb\\"), b"a\\tb\\\\");
    }

    #[test]
    fn digits_are_lowercase() {
        assert_eq!(hex(&[0, 0x1f, 0xff]), "001fff");
    }
}
