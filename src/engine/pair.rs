//! Two runs at once: they begin a phase at the same moment, and one that is started again ends with the other.

use tokio::sync::watch;

use crate::event::{First, Labels, Phase};
use crate::session::{RESTARTED, TOGETHER, beside};

use super::control::Control;
use super::run::Run;

/// How far a run is, where two go on at once.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
enum Stage {
    #[default]
    Prepares,
    Protects,
    Protected,
    Restores,
    Restored,
}

/// A run's part in two at once.
pub(super) struct Paired {
    /// The other method.
    pub other: String,
    place: Place,
}

enum Place {
    /// It meets the other.
    Meets(Seat),
    /// It has come to its end, and meets nobody any more.
    Left,
    /// It was started again, and nobody waits for it.
    Again,
}

/// One of the two places where runs meet. Who has left it is not waited for.
pub(super) struct Seat {
    mine: watch::Sender<Stage>,
    other: watch::Receiver<Stage>,
    first: First,
}

impl Seat {
    /// Both places.
    pub fn two(first: First) -> [Self; 2] {
        let (one, sees_one) = watch::channel(Stage::default());
        let (two, sees_two) = watch::channel(Stage::default());
        let seat = |mine, other| Self { mine, other, first };
        [seat(one, sees_two), seat(two, sees_one)]
    }

    /// Waits before a step of this phase until the other run is as far, is over, or a stop was asked for. What is measured
    /// of the one is so beside what is measured of the other, and not beside its hashing.
    async fn meet(&mut self, phase: Phase, control: &Control) {
        let now = *self.mine.borrow();
        let Some(stage) = self.next(now, phase) else {
            return;
        };
        self.mine.send_replace(stage);
        tokio::select! {
            _ = self.other.wait_for(|other| *other >= stage) => {}
            () = control.stopped() => {}
        }
    }

    fn next(&self, now: Stage, phase: Phase) -> Option<Stage> {
        let stage = match phase {
            Phase::Protect => Stage::Protects,
            // It goes through all of its phases, so that whoever goes on has something beside it.
            _ if self.first == First::Restarts => return None,
            Phase::Restore | Phase::Ready => Stage::Restores,
            _ if now == Stage::Protects => Stage::Protected,
            _ if now == Stage::Restores => Stage::Restored,
            _ => return None,
        };
        Some(stage).filter(|stage| *stage > now)
    }
}

impl Paired {
    /// Of one of two that begin together.
    pub fn meeting(other: &str, seat: Seat) -> Self {
        Self {
            other: other.to_owned(),
            place: Place::Meets(seat),
        }
    }

    /// Of one that is started again.
    pub fn again(other: &str) -> Self {
        Self {
            other: other.to_owned(),
            place: Place::Again,
        }
    }

    /// Whether it is started again.
    pub fn is_again(&self) -> bool {
        matches!(self.place, Place::Again)
    }

    /// It takes no further step: nobody is to wait for it.
    pub fn leave(&mut self) {
        if let Place::Meets(_) = self.place {
            self.place = Place::Left;
        }
    }
}

impl Run<'_> {
    /// Waits for the run beside it, where a step of this phase is next.
    pub(super) async fn meet(&mut self, phase: Phase) {
        if let Some(Paired {
            place: Place::Meets(seat),
            ..
        }) = &mut self.paired
        {
            seat.meet(phase, &self.control).await;
        }
    }

    /// A series of this run: beside another method it is one of its own.
    pub(super) fn in_series(&self, series: String) -> String {
        match &self.paired {
            Some(paired) => beside(&series, &paired.other),
            None => series,
        }
    }

    pub(super) fn labels(&self) -> Labels {
        let mut all = self.bound.binding.labels.clone();
        if let Some(paired) = &self.paired {
            all.insert(TOGETHER.to_owned(), paired.other.clone());
            if paired.is_again() {
                all.insert(RESTARTED.to_owned(), "yes".to_owned());
            }
        }
        all
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tokio::time::timeout;

    use super::*;

    async fn waits(seat: &mut Seat, phase: Phase, control: &Control) -> bool {
        let short = Duration::from_millis(5);
        timeout(short, seat.meet(phase, control)).await.is_err()
    }

    #[tokio::test(start_paused = true)]
    async fn each_waits_where_the_other_has_not_come_to() {
        let control = Control::default();
        let [mut one, mut two] = Seat::two(First::Waits);
        assert!(!waits(&mut one, Phase::Prepare, &control).await);
        assert!(waits(&mut one, Phase::Protect, &control).await);
        assert!(!waits(&mut two, Phase::Protect, &control).await);
        // What one has protected it hashes only when the other has, too.
        assert!(waits(&mut one, Phase::Account, &control).await);
        assert!(!waits(&mut two, Phase::Protect, &control).await);
        // It has no account of its own: whoever brings back has protected.
        assert!(waits(&mut two, Phase::Restore, &control).await);
        assert!(!waits(&mut one, Phase::Account, &control).await);
        assert!(!waits(&mut one, Phase::Restore, &control).await);
        drop(two);
        assert!(!waits(&mut one, Phase::Verify, &control).await);
    }

    #[tokio::test(start_paused = true)]
    async fn a_stop_ends_the_wait_and_restarts_have_one_alone() {
        let control = Control::default();
        let [mut one, _two] = Seat::two(First::Waits);
        control.stop();
        assert!(!waits(&mut one, Phase::Protect, &control).await);
        let control = Control::default();
        let [mut one, mut two] = Seat::two(First::Restarts);
        assert!(waits(&mut one, Phase::Protect, &control).await);
        assert!(!waits(&mut two, Phase::Protect, &control).await);
        for phase in [Phase::Account, Phase::Restore, Phase::Verify] {
            assert!(!waits(&mut one, phase, &control).await, "{phase:?}");
        }
    }
}
