//! This machine.

use std::pin::Pin;
use std::process::Stdio;
use std::task::{Context, Poll};
use std::time::Duration;

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite};
use tokio::process::{Child, ChildStdin, Command};
use tokio::sync::mpsc;
use tokio::time::{Instant, timeout_at};

use super::sh::with_environment;
use super::{Channel, Exit, Host, HostError, Said};

/// Bytes read at once; with [`QUEUE`] the bound of what one channel holds.
const CHUNK: usize = 64 * 1024;

/// Chunks that wait for the reader.
const QUEUE: usize = 16;

/// How long output is still read after the shell has ended, where something it left in the
/// background keeps the pipe open.
const LINGER: Duration = Duration::from_millis(200);

/// And how much of it: what a pipe holds was written before the end, more was not.
const PIPE: usize = 1 << 20;

/// This machine, through a shell as any other host, so that a method is the same here.
#[derive(Debug, Clone, Default)]
pub struct LocalHost;

impl LocalHost {
    /// This machine.
    #[must_use]
    pub fn new() -> Self {
        Self
    }
}

impl Host for LocalHost {
    fn name(&self) -> &'static str {
        "local"
    }

    fn address(&self) -> Option<String> {
        None
    }

    fn exec<'a>(&'a self, script: &'a str) -> BoxFuture<'a, Result<Channel, HostError>> {
        async move { spawn("/bin/sh", &with_environment(script)) }.boxed()
    }

    fn is_local(&self) -> bool {
        true
    }
}

/// Starts `shell -c script`, attached, in a process group of its own: a Ctrl-C in the
/// terminal is for this program alone.
fn spawn(shell: &str, script: &str) -> Result<Channel, HostError> {
    let refused = |why: String| HostError::Refused {
        host: "local".to_owned(),
        why,
    };
    let mut child = Command::new(shell)
        .arg("-c")
        .arg(script)
        .process_group(0)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|error| refused(format!("{shell} cannot be started: {error}")))?;
    let stdin = Input(child.stdin.take());
    let (said, output) = mpsc::channel(QUEUE);
    tokio::spawn(drain(child, said));
    Ok(Channel {
        stdin: Box::new(stdin),
        output,
    })
}

/// Reads both pipes until the shell has ended, or nobody listens any more.
async fn drain(mut child: Child, said: mpsc::Sender<Said>) {
    let mut out = child.stdout.take();
    let mut err = child.stderr.take();
    let mut out_buffer = vec![0; CHUNK];
    let mut err_buffer = vec![0; CHUNK];
    let mut exit = None;
    let mut until = None;
    let mut late = 0;
    while exit.is_none() || out.is_some() || err.is_some() {
        let step = async {
            tokio::select! {
                got = read(&mut out, &mut out_buffer) => Turn::Out(got),
                got = read(&mut err, &mut err_buffer) => Turn::Err(got),
                status = child.wait(), if exit.is_none() => Turn::Ended(status.ok()),
                () = said.closed() => Turn::Unheard,
            }
        };
        let turn = match until {
            Some(until) => timeout_at(until, step).await,
            None => Ok(step.await),
        };
        let news = match turn {
            Ok(Turn::Out(got)) => heard(&mut out, &out_buffer, got).map(Said::Out),
            Ok(Turn::Err(got)) => heard(&mut err, &err_buffer, got).map(Said::Err),
            Ok(Turn::Ended(status)) => {
                exit = Some(status.map_or(Exit::Unknown, ended));
                until = Some(Instant::now() + LINGER);
                None
            }
            // Its pipes break with this; the runtime reaps it.
            Ok(Turn::Unheard) => return,
            Err(_) => break,
        };
        if let Some(news) = news {
            if let (Some(_), Said::Out(bytes) | Said::Err(bytes)) = (&exit, &news) {
                late += bytes.len();
            }
            if said.send(news).await.is_err() {
                return;
            }
        }
        if late > PIPE {
            break;
        }
    }
    let _ = said.send(Said::Exit(exit.unwrap_or(Exit::Unknown))).await;
}

enum Turn {
    Out(usize),
    Err(usize),
    Ended(Option<std::process::ExitStatus>),
    Unheard,
}

/// Bytes read; 0 at the end. A pipe that cannot be read is at its end.
async fn read<R: AsyncRead + Unpin>(pipe: &mut Option<R>, buffer: &mut [u8]) -> usize {
    match pipe {
        Some(pipe) => pipe.read(buffer).await.unwrap_or(0),
        None => std::future::pending().await,
    }
}

