//! Values of good runs, and the three figures that are made of them.

use super::titled;
use crate::event::{Bytes, Labels, Phase, Sample};

/// What a figure of bytes counts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum Counts {
    /// What a tool, a pipe or a computation says.
    #[default]
    Told,
    /// Bytes as the reader of the files sees them.
    Logical,
    /// Bytes that are allocated.
    Stored,
    /// Bytes that only a snapshot keeps.
    Held,
}

/// Values of good runs, in run order.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Series {
    /// What was measured.
    pub name: String,
    /// Unit.
    pub unit: String,
    /// Labels that its values have and their runs do not (`load`, an item that a step was
    /// repeated for); the number of an iteration is none.
    pub labels: Labels,
    /// How fine, in `unit`: the coarsest of its values.
    pub resolution: f64,
    /// The values, in run order, then in the order of iterations.
    pub values: Vec<f64>,
    /// Which run of the row each value is of, from 0.
    pub runs: Vec<usize>,
    /// Values that do not count, each with the run that it is of: the run goes on, did not end
    /// well, or is not verified; or no clock can give such a value ([`can_be`]).
    pub out: Vec<(usize, f64)>,
    /// Phase of the step that it is of; absent where it lies between steps.
    pub phase: Option<Phase>,
    /// What it counts, where it is bytes.
    pub counts: Counts,
    /// A published median, where no values are known.
    pub published: Option<f64>,
    /// A published minimum.
    pub published_min: Option<f64>,
    /// A published maximum.
    pub published_max: Option<f64>,
}

impl Series {
    /// Its name, with the labels that tell it from others of that name.
    #[must_use]
    pub fn title(&self) -> String {
        titled(&self.name, &self.labels)
    }

    /// Whether that is its title.
    #[must_use]
    pub fn is_called(&self, title: &str) -> bool {
        title.starts_with(&self.name) && self.title() == title
    }

    /// The median: the middle value, or the mean of the two.
    #[must_use]
    pub fn median(&self) -> Option<f64> {
        median(&self.values)
    }

    /// The lowest.
    #[must_use]
    pub fn min(&self) -> Option<f64> {
        self.values.iter().copied().min_by(f64::total_cmp)
    }

    /// The highest.
    #[must_use]
    pub fn max(&self) -> Option<f64> {
        self.values.iter().copied().max_by(f64::total_cmp)
    }

    /// Whether a publication prints a figure of it.
    #[must_use]
    pub fn is_published(&self) -> bool {
        [self.published, self.published_min, self.published_max]
            .iter()
            .any(Option::is_some)
    }

    /// Whether there is anything that counts: values, or what is printed.
    #[must_use]
    pub fn is_known(&self) -> bool {
        self.n() > 0 || self.is_published()
    }

    /// How many values.
    #[must_use]
    pub fn n(&self) -> usize {
        self.values.len()
    }

    /// How many runs these are of: the values of one run tell nothing of the next one.
    #[must_use]
    pub fn in_runs(&self) -> usize {
        self.runs.chunk_by(|one, next| one == next).count()
    }

    /// Lowest and highest value that the clock allows: each value is off by up to its
    /// resolution, in either direction; no duration is below 0.
    #[must_use]
    pub fn widened(&self) -> Option<(f64, f64)> {
        Some((
            (self.min()? - self.resolution).max(0.0),
            self.max()? + self.resolution,
        ))
    }

    /// Whether each run was slower than the one before, by more than the clock can tell: it may
    /// be the host that changes (a pool that fills, a disk that warms), not the method. Not where
    /// one of them is far from the others: that is what is odd, then.
    #[must_use]
    pub fn slows(&self) -> bool {
        let runs = self.by_run();
        let grows = runs
            .windows(2)
            .all(|pair| matches!(pair, [(_, one), (_, next)] if next - one > self.resolution));
        self.unit == "s" && runs.len() >= 3 && grows && self.far().is_empty()
    }

    /// Runs whose value is further from the range of all others than twice the width of that
    /// range (and what the clock cannot tell), and by more than a tenth. The first run is looked
    /// at from three runs on (cold caches, first allocation), the others from four.
    #[must_use]
    pub fn far(&self) -> Vec<(usize, f64)> {
        let runs = self.by_run();
        if self.unit != "s" || runs.len() < 3 {
            return Vec::new();
        }
        let mut sorted: Vec<f64> = runs.iter().map(|(_, value)| *value).collect();
        sorted.sort_by(f64::total_cmp);
        let [lowest, second, ..] = sorted.as_slice() else {
            return Vec::new();
        };
        let [.., before, highest] = sorted.as_slice() else {
            return Vec::new();
        };
        let is_far = |value: f64| {
            // The range of all others.
            let low = if value <= *lowest { *second } else { *lowest };
            let high = if value >= *highest { *before } else { *highest };
            let away = (low - value).max(value - high);
            away > 2.0 * (high - low) + 2.0 * self.resolution && away > 0.1 * low
        };
        let all = runs.iter().enumerate();
        all.filter(|(at, (_, value))| (*at == 0 || runs.len() >= 4) && is_far(*value))
            .map(|(_, run)| *run)
            .collect()
    }

