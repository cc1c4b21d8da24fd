//! From a TCP connection to an encrypted one with a host whose key is known.

use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use russh::Limits;
use russh::client::{self, ChannelOpenHandle, DisconnectReason, Handle, Msg, Session};
use russh::keys::PublicKeyOrCertificate;
use russh::{ChannelId, ChannelOpenFailure};
use tokio::sync::watch;
use tokio::time::timeout;
use tokio_util::io::InspectReader;

use super::agreed::{self, Agreed};
use super::algorithms;
use super::host_key::HostKey;
use super::notes::Notes;
use super::route::Route;
use super::text::plain;
use super::transport::Transport;
use super::trust::{Doubt, Stranger, Trust};
use crate::host::HostError;

/// The longest wait for the banner, the key exchange and the host key.
const HANDSHAKE: Duration = Duration::from_secs(15);
/// How often a silent connection is asked whether it is still there: below the time after
/// which address translators forget one.
const KEEPALIVE: Duration = Duration::from_secs(15);
/// So many unanswered ones end it, when the next is due: 45 s after the last word.
const KEEPALIVES: usize = 2;
/// New keys at least so often. OpenSSH has no limit of time; an hour, russh's own, has ended
/// idle connections to servers that do not expect it.
const REKEY: Duration = Duration::from_hours(12);
/// So much of what comes first is looked at for the server's name.
const HEAD: usize = 8 << 10;

/// The first thing that was told, by whoever holds a clone.
#[derive(Debug)]
pub(super) struct Heard<T = String>(Arc<Mutex<Option<T>>>);

impl<T> Clone for Heard<T> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<T> Default for Heard<T> {
    fn default() -> Self {
        Self(Arc::default())
    }
}

impl<T: Clone> Heard<T> {
    fn set(&self, what: T) {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .get_or_insert(what);
    }

    /// In place of what was said before.
    fn replace(&self, what: T) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(what);
    }

    pub(super) fn get(&self) -> Option<T> {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }
}

/// The default takes what the host opens. Nothing here asks for any of it: a handle that is
/// dropped refuses.
macro_rules! refuse {
    ($($name:ident($($argument:ty),*);)*) => {
        $(
            async fn $name(
                &mut self,
                _channel: russh::Channel<Msg>,
                $(_: $argument,)*
                _reply: ChannelOpenHandle,
                _session: &mut Session,
            ) -> Result<(), russh::Error> {
                Ok(())
            }
        )*
    };
}

/// russh's side of the connection: judges the host's key, refuses whatever the host would
/// open by itself.
pub(super) struct Watch {
    trust: Trust,
    /// Why the host's key was not trusted.
    doubt: Heard<Doubt>,
    /// What was agreed on is told here.
    notes: Notes,
    /// The algorithm with which the host is to prove that the key is its own.
    proof: Heard,
    /// Why the host ended the connection.
    goodbye: Heard,
    /// What the host says during the login.
    banner: Heard,
    /// Why the host opened no channel, in its own words.
    unopened: watch::Sender<String>,
}

impl client::Handler for Watch {
    type Error = russh::Error;

    async fn check_server_key(
        &mut self,
        offered: &PublicKeyOrCertificate,
    ) -> Result<bool, russh::Error> {
        let judged = match HostKey::from_data(offered.public_key().key_data()) {
            Some(key) => self.trust.judge(&key, offered.certificate()),
            None => Err(Doubt::Refused(
                "the host offers a key that cannot be read".to_owned(),
            )),
        };
        Ok(judged.map_err(|doubt| self.doubt.set(doubt)).is_ok())
    }

    async fn kex_done(
        &mut self,
        _secret: Option<&[u8]>,
        names: &russh::Names,
        _session: &mut Session,
    ) -> Result<(), russh::Error> {
        let agreed = Agreed::new(names);
        self.proof.set(agreed.host_key.clone());
        self.notes.agree(agreed);
        Ok(())
    }

    async fn auth_banner(
        &mut self,
        banner: &str,
        _session: &mut Session,
    ) -> Result<(), russh::Error> {
        let banner = plain(banner);
        if !banner.is_empty() {
            self.banner.replace(banner);
        }
        Ok(())
    }

    async fn disconnected(
        &mut self,
        reason: DisconnectReason<russh::Error>,
    ) -> Result<(), russh::Error> {
        if let DisconnectReason::ReceivedDisconnect(info) = reason {
            self.goodbye.set(plain(&info.message));
        }
        Ok(())
    }

