//! Bytes done over the whole time of a step, in bounded memory.

use std::collections::VecDeque;
use std::time::Duration;

use crate::event::Nanos;

/// Readings that are kept of the whole time.
const MOST: usize = 256;
/// The latest time is kept in full.
const LATEST: Duration = Duration::from_secs(10);
/// A peak lasts at least this long, or it is one of the buffer and not of the disk.
const LEAST: Duration = Duration::from_secs(1);

/// Bytes done over time. What is old is thinned evenly, so that the shape stays, however long the
/// step takes; the latest seconds are kept in full.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Pace {
    whole: Vec<(Nanos, u64)>,
    /// Readings in `whole` are at least this far apart, but for the newest.
    apart: Duration,
    latest: VecDeque<(Nanos, u64)>,
    peak: Option<f64>,
    moved: Option<Nanos>,
    still: Duration,
}

impl Pace {
    /// Takes a reading.
    pub fn push(&mut self, t: Nanos, done: u64) {
        if self.last().is_none_or(|(_, before)| done > before) {
            if let Some(moved) = self.moved {
                self.still = self.still.max(t.since(moved));
            }
            self.moved = Some(t);
        }
        self.latest.push_back((t, done));
        while self.latest.len() > MOST
            || self
                .latest
                .get(1)
                .is_some_and(|(at, _)| t.since(*at) > LATEST)
        {
            self.latest.pop_front();
        }
        let rate = self
            .latest
            .iter()
            .rev()
            .find(|(at, _)| t.since(*at) >= LEAST)
            .map(|(at, before)| done.saturating_sub(*before) as f64 / t.since(*at).as_secs_f64());
        if let Some(rate) = rate {
            self.peak = Some(self.peak.map_or(rate, |peak| peak.max(rate)));
        }
        self.keep(t, done);
    }

    fn keep(&mut self, t: Nanos, done: u64) {
        // The newest stands wherever it came; it gives way where it is too near.
        if let [.., (before, _), newest] = self.whole.as_mut_slice()
            && newest.0.since(*before) < self.apart
        {
            *newest = (t, done);
        } else {
            self.whole.push((t, done));
        }
        if self.whole.len() <= MOST {
            return;
        }
        let begin = self.whole.first().map_or(t, |(at, _)| *at);
        let even = t.since(begin) / (MOST as u32 / 2);
        self.apart = (self.apart * 2).max(even).max(Duration::from_nanos(1));
        let (apart, mut last) = (self.apart, None::<Nanos>);
        self.whole.retain(|(at, _)| {
            let is_kept = last.is_none_or(|last| at.since(last) >= apart);
            if is_kept {
                last = Some(*at);
            }
            is_kept
        });
        if self.whole.last().is_none_or(|(at, _)| *at != t) {
            self.whole.push((t, done));
        }
    }

    /// The latest seconds are of no use once the step is over.
    pub(super) fn over(&mut self) {
        self.latest = VecDeque::new();
    }

    /// Readings of the whole time, evenly spread.
    #[must_use]
    pub fn whole(&self) -> &[(Nanos, u64)] {
        &self.whole
    }

    /// All readings of the latest seconds.
    #[must_use]
    pub fn latest(&self) -> impl DoubleEndedIterator<Item = (Nanos, u64)> + '_ {
        self.latest.iter().copied()
    }

    /// The newest reading.
    #[must_use]
    pub fn last(&self) -> Option<(Nanos, u64)> {
        self.whole.last().copied()
    }

    /// When the bytes last grew.
    #[must_use]
    pub fn moved(&self) -> Option<Nanos> {
        self.moved
    }

    /// The longest time in which they did not grow, and then grew again.
    #[must_use]
    pub fn still(&self) -> Duration {
        self.still
    }

    /// The highest rate that lasted a second, in bytes a second.
    #[must_use]
    pub fn peak(&self) -> Option<f64> {
        self.peak
    }

    /// The rate over all of it.
    #[must_use]
    pub fn mean(&self) -> Option<f64> {
        let ((from, before), (to, done)) = (*self.whole.first()?, self.last()?);
        let seconds = to.since(from).as_secs_f64();
        (seconds > 0.0).then(|| done.saturating_sub(before) as f64 / seconds)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seconds(s: f64) -> Nanos {
        Nanos((s * 1e9) as u64)
    }

    /// Ten hours at ten readings a second: slow for the first half, four times as fast after it.
    #[test]
    fn the_shape_of_a_long_step_stays() {
        let mut pace = Pace::default();
        let all: u64 = 10 * 3600 * 10;
        let done = |at: u64| at + 3 * at.saturating_sub(all / 2);
        for at in 0..=all {
            pace.push(seconds(at as f64 / 10.0), done(at));
        }
        let whole = pace.whole();
        assert!(whole.len() <= MOST && whole.len() >= MOST / 4);
        assert_eq!(whole[0], (Nanos(0), 0));
        assert_eq!(pace.last().unwrap().1, done(all));
        let widest = whole
            .windows(2)
            .map(|pair| pair[1].0.since(pair[0].0))
            .max();
        assert!(
            widest.unwrap() <= Duration::from_secs(36_000 / 32),
            "{widest:?}"
        );
        assert!(pace.latest().count() <= MOST);
        assert!((pace.peak().unwrap() - 40.0).abs() < 0.1);
        assert!((pace.mean().unwrap() - 25.0).abs() < 0.1);
    }

    #[test]
    fn a_stand_still_is_one_only_until_it_moves_again() {
        let mut pace = Pace::default();
        for (t, done) in [(0, 5), (1, 10), (2, 10), (9, 10), (13, 11), (14, 12)] {
            pace.push(seconds(f64::from(t)), done);
        }
        assert_eq!(pace.still(), Duration::from_secs(12));
        assert_eq!(pace.moved(), Some(seconds(14.0)));
        pace.push(seconds(40.0), 12);
        assert_eq!(
            pace.still(),
            Duration::from_secs(12),
            "nobody knows yet how long it is"
        );
        assert_eq!(pace.moved(), Some(seconds(14.0)));
    }

    #[test]
    fn readings_of_one_moment_and_of_a_clock_put_back_are_bounded() {
        let mut pace = Pace::default();
        for done in 0..10_000 {
            pace.push(Nanos(7), done);
        }
        assert!(pace.whole().len() <= MOST && pace.latest().count() <= MOST);
        pace.push(Nanos(0), 3);
        assert_eq!((pace.mean(), pace.peak()), (None, None));
    }
}
