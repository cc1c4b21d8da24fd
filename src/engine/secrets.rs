//! Secrets that methods ask the operator for: once a session, before anything is begun, so that
//! nobody has to be there in the middle of it.

use std::collections::BTreeMap;

use crate::event::{Answer, Asker, BindingId, Question, QuestionKind, Secret};
use crate::method::Bound;

use super::{Control, EngineError};

/// What was given, by binding and name.
pub(super) type Given = BTreeMap<(BindingId, String), Secret>;

/// Asks for all secrets of these bindings.
///
/// # Errors
/// [`EngineError::Refused`]: one was not given.
pub(super) async fn ask_for(
    asker: &dyn Asker,
    bounds: &[Bound],
    control: &Control,
) -> Result<Given, EngineError> {
    let mut given = Given::new();
    for bound in bounds {
        let (method, host) = (&bound.method.name, bound.binding.host());
        // What a condition has left out of the plan needs no secret.
        for step in bound.steps.iter().map(|planned| &planned.step) {
            let Some(secret) = &step.secret else { continue };
            let key = (bound.binding.id.clone(), secret.name.clone());
            let Some(asked) = secret.ask.as_ref().filter(|_| !given.contains_key(&key)) else {
                continue;
            };
            let question = Question {
                title: format!("{host}: {asked}"),
                lines: vec![format!(
                    "For {method}, step \"{}\": it goes into the command's standard input, and \
                     nowhere else.",
                    step.name
                )],
                kind: QuestionKind::Secret,
            };
            let answer = tokio::select! {
                answer = asker.ask(question) => answer,
                // The runs that follow are stopped before they begin.
                () = control.stopped() => return Ok(given),
            };
            match answer {
                Answer::Entered(secret) => {
                    given.insert(key, secret);
                }
                Answer::No | Answer::Yes => {
                    let how = if asker.is_there() {
                        "and it was not given"
                    } else {
                        "and nobody is there to be asked: run it in a terminal"
                    };
                    return Err(EngineError::Refused(format!(
                        "{method} on {host} asks for {:?} ({asked}), {how}",
                        secret.name
                    )));
                }
            }
        }
    }
    Ok(given)
}
