//! A projection, as people and programs read it.

mod data;
mod text;
mod words;

use super::{Format, LEAST_WIDTH, WIDTH};
use crate::session::{Projection, Span};
pub use text::LineKind;

/// A projection in lines of so many columns, each with what it is.
#[must_use]
pub fn projection_lines(projection: &Projection, width: usize) -> Vec<(LineKind, String)> {
    text::lines(projection, width)
}

/// A projection in one of the formats. It ends with a line feed.
#[must_use]
pub fn render_projection(format: Format, projection: &Projection) -> String {
    render_projection_width(format, projection, WIDTH)
}

/// The same for a terminal of so many columns (at least 80); only a table minds.
#[must_use]
pub fn render_projection_width(format: Format, projection: &Projection, width: usize) -> String {
    match format {
        Format::Table => text::table(projection, width.max(LEAST_WIDTH)),
        Format::Markdown => text::markdown(projection),
        Format::Csv => data::csv(projection),
        Format::Json => data::json(projection),
    }
}

/// How long something takes, as a range of seconds: `12 min 00 s–15 min 10 s`.
#[must_use]
pub fn lasting(low: f64, high: f64) -> String {
    words::span(Span { low, high })
}

#[cfg(test)]
mod tests;