    /// One value a run: its median where it has several iterations.
    #[must_use]
    pub fn by_run(&self) -> Vec<(usize, f64)> {
        let mut all: Vec<(usize, Vec<f64>)> = Vec::new();
        for (&run, &value) in self.runs.iter().zip(&self.values) {
            match all.last_mut() {
                Some((last, values)) if *last == run => values.push(value),
                _ => all.push((run, vec![value])),
            }
        }
        all.into_iter()
            .filter_map(|(run, values)| Some((run, median(&values)?)))
            .collect()
    }
}

/// The middle value of several, or the mean of the two in the middle.
#[must_use]
pub fn median(values: &[f64]) -> Option<f64> {
    if values.is_empty() {
        return None;
    }
    let mut all = values.to_vec();
    let middle = all.len() / 2;
    let is_odd = all.len() % 2 == 1;
    let (below, upper, _) = all.select_nth_unstable_by(middle, f64::total_cmp);
    if is_odd {
        return Some(*upper);
    }
    let lower = below.iter().copied().max_by(f64::total_cmp)?;
    // Halved first: the sum of two large values has no room.
    Some(lower / 2.0 + *upper / 2.0)
}

/// No duration that is measured here is longer than a year: a clock was set meanwhile.
const LONGEST: f64 = 366.0 * 86_400.0;

/// No figure of anything is larger than all bytes that a file system can count.
const LARGEST: f64 = 9_223_372_036_854_775_808.0;

/// Whether there can be such a value: a number that is not without end; and where it is a time or a
/// rate, one that is not below nothing, and no longer than a year.
#[must_use]
pub fn can_be(value: f64, unit: &str) -> bool {
    let least = if unit == "s" || unit.ends_with("/s") {
        0.0
    } else {
        -LARGEST
    };
    let most = if unit == "s" { LONGEST } else { LARGEST };
    value >= least && value < most
}

/// Whether there can be so many bytes: a number below nothing that was read as one without a sign
/// is beyond all that there can be.
#[must_use]
pub fn bytes_can_be(bytes: Bytes) -> bool {
    can_be(bytes.0 as f64, "B")
}

/// Whether there can be such a sample. Bytes that are computed from others may have become fewer;
/// those that a tool counted are not below nothing.
#[must_use]
pub fn sample_can_be(sample: &Sample) -> bool {
    let is_counted = sample.unit == "B" && sample.step.is_some();
    can_be(sample.value, &sample.unit)
        && (sample.value >= 0.0 || !is_counted)
        && sample.resolution >= 0.0
        && can_be(sample.resolution, &sample.unit)
}

