//! Places on a logarithmic axis: a ratio is the same distance everywhere.

use crate::session::Series;

use super::super::super::text;

/// A shorter axis says nothing.
const LEAST: usize = 10;
/// No clock here tells less than this.
const FINEST: f64 = 1e-6;

/// The axis.
#[derive(Debug, Clone, Copy)]
pub(super) struct Axis {
    low: f64,
    high: f64,
    cells: usize,
}

impl Axis {
    /// One that holds every range; none where there is nothing to draw, or no room.
    pub fn of(all: &[&Series], cells: usize) -> Option<Self> {
        let all = || all.iter().copied();
        // What a clock cannot tell from nothing has no place on it but the clock's resolution, else
        // the next figure: what is below begins at its left.
        let least = |series: &Series| {
            let (low, median, high) = range(series)?;
            let mut all = [Some(low), median, Some(high)].into_iter().flatten();
            let least = all.find(|value| *value > 0.0).unwrap_or(FINEST);
            Some(least.max(series.resolution).max(FINEST))
        };
        let low = all().filter_map(least).reduce(f64::min)?;
        let highest = |series: &Series| Some(range(series)?.2);
        let high = all().filter_map(highest).reduce(f64::max)?;
        let holds = low.is_finite() && high.is_finite() && cells >= LEAST;
        holds.then(|| Self {
            low: low * 0.9,
            high: high.max(low * 1.5) * 1.1,
            cells,
        })
    }

    fn place(&self, value: f64) -> usize {
        let last = self.cells.saturating_sub(1) as f64;
        let share = (value.max(self.low) / self.low).ln() / (self.high / self.low).ln();
        (share.clamp(0.0, 1.0) * last).round() as usize
    }

    /// `┄├──●──┤┄`: from the lowest over the median to the highest, and how far the clock may be
    /// off beyond them; `○` where a median is printed without its values, and none where only a range
    /// is.
    pub fn bar(&self, series: &Series) -> String {
        let Some((low, median, high)) = range(series) else {
            return String::new();
        };
        let mark = if series.n() > 0 { '●' } else { '○' };
        let (from, to) = (self.place(low), self.place(high));
        let at = median.map(|median| self.place(median));
        let (wide_from, wide_to) = match series.widened() {
            Some((low, high)) => (self.place(low), self.place(high)),
            None => (from, to),
        };
        (0..=wide_to.max(to))
            .map(|cell| match cell {
                cell if Some(cell) == at => mark,
                cell if cell == from => '├',
                cell if cell == to => '┤',
                cell if cell > from && cell < to => '─',
                cell if cell >= wide_from => '┄',
                _ => ' ',
            })
            .collect()
    }

    /// Round figures over the axis: 1, 2, 5 and so on where these fit, else fewer. Each begins in
    /// its place.
    pub fn scale(&self) -> String {
        let steps: [&[f64]; 2] = [&[1.0, 2.0, 5.0], &[1.0]];
        let lines = steps.map(|steps| self.labels(steps));
        let fitting = lines.iter().find(|(_, all)| *all);
        fitting
            .or(lines.last())
            .map_or(String::new(), |(line, _)| line.clone())
    }

    /// The labels of these steps of each power of ten, and whether all of them fit.
    fn labels(&self, steps: &[f64]) -> (String, bool) {
        let mut line = String::new();
        let mut all = true;
        for power in -7..10 {
            for step in steps {
                let value = step * 10_f64.powi(power);
                if value < self.low || value > self.high {
                    continue;
                }
                let (at, taken) = (self.place(value), text::width(&line));
                let label = label(value);
                let is_free = taken == 0 || at > taken;
                if is_free && at + label.len() <= self.cells {
                    line.push_str(&" ".repeat(at.saturating_sub(taken)));
                    line.push_str(&label);
                } else {
                    // One that would only reach over the end is no reason to leave out others.
                    all &= is_free;
                }
            }
        }
        (line, all)
    }
}

