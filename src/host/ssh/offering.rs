//! Offering keys, one after another, as many as the host has patience for.

use russh::MethodKind;
use russh::client::{AuthResult, Handle};
use russh::keys::{Algorithm, HashAlg};

use super::handshake::Watch;
use super::login::{Dialogue, End, is_taken};
use super::offers::{self, Offer, Offers};
use super::publickey::{KeySigner, NotSigned};
use super::route::Route;

/// Servers end the connection at the sixth refusal (`MaxAuthTries`): so many keys leave one try
/// for a password.
const KEYS: usize = 5;
/// No more keys than this are offered, whatever the host says.
const KEYS_MOST: usize = 50;

/// How RSA keys sign for this host.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Rsa {
    With(Option<HashAlg>),
    /// It takes but SHA-1, which is not used.
    Sha1Only,
    /// It does not say: SHA-512 is tried, but OpenSSH before 7.2 takes SHA-1 alone.
    Unsaid,
}

impl Dialogue<'_> {
    /// Offers the next key; nothing where none is left.
    pub(super) async fn key(&mut self) -> Result<Option<(String, AuthResult)>, End> {
        let mut offers = match self.offers.take() {
            Some(offers) => offers,
            None => self.gather().await,
        };
        let most = if self.could_ask() { KEYS } else { KEYS_MOST };
        let mut answer = None;
        while answer.is_none() && !offers.offers.is_empty() {
            if self.tried.failures() >= most || self.offered >= KEYS_MOST {
                break;
            }
            let offer = offers.offers.remove(0);
            answer = self.offer(&offer, &mut offers).await?;
        }
        self.tried.left = offers.offers.len();
        self.offers = Some(offers);
        Ok(answer)
    }

    async fn gather(&mut self) -> Offers {
        let binding = self.handle.agent_session_binding().cloned();
        let past = self.operator.secrets.past(self.account);
        if past.without_key {
            return Offers::default();
        }
        let mut offers = offers::gather(self.route, binding.as_ref(), &past.keys).await;
        self.tried.remarks.append(&mut offers.remarks);
        offers
    }

    /// Whether a password or questions could follow the keys.
    fn could_ask(&self) -> bool {
        let is_open = |method| self.tried.listed.contains(method) && !self.spent.contains(method);
        let mut others = self.route.methods.order.iter();
        self.operator.is_there()
            && others.any(|method| *method != MethodKind::PublicKey && is_open(method))
    }

    /// Nothing where the key could not be offered, or not be signed with.
    async fn offer(
        &mut self,
        offer: &Offer,
        offers: &mut Offers,
    ) -> Result<Option<(String, AuthResult)>, End> {
        let shown = offer.shown();
        let mut signer = KeySigner {
            route: self.route,
            operator: self.operator,
            patience: self.patience,
            agent: &mut offers.agent,
            by: offer.by.clone(),
        };
        let public = match signer.public().await {
            Ok(public) => public,
            Err(why) => return self.not_signed(&shown, why),
        };
        let hash = match public.algorithm() {
            Algorithm::Rsa { .. } => match rsa(self.handle, self.route, &mut self.hash).await? {
                Rsa::With(hash) => hash,
                Rsa::Unsaid => Some(HashAlg::Sha512),
                Rsa::Sha1Only => {
                    self.tried.remarks.push(format!(
                        "{shown} was not offered: the host takes RSA only with SHA-1 (ssh-rsa), \
                         which `legacy = true` for it allows"
                    ));
                    return Ok(None);
                }
            },
            _ => None,
        };
        self.offered += 1;
        let user = self.route.user.as_str();
        let result = match &offer.certificate {
            None => {
                let work = self
                    .handle
                    .authenticate_publickey_with(user, public, hash, &mut signer);
                Box::pin(work).await
            }
            Some(certificate) => {
                let certificate = certificate.clone();
                let work =
                    self.handle
                        .authenticate_certificate_with(user, certificate, hash, &mut signer);
                Box::pin(work).await
            }
        };
        match result {
            Ok(result) => {
                if is_taken(&result) {
                    self.went.keys.push(offer.name());
                } else if hash.is_some() && self.hash == Some(Rsa::Unsaid) {
                    self.tried.remarks.push(format!(
                        "{shown} signs with SHA-512, and the host does not say whether it takes \
                         that; where it is too old for it, `legacy = true` for it allows SHA-1"
                    ));
                }
                Ok(Some((shown, result)))
            }
            Err(why) => self.not_signed(&shown, why),
        }
    }

    fn not_signed(
        &mut self,
        shown: &str,
        why: NotSigned,
    ) -> Result<Option<(String, AuthResult)>, End> {
        match why {
            NotSigned::Gone => return Err(End::Gone),
            NotSigned::NoAnswer => self
                .tried
                .unanswered
                .push(format!("the passphrase of {shown}")),
            NotSigned::Nobody => {
                let file = shown
                    .rsplit_once("key file ")
                    .map_or(shown, |(_, file)| file);
                self.tried.unasked.push((
                    format!("the passphrase of {shown}"),
                    format!("run: ssh-add {file}"),
                ));
            }
            NotSigned::Failed(why) => self.tried.remarks.push(format!("{shown}: {why}")),
        }
        if self.handle.is_closed() {
            return Err(End::Gone);
        }
        Ok(None)
    }
}

/// The strongest signature that the host takes with an RSA key; asked once.
async fn rsa(
    handle: &Handle<Watch>,
    route: &Route,
    known: &mut Option<Rsa>,
) -> Result<Rsa, russh::Error> {
    if let Some(known) = *known {
        return Ok(known);
    }
    let wanted = &route.methods.rsa;
    let rsa = match handle.best_supported_rsa_hash().await? {
        // Who takes SHA-512 takes SHA-256 too; the configuration may like that better.
        Some(Some(HashAlg::Sha512)) => Rsa::With(wanted.first().copied().or(Some(HashAlg::Sha512))),
        Some(Some(hash)) => Rsa::With(Some(hash)),
        Some(None) | None if route.wishes.legacy => Rsa::With(None),
        Some(None) => Rsa::Sha1Only,
        None => Rsa::Unsaid,
    };
    *known = Some(rsa);
    Ok(rsa)
}
