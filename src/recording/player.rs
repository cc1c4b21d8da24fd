//! Events at the pace at which they happened.

use std::time::Duration;

use crate::event::{Event, Nanos};

/// Slowest and fastest pace.
const SPEEDS: (f64, f64) = (0.01, 100_000.0);

/// Gives the events of a recording when they are due, on a clock that the caller reads: each
/// call is told what that clock shows. Pausing, another speed and seeking change the position
/// in the recording, never the events.
#[derive(Debug)]
pub struct Player {
    events: Vec<Event>,
    /// When each event is due; never falls, also where stamps do.
    due: Vec<Nanos>,
    /// Events given so far.
    given: usize,
    /// Position in the recording when the caller's clock showed `since`.
    at: Duration,
    since: Duration,
    speed: f64,
    paused: bool,
}

/// What seeking asks of whoever folds the events.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Seek {
    /// Nothing: the next events follow the last ones.
    Forward,
    /// To begin with an empty session: the next events are the first ones.
    Back,
}

impl Player {
    /// At the beginning, at the pace of the recording, from when the caller's clock shows 0.
    #[must_use]
    pub fn new(events: Vec<Event>) -> Self {
        let mut latest = Nanos(0);
        let due = events
            .iter()
            .map(|event| {
                latest = latest.max(event.t);
                latest
            })
            .collect();
        Self {
            events,
            due,
            given: 0,
            at: Duration::ZERO,
            since: Duration::ZERO,
            speed: 1.0,
            paused: false,
        }
    }

    /// Events that are due and were not given yet.
    pub fn due(&mut self, now: Duration) -> &[Event] {
        let position = nanos(self.position(now));
        let until = self.due.partition_point(|due| *due <= position);
        let from = self.given;
        self.given = until.max(from);
        self.events.get(from..self.given).unwrap_or_default()
    }

    /// How long until the next event is due; nothing where none will be.
    #[must_use]
    pub fn wait(&self, now: Duration) -> Option<Duration> {
        let next = *self.due.get(self.given)?;
        if self.paused {
            return None;
        }
        let ahead = Duration::from_nanos(next.0).saturating_sub(self.position(now));
        // One more nanosecond, so that rounding never wakes anybody too early.
        let wait = ahead
            .div_f64(self.speed)
            .saturating_add(Duration::from_nanos(1));
        Some(if ahead.is_zero() {
            Duration::ZERO
        } else {
            wait
        })
    }

    /// Where it is in the recording; never behind its end.
    #[must_use]
    pub fn position(&self, now: Duration) -> Duration {
        if self.paused {
            return self.at;
        }
        let passed = now.saturating_sub(self.since).as_secs_f64() * self.speed;
        let passed = Duration::try_from_secs_f64(passed).unwrap_or(Duration::MAX);
        // A pace of 1 keeps every nanosecond.
        let passed = if (self.speed - 1.0).abs() < f64::EPSILON {
            now.saturating_sub(self.since)
        } else {
            passed
        };
        self.at.saturating_add(passed).min(self.length())
    }

    /// When the last event is due.
    #[must_use]
    pub fn length(&self) -> Duration {
        self.due
            .last()
            .map_or(Duration::ZERO, |last| Duration::from_nanos(last.0))
    }

    /// Whether all events were given.
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.given == self.events.len()
    }

    /// How many times faster than it happened.
    #[must_use]
    pub fn speed(&self) -> f64 {
        self.speed
    }

    /// Goes on at another pace, from 0.01 to 100 000; what is no number changes nothing.
    pub fn set_speed(&mut self, now: Duration, speed: f64) {
        self.hold(now);
        if !speed.is_nan() {
            self.speed = speed.clamp(SPEEDS.0, SPEEDS.1);
        }
    }

    /// Whether it stands still.
    #[must_use]
    pub fn is_paused(&self) -> bool {
        self.paused
    }

    /// Stands still.
    pub fn pause(&mut self, now: Duration) {
        self.hold(now);
        self.paused = true;
    }

    /// Goes on.
    pub fn resume(&mut self, now: Duration) {
        self.hold(now);
        self.paused = false;
    }

    /// Goes to a position. Where events were given that happened after it, all of them are given
    /// once more from the first: the caller begins with an empty session.
    pub fn seek(&mut self, now: Duration, to: Duration) -> Seek {
        self.at = to.min(self.length());
        self.since = now;
        let until = self.due.partition_point(|due| *due <= nanos(self.at));
        if until >= self.given {
            return Seek::Forward;
        }
        self.given = 0;
        Seek::Back
    }

    fn hold(&mut self, now: Duration) {
        self.at = self.position(now);
        self.since = now;
    }
}

