//! Which keys are offered for a login, and in which order.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use russh::keys::agent::client::AgentClient;
use russh::keys::agent::{AgentIdentity, AgentSessionBinding};
use russh::keys::{Algorithm, Certificate, PublicKey};
use tokio::net::UnixStream;
use tokio::time::timeout;

use super::keys::{self, KeyFile, Private, fingerprint};
use super::route::Route;
use super::text::plain;

/// The longest wait for the ssh-agent's list.
const AGENT: Duration = Duration::from_secs(5);

/// One key that may be offered.
pub(super) struct Offer {
    /// Offered in place of the bare key.
    pub(super) certificate: Option<Certificate>,
    pub(super) by: Signing,
}

/// Who has the private half.
#[derive(Clone)]
pub(super) enum Signing {
    /// The ssh-agent, under this name.
    Agent(Arc<AgentIdentity>),
    File(Arc<KeyFile>),
}

impl Offer {
    /// The public key, where it is known before a passphrase is.
    pub(super) fn public(&self) -> Option<PublicKey> {
        match &self.by {
            Signing::Agent(identity) => Some(identity.public_key().into_owned()),
            Signing::File(file) => file.public.clone(),
        }
    }

    /// The same for the same key, and another for its certificate.
    pub(super) fn name(&self) -> String {
        let key = match (self.public(), &self.by) {
            (Some(key), _) => fingerprint(&key),
            (None, Signing::File(file)) => file.path.display().to_string(),
            (None, Signing::Agent(_)) => String::new(),
        };
        match &self.certificate {
            Some(certificate) => format!("{key} {}", certificate.serial()),
            None => key,
        }
    }

    /// As it is told to the operator.
    pub(super) fn shown(&self) -> String {
        let by = match &self.by {
            Signing::Agent(identity) => {
                let comment = match identity.comment() {
                    "" => String::new(),
                    comment => format!(" ({})", plain(comment)),
                };
                format!("agent key {}{comment}", fingerprint(&identity.public_key()))
            }
            Signing::File(file) => format!("key file {}", file.path.display()),
        };
        match &self.certificate {
            Some(certificate) => format!("{} with {by}", certified(certificate)),
            None => by,
        }
    }
}

fn certified(certificate: &Certificate) -> String {
    let now = SystemTime::now()
        .duration_since(SystemTime::UNIX_EPOCH)
        .map_or(0, |now| now.as_secs());
    let when = if certificate.valid_before() <= now {
        ", which has expired by this machine's clock"
    } else if certificate.valid_after() > now {
        ", which is not valid yet by this machine's clock"
    } else {
        ""
    };
    format!("certificate `{}`{when}", plain(certificate.key_id()))
}

/// All that could be offered.
#[derive(Default)]
pub(super) struct Offers {
    /// First the one that goes first.
    pub(super) offers: Vec<Offer>,
    /// What could not, and what to do about it.
    pub(super) remarks: Vec<String>,
    pub(super) agent: Option<AgentClient<UnixStream>>,
}

/// Gathers keys of the ssh-agent and of files.
///
/// The order is ssh's (agent keys that are named by an `IdentityFile`, other agent keys,
/// files), but for key files that the configuration names for this host: they come before
/// agent keys that it does not name, lest a full agent use up the server's patience. What this
/// host took before comes first of all; a certificate before its bare key.
pub(super) async fn gather(
    route: &Route,
    binding: Option<&AgentSessionBinding>,
    taken: &[String],
) -> Offers {
    let mut remarks = Vec::new();
    let (agent, held) = match &route.agent {
        None => (None, Vec::new()),
        Some(socket) => match ask_agent(socket, binding).await {
            Ok((agent, held)) => (Some(agent), held),
            Err(why) => {
                remarks.push(format!("ssh-agent {}: {why}", socket.display()));
                (None, Vec::new())
            }
        },
    };
    if let (Some(socket), true) = (&route.agent, agent.is_some() && held.is_empty()) {
        remarks.push(format!(
            "ssh-agent {} shows no key: none was added (ssh-add), or it is locked (ssh-add -X)",
            socket.display()
        ));
    }
    let files = {
        let route = route.clone();
        tokio::task::spawn_blocking(move || Files::read(&route)).await
    };
    let files = files.unwrap_or_else(|panic| Files {
        remarks: vec![format!("the key files could not be read: {panic}")],
        ..Files::default()
    });
    let mut offers = order(route, held, files, &mut remarks);
    let mut seen = Vec::new();
    offers.retain(|offer| {
        let name = offer.name();
        let new = !seen.contains(&name);
        seen.push(name);
        new
    });
    offers.sort_by_key(|offer| {
        let place = taken.iter().position(|name| *name == offer.name());
        place.unwrap_or(taken.len())
    });
    Offers {
        offers,
        remarks,
        agent,
    }
}

/// What the files have.
#[derive(Default)]
struct Files {
    keys: Vec<Arc<KeyFile>>,
    certificates: Vec<Certificate>,
    remarks: Vec<String>,
}

