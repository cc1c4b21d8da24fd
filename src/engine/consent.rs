//! What a method does to a host that is not its own, and that its look ahead found to be needed: the operator is asked, before anything
//! is begun.

use std::collections::BTreeSet;

use crate::event::{Answer, Asker, BindingId, Question, QuestionKind};
use crate::method::Bound;

use super::{Check, Control, EngineError, Gravity};

/// A question of a look ahead.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Consent {
    /// Whose look asks.
    pub method: String,
    /// What is asked; it begins with the host.
    pub text: String,
    /// The bindings that need a yes to it.
    pub bindings: Vec<BindingId>,
}

impl Consent {
    /// As the operator is asked: all of it in lines, which are broken where a title is cut off.
    #[must_use]
    pub fn question(&self) -> Question {
        Question {
            title: format!("{} asks before it begins", self.method),
            lines: vec![self.text.clone(), "Without it nothing is begun.".to_owned()],
            kind: QuestionKind::YesNo {
                yes: "do it, for as long as the run needs it".to_owned(),
            },
        }
    }
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
            let binding = bound.binding.id.clone();
            match all.iter_mut().find(|known| known.text == finding.text) {
                Some(known) => known.bindings.push(binding),
                None => all.push(Consent {
                    method: bound.method.name.clone(),
                    text: finding.text.clone(),
                    bindings: vec![binding],
                }),
            }
        }
    }
    all
}

/// Asks all of them, and tells which bindings have been agreed to.
///
/// # Errors
/// [`EngineError::Refused`]: one was not answered with yes.
pub(super) async fn ask_for(
    asker: &dyn Asker,
    consents: &[Consent],
    control: &Control,
) -> Result<BTreeSet<BindingId>, EngineError> {
    let mut agreed = BTreeSet::new();
    for consent in consents {
        let answer = tokio::select! {
            answer = asker.ask(consent.question()) => answer,
            // The runs that follow are stopped before they begin.
            () = control.stopped() => return Ok(agreed),
        };
        if answer != Answer::Yes {
            let how = if asker.is_there() {
                "the answer was no"
            } else {
                "nobody is there to be asked"
            };
            return Err(EngineError::Refused(format!(
                "{} asks: {}; {how}",
                consent.method, consent.text
            )));
        }
        agreed.extend(consent.bindings.iter().cloned());
    }
    Ok(agreed)
}
