//! From an encrypted connection to one that runs commands.

use std::time::Duration;

use russh::MethodKind;
use russh::client::{AuthResult, Handle};
use russh::keys::agent::AgentIdentity;
use russh::keys::agent::client::AgentClient;
use russh::keys::{Algorithm, HashAlg, PrivateKeyWithHashAlg};
use tokio::net::UnixStream;
use tokio::time::timeout;

use super::handshake::{Encrypted, Watch};
use super::keys::{self, Offer};
use super::route::Route;
use super::text::plain;
use crate::host::HostError;

/// The longest wait for the login, with an operator who may have to touch a token.
const LOGIN: Duration = Duration::from_secs(30);
/// Servers end the connection after 6 attempts (`MaxAuthTries`).
const OFFERS: usize = 5;

/// Logs in with the first key that the host takes.
///
/// # Errors
/// [`HostError::Login`], with what was tried; [`HostError::Down`] in phase `login` where the
/// connection was lost or took too long.
pub(super) async fn login(route: &Route, encrypted: &mut Encrypted) -> Result<(), HostError> {
    let mut attempt = Attempt::default();
    let run = attempt.run(route, &mut encrypted.handle);
    let result = timeout(LOGIN, Box::pin(run)).await;
    let down = |why| HostError::Down {
        host: route.shown.clone(),
        phase: "login",
        why,
    };
    match result {
        Ok(Ok(true)) => Ok(()),
        Err(_late) => Err(down(format!(
            "not over within {} s{}",
            LOGIN.as_secs(),
            attempt.tried()
        ))),
        Ok(outcome) => {
            if let Some(goodbye) = encrypted.goodbye.get() {
                let tried = attempt.tried();
                return Err(HostError::Login {
                    host: route.shown.clone(),
                    why: format!("the host ended the connection: {goodbye}{tried}"),
                });
            }
            match outcome {
                Err(error) => Err(down(plain(&error.to_string()))),
                Ok(_) if encrypted.handle.is_closed() => {
                    Err(down(format!("the connection was lost{}", attempt.tried())))
                }
                Ok(_) => Err(HostError::Login {
                    host: route.shown.clone(),
                    why: attempt.says(route),
                }),
            }
        }
    }
}

/// What has been tried so far.
#[derive(Default)]
struct Attempt {
    tried: Vec<String>,
    remarks: Vec<String>,
    /// What the host lists at the last refusal.
    methods: Vec<MethodKind>,
    /// A key was taken, but is not enough.
    partial: bool,
    /// Keys beyond [`OFFERS`].
    left: usize,
}

/// What follows an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Next {
    /// Logged in.
    In,
    /// The next key.
    Key,
    /// No key will do.
    Out,
}

impl Attempt {
    async fn run(
        &mut self,
        route: &Route,
        handle: &mut Handle<Watch>,
    ) -> Result<bool, russh::Error> {
        // Also tells which methods there are; servers do not count it as an attempt.
        let first = handle.authenticate_none(&route.user).await?;
        match self.heard(first) {
            Next::Key if route.pubkey => {}
            next => return Ok(next == Next::In),
        }
        let binding = handle.agent_session_binding().cloned();
        let keys::Keys {
            offers,
            remarks,
            mut agent,
        } = keys::gather(route, binding.as_ref()).await;
        self.remarks = remarks;
        self.left = offers.len().saturating_sub(OFFERS);
        let mut hash = None;
        for offer in offers.into_iter().take(OFFERS) {
            let shown = offer.shown();
            let result = match offer {
                Offer::File(_, key) => {
                    let hash = rsa_hash(handle, &key.algorithm(), &mut hash).await?;
                    let key = PrivateKeyWithHashAlg::new(key, hash);
                    handle.authenticate_publickey(&route.user, key).await?
                }
                Offer::Agent(identity) => {
                    let Some(agent) = &mut agent else { continue };
                    let algorithm = identity.public_key().algorithm();
                    let hash = rsa_hash(handle, &algorithm, &mut hash).await?;
                    match sign_in(handle, &route.user, *identity, hash, agent).await {
                        Ok(result) => result,
                        Err(why) => {
                            self.tried.push(format!("{shown} (not signed: {why})"));
                            continue;
                        }
                    }
                }
            };
            self.tried.push(shown);
            match self.heard(result) {
                Next::Key => {}
                next => return Ok(next == Next::In),
            }
        }
        Ok(false)
    }

