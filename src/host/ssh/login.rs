//! From an encrypted connection to one that runs commands: none, keys, questions, password.

use std::collections::HashMap;
use std::time::Duration;

use russh::MethodKind;
use russh::client::{AuthResult, Handle};
use russh::keys::{Algorithm, HashAlg};

use super::handshake::{Encrypted, Heard, Watch};
use super::offers::{self, Offer, Offers};
use super::patience::Patience;
use super::prompts::Operator;
use super::publickey::{KeySigner, NotSigned};
use super::refusal::Tried;
use super::route::Route;
use super::secrets::Past;
use super::text::plain;
use crate::event::Secret;
use crate::host::HostError;

/// The longest that a host may take for a login; the operator's time does not count.
const LOGIN: Duration = Duration::from_secs(30);
/// Servers end the connection at the sixth refusal (`MaxAuthTries`): so many keys leave one try
/// for a password.
const KEYS: usize = 5;
/// No more keys than this are offered, whatever the host says.
const KEYS_MOST: usize = 50;
/// No more ways than this after one another make a login.
const STEPS: usize = 8;
/// A connection that was lost while the operator had the turn is made again so often.
const AGAIN: usize = 2;
/// So long a turn may have lost it.
const TURN: Duration = Duration::from_secs(1);

/// A login, over all connections that it takes.
pub(super) struct Login<'a> {
    route: &'a Route,
    operator: Operator,
    account: String,
    /// Entered on a connection that was lost before the host could judge it.
    entered: Entered,
    again: usize,
    may_again: bool,
}

/// Answers that no host has judged yet.
#[derive(Default)]
pub(super) struct Entered {
    pub(super) password: Option<Secret>,
    pub(super) prompts: HashMap<String, Secret>,
}

impl<'a> Login<'a> {
    /// # Errors
    /// The host takes but answers that are good for one login, and nobody is there to give one:
    /// no connection is made in vain.
    pub(super) fn new(route: &'a Route, operator: &Operator) -> Result<Self, HostError> {
        let account = format!(
            "{}@{}:{} {}",
            route.user, route.host, route.port, route.names.exact
        );
        let operator = if route.methods.batch {
            operator.away()
        } else {
            operator.clone()
        };
        if !operator.is_there() && operator.secrets.past(&account).one_time {
            return Err(HostError::Login {
                host: route.shown.clone(),
                why: "another login would need an answer that is good for one only, and nobody \
                      is there to be asked"
                    .to_owned(),
            });
        }
        Ok(Self {
            route,
            operator,
            account,
            entered: Entered::default(),
            again: 0,
            may_again: false,
        })
    }

    /// Whether the connection was lost while the operator had the turn: on another one the
    /// answer will do.
    pub(super) fn may_again(&self) -> bool {
        self.may_again
    }

    /// Logs in by the first way that the host takes.
    ///
    /// # Errors
    /// [`HostError::Login`], with what was tried; [`HostError::Down`] in phase `login` where the
    /// connection was lost or the host took too long.
    pub(super) async fn run(&mut self, encrypted: &mut Encrypted) -> Result<(), HostError> {
        let patience = Patience::new(LOGIN);
        let mut dialogue = Dialogue {
            route: self.route,
            operator: &self.operator,
            account: &self.account,
            patience: &patience,
            handle: &mut encrypted.handle,
            banner: &encrypted.banner,
            tried: Tried::default(),
            entered: &mut self.entered,
            spent: Vec::new(),
            offers: None,
            offered: 0,
            asked: 0,
            hash: None,
            went: Past::default(),
            sent: None,
        };
        let outcome = patience.limit(Box::pin(dialogue.run())).await;
        let Dialogue {
            tried,
            sent,
            mut went,
            ..
        } = dialogue;
        if self.operator.is_there() {
            let nothing = Past::default();
            self.operator.secrets.set_past(&self.account, nothing);
        }
        let down = |why| HostError::Down {
            host: self.route.shown.clone(),
            phase: "login",
            why,
        };
        let refused = |why| HostError::Login {
            host: self.route.shown.clone(),
            why,
        };
        self.may_again = false;
        let banner = match encrypted.banner.get() {
            Some(banner) => format!("; the host says: {banner}"),
            None => String::new(),
        };
        match outcome {
            Some(Ok(true)) => {
                went.without_key = went.keys.is_empty();
                self.operator.secrets.set_past(&self.account, went);
                Ok(())
            }
            None => Err(down(format!(
                "not over within {} s{}{}",
                LOGIN.as_secs(),
                match sent {
                    Some(sent) => format!("; no answer to {sent}"),
                    None => String::new(),
                },
                tried.list()
            ))),
            Some(Err(End::Refused(why))) => Err(refused(why + &banner)),
            Some(outcome) => {
                if let Some(goodbye) = encrypted.goodbye.get() {
                    let why = tried.ended(&goodbye) + &banner;
                    // With nothing refused it is about something else, and may pass.
                    return Err(if tried.failures() > 0 {
                        refused(why)
                    } else {
                        down(why)
                    });
                }
                match outcome {
                    Err(End::Gone) => {}
                    Ok(_) if encrypted.handle.is_closed() => {}
                    Err(End::Broken(error)) => return Err(down(plain(&error.to_string()))),
                    _ => return Err(refused(tried.says(self.route) + &banner)),
                }
                let turn = patience.paused();
                self.may_again = turn > TURN && self.again < AGAIN;
                self.again += 1;
                let turn = match turn {
                    turn if turn > TURN => format!(
                        " while an answer was waited for (for {} s; hosts wait as long as \
                         LoginGraceTime says there)",
                        turn.as_secs()
                    ),
                    _ => String::new(),
                };
                Err(down(format!(
                    "the connection was lost{turn}{}",
                    tried.list()
                )))
            }
        }
    }
}

