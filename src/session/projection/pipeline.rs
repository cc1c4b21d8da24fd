//! Disks that go through two methods, one after the other, the second beginning with a disk when the first has done with it.

/// Bytes a second of a method, by itself and beside the other one.
#[derive(Debug, Clone, Copy)]
pub(super) struct Rates {
    pub alone: f64,
    pub beside: f64,
}

/// How it went, in seconds after its begin.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct Went {
    /// When the first method has done with all disks.
    pub first: f64,
    /// When the second one has.
    pub total: f64,
    /// How long both went on.
    pub both: f64,
}

/// A method's place among the disks.
struct Place {
    disk: usize,
    left: f64,
}

impl Place {
    fn at(disk: usize, disks: &[u64]) -> Self {
        Self {
            disk,
            left: disks.get(disk).map_or(0.0, |bytes| *bytes as f64),
        }
    }

    fn moved(&mut self, bytes: f64, disks: &[u64]) {
        self.left -= bytes;
        // Less than a byte is what floats leave.
        if self.left < 1.0 {
            *self = Self::at(self.disk + 1, disks);
        }
    }
}

/// Runs the disks through both, of the second one only `sent` of them. All rates are above 0.
pub(super) fn run(disks: &[u64], sent: usize, first: Rates, then: Rates) -> Went {
    let mut went = Went::default();
    let (mut one, mut two) = (Place::at(0, disks), Place::at(0, disks));
    let sent = sent.min(disks.len());
    while one.disk < disks.len() || two.disk < sent {
        let is_first = one.disk < disks.len();
        let is_second = two.disk < one.disk.min(sent);
        let of = |goes_on: bool, other: bool, rates: Rates| match (goes_on, other) {
            (false, _) => 0.0,
            (true, true) => rates.beside,
            (true, false) => rates.alone,
        };
        let (fast, slow) = (
            of(is_first, is_second, first),
            of(is_second, is_first, then),
        );
        let until = |place: &Place, rate: f64| {
            if rate > 0.0 {
                place.left / rate
            } else {
                f64::INFINITY
            }
        };
        let time = until(&one, fast).min(until(&two, slow));
        if !time.is_finite() {
            break;
        }
        went.total += time;
        if is_first {
            one.moved(fast * time, disks);
            went.first = went.total;
        }
        if is_second {
            two.moved(slow * time, disks);
        }
        if is_first && is_second {
            went.both += time;
        }
    }
    went
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(alone: f64, beside: f64) -> Rates {
        Rates { alone, beside }
    }

    #[test]
    fn the_second_begins_when_the_first_disk_is_done() {
        // Nothing slows anything: the second waits for the first disk, then for each next one.
        let went = run(&[100, 100], 2, at(10.0, 10.0), at(20.0, 20.0));
        assert!((went.first - 20.0).abs() < 1e-6, "{went:?}");
        assert!((went.total - 25.0).abs() < 1e-6, "{went:?}");
        assert!((went.both - 5.0).abs() < 1e-6, "{went:?}");
    }

    #[test]
    fn both_are_slowed_only_while_both_go_on() {
        let went = run(&[100, 100], 2, at(10.0, 5.0), at(10.0, 2.0));
        // 10 s alone, 20 s both (40 of 200 are sent), the other 160 alone.
        assert!((went.first - 30.0).abs() < 1e-6, "{went:?}");
        assert!((went.total - 46.0).abs() < 1e-6, "{went:?}");
    }

    #[test]
    fn a_disk_that_is_not_sent_is_still_copied() {
        let went = run(&[100, 100], 1, at(10.0, 5.0), at(10.0, 5.0));
        // 10 s alone, 20 s both: the first disk is sent when the second one is copied.
        assert!((went.total - 30.0).abs() < 1e-6, "{went:?}");
        let went = run(&[100, 100], 0, at(10.0, 5.0), at(10.0, 5.0));
        assert!((went.total - 20.0).abs() < 1e-6, "{went:?}");
    }

    #[test]
    fn one_disk_goes_through_one_after_the_other() {
        let went = run(&[100], 1, at(10.0, 1.0), at(5.0, 1.0));
        assert!((went.total - 30.0).abs() < 1e-6, "{went:?}");
        assert!(went.both.abs() < 1e-9);
        assert_eq!(run(&[], 0, at(1.0, 1.0), at(1.0, 1.0)), Went::default());
        assert!(run(&[0, 0], 2, at(1.0, 1.0), at(1.0, 1.0)).total.abs() < 1e-9);
    }
}
