//! Values side by side: n, median, least, most, and the ratio of the medians.

use std::fmt;

/// Ways of doing the same work. The first row is what the others are compared with.
pub struct Table {
    /// What is measured, and in which unit.
    pub title: String,
    /// Rows.
    pub rows: Vec<Row>,
    /// What else was measured on the way, each in its own unit.
    pub beside: Vec<Row>,
}

impl Table {
    /// With nothing beside.
    pub fn new(title: impl Into<String>, rows: impl Into<Vec<Row>>) -> Self {
        Self {
            title: title.into(),
            rows: rows.into(),
            beside: Vec::new(),
        }
    }
}

/// One way of doing it.
#[derive(Clone)]
pub struct Row {
    /// Its name.
    pub name: &'static str,
    /// Its values, as they came.
    pub values: Vec<f64>,
}

impl Row {
    /// Without values yet.
    pub fn new(name: &'static str) -> Self {
        Self {
            name,
            values: Vec::new(),
        }
    }

    /// Its values, least first.
    fn sorted(&self) -> Vec<f64> {
        let mut sorted = self.values.clone();
        sorted.sort_by(f64::total_cmp);
        sorted
    }

    /// The middle value, or the mean of the two; absent without values.
    fn median(&self) -> Option<f64> {
        let sorted = self.sorted();
        let upper = sorted.get(sorted.len() / 2)?;
        let lower = sorted.get((sorted.len() - 1) / 2)?;
        Some(f64::midpoint(*lower, *upper))
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}", self.title)?;
        writeln!(
            f,
            "  {:<44} {:>5} {:>11} {:>11} {:>11} {:>7}",
            "", "n", "median", "least", "most", "ratio"
        )?;
        let first = self.rows.first().and_then(Row::median);
        for row in &self.rows {
            let ratio = row
                .median()
                .zip(first)
                .filter(|(_, first)| *first > 0.0)
                .map(|(median, first)| median / first);
            row.line(f, ratio)?;
        }
        for row in &self.beside {
            row.line(f, None)?;
        }
        Ok(())
    }
}

impl Row {
    fn line(&self, f: &mut fmt::Formatter<'_>, ratio: Option<f64>) -> fmt::Result {
        let sorted = self.sorted();
        let (Some(median), Some(least), Some(most)) =
            (self.median(), sorted.first(), sorted.last())
        else {
            return Ok(());
        };
        let n = sorted.len();
        let ratio = ratio.map_or_else(|| "-".to_owned(), |ratio| format!("{ratio:.2}"));
        writeln!(
            f,
            "  {:<44} {n:>5} {median:>11.3} {least:>11.3} {most:>11.3} {ratio:>7}",
            self.name
        )
    }
}
