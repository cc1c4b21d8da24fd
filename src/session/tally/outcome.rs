//! What came of a run, and whether its values count.

use crate::event::EndState;

/// What came of a run, as far as a row of figures minds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// It goes on: nothing of it counts yet.
    GoesOn,
    /// It ended like this.
    Ended(EndState),
    /// It ended well, but without the final proof that its method makes.
    Unverified,
}

impl Outcome {
    /// Whether its values enter a median.
    #[must_use]
    pub fn counts(self) -> bool {
        match self {
            Self::Ended(end) => end.is_good(),
            Self::GoesOn | Self::Unverified => false,
        }
    }

    /// Whether it is over.
    #[must_use]
    pub fn is_over(self) -> bool {
        self != Self::GoesOn
    }
}