/// The lowest, the median and the highest; of a published series as far as these are printed.
fn range(series: &Series) -> Option<(f64, Option<f64>, f64)> {
    let median = series.median().or(series.published);
    let low = series.min().or(series.published_min);
    let high = series.max().or(series.published_max);
    let all = || [low, median, high].into_iter().flatten();
    let (low, high) = (all().reduce(f64::min)?, all().reduce(f64::max)?);
    Some((low, median, high))
}

fn label(value: f64) -> String {
    if value >= 1.0 {
        return format!("{value:.0}");
    }
    format!("{value:.7}").trim_end_matches('0').to_owned()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn series(values: &[f64], resolution: f64) -> Series {
        Series {
            unit: "s".to_owned(),
            values: values.to_vec(),
            resolution,
            ..Series::default()
        }
    }

    #[test]
    fn a_bar_reaches_from_the_lowest_to_the_highest() {
        let axis = Axis {
            low: 1.0,
            high: 100.0,
            cells: 21,
        };
        let bar = |values: &[f64], resolution| axis.bar(&series(values, resolution));
        assert_eq!(bar(&[1.0, 10.0, 100.0], 0.0), "├─────────●─────────┤");
        assert_eq!(bar(&[10.0], 0.0), "          ●");
        assert_eq!(bar(&[2.0, 2.0], 1.0), "┄┄┄●┄┄");
        assert_eq!(bar(&[], 0.0), "");
        let printed = Series {
            published: Some(10.0),
            published_max: Some(100.0),
            ..Series::default()
        };
        assert_eq!(axis.bar(&printed), "          ○─────────┤");
        let range = Series {
            published_min: Some(1.0),
            published_max: Some(10.0),
            ..Series::default()
        };
        assert_eq!(axis.bar(&range), "├─────────┤");
    }

    #[test]
    fn a_range_from_nothing_begins_at_the_left_and_stretches_no_axis() {
        let from_nothing = Series {
            published_min: Some(0.0),
            published_max: Some(1.0),
            ..Series::default()
        };
        let axis = Axis::of(&[&from_nothing, &series(&[60.0], 0.0)], 30).unwrap();
        assert!(axis.low > 0.5, "{axis:?}");
        let bar = axis.bar(&from_nothing);
        assert!(bar.starts_with('├') && bar.ends_with('┤'), "{bar}");
    }

    #[test]
    fn round_figures_stand_over_the_axis() {
        let labels = |low, high, cells| {
            let axis = Axis { low, high, cells };
            let scale = axis.scale();
            scale
                .split_whitespace()
                .map(str::to_owned)
                .collect::<Vec<_>>()
        };
        assert_eq!(
            labels(0.9, 130.0, 44),
            ["1", "2", "5", "10", "20", "50", "100"]
        );
        assert_eq!(labels(0.004, 0.06, 44), ["0.005", "0.01", "0.02", "0.05"]);
        assert_eq!(labels(0.9, 11_000.0, 20), ["1", "10", "100", "1000"]);
    }

    proptest! {
        #[test]
        fn a_bar_is_within_the_axis_and_its_marks_in_their_order(
            values in proptest::collection::vec(prop_oneof![0.0..1e-3, 0.0..100.0, 0.0..1e9], 1..9),
            others in proptest::collection::vec(0.0..1e6, 0..4),
            resolution in prop_oneof![Just(0.0), Just(1e-6), Just(1.0)],
            cells in 0_usize..200,
        ) {
            let one = series(&values, resolution);
            let other = series(&others, 0.0);
            let Some(axis) = Axis::of(&[&one, &other], cells) else {
                prop_assert!(cells < LEAST);
                return Ok(());
            };
            let bar = axis.bar(&one);
            prop_assert!(text::width(&bar) <= cells);
            prop_assert_eq!(bar.matches('●').count(), 1);
            let median = axis.place(one.median().unwrap());
            prop_assert!(axis.place(one.min().unwrap()) <= median);
            prop_assert!(median <= axis.place(one.max().unwrap()));
            let scale = axis.scale();
            prop_assert!(text::width(&scale) <= cells);
            // Each label begins where its figure is.
            let mut at = 0;
            for part in scale.split(' ') {
                if let Ok(value) = part.parse() {
                    prop_assert_eq!(axis.place(value), at);
                }
                at += part.len() + 1;
            }
        }
    }
}
