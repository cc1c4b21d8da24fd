//! Which keys are offered for a login, and in which order.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use russh::keys::agent::client::AgentClient;
use russh::keys::agent::{AgentIdentity, AgentSessionBinding};
use russh::keys::{HashAlg, PrivateKey, PublicKey};
use tokio::net::UnixStream;
use tokio::time::timeout;

use super::route::Route;
use super::text::plain;

/// The longest wait for the ssh-agent's list.
const AGENT: Duration = Duration::from_secs(5);
/// A key file is not larger than this, in bytes.
const KEY_FILE: u64 = 64 << 10;

/// One key that may be offered.
pub(super) enum Offer {
    /// The ssh-agent signs.
    Agent(Box<AgentIdentity>),
    /// A key file that needs no passphrase.
    File(PathBuf, Arc<PrivateKey>),
}

impl Offer {
    /// As it is told to the operator.
    pub(super) fn shown(&self) -> String {
        match self {
            Self::Agent(identity) => {
                let key = identity.public_key();
                let comment = match identity.comment() {
                    "" => String::new(),
                    comment => format!(" ({})", plain(comment)),
                };
                format!("agent key {}{comment}", fingerprint(&key))
            }
            Self::File(path, _) => format!("key file {}", path.display()),
        }
    }
}

/// All that could be offered.
pub(super) struct Keys {
    pub(super) offers: Vec<Offer>,
    /// What could not, and what to do about it.
    pub(super) remarks: Vec<String>,
    pub(super) agent: Option<AgentClient<UnixStream>>,
}

/// Gathers keys of the ssh-agent and of files.
///
/// The order is ssh's (agent keys that are named by an `IdentityFile`, other agent keys,
/// files), but for key files that the configuration names for this host: they come before
/// agent keys that it does not name, lest a full agent use up the server's patience.
pub(super) async fn gather(route: &Route, binding: Option<&AgentSessionBinding>) -> Keys {
    let mut remarks = Vec::new();
    let (agent, held) = match &route.agent {
        None => (None, Vec::new()),
        Some(socket) => match timeout(AGENT, ask_agent(socket, binding)).await {
            Ok(Ok((agent, held))) => (Some(agent), held),
            Ok(Err(why)) => {
                remarks.push(format!("ssh-agent {}: {why}", socket.display()));
                (None, Vec::new())
            }
            Err(_late) => {
                let limit = AGENT.as_secs();
                remarks.push(format!(
                    "ssh-agent {}: no answer within {limit} s",
                    socket.display()
                ));
                (None, Vec::new())
            }
        },
    };
    let mut named = Vec::new();
    for path in &route.identities {
        let (path, explicit) = (path.clone(), route.explicit);
        let read = tokio::task::spawn_blocking(move || read_file(&path, explicit)).await;
        match read {
            Ok(Ok(Some(file))) => named.push(file),
            Ok(Ok(None)) => {}
            Ok(Err(why)) => remarks.push(why),
            Err(_panic) => remarks.push("a key file could not be read".to_owned()),
        }
    }
    let mut offers = order(route, held, named, &mut remarks);
    let mut seen: Vec<String> = Vec::new();
    offers.retain(|offer| {
        let name = match offer {
            Offer::Agent(identity) => match &**identity {
                AgentIdentity::PublicKey { key, .. } => fingerprint(key),
                // A certificate and its bare key are two different offers.
                AgentIdentity::Certificate { .. } => return true,
            },
            Offer::File(_, key) => fingerprint(key.public_key()),
        };
        let new = !seen.contains(&name);
        seen.push(name);
        new
    });
    Keys {
        offers,
        remarks,
        agent,
    }
}

