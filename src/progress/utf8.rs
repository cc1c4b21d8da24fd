//! Bytes in pieces, as text.

/// Longest UTF-8 sequence that is not whole yet.
const LONGEST: usize = 3;

/// Decodes UTF-8 that comes in pieces. What is not UTF-8 becomes U+FFFD, one for each maximal
/// part of a sequence, as in [`String::from_utf8_lossy`].
#[derive(Debug, Default)]
pub struct Decoder {
    /// The begin of a sequence whose rest has not come yet.
    held: Vec<u8>,
}

impl Decoder {
    /// Takes a piece, hands out its text.
    pub fn feed(&mut self, bytes: &[u8], mut each: impl FnMut(&str)) {
        let mut rest = bytes;
        while !self.held.is_empty() {
            let Some((next, behind)) = rest.split_first() else {
                return;
            };
            self.held.push(*next);
            match std::str::from_utf8(&self.held) {
                Ok(whole) => {
                    each(whole);
                    rest = behind;
                    self.held.clear();
                }
                Err(why) if why.error_len().is_none() && self.held.len() <= LONGEST => {
                    rest = behind;
                }
                // The new byte does not go on with the sequence: it is read again by itself.
                Err(_) => {
                    each("\u{fffd}");
                    self.held.clear();
                }
            }
        }
        let mut chunks = rest.utf8_chunks().peekable();
        while let Some(chunk) = chunks.next() {
            if !chunk.valid().is_empty() {
                each(chunk.valid());
            }
            let broken = chunk.invalid();
            if broken.is_empty() {
                continue;
            }
            if chunks.peek().is_none() && is_unfinished(broken) {
                self.held.extend_from_slice(broken);
            } else {
                each("\u{fffd}");
            }
        }
    }

    /// Nothing more comes: a sequence that was cut is replaced.
    pub fn finish(&mut self, mut each: impl FnMut(&str)) {
        if !self.held.is_empty() {
            self.held.clear();
            each("\u{fffd}");
        }
    }
}

fn is_unfinished(bytes: &[u8]) -> bool {
    std::str::from_utf8(bytes).is_err_and(|why| why.error_len().is_none())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn decode<'a>(pieces: impl IntoIterator<Item = &'a [u8]>) -> String {
        let mut decoder = Decoder::default();
        let mut text = String::new();
        for piece in pieces {
            decoder.feed(piece, |part| text.push_str(part));
            assert!(decoder.held.len() <= LONGEST);
        }
        decoder.finish(|part| text.push_str(part));
        text
    }

    #[test]
    fn sequences_cut_in_the_middle_are_joined() {
        for cut in 0..=4 {
            let (a, b) = "𝄞".as_bytes().split_at(cut);
            assert_eq!(decode([a, b]), "𝄞");
        }
        assert_eq!(decode([&b"\xe2\x82"[..], b"A"]), "\u{fffd}A");
        assert_eq!(decode([&b"\xe2"[..], b"\xe2\x82\xac"]), "\u{fffd}€");
        assert_eq!(decode([&b"\xf0\x9f"[..]]), "\u{fffd}");
    }

    proptest! {
        #[test]
        fn any_pieces_decode_as_the_whole(bytes in prop::collection::vec(
            prop_oneof![any::<u8>(), 0xc0u8..=0xf5, 0x80u8..=0xbf], 0..40), size in 1usize..5)
        {
            let whole = String::from_utf8_lossy(&bytes).into_owned();
            prop_assert_eq!(decode(bytes.chunks(size)), whole.clone());
            prop_assert_eq!(decode([bytes.as_slice()]), whole);
        }
    }
}
