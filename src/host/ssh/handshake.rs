//! From a TCP connection to an encrypted one with a host whose key is known.

use std::borrow::Cow;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use russh::client::{self, ChannelOpenHandle, DisconnectReason, Handle, Msg, Session};
use russh::keys::PublicKeyOrCertificate;
use russh::{AlgorithmKind, ChannelId, ChannelOpenFailure, Limits, Preferred, cipher, compression};
use tokio::sync::watch;
use tokio::time::timeout;
use tokio_util::io::InspectReader;

use super::known_hosts::HostKey;
use super::route::Route;
use super::text::plain;
use super::transport::Transport;
use super::trust::Trust;
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

/// AES-GCM first: with hardware AES, twice as fast as `ChaCha20`.
const CIPHERS: &[cipher::Name] = &[
    cipher::AES_256_GCM,
    cipher::AES_128_GCM,
    cipher::CHACHA20_POLY1305,
    cipher::AES_256_CTR,
    cipher::AES_192_CTR,
    cipher::AES_128_CTR,
];

/// What the other end said, or was refused for, while it did.
#[derive(Debug, Clone, Default)]
pub(super) struct Heard(Arc<Mutex<Option<String>>>);

impl Heard {
    fn set(&self, text: String) {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .get_or_insert(text);
    }

    pub(super) fn get(&self) -> Option<String> {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }
}

/// russh's side of the connection: judges the host's key, refuses whatever the host would
/// open by itself.
pub(super) struct Watch {
    trust: Trust,
    /// Why the host's key was refused.
    refused: Heard,
    /// Why the host ended the connection.
    goodbye: Heard,
    /// Why the host opened no channel, in its own words.
    unopened: watch::Sender<String>,
}

impl client::Handler for Watch {
    type Error = russh::Error;