    async fn channel_open_failure(
        &mut self,
        _channel: ChannelId,
        _reason: ChannelOpenFailure,
        description: &str,
        _language: &str,
        _session: &mut Session,
    ) -> Result<(), russh::Error> {
        self.unopened.send_replace(plain(description));
        Ok(())
    }

    refuse! {
        server_channel_open_forwarded_tcpip(&str, u32, &str, u32);
        server_channel_open_forwarded_streamlocal(&str);
        server_channel_open_agent_forward();
        server_channel_open_session();
        server_channel_open_direct_tcpip(&str, u32, &str, u32);
        server_channel_open_direct_streamlocal(&str);
        server_channel_open_x11(&str, u32);
    }
}

/// An encrypted connection, before the login.
pub(super) struct Encrypted {
    /// Whether the server takes a command of any length, as OpenSSH's does; Dropbear's takes
    /// 9000 bytes.
    pub(super) long_commands: bool,
    pub(super) handle: Handle<Watch>,
    /// What the host said when it ended the connection, if it has.
    pub(super) goodbye: Heard,
    /// What it said last during the login.
    pub(super) banner: Heard,
    /// What it said when it opened no channel; told after the refusal itself.
    pub(super) unopened: watch::Receiver<String>,
}

/// Whom the handshake has met.
pub(super) enum Met {
    /// A host whose key is known.
    Known(Encrypted),
    /// One whose key is not; the connection is closed.
    Unknown(Stranger),
}

/// Exchanges banners and keys, and checks the host's.
///
/// # Errors
/// [`HostError::Untrusted`], [`HostError::Refused`] where the ssh configuration leaves no
/// algorithm, or [`HostError::Down`] in phase `banner` or `host key`.
pub(super) async fn handshake(
    route: &Route,
    trust: Trust,
    transport: Transport,
) -> Result<Met, HostError> {
    let config = config(route, &trust).map_err(|why| HostError::Refused {
        host: route.shown.clone(),
        why,
    })?;
    let (doubt, goodbye) = (Heard::default(), Heard::default());
    let proof = Heard::default();
    let said = Heard::default();
    let (told, unopened) = watch::channel(String::new());
    let watch = Watch {
        trust,
        doubt: doubt.clone(),
        notes: route.notes.clone(),
        proof: proof.clone(),
        goodbye: goodbye.clone(),
        banner: said.clone(),
        unopened: told,
    };
    let server = Arc::new(OnceLock::new());
    let stream = InspectReader::new(transport.stream, {
        let server = Arc::clone(&server);
        let mut head = Vec::new();
        move |bytes: &[u8]| {
            // Lines may come before it (RFC 4253, section 4.2).
            if server.get().is_none() && head.len() < HEAD {
                head.extend(bytes.iter().take(HEAD));
                let mut lines = head.split_inclusive(|&byte| byte == b'\n');
                if let Some(line) =
                    lines.find(|line| line.starts_with(b"SSH-") && line.ends_with(b"\n"))
                {
                    let _ = server.set(String::from_utf8_lossy(line).into_owned());
                }
            }
        }
    });
    let result = timeout(
        HANDSHAKE,
        client::connect_stream(Arc::new(config), stream, watch),
    )
    .await;
    match doubt.get() {
        Some(Doubt::Unknown(stranger)) => return Ok(Met::Unknown(stranger)),
        Some(Doubt::Refused(why)) => {
            return Err(HostError::Untrusted {
                host: route.shown.clone(),
                why,
            });
        }
        None => {}
    }
    let banner = server.get().is_some();
    let (phase, why) = match result {
        Ok(Ok(handle)) => {
            let signature = handle.agent_session_binding();
            let signature = signature.map_or(&[][..], |binding| binding.signature());
            let agreed = proof.get().unwrap_or_default();
            if let Err(why) = check_proof(signature, &agreed, route.wishes.legacy) {
                return Err(HostError::Untrusted {
                    host: route.shown.clone(),
                    why,
                });
            }
            let server = server.get().map_or("", String::as_str);
            return Ok(Met::Known(Encrypted {
                long_commands: server.contains("OpenSSH"),
                handle,
                goodbye,
                banner: said,
                unopened,
            }));
        }
        Ok(Err(error)) => failure(route, &error, banner, goodbye.get()),
        Err(_late) => late(route, server.get().map(String::as_str)),
    };
    Err(HostError::Down {
        host: route.shown.clone(),
        phase,
        why,
    })
}

