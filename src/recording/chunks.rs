//! A stream's bytes as log chunks.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use crate::event::{LogChunk, StepId, Stream};

/// Most bytes of a chunk.
pub const MOST_CHUNK: usize = 64 << 10;

/// Turns one stream of a step into chunks of at most 64 KiB: text where the bytes are UTF-8,
/// base64 where they are not. A character is never cut in two: bytes at the end that begin one
/// (at most three) are kept for the next call.
#[derive(Debug)]
pub struct Chunker {
    step: StepId,
    stream: Stream,
    /// Offset of the first byte that is not in a chunk yet.
    offset: u64,
    begun: Vec<u8>,
}

impl Chunker {
    /// For a stream whose next byte has this offset.
    #[must_use]
    pub fn new(step: StepId, stream: Stream, offset: u64) -> Self {
        Self {
            step,
            stream,
            offset,
            begun: Vec::new(),
        }
    }

    /// Takes bytes as they came.
    pub fn push(&mut self, bytes: &[u8]) -> Vec<LogChunk> {
        let joined;
        let mut rest = if self.begun.is_empty() {
            bytes
        } else {
            self.begun.extend_from_slice(bytes);
            joined = std::mem::take(&mut self.begun);
            &joined
        };
        let mut chunks = Vec::new();
        while !rest.is_empty() {
            let (piece, after) = rest.split_at(rest.len().min(MOST_CHUNK));
            let (piece, begun) = whole_characters(piece);
            // What begins a character goes to the next chunk, with the rest of it.
            rest = if after.is_empty() {
                self.begun.extend_from_slice(begun);
                after
            } else {
                rest.get(piece.len()..).unwrap_or_default()
            };
            if !piece.is_empty() {
                chunks.push(self.chunk(piece));
            }
        }
        chunks
    }

    /// The stream is over: what was kept comes as it is.
    #[must_use]
    pub fn finish(mut self) -> Option<LogChunk> {
        let begun = std::mem::take(&mut self.begun);
        (!begun.is_empty()).then(|| self.chunk(&begun))
    }

    fn chunk(&mut self, bytes: &[u8]) -> LogChunk {
        let text = std::str::from_utf8(bytes).ok().map(str::to_owned);
        let base64 = text.is_none().then(|| STANDARD.encode(bytes));
        let chunk = LogChunk {
            step: self.step.clone(),
            stream: self.stream,
            offset: self.offset,
            text,
            base64,
        };
        self.offset += bytes.len() as u64;
        chunk
    }
}

// Bytes up to the last whole character, and those that begin another.
fn whole_characters(bytes: &[u8]) -> (&[u8], &[u8]) {
    let tail = bytes.len().saturating_sub(3);
    for at in tail..bytes.len() {
        let Some((whole, begun)) = bytes.split_at_checked(at) else {
            break;
        };
        let begins = std::str::from_utf8(begun)
            .is_err_and(|why| why.valid_up_to() == 0 && why.error_len().is_none());
        if begins {
            return (whole, begun);
        }
    }
    (bytes, &[])
}

#[cfg(test)]
mod tests {
    use std::borrow::Cow;

    use proptest::prelude::*;

    use super::*;

    fn chunks(pieces: &[&[u8]]) -> Vec<LogChunk> {
        let mut chunker = Chunker::new("s1".into(), Stream::Out, 100);
        let mut all: Vec<LogChunk> = pieces
            .iter()
            .flat_map(|piece| chunker.push(piece))
            .collect();
        all.extend(chunker.finish());
        all
    }

    fn joined(chunks: &[LogChunk]) -> Vec<u8> {
        let bytes = chunks.iter().map(|chunk| chunk.bytes().unwrap());
        bytes.flat_map(Cow::into_owned).collect()
    }

    #[test]
    fn text_stays_text_however_it_is_cut() {
        let text = "caf\u{e9} \u{1f4a9}\n";
        for cut in 0..text.len() {
            let (a, b) = text.as_bytes().split_at(cut);
            let all = chunks(&[a, b]);
            assert!(all.iter().all(|chunk| chunk.base64.is_none()), "{all:?}");
            assert_eq!(joined(&all), text.as_bytes());
        }
    }

    #[test]
    fn what_is_not_text_is_base64() {
        let all = chunks(&[b"caf\xe9 au lait"]);
        assert_eq!(all.len(), 1);
        assert_eq!(all[0].text, None);
        assert_eq!(joined(&all), b"caf\xe9 au lait");
        // Begun, and never finished.
        let all = chunks(&[b"ab\xe2\x82"]);
        assert_eq!(all[0].text.as_deref(), Some("ab"));
        assert_eq!(all[1].offset, 102);
        assert_eq!(joined(&all), b"ab\xe2\x82");
    }

    #[test]
    fn a_long_piece_is_split_between_characters() {
        let text = "x\u{20ac}".repeat(50_000);
        let all = chunks(&[text.as_bytes()]);
        assert!(all.len() >= 4);
        assert!(all.iter().all(|chunk| chunk.text.is_some()));
        assert_eq!(joined(&all), text.as_bytes());
    }

    proptest! {
        #[test]
        fn every_byte_comes_once_and_in_its_place(
            pieces in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..40), 0..8),
        ) {
            let pieces: Vec<&[u8]> = pieces.iter().map(Vec::as_slice).collect();
            let all = chunks(&pieces);
            prop_assert_eq!(joined(&all), pieces.concat());
            let mut offset = 100;
            for chunk in &all {
                prop_assert_eq!(chunk.offset, offset);
                let bytes = chunk.bytes().unwrap();
                prop_assert!(!bytes.is_empty() && bytes.len() <= MOST_CHUNK);
                offset += bytes.len() as u64;
            }
        }
    }
}
