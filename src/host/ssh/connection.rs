//! One logged-in connection.

use std::time::Duration;

use russh::client::{Handle, Msg};
use russh::{ChannelOpenFailure, ChannelStream};
use tokio::sync::watch;
use tokio::time::timeout;

use super::handshake::{self, Encrypted, Heard, Met, Watch};
use super::introduce;
use super::jump;
use super::link::Grip;
use super::login::Login;
use super::prompts::Operator;
use super::route::Route;
use super::transport::{self, Hold};
use crate::host::HostError;

/// The longest wait for a channel.
const OPEN: Duration = Duration::from_secs(10);
/// The longest wait for why a channel was refused, which comes right behind the refusal.
const TOLD: Duration = Duration::from_millis(200);
/// The first pause, about, before a server that turned a connection away is asked again; each
/// is twice the one before.
const TURNED_AWAY: Duration = Duration::from_millis(200);
/// The last pause: after it, the server is called down.
const TURNED_AWAY_LONGEST: Duration = Duration::from_secs(4);
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
    unopened: watch::Receiver<String>,
    /// See [`QUIET`].
    pub(super) quiet: Duration,
    /// As the operator names the host.
    shown: String,
    /// The server, in words that no other has.
    server: String,
    _grip: Grip,
    /// The jump host's. Each connection has its own: one that is read slowly would hold up all
    /// others on the way.
    via: Option<Box<Self>>,
}

/// Why there is no channel.
pub(super) enum NoChannel {
    /// The host refuses another one for now.
    Full(String),
    /// The connection is gone, or does not answer.
    Lost(String),
}

/// Why a jump host leads nowhere.
pub(super) enum NoWay {
    /// It does not let this user through.
    Refused(String),
    /// The connection could not be made from there.
    Unreachable(String),
    /// Nothing was heard in time.
    Late,
    /// The connection to the jump host is gone.
    Lost(String),
}

impl Connection {
    /// All phases from the name to the login, each with its limit, at the jump hosts first.
    ///
    /// # Errors
    /// Which phase failed, at which host, and why.
    pub(super) async fn open(route: &Route, operator: &Operator) -> Result<Self, HostError> {
        let mut via = None;
        for jump in &route.jumps {
            let hop = Box::pin(Self::hop(jump, operator, via.take())).await;
            via = Some(hop.map_err(|error| jump::on_the_way(error, route))?);
        }
        Box::pin(Self::hop(route, operator, via)).await
    }

    async fn hop(route: &Route, operator: &Operator, via: Option<Self>) -> Result<Self, HostError> {
        let via = via.map(Box::new);
        let mut login = Login::new(route, operator)?;
        loop {
            let (mut encrypted, round_trip, hold) =
                encrypted(route, operator, via.as_deref()).await?;
            let Hold {
                grip,
                entry,
                server,
            } = hold;
            route.stage.tell("login");
            match entry.during(login.run(&mut encrypted)).await {
                Err(_lost) if login.may_again() => continue,
                result => result?,
            }
            let Encrypted {
                long_commands,
                handle,
                goodbye,
                unopened,
                ..
            } = encrypted;
            return Ok(Self {
                long_commands,
                handle,
                goodbye,
                unopened,
                quiet: (round_trip * 4).clamp(QUIET, QUIET_LONGEST),
                shown: route.shown.clone(),
                server,
                _grip: grip,
                via,
            });
        }
    }

    /// As the operator names the host.
    pub(super) fn shown(&self) -> &str {
        &self.shown
    }

    /// The server, in words that no other has.
    pub(super) fn server(&self) -> &str {
        &self.server
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
            Ok(Err(_gone)) => Err(NoChannel::Lost(self.ended())),
            Err(_late) => Err(NoChannel::Lost(format!(
                "no channel within {} s",
                OPEN.as_secs()
            ))),
        }
    }

    /// Has the host make a connection to another one.
    ///
    /// # Errors
    /// Why there is none.
    pub(super) async fn forward(
        &self,
        host: &str,
        port: u16,
        limit: Duration,
    ) -> Result<ChannelStream<Msg>, NoWay> {
        // Whose connection it is meant to be is for the host's log only.
        let open = self
            .handle
            .channel_open_direct_tcpip(host, u32::from(port), "127.0.0.1", 0);
        match timeout(limit, open).await {
            Ok(Ok(channel)) => Ok(channel.into_stream()),
            Ok(Err(russh::Error::ChannelOpenFailure(reason))) => {
                let mut told = self.unopened.clone();
                let said = timeout(TOLD, told.wait_for(|said| !said.is_empty())).await;
                let said = match said {
                    Ok(Ok(said)) => said.clone(),
                    _ => format!("{reason:?}"),
                };
                Err(match reason {
                    ChannelOpenFailure::ConnectFailed => NoWay::Unreachable(said),
                    _ => NoWay::Refused(said),
                })
            }
            Ok(Err(_gone)) => Err(NoWay::Lost(self.ended())),
            Err(_late) => Err(NoWay::Late),
        }
    }

    /// Whether a jump host stands before it.
    pub(super) fn is_forwarded(&self) -> bool {
        self.via.is_some()
    }

    fn ended(&self) -> String {
        match self.goodbye.get() {
            Some(goodbye) => format!("the host ended the connection: {goodbye}"),
            None => "the connection was lost".to_owned(),
        }
    }
}

/// So many keys of a host may be unknown, one after the other: one of each type, about.
const STRANGERS: usize = 4;

/// An encrypted connection to a host whose key is known, if need be after it was introduced; how
/// long a round trip takes.
///
/// A server that has too many logins just then closes the connection: it is asked again, at
/// times that others who were turned away do not choose too.
async fn encrypted(
    route: &Route,
    operator: &Operator,
    via: Option<&Connection>,
) -> Result<(Encrypted, Duration, Hold), HostError> {
    let mut pause = TURNED_AWAY;
    let mut strangers = 0;
    loop {
        let trust = introduce::recall(route).await?;
        let (transport, hold) = transport::connect(route, via).await?;
        let round_trip = transport.round_trip;
        route.stage.tell("host key");
        let error = match handshake::handshake(route, trust, transport).await {
            Ok(Met::Known(encrypted)) => return Ok((encrypted, round_trip, hold)),
            Ok(Met::Unknown(stranger)) => {
                // Others may log in there while the operator looks.
                drop(hold);
                strangers += 1;
                if strangers > STRANGERS {
                    return Err(HostError::Untrusted {
                        host: route.shown.clone(),
                        why: format!(
                            "the host shows another unknown key each time, {STRANGERS} in a row"
                        ),
                    });
                }
                introduce::introduce(route, operator, stranger).await?;
                continue;
            }
            Err(error) => error,
        };
        if !error.is_transient() || !hold.grip.was_turned_away() || pause > TURNED_AWAY_LONGEST {
            return Err(match (error, hold.grip.greeting()) {
                (HostError::Down { host, phase, why }, Some(said)) => HostError::Down {
                    host,
                    phase,
                    why: format!("{why}; it said: {said}"),
                },
                (error, _) => error,
            });
        }
        drop(hold);
        tokio::time::sleep(pause.mul_f64(rand::random_range(0.5..1.5))).await;
        pause *= 2;
    }
}