    /// Takes note of an answer.
    fn heard(&mut self, result: AuthResult) -> Next {
        match result {
            AuthResult::Success => Next::In,
            AuthResult::Failure {
                remaining_methods,
                partial_success,
            } => {
                self.partial |= partial_success;
                let more = remaining_methods.contains(&MethodKind::PublicKey);
                self.methods = remaining_methods.to_vec();
                if more { Next::Key } else { Next::Out }
            }
        }
    }

    fn tried(&self) -> String {
        if self.tried.is_empty() {
            String::new()
        } else {
            format!("; tried: {}", self.tried.join(", "))
        }
    }

    /// The whole refusal in one sentence.
    fn says(&self, route: &Route) -> String {
        let user = &route.user;
        let listed: Vec<&str> = self.methods.iter().map(<&str>::from).collect();
        let takes_keys = self.methods.contains(&MethodKind::PublicKey);
        let mut says = if self.partial {
            format!("a key of `{user}` was taken, but the host asks for more")
        } else if self.tried.is_empty() {
            format!("no key was offered for `{user}`")
        } else {
            format!("the host takes none of the keys for `{user}`")
        };
        says.push_str(&self.tried());
        let mut parts = vec![says];
        if self.left > 0 {
            parts.push(format!(
                "{} more were not, as servers end the connection after a few: name the right one \
                 by IdentityFile and IdentitiesOnly",
                self.left
            ));
        }
        parts.extend(self.remarks.iter().cloned());
        if !route.login_notes.is_empty() {
            parts.push(format!(
                "set in the ssh configuration and not followed yet: {}",
                route.login_notes.join(", ")
            ));
        }
        parts.push(match listed.as_slice() {
            [] => "the host takes nothing else".to_owned(),
            listed => format!("the host takes {}", listed.join(", ")),
        });
        let remedy = match (takes_keys, self.tried.is_empty()) {
            (false, _) => "only keys can be used yet",
            (true, true) if !route.pubkey => "PubkeyAuthentication is switched off here",
            (true, true) => "add a key to the ssh-agent (ssh-add), or name an IdentityFile",
            (true, false) => "add one of the keys there (ssh-copy-id), or name another user",
        };
        parts.push(remedy.to_owned());
        parts.join("; ")
    }
}

/// The strongest signature that the host takes with an RSA key; asked once.
async fn rsa_hash(
    handle: &Handle<Watch>,
    algorithm: &Algorithm,
    known: &mut Option<HashAlg>,
) -> Result<Option<HashAlg>, russh::Error> {
    if !matches!(algorithm, Algorithm::Rsa { .. }) {
        return Ok(None);
    }
    if known.is_some() {
        return Ok(*known);
    }
    // A host that does not say is asked for SHA-512, which OpenSSH has known since 7.2, and so
    // is one that knows but SHA-1: no login is worth such a signature.
    let best = handle.best_supported_rsa_hash().await?;
    *known = best.flatten().or(Some(HashAlg::Sha512));
    Ok(*known)
}

async fn sign_in(
    handle: &mut Handle<Watch>,
    user: &str,
    identity: AgentIdentity,
    hash: Option<HashAlg>,
    agent: &mut AgentClient<UnixStream>,
) -> Result<AuthResult, String> {
    let result = match identity {
        AgentIdentity::PublicKey { key, .. } => {
            handle
                .authenticate_publickey_with(user, key, hash, agent)
                .await
        }
        AgentIdentity::Certificate { certificate, .. } => {
            handle
                .authenticate_certificate_with(user, certificate, hash, agent)
                .await
        }
    };
    result.map_err(|error| plain(&error.to_string()))
}
