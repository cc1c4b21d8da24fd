//! Numbers of things, in words.

use std::fmt::Display;

/// The word for so many of something: `row`, `rows`.
#[must_use]
pub fn noun<N: Copy + PartialEq + From<u8>>(n: N, what: &str) -> String {
    if n == N::from(1) {
        what.to_owned()
    } else {
        format!("{what}s")
    }
}

/// So many of something: `1 row`, `3 rows`.
#[must_use]
pub fn count<N: Copy + Display + PartialEq + From<u8>>(n: N, what: &str) -> String {
    let number = n.to_string();
    format!("{number} {}", noun(n, what))
}

/// The same with what they do or are: `1 row is cut`, `3 rows are cut`.
#[must_use]
pub fn count_with<N: Copy + Display + PartialEq + From<u8>>(
    n: N,
    what: &str,
    (one, many): (&str, &str),
) -> String {
    let verb = if n == N::from(1) { one } else { many };
    format!("{} {verb}", count(n, what))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_is_told_as_one() {
        assert_eq!(count(0_u64, "event"), "0 events");
        assert_eq!(count(1_usize, "event"), "1 event");
        assert_eq!(count(2_u32, "more note"), "2 more notes");
        assert_eq!(count_with(1_u64, "event", ("is", "are")), "1 event is");
        assert_eq!(count_with(9_u64, "event", ("is", "are")), "9 events are");
    }
}
