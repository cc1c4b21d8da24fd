//! How far a host's wall clock is from this machine's.

use std::time::{SystemTime, UNIX_EPOCH};

/// From how many seconds on it is worth a word.
const SHOWS: f64 = 5.0;

/// Seconds since 1970 by this machine's wall clock.
pub(super) fn here() -> f64 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0.0, |since| since.as_secs_f64())
}

/// Seconds by which the host's clock is ahead, where that is certain to be more than a few.
///
/// The host read its clock twice, in whole seconds, between two readings here. So the first
/// reading there was not before the one here, and the second not after: what the way and the work
/// took falls out.
pub(super) fn ahead(here: [f64; 2], there: [i64; 2]) -> Option<i64> {
    #[expect(clippy::cast_precision_loss, reason = "seconds since 1970 are exact")]
    let [first, last] = there.map(|seconds| seconds as f64);
    let [before, after] = here;
    let (most, least) = (first + 1.0 - before, last - after);
    let certain = least > SHOWS || most < -SHOWS;
    #[expect(clippy::cast_possible_truncation, reason = "it saturates")]
    let middle = f64::midpoint(least, most).round() as i64;
    certain.then_some(middle)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_way_takes_is_no_difference() {
        // A slow host: two minutes for the way there, three for the work, one back.
        assert_eq!(ahead([1000.0, 1360.0], [1120, 1300]), None);
        assert_eq!(ahead([1000.5, 1000.6], [1000, 1000]), None);
        assert_eq!(ahead([1000.0, 1001.0], [1004, 1004]), None);
        // The same host, a day off.
        assert_eq!(ahead([1000.0, 1360.0], [87_520, 87_700]), Some(86_431));
        assert_eq!(
            ahead([100_000.0, 100_001.0], [13_600, 13_601]),
            Some(-86_400)
        );
    }
}