fn order(
    route: &Route,
    held: Vec<AgentIdentity>,
    named: Vec<KeyFile>,
    remarks: &mut Vec<String>,
) -> Vec<Offer> {
    let is_named = |identity: &AgentIdentity| {
        let held = fingerprint(&identity.public_key());
        named.iter().position(|file| file.public == held)
    };
    let (mut first, mut others): (Vec<_>, Vec<_>) = held
        .into_iter()
        .map(|identity| (is_named(&identity), identity))
        .partition(|(named, _)| named.is_some());
    first.sort_by_key(|(place, _)| *place);
    if route.identities_only {
        others.clear();
    }
    let agent = |all: Vec<(Option<usize>, AgentIdentity)>| {
        all.into_iter()
            .map(|(_, identity)| Offer::Agent(Box::new(identity)))
    };
    let in_agent: Vec<usize> = first.iter().filter_map(|(place, _)| *place).collect();
    let mut files = Vec::new();
    for (place, file) in named.into_iter().enumerate() {
        match file.secret {
            Some(key) => files.push(Offer::File(file.path, key)),
            None if in_agent.contains(&place) => {}
            None => remarks.push(file.remark),
        }
    }
    if route.explicit {
        agent(first).chain(files).chain(agent(others)).collect()
    } else {
        agent(first).chain(agent(others)).chain(files).collect()
    }
}

fn fingerprint(key: &PublicKey) -> String {
    key.fingerprint(HashAlg::default()).to_string()
}

async fn ask_agent(
    socket: &Path,
    binding: Option<&AgentSessionBinding>,
) -> Result<(AgentClient<UnixStream>, Vec<AgentIdentity>), String> {
    let says = |error: russh::keys::Error| plain(&error.to_string());
    let mut agent = AgentClient::connect_uds(socket).await.map_err(says)?;
    if let Some(binding) = binding {
        // Only agents of OpenSSH 8.9 and later know this; without it they do not show keys
        // that are bound to a destination.
        let _ = agent.bind_session(binding, false).await;
    }
    let held = agent.request_identities().await.map_err(says)?;
    Ok((agent, held))
}

/// A key file, as far as it can be read.
struct KeyFile {
    path: PathBuf,
    /// Its public key's fingerprint.
    public: String,
    /// Absent where a passphrase is needed, or only the public key is there.
    secret: Option<Arc<PrivateKey>>,
    /// What to do where it is.
    remark: String,
}

/// Nothing for a file that is not there and was not named.
fn read_file(path: &Path, explicit: bool) -> Result<Option<KeyFile>, String> {
    let shown = path.display();
    let with_public = |public: &PublicKey, remark: String| KeyFile {
        path: path.to_owned(),
        public: fingerprint(public),
        secret: None,
        remark,
    };
    let beside = public_beside(path);
    let text = match read_text(path) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            return match beside {
                Some(public) => {
                    let remark = format!("key file {shown} is not there, nor in an ssh-agent");
                    Ok(Some(with_public(&public, remark)))
                }
                None if explicit => Err(format!("key file {shown} is not there")),
                None => Ok(None),
            };
        }
        Err(error) => return Err(format!("key file {shown}: {error}")),
    };
    if let Ok(public) = PublicKey::from_openssh(text.trim()) {
        let remark = format!("key file {shown} is a public key, and no ssh-agent holds it");
        return Ok(Some(with_public(&public, remark)));
    }
    let encrypted = format!("key file {shown} has a passphrase; run: ssh-add {shown}");
    match russh::keys::decode_secret_key(&text, None) {
        Ok(key) => Ok(Some(KeyFile {
            path: path.to_owned(),
            public: fingerprint(key.public_key()),
            secret: Some(Arc::new(key)),
            remark: String::new(),
        })),
        Err(error) => {
            // OpenSSH's format has the public key in clear.
            let inside = PrivateKey::from_openssh(&text).ok();
            let public = inside
                .as_ref()
                .map(|key| key.public_key().clone())
                .or(beside);
            let locked =
                matches!(error, russh::keys::Error::KeyIsEncrypted) || text.contains("ENCRYPTED");
            match public {
                Some(public) if locked => Ok(Some(with_public(&public, encrypted))),
                _ if locked => Err(encrypted),
                _ => Err(format!("key file {shown}: {}", plain(&error.to_string()))),
            }
        }
    }
}

fn public_beside(path: &Path) -> Option<PublicKey> {
    let mut name = path.as_os_str().to_owned();
    name.push(".pub");
    PublicKey::from_openssh(read_text(Path::new(&name)).ok()?.trim()).ok()
}

fn read_text(path: &Path) -> std::io::Result<String> {
    use std::io::Read;

    let mut text = String::new();
    std::fs::File::open(path)?
        .take(KEY_FILE)
        .read_to_string(&mut text)?;
    Ok(text)
}
