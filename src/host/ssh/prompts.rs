//! What a login asks the operator, and how it is put.

use std::fmt;
use std::path::Path;
use std::sync::Arc;

use russh::client::Prompt;
use russh::keys::PublicKey;

use super::config::Config;
use super::keys::named;
use super::route::Route;
use super::secrets::Secrets;
use super::text::plain;
use crate::event::{Answer, Asker, Nobody, Question, QuestionKind, Secret, count};

/// The most lines of a host's own text that a question shows.
const LINES: usize = 12;

/// Whoever answers, and what they have answered before.
#[derive(Clone)]
pub(super) struct Operator {
    asker: Arc<dyn Asker>,
    pub(super) secrets: Arc<Secrets>,
}

impl fmt::Debug for Operator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Operator(is_there: {})", self.is_there())
    }
}

impl Operator {
    pub(super) fn new(config: &Config) -> Self {
        Self {
            asker: Arc::clone(&config.asker),
            secrets: Arc::clone(&config.secrets),
        }
    }

    /// The same memory, and nobody to ask.
    pub(super) fn away(&self) -> Self {
        Self {
            asker: Arc::new(Nobody),
            secrets: Arc::clone(&self.secrets),
        }
    }

    pub(super) fn is_there(&self) -> bool {
        self.asker.is_there()
    }

    /// Whether the operator says yes.
    pub(super) async fn confirms(&self, question: Question) -> bool {
        self.asker.ask(question).await == Answer::Yes
    }

    /// What was entered; nothing where the operator does not say it.
    pub(super) async fn ask(&self, question: Question) -> Option<Secret> {
        match self.asker.ask(question).await {
            Answer::Entered(secret) => Some(secret),
            Answer::No | Answer::Yes => None,
        }
    }
}

/// `tries` is how many are left, where one was wrong.
pub(super) fn passphrase(
    route: &Route,
    file: &Path,
    public: Option<&PublicKey>,
    tries: Option<usize>,
) -> Question {
    let mut lines = Vec::new();
    match tries {
        Some(1) => lines.push("That was not the passphrase; one try is left.".to_owned()),
        Some(left) => lines.push(format!(
            "That was not the passphrase; {left} tries are left."
        )),
        None => {}
    }
    match public {
        Some(key) => lines.push(format!("The host takes this key: {}", named(key))),
        None => lines.push(format!(
            "Whether the host takes this key is not known: there is no {}.pub",
            file.display()
        )),
    }
    lines.push(
        "Once entered, it serves every host that takes the key, until the program ends.".to_owned(),
    );
    Question {
        title: format!("{}: passphrase of key file {}", route.shown, file.display()),
        lines,
        kind: QuestionKind::Secret,
    }
}

/// `said` is what the host has to say, `left` how many keys it was not offered.
pub(super) fn password(route: &Route, wrong: bool, said: Option<String>, left: usize) -> Question {
    let mut lines = wrongs(wrong);
    if left > 0 {
        lines.push(format!(
            "Not offered, lest the host end the connection: {}. IdentityFile and IdentitiesOnly in \
             the ssh configuration name the right one.",
            count(left, "more key")
        ));
    }
    lines.extend(said.map(|said| format!("The host says: {said}")));
    Question {
        title: format!("{}: password of {}", route.shown, plain(&route.user)),
        lines,
        kind: QuestionKind::Secret,
    }
}

/// A host's own question, the `place`th of `count` in this round.
pub(super) fn prompt(
    route: &Route,
    about: &[String],
    prompt: &Prompt,
    (place, count): (usize, usize),
    wrong: bool,
) -> Question {
    let mut lines = wrongs(wrong);
    lines.extend(about.iter().map(|line| format!("The host says: {line}")));
    if wants_new(prompt) {
        lines.push("The host wants the password changed: it may have expired.".to_owned());
    }
    // The last line asks; what is above it (PAM puts its messages there) is told.
    let above = about_prompt(&prompt.prompt);
    let asks = asks(&prompt.prompt);
    lines.extend(above.iter().map(|line| format!("The host says: {line}")));
    let which = match count {
        1 => String::new(),
        _ => format!(" ({place} of {count})"),
    };
    let user = plain(&route.user);
    Question {
        title: format!("{} asks {user}{which}: {asks}", route.shown),
        lines,
        kind: if prompt.echo {
            QuestionKind::Text
        } else {
            QuestionKind::Secret
        },
    }
}

/// The name and the instructions of a round, made fit to be shown.
pub(super) fn about(name: &str, instructions: &str) -> Vec<String> {
    name.lines()
        .chain(instructions.lines())
        .map(plain)
        .filter(|line| !line.is_empty())
        .take(LINES)
        .collect()
}

fn about_prompt(prompt: &str) -> Vec<String> {
    let mut lines = about(prompt, "");
    lines.pop();
    lines
}

/// A prompt's last line.
pub(super) fn asks(prompt: &str) -> String {
    let last = prompt.lines().map(plain).rfind(|line| !line.is_empty());
    last.unwrap_or_default()
}

/// Whether an answer will do again: only a password does. What looks like a code is asked for
/// each time: a code that is sent twice may lock the account.
pub(super) fn is_password(prompt: &Prompt, count: usize) -> bool {
    let text = prompt.prompt.to_lowercase();
    let is_code = text
        .split(|c: char| !c.is_alphanumeric())
        .any(|word| ["otp", "totp", "code", "token", "pin", "time"].contains(&word));
    count == 1
        && !prompt.echo
        && !is_code
        && !wants_new(prompt)
        && ["password", "passwort", "passphrase"]
            .iter()
            .any(|word| text.contains(word))
}

/// Whether a host wants a password changed.
pub(super) fn wants_new(prompt: &Prompt) -> bool {
    let text = prompt.prompt.to_lowercase();
    ["new ", "retype", "again", "current", "old "]
        .iter()
        .any(|word| text.contains(word))
}

fn wrongs(wrong: bool) -> Vec<String> {
    wrong
        .then(|| "The host did not take the last answer.".to_owned())
        .into_iter()
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_a_password_is_kept() {
        for (text, echo, count, kept) in [
            ("Password: ", false, 1, true),
            ("(root@esx) Password:", false, 1, true),
            ("Password: ", true, 1, false),
            ("Password: ", false, 2, false),
            ("Verification code: ", false, 1, false),
            ("One-time password (OTP): ", false, 1, false),
            ("Password + token: ", false, 1, false),
            ("New password: ", false, 1, false),
            ("Current password: ", false, 1, false),
            ("Passcode or option (1-3): ", false, 1, false),
        ] {
            let prompt = Prompt {
                prompt: text.to_owned(),
                echo,
            };
            assert_eq!(is_password(&prompt, count), kept, "{text}");
        }
    }

    #[test]
    fn a_hosts_text_is_bounded_and_drives_no_terminal() {
        let lines = about("\u{1b}[2JWelcome\r\n", &"x\n\n".repeat(100));
        assert_eq!(lines[0], "[2JWelcome");
        assert_eq!(lines.len(), LINES);
    }
}
