//! Bars and sparklines. An exact figure is solid, an estimate is hatched.

use super::super::theme::Role;
use super::row::Row;

const EIGHTHS: [&str; 8] = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];
const SPARKS: [&str; 8] = ["▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"];

/// A bar of so many cells whose figure is exact.
pub(crate) fn exact(row: &mut Row<'_>, percent: f64, cells: usize) {
    let eighths = (percent.clamp(0.0, 100.0) / 100.0 * cells as f64 * 8.0).floor() as usize;
    let part = EIGHTHS.get(eighths % 8).copied().unwrap_or_default();
    let full = "█".repeat(eighths / 8);
    let track = cells.saturating_sub(eighths.div_ceil(8));
    row.text(&full, Role::Gauge)
        .text(part, Role::Gauge)
        .text(&"·".repeat(track), Role::GaugeTrack);
}

/// A bar of so many cells whose figure is an estimate.
pub(crate) fn estimated(row: &mut Row<'_>, percent: f64, cells: usize) {
    let full = (percent.clamp(0.0, 100.0) / 100.0 * cells as f64).floor() as usize;
    row.text(&"▒".repeat(full), Role::GaugeEstimated)
        .text(&"·".repeat(cells.saturating_sub(full)), Role::GaugeTrack);
}

/// A line of so many cells whose figure is a time that earlier runs needed: nothing tells how much
/// is done.
pub(crate) fn time(row: &mut Row<'_>, share: f64, cells: usize) {
    let gone = (share.clamp(0.0, 1.0) * cells as f64).floor() as usize;
    row.text(&"━".repeat(gone), Role::GaugeEstimated)
        .text(&"╌".repeat(cells.saturating_sub(gone)), Role::GaugeTrack);
}

/// Rates over time, the highest one full.
pub(crate) fn spark(rates: &[f64]) -> String {
    let highest = rates.iter().copied().fold(0.0, f64::max);
    let level = |rate: &f64| {
        let share = if highest > 0.0 { rate / highest } else { 0.0 };
        SPARKS
            .get((share * 7.0).round() as usize)
            .copied()
            .unwrap_or(" ")
    };
    rates.iter().map(level).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_spark_reaches_from_nothing_to_the_highest() {
        assert_eq!(spark(&[0.0, 50.0, 100.0]), "▁▅█");
        assert_eq!(spark(&[0.0, 0.0]), "▁▁");
        assert_eq!(spark(&[]), "");
        assert_eq!(spark(&[f64::NAN]), "▁");
    }
}