    async fn check_server_key(
        &mut self,
        offered: &PublicKeyOrCertificate,
    ) -> Result<bool, russh::Error> {
        let key = match offered {
            PublicKeyOrCertificate::PublicKey { key, .. } => {
                key.to_bytes().ok().and_then(HostKey::from_blob)
            }
            // Not asked for; which authority to trust is not known.
            PublicKeyOrCertificate::Certificate(_) => None,
        };
        let judged = match key {
            Some(key) => self.trust.judge(&key),
            None => Err("the host offers a key that cannot be read".to_owned()),
        };
        Ok(judged.map_err(|why| self.refused.set(why)).is_ok())
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

    // The default takes what the host opens. Nothing here asks for any of it: a handle that is
    // dropped refuses.

    async fn server_channel_open_forwarded_tcpip(
        &mut self,
        _channel: russh::Channel<Msg>,
        _address: &str,
        _port: u32,
        _origin: &str,
        _origin_port: u32,
        _reply: ChannelOpenHandle,
        _session: &mut Session,
    ) -> Result<(), russh::Error> {
        Ok(())
    }

    async fn server_channel_open_forwarded_streamlocal(
        &mut self,
        _channel: russh::Channel<Msg>,
        _path: &str,
        _reply: ChannelOpenHandle,
        _session: &mut Session,
    ) -> Result<(), russh::Error> {
        Ok(())
    }

    async fn server_channel_open_agent_forward(
        &mut self,
        _channel: russh::Channel<Msg>,
        _reply: ChannelOpenHandle,
        _session: &mut Session,
    ) -> Result<(), russh::Error> {
        Ok(())
    }

    async fn server_channel_open_session(
        &mut self,
        _channel: russh::Channel<Msg>,
        _reply: ChannelOpenHandle,
        _session: &mut Session,
    ) -> Result<(), russh::Error> {
        Ok(())
    }

    async fn server_channel_open_direct_tcpip(
        &mut self,
        _channel: russh::Channel<Msg>,
        _host: &str,
        _port: u32,
        _origin: &str,
        _origin_port: u32,
        _reply: ChannelOpenHandle,
        _session: &mut Session,
    ) -> Result<(), russh::Error> {
        Ok(())
    }

    async fn server_channel_open_direct_streamlocal(
        &mut self,
        _channel: russh::Channel<Msg>,
        _path: &str,
        _reply: ChannelOpenHandle,
        _session: &mut Session,
    ) -> Result<(), russh::Error> {
        Ok(())
    }

    async fn server_channel_open_x11(
        &mut self,
        _channel: russh::Channel<Msg>,
        _origin: &str,
        _origin_port: u32,
        _reply: ChannelOpenHandle,
        _session: &mut Session,
    ) -> Result<(), russh::Error> {
        Ok(())
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
    /// What it said when it opened no channel; told after the refusal itself.
    pub(super) unopened: watch::Receiver<String>,
}

/// Exchanges banners and keys, and checks the host's.
///
/// # Errors
/// [`HostError::Untrusted`], or [`HostError::Down`] in phase `banner` or `host key`.
pub(super) async fn handshake(
    route: &Route,
    trust: Trust,
    transport: Transport,
) -> Result<Encrypted, HostError> {
    let config = Arc::new(config(&trust));
    let (refused, goodbye) = (Heard::default(), Heard::default());
    let (told, unopened) = watch::channel(String::new());
    let watch = Watch {
        trust,
        refused: refused.clone(),
        goodbye: goodbye.clone(),
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
    let result = timeout(HANDSHAKE, client::connect_stream(config, stream, watch)).await;
    if let Some(why) = refused.get() {
        return Err(HostError::Untrusted {
            host: route.shown.clone(),
            why,
        });
    }
    let banner = server.get().is_some();
    let (phase, why) = match result {
        Ok(Ok(handle)) => {
            let server = server.get().map_or("", String::as_str);
            return Ok(Encrypted {
                long_commands: server.contains("OpenSSH"),
                handle,
                goodbye,
                unopened,
            });
        }
        Ok(Err(error)) => failure(&error, banner, goodbye.get()),
        Err(_late) if banner => (
            "host key",
            format!(
                "the key exchange was not over within {} s",
                HANDSHAKE.as_secs()
            ),
        ),
        Err(_late) => (
            "banner",
            format!(
                "connected, but no SSH banner came within {} s; is port {} SSH?",
                HANDSHAKE.as_secs(),
                route.port
            ),
        ),
    };
    let notes = match phase {
        "host key" if !route.handshake_notes.is_empty() => format!(
            " (set in the ssh configuration and not followed: {})",
            route.handshake_notes.join(", ")
        ),
        _ => String::new(),
    };
    Err(HostError::Down {
        host: route.shown.clone(),
        phase,
        why: why + &notes,
    })
}

fn failure(error: &russh::Error, banner: bool, goodbye: Option<String>) -> (&'static str, String) {
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
            format!(
                "no {} in common: offered are {}; the host takes {}",
                match kind {
                    AlgorithmKind::Kex => "key exchange",
                    AlgorithmKind::Key => "host key algorithm",
                    AlgorithmKind::Cipher => "cipher",
                    AlgorithmKind::Compression => "compression",
                    AlgorithmKind::Mac => "MAC",
                },
                plain(&ours.join(", ")),
                plain(&theirs.join(", ")),
            ),
        ),
        russh::Error::Disconnect | russh::Error::HUP | russh::Error::IO(_) if !banner => (
            "banner",
            "the connection was closed before an SSH banner came: no SSH server, or one that has \
             too many connections or does not take any from here"
                .to_owned(),
        ),
        russh::Error::Disconnect | russh::Error::HUP => (
            "host key",
            "the host closed the connection in the middle of the key exchange".to_owned(),
        ),
        other => ("host key", plain(&other.to_string())),
    }
}

fn config(trust: &Trust) -> client::Config {
    client::Config {
        limits: Limits {
            rekey_time_limit: REKEY,
            ..Limits::default()
        },
        preferred: Preferred {
            key: trust.algorithms(),
            cipher: Cow::Borrowed(CIPHERS),
            compression: Cow::Borrowed(&[compression::NONE]),
            ..Preferred::DEFAULT
        },
        inactivity_timeout: None,
        keepalive_interval: Some(KEEPALIVE),
        keepalive_max: KEEPALIVES,
        // Set on the socket as well, which is made elsewhere.
        nodelay: true,
        ..client::Config::default()
    }
}
