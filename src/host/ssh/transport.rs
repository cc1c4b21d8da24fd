//! From a name to a stream of bytes: a TCP connection, or one through a jump host.

use std::io::ErrorKind;
use std::net::SocketAddr;
use std::time::{Duration, Instant};

use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_util::either::Either;

use super::connection::{Connection, NoWay};
use super::gate::{self, Entry};
use super::link::{Grip, Link, Stream, UNTAKEN};
use super::route::{Family, Route};
use crate::host::HostError;

/// The longest wait for the name service.
const RESOLVE: Duration = Duration::from_secs(10);

/// An open connection.
pub(super) struct Transport {
    pub(super) stream: Link,
    /// How long it took to be opened, the handshake of TCP: about one round trip.
    pub(super) round_trip: Duration,
}

/// What is kept of a transport while it is used.
pub(super) struct Hold {
    pub(super) grip: Grip,
    pub(super) entry: Entry,
    /// The server, in words that no other has.
    pub(super) server: String,
}

/// Reaches a host: at the first address of its name that answers, or through a jump host.
///
/// # Errors
/// [`HostError::Down`] in phase `resolve` or `connect`.
pub(super) async fn connect(
    route: &Route,
    via: Option<&Connection>,
) -> Result<(Transport, Hold), HostError> {
    match via {
        None => direct(route).await,
        Some(via) => through(route, via).await,
    }
}

async fn direct(route: &Route) -> Result<(Transport, Hold), HostError> {
    route.stage.tell("looking up");
    let addresses = resolve(route).await?;
    route.stage.tell("connecting");
    let mut left = route.connect;
    let mut failures = Vec::new();
    let mut worth = None;
    for (index, address) in addresses.iter().enumerate() {
        let server = address.to_string();
        let entry = gate::enter(&server).await;
        // Each address gets its share of the time that is left, so that one that never answers
        // does not take the turn of the others.
        let share = left / u32::try_from(addresses.len() - index).unwrap_or(1);
        let started = Instant::now();
        let (failure, ask) = match timeout(share, TcpStream::connect(address)).await {
            Ok(Ok(stream)) => match tune(&stream) {
                Ok(()) => {
                    let stream = Either::Left(stream);
                    return Ok(opened(stream, started.elapsed(), entry, server));
                }
                Err(error) => (error.to_string(), Ask::Host),
            },
            Ok(Err(error)) if error.kind() == ErrorKind::ConnectionRefused => {
                (error.to_string(), Ask::Server)
            }
            Ok(Err(error)) => (error.to_string(), Ask::Host),
            Err(_late) => {
                let late = format!("no answer within {:.1} s", share.as_secs_f64());
                (late, Ask::Host)
            }
        };
        left = left.saturating_sub(started.elapsed());
        failures.push(format!("{address}: {failure}"));
        worth = worth.max(Some(ask));
    }
    let ask = match worth {
        Some(Ask::Server) => format!("; is sshd running there, and is {} its port?", route.port),
        _ => "; is the host up, and no firewall in between?".to_owned(),
    };
    Err(down(route, "connect", failures.join("; ") + &ask))
}

/// What is worth a look where a connection was not made; the last tells more.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum Ask {
    Host,
    Server,
}

async fn through(route: &Route, via: &Connection) -> Result<(Transport, Hold), HostError> {
    let (host, port) = (route.host.as_str(), route.port);
    let server = format!("{} {host}:{port}", via.server());
    let entry = gate::enter(&server).await;
    route.stage.tell("connecting");
    let started = Instant::now();
    let stream = via.forward(host, port, route.connect).await;
    let stream = stream.map_err(|why| {
        let jump = via.shown();
        let why = match why {
            NoWay::Refused(said) => format!(
                "the jump host {jump} forwards no connection to {host}:{port} ({said}); is \
                 AllowTcpForwarding off there, or is the key or PermitOpen restricted?"
            ),
            NoWay::Unreachable(said) => {
                format!("the jump host {jump} does not reach {host}:{port}: {said}")
            }
            NoWay::Late => format!(
                "no connection from the jump host {jump} to {host}:{port} within {} s",
                route.connect.as_secs()
            ),
            NoWay::Lost(why) => format!("the jump host {jump}: {why}"),
        };
        down(route, "connect", why)
    })?;
    let stream = Either::Right(stream);
    Ok(opened(stream, started.elapsed(), entry, server))
}

fn opened(stream: Stream, round_trip: Duration, entry: Entry, server: String) -> (Transport, Hold) {
    let (stream, grip) = Link::new(stream);
    let transport = Transport { stream, round_trip };
    let hold = Hold {
        grip,
        entry,
        server,
    };
    (transport, hold)
}

async fn resolve(route: &Route) -> Result<Vec<SocketAddr>, HostError> {
    let name = route.host.as_str();
    let found = timeout(RESOLVE, tokio::net::lookup_host((name, route.port))).await;
    let addresses: Vec<SocketAddr> = match found {
        Ok(Ok(addresses)) => addresses
            .filter(|address| match route.family {
                Family::Any => true,
                Family::V4 => address.is_ipv4(),
                Family::V6 => address.is_ipv6(),
            })
            .collect(),
        Ok(Err(error)) => {
            return Err(down(
                route,
                "resolve",
                format!("no address for `{name}`: {error}"),
            ));
        }
        Err(_late) => {
            let limit = RESOLVE.as_secs();
            return Err(down(
                route,
                "resolve",
                format!("the name service did not answer for `{name}` within {limit} s"),
            ));
        }
    };
    if addresses.is_empty() {
        let why = format!("`{name}` has no address of the AddressFamily that is asked for");
        return Err(down(route, "resolve", why));
    }
    Ok(addresses)
}

/// Without `TCP_NODELAY` every command would take 40 ms longer (Nagle's algorithm against
/// delayed acknowledgements). The time-out ends a connection whose other end has gone while
/// something is being written, when SSH's own keepalive has no turn.
fn tune(stream: &TcpStream) -> std::io::Result<()> {
    use rustix::net::sockopt;

    stream.set_nodelay(true)?;
    sockopt::set_socket_keepalive(stream, true)?;
    #[cfg(target_os = "linux")]
    sockopt::set_tcp_user_timeout(stream, UNTAKEN.as_millis() as u32)?;
    Ok(())
}

fn down(route: &Route, phase: &'static str, why: String) -> HostError {
    HostError::Down {
        host: route.shown.clone(),
        phase,
        why,
    }
}
