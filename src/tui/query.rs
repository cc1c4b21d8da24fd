//! What a log is searched for.

/// What is searched for. Case counts where the text has a capital letter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Query {
    text: String,
    folded: bool,
}

impl Query {
    /// A text; nothing where it is empty.
    #[must_use]
    pub fn new(text: &str) -> Option<Self> {
        (!text.is_empty()).then(|| Self {
            text: text.to_owned(),
            folded: !text.chars().any(char::is_uppercase),
        })
    }

    /// The text, as it was typed.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Whether a line holds it.
    #[must_use]
    pub fn is_in(&self, line: &str) -> bool {
        !self.matches(line).is_empty()
    }

    /// Where it stands in a line, in bytes, on borders of characters.
    #[must_use]
    pub fn matches(&self, line: &str) -> Vec<(usize, usize)> {
        if !self.folded {
            return line
                .match_indices(&self.text)
                .map(|(at, hit)| (at, at + hit.len()))
                .collect();
        }
        // Folding may change lengths: compare character by character instead.
        let mut found = Vec::new();
        let mut free = 0;
        for (at, _) in line.char_indices() {
            if at < free {
                continue;
            }
            let Some(rest) = line.get(at..) else { continue };
            if let Some(len) = self.at_start(rest) {
                found.push((at, at + len));
                free = at + len;
            }
        }
        found
    }

    fn at_start(&self, text: &str) -> Option<usize> {
        let mut have = text.char_indices();
        for want in self.text.chars() {
            let (_, c) = have.next()?;
            if c != want && !c.to_lowercase().eq(want.to_lowercase()) {
                return None;
            }
        }
        Some(have.next().map_or(text.len(), |(at, _)| at))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn case_counts_where_a_capital_was_typed() {
        let query = Query::new("error").unwrap();
        assert_eq!(query.matches("ERROR: an Error"), [(0, 5), (10, 15)]);
        let query = Query::new("Error").unwrap();
        assert_eq!(query.matches("ERROR: an Error"), [(10, 15)]);
        assert!(Query::new("").is_none());
    }

    #[test]
    fn matches_stand_on_borders_of_characters() {
        let query = Query::new("über").unwrap();
        let line = "Über 漢 über";
        for (from, to) in query.matches(line) {
            assert!(line.get(from..to).is_some());
        }
        assert_eq!(query.matches(line).len(), 2);
        assert_eq!(Query::new("aa").unwrap().matches("aaaa"), [(0, 2), (2, 4)]);
    }
}