fn nanos(duration: Duration) -> Nanos {
    Nanos(u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::{Act, ActKind, What};

    const SECOND: Duration = Duration::from_secs(1);

    /// Events at these seconds.
    fn player(at: &[u64]) -> Player {
        let events = at.iter().enumerate().map(|(seq, seconds)| Event {
            seq: seq as u64,
            t: Nanos(seconds * 1_000_000_000),
            what: What::Act(Act {
                act: ActKind::Marker,
                text: String::new(),
            }),
        });
        Player::new(events.collect())
    }

    fn due(player: &mut Player, seconds: f64) -> Vec<u64> {
        let events = player.due(Duration::from_secs_f64(seconds));
        events.iter().map(|event| event.seq).collect()
    }

    #[test]
    fn events_come_once_and_when_they_happened() {
        let mut player = player(&[0, 1, 1, 5]);
        assert_eq!(due(&mut player, 0.0), [0]);
        assert_eq!(due(&mut player, 0.9), [] as [u64; 0]);
        assert_eq!(due(&mut player, 1.0), [1, 2]);
        assert_eq!(
            player.wait(2 * SECOND),
            Some(3 * SECOND + Duration::from_nanos(1))
        );
        assert!(!player.is_over());
        assert_eq!(due(&mut player, 60.0), [3]);
        assert!(player.is_over());
        assert_eq!(player.length(), 5 * SECOND);
        assert_eq!(player.position(60 * SECOND), 5 * SECOND);
        assert_eq!(player.wait(60 * SECOND), None);
    }

    #[test]
    fn another_speed_goes_on_from_where_it_is() {
        let mut player = player(&[10, 20]);
        player.set_speed(5 * SECOND, 10.0);
        assert_eq!(player.position(5 * SECOND), 5 * SECOND);
        assert_eq!(due(&mut player, 5.4), [] as [u64; 0]);
        assert_eq!(due(&mut player, 5.5), [0]);
        assert_eq!(due(&mut player, 6.5), [1]);
        player.set_speed(7 * SECOND, f64::NAN);
        assert!((player.speed() - 10.0).abs() < f64::EPSILON);
        player.set_speed(7 * SECOND, 0.0);
        assert!(player.speed() > 0.0);
    }

    #[test]
    fn time_does_not_pass_while_it_is_paused() {
        let mut player = player(&[0, 10]);
        player.pause(3 * SECOND);
        assert_eq!(player.position(100 * SECOND), 3 * SECOND);
        assert_eq!(player.wait(100 * SECOND), None);
        assert_eq!(due(&mut player, 100.0), [0]);
        player.resume(100 * SECOND);
        assert_eq!(due(&mut player, 106.9), [] as [u64; 0]);
        assert_eq!(due(&mut player, 107.0), [1]);
    }

    #[test]
    fn seeking_back_gives_all_from_the_first() {
        let mut player = player(&[0, 10, 20, 30]);
        assert_eq!(player.seek(SECOND, 15 * SECOND), Seek::Forward);
        assert_eq!(due(&mut player, 1.0), [0, 1]);
        assert_eq!(player.seek(2 * SECOND, 19 * SECOND), Seek::Forward);
        assert_eq!(due(&mut player, 3.0), [2]);
        assert_eq!(player.seek(4 * SECOND, 12 * SECOND), Seek::Back);
        assert_eq!(due(&mut player, 4.0), [0, 1]);
        assert_eq!(player.seek(5 * SECOND, 900 * SECOND), Seek::Forward);
        assert_eq!(due(&mut player, 5.0), [2, 3]);
    }

    #[test]
    fn stamps_that_fall_do_not_hold_events_back() {
        let mut player = player(&[0, 8, 3, 9]);
        assert_eq!(due(&mut player, 5.0), [0]);
        assert_eq!(due(&mut player, 8.0), [1, 2]);
        assert_eq!(due(&mut player, 9.0), [3]);
    }

    #[test]
    fn whoever_waits_as_told_never_wakes_in_vain() {
        for speed in [0.3, 1.0, 3.0, 7.7, 1000.0] {
            let mut player = player(&[1, 2, 3, 7, 1000]);
            player.set_speed(Duration::ZERO, speed);
            let mut now = Duration::ZERO;
            let mut seen = 0;
            while let Some(wait) = player.wait(now) {
                now += wait;
                let got = player.due(now).len();
                assert!(got > 0, "at {speed}, after {now:?}");
                seen += got;
            }
            assert_eq!(seen, 5);
        }
    }

    #[test]
    fn an_empty_recording_is_over() {
        let mut player = Player::new(Vec::new());
        assert!(player.is_over());
        assert_eq!(player.length(), Duration::ZERO);
        assert!(player.due(SECOND).is_empty());
    }
}
