//! Logging in with a key: offered first, signed with once the host takes it.

use std::sync::Arc;
use std::time::{Duration, Instant};

use russh::keys::agent::AgentIdentity;
use russh::keys::agent::client::AgentClient;
use russh::keys::signature::Signer as _;
use russh::keys::ssh_encoding::Encode;
use russh::keys::ssh_key::Signature;
use russh::keys::ssh_key::private::KeypairData;
use russh::keys::{HashAlg, PrivateKey, PublicKey};
use russh::{SendError, Signer};
use tokio::net::UnixStream;
use tokio::task::spawn_blocking;
use tokio::time::timeout;

use super::keys::{self, KeyFile, Private, fingerprint};
use super::offers::Signing;
use super::patience::Patience;
use super::prompts::{self, Operator};
use super::route::Route;
use super::text::plain;
use crate::event::Secret;

/// How often a passphrase may be wrong.
const PASSPHRASES: usize = 3;
/// The longest wait for a signature of the ssh-agent, which may ask the operator itself.
const SIGNATURE: Duration = Duration::from_mins(1);

/// Signs for one key.
pub(super) struct KeySigner<'a> {
    pub(super) route: &'a Route,
    pub(super) operator: &'a Operator,
    pub(super) patience: &'a Patience,
    pub(super) agent: &'a mut Option<AgentClient<UnixStream>>,
    pub(super) by: Signing,
}

/// Why there is no signature.
pub(super) enum NotSigned {
    /// The connection is gone.
    Gone,
    /// The operator does not say the passphrase.
    NoAnswer,
    /// Nobody is there to ask for it.
    Nobody,
    Failed(String),
}

impl From<SendError> for NotSigned {
    fn from(_gone: SendError) -> Self {
        Self::Gone
    }
}

impl Signer for KeySigner<'_> {
    type Error = NotSigned;

    async fn auth_sign(
        &mut self,
        _offered: &AgentIdentity,
        hash: Option<HashAlg>,
        data: Vec<u8>,
    ) -> Result<Vec<u8>, NotSigned> {
        match self.by.clone() {
            // By its own name there: it may hold but the bare key of a certificate.
            Signing::Agent(identity) => {
                let agent = self
                    .agent
                    .as_mut()
                    .ok_or_else(|| NotSigned::Failed("the ssh-agent is gone".to_owned()))?;
                let signature = agent.sign_request(&identity, hash, data);
                let signed = self.patience.pause(timeout(SIGNATURE, signature)).await;
                match signed {
                    Ok(Ok(signed)) => Ok(signed),
                    Ok(Err(russh::keys::Error::AgentFailure)) => Err(NotSigned::Failed(
                        "the ssh-agent refused: is it locked, or did it ask and get no yes?"
                            .to_owned(),
                    )),
                    Ok(Err(error)) => Err(NotSigned::Failed(plain(&error.to_string()))),
                    Err(_late) => {
                        // Its answer may still come, and would be taken for the next one.
                        *self.agent = None;
                        Err(NotSigned::Failed(format!(
                            "the ssh-agent gave no signature within {} s",
                            SIGNATURE.as_secs()
                        )))
                    }
                }
            }
            Signing::File(file) => {
                let key = self.key(&file).await?;
                spawn_blocking(move || sign(&key, hash, data))
                    .await
                    .map_err(|panic| NotSigned::Failed(panic.to_string()))?
            }
        }
    }
}

impl KeySigner<'_> {
    /// The public key, for which a passphrase is asked where the file does not tell it.
    pub(super) async fn public(&mut self) -> Result<PublicKey, NotSigned> {
        match self.by.clone() {
            Signing::Agent(identity) => Ok(identity.public_key().into_owned()),
            Signing::File(file) => match &file.public {
                Some(key) => Ok(key.clone()),
                None => Ok(self.key(&file).await?.public_key().clone()),
            },
        }
    }

    /// A file's private key; the passphrase is asked for once by all logins that need it.
    async fn key(&self, file: &KeyFile) -> Result<Arc<PrivateKey>, NotSigned> {
        let text = match &file.private {
            Private::Open(key) => return Ok(Arc::clone(key)),
            Private::Unusable(why) => return Err(NotSigned::Failed(why.clone())),
            Private::Locked(text) => text,
        };
        let there = self.operator.is_there();
        let since = Instant::now();
        let public = file.public.as_ref().map(fingerprint);
        let slot = self.operator.secrets.key(file.path.clone(), public, there);
        let Some(mut slot) = self.patience.pause(slot).await else {
            return Err(NotSigned::Nobody);
        };
        if let Some(key) = &slot.kept {
            return Ok(Arc::clone(key));
        }
        if !there {
            return Err(NotSigned::Nobody);
        }
        if slot.is_refused_since(since) {
            return Err(NotSigned::NoAnswer);
        }
        let mut left = None;
        let mut why = String::new();
        for tries in (0..PASSPHRASES).rev() {
            let public = file.public.as_ref();
            let question = prompts::passphrase(self.route, &file.path, public, left);
            let answer = self.patience.pause(self.operator.ask(question)).await;
            // As in ssh, nothing entered means the next key.
            let Some(passphrase) = answer.filter(|entered| !entered.expose().is_empty()) else {
                slot.refuse();
                return Err(NotSigned::NoAnswer);
            };
            match unlock(text.clone(), passphrase).await {
                Ok(key) => {
                    let key = Arc::new(key);
                    let same =
                        |public: &PublicKey| public.key_data() == key.public_key().key_data();
                    if !file.public.as_ref().is_none_or(same) {
                        return Err(NotSigned::Failed(format!(
                            "{0}.pub is not the public key of {0}",
                            file.path.display()
                        )));
                    }
                    slot.kept = Some(Arc::clone(&key));
                    return Ok(key);
                }
                Err(error) => why = error,
            }
            left = Some(tries);
        }
        Err(NotSigned::Failed(format!(
            "{PASSPHRASES} passphrases did not open it: {why}"
        )))
    }
}

async fn unlock(text: Secret, passphrase: Secret) -> Result<PrivateKey, String> {
    spawn_blocking(move || keys::unlock(&text, &passphrase))
        .await
        .map_err(|panic| panic.to_string())?
}

/// Puts the signature behind what is signed, as the protocol has it.
fn sign(key: &PrivateKey, hash: Option<HashAlg>, mut data: Vec<u8>) -> Result<Vec<u8>, NotSigned> {
    let failed = |why: String| NotSigned::Failed(plain(&why));
    let signature: Signature = match key.key_data() {
        KeypairData::Rsa(pair) => (pair, hash).try_sign(&data),
        pair => pair.try_sign(&data),
    }
    .map_err(|error| failed(error.to_string()))?;
    let mut encoded = Vec::new();
    signature
        .encode(&mut encoded)
        .and_then(|()| encoded.encode(&mut data))
        .map_err(|error| failed(error.to_string()))?;
    Ok(data)
}
