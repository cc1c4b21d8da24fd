//! Where a stream begins and ends in what a channel says.

use std::collections::VecDeque;

/// What a login shell may print before a stream begins, in bytes.
const GREETING: usize = 64 * 1024;

/// Takes a stream out of its frame: a line before it, and a word behind it that says that
/// nothing of it is missing. Both are new for every stream, so that none can hold them.
pub(super) struct Frame {
    head: Vec<u8>,
    tail: Vec<u8>,
    begun: bool,
    /// What may be a part of the frame.
    held: Vec<u8>,
}

impl Frame {
    pub(super) fn new(head: &str, tail: &str) -> Self {
        Self {
            head: format!("{head}\n").into_bytes(),
            tail: tail.as_bytes().to_vec(),
            begun: false,
            held: Vec::new(),
        }
    }

    /// Takes what came, and gives what of it surely belongs to the stream.
    pub(super) fn take(&mut self, bytes: Vec<u8>) -> Vec<u8> {
        let mut all = if self.held.is_empty() {
            bytes
        } else {
            self.held.extend(bytes);
            std::mem::take(&mut self.held)
        };
        if !self.begun {
            let found = all
                .windows(self.head.len())
                .position(|part| part == self.head.as_slice());
            let Some(at) = found else {
                let surplus = all.len().saturating_sub(GREETING);
                self.held = VecDeque::from(all).split_off(surplus).into();
                return Vec::new();
            };
            self.begun = true;
            all.drain(..at + self.head.len());
        }
        let most = self.tail.len().min(all.len());
        let part = (1..=most).rev().find(|&length| {
            self.tail
                .get(..length)
                .is_some_and(|part| all.ends_with(part))
        });
        if let Some(length) = part {
            self.held = all.split_off(all.len() - length);
        }
        all
    }

    /// Whether the last that came is the end of the frame.
    pub(super) fn is_whole(&self) -> bool {
        self.begun && self.held == self.tail
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_stream_is_what_stands_in_its_frame(
            greeting in "[a-z\n]{0,30}",
            body in proptest::collection::vec(prop_oneof![Just(b'<'), Just(b'>'), any::<u8>()], 0..60),
            cuts in proptest::collection::vec(0usize..140, 0..6),
            whole in any::<bool>(),
        ) {
            let mut bytes = greeting.into_bytes();
            bytes.extend(b"<<head>>\n");
            bytes.extend(&body);
            bytes.extend(if whole { &b"<<tail>>"[..] } else { &b"<<tail>"[..] });
            let mut frame = Frame::new("<<head>>", "<<tail>>");
            let mut got = Vec::new();
            let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut.min(bytes.len())).collect();
            cuts.extend([0, bytes.len()]);
            cuts.sort_unstable();
            for pair in cuts.windows(2) {
                got.extend(frame.take(bytes[pair[0]..pair[1]].to_vec()));
            }
            prop_assert_eq!(frame.is_whole(), whole);
            prop_assert!(!whole || got == body);
            prop_assert!(body.starts_with(&got) || !whole);
        }
    }

    #[test]
    fn an_endless_greeting_costs_bounded_memory() {
        let mut frame = Frame::new("head", "tail");
        for _ in 0..10 {
            assert_eq!(frame.take(vec![b'x'; GREETING]), b"");
        }
        assert!(frame.held.len() <= GREETING);
        assert_eq!(frame.take(b"head\nbytestail".to_vec()), b"bytes");
        assert!(frame.is_whole());
    }
}