impl Files {
    fn read(route: &Route) -> Self {
        let mut files = Self::default();
        for path in &route.identities {
            match keys::read(path, route.explicit) {
                Ok(Some(file)) => files.keys.push(Arc::new(file)),
                Ok(None) => {}
                Err(why) => files.remarks.push(why),
            }
        }
        for path in &route.certificates {
            match keys::read_certificate(path) {
                Ok(Some(certificate)) => files.certificates.push(certificate),
                Ok(None) => {
                    let shown = path.display();
                    files
                        .remarks
                        .push(format!("certificate {shown} is not there"));
                }
                Err(why) => files.remarks.push(why),
            }
        }
        if !route.certificates.is_empty() {
            return files;
        }
        // As in ssh, those beside the keys count only where none is named.
        for path in &route.identities {
            let bare = path.with_extension("");
            let public = path.extension().is_some_and(|end| end == "pub");
            let path: &PathBuf = if public { &bare } else { path };
            match keys::read_certificate(&keys::beside(path, "-cert.pub")) {
                Ok(found) => files.certificates.extend(found),
                Err(why) => files.remarks.push(why),
            }
        }
        files
    }
}

fn order(
    route: &Route,
    held: Vec<AgentIdentity>,
    files: Files,
    remarks: &mut Vec<String>,
) -> Vec<Offer> {
    remarks.extend(files.remarks);
    // As in ssh, what no host takes is not offered to any.
    let (held, odd): (Vec<_>, Vec<_>) = held.into_iter().map(Arc::new).partition(|identity| {
        let algorithm = identity.public_key().algorithm();
        !matches!(algorithm, Algorithm::Dsa | Algorithm::Other(_))
    });
    remarks.extend(odd.iter().map(|identity| {
        format!(
            "agent key {} is of a kind that is not used",
            keys::named(&identity.public_key())
        )
    }));
    let of_key = |key: &PublicKey| {
        let key = key.key_data().clone();
        move |certificate: &&Certificate| *certificate.public_key() == key
    };
    let with_certificates = |by: &Signing| {
        let bare = Offer {
            certificate: None,
            by: by.clone(),
        };
        let public = bare.public();
        let certificates = files.certificates.iter();
        let mut offers: Vec<Offer> = certificates
            .filter(|certificate| public.as_ref().is_some_and(|key| of_key(key)(certificate)))
            .map(|certificate| Offer {
                certificate: Some(certificate.clone()),
                by: by.clone(),
            })
            .collect();
        offers.push(bare);
        offers
    };
    let held_as = |file: &KeyFile| {
        let key = file.public.as_ref().map(fingerprint)?;
        let mut same: Vec<_> = held
            .iter()
            .filter(|identity| fingerprint(&identity.public_key()) == key)
            .collect();
        same.sort_by_key(|identity| matches!(***identity, AgentIdentity::PublicKey { .. }));
        (!same.is_empty()).then_some(same)
    };
    let mut first = Vec::new();
    let mut from_files = Vec::new();
    for file in &files.keys {
        match (held_as(file), &file.private) {
            (Some(same), _) => first.extend(same.into_iter().flat_map(offered(&with_certificates))),
            (None, Private::Unusable(why)) => remarks.push(why.clone()),
            (None, _) => from_files.extend(with_certificates(&Signing::File(Arc::clone(file)))),
        }
    }
    // A certificate that is named names its key as well.
    let certified = |identity: &Arc<AgentIdentity>| {
        let key = identity.public_key().into_owned();
        files.certificates.iter().any(|one| of_key(&key)(&one))
    };
    let mut others = Vec::new();
    for identity in &held {
        let offers = offered(&with_certificates)(identity);
        if certified(identity) {
            first.extend(offers);
        } else if !route.identities_only {
            others.extend(offers);
        }
    }
    if route.explicit {
        first.into_iter().chain(from_files).chain(others).collect()
    } else {
        first.into_iter().chain(others).chain(from_files).collect()
    }
}

/// An identity of the agent as it is offered: a certificate as such, a key with those that the
/// files have for it.
fn offered(
    with_certificates: impl Fn(&Signing) -> Vec<Offer>,
) -> impl Fn(&Arc<AgentIdentity>) -> Vec<Offer> {
    move |identity| {
        let by = Signing::Agent(Arc::clone(identity));
        match &**identity {
            AgentIdentity::Certificate { certificate, .. } => vec![Offer {
                certificate: Some(certificate.clone()),
                by,
            }],
            AgentIdentity::PublicKey { .. } => with_certificates(&by),
        }
    }
}

async fn ask_agent(
    socket: &Path,
    binding: Option<&AgentSessionBinding>,
) -> Result<(AgentClient<UnixStream>, Vec<AgentIdentity>), String> {
    let says = |error: russh::keys::Error| plain(&error.to_string());
    let ask = async {
        let mut agent = AgentClient::connect_uds(socket).await.map_err(says)?;
        if let Some(binding) = binding {
            // Only agents of OpenSSH 8.9 and later know this; without it they do not show keys
            // that are bound to a destination.
            let _ = agent.bind_session(binding, false).await;
        }
        let held = agent.request_identities().await.map_err(says)?;
        Ok((agent, held))
    };
    timeout(AGENT, ask)
        .await
        .unwrap_or_else(|_late| Err(format!("no answer within {} s", AGENT.as_secs())))
}
