//! The bytes of a log chunk.

use std::borrow::Cow;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::LogChunk;

impl LogChunk {
    /// Its bytes, as they came; absent where neither field can be read.
    #[must_use]
    pub fn bytes(&self) -> Option<Cow<'_, [u8]>> {
        match (&self.text, &self.base64) {
            (Some(text), _) => Some(Cow::Borrowed(text.as_bytes())),
            (None, Some(coded)) => STANDARD.decode(coded).ok().map(Cow::Owned),
            (None, None) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::event::{LogChunk, Stream};

    #[test]
    fn text_and_base64_both_give_their_bytes() {
        let mut chunk = LogChunk {
            step: "s1".into(),
            stream: Stream::Out,
            offset: 0,
            text: Some("caf\u{e9}".into()),
            base64: None,
        };
        assert_eq!(chunk.bytes().unwrap().as_ref(), "caf\u{e9}".as_bytes());
        chunk.text = None;
        chunk.base64 = Some("Y2Fm6Q==".into());
        assert_eq!(chunk.bytes().unwrap().as_ref(), b"caf\xe9");
        chunk.base64 = Some("not base64!".into());
        assert_eq!(chunk.bytes(), None);
    }
}