/// One connection's login.
pub(super) struct Dialogue<'a> {
    pub(super) route: &'a Route,
    pub(super) operator: &'a Operator,
    pub(super) account: &'a str,
    pub(super) patience: &'a Patience,
    pub(super) handle: &'a mut Handle<Watch>,
    /// What the host says besides.
    pub(super) banner: &'a Heard,
    pub(super) tried: Tried,
    pub(super) entered: &'a mut Entered,
    /// Ways that are not tried again.
    pub(super) spent: Vec<MethodKind>,
    offers: Option<Offers>,
    /// Keys that were offered.
    offered: usize,
    /// How often the operator was asked for answers of the present way.
    pub(super) asked: usize,
    hash: Option<Rsa>,
    pub(super) went: Past,
    /// What the host has not answered yet.
    pub(super) sent: Option<&'static str>,
}

/// Why a login ends before all has been tried.
pub(super) enum End {
    /// For this reason.
    Refused(String),
    /// Nothing more can be tried; what was is told.
    Given,
    /// The connection is gone.
    Gone,
    Broken(russh::Error),
}

impl From<russh::Error> for End {
    fn from(error: russh::Error) -> Self {
        match error {
            russh::Error::SendError | russh::Error::RecvError | russh::Error::Disconnect => {
                Self::Gone
            }
            other => Self::Broken(other),
        }
    }
}

/// How RSA keys sign for this host.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Rsa {
    With(Option<HashAlg>),
    /// It takes but SHA-1, which is not used.
    Sha1Only,
    /// It does not say: SHA-512 is tried, but OpenSSH before 7.2 takes SHA-1 alone.
    Unsaid,
}

impl Dialogue<'_> {
    async fn run(&mut self) -> Result<bool, End> {
        // Also tells which methods there are; servers do not count it as an attempt.
        let mut answer = self.handle.authenticate_none(&self.route.user).await?;
        let mut last = "no login at all".to_owned();
        loop {
            let partial = match answer {
                AuthResult::Success => return Ok(true),
                AuthResult::Failure {
                    remaining_methods,
                    partial_success,
                } => {
                    if self.handle.is_closed() {
                        return Err(End::Gone);
                    }
                    self.tried.listed = remaining_methods.to_vec();
                    partial_success
                }
            };
            if partial {
                if self.tried.taken.len() >= STEPS {
                    return Err(End::Refused(format!(
                        "the host asks for more than {STEPS} ways to log in, one after another"
                    )));
                }
                self.tried.taken.push(last);
                // What comes next is asked for anew.
                self.spent.retain(|method| *method == MethodKind::PublicKey);
                self.asked = 0;
            }
            let (how, next) = loop {
                let Some(method) = self.next() else {
                    return Ok(false);
                };
                let next = match method {
                    MethodKind::PublicKey => Box::pin(self.key()).await?,
                    MethodKind::KeyboardInteractive => Box::pin(self.questions()).await?,
                    _ => Box::pin(self.password()).await?,
                };
                if let Some(next) = next {
                    break next;
                }
                self.spent.push(method);
                self.asked = 0;
            };
            if !is_taken(&next) {
                self.tried.refused.push(how.clone());
            }
            last = how;
            answer = next;
        }
    }

    /// The first way that both sides want and that is not spent.
    fn next(&self) -> Option<MethodKind> {
        let is_open = |method: &MethodKind| {
            self.tried.listed.contains(method) && !self.spent.contains(method)
        };
        self.route.methods.order.iter().copied().find(is_open)
    }

    /// Offers the next key; nothing where none is left.
    async fn key(&mut self) -> Result<Option<(String, AuthResult)>, End> {
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

/// Whether it was right, be it enough or not.
pub(super) fn is_taken(result: &AuthResult) -> bool {
    match result {
        AuthResult::Success => true,
        AuthResult::Failure {
            partial_success, ..
        } => *partial_success,
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
