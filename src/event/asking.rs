//! A question to the operator and its answer: what nobody but them can know or decide.

use std::fmt;

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use zeroize::Zeroizing;

/// A question to the operator.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Question {
    /// One line that names the host it is about.
    pub title: String,
    /// What there is to know: a fingerprint, what a host said, what is destroyed.
    pub lines: Vec<String>,
    /// What kind of answer it wants.
    pub kind: QuestionKind,
}

/// What kind of answer a question wants.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum QuestionKind {
    /// Yes or no; no unless yes is chosen.
    YesNo {
        /// What saying yes does, in a few words.
        yes: String,
    },
    /// This text, exactly.
    Name(String),
    /// Text that is shown while it is typed, and recorded no more than a secret is.
    Text,
    /// Text that is not shown.
    Secret,
}

impl QuestionKind {
    /// As the recording names it.
    #[must_use]
    pub fn word(&self) -> &'static str {
        match self {
            Self::YesNo { .. } | Self::Name(_) => "confirm",
            Self::Text => "text",
            Self::Secret => "secret",
        }
    }
}

/// An answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer {
    /// No; nothing was entered; nobody is there.
    No,
    /// Yes, or the name was typed.
    Yes,
    /// What was entered. It may be empty where the question wants text.
    Entered(Secret),
}

/// Text that is never shown, and is overwritten in memory when it is dropped.
#[derive(Clone, PartialEq, Eq, Default)]
pub struct Secret(Zeroizing<String>);

impl Secret {
    /// The text itself.
    #[must_use]
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl From<String> for Secret {
    fn from(text: String) -> Self {
        Self(Zeroizing::new(text))
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(…)")
    }
}

/// Puts questions to the operator: a dialog of the dashboard, or the terminal.
pub trait Asker: Send + Sync {
    /// Asks, and waits for as long as it takes; several questions at once are put one after
    /// another. A question whose future is dropped is taken back.
    fn ask(&self, question: Question) -> BoxFuture<'_, Answer>;

    /// Whether anybody is there to answer. Where nobody is, an error says what to do instead.
    fn is_there(&self) -> bool {
        true
    }
}

/// Nobody is there: every answer is no.
#[derive(Debug, Clone, Copy, Default)]
pub struct Nobody;

impl Asker for Nobody {
    fn ask(&self, _question: Question) -> BoxFuture<'_, Answer> {
        std::future::ready(Answer::No).boxed()
    }

    fn is_there(&self) -> bool {
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_is_not_printed() {
        let answer = Answer::Entered("hunter2".to_owned().into());
        assert!(!format!("{answer:?}").contains("hunter2"));
    }
}
