//! Secrets are masked before an event exists: each of their bytes becomes `*`, so that offsets stay.

/// Masks one stream, wherever it is cut.
#[derive(Debug, Default)]
pub(super) struct Mask {
    secrets: Vec<Vec<u8>>,
    held: Vec<u8>,
    /// Offset of the first byte that is held.
    offset: u64,
}

impl Mask {
    /// Of these secrets; an empty one is none.
    pub fn new(secrets: &[Vec<u8>]) -> Self {
        let secrets = secrets
            .iter()
            .filter(|secret| !secret.is_empty())
            .cloned()
            .collect();
        Self {
            secrets,
            held: Vec::new(),
            offset: 0,
        }
    }

    /// Takes bytes that begin at `offset`, and gives those that hold no part of a secret: what may
    /// be the begin of one waits for the next bytes.
    pub fn take(&mut self, offset: u64, bytes: &[u8]) -> (u64, Vec<u8>) {
        if self.held.is_empty() {
            self.offset = offset;
        }
        self.held.extend_from_slice(bytes);
        let longest = self.secrets.iter().map(Vec::len).max().unwrap_or(1);
        self.give(self.held.len().saturating_sub(longest - 1))
    }

    /// The rest.
    pub fn finish(&mut self) -> (u64, Vec<u8>) {
        self.give(self.held.len())
    }

    fn give(&mut self, count: usize) -> (u64, Vec<u8>) {
        for secret in &self.secrets {
            let found: Vec<usize> = memchr::memmem::find_iter(&self.held, secret).collect();
            for at in found {
                if let Some(part) = self.held.get_mut(at..at + secret.len()) {
                    part.fill(b'*');
                }
            }
        }
        let rest = self.held.split_off(count.min(self.held.len()));
        let given = std::mem::replace(&mut self.held, rest);
        let offset = self.offset;
        self.offset += given.len() as u64;
        (offset, given)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn no_cut_lets_a_secret_through(
            before in "[a-z]{0,20}", after in "[a-z]{0,20}", cuts in proptest::collection::vec(1usize..9, 0..20)
        ) {
            let secret = "S3CRET-WORD";
            let text = format!("{before}{secret}{after}{secret}");
            let mut mask = Mask::new(&[secret.as_bytes().to_vec()]);
            let (mut rest, mut told, mut at) = (text.as_bytes(), Vec::new(), 0);
            for cut in cuts {
                let (piece, more) = rest.split_at(cut.min(rest.len()));
                let (offset, given) = mask.take(at, piece);
                prop_assert_eq!(offset, told.len() as u64);
                told.extend(given);
                at += piece.len() as u64;
                rest = more;
            }
            told.extend(mask.take(at, rest).1);
            told.extend(mask.finish().1);
            let stars = "*".repeat(secret.len());
            prop_assert_eq!(String::from_utf8(told).unwrap(), format!("{before}{stars}{after}{stars}"));
        }
    }
}
