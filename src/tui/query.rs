//! What a log is searched for.

use regex::{Regex, RegexBuilder};

/// How what was typed is meant.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Syntax {
    /// As it stands there: what logs are full of (`[`, `.`, `(`) means itself.
    #[default]
    Text,
    /// A regular expression.
    Regex,
}

impl Syntax {
    /// The other one.
    #[must_use]
    pub fn other(self) -> Self {
        match self {
            Self::Text => Self::Regex,
            Self::Regex => Self::Text,
        }
    }
}

/// What is searched for. Case counts where the text has a capital letter.
#[derive(Debug, Clone)]
pub struct Query {
    text: String,
    syntax: Syntax,
    finder: Regex,
}

impl Query {
    /// A text or an expression; nothing where it is empty.
    ///
    /// # Errors
    /// What is wrong with an expression.
    pub fn new(text: &str, syntax: Syntax) -> Result<Option<Self>, String> {
        if text.is_empty() {
            return Ok(None);
        }
        let (pattern, has_capital) = match syntax {
            Syntax::Text => (regex::escape(text), text.chars().any(char::is_uppercase)),
            Syntax::Regex => (text.to_owned(), has_capital(text)),
        };
        let finder = RegexBuilder::new(&pattern)
            .case_insensitive(!has_capital)
            .build()
            .map_err(|why| why_not(&why))?;
        Ok(Some(Self {
            text: text.to_owned(),
            syntax,
            finder,
        }))
    }

    /// The text, as it was typed.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// How it is meant.
    #[must_use]
    pub fn syntax(&self) -> Syntax {
        self.syntax
    }

    /// Whether a line holds it.
    #[must_use]
    pub fn is_in(&self, line: &str) -> bool {
        self.finder.is_match(line)
    }

    /// Where it stands in a line, in bytes, on borders of characters.
    #[must_use]
    pub fn matches(&self, line: &str) -> Vec<(usize, usize)> {
        let found = self.finder.find_iter(line);
        // `x*` is found everywhere, but there is nothing to be marked.
        found
            .filter(|hit| !hit.is_empty())
            .map(|hit| (hit.start(), hit.end()))
            .collect()
    }
}

/// Whether an expression names a capital letter: `\S` and `\pL` name none.
fn has_capital(text: &str) -> bool {
    let mut is_escape = false;
    text.chars().any(|c| {
        let counts = c.is_uppercase() && !is_escape;
        is_escape = c == '\\' && !is_escape;
        counts
    })
}

/// What is wrong with an expression, in one line.
fn why_not(why: &regex::Error) -> String {
    let text = why.to_string();
    let last = text.lines().last().unwrap_or_default().trim();
    last.strip_prefix("error: ").unwrap_or(last).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(text: &str) -> Query {
        Query::new(text, Syntax::Text).unwrap().unwrap()
    }

    fn regex(text: &str) -> Query {
        Query::new(text, Syntax::Regex).unwrap().unwrap()
    }

    #[test]
    fn case_counts_where_a_capital_was_typed() {
        assert_eq!(text("error").matches("ERROR: an Error"), [(0, 5), (10, 15)]);
        assert_eq!(text("Error").matches("ERROR: an Error"), [(10, 15)]);
        assert_eq!(regex(r"\Srror").matches("ERROR"), [(0, 5)]);
        assert_eq!(regex(r"\\S").matches(r"\S \s"), [(0, 2)]);
        assert!(Query::new("", Syntax::Text).unwrap().is_none());
    }

    #[test]
    fn matches_stand_on_borders_of_characters() {
        let query = text("über");
        let line = "Über 漢 über";
        for (from, to) in query.matches(line) {
            assert!(line.get(from..to).is_some());
        }
        assert_eq!(query.matches(line).len(), 2);
        assert_eq!(text("aa").matches("aaaa"), [(0, 2), (2, 4)]);
    }

    #[test]
    fn a_text_means_itself_and_an_expression_does_not() {
        assert_eq!(text("[1.5").matches("[1.5 [105"), [(0, 4)]);
        assert_eq!(regex(r"\[1.5").matches("[1.5 [105"), [(0, 4), (5, 9)]);
        assert_eq!(regex("x*").matches("ab"), []);
        let why = Query::new("(ab", Syntax::Regex).unwrap_err();
        assert_eq!(why, "unclosed group");
    }
}
