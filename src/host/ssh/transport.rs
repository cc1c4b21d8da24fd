//! From a name to a TCP connection.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use tokio::net::TcpStream;
use tokio::time::timeout;

use super::route::{Family, Route};
use crate::host::HostError;

/// The longest wait for the name service.
const RESOLVE: Duration = Duration::from_secs(10);
/// Data that nobody acknowledges for so long ends the connection: the same time after which
/// unanswered keepalives do.
#[cfg(target_os = "linux")]
const UNACKNOWLEDGED: Duration = Duration::from_secs(80);

/// An open connection.
pub(super) struct Transport {
    pub(super) stream: TcpStream,
    /// How long the handshake of TCP took: about one round trip.
    pub(super) round_trip: Duration,
}

/// Resolves the host's name and connects to the first address that answers.
///
/// # Errors
/// [`HostError::Down`] in phase `resolve` or `connect`.
pub(super) async fn connect(route: &Route) -> Result<Transport, HostError> {
    let addresses = resolve(route).await?;
    let until = Instant::now() + route.connect;
    let mut failures = Vec::new();
    for (index, address) in addresses.iter().enumerate() {
        // Each address gets its share of the time that is left, so that one that never answers
        // does not take the turn of the others.
        let left = until.saturating_duration_since(Instant::now());
        let share = left / u32::try_from(addresses.len() - index).unwrap_or(1);
        let started = Instant::now();
        let failure = match timeout(share, TcpStream::connect(address)).await {
            Ok(Ok(stream)) => match tune(&stream) {
                Ok(()) => {
                    return Ok(Transport {
                        stream,
                        round_trip: started.elapsed(),
                    });
                }
                Err(error) => error.to_string(),
            },
            Ok(Err(error)) => error.to_string(),
            Err(_late) => format!("no answer within {:.1} s", share.as_secs_f64()),
        };
        failures.push(format!("{address}: {failure}"));
    }
    Err(down(route, "connect", failures.join("; ")))
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
/// delayed acknowledgements). The time-outs end a connection whose other end has gone while
/// something is being written, when SSH's own keepalive has no turn.
fn tune(stream: &TcpStream) -> std::io::Result<()> {
    use rustix::net::sockopt;

    stream.set_nodelay(true)?;
    sockopt::set_socket_keepalive(stream, true)?;
    #[cfg(target_os = "linux")]
    sockopt::set_tcp_user_timeout(stream, UNACKNOWLEDGED.as_millis() as u32)?;
    Ok(())
}

fn down(route: &Route, phase: &'static str, why: String) -> HostError {
    HostError::Down {
        host: route.shown.clone(),
        phase,
        why,
    }
}
