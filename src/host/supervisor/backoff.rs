//! Waits between tries.

use std::time::Duration;

/// Waits that grow: about 0.2 s, doubled up to about 10 s. Each is up to a quarter longer or
/// shorter, so that many who lost a host at once do not come back at once.
#[derive(Debug, Default)]
pub(super) struct Backoff(u32);

impl Backoff {
    pub fn next(&mut self) -> Duration {
        let wait = Duration::from_millis(200 << self.0.min(6)).min(Duration::from_secs(10));
        self.0 = self.0.saturating_add(1);
        wait.mul_f64(rand::random_range(0.75..1.25))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_grow_to_a_limit_and_no_two_are_the_same() {
        let mut backoff = Backoff::default();
        let waits: Vec<u128> = (0..40).map(|_| backoff.next().as_millis()).collect();
        assert!((150..=250).contains(&waits[0]), "{waits:?}");
        assert!((300..=500).contains(&waits[1]), "{waits:?}");
        assert!(
            waits
                .iter()
                .skip(6)
                .all(|wait| (7500..=12500).contains(wait))
        );
        assert!(waits.windows(2).skip(6).any(|pair| pair[0] != pair[1]));
    }
}
