//! quick
use crate::session::Session;
/// f
#[derive(Clone, Copy)]
pub enum Format {
    /// t
    Table,
    /// m
    Markdown,
    /// c
    Csv,
    /// j
    Json,
}
/// r
pub fn render(_f: Format, s: &[&Session]) -> String {
    format!(
        "{:#?}",
        s.iter()
            .map(|s| crate::session::Tally::of(s))
            .collect::<Vec<_>>()
    )
}
/// p
pub fn plain(_s: &Session) -> String {
    String::new()
}
