//! One logged-in connection.

use std::time::Duration;

use russh::client::{Handle, Msg};
use tokio::time::timeout;

use super::handshake::{self, Encrypted, Heard, Met, Watch};
use super::introduce;
use super::login::Login;
use super::prompts::Operator;
use super::route::Route;
use super::transport;
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
    /// Whether a command of any length can be asked for on it.
    pub(super) long_commands: bool,
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
            let (mut encrypted, round_trip) = encrypted(route).await?;
            match login.run(&mut encrypted).await {
                Err(_lost) if login.may_again() => continue,
                result => result?,
            }
            let Encrypted {
                long_commands,
                handle,
                goodbye,
                ..
            } = encrypted;
            return Ok(Self {
                long_commands,
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

/// So many keys of a host may be unknown, one after the other: one of each type, about.
const STRANGERS: usize = 4;

/// A connection to a host whose key is known, if need be after it was introduced.
async fn encrypted(route: &Route) -> Result<(Encrypted, Duration), HostError> {
    for _ in 0..STRANGERS {
        let trust = introduce::recall(route).await?;
        let transport = transport::connect(route).await?;
        let round_trip = transport.round_trip;
        match handshake::handshake(route, trust, transport).await? {
            Met::Known(encrypted) => return Ok((encrypted, round_trip)),
            Met::Unknown(stranger) => introduce::introduce(route, stranger).await?,
        }
    }
    Err(HostError::Untrusted {
        host: route.shown.clone(),
        why: format!("the host shows another unknown key each time, {STRANGERS} in a row"),
    })
}
