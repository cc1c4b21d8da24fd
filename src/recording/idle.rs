//! Long times in which nothing happened, and a clock that passes over them.

use std::time::Duration;

use crate::event::Nanos;

/// Longer than this without an event is idle.
const LONG: u64 = 5_000_000_000;
/// What an idle time is shortened to.
const SHORT: u64 = 2_000_000_000;

/// A time in which nothing happened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Idle {
    /// The last event before it.
    pub from: Nanos,
    /// The first event after it.
    pub to: Nanos,
    /// What all those before it save together.
    saved: u64,
}

impl Idle {
    /// How long it is.
    #[must_use]
    pub fn length(&self) -> Duration {
        self.to.since(self.from)
    }

    fn saves(&self) -> u64 {
        self.to.0 - self.from.0 - SHORT
    }
}

/// Takes the time between two events, one after the other.
pub(super) fn add(all: &mut Vec<Idle>, from: Nanos, to: Nanos) {
    if to.0.saturating_sub(from.0) > LONG {
        let saved = all.last().map_or(0, |last| last.saved + last.saves());
        all.push(Idle { from, to, saved });
    }
}

/// Where a moment stands on a clock on which each idle time takes as long as it is shortened to.
pub(super) fn shown(all: &[Idle], at: Nanos) -> Nanos {
    let next = all.partition_point(|idle| idle.from <= at);
    let Some(idle) = next.checked_sub(1).and_then(|last| all.get(last)) else {
        return at;
    };
    if at >= idle.to {
        return Nanos(at.0 - idle.saved - idle.saves());
    }
    let share = (at.0 - idle.from.0) as f64 / (idle.to.0 - idle.from.0) as f64;
    Nanos(idle.from.0 - idle.saved + (share * SHORT as f64) as u64)
}

/// The moment that stands there.
pub(super) fn told(all: &[Idle], shown: Nanos) -> Nanos {
    let next = all.partition_point(|idle| idle.from.0 - idle.saved <= shown.0);
    let Some(idle) = next.checked_sub(1).and_then(|last| all.get(last)) else {
        return shown;
    };
    let into = shown.0 - (idle.from.0 - idle.saved);
    if into >= SHORT {
        return Nanos(shown.0 + idle.saved + idle.saves());
    }
    let share = into as f64 / SHORT as f64;
    let length = (idle.to.0 - idle.from.0) as f64;
    Nanos(idle.from.0 + (share * length) as u64)
}

/// The idle time that a moment is in.
pub(super) fn around(all: &[Idle], at: Nanos) -> Option<&Idle> {
    let next = all.partition_point(|idle| idle.from <= at);
    let idle = all.get(next.checked_sub(1)?)?;
    (at < idle.to).then_some(idle)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const SECOND: u64 = 1_000_000_000;

    fn of(seconds: &[u64]) -> Vec<Idle> {
        let mut all = Vec::new();
        for pair in seconds.windows(2) {
            add(&mut all, Nanos(pair[0] * SECOND), Nanos(pair[1] * SECOND));
        }
        all
    }

    #[test]
    fn a_long_time_takes_two_seconds_and_a_short_one_as_long_as_it_was() {
        let all = of(&[0, 4, 104, 106, 206]);
        assert_eq!(all.len(), 2);
        let shown = |at: u64| shown(&all, Nanos(at * SECOND)).0 / SECOND;
        assert_eq!([shown(0), shown(4), shown(54), shown(104)], [0, 4, 5, 6]);
        assert_eq!([shown(106), shown(206), shown(210)], [8, 10, 14]);
        let told = |at: u64| told(&all, Nanos(at * SECOND)).0 / SECOND;
        assert_eq!([told(0), told(4), told(5), told(6)], [0, 4, 54, 104]);
        assert_eq!([told(8), told(10), told(14)], [106, 206, 210]);
        let is_idle = |at: u64| around(&all, Nanos(at * SECOND)).is_some();
        assert_eq!(
            [is_idle(3), is_idle(50), is_idle(104)],
            [false, true, false]
        );
    }

    proptest! {
        #[test]
        fn both_clocks_go_on_together(
            gaps in proptest::collection::vec(0_u64..200, 0..20),
            mut moments in proptest::collection::vec(0_u64..4000, 2..20),
        ) {
            let mut at = 0;
            let mut seconds = vec![0];
            for gap in gaps {
                at += gap;
                seconds.push(at);
            }
            let all = of(&seconds);
            moments.sort_unstable();
            let mut last = Nanos(0);
            for moment in moments {
                let moment = Nanos(moment * SECOND / 7);
                let on_clock = shown(&all, moment);
                prop_assert!(on_clock >= last && on_clock <= moment);
                last = on_clock;
                // Within what an idle time of a few minutes loses by being shortened.
                let back = told(&all, on_clock);
                prop_assert!(back.0.abs_diff(moment.0) < 1000, "{} is {} is {}", moment.0, on_clock.0, back.0);
            }
        }
    }
}
