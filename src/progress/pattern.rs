//! Patterns that are compiled once.

use regex::Regex;

/// A pattern, compiled when it is first used.
macro_rules! pattern {
    ($text:literal) => {{
        static PATTERN: std::sync::LazyLock<regex::Regex> =
            std::sync::LazyLock::new(|| $crate::progress::pattern::compile($text));
        &*PATTERN
    }};
}

pub(super) use pattern;

/// Compiles a literal.
#[expect(
    clippy::expect_used,
    reason = "patterns are literals, and the tests of their reader match each of them"
)]
pub fn compile(text: &'static str) -> Regex {
    Regex::new(text).expect("a literal pattern is well formed")
}
