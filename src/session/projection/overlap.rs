//! The rate of a method while the other one went on, too: of a step that the other was beside for a part of it alone.

use crate::session::Speed;

/// What a whole step was measured with, which went on for a share of its time (from the least to the most of its runs) beside the other
/// method, and for the rest at its own rate. Nothing where what is left for the time at once may be nothing: the share is too small to tell.
pub(super) fn rate(whole: Speed, alone: Speed, share: (f64, f64)) -> Option<Speed> {
    let (least, most) = (share.0.min(1.0), share.1.min(1.0));
    let at_once = |whole: f64, alone: f64, share: f64| (whole - alone * (1.0 - share)) / share;
    let both = |whole: f64, alone: f64| [least, most].map(|share| at_once(whole, alone, share));
    let slow = both(whole.slow, alone.fast).into_iter().reduce(f64::min)?;
    let fast = both(whole.fast, alone.slow).into_iter().reduce(f64::max)?;
    // What a clock leaves open may put the median out of it.
    let median =
        at_once(whole.median, alone.median, f64::midpoint(least, most)).clamp(slow, fast.max(slow));
    (least > 0.0 && slow > 0.0 && fast.is_finite()).then_some(Speed {
        slow,
        fast,
        median,
        n: whole.n.min(alone.n),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn speed(slow: f64, fast: f64) -> Speed {
        Speed {
            slow,
            fast,
            median: f64::midpoint(slow, fast),
            n: 3,
        }
    }

    #[test]
    fn what_went_on_alone_is_taken_off() {
        // 10 s of 16: half of them at 20 alone, so the other half at 12.
        let beside = rate(speed(16.0, 16.0), speed(20.0, 20.0), (0.5, 0.5)).unwrap();
        assert!((beside.slow - 12.0).abs() < 1e-9, "{beside:?}");
        assert!((beside.fast - 12.0).abs() < 1e-9, "{beside:?}");
        let beside = rate(speed(16.0, 16.0), speed(18.0, 20.0), (0.5, 1.0)).unwrap();
        assert!((beside.slow - 12.0).abs() < 1e-9, "{beside:?}");
        assert!((beside.fast - 16.0).abs() < 1e-9, "{beside:?}");
        assert_eq!(
            rate(speed(5.0, 6.0), speed(9.0, 9.0), (1.0, 1.0)).unwrap(),
            speed(5.0, 6.0)
        );
    }

    #[test]
    fn too_short_a_time_at_once_tells_nothing() {
        assert_eq!(rate(speed(8.0, 9.0), speed(10.0, 10.0), (0.1, 0.1)), None);
        assert_eq!(rate(speed(8.0, 9.0), speed(8.0, 9.0), (0.0, 0.5)), None);
    }
}
