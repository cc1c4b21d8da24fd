//! Output into log chunks: batched, cut at character borders, at most 64 KiB each.

use crate::event::{LogChunk, StepId, Stream};

/// Bytes of one stream that wait to be told.
#[derive(Debug)]
pub(super) struct Batch {
    stream: Stream,
    offset: u64,
    bytes: Vec<u8>,
}

/// The largest chunk.
pub(super) const CHUNK: usize = 64 * 1024;

impl Batch {
    pub fn new(stream: Stream) -> Self {
        Self {
            stream,
            offset: 0,
            bytes: Vec::new(),
        }
    }

    /// Whether nothing waits.
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// Whether a whole chunk waits.
    pub fn is_full(&self) -> bool {
        self.bytes.len() >= CHUNK
    }

    /// Takes bytes that begin at `offset` of the stream.
    pub fn push(&mut self, offset: u64, bytes: &[u8]) {
        if self.bytes.is_empty() {
            self.offset = offset;
        }
        self.bytes.extend_from_slice(bytes);
    }

    /// All that waits, as chunks. A character that is not whole yet waits on, unless this is
    /// the end.
    pub fn take(&mut self, step: &StepId, end: bool) -> Vec<LogChunk> {
        let mut chunks = Vec::new();
        let mut rest = std::mem::take(&mut self.bytes);
        while !rest.is_empty() {
            let room = rest.len().min(CHUNK);
            let cut = border(rest.get(..room).unwrap_or_default());
            let at = match cut {
                0 if end || rest.len() >= 4 => room,
                0 => break,
                // More follows, or may follow: a broken character stays whole.
                cut if room < rest.len() || !end => cut,
                _ => room,
            };
            let more = rest.split_off(at);
            chunks.push(chunk(step, self.stream, self.offset, rest));
            self.offset += at as u64;
            rest = more;
        }
        self.bytes = rest;
        chunks
    }
}

/// Length without a character that is cut at the end.
fn border(bytes: &[u8]) -> usize {
    let tail = bytes
        .iter()
        .rev()
        .take(4)
        .position(|byte| byte & 0xc0 != 0x80);
    let Some(back) = tail else { return bytes.len() };
    let start = bytes.len() - back - 1;
    let need = match bytes.get(start) {
        Some(lead) if lead & 0xe0 == 0xc0 => 2,
        Some(lead) if lead & 0xf0 == 0xe0 => 3,
        Some(lead) if lead & 0xf8 == 0xf0 => 4,
        _ => 1,
    };
    if start + need > bytes.len() {
        start
    } else {
        bytes.len()
    }
}

fn chunk(step: &StepId, stream: Stream, offset: u64, bytes: Vec<u8>) -> LogChunk {
    use base64::Engine as _;
    // A control character takes six in JSON; beyond a sixth of them base64 is the shorter one.
    let odd = bytes
        .iter()
        .filter(|byte| matches!(byte, 0..=8 | 11 | 12 | 14..=31 | 127))
        .count();
    let (text, base64) = match String::from_utf8(bytes) {
        Ok(text) if odd * 6 > text.len() => {
            let coded = base64::engine::general_purpose::STANDARD.encode(&text);
            (None, Some(coded))
        }
        Ok(text) => (Some(text), None),
        Err(odd) => {
            let coded = base64::engine::general_purpose::STANDARD.encode(odd.as_bytes());
            (None, Some(coded))
        }
    };
    LogChunk {
        step: step.clone(),
        stream,
        offset,
        text,
        base64,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_flood_of_nuls_is_told_as_base64() {
        let mut batch = Batch::new(Stream::Out);
        batch.push(0, &[0; 1000]);
        let told = batch.take(&"s1".into(), true);
        assert!(told[0].text.is_none() && told[0].bytes().unwrap().len() == 1000);
    }

    proptest! {
        #[test]
        fn chunks_are_the_bytes_that_came(
            pieces in proptest::collection::vec(
                prop_oneof![any::<Vec<u8>>(), ".{0,40}".prop_map(String::into_bytes)], 0..20)
        ) {
            let mut batch = Batch::new(Stream::Out);
            let (mut offset, mut told) = (0, Vec::new());
            for piece in &pieces {
                batch.push(offset, piece);
                offset += piece.len() as u64;
                told.extend(batch.take(&"s1".into(), false));
            }
            told.extend(batch.take(&"s1".into(), true));
            let mut all = Vec::new();
            for chunk in &told {
                prop_assert_eq!(chunk.offset, all.len() as u64);
                all.extend_from_slice(&chunk.bytes().unwrap());
            }
            prop_assert_eq!(all, pieces.concat());
        }

        #[test]
        fn text_stays_text_wherever_it_is_cut(text in "\\PC{0,60}", at in 0usize..240) {
            let bytes = text.as_bytes();
            let at = at.min(bytes.len());
            let mut batch = Batch::new(Stream::Err);
            batch.push(0, &bytes[..at]);
            let mut told = batch.take(&"s1".into(), false);
            batch.push(at as u64, &bytes[at..]);
            told.extend(batch.take(&"s1".into(), true));
            prop_assert!(told.iter().all(|chunk| chunk.text.is_some()));
        }
    }

    #[test]
    fn no_chunk_is_larger_than_64_kib() {
        let mut batch = Batch::new(Stream::Out);
        batch.push(0, &vec![b'x'; 3 * CHUNK + 5]);
        let told = batch.take(&"s1".into(), true);
        assert_eq!(told.len(), 4);
        assert!(
            told.iter()
                .all(|chunk| chunk.text.as_ref().unwrap().len() <= CHUNK)
        );
    }
}