/// How likely it is that the range from the lowest to the highest of `n` values holds the true
/// median: 1 − 2 × 0.5ⁿ, whatever the distribution.
#[must_use]
pub fn range_holds_median(n: usize) -> Option<f64> {
    let n = i32::try_from(n).ok().filter(|&n| n >= 2)?;
    Some(1.0 - 2.0 * 0.5_f64.powi(n))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(values: &[f64]) -> Series {
        Series {
            values: values.to_vec(),
            ..Series::default()
        }
    }

    #[test]
    fn the_median_is_the_middle_or_the_mean_of_the_two() {
        assert_eq!(of(&[]).median(), None);
        assert_eq!(of(&[3.0]).median(), Some(3.0));
        assert_eq!(of(&[57.0, 66.0, 60.0]).median(), Some(60.0));
        assert_eq!(of(&[27.0, 28.0]).median(), Some(27.5));
        assert_eq!(of(&[4.0, 1.0, 3.0, 2.0]).median(), Some(2.5));
        assert_eq!(of(&[f64::MAX, f64::MAX]).median(), Some(f64::MAX));
    }

    #[test]
    fn lowest_and_highest_whatever_the_order() {
        let series = of(&[66.0, 58.0, 59.0]);
        assert_eq!((series.min(), series.max()), (Some(58.0), Some(66.0)));
        assert_eq!((of(&[]).min(), of(&[]).max()), (None, None));
    }

    #[test]
    fn a_range_is_widened_by_the_resolution_but_not_below_nothing() {
        let mut series = of(&[2.0, 0.0]);
        series.resolution = 1.0;
        assert_eq!(series.widened(), Some((0.0, 3.0)));
    }

    #[test]
    fn one_run_that_is_far_is_no_trend() {
        let timed = |values: &[f64]| Series {
            unit: "s".to_owned(),
            runs: (0..values.len()).collect(),
            ..of(values)
        };
        assert!(timed(&[10.0, 12.0, 14.0]).slows());
        let first = timed(&[2.0, 20.0, 21.0]);
        assert!(!first.slows() && first.far() == [(0, 2.0)]);
    }

    #[test]
    fn iterations_count_as_their_run() {
        let mut series = of(&[1.0, 2.0, 9.0, 4.0]);
        series.runs = vec![0, 0, 0, 2];
        assert_eq!(series.by_run(), [(0, 2.0), (2, 4.0)]);
    }

    #[test]
    fn values_of_one_run_are_one_of_the_runs() {
        let mut series = of(&[1.0, 2.0, 9.0, 4.0]);
        series.runs = vec![0, 0, 0, 2];
        assert_eq!((series.n(), series.in_runs()), (4, 2));
    }

    #[test]
    fn what_no_clock_can_give() {
        for value in [-1e-9, -5.0, f64::NAN, f64::INFINITY, 4e8] {
            assert!(!can_be(value, "s"), "{value} s");
        }
        assert!(can_be(0.0, "s") && can_be(86_400.0, "s"));
        assert!(!can_be(-1.0, "B/s") && can_be(4e8, "B/s"));
        // What is held may be less than before.
        assert!(can_be(-4096.0, "B") && !can_be(f64::NAN, "B"));
        for value in [1e300, -1e300, f64::INFINITY, u64::MAX as f64] {
            for unit in ["B", "B/s", "%", ""] {
                assert!(!can_be(value, unit), "{value} {unit}");
            }
        }
        assert!(bytes_can_be(Bytes(1 << 60)) && !bytes_can_be(Bytes(u64::MAX - 4095)));
    }

    #[test]
    fn bytes_that_are_computed_may_be_fewer_those_that_are_counted_not() {
        let mut sample = Sample {
            run: "r1".into(),
            step: None,
            name: "held".to_owned(),
            series: String::new(),
            value: -4096.0,
            unit: "B".to_owned(),
            clock: None,
            resolution: 0.0,
            labels: crate::event::Labels::new(),
        };
        assert!(sample_can_be(&sample));
        sample.step = Some("s1".into());
        assert!(!sample_can_be(&sample));
        sample.value = 4096.0;
        sample.resolution = -1.0;
        assert!(!sample_can_be(&sample));
    }

    proptest::proptest! {
        #[test]
        fn half_of_the_values_are_on_each_side_of_the_median(
            values in proptest::collection::vec(proptest::num::f64::NORMAL, 1..40)
        ) {
            let middle = median(&values).unwrap();
            let mut sorted = values.clone();
            sorted.sort_by(f64::total_cmp);
            let below = sorted.iter().filter(|value| **value < middle).count();
            let above = sorted.iter().filter(|value| **value > middle).count();
            proptest::prop_assert!(below * 2 <= values.len() && above * 2 <= values.len());
            proptest::prop_assert!(sorted[0] <= middle && middle <= sorted[sorted.len() - 1]);
        }

        #[test]
        fn what_is_far_is_so_beside_all_others(
            values in proptest::collection::vec(0_u8..60, 0..12), coarse in 0_u8..2
        ) {
            let values: Vec<f64> = values.into_iter().map(f64::from).collect();
            let mut series = of(&values);
            series.unit = "s".to_owned();
            series.resolution = f64::from(coarse);
            series.runs = (0..values.len()).collect();
            let is_far = |at: usize| {
                let mut others = values.clone();
                let value = others.remove(at);
                let low = others.iter().copied().fold(f64::MAX, f64::min);
                let high = others.iter().copied().fold(f64::MIN, f64::max);
                let away = (low - value).max(value - high);
                let looked_at = values.len() >= if at == 0 { 3 } else { 4 };
                looked_at
                    && away > 2.0 * (high - low) + 2.0 * series.resolution
                    && away > 0.1 * low
            };
            let expected: Vec<usize> = (0..values.len()).filter(|at| is_far(*at)).collect();
            let found: Vec<usize> = series.far().into_iter().map(|(run, _)| run).collect();
            proptest::prop_assert_eq!(found, expected);
        }
    }

    #[test]
    fn how_far_a_range_can_be_trusted() {
        assert_eq!(range_holds_median(3), Some(0.75));
        assert_eq!(range_holds_median(5), Some(0.9375));
        assert_eq!(range_holds_median(1), None);
    }
}