fn heard<R>(pipe: &mut Option<R>, buffer: &[u8], got: usize) -> Option<Vec<u8>> {
    if got == 0 {
        *pipe = None;
    }
    buffer
        .get(..got)
        .filter(|bytes| !bytes.is_empty())
        .map(<[u8]>::to_vec)
}

fn ended(status: std::process::ExitStatus) -> Exit {
    use std::os::unix::process::ExitStatusExt;

    match (status.code(), status.signal()) {
        (Some(code), _) => Exit::Code(code),
        (None, Some(signal)) => Exit::Signal(signal.to_string()),
        (None, None) => Exit::Unknown,
    }
}

/// A child's standard input, whose shutdown is the end of the file: the pipe is closed.
struct Input(Option<ChildStdin>);

impl AsyncWrite for Input {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<std::io::Result<usize>> {
        match &mut self.0 {
            Some(pipe) => Pin::new(pipe).poll_write(context, bytes),
            None => Poll::Ready(Err(std::io::ErrorKind::BrokenPipe.into())),
        }
    }

    fn poll_flush(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<std::io::Result<()>> {
        match &mut self.0 {
            Some(pipe) => Pin::new(pipe).poll_flush(context),
            None => Poll::Ready(Ok(())),
        }
    }

    fn poll_shutdown(
        mut self: Pin<&mut Self>,
        _context: &mut Context<'_>,
    ) -> Poll<std::io::Result<()>> {
        self.0 = None;
        Poll::Ready(Ok(()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::{Answer, ask};

    const PATIENCE: Duration = Duration::from_secs(20);

    async fn answer(script: &str, stdin: &[u8]) -> Answer {
        ask(&LocalHost::new(), script, stdin, 1 << 20, PATIENCE)
            .await
            .unwrap()
    }

    #[tokio::test]
    async fn streams_and_status_come_back_apart() {
        let answer = answer("cat; echo no >&2; exit 3", b"yes\n").await;
        assert_eq!(answer.out, b"yes\n");
        assert_eq!(answer.err, b"no\n");
        assert_eq!(answer.exit, Exit::Code(3));
    }

    #[tokio::test]
    async fn a_killed_shell_has_no_status() {
        assert_eq!(
            answer("kill -KILL $$", b"").await.exit,
            Exit::Signal("9".into())
        );
    }

    #[tokio::test]
    async fn the_locale_and_the_path_are_set() {
        let answer = answer("echo \"$LC_ALL $PATH\"", b"").await;
        let said = String::from_utf8(answer.out).unwrap();
        assert!(
            said.starts_with("C ") && said.trim_end().ends_with(":/usr/sbin:/usr/bin:/sbin:/bin")
        );
    }

    #[tokio::test]
    async fn a_child_in_the_background_does_not_hold_the_end_back() {
        let begun = std::time::Instant::now();
        let answer = answer("echo a; sleep 30 & echo $!", b"").await;
        assert_eq!(answer.exit, Exit::Code(0));
        assert!(begun.elapsed() < Duration::from_secs(20));
        let said = String::from_utf8(answer.out).unwrap();
        let pid = said.lines().nth(1).unwrap().to_owned();
        assert_eq!(
            super::super::ask(&LocalHost, &format!("kill {pid}"), b"", 100, PATIENCE)
                .await
                .unwrap()
                .exit,
            Exit::Code(0)
        );
    }

    #[tokio::test]
    async fn it_runs_in_a_group_of_its_own() {
        let answer = answer("read -r line </proc/self/stat; echo $line; echo $$", b"").await;
        let said = String::from_utf8(answer.out).unwrap();
        let group = said.split(' ').nth(4).unwrap().to_owned();
        assert_eq!(said.lines().last(), Some(group.as_str()));
    }

    #[tokio::test]
    async fn a_dropped_input_is_an_end_of_file() {
        let Channel { stdin, mut output } = LocalHost::new().exec("cat; echo end").await.unwrap();
        drop(stdin);
        assert_eq!(output.recv().await, Some(Said::Out(b"end\n".to_vec())));
        assert_eq!(output.recv().await, Some(Said::Exit(Exit::Code(0))));
    }

    #[tokio::test]
    async fn what_a_host_says_is_held_in_bounded_memory() {
        let Channel {
            stdin: _stdin,
            mut output,
        } = LocalHost::new().exec("yes").await.unwrap();
        tokio::time::sleep(Duration::from_millis(200)).await;
        assert!(output.len() <= QUEUE);
        assert!(matches!(output.recv().await, Some(Said::Out(bytes)) if bytes.len() <= CHUNK));
    }
}
