//! One logged-in connection.

use std::time::Duration;

use russh::client::{Handle, Msg};
use tokio::time::timeout;

use super::handshake::{self, Encrypted, Heard, Watch};
use super::login::Login;
use super::prompts::Operator;
use super::route::Route;
use super::transport;
use super::trust::Trust;
use crate::host::HostError;

/// The longest wait for a channel.
const OPEN: Duration = Duration::from_secs(10);
/// After a shell has told its status, its output may be silent for so long before the channel
/// counts as done, though something it has left behind still holds it open.
const QUIET: Duration = Duration::from_millis(300);
/// The same on a connection with long round trips, at most.
const QUIET_LONGEST: Duration = Duration::from_secs(3);

/// A connection on which channels can be opened.
pub(super) struct Connection {
    handle: Handle<Watch>,
    goodbye: Heard,
    /// See [`QUIET`].
    pub(super) quiet: Duration,
}

/// Why there is no channel.
pub(super) enum NoChannel {
    /// The host refuses another one for now.
    Full(String),
    /// The connection is gone, or does not answer.
    Lost(String),
}

impl Connection {
    /// All phases from the name to the login, each with its limit.
    ///
    /// # Errors
    /// Which phase failed and why.
    pub(super) async fn open(route: &Route, operator: &Operator) -> Result<Self, HostError> {
        let mut login = Login::new(route, operator)?;
        loop {
            let trust = read_trust(route).await?;
            let transport = transport::connect(route).await?;
            let round_trip = transport.round_trip;
            let mut encrypted = handshake::handshake(route, trust, transport).await?;
            match login.run(&mut encrypted).await {
                Err(_lost) if login.may_again() => continue,
                result => result?,
            }
            let Encrypted {
                handle, goodbye, ..
            } = encrypted;
            return Ok(Self {
                handle,
                goodbye,
                quiet: (round_trip * 4).clamp(QUIET, QUIET_LONGEST),
            });
        }
    }

    /// Whether it is known to be gone.
    pub(super) fn is_lost(&self) -> bool {
        self.handle.is_closed()
    }

    /// Opens a session channel.
    ///
    /// # Errors
    /// Why there is none.
    pub(super) async fn channel(&self) -> Result<russh::Channel<Msg>, NoChannel> {
        match timeout(OPEN, self.handle.channel_open_session()).await {
            Ok(Ok(channel)) => Ok(channel),
            Ok(Err(russh::Error::ChannelOpenFailure(reason))) => {
                Err(NoChannel::Full(format!("{reason:?}")))
            }
            Ok(Err(_gone)) => Err(NoChannel::Lost(match self.goodbye.get() {
                Some(goodbye) => format!("the host ended the connection: {goodbye}"),
                None => "the connection was lost".to_owned(),
            })),
            Err(_late) => Err(NoChannel::Lost(format!(
                "no channel within {} s",
                OPEN.as_secs()
            ))),
        }
    }
}

/// The files are read anew for each connection: a key may have been added meanwhile.
async fn read_trust(route: &Route) -> Result<Trust, HostError> {
    let route = route.clone();
    let host = route.shown.clone();
    let read = tokio::task::spawn_blocking(move || {
        Trust::read(
            &route.known_hosts,
            &route.global_known_hosts,
            route.names.clone(),
            route.ssh(),
        )
    });
    match read.await {
        Ok(Ok(trust)) => Ok(trust),
        Ok(Err(why)) => Err(HostError::Untrusted {
            host,
            why: format!("whether its key is known cannot be told: {why}"),
        }),
        Err(panic) => Err(HostError::Untrusted {
            host,
            why: format!("whether its key is known cannot be told: {panic}"),
        }),
    }
}