/// russh takes a host's signature of whatever algorithm it names itself: with an RSA key also one
/// of SHA-1, where one of SHA-2 was agreed on. Its name comes first in it (RFC 4253, section 6.6).
///
/// # Errors
/// The signature is of another algorithm than the one that was agreed on, and not of one that
/// could have been.
fn check_proof(signature: &[u8], agreed: &str, legacy: bool) -> Result<(), String> {
    let name = signature
        .split_first_chunk()
        .and_then(|(size, rest)| rest.get(..u32::from_be_bytes(*size) as usize))
        .unwrap_or_default();
    let old = legacy && name == b"ssh-rsa" && agreed.starts_with("rsa-");
    if name == agreed.as_bytes() || old {
        return Ok(());
    }
    Err(format!(
        "the host proves its key with a signature of `{}`, where `{agreed}` was agreed on: its \
         server is broken, or somebody else answers; look at the server there, and where it is \
         just old, set legacy = true for this host in config.toml",
        plain(&String::from_utf8_lossy(name))
    ))
}

/// What was waited for too long.
fn late(route: &Route, server: Option<&str>) -> (&'static str, String) {
    let limit = HANDSHAKE.as_secs();
    match server {
        Some(name) if name.starts_with("SSH-1.") && !name.starts_with("SSH-1.99") => (
            "banner",
            format!(
                "the host speaks only SSH 1 ({}), which is not safe; it needs a newer server",
                plain(name)
            ),
        ),
        Some(_) => (
            "host key",
            format!("the key exchange was not over within {limit} s"),
        ),
        None => (
            "banner",
            format!(
                "connected, but no SSH banner came within {limit} s; is port {} SSH?",
                route.port
            ),
        ),
    }
}

fn failure(
    route: &Route,
    error: &russh::Error,
    banner: bool,
    goodbye: Option<String>,
) -> (&'static str, String) {
    if let Some(goodbye) = goodbye {
        return (
            "host key",
            format!("the host ended the connection: {goodbye}"),
        );
    }
    match error {
        russh::Error::Version => ("banner", "what answers is not an SSH 2 server".to_owned()),
        russh::Error::NoCommonAlgo { kind, ours, theirs } => (
            "host key",
            agreed::explain(kind, ours, theirs, &route.wishes, &route.named),
        ),
        russh::Error::Disconnect | russh::Error::HUP | russh::Error::IO(_) if !banner => (
            "banner",
            "the connection was closed before an SSH banner came: no SSH server, or one that has \
             too many connections or does not take any from here"
                .to_owned(),
        ),
        russh::Error::Disconnect | russh::Error::HUP | russh::Error::IO(_) => (
            "host key",
            "the host closed the connection in the middle of the key exchange; its log says why (a \
             server without a host key does so, and one that has too many connections)"
                .to_owned(),
        ),
        russh::Error::PacketSize(_) => (
            "host key",
            format!("what it sends after its banner is not SSH: {}", plain(&error.to_string())),
        ),
        other => ("host key", plain(&other.to_string())),
    }
}

fn config(route: &Route, trust: &Trust) -> Result<client::Config, String> {
    Ok(client::Config {
        limits: Limits {
            rekey_time_limit: REKEY,
            ..Limits::default()
        },
        preferred: route.wishes.offer(trust)?,
        gex: algorithms::groups(),
        inactivity_timeout: None,
        keepalive_interval: Some(KEEPALIVE),
        keepalive_max: KEEPALIVES,
        // Set on the socket as well, which is made elsewhere.
        nodelay: true,
        ..client::Config::default()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signature_is_of_the_algorithm_that_was_agreed_on() {
        let of = |name: &str| {
            let size = u32::try_from(name.len()).unwrap().to_be_bytes();
            [&size, name.as_bytes(), &[0, 0, 0, 1, 7]].concat()
        };
        let (old, new) = ("ssh-rsa", "rsa-sha2-512");
        assert_eq!(check_proof(&of(new), new, false), Ok(()));
        assert_eq!(check_proof(&of(old), old, true), Ok(()));
        assert_eq!(check_proof(&of(old), new, true), Ok(()));
        let why = check_proof(&of(old), new, false).unwrap_err();
        assert!(why.contains("`ssh-rsa`") && why.contains("`rsa-sha2-512`"));
        assert!(check_proof(&of("rsa-sha2-256"), new, true).is_err());
        assert!(check_proof(&of(old), "ssh-ed25519", true).is_err());
        for broken in [&[][..], &[0, 0, 0], &[0, 0, 0, 12, b'r'], &[255; 8]] {
            assert!(check_proof(broken, new, true).is_err());
        }
    }
}
