//! What a method does to a host that is not its own, and that its look ahead found to be needed: the operator is asked, before anything
//! is begun.

use crate::event::{Answer, Asker, Question, QuestionKind};
use crate::method::Bound;

use super::{Check, Control, EngineError, Gravity};

/// A question of a look ahead.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Consent {
    /// Whose look asks.
    pub method: String,
    /// What is asked; it begins with the host.
    pub text: String,
}

/// The questions of all looks, each once.
#[must_use]
pub fn consents(bounds: &[Bound], checks: &[Check]) -> Vec<Consent> {
    let mut all: Vec<Consent> = Vec::new();
    for (bound, check) in bounds.iter().zip(checks) {
        for finding in check
            .findings
            .iter()
            .filter(|one| one.gravity == Gravity::Asked)
        {
            if all.iter().all(|known| known.text != finding.text) {
                all.push(Consent {
                    method: bound.method.name.clone(),
                    text: finding.text.clone(),
                });
            }
        }
    }
    all
}

/// Asks all of them.
///
/// # Errors
/// [`EngineError::Refused`]: one was not answered with yes.
pub(super) async fn ask_for(
    asker: &dyn Asker,
    consents: &[Consent],
    control: &Control,
) -> Result<(), EngineError> {
    for Consent { method, text } in consents {
        let question = Question {
            title: text.clone(),
            lines: vec![format!("{method} needs it. Without it nothing is begun.")],
            kind: QuestionKind::YesNo {
                yes: "do it, for as long as the run needs it".to_owned(),
            },
        };
        let answer = tokio::select! {
            answer = asker.ask(question) => answer,
            // The runs that follow are stopped before they begin.
            () = control.stopped() => return Ok(()),
        };
        if answer != Answer::Yes {
            let how = if asker.is_there() {
                "the answer was no"
            } else {
                "nobody is there to be asked"
            };
            return Err(EngineError::Refused(format!(
                "{method} asks: {text}; {how}"
            )));
        }
    }
    Ok(())
}
