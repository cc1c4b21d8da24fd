//! Waits: until a port answers, a command succeeds, or a time has passed.

use std::time::{Duration, Instant};

use tokio::io::AsyncReadExt;
use tokio::net::TcpStream;
use tokio::time::timeout;

use crate::host::{Exit, Host, ask};

use super::control::Control;

/// Pause between two tries.
const PAUSE: Duration = Duration::from_millis(200);
/// How long one try may take.
const TRY: Duration = Duration::from_secs(5);

/// How a wait ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Waited {
    /// It is there.
    There,
    /// The limit passed.
    NotThere(String),
    /// The operator stopped it.
    Stopped,
}

async fn until<F>(limit: f64, control: &Control, mut attempt: impl FnMut() -> F) -> Waited
where
    F: Future<Output = Result<(), String>>,
{
    let begin = Instant::now();
    loop {
        let tried = tokio::select! {
            tried = attempt() => tried,
            () = control.stopped() => return Waited::Stopped,
        };
        let Err(why) = tried else {
            return Waited::There;
        };
        if begin.elapsed().as_secs_f64() >= limit {
            return Waited::NotThere(format!("not there after {limit} s: {why}"));
        }
        tokio::select! {
            () = tokio::time::sleep(PAUSE) => {}
            () = control.stopped() => return Waited::Stopped,
        }
    }
}

/// Until a port answers with a banner, seen from this machine.
pub(super) async fn port(
    address: &str,
    port: &str,
    banner: &str,
    limit: f64,
    control: &Control,
) -> Waited {
    until(limit, control, || async {
        let target = format!("{address}:{port}");
        let mut stream = timeout(TRY, TcpStream::connect(target))
            .await
            .map_err(|_late| "no connection".to_owned())?
            .map_err(|why| why.to_string())?;
        if banner.is_empty() {
            return Ok(());
        }
        let mut said = vec![0; banner.len()];
        timeout(TRY, stream.read_exact(&mut said))
            .await
            .map_err(|_late| "it is silent".to_owned())?
            .map_err(|why| why.to_string())?;
        if said == banner.as_bytes() {
            Ok(())
        } else {
            Err(format!("it answers {:?}", String::from_utf8_lossy(&said)))
        }
    })
    .await
}

/// Until a command succeeds on a host.
pub(super) async fn command(
    host: &dyn Host,
    script: &str,
    limit: f64,
    control: &Control,
) -> Waited {
    until(limit, control, || async {
        let answer = ask(host, script, b"", 4096, TRY * 12)
            .await
            .map_err(|why| why.to_string())?;
        match answer.exit {
            Exit::Code(0) => Ok(()),
            _ => Err(super::shell::reason(&answer)),
        }
    })
    .await
}

/// A time, in seconds.
pub(super) async fn time(seconds: f64, control: &Control) -> Waited {
    tokio::select! {
        () = tokio::time::sleep(Duration::from_secs_f64(seconds.clamp(0.0, 1e9))) => Waited::There,
        () = control.stopped() => Waited::Stopped,
    }
}
