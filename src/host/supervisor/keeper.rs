//! The sign on a host that a session lives.

use std::sync::Arc;
use std::time::Duration;

use tokio::io::AsyncWriteExt;
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep, timeout};
use tokio_util::sync::{CancellationToken, DropGuard};

use super::PATIENCE;
use super::backoff::Backoff;
use super::control::{Control, Over};
use super::place::Inner;
use super::wire::Line;
use crate::host::HostError;
use crate::host::sh::{COMMON, KEEPER, MEMBERS};

/// How often the host hears from us.
const BEAT: Duration = Duration::from_secs(15);

/// How long it waits for that, in seconds, before it takes us for gone.
const SILENCE: u64 = 60;

/// Keeps a session alive on a host: as long as this lives, others see that the session does.
/// When it is dropped, or the program or its connection are gone, the session's background
/// loads are ended.
pub struct Keeper {
    end: DropGuard,
    task: JoinHandle<()>,
}

impl Keeper {
    /// Ends the session's loads, and waits until the host has done so.
    pub async fn close(self) {
        drop(self.end);
        let _ = timeout(PATIENCE, self.task).await;
    }
}

/// Begins to keep a session.
pub(super) async fn start(inner: Arc<Inner>) -> Result<Keeper, HostError> {
    let control = open(&inner, SILENCE).await?;
    let token = CancellationToken::new();
    let task = tokio::spawn(keep(inner, control, token.clone()));
    Ok(Keeper {
        end: token.drop_guard(),
        task,
    })
}

/// Opens a channel that shows the session, and takes so many seconds of silence for its end.
async fn open(inner: &Inner, silence: u64) -> Result<Control, HostError> {
    let token = format!("{}/keeper/", inner.session()?);
    let script = inner
        .session_vars()?
        .set("tok", &token)
        .map_err(|error| inner.refused(error.to_string()))?
        .number("beat", silence)
        .script(&[COMMON, MEMBERS, KEEPER]);
    let channel = inner.host.exec(&script).await?;
    let mut control = Control::new(channel, Instant::now(), &inner.mark()?, inner.clock());
    match timeout(PATIENCE, control.line()).await {
        Ok(Ok(Line::Other(word, _))) if word == "kept" => Ok(control),
        Ok(Ok(_)) => Err(inner.refused("the session could not be shown there")),
        Ok(Err(Over::Lost)) => Err(HostError::Down {
            host: inner.host.name().to_owned(),
            phase: "exec",
            why: "the connection was lost".to_owned(),
        }),
        Ok(Err(over)) => {
            Err(inner.refused(format!("the session could not be shown there: {over}")))
        }
        Err(_) => Err(inner.refused("the session could not be shown there: no answer")),
    }
}

/// Says a line now and then; opens it again when the connection was lost.
async fn keep(inner: Arc<Inner>, mut control: Control, end: CancellationToken) {
    let mut backoff = Backoff::default();
    loop {
        let mut stdin = control.take_stdin();
        let beat = async {
            while stdin.write_all(b"\n").await.is_ok() && stdin.flush().await.is_ok() {
                sleep(BEAT).await;
            }
            std::future::pending::<()>().await;
        };
        let over = async { while control.line().await.is_ok() {} };
        tokio::select! {
            () = end.cancelled() => {
                // The end of its input; then it says nothing more until it is done.
                drop(stdin);
                while control.line().await.is_ok() {}
                return;
            }
            () = beat => {}
            () = over => {}
        }
        control = loop {
            tokio::select! {
                () = end.cancelled() => {}
                () = sleep(backoff.next()) => {}
            }
            match open(&inner, SILENCE).await {
                Ok(again) => {
                    backoff = Backoff::default();
                    break again;
                }
                // The host has ended the loads with the connection, unless its shell was killed.
                Err(_) if end.is_cancelled() => return,
                Err(_) => {}
            }
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::LocalHost;
    use crate::host::supervisor::{Heard, Launch, Supervisor};

    /// As when a laptop lost its power: the connection is there, and says nothing.
    #[tokio::test]
    async fn silence_ends_the_loads() {
        let dir = tempfile::tempdir().unwrap();
        let state = dir.path().join("cb-silent").display().to_string();
        let supervisor = Supervisor::new(Arc::new(LocalHost::new()), state);
        supervisor.prepare().await.unwrap();
        let mut control = open(&supervisor.inner, 1).await.unwrap();
        let _stdin = control.take_stdin();
        let load = Launch {
            load: true,
            ..Launch::default()
        };
        let mut job = supervisor
            .launch("load", "exec sleep 1000", load)
            .await
            .unwrap();
        let ended = async {
            while let Some(heard) = job.next().await {
                if let Heard::Ended(outcome) = heard {
                    return outcome.status;
                }
            }
            Vec::new()
        };
        assert_eq!(timeout(PATIENCE, ended).await.unwrap(), [143]);
        while control.line().await.is_ok() {}
        assert!(!supervisor.living().await.unwrap().kept);
    }
}
