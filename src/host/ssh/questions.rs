//! Logging in with answers: the host's own questions in any number of rounds, or a password.

use std::collections::HashMap;
use std::time::Instant;

use russh::MethodKind;
use russh::client::{AuthResult, KeyboardInteractiveAuthResponse as Response, Prompt};

use super::login::{Dialogue, End, is_taken};
use super::prompts;
use super::secrets::{Answers, Slot};
use super::text::plain;
use crate::event::Secret;

/// So many rounds of questions a host may ask.
const ROUNDS: usize = 20;
/// So many in one round.
const PROMPTS: usize = 16;

/// What happens in the rounds of one attempt.
#[derive(Default)]
struct Rounds {
    /// The attempt before this one was refused.
    wrong: bool,
    /// The operator has just refused to answer this host.
    refused: bool,
    /// Entered or remembered, by prompt.
    given: HashMap<String, Secret>,
    /// Those of them that will do again.
    passwords: HashMap<String, Secret>,
    /// Something was entered by the operator.
    entered: bool,
    /// Something was that is good for one login only.
    one_time: bool,
    /// The last thing the host said without asking.
    said: Vec<String>,
}

impl Dialogue<'_> {
    /// Answers the host's questions; nothing where that is over.
    pub(super) async fn questions(&mut self) -> Result<Option<(String, AuthResult)>, End> {
        if self.asked >= self.route.methods.prompts {
            return Ok(None);
        }
        let since = Instant::now();
        let there = self.operator.is_there();
        let slot = self.operator.secrets.account(self.account, there);
        let Some(mut slot) = self.patience.pause(slot).await else {
            return Ok(None);
        };
        if !there && slot.kept.prompts.is_empty() {
            if slot.kept.password.is_some() {
                return Ok(None);
            }
            if self.route.methods.batch {
                self.unasked("an answer to its questions (keyboard-interactive)");
                return Ok(None);
            }
        }
        let mut rounds = Rounds {
            wrong: self.asked > 0,
            refused: slot.is_refused_since(since),
            ..Rounds::default()
        };
        let result = self.rounds(&mut slot, &mut rounds).await?;
        if is_taken(&result) {
            self.went.one_time |= rounds.one_time;
            slot.kept.prompts.extend(rounds.passwords);
        } else {
            for prompt in rounds.given.keys() {
                slot.kept.prompts.remove(prompt);
            }
        }
        if rounds.entered {
            self.asked += 1;
        } else if !is_taken(&result) && rounds.given.is_empty() {
            // Nothing was asked: it will not be otherwise the next time.
            self.asked = usize::MAX;
        }
        let how = match rounds.said.as_slice() {
            [] => "keyboard-interactive".to_owned(),
            said => format!("keyboard-interactive (the host says: {})", said.join(" ")),
        };
        Ok(Some((how, result)))
    }

    /// Round after round, until the host has judged.
    async fn rounds(
        &mut self,
        slot: &mut Slot<Answers>,
        rounds: &mut Rounds,
    ) -> Result<AuthResult, End> {
        let user = self.route.user.as_str();
        let start = self
            .handle
            .authenticate_keyboard_interactive_start(user, None::<String>);
        let mut response = start.await?;
        for _ in 0..=ROUNDS {
            let (about, asked) = match response {
                Response::Success => return Ok(AuthResult::Success),
                Response::Failure {
                    remaining_methods,
                    partial_success,
                } => {
                    return Ok(AuthResult::Failure {
                        remaining_methods,
                        partial_success,
                    });
                }
                Response::InfoRequest {
                    name,
                    instructions,
                    prompts,
                } => (prompts::about(&name, &instructions), prompts),
            };
            if asked.len() > PROMPTS {
                break;
            }
            if asked.is_empty() && !about.is_empty() {
                rounds.said.clone_from(&about);
            }
            let known = |prompt: &Prompt| slot.kept.prompts.contains_key(&prompt.prompt);
            if !self.operator.is_there() && !asked.iter().all(known) {
                self.unasked(&format!("an answer to {}", shown(&asked)));
                return Err(End::Given);
            }
            let Some(answers) = self.answer(&about, &asked, &slot.kept, rounds).await else {
                slot.refuse();
                self.tried.unanswered.push(shown(&asked));
                return Err(End::Given);
            };
            self.sent = Some("the answers");
            let respond = self
                .handle
                .authenticate_keyboard_interactive_respond(answers);
            response = match respond.await {
                Ok(response) => response,
                Err(error) => {
                    // They were not judged: another connection may take them.
                    let how = "keyboard-interactive".to_owned();
                    self.tried.refused.push(how);
                    self.entered.prompts.extend(rounds.given.drain());
                    return Err(error.into());
                }
            };
            self.sent = None;
        }
        Err(End::Refused(format!(
            "the host asks without end: more than {ROUNDS} rounds of questions, or {PROMPTS} in \
             one (keyboard-interactive)"
        )))
    }

    /// One round's answers, as many as it has prompts; nothing where the operator gives none.
    async fn answer(
        &mut self,
        about: &[String],
        asked: &[Prompt],
        kept: &Answers,
        rounds: &mut Rounds,
    ) -> Option<Vec<String>> {
        let mut answers = Vec::new();
        for (place, prompt) in asked.iter().enumerate() {
            let known = kept.prompts.get(&prompt.prompt).cloned();
            // A second time in one attempt it is not the right one.
            let known = known.filter(|_| !rounds.given.contains_key(&prompt.prompt));
            let unjudged = self.entered.prompts.remove(&prompt.prompt);
            let secret = match unjudged.or(known) {
                Some(secret) => secret,
                None if rounds.refused => return None,
                None => {
                    let about: Vec<_> = rounds.said.iter().chain(about).cloned().collect();
                    let place = (place + 1, asked.len());
                    let question = prompts::prompt(self.route, &about, prompt, place, rounds.wrong);
                    rounds.entered = true;
                    self.patience.pause(self.operator.ask(question)).await?
                }
            };
            answers.push(secret.expose().to_owned());
            if prompts::is_password(prompt, asked.len()) {
                rounds
                    .passwords
                    .insert(prompt.prompt.clone(), secret.clone());
            } else {
                rounds.one_time = true;
            }
            rounds.given.insert(prompt.prompt.clone(), secret);
        }
        Some(answers)
    }

    /// Sends a password; nothing where that is over.
    pub(super) async fn password(&mut self) -> Result<Option<(String, AuthResult)>, End> {
        if self.asked >= self.route.methods.prompts {
            return Ok(None);
        }
        let since = Instant::now();
        let there = self.operator.is_there();
        let slot = self.operator.secrets.account(self.account, there);
        let Some(mut slot) = self.patience.pause(slot).await else {
            return Ok(None);
        };
        let kept = match self.entered.password.take() {
            Some(entered) => Some(entered),
            None => slot.kept.password.clone(),
        };
        let secret = match kept {
            Some(kept) => kept,
            None if !there => {
                self.unasked("the password");
                return Ok(None);
            }
            None if slot.is_refused_since(since) => return self.no_password(),
            None => {
                let (wrong, said) = (self.asked > 0, self.banner.get());
                let question = prompts::password(self.route, wrong, said, self.tried.left);
                let answer = self.patience.pause(self.operator.ask(question)).await;
                let Some(entered) = answer else {
                    slot.refuse();
                    return self.no_password();
                };
                self.asked += 1;
                entered
            }
        };
        self.sent =
            Some("the password; a host that wants a new one instead cannot be told it here");
        let user = self.route.user.as_str();
        let result = self
            .handle
            .authenticate_password(user, secret.expose())
            .await;
        let result = match result {
            Ok(result) if is_taken(&result) || !self.handle.is_closed() => result,
            lost => {
                // It was not judged: another connection may take it.
                self.tried.refused.push("password".to_owned());
                self.entered.password = Some(secret);
                return Err(lost.err().map_or(End::Gone, End::from));
            }
        };
        self.sent = None;
        slot.kept.password = is_taken(&result).then_some(secret);
        Ok(Some(("password".to_owned(), result)))
    }

    fn no_password(&mut self) -> Result<Option<(String, AuthResult)>, End> {
        let user = plain(&self.route.user);
        self.tried
            .unanswered
            .push(format!("the password of `{user}`"));
        Err(End::Given)
    }

    fn unasked(&mut self, what: &str) {
        let remedy = if self.tried.listed.contains(&MethodKind::PublicKey) {
            "run it in a terminal, or add a key there (ssh-copy-id)"
        } else {
            "run it in a terminal"
        };
        self.tried
            .unasked
            .push((what.to_owned(), remedy.to_owned()));
    }
}

/// All questions of a round.
fn shown(asked: &[Prompt]) -> String {
    let all: Vec<String> = asked
        .iter()
        .map(|prompt| format!("`{}`", prompts::asks(&prompt.prompt)))
        .collect();
    all.join(", ")
}
