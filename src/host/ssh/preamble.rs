//! What the login shell prints before the script begins.
//!
//! A server has the user's login shell run every command, and many shells read a start-up file
//! first (bash does for each command over SSH, fish and zsh too). What it prints is not the
//! script's. So every script first says a mark on both streams, and what comes before is
//! dropped. Where the mark never comes the script never ran, whatever status the shell ends with.

use std::mem;

use memchr::memmem;

/// Shell text that says the mark on both streams. A shell that prints each line before it runs
/// it (`set -v`, `set -x`) does not print the mark by that: it is not written as one piece.
pub(super) const SAY: &str = "echo come\"\"back-begins; echo come\"\"back-begins >&2; ";
/// The mark, as it is said.
pub(super) const MARK: &[u8] = b"comeback-begins\n";
/// So much is held back at most until the mark comes.
const HELD: usize = 1 << 20;

/// One stream of a command, from the first byte of its login shell.
#[derive(Debug, Default)]
pub(super) struct Preamble {
    held: Vec<u8>,
    over: bool,
}

impl Preamble {
    /// The bytes that belong to the script, of those that came; nothing before the mark.
    pub(super) fn pass(&mut self, bytes: Vec<u8>) -> Vec<u8> {
        if self.over {
            return bytes;
        }
        // The mark may have begun in what is held.
        let from = self.held.len().saturating_sub(MARK.len() - 1);
        self.held.extend_from_slice(&bytes);
        let found = self
            .held
            .get(from..)
            .and_then(|tail| memmem::find(tail, MARK));
        let Some(at) = found else { return Vec::new() };
        self.over = true;
        mem::take(&mut self.held).split_off(from + at + MARK.len())
    }

    /// The script has begun.
    pub(super) fn is_over(&self) -> bool {
        self.over
    }

    /// More was printed than any start-up file has to say.
    pub(super) fn is_endless(&self) -> bool {
        self.held.len() > HELD
    }

    /// Hands out what is held, and waits for no mark any more.
    pub(super) fn give_up(&mut self) -> Vec<u8> {
        self.over = true;
        mem::take(&mut self.held)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn only_what_is_behind_the_mark_passes_however_it_is_cut(
            before in "[comebak\n -]{0,40}",
            after in "[comebak\n -]{0,40}",
            cuts in prop::collection::vec(1usize..9, 1..60),
        ) {
            prop_assume!(!before.contains("comeback-begins\n"));
            let all = [before.as_bytes(), MARK, after.as_bytes()].concat();
            let mut preamble = Preamble::default();
            let mut passed = Vec::new();
            let mut rest = all.as_slice();
            for cut in cuts.into_iter().cycle() {
                let (piece, more) = rest.split_at(cut.min(rest.len()));
                passed.extend(preamble.pass(piece.to_vec()));
                rest = more;
                if rest.is_empty() {
                    break;
                }
            }
            prop_assert!(preamble.is_over());
            prop_assert_eq!(passed, after.as_bytes());
        }
    }

    #[test]
    fn without_the_mark_everything_is_held_and_handed_out_once() {
        let mut preamble = Preamble::default();
        assert!(preamble.pass(b"not available\n".to_vec()).is_empty());
        assert!(!preamble.is_over() && !preamble.is_endless());
        assert_eq!(preamble.give_up(), b"not available\n");
        assert_eq!(preamble.pass(b"more".to_vec()), b"more");
    }
}
